"""What good cases have that bad ones lack, against counts made with plain Python; and what only looks like a reason."""

from __future__ import annotations

from collections import defaultdict
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from waypost.errors import LogError
from waypost.logs import EventLog, Recipe, RecipeStep, contrast, open_log, read_log
from waypost.logs.contrast import certain_difference
from waypost.logs.steps.events import rename_events
from waypost.logs.steps.outcome import set_outcome
from waypost.model.traces import Stage
from waypost.uncertainty import share_intervals


def logged(*cases: tuple[str, int]) -> EventLog:
    return EventLog.from_sequences([names.split() for names, n in cases for _ in range(n)])


CASES = st.lists(
    st.tuples(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), st.booleans()), min_size=2, max_size=30
)


@given(CASES)
def test_shares_are_what_counting_says(cases):
    """Good and bad share, success after and without: counted case by case, with sets."""
    assume(len({well for _, well in cases}) == 2)
    rows = [(k, name, str(well)) for k, (names, well) in enumerate(cases) for name in names]
    log = read_log(pd.DataFrame(rows, columns=["case", "activity", "case:well"]))
    found = contrast(set_outcome(log, positive="true", attribute="case:well"))
    good = [set(names) for names, well in cases if well]
    bad = [set(names) for names, well in cases if not well]
    assert {c.name for c in found.activities} == set.union(*good, *bad)
    for c in found.activities:
        with_good, with_bad = sum(c.name in s for s in good), sum(c.name in s for s in bad)
        assert (c.cases, c.events) == (with_good + with_bad, sum(names.count(c.name) for names, _ in cases))
        assert c.good_share == pytest.approx(with_good / len(good))
        assert c.bad_share == pytest.approx(with_bad / len(bad))
        assert c.success_after == pytest.approx(with_good / c.cases)
        without = len(cases) - c.cases
        assert c.success_without == (pytest.approx((len(good) - with_good) / without) if without else None)
        assert 0 <= c.certain <= 1


def test_what_separates_comes_first_and_what_all_have_last():
    """95 % of the bad and 2 % of the good cases have it: that is the finding, whatever else all cases pass."""
    log = logged(
        ("open call work close", 2), ("open work close", 98), ("open call work stop", 95), ("open work stop", 5)
    )
    found = contrast(set_outcome(log, positive="close"))
    assert [c.name for c in found.ranked] == ["call", "open", "work"]
    assert (found["call"].good_share, found["call"].bad_share) == (0.02, 0.95)
    assert {c.name for c in found.defining} == {"close", "stop"}


def test_few_cases_count_for_little():
    """A step of one lucky case has the larger success after it, and the lower rank."""
    log = logged(("a help pay", 60), ("a pay", 40), ("a help go", 20), ("a go", 80), ("a luck pay", 1))
    found = contrast(set_outcome(log, positive="pay"))
    assert found["luck"].success_after == 1
    assert found["luck"].defines_outcome is None  # it comes before the decision
    assert [c.name for c in found.ranked][:2] == ["help", "luck"]
    assert certain_difference(1, 101, 0, 100) == 0


def test_a_renamed_deciding_event_has_the_same_scores_and_is_named():
    """Whatever it is called, also after the outcome was set by its old name, or by an attribute."""
    plain = logged(("a help pay file", 60), ("a pay file", 40), ("a help go", 20), ("a go", 80))
    named = set_outcome(plain, positive="pay")
    renamed = rename_events(named, names={"pay": "Zahlung"})
    again = set_outcome(rename_events(plain, names={"pay": "Zahlung"}), positive="Zahlung")
    attributed = plain.with_events(plain.events.assign(**{"case:paid": [str("pay" in s) for s in rows_of(plain)]}))
    by_attribute = set_outcome(attributed, positive="true", attribute="case:paid")
    for log, deciding in ((renamed, "Zahlung"), (again, "Zahlung"), (named, "pay")):
        found = contrast(log)
        assert found[deciding].defines_outcome == "decides that a case is positive"
        assert found["file"].defines_outcome == "comes only when the outcome is decided"
        assert [(c.name, c.good_share, c.bad_share) for c in found.ranked] == [("help", 0.6, 0.2), ("a", 1.0, 1.0)]
    found = contrast(by_attribute)
    assert "file" not in {c.name for c in found.ranked}
    assert found["help"].defines_outcome is None


def rows_of(log: EventLog) -> list[tuple[str, ...]]:
    return [sequence for sequence in log.sequences() for _ in sequence]


def test_a_step_before_the_decision_is_kept_however_well_it_separates():
    log = logged(("a check pay", 100), ("a go", 100))
    found = contrast(set_outcome(log, positive="pay"))
    assert found["check"].defines_outcome is None
    assert found.ranked[0].name == "check"


def test_what_is_written_within_the_same_second_is_decided_together():
    """A system writes 'accepted' a millisecond before 'approved': one click, two events."""
    rows = []
    for k in range(40):
        rows += [(k, "apply", "2024-01-01T10:00:00.000Z")]
        if k % 2:
            rows += [(k, "accepted", "2024-01-02T10:00:00.000Z"), (k, "approved", "2024-01-02T10:00:00.001Z")]
        else:
            rows += [(k, "declined", "2024-01-02T10:00:00.000Z")]
    log = read_log(pd.DataFrame(rows, columns=["case", "activity", "time"]))
    found = contrast(set_outcome(log, positive="approved"))
    assert [c.name for c in found.ranked] == ["apply"]
    assert found["accepted"].defines_outcome == "comes only when the outcome is decided"


def test_waiting_times_are_medians_among_good_and_among_bad_cases():
    rows = []
    for k, hours in enumerate([1, 2, 9, 5, 5, 5]):
        end = f"2024-01-01T{hours:02}:00:00Z"
        rows += [(k, "ask", "2024-01-01T00:00:00Z"), (k, "pay" if k < 3 else "go", end)]
    found = contrast(set_outcome(read_log(pd.DataFrame(rows, columns=["case", "activity", "time"])), positive="pay"))
    assert found["ask"].good_waiting.after == 2 * 3600
    assert found["ask"].bad_waiting.after == 5 * 3600
    assert found["pay"].good_waiting.before_90 == pytest.approx((2 + 0.8 * 7) * 3600)


def test_without_an_outcome_it_is_said_how_to_set_one():
    with pytest.raises(LogError, match=r"no outcome is set.*--positive"):
        contrast(EventLog.from_sequences(["ab", "ac"]))


@pytest.mark.parametrize(
    ("file", "positive"),
    [
        ("pm4py_demo/running-example.xes", "pay compensation"),
        ("pm4py_demo/receipt.xes.gz", "T10 Determine necessity to stop indication"),
        ("pm4py_demo/reviewing.xes.gz", "accept"),
        ("synthetic/lending_log_high.xes.gz", "Sign Loan Agreement"),
        ("bpic2012/BPI_Challenge_2012_A.xes.gz", "A_APPROVED"),
    ],
)
def test_shares_of_real_logs_are_what_pandas_counts(shared_data, file, positive):
    log = read_log(shared_data / "logs" / file)
    found = contrast(set_outcome(log, positive=positive))
    having = defaultdict(set)
    for case, name in zip(log.events["case:concept:name"], log.events["concept:name"], strict=True):
        having[name].add(case)
    good = having[positive]
    bad = set(log.events["case:concept:name"]) - good
    for c in found.activities:
        assert c.cases + c.late_cases == len(having[c.name])
        if not c.late_cases:
            assert c.good_share == pytest.approx(len(having[c.name] & good) / len(good))
            assert c.bad_share == pytest.approx(len(having[c.name] & bad) / len(bad))
    assert found[positive].defines_outcome


CANCELLED = [
    ("ask offer cancel offer accept pay", 60),
    ("ask offer accept pay", 140),
    ("ask offer cancel offer refuse", 10),
    ("ask offer refuse cancel", 190),
]


def test_what_often_comes_only_when_all_is_decided_counts_where_it_comes_before():
    """Refusing cancels the offer, too: among all cases cancelling goes with failure, before the end with success."""
    log = logged(*CANCELLED)
    found = contrast(set_outcome(log, positive="pay", negative="refuse"))["cancel"]
    assert (found.good_cases, found.bad_cases, found.cases, found.late_cases) == (60, 10, 70, 190)
    assert found.success_after == 60 / 70
    assert found.success_without == 140 / 330
    assert found.helps


def test_what_says_the_same_before_the_end_is_counted_as_it_is():
    """A step that mostly comes before the end, or that means the same there, is counted in all cases that have it."""
    log = logged(("ask check pay", 90), ("ask pay check", 60), ("ask go", 100))
    found = contrast(set_outcome(log, positive="pay"))["check"]
    assert (found.cases, found.late_cases) == (150, 0)


@pytest.mark.parametrize("named", [{"negative": "refuse"}, {}], ids=["both named", "only the good end named"])
def test_what_comes_at_the_deciding_moment_is_too_late_in_memory_and_in_an_engine(named):
    """Of cases that run alike, those in which it comes within the same second as the end are told apart."""
    rows = []
    for k in range(240):
        refused = k % 2
        rows += [(k, "ask", "2024-01-01T10:00:00Z")]
        if refused or k % 3 == 0:  # of those that are refused, one in six cancels a day before
            rows += [(k, "cancel", f"2024-01-0{3 if refused and k % 12 != 1 else 2}T10:00:00Z")]
        rows += [(k, "refuse" if refused else "pay", "2024-01-03T10:00:00.5Z")]
    table = pd.DataFrame(rows, columns=["case", "activity", "time"])
    found = []
    for engine in ("memory", "duckdb"):
        log = open_log(table, engine=engine)
        told = contrast(Recipe(steps=(RecipeStep("set_outcome", {"positive": "pay", **named}),))(log))
        found.append([(c.name, c.cases, c.late_cases, c.good_share, c.bad_share, c.certain) for c in told.activities])
    assert found[0] == found[1]
    counts = {name: (cases, late) for name, cases, late, *_ in found[0]}
    assert counts["cancel"] == (40 + 20, 100)


def test_of_many_activities_none_is_sure_by_chance_alone():
    """Drawn outcomes have nothing to do with drawn steps. Of twenty such logs of a hundred activities, all have some
    whose own interval leaves out 0, and at most three have one that is told as more than chance."""
    random = np.random.default_rng(3)
    told, alone = [], []
    for _ in range(20):
        has = random.random((200, 100)) < 0.5
        ends = np.where(random.random(200) < 0.5, "pay", "go")
        cases = [[*(f"a{k}" for k in np.flatnonzero(row)), end] for row, end in zip(has, ends, strict=True)]
        ranked = contrast(set_outcome(EventLog.from_sequences(cases), positive="pay")).ranked
        alone.append(sum(c.certain > 0 for c in ranked))
        told.append(any(c.sure for c in ranked))
    assert min(alone) > 0
    assert sum(told) <= 3


def test_a_late_step_is_compared_among_the_cases_that_came_as_far():
    """Most failures never see an offer: taking it back goes with success among all cases, with failure among those."""
    log = logged(
        ("ask offer cancel pay", 30),
        ("ask offer pay", 70),
        ("ask offer cancel go", 60),
        ("ask offer go", 40),
        ("ask go", 800),
    )
    found = contrast(set_outcome(log, positive="pay"))
    late = found["cancel"]
    assert late.success_after > late.success_without
    assert (late.stage.name, late.stage.cases, late.stage.having) == ("offer", 200, 90)
    assert late.stage.success_with == pytest.approx(30 / 90)
    assert late.success_without_as_far == pytest.approx(70 / 110)
    assert not late.helps
    assert late.certain == certain_difference(30, 100, 60, 100)
    assert found["offer"].stage is None  # every good case passes it: a stage itself
    assert found["ask"].stage is None


def test_a_step_that_comes_only_after_another_takes_none_of_its_blame():
    """Papers are asked for where there are doubts. Who sends them fares worse than all others, and better than those
    who were asked and did not: it is told among those who were asked, and counts by how many these are."""
    log = logged(
        ("apply ask send pay", 40),
        ("apply ask send go", 60),
        ("apply ask go", 100),
        ("apply pay", 350),
        ("apply go", 50),
    )
    found = contrast(set_outcome(log, positive="pay"))
    late = found["send"]
    assert late.success_after < late.success_without
    assert late.stage == Stage("ask", 200, 100, 1.0, 60 / 160, 0.4, 0.0)
    assert (late.success_with_as_far, late.success_without_as_far, late.helps) == (0.4, 0.0, True)
    assert (late.good_share_as_far, late.bad_share_as_far) == (1.0, 60 / 160)
    assert late.certain == pytest.approx(certain_difference(40, 40, 60, 160) * 160 / 210)  # of the bad, more were asked
    assert found["ask"].stage is None


ALONE = ("apply pay", 30), ("apply go", 30)


@pytest.mark.parametrize(
    ("cases", "stage"),
    [
        ([("apply ask send pay", 20), ("apply ask send go", 20), ("apply ask go", 5)], "ask"),
        ([("apply ask send pay", 20), ("apply ask send go", 20), ("apply ask go", 4)], None),  # hardly any without
        ([("apply ask send pay", 20), ("apply ask send go", 9), ("apply ask go", 20)], None),  # of few it may be chance
        ([("apply ask send pay", 38), ("apply send ask pay", 2), ("apply ask go", 20)], "ask"),
        ([("apply ask send pay", 38), ("apply send ask pay", 3), ("apply ask go", 20)], None),  # not nearly always
        ([("apply warn ask send pay", 40), ("apply warn ask go", 4), ("apply warn go", 9)], "warn"),  # the one before
        ([("apply warn ask send pay", 40), ("apply warn ask go", 20), ("apply warn go", 9)], "ask"),  # the last one
        ([("apply warn ask send pay", 40), ("apply warn ask go", 9)], "ask"),  # of equals, the later one
        ([("apply ask warn send pay", 40), ("apply ask warn go", 9)], "warn"),
    ],
)
def test_the_stage_is_the_last_step_that_comes_before_and_leaves_it_open(cases, stage):
    found = contrast(set_outcome(logged(*cases, *ALONE), positive="pay"))["send"]
    assert (found.stage.name if found.stage else None) == stage


def test_no_comparison_reaches_behind_a_step_that_all_good_cases_pass():
    """Scoring comes with the last task, but for one case: it is compared with that case, not with earlier failures."""
    log = logged(("start task score pay", 39), ("start task pay", 1), ("start task score go", 10), ("start go", 50))
    found = contrast(set_outcome(log, positive="pay"))["score"]
    assert (found.stage.name, found.stage.cases, found.success_without_as_far, found.certain) == ("task", 50, 1.0, 0.0)


@pytest.mark.parametrize(("seconds", "stage"), [(0, "create"), (60, "cancel")])
def test_what_an_event_decides_at_the_same_moment_had_no_chance_to_go_on(seconds, stage):
    """Offers are cancelled for a new one, or with the application: then cancelling is no stage of the new one."""
    renewed = [("create", 0), ("cancel", 60), ("renew", 120), ("approve", 180)]
    declined = [("create", 0), ("cancel", 60), ("decline", 60 + seconds)]
    kept, other = [("create", 0), ("approve", 60)], [("apply", 0), ("approve", 60)]
    cases = [renewed] * 80 + [declined] * 20 + [kept] * 50 + [other] * 50
    rows = [(k, name, 1e9 * at) for k, case in enumerate(cases) for name, at in case]
    frame = pd.DataFrame(rows, columns=["case", "activity", "time"]).assign(
        time=lambda f: pd.to_datetime(f.time, utc=True)
    )
    found = contrast(set_outcome(read_log(frame), positive="approve", negative="decline"))["renew"]
    assert found.stage.name == stage


STEPS = {"ask": 0.7, "send": 0.8, "check": 0.6, "offer": 0.7, "call": 0.5}
ONLY_AFTER = {"send": "ask", "call": "offer"}


@st.composite
def branching(draw):
    """Cases in which some steps come only after others, now and then in another order."""
    random = draw(st.randoms(use_true_random=False))
    cases = []
    for _ in range(draw(st.integers(60, 160))):
        names: list[str] = []
        for name, often in STEPS.items():
            if ONLY_AFTER.get(name, name) in [*names, name] and random.random() < often:
                names.insert(random.randrange(len(names) + 1) if random.random() < 0.02 else len(names), name)
        cases.append((names or ["none"], random.random() < 0.2 + 0.15 * len(names)))
    return cases


@given(st.one_of(CASES, branching()))
def test_stages_are_what_counting_says(cases):
    """The last step that comes before in nearly all cases and leaves the step open, found case by case."""
    assume(len({well for _, well in cases}) == 2)
    rows = [(k, name, str(well)) for k, (names, well) in enumerate(cases) for name in names]
    log = read_log(pd.DataFrame(rows, columns=["case", "activity", "case:well"]))
    found = contrast(set_outcome(log, positive="true", attribute="case:well"))
    having = {c.name: [names for names, _ in cases if c.name in names] for c in found.activities}

    def before(one: str, other: str) -> bool:
        return 20 * sum(one in names[: names.index(other)] for names in having[other]) >= 19 * len(having[other])

    def leaves_open(stage: str, step: str) -> bool:
        if all(stage in names for names, well in cases if well):
            return True
        return len(having[step]) >= 30 and sum(step not in names for names in having[stage]) >= 5

    for c in found.activities:
        stages = [
            (len(having[s.name]), -sum(before(e, s.name) for e in having), s.name)
            for s in found.ranked
            if s.cases < len(cases) and before(s.name, c.name) and leaves_open(s.name, c.name)
        ]
        if c.defines_outcome or c.good_share == 1 or not stages:
            assert c.stage is None
            assert c.success_without_as_far == c.success_without
            continue
        fewest, _, stage = min(stages)
        here = [(c.name in names, well) for names, well in cases if stage in names]
        assert (c.stage.name, c.stage.cases, c.stage.having) == (stage, fewest, sum(has for has, _ in here))
        for share, end in ((c.good_share_as_far, True), (c.bad_share_as_far, False)):
            had = [has for has, well in here if well is end]
            assert share == pytest.approx(sum(had) / len(had) if had else 0)
        for share, has in ((c.success_with_as_far, True), (c.success_without_as_far, False)):
            ends = [well for one, well in here if one is has]
            assert share == (pytest.approx(sum(ends) / len(ends)) if ends else None)


def test_what_all_good_cases_and_no_bad_one_have_is_the_outcome_though_it_may_come_a_moment_before():
    """One click writes both, and sometimes the one that was not named first, seconds before the other."""
    rows = []
    for case in range(200):
        lag = 5 if case % 10 == 0 else 0
        end = [("accept", 60), ("pay", 60 + lag)] if case % 2 == 0 else [("go", 60)]
        rows += [(case, name, 1000 * case + second) for name, second in (("ask", 0), *end)]
    frame = pd.DataFrame(rows, columns=["case", "activity", "time"])
    frame["time"] = pd.to_datetime(frame["time"], unit="s")
    found = contrast(set_outcome(read_log(frame), positive="pay"))
    assert found["accept"].defines_outcome == "ends positive cases: none that has it is negative"
    assert found["accept"].late_cases == 0


def test_what_comes_on_the_day_of_the_decision_does_not_come_with_it():
    """Times without a time of day tell what happened on one day, not what happened at once: the order of rows does."""
    rows = []
    for case in range(400):
        helped = (case // 2) % 10 < (8 if case % 2 else 3)
        names = ["ask", *(["help"] if helped else []), "pay" if case % 2 else "go", "file"]
        rows += [(case, name, f"2024-01-{1 + case % 28:02}") for name in names]
    frame = pd.DataFrame(rows, columns=["case", "activity", "time"])
    frame["time"] = pd.to_datetime(frame["time"]).dt.tz_localize("Europe/Berlin")
    for engine in ("memory", "duckdb") if find_spec("ibis") else ("memory",):
        log = Recipe(steps=(RecipeStep("set_outcome", {"positive": "pay"}),))(open_log(frame, engine=engine))
        found = contrast(log)
        assert (found["help"].good_share, found["help"].bad_share, found["help"].late_cases) == (0.8, 0.3, 0)
        assert found["help"].sure


def test_who_comes_as_far_when_the_outcome_is_decided_does_not_come_as_far():
    """All checks after a refusal are in vain, so cases with such a check are none that go without help."""
    cases = [("ask check help pay", 40), ("ask check pay", 40), ("ask check help go", 40), ("ask check go", 40)]
    cases += [("ask go check help", 40), ("ask go check", 200), ("ask go", 60)]
    log = set_outcome(logged(*cases), positive="pay", negative="go")
    found = contrast(log)["help"]
    assert found.late_cases == 40
    assert found.stage == Stage("check", 160, 80, 0.5, 0.5, 0.5, 0.5)
    drawn = share_intervals(log, resamples=200, seed=1)["help"]["success_without_as_far"]
    assert drawn[0] < 0.5 < drawn[1]
