"""Agents beside the best: what they lose, where, and how two of them differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import mdps
from waypost import MDP, Strategy, reachability, read_mdp
from waypost.agents import explain_agent
from waypost.errors import WaypostError

gymnasium = pytest.importorskip("gymnasium")


def lake(*, slippery: bool) -> MDP:
    return read_mdp(gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=slippery))


@given(mdps(), st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_every_run_reaches_the_target_or_has_a_fate(mdp, seed):
    """Law: the probabilities of success and of all fates add up to 1; costs and idling to what is lost."""
    weights = np.random.default_rng(seed).integers(0, 3, mdp.n_choices) + 1e-3
    strategy = Strategy.memoryless(mdp, weights / np.bincount(mdp.choice_state, weights=weights)[mdp.choice_state])
    target = mdp.states[-1]
    try:
        found = explain_agent(mdp, strategy, target=target)
    except WaypostError as error:
        assert "no strategy reaches" in str(error)  # noqa: PT017
        return
    assert found.success + sum(fate.probability for fate in found.fates) == pytest.approx(1)
    assert found.best - found.success == pytest.approx(
        sum(d.cost for d in found.decisions) + found.decisions.idle, abs=1e-8
    )
    best = reachability(mdp, target=target, optimum="max")
    for fate in found.fates:
        assert fate.hope == pytest.approx(max(best[mdp.state(s)] for s in fate.states))


def test_an_agent_that_never_succeeds_is_explained():
    """Law: no error; what it never gets is lost in its decisions, or by going round."""
    falling = explain_agent(lake(slippery=False), np.ones(16, int), target="goal")  # down, into the hole
    assert (falling.success, falling.best, falling.importance) == (0.0, 1.0, None)
    assert [(d.state, d.cost) for d in falling.decisions.departures] == [("row=2, col=0", 1.0)]
    assert [(fate.states, fate.probability, fate.hope) for fate in falling.fates] == [(("row=3, col=0",), 1.0, 0.0)]
    assert "1 in row=2, col=0" in falling.summary()
    staying = explain_agent(lake(slippery=False), np.zeros(16, int), target="goal")  # against the wall
    assert staying.decisions.departures == ()
    assert staying.fates == ((("row=0, col=0",), 1.0, 1.0),)
    assert "going round, though 1 would still be possible" in staying.summary()


def test_two_agents_stand_side_by_side():
    mdp = lake(slippery=True)
    found = explain_agent(mdp, np.full(16, 2), target="goal", against=np.full(16, 1))
    assert found.success == pytest.approx(explain_agent(mdp, np.full(16, 2), target="goal").success)
    assert found.against.success == pytest.approx(explain_agent(mdp, np.full(16, 1), target="goal").success)
    assert {d.state for d in found.differences} <= {mdp.states[s] for s in range(16)}
    assert all(d.taken == {"right": 1.0} and d.taken_by_other == {"down": 1.0} for d in found.differences)
    assert list(found.to_frame().index) == [d.state for d in found.differences]
    assert "The other agent reaches it" in found.summary(top=1)
    same = explain_agent(mdp, np.full(16, 2), target="goal", against=np.full(16, 2))
    assert same.differences == ()
    assert "does the same wherever either comes" in same.summary()


def test_the_best_agent_departs_nowhere():
    mdp = lake(slippery=False)
    way = explain_agent(mdp, {0: 1, 4: 1, 8: 2, 9: 1, 13: 2, 14: 2}, target="goal")
    assert way.success == way.best == 1.0
    assert way.fates == ()
    assert len(way.to_frame()) == 0
    assert way.importance["row=2, col=1"].lower == 1.0
    assert "never departs from the best" in way.summary()
