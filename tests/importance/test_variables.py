"""Importance by variable: single values, thresholds, and conjunctions that say more than their parts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import oracles
from strategies import mdps
from waypost import MDP
from waypost.errors import WaypostError
from waypost.importance import facts
from waypost.importance.question import Question
from waypost.importance.variables import by_variable, quick_length
from waypost.model.valuations import Variable


def passing_any(mdp, target, states, scope):
    """Bounds of passing any of some states, by enumeration of what is done before and after."""
    goal = {int(t): Fraction(1) for t in np.flatnonzero(target)}
    rest = {t: one for t, one in goal.items() if not states[t]}
    everywhere = oracles.strategies(mdp)
    after = [oracles.expected(chain, goal) for chain in everywhere]
    pairs = set()
    for chain in everywhere:
        for value in after:
            via = {int(s): value[s] for s in np.flatnonzero(states)}
            through = oracles.expected(chain, {**dict.fromkeys(rest, Fraction(0)), **via})[mdp.initial]
            around = oracles.expected(chain, {**rest, **dict.fromkeys(via, Fraction(0))})[mdp.initial]
            pairs.add((through + around, through))
    best = max(total for total, _ in pairs)
    shares = [via / total for total, via in pairs if total > 0 and (scope == "all" or total == best)]
    return min(shares), max(shares)


@pytest.mark.parametrize("scope", ["all", "optimal"])
@given(mdps(max_strategies=12), st.data())
@settings(max_examples=60, deadline=None)
def test_a_predicate_is_as_important_as_enumeration_finds(scope, mdp, data):
    """Law: importance of a predicate is that of passing any state, before the target, in which it holds."""
    target = mdp.where("goal")
    goal = {int(t): Fraction(1) for t in np.flatnonzero(target)}
    assume(any(oracles.expected(chain, goal)[mdp.initial] for chain in oracles.strategies(mdp)))
    columns = {
        name: Variable.of(data.draw(st.lists(st.integers(0, 2), min_size=mdp.n_states, max_size=mdp.n_states)))
        for name in ("x", "y")
    }
    named = replace(mdp, valuations=columns)
    found = by_variable(named, target="goal", scope=scope, exact=True)
    for predicate in found.predicates:
        assert predicate.mask.tolist() == named.where(predicate.text).tolist()
        assert tuple(predicate.bounds) == passing_any(mdp, target, predicate.mask & ~target, scope)


@given(mdps(max_strategies=12), st.data())
@settings(max_examples=60, deadline=None)
def test_what_every_run_passes_is_passed_whatever_is_done(mdp, data):
    """Law: a set is inevitable iff every strategy passes it with probability 1 before the target ends the run."""
    target = mdp.where("goal")
    passing = np.array(data.draw(st.lists(st.booleans(), min_size=mdp.n_states, max_size=mdp.n_states))) & ~target
    assume(not passing[mdp.initial] and passing.any() and not target[mdp.initial])
    ends = {int(s): Fraction(int(passing[s])) for s in np.flatnonzero(passing | target)}
    always = all(oracles.expected(chain, ends)[mdp.initial] == 1 for chain in oracles.strategies(mdp))
    assume(
        any(
            oracles.expected(chain, dict.fromkeys(map(int, np.flatnonzero(target)), Fraction(1)))[mdp.initial]
            for chain in oracles.strategies(mdp)
        )
    )
    assert facts.passed_by_all(Question.of(mdp, target="goal", scope="all"), passing) == always


def test_what_every_run_passes_comes_last_and_explains_nothing():
    """Law: nobody gets around y=1, winner or loser, so it is told apart from z=1, which only winners pass."""
    mdp = MDP.from_dict(
        {
            "y=0, z=0": {"on": "y=1, z=0"},
            "y=1, z=0": {"dare": {"y=1, z=1": 0.5, "y=2, z=0": 0.5}, "stay": "y=2, z=0"},
            "y=1, z=1": {"on": "y=3, z=1"},
            "y=2, z=0": {},
            "y=3, z=1": {},
        },
        initial="y=0, z=0",
    )
    found = by_variable(mdp, target="y=3", scope="all")
    assert {p.text: p.inevitable for p in found.predicates if p.kind.value == "indispensable"} == {
        "z=1": False,
        "y=1": True,
    }
    assert list(found)[-1] == "y=1"
    assert found.summary().splitlines()[-1].startswith("Every run passes y=1, whether or not it reaches 'y=3'")
    assert found.to_frame()["inevitable"].tolist() == [False] * (len(found) - 1) + [True]


@given(mdps(max_strategies=12), st.data())
@settings(max_examples=60, deadline=None)
def test_what_leads_is_said_once_and_forbids_what_all_of_it_forbids(mdp, data):
    """Law: the first predicates are of the answer, none twice; those that forbid leave nothing of the others out."""
    target = mdp.where("goal")
    goal = {int(t): Fraction(1) for t in np.flatnonzero(target)}
    assume(any(oracles.expected(chain, goal)[mdp.initial] for chain in oracles.strategies(mdp)))
    columns = {
        name: Variable.of(data.draw(st.lists(st.integers(0, 3), min_size=mdp.n_states, max_size=mdp.n_states)))
        for name in ("x", "y")
    }
    found = by_variable(replace(mdp, valuations=columns), target="goal", scope="all", exact=True)
    leading = found.leading(1000)
    assert set(leading) <= set(found.predicates)
    assert len({p.text for p in leading}) == len(leading)
    assert not any(p.inevitable or (p.bounds.upper == 0 and (p.mask & target).any()) for p in leading)
    forbidden = np.logical_or.reduce([p.mask for p in leading if p.bounds.upper == 0] or [np.zeros(mdp.n_states, bool)])
    hopeless = [p for p in found.predicates if p.bounds.upper == 0 and not p.arriving]
    assert all(forbidden[p.mask].all() for p in hopeless)
    few = found.leading(3)
    assert len(few) == min(3, len(leading))
    assert any(p.bounds.upper == 0 for p in few) == bool(hopeless)


def test_what_the_target_itself_brings_does_not_lead():
    """Law: whoever arrives is at y=1; that nobody who was there before succeeds does not forbid it."""
    steps = {"x=0, y=0": {"safe": "x=1, y=0", "rash": "x=0, y=1"}, "x=1, y=0": {"go": "x=2, y=1"}}
    mdp = MDP.from_dict({**steps, "x=0, y=1": {}, "x=2, y=1": {}}, initial="x=0, y=0")
    found = by_variable(mdp, target="x=2", scope="all")
    assert found["y=1"] == (0, 0)
    assert [p.text for p in found.leading()] == ["x=1"]


def test_what_is_quick_to_ask_depends_on_values_and_size():
    """Law: of small models pairs of values are asked about, of larger ones single values, of very large ones none."""
    variables = {name: Variable.of(np.arange(n := 1000) % k) for name, k in (("x", 7), ("y", 5))}
    lengths = []
    for times in (1, 100, 10_000):
        columns = {name: Variable.of(np.tile(v.values, times)) for name, v in variables.items()}
        mdp = SimpleNamespace(variables=columns, n_states=n * times, transitions=SimpleNamespace(nnz=2 * n * times))
        lengths.append(quick_length(mdp, columns))
    assert lengths == [2, 1, 0]


def test_the_key_is_what_a_locked_door_needs():
    """Law: carrying the key and opening the door are indispensable; so is doing both at once."""
    gymnasium = pytest.importorskip("gymnasium")
    pytest.importorskip("minigrid")
    from waypost.environments import explore

    mdp = explore(gymnasium.make("MiniGrid-DoorKey-5x5-v0"))
    found = by_variable(mdp, target="goal", scope="all")
    kinds = {predicate.text: predicate.kind.value for predicate in found.predicates}
    door = next(x for x, v in mdp.variables.items() if v.words and "yellow_open" in v.words)
    assert kinds["carrying=yellow_key"] == kinds[f"{door}=yellow_open"] == "indispensable"
    assert kinds[f"{door}=yellow_closed"] == "optional"
    assert kinds[f"{door}=yellow_open & carrying=yellow_key"] == "indispensable"
    assert "  carrying=yellow_key" in found.summary()
    assert found.to_frame().loc["carrying=yellow_key", "lower"] == 1


def test_thresholds_and_conjunctions_appear_where_they_say_more():
    """Law: x jumps from 0 over 1 or 2; nobody gets around x>=1, each value can be avoided."""
    mdp = MDP.from_dict(
        {
            "x=0, y=0": {"short": "x=1, y=0", "long": "x=2, y=0"},
            "x=1, y=0": {"up": "x=1, y=1", "on": "x=3, y=1"},
            "x=2, y=0": {"on": "x=3, y=1"},
            "x=1, y=1": {},
            "x=3, y=1": {"end": "x=4, y=1"},
            "x=4, y=1": {},
        },
        initial="x=0, y=0",
    )
    kinds = {p.text: p.kind.value for p in by_variable(mdp, target="x=4", scope="all").predicates}
    assert kinds == {
        "y=1": "indispensable",
        "x=3": "indispensable",
        "x=1": "optional",
        "x=2": "optional",
        "x=1 & y=1": "detrimental",
    }
    jump = MDP.from_dict(
        {"x=0": {"short": "x=1", "long": "x=2"}, "x=1": {"on": "x=9"}, "x=2": {"on": "x=9"}, "x=9": {}}, initial="x=0"
    )
    assert by_variable(jump, target="x=9", scope="all")["x>=1"].lower == 1


def test_a_model_without_variables_says_how_to_name_them():
    mdp = MDP.from_dict({"a": {"go": "b"}, "b": {}}, initial="a")
    with pytest.raises(WaypostError, match="name them like"):
        by_variable(mdp, target="b", scope="all")
    named = MDP.from_dict({"x=0": {"go": "x=1"}, "x=1": {}}, initial="x=0")
    with pytest.raises(WaypostError, match="holds at the start"):
        by_variable(named, target="x=1", scope="all")["x=0"]
    with pytest.raises(WaypostError, match="length is a whole number, at least 1"):
        by_variable(named, target="x=1", scope="all", length=0)


def test_of_thresholds_that_are_passed_alike_only_the_tightest_is_told():
    """Law: x>=3 says all that x>=2 does where every run that passes one passes both; of what is lost, the widest."""
    steps = {f"x={k}": {"on": {f"x={k + 1}": 0.5, f"x={k + 2}": 0.5}, "off": f"x={-k - 1}"} for k in range(6)}
    ends = {f"x={k}": {} for k in (-6, -5, -4, -3, -2, -1, 6, 7)}
    mdp = MDP.from_dict(steps | ends, initial="x=0", labels={"won": ["x=6", "x=7"]})
    told = [p for p in by_variable(mdp, target="won", scope="all").predicates if ">=" in p.text or "<=" in p.text]
    assert [p.text for p in told if p.kind.value == "indispensable"] == ["x>=4"]
    assert [p.text for p in told if p.kind.value == "detrimental" or p.bounds.upper == 0] == ["x<=-1"]
