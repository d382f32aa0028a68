"""What becomes of the runs of an agent that do not reach the target: the sets of states in which they stay for ever.

A set that the agent never leaves is beyond hope, or it only goes round in it. What it loses by that, the greatest
probability of the target where it enters the set, is shared by the states of the set in which it never does what leads
on: there is at least one, for a best strategy that does so wherever it is leaves every such set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from waypost.agents.conduct import Conduct, certain
from waypost.importance.deciding import expected_visits
from waypost.model import Strategy, Target, stopped_chain, unfolded_chain, unfolded_start
from waypost.model.arrays import Floats, Ints


class Fate(NamedTuple):
    """Where runs of an agent settle without the target."""

    states: tuple[str, ...]  # in which they stay for ever
    probability: float
    hope: float  # greatest probability of the target from there; above 0, the agent only goes round
    late: bool = False  # they are there because the time is up


@dataclass(frozen=True, eq=False)
class Settled:
    """Closed sets of states in which runs settle before the target."""

    fates: tuple[Fate, ...]  # most likely first
    reached: float  # probability of the target
    steps: float  # on average, until the target is reached or lost for ever
    visits: Floats  # (M S,) how often each state is met, in each mode of the memory
    circles: tuple[tuple[Ints, float], ...]  # sets that still have hope, (M S) positions, and what is lost in each


def settled(strategy: Strategy, target: Target, best: Floats) -> Settled:
    """Where runs settle: the chain is stopped at the target, and a set is closed if no arrow leaves it.

    `best` is the greatest probability of the target from each state, (S,).
    """
    mdp = strategy.mdp
    wanted = np.tile(mdp.where(target), strategy.memory)
    start = unfolded_start(strategy)
    chain = stopped_chain(unfolded_chain(strategy), wanted)
    visits = expected_visits(chain, start, wanted)
    closed = np.isinf(visits)  # entered once
    passing = np.where(closed, 0.0, visits)
    passing[wanted] = 0.0
    entered = np.where(closed, start + chain.T @ passing, 0.0)
    _, part = connected_components(chain, directed=True, connection="strong")
    hope = np.tile(best, strategy.memory)
    found, circles = [], []
    inside = np.flatnonzero(closed)
    inside = inside[np.argsort(part[inside], kind="stable")]
    for members in np.split(inside, np.flatnonzero(np.diff(part[inside])) + 1) if len(inside) else ():
        states = tuple(mdp.states[s] for s in np.unique(members % mdp.n_states).tolist())
        found.append(Fate(states, min(1.0, float(entered[members].sum())), float(hope[members].max())))
        lost = float(entered[members] @ hope[members])
        circles += [(members, lost)] if lost > 0 else []
    arrived = min(1.0, float(visits[wanted].sum()))
    return Settled(
        fates=tuple(sorted(found, key=lambda fate: -fate.probability)),
        reached=certain(arrived, surely=not found, maybe=bool(visits[wanted].any())),
        steps=float(passing.sum()),
        visits=visits,
        circles=tuple(circles),
    )


def with_circles(conduct: Conduct, strategy: Strategy, circles: tuple[tuple[Ints, float], ...]) -> Conduct:
    """Conduct with what is lost by going round for ever, in the states in which what leads on is never done.

    >>> from waypost import MDP, decisions
    >>> from waypost.agents.conduct import conduct_of
    >>> mdp = MDP.from_dict({"a": {"wait": "b", "go": "c"}, "b": {"back": "a"}, "c": {}}, initial="a")
    >>> waiting = Strategy.from_dict(mdp, {"a": "wait"})
    >>> found = settled(waiting, "c", np.ones(3))
    >>> conduct = conduct_of(waiting, decisions(mdp, target="c", strategy=waiting), found.visits)
    >>> with_circles(conduct, waiting, found.circles).costs.tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    mdp, modes = strategy.mdp, np.stack(strategy.modes)
    costs, merits, wrong = conduct.costs.copy(), conduct.merits.copy(), conduct.wrong.copy()
    onward = np.repeat(-1, mdp.n_states)  # (S,) the choice that leads on
    leading = np.flatnonzero((conduct.merits == 2) & (np.diff(mdp.first_choice) > 1)[mdp.choice_state])
    onward[mdp.choice_state[leading]] = leading
    for members, lost in circles:
        mode, state = np.divmod(members, mdp.n_states)
        idle = (onward[state] >= 0) & (modes[mode, onward[state]] == 0)
        for m, s in zip(mode[idle].tolist(), state[idle].tolist(), strict=True):
            own = slice(int(mdp.first_choice[s]), int(mdp.first_choice[s + 1]))
            costs[own] += lost / idle.sum() * modes[m, own]
            wrong[own] |= modes[m, own] > 0
            merits[own] = np.where(np.arange(own.start, own.stop) == onward[s], 2, 0)
    return replace(conduct, costs=costs, merits=merits, wrong=wrong)
