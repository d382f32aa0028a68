"""What an agent does in every state, how often, and what that loses compared with the best: as arrays.

With ``V`` the greatest probability of the target and ``Q(s, a)`` what an action is worth if the best follows it, a
choice loses ``taken(s, a) (V(s) - Q(s, a))``, with ``taken`` the expected number of times it is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from waypost.importance import Decisions
from waypost.model import MDP, Strategy
from waypost.model.arrays import Floats, Ints, Mask

LEAST, MOST = np.nextafter(0, 1), np.nextafter(1, 0)  # what is neither 0 nor 1 is not rounded to it


@dataclass(frozen=True, eq=False)
class Conduct:
    """What an agent does, choice by choice, and what it loses by that, over all visits and steps."""

    visits: Floats  # (S,) how often it stands there before the target, on average; inf where it may stay for ever
    shares: Floats  # (C,) how often each choice is taken where it stands there
    costs: Floats  # (C,) of success
    merits: Ints  # (C,) 0 for a choice that is not best, 2 for the one of a best strategy, else 1
    wrong: Mask  # (C,) taken where it is not best, with a limit at some step
    worth: Floats  # (C,) probability of the target after it, if the best follows; with a limit, on average over visits
    hoped: Floats  # (S,) probability of the target there, if the best is done from there on; on average as well
    met: Mask  # (S,) whether it ever stands there, ends and the target included

    def lost(self, mdp: MDP) -> Floats:
        """(S,) what is lost in each state."""
        return np.add.reduceat(self.costs, mdp.first_choice[:-1])

    def departs(self, mdp: MDP) -> Mask:
        """(S,) where the agent departs from the best."""
        return np.logical_or.reduceat(self.wrong, mdp.first_choice[:-1])

    def mendable(self, mdp: MDP) -> Mask:
        """(S,) where another action would be better, whenever the agent stands there."""
        return np.logical_or.reduceat(self.wrong & (self.merits == 0), mdp.first_choice[:-1])


def conduct_of(strategy: Strategy, found: Decisions, visits: Floats) -> Conduct:
    """Conduct of an agent that has as long as it likes: its `decisions`, and (M S,) expected visits to each state.

    >>> from waypost import decisions
    >>> from waypost.cases import loan
    >>> tossing = Strategy.uniform(loan())
    >>> visits = np.ones(10)
    >>> conduct_of(tossing, decisions(loan(), target="Granted", strategy=tossing), visits).merits.tolist()[:4]
    [2, 1, 1, 2]
    """
    mdp, states = strategy.mdp, {name: s for s, name in enumerate(strategy.mdp.states)}
    gaps, merits = np.zeros(mdp.n_choices), np.ones(mdp.n_choices, np.int64)
    worth, hoped = np.zeros(mdp.n_choices), np.zeros(mdp.n_states)
    for decision in found:
        first = int(mdp.first_choice[states[decision.state]])
        values = np.array(list(decision.values.values()))
        own = slice(first, first + len(values))
        gaps[own] = values.max() - values
        worth[own], hoped[states[decision.state]] = values, values.max()
        merits[own] = [(action in decision.best) + (action == decision.best[0]) for action in decision.values]
    by_mode = visits.reshape(strategy.memory, -1)
    finite = np.where(np.isfinite(by_mode), by_mode, 0.0)  # who comes back for ever loses nothing by it
    modes = np.stack(strategy.modes)  # (M, C)
    costs = (finite[:, mdp.choice_state] * modes).sum(axis=0) * gaps
    for_ever = np.isinf(by_mode)
    weight = np.where(for_ever.any(axis=0), for_ever, by_mode)
    shares = shares_of(mdp, modes, weight)
    met = by_mode.sum(axis=0) > 0
    wrong = (shares > 0) & (merits == 0) & met[mdp.choice_state]
    return Conduct(by_mode.sum(axis=0), shares, costs, merits, wrong, worth, hoped, met)


def shares_of(mdp: MDP, modes: Floats, weight: Floats) -> Floats:
    """(C,) how often each choice is taken, over modes that have a weight in each state; where none has, any alike."""
    total = weight.sum(axis=0)
    parts = np.where(total > 0, weight / np.where(total > 0, total, 1.0), 1 / len(modes))
    return np.asarray((parts[:, mdp.choice_state] * modes).sum(axis=0))


def certain(probability: float, *, surely: bool, maybe: bool) -> float:
    """Probability of what the graph says is certain, possible, or neither.

    >>> certain(1.0000000000000002, surely=False, maybe=True) < 1, certain(0.9999999999999997, surely=True, maybe=True)
    (True, 1.0)
    """
    return 1.0 if surely else float(np.clip(probability, LEAST, MOST)) if maybe else 0.0
