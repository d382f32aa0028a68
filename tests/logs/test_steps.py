"""Cleaning steps: pure functions from log to log, composed to recipes."""

from __future__ import annotations

import inspect
import math
import re
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from waypost.errors import LogError
from waypost.logs import EventLog, Recipe, RecipeStep, parse_recipe, read_log, read_recipe
from waypost.logs.log import ACTIVITY, CASE, DURATION, LIFECYCLE, OUTCOME, TIME
from waypost.logs.steps import STEPS, events
from waypost.logs.steps.cases import cut_cases, keep_cases, keep_periods, keep_variants
from waypost.logs.steps.durations import classify_durations, pair_lifecycle, rename_by_gap
from waypost.logs.steps.events import drop_events, keep_lifecycle, merge_repeats, number_events, rename_events
from waypost.logs.steps.outcome import set_outcome

LOGS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), min_size=1, max_size=6)


def timed(*rows: tuple[str, str, float, str]) -> EventLog:
    """Log of (case, activity, seconds, transition)."""
    frame = pd.DataFrame(rows, columns=[CASE, ACTIVITY, "seconds", LIFECYCLE])
    frame[TIME] = pd.Timestamp("2020-01-01", tz="UTC") + pd.to_timedelta(frame.pop("seconds"), unit="s")
    return read_log(frame)


@given(LOGS)
def test_steps_change_nothing_but_return_something_new(sequences):
    """A step is pure: the log it was given is as it was."""
    log = EventLog.from_sequences([*sequences, ["a"], ["b"]])
    before = log.events.copy()
    for name, parameters in {
        "merge_repeats": {},
        "number_events": {"names": "a"},
        "keep_variants": {"at_least": 1},
        "set_outcome": {"positive": "a", "last": True},
        "attribute_as_event": {"attribute": CASE},
        "rename_events": {"names": {sequences[0][0]: "new"}},
    }.items():
        RecipeStep(name, parameters)(log)
    pd.testing.assert_frame_equal(log.events, before)


@given(LOGS)
def test_merging_repeats_once_is_enough(sequences):
    """Afterwards no two neighbours are alike, and merging again changes nothing."""
    merged = merge_repeats(EventLog.from_sequences(sequences))
    assert all(x != y for s in merged.sequences() for x, y in pairwise(s))
    assert merge_repeats(merged).sequences() == merged.sequences()


@given(LOGS)
def test_numbers_count_up_within_each_case(sequences):
    numbered = number_events(EventLog.from_sequences(sequences), names="a", first=1).sequences()
    for before, after in zip(sequences, numbered, strict=True):
        assert [n for n in after if n[0] == "a"] == [f"a{k}" for k in range(1, before.count("a") + 1)]
        assert [n[0] for n in after] == before


@given(LOGS, st.sampled_from(["a", "ab"]))
def test_a_cut_case_ends_with_the_first_of_its_last_events(sequences, ends):
    hit = [s for s in sequences if set(s) & set(ends)]
    log = EventLog.from_sequences(sequences)
    if not hit:
        with pytest.raises(LogError, match="no event is left"):
            cut_cases(log, after=list(ends))
        return
    expected = [tuple(s[: min(s.index(e) for e in ends if e in s) + 1]) for s in hit]
    assert cut_cases(log, after=list(ends)).sequences() == expected
    assert cut_cases(log, after=list(ends), missing="keep").n_cases == len(sequences)


@given(LOGS, st.integers(1, 3))
def test_rare_variants_go_and_the_others_stay(sequences, at_least):
    kept = [tuple(s) for s in sequences if sequences.count(s) >= at_least]
    log = EventLog.from_sequences(sequences)
    if kept:
        assert keep_variants(log, at_least=at_least).sequences() == kept


def test_starts_are_paired_with_the_next_end_of_the_same_activity_in_the_same_case():
    log = timed(
        ("1", "call", 0, "SCHEDULE"),
        ("1", "call", 10, "START"),
        ("1", "other", 20, "COMPLETE"),
        ("1", "call", 100, "COMPLETE"),
        ("1", "call", 200, "COMPLETE"),  # an end without a start
        ("1", "call", 300, "START"),
        ("1", "call", 310, "START"),  # started again: counts from here
        ("1", "call", 330, "COMPLETE"),
        ("2", "call", 0, "START"),  # a start without an end
        ("2", "other", 1, "COMPLETE"),
    )
    paired = pair_lifecycle(log, names="call")
    assert paired.sequences() == [("call", "other", "call"), ("other",)]
    assert paired.events[DURATION].dropna().tolist() == [90, 20]
    assert pair_lifecycle(log, names="call", longer_than=20).sequences() == [("call", "other"), ("other",)]
    with pytest.raises(LogError, match="no event called 'mail'"):
        pair_lifecycle(log, names="mail")
    with pytest.raises(LogError, match=r"needs the column 'lifecycle:transition'.*its columns are"):
        pair_lifecycle(EventLog.from_sequences(["ab"]))


def test_durations_of_merged_events_are_added():
    log = timed(*[("1", "call", t, k) for t, k in [(0, "start"), (5, "complete"), (9, "start"), (10, "complete")]])
    assert merge_repeats(pair_lifecycle(log)).events[DURATION].tolist() == [6]


def test_durations_are_classified_by_limits_or_by_a_mixture():
    rows = []
    for k, seconds in enumerate([5, 6, 7] * 10 + [500, 510, 520] * 10):
        rows += [(str(k), "call", 0, "start"), (str(k), "call", seconds, "complete")]
    log = pair_lifecycle(timed(*rows))
    named = classify_durations(log, classes={"SHORT": 10, "LONG": math.inf})
    assert [s[0] for s in named.sequences()] == ["call SHORT"] * 30 + ["call LONG"] * 30
    assert events.bases(named).tolist() == ["call"] * 60
    mixed = [s[0] for s in classify_durations(log, mixture=2, separator="#").sequences()]
    assert len(set(mixed[:30])) == len(set(mixed[30:])) == 1
    assert mixed[0] != mixed[30]
    with pytest.raises(LogError, match="which is in no class"):
        classify_durations(log, classes={"SHORT": 10})
    with pytest.raises(LogError, match="either classes or mixture"):
        classify_durations(log)
    with pytest.raises(LogError, match="cannot be put into 90 classes"):
        classify_durations(log, mixture=90)
    with pytest.raises(LogError, match="run pair_lifecycle before"):
        classify_durations(EventLog.from_sequences(["a"]), mixture=2)


def test_a_gap_tells_late_from_soon():
    day = 86_400
    log = timed(("1", "ask", 0, ""), ("1", "end", 20 * day, ""), ("2", "ask", 0, ""), ("2", "end", 20 * day - 1, ""))
    renamed = rename_by_gap(log, names="end", days=20, late="TIMEOUT", soon="cancelled")
    assert renamed.sequences() == [("ask", "TIMEOUT"), ("ask", "cancelled")]


def test_periods_keep_the_cases_that_lie_wholly_within():
    day = 86_400.0
    log = timed(*[(str(k), e, k * day + d, "") for k in range(6) for e, d in (("a", 0), ("b", day / 2))])
    one = keep_periods(log, periods=[{"until": "2020-01-02"}, {"from": pd.Timestamp("2020-01-05").date()}])
    assert one.events[CASE].unique().tolist() == ["0", "4", "5"]
    with pytest.raises(LogError, match="is no date or time"):
        keep_periods(log, periods=[{"until": "tomorrow"}])
    with pytest.raises(LogError, match="'from', 'until' or both"):
        keep_periods(log, periods=[{"to": "2020-01-02"}])


def test_outcomes_come_from_events_from_the_last_event_or_from_an_attribute():
    log = EventLog.from_sequences([["a", "good", "bad"], ["good"], ["a"]])

    def outcomes(found: EventLog) -> list[str]:
        return found.events.drop_duplicates(CASE)[OUTCOME].tolist()

    assert outcomes(set_outcome(log, positive="good")) == ["positive", "positive", "negative"]
    assert outcomes(set_outcome(log, positive="good", last=True)) == ["negative", "positive", "negative"]
    # of two the later decides
    both = set_outcome(log, positive="good", negative="bad", others="drop")
    assert outcomes(both) == ["negative", "positive"]
    told = log.with_events(log.events.assign(paid=["", "", "True", "false", "TRUE"]))
    by_attribute = set_outcome(told, attribute="paid", positive="true", negative="false")
    assert outcomes(by_attribute) == ["positive", "negative", "positive"]


def test_cases_without_an_outcome_are_an_error_that_names_one():
    log = EventLog.from_sequences([["good"], ["a"], ["bad"]])
    with pytest.raises(LogError, match=r"1 of 3 cases have no outcome \(the first is 'case 2'\)"):
        set_outcome(log, positive="good", negative="bad")


def test_names_of_events_and_cases_decide_what_stays():
    log = EventLog.from_sequences([["O_SENT", "O_SENT_BACK", "W_x"], ["A"]])
    assert drop_events(log, names=["O_*", "W_*"], unless="*_BACK").sequences() == [("O_SENT_BACK",), ("A",)]
    assert keep_cases(log, lacking="A").n_cases == 1
    assert keep_cases(log, attribute=CASE, values=["case 2"]).sequences() == [("A",)]
    with pytest.raises(LogError, match="no event is left"):
        drop_events(log, names="*")
    with pytest.raises(LogError, match="no event is called 'B'; there are: "):
        rename_events(log, names={"B": "C"})
    one = timed(("1", "a", 0, "START"), ("1", "a", 1, "COMPLETE"), ("1", "b", 2, ""))
    assert keep_lifecycle(one).sequences() == [("a", "b")]


def test_times_are_asked_for_by_name():
    with pytest.raises(LogError, match="keep_periods needs timestamps, and this log has none"):
        keep_periods(EventLog.from_sequences(["a"]), periods=[{"from": "2020-01-01"}])


RECIPE = """
title = "a test"
eps = 0.5
choosing = ["we"]
[columns]
case = "id"
[actors]
"a*" = "we"
"*" = "they"
[[step]]
do = "drop_events"
names = ["b"]
[[step]]
do = "set_outcome"
positive = "a"
"""


def test_a_recipe_is_a_list_of_steps_and_a_small_file(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE)
    recipe = read_recipe(path)
    assert (recipe.eps, recipe.title, dict(recipe.columns)) == (0.5, "a test", {"case": "id"})
    assert recipe.actors is not None
    assert recipe.actors.of("abc") == "we"
    log = EventLog.from_sequences([["a", "b"], ["c"]])
    by_hand = Recipe(steps=(RecipeStep("drop_events", {"names": ["b"]}), RecipeStep("set_outcome", {"positive": "a"})))
    pd.testing.assert_frame_equal(recipe(log).events, by_hand(log).events)
    assert recipe(log).notes[-1] == "outcomes: 1 positive, 1 negative [2 cases, 2 variants]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[[step]]\ndo = 'drop_event'\nnames='a'",
            "step 1: no step 'drop_event' .* did you mean 'drop_events'",
        ),
        (
            "[[step]]\ndo = 'drop_events'\nname='a'",
            "drop_events has no parameter 'name'; it has: names",
        ),
        ("[[step]]\ndo = 'drop_events'", "drop_events needs the parameter 'names'"),
        ("[[step]]\ndo = 'drop_events'\nnames=3", "drop_events: names cannot be 3"),
        ("[[step]]\ndo = 'keep_variants'\nat_least='x'", "keep_variants: at_least cannot be 'x'"),
        ("[[step]]\nnames = 'a'", "a step is"),
        ("step = 3", "step is written as a table"),
        ("epsilon = 1", "no entry 'epsilon'"),
        ("eps = 3", "eps is a number above 0 and up to 2"),
        ("naming = 'odd'", "naming is 'plain' or 'paper'"),
        ("[columns]\ncases = 'id'", r"\[columns\] says 'cases'"),
        ("[actors]\na = 'we'", "no actor 'customer', whose events would be the choices"),
        ("[actors]\na = 1", "the actor map gives 'a' the actor 1"),
        ("title = ", "is no TOML"),
    ],
)
def test_what_is_wrong_with_a_recipe_is_said(complaint, text, message):
    assert re.search(message, complaint(read_recipe, text))


def test_a_recipe_that_is_not_there_is_missed(tmp_path):
    with pytest.raises(LogError, match="there is no recipe"):
        read_recipe(tmp_path / "none.toml")


def test_an_error_in_a_step_says_which_step_it_was():
    recipe = parse_recipe({"step": [{"do": "merge_repeats"}, {"do": "keep_events", "names": "z"}]}, "here")
    with pytest.raises(LogError, match=r"step 2 of the recipe \(keep_events\): no event is left"):
        recipe(EventLog.from_sequences(["ab"]))


def test_every_step_is_documented_and_takes_its_parameters_by_name():
    for name, step in STEPS.items():
        assert step.__doc__, name
        given = list(inspect.signature(step).parameters.values())[1:]
        assert all(p.kind is p.KEYWORD_ONLY for p in given), name
