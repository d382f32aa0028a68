"""Of the best strategies, a quick one: many reach a target with the greatest probability, and some take for ever."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array

from waypost.graph import Mask
from waypost.importance.deciding import best_strategy
from waypost.model import MDP, Strategy
from waypost.model.arrays import Ints
from waypost.model.mdp import Target
from waypost.solve.reachability import Reach

Floats = NDArray[np.float64]

_LESS = 1e-9  # relative: fewer steps than by rounding


def quickest_strategy(mdp: MDP, *, target: Target) -> Strategy:
    """Of the strategies that reach `target` with the greatest probability, one that takes the fewest steps on average.

    Steps are counted until the target is reached, or out of reach. Over the choices that keep the greatest
    probability, the numbers are the solution of

        h(x) = 1 + min_c  sum_y P(c, y) h(y)

    found by policy iteration from any of the best strategies: all of them get there, or where it is hopeless. Which
    choices are best is certain; how many steps they take is as certain as floats are.

    >>> there = {"stroll": {"here": 0.9, "there": 0.1}, "go": "there"}
    >>> mdp = MDP.from_dict({"here": there, "there": {}}, initial="here")
    >>> quickest_strategy(mdp, target="there").to_dict()["here"]
    {'go': 1.0}
    """
    from scipy.sparse.linalg import spsolve  # takes a while to import: only where steps are counted

    reach = Reach.of(mdp, mdp.where(target), exact=False)
    going = (reach.max.values > 0) & ~reach.target
    states = np.flatnonzero(going)
    if not len(states):
        return best_strategy(mdp, target=target)
    choice = np.where(reach.max.choice < 0, mdp.first_choice[:-1], reach.max.choice)
    onward = csr_array(mdp.transitions[:, states].astype(float))
    keeps = reach.conserving & going[mdp.choice_state]
    before, fewest = choice, np.inf
    while True:
        taken = onward[choice[states]]
        steps = np.atleast_1d(spsolve((eye_array(len(states)) - taken).tocsc(), np.ones(len(states))))
        if not 0 < steps.sum() < fewest:  # more steps than floats can tell apart
            return Strategy.deterministic_of(mdp, before)
        after = 1 + onward @ steps
        least = _least(mdp, after, keeps, choice)
        better = after[least[states]] < steps * (1 - _LESS)
        if not better.any():
            return Strategy.deterministic_of(mdp, choice)
        before, fewest = choice.copy(), steps.sum()
        choice[states[better]] = least[states[better]]


def _least(mdp: MDP, after: Floats, keeps: Mask, choice: Ints) -> Ints:
    """(S,) of the choices that keep the best, the one with the fewest steps after it; any where none does."""
    order = np.lexsort((np.where(keeps, after, np.inf), mdp.choice_state))
    first = order[mdp.first_choice[:-1].clip(max=len(order) - 1)]
    return np.where(keeps[first], first, choice)
