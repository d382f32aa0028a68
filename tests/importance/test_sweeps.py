"""All states at once equals one at a time, in plain Python and compiled, with any number of workers, in any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import waypost
from strategies import mdps, question
from waypost.cases import loan
from waypost.graph import compiled
from waypost.graph.compiled import eagerly
from waypost.importance import Question, facts, sweeps
from waypost.importance.passing import SIDES, bound
from waypost.importance.sweeps import bounds_of_states
from waypost.model import Strategy
from waypost.paper.bench.lakes import lake
from waypost.solve import elimination, filling, lanes


@pytest.fixture(params=["plain", "compiled"])
def twin(request, monkeypatch):
    """Which twin of every kernel runs."""
    monkeypatch.setattr(compiled, "WORTH_COMPILING", np.inf if request.param == "plain" else -1)
    return request.param


def slowly(asked: Question, *, absolute: bool = False) -> np.ndarray:
    each = np.eye(asked.mdp.n_states, dtype=bool)
    return np.array([[bound(asked, only, side, absolute=absolute).value for only in each] for side in SIDES])


def same(found, right) -> None:
    np.testing.assert_allclose(np.array(found), right, atol=1e-12)
    for exactly in (0, 1):
        assert ((np.array(found) == exactly) == (right == exactly)).all()


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize("scope", ["all", "optimal", "strategy"])
@settings(max_examples=120)
@given(mdps(max_states=9, max_strategies=10**6))
def test_a_sweep_equals_one_state_at_a_time(scope, mdp):
    asked, states = question(mdp, Strategy.uniform(mdp) if scope == "strategy" else scope), np.arange(mdp.n_states)
    same(bounds_of_states(asked, states, workers=1), slowly(asked))
    if scope == "all":
        same(bounds_of_states(asked, states, absolute=True, workers=1), slowly(asked, absolute=True))


@settings(max_examples=200)
@given(mdps(max_states=9, max_strategies=10**6))
def test_what_flows_through_a_large_chain_is_the_importance_of_each_state(mdp):
    """One pass for all states, as in a chain of millions of them, equals one state at a time."""
    asked, states = question(mdp, Strategy.uniform(mdp)), np.arange(mdp.n_states)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeps, "APART", -1)
        same(bounds_of_states(asked, states, workers=1), slowly(asked))


@pytest.fixture
def many_choices(monkeypatch):
    """Every model counts as one where many states have a choice."""
    monkeypatch.setattr(elimination, "MOST_KEPT", -1)


@pytest.mark.usefixtures("twin", "many_choices")
@pytest.mark.parametrize("scope", ["all", "optimal"])
@settings(max_examples=120)
@given(mdps(max_states=9, max_strategies=10**6))
def test_lanes_equal_one_state_at_a_time(scope, mdp):
    """Where many states have a choice, graph and lanes tell the bounds of every state as `bound` does."""
    asked, states = question(mdp, scope), np.arange(mdp.n_states)
    assert asked.reduced is None
    same(bounds_of_states(asked, states), slowly(asked))
    if scope == "all":
        same(bounds_of_states(asked, states, absolute=True), slowly(asked, absolute=True))


@pytest.mark.usefixtures("many_choices")
@pytest.mark.parametrize("setting", ["too large a pattern", "no patience"])
def test_what_lanes_leave_open_is_asked_one_by_one(setting, monkeypatch):
    """A pattern that is too large, or a lane that does not come to its end, changes no bound."""
    if setting == "too large a pattern":
        monkeypatch.setattr(filling, "MOST_UPDATES", -1)
    else:
        monkeypatch.setattr(lanes, "_ROUNDS", 1)
    asked = Question.of(loan(), target="Granted", scope="all")
    for absolute in (False, True):
        told = []
        found = bounds_of_states(asked, np.arange(10), absolute=absolute, progress=told.append)
        same(found, slowly(asked, absolute=absolute))
        assert sum(told) == 2 * 10


@settings(max_examples=40)
@given(mdps(max_states=9, max_strategies=10**6), st.randoms(use_true_random=False))
def test_workers_and_order_change_nothing(mdp, random):
    asked = question(mdp, "all")
    states = np.arange(mdp.n_states)
    shuffled = list(states)
    random.shuffle(shuffled)
    once = np.array(bounds_of_states(asked, states, workers=1))
    again = np.array(bounds_of_states(asked, np.array(shuffled), workers=2))
    assert (again[:, np.argsort(shuffled)] == once).all()


@pytest.mark.parametrize("scope", ["all", "optimal"])
@settings(max_examples=100)
@given(mdps(max_states=9, max_strategies=10**6))
def test_many_states_are_decided_as_one_is(scope, mdp):
    """The compiled questions about 0 and 1 agree with the set algebra of `facts`."""
    asked, each = question(mdp, scope), np.eye(mdp.n_states, dtype=bool)
    unsure = asked.ever & ~asked.always & ~each[asked.start]
    for through, single in ((True, facts.can_be_one), (False, facts.can_be_zero)):
        settled = asked.reach.avoidable[0] if not through and scope == "all" else np.zeros(mdp.n_states, bool)
        states = np.flatnonzero(unsure & ~settled)
        one_by_one = [single(asked, each[s]) for s in states]
        assert facts.only_one_way(asked, states, through=through).tolist() == one_by_one


@settings(max_examples=100)
@given(mdps(max_states=9, max_strategies=10**6))
def test_many_states_are_certain_or_impossible_as_one_is(mdp):
    """What is asked of many states absolutely agrees with the set algebra of `facts`."""
    asked, each = question(mdp, "all"), np.eye(mdp.n_states, dtype=bool)
    states = np.flatnonzero(asked.ever & ~each[asked.start])
    certain = [facts.certain(asked, each[s], least=False) for s in states]
    assert facts.each_certain(asked, states).tolist() == certain
    impossible = [facts.impossible(asked, each[s]) for s in states]
    assert facts.each_impossible(asked, states).tolist() == impossible


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


def test_no_state_of_a_slippery_lake_goes_by_itself(monkeypatch):
    """Runs are long there and many choices nearly the best: lanes switch by more digits, and are vouched for."""

    def alone(_sweep, states, _side, **_):
        assert not len(states)
        return np.empty(0)

    monkeypatch.setattr(sweeps._Sweep, "_one_by_one", alone)
    mdp = lake(30, slippery=True)
    asked = Question.of(mdp, target="goal", scope="all")
    with eagerly():
        least, greatest = bounds_of_states(asked, np.arange(mdp.n_states), absolute=True)
    assert ((greatest > 0) & (greatest < 1)).sum() > 500
    assert (least <= greatest).all()
