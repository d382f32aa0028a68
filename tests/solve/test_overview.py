"""What is in a model: the overview agrees with slow and obvious counting."""

from __future__ import annotations

import numpy as np
from hypothesis import given

import strategies
from waypost.model import Strategy
from waypost.solve import reachability
from waypost.solve.overview import goals_reached, overview


def _visited(mdp) -> set[str]:
    """States on some path from the initial state, one step at a time."""
    found, waiting = {mdp.initial}, [mdp.initial]
    while waiting:
        state = waiting.pop()
        for choice in range(mdp.first_choice[state], mdp.first_choice[state + 1]):
            new = set(mdp.transitions[[choice]].indices.tolist()) - found
            found |= new
            waiting += new
    return {mdp.states[s] for s in found}


@given(strategies.mdps())
def test_sizes_and_unreachable_states_are_counted(mdp):
    found = overview(mdp)
    assert (found.states, found.choices, found.transitions) == (mdp.n_states, mdp.n_choices, mdp.transitions.nnz)
    assert set(found.unreachable) == set(mdp.states) - _visited(mdp)
    assert found.deciding == sum(b - a > 1 for a, b in zip(mdp.first_choice, mdp.first_choice[1:], strict=False))


@given(strategies.mdps())
def test_a_strategy_that_takes_everything_reaches_what_can_be_reached(mdp):
    reached = Strategy.uniform(mdp).reached()[0]
    assert {mdp.states[s] for s in np.flatnonzero(reached)} == _visited(mdp)


@given(strategies.mdps())
def test_every_goal_has_its_least_and_greatest_probability(mdp):
    for goal in goals_reached(mdp, overview(mdp).goals):
        if goal.states:
            for value, optimum in ((goal.least, "min"), (goal.greatest, "max")):
                assert value == reachability(mdp, target=goal.name, optimum=optimum)[mdp.initial]
        else:
            assert goal.least is None
