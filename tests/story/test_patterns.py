"""Patterns of a log are counted: the counts are right, chance is not told of, and what is planted is found."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import waypost
from pattern_oracles import matches
from waypost.errors import LogError
from waypost.logs import EventLog, contrast
from waypost.logs.steps.outcome import set_outcome
from waypost.patterns.counted import CountedPatterns
from waypost.report.counted import in_words
from waypost.story.occurrences import PAIRS, Occurrences
from waypost.story.patterns import pattern_of
from waypost.story.searching import Hypothesis, holds

CASES = st.lists(st.lists(st.sampled_from("ABCX"), min_size=1, max_size=7), min_size=1, max_size=8)
EVERY = [
    *(Hypothesis(kind, pair) for kind in PAIRS for pair in ((0, 1), (2, 0))),
    *(Hypothesis("repeated", (1,), times) for times in (2, 3)),
    Hypothesis("passes", (2,)),
    *(
        Hypothesis("segment", steps, direct=direct, before=before)
        for steps in ((0, 1, 2), (0, 1, 0), (1, 0, 0))
        for direct in (True, False)
        for before in (True, False)
    ),
]


def told(cases: list[list[str]], positive: str = "pay", **how) -> CountedPatterns:
    return waypost.find_log_patterns(EventLog.from_sequences(cases), positive=positive, **how)


@settings(max_examples=60)
@given(CASES)
def test_a_pattern_holds_in_the_cases_that_match_it(cases):
    """Law: what is counted is what the pattern, as it is printed, means; X is an activity that patterns leave out."""
    seen = EventLog.from_sequences(cases).seen
    where, words = Occurrences.of(seen, "ABC"), [tuple(k.name for k in row) for row in seen.sequences()]
    for hypothesis in EVERY:
        pattern = pattern_of(hypothesis, ["ABC"[k] for k in hypothesis.steps])
        right = [matches(pattern, word, lambda test, letter: test.name == letter) for word in words]
        assert holds(hypothesis, where).tolist() == right, str(pattern)


def test_an_outcome_by_chance_is_not_explained():
    """Law: of logs in which nothing goes with the outcome, one in twenty at most gets a pattern told of."""
    random = np.random.default_rng(7)
    wrong = 0
    for _ in range(100):
        cases = [
            [*random.choice(list("ABCDEF"), size=random.integers(2, 9)), end] for end in ["pay"] * 60 + ["go"] * 80
        ]
        wrong += any(one.sure for one in told(cases))
    assert wrong <= 5


PLANTED = {
    "call, later mail": (
        [["call", "x", "mail"], ["x", "call", "mail"]],
        [["mail", "x", "call"], ["mail", "call", "x"]],
    ),
    "call directly followed by mail": (
        [["call", "mail", "x"], ["x", "call", "mail"]],
        [["call", "x", "mail"], ["call", "x", "x", "mail"]],
    ),
    "ask but no answer": ([["ask", "answer"], ["answer"], ["x"]], [["ask"], ["x", "ask"]]),
    "call at least twice": ([["call", "x"], ["x"]], [["call", "call"], ["call", "x", "call"]]),
    "call and mail, in any order": (
        [["call", "mail"], ["mail", "call"]],
        [["call"], ["mail"], ["x"], ["x", "call"]],
    ),
    "every ask is followed by answer": (
        [["ask", "answer"], ["ask", "answer", "ask", "answer"]],
        [["ask", "answer", "ask"], ["ask"], ["ask", "ask", "answer", "ask"]],
    ),
    "a, later b, later c": (
        [["a", "b", "c"], ["a", "x", "b", "c"]],
        [["b", "a", "c"], ["a", "c", "b"], ["c", "a", "b"], ["b", "c", "a"], ["c", "b", "a"]],
    ),
}


@pytest.mark.parametrize("words", PLANTED)
def test_what_makes_the_difference_is_found_and_little_else(words):
    """Law: what separates good cases from bad ones comes first, in its simplest form, and its parts are not told."""
    good, bad = PLANTED[words]
    cases = [[*case, "pay"] for case in good for _ in range(60)] + [[*case, "go"] for case in bad for _ in range(60)]
    found = told(cases)
    assert in_words(found[0]) == words
    assert {found[0].good_share, found[0].bad_share} == {0.0, 1.0}
    assert all(one.sure for one in found)
    assert len({frozenset(one.steps) for one in found}) == len(found)


def test_a_late_step_lends_nothing_to_what_comes_before_it():
    """All good cases get an offer; whether they were called before it makes no difference to those that get one."""
    random = np.random.default_rng(3)
    cases = []
    for _ in range(600):
        case = ["ask", *(["call"] if random.random() < 0.5 else [])]
        if random.random() < 0.5:
            case += ["offer", "pay" if random.random() < 0.8 else "go"]
        else:
            case += ["go"]
        cases.append(case)
    assert [in_words(one) for one in told(cases)] == ["offer"]


def test_what_comes_after_the_outcome_explains_nothing():
    """Good cases are called again once they have paid; bad ones are not."""
    cases = [["ask", "call", "pay", "call"]] * 60 + [["ask", "call", "go"]] * 60 + [["ask", "go"]] * 20
    assert "call at least twice" not in [in_words(one) for one in told(cases)]
    before = [["ask", "call", "call", "pay"]] * 60 + [["ask", "call", "go"]] * 60 + [["ask", "go"]] * 20
    assert in_words(told(before)[0]) == "call at least twice"


def test_where_nothing_is_certain_the_closest_are_told_as_that():
    cases = [["ask", "help", "pay"]] * 4 + [["ask", "pay"]] + [["ask", "go"]] * 5
    found = told(cases)
    assert [in_words(one) for one in found] == ["help"]
    assert not found[0].sure
    assert found.summary().startswith(
        "No pattern tells good cases from bad ones by more than chance would do among the"
    )


def test_where_all_there_is_is_the_outcome_nothing_is_told():
    found = told([["pay"]] * 30 + [["go"]] * 30)
    assert not len(found)
    assert "there is nothing to make patterns of" in _printed(found)


@pytest.mark.parametrize("cases", [[["ask", "pay"]], [["ask", "pay"]] * 9, [["ask", "go"], ["go"]]])
def test_without_good_and_bad_cases_there_is_a_clear_error(cases):
    with pytest.raises(LogError, match=r"nothing tells good cases from bad ones|no event 'pay' in this log"):
        told(cases)


def test_effort_bounds_what_is_tried():
    """Law: no more is tried than is asked for, of however many activities; those that are left out are told."""
    random = np.random.default_rng(5)
    names = [f"step {k}" for k in range(120)]
    cases = [[*random.choice(names, size=30), end] for end in ["pay", "go"] * 100]
    for effort in (300, 20_000):
        found = told(cases, effort=effort)
        assert found.tried <= effort
        assert found.activities + found.left_out == 120
    assert "were left out; a greater --effort tries more" in json.dumps(_printed(found))


def _printed(found: CountedPatterns) -> str:
    from io import StringIO

    from rich.console import Console

    from waypost.report.counted import print_counted

    console = Console(file=StringIO(), width=200)
    print_counted(found, console)
    return console.file.getvalue()


def test_a_pattern_of_one_step_is_bounded_as_the_activity_is():
    """Law: passing a step has the bounds that `explain_log` gives it; and a pattern those of its automaton."""
    from waypost.cases import prepare_case

    ready = prepare_case("loan-log:400", None)
    found = waypost.find_log_patterns(ready, min_seen=1)
    scores = waypost.explain_log(ready, min_seen=1)
    single = [one for one in found if one.kind == "passes"]
    assert single
    for one in single:
        for scope in ("all", "optimal"):
            assert one.bounds[scope] == pytest.approx(tuple(scores[one.steps[0]][scope]), abs=1e-9)


def test_choices_in_a_log_that_is_too_large_for_them_are_told_of_and_patterns_counted():
    random = np.random.default_rng(11)
    cases = [[*random.choice(list("ABCDEFGH"), size=40), end] for end in ["pay", "go"] * 700]
    from waypost.logs.actors import choosing_events

    log = EventLog.from_sequences(cases)
    found = told(cases, actors=choosing_events(log, frozenset("AB")))
    assert all(not one.bounds for one in found)
    assert "have no bounds over strategies; merge more (--eps 0.9)" in found.notes[0]


def test_the_numbers_of_a_real_log_are_those_of_plain_counting(shared_data):
    """Every number of every pattern, counted again from the file by the words it is told in."""
    path = shared_data / "logs/bpic2017/bpic17_sample_outcome.csv"
    rows: dict[str, list[tuple[datetime, int, str]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for k, row in enumerate(csv.DictReader(file)):
            time = datetime.fromisoformat(row["Complete Timestamp"].replace("/", "-"))
            rows.setdefault(row["Case ID"], []).append((time, k, row["Activity"]))
    cases = [[name for _, _, name in sorted(events)] for events in rows.values()]
    good, bad = ([case for case in cases if ("O_Accepted" in case) == won] for won in (True, False))
    holds = {
        "O_Returned": lambda case: "O_Returned" in case,
        "A_Create Application directly followed by A_Concept": lambda case: (
            ("A_Create Application", "A_Concept") in pairwise(case)
        ),
        "W_Handle leads": lambda case: "W_Handle leads" in case,
        "O_Create Offer at least twice": lambda case: case.count("O_Create Offer") >= 2,
    }
    found = waypost.find_log_patterns(path, positive="O_Accepted")
    assert {in_words(one) for one in found} == set(holds)
    for one in found:
        has = holds[in_words(one)]
        assert (one.good_cases, one.bad_cases) == (sum(map(has, good)), sum(map(has, bad)))
        assert one.success_after == sum(map(has, good)) / sum(map(has, cases))


def test_contrasts_of_single_steps_are_those_of_explain():
    """Law: a step's stage, shares and what is certain of them are the same wherever a log is told of."""
    log = set_outcome(EventLog.from_sequences([["ask", "help", "pay"]] * 40 + [["ask", "go"]] * 60), positive="pay")
    (one,) = waypost.find_log_patterns(log)
    score = contrast(log)["help"]
    for name in ("cases", "good_cases", "bad_cases", "good_share", "bad_share", "success_after", "certain", "stage"):
        assert getattr(one, name) == getattr(score, name)


def test_a_log_that_stays_where_it_is_has_the_same_patterns(tmp_path):
    """Law: where a log lives changes nothing of what is counted in it."""
    from waypost.logs import open_log, write_log

    path = tmp_path / "log.csv"
    write_log(EventLog.from_sequences([["call", "mail", "pay"]] * 50 + [["mail", "call", "go"]] * 50), path)
    one, other = (
        waypost.find_log_patterns(open_log(path, engine=engine), positive="pay") for engine in ("memory", "duckdb")
    )
    assert list(one) == list(other)
    assert len(one)


def test_who_comes_as_far_when_the_outcome_is_decided_is_no_one_to_compare_a_pattern_with():
    """While a case is open, help makes no difference to those that are checked; most are checked when it is lost."""
    cases = [("ask check help pay", 40), ("ask check pay", 40), ("ask check help go", 40), ("ask check go", 40)]
    cases += [("ask go check help", 40), ("ask go check", 200), ("ask go", 60)]
    log = EventLog.from_sequences([names.split() for names, n in cases for _ in range(n)])
    found = waypost.find_log_patterns(set_outcome(log, positive="pay", negative="go"))
    assert not [one for one in found if one.sure and "help" in one.steps]
