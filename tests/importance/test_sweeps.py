"""All states at once equals one at a time, in plain Python and compiled, with any number of workers, in any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import waypost
from strategies import mdps
from waypost.cases import loan
from waypost.graph import compiled
from waypost.importance.facts import Facts
from waypost.importance.passing import Passing
from waypost.importance.states import Question
from waypost.importance.sweeps import bounds_of_states
from waypost.model import MDP, Strategy


@pytest.fixture(params=["plain", "compiled"])
def twin(request, monkeypatch):
    """Which twin of every kernel runs."""
    monkeypatch.setattr(compiled, "WORTH_COMPILING", np.inf if request.param == "plain" else -1)
    return request.param


def slowly(facts: Facts, problem: str) -> np.ndarray:
    names = ("lowest", "highest") if problem == "importance" else ("absolute_lowest", "absolute_highest")
    n = facts.graph.n_states
    return np.array([[getattr(Passing(facts, np.arange(n) == s), name)().value for s in range(n)] for name in names])


def same(found, right) -> None:
    np.testing.assert_allclose(np.array(found), right, atol=1e-12)
    for exactly in (0, 1):
        assert ((np.array(found) == exactly) == (right == exactly)).all()


def question(mdp: MDP, scope) -> Question:
    try:
        return Question.of(mdp, target="goal", scope=scope, exact=False)
    except waypost.WaypostError:
        assume(condition=False)
        raise


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize("scope", ["all", "optimal", "strategy"])
@settings(max_examples=120)
@given(mdps(max_states=9, max_strategies=10**6))
def test_a_sweep_equals_one_state_at_a_time(scope, mdp):
    facts = question(mdp, Strategy.uniform(mdp) if scope == "strategy" else scope).facts
    same(bounds_of_states(facts, np.arange(mdp.n_states), "importance", workers=1), slowly(facts, "importance"))
    if scope == "all":
        same(bounds_of_states(facts, np.arange(mdp.n_states), "absolute", workers=1), slowly(facts, "absolute"))


@settings(max_examples=40)
@given(mdps(max_states=9, max_strategies=10**6), st.randoms(use_true_random=False))
def test_workers_and_order_change_nothing(mdp, random):
    facts = question(mdp, "all").facts
    states = np.arange(mdp.n_states)
    shuffled = list(states)
    random.shuffle(shuffled)
    once = np.array(bounds_of_states(facts, states, "importance", workers=1))
    again = np.array(bounds_of_states(facts, np.array(shuffled), "importance", workers=2))
    assert (again[:, np.argsort(shuffled)] == once).all()


@pytest.mark.parametrize("scope", ["all", "optimal"])
@settings(max_examples=100)
@given(mdps(max_states=9, max_strategies=10**6))
def test_many_states_are_decided_as_one_is(scope, mdp):
    """The compiled questions about 0 and 1 agree with the set algebra of `Facts`."""
    facts = question(mdp, scope).facts
    states = np.array([s for s in np.flatnonzero(facts.ever) if s != facts.start and not facts.always[s]], np.int64)
    for through, single in ((True, facts.can_be_one), (False, facts.can_be_zero)):
        one_by_one = [single(np.arange(mdp.n_states) == s) for s in states]
        if not through and scope == "all":
            states_ = [s for s in states if not facts.reach.avoidable[0][s]]
            one_by_one = [single(np.arange(mdp.n_states) == s) for s in states_]
            assert facts.only_one_way(np.array(states_, np.int64), through=through).tolist() == one_by_one
        else:
            assert facts.only_one_way(states, through=through).tolist() == one_by_one


def test_progress_adds_up_to_two_bounds_per_state():
    mdp = loan()
    for scope in ("all", "optimal", Strategy.uniform(mdp)):
        told = []
        waypost.state_importance(mdp, target="Granted", scope=scope, progress=told.append)
        assert sum(told) == 2 * mdp.n_states


@pytest.mark.parametrize("name", ["spotify1000", "spotify10000"])
def test_spotify_states_equal_one_state_at_a_time(shared_data, name):
    mdp = waypost.read_mdp(shared_data / f"models/learned/{name}.drn")
    picked = [mdp.states[s] for s in np.random.default_rng(7).choice(mdp.n_states, 12, replace=False)]
    for scope in ("all", "optimal"):
        together = waypost.state_importance(mdp, target="positive", scope=scope, states=picked)
        for state in picked[:4]:
            alone = waypost.state_importance(mdp, target="positive", scope=scope, states=state)
            assert together[state].lower == pytest.approx(alone[state].lower, abs=1e-10)
            assert together[state].upper == pytest.approx(alone[state].upper, abs=1e-10)
