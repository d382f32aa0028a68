"""Answers behave as people who know pandas, scikit-learn and networkx expect."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context

import pytest

import waypost
from waypost import Bounds, Strategy
from waypost.cases import loan, prepare_case

pytest.importorskip("pandas")

ASKED = {"target": "Granted", "scope": "all"}
UNIFORM = Strategy.uniform(loan())
MAPPINGS = [
    waypost.state_importance(loan(), **ASKED),
    waypost.choice_importance(loan(), **ASKED),
    waypost.explain(loan(), target="Granted"),
    waypost.success_after(loan(), target="Granted"),
    waypost.success_without(loan(), target="Granted"),
]
SEQUENCES = [
    waypost.usual_ways(loan(), target="Granted"),
    waypost.find_patterns(loan(), target="Granted", strategy=UNIFORM, effort=500),
    waypost.find_log_patterns(prepare_case("loan-log:300", None)),
]
PAIRS = [
    waypost.path_importance(loan(), path=["s0", "Apply", "Application"], **ASKED),
    waypost.pattern_importance(loan(), pattern="... Error ...", **ASKED),
    MAPPINGS[0]["Error"],
]
IN_WORDS = [*MAPPINGS[:3], *SEQUENCES, *PAIRS[:2], waypost.decisions(loan(), target="Granted", strategy=UNIFORM)]


def name(answer: object) -> str:
    return type(answer).__name__


@pytest.mark.parametrize("answer", MAPPINGS, ids=name)
def test_an_answer_by_name_is_a_mapping(answer):
    assert isinstance(answer, Mapping)
    assert len(answer) == len(list(answer)) == len(answer.to_frame())
    assert list(answer.keys()) == list(answer)
    first = next(iter(answer))
    assert first in answer
    assert answer.get(first) == answer[first] == dict(answer.items())[first]
    assert "nobody" not in answer
    assert answer.get("nobody") is None
    assert len(repr(answer)) < 120


@pytest.mark.parametrize("answer", SEQUENCES, ids=name)
def test_an_answer_in_order_is_a_sequence(answer):
    assert isinstance(answer, Sequence)
    assert len(answer) == len(list(answer)) == len(answer.to_frame()) > 1
    assert answer[:1] == (answer[0],)
    assert answer[0] in answer
    assert len(repr(answer)) < 120


@pytest.mark.parametrize("answer", PAIRS, ids=name)
def test_bounds_unpack(answer):
    lower, upper = answer
    assert (lower, upper) == (answer.lower, answer.upper)


@pytest.mark.parametrize("answer", IN_WORDS, ids=name)
def test_an_answer_tells_itself_in_words(answer):
    assert re.search("[Oo]f the runs|of success|% succeed with it", str(answer.summary()))


@pytest.mark.parametrize("answer", [*MAPPINGS, *SEQUENCES, *PAIRS], ids=name)
def test_an_answer_crosses_process_borders(answer):
    for again in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):  # noqa: S301
        assert type(again) is type(answer)
        assert repr(again) == repr(answer)


def test_answers_and_models_are_the_same_in_another_process():
    """Law: what is sent to a fresh Python reads there as it does here, and comes back with its numbers."""
    sent = [loan(), UNIFORM, waypost.explain(loan(), target="Granted", witnesses=2), *MAPPINGS, *SEQUENCES, *PAIRS]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as elsewhere:
        assert list(elsewhere.map(repr, sent)) == list(map(repr, sent))
        again = elsewhere.submit(copy.deepcopy, sent[2]).result()
    assert dict(again) == dict(sent[2])
    assert again["Error"]["all"] == waypost.state_importance(again.mdp, target="Granted", scope="all")["Error"]


def test_success_after_and_without_tell_a_strategy_too():
    """Under the uniform strategy: what is counted by hand in the loan example, and a column of its own."""
    after = waypost.success_after(loan(), target="Granted", strategy=UNIFORM, exact=True)
    assert after["Rework"] == Bounds(Fraction(0), Fraction(4, 5))
    assert after.under["Rework"] == Fraction(2, 5)
    assert list(after.to_frame().columns) == ["lower", "upper", "strategy"]
    without = waypost.success_without(loan(), target="Granted", strategy=UNIFORM)
    assert list(without.to_frame().columns) == ["without", "worth", "strategy"]
    grouped = waypost.success_without(loan(), target="Granted", groups={"both": ["Error", "Rework"]}, strategy=UNIFORM)
    one = waypost.group_importance(loan(), target="Granted", scope=UNIFORM, groups={"both": ["Error", "Rework"]})
    whole = float(waypost.state_importance(loan(), target="Granted", scope=UNIFORM).question.best)
    assert grouped.under["both"] == pytest.approx(whole * (1 - one["both"].lower), abs=1e-12)


def test_success_after_under_a_strategy_with_memory_is_that_of_the_first_visit():
    """A strategy with memory goes on from where it is: via the state and to the target, of the runs via the state."""
    found = waypost.state_importance(loan(), target="Granted", scope="optimal")
    memory = found.witness("Application", "upper")
    assert memory.memory == 2
    after = waypost.success_after(loan(), target="Granted", strategy=memory)
    via = waypost.absolute_importance(loan(), target="Granted", scope=memory)
    assert set(after) - set(after.under) == {"Angry"}  # which it never visits
    assert via["Angry"].upper == 0
    for state, under in after.under.items():
        passed = waypost.absolute_importance(loan(), target=[state, "Granted"], scope=memory)[state].upper
        assert under * passed == pytest.approx(via[state].upper, abs=1e-12)
