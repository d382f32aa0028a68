"""A fixed strategy (P1): the same question on the chain it leaves, where no choice remains.

Paper, Sect. 4.1, Eq. 1: ``imp(s) = Pr(F t and (not t U s)) / Pr(F t)`` in the induced Markov chain, or, for a strategy
with memory, in the chain over ``modes x S`` in which a state is the set of its copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import StrategyError
from waypost.graph import Graph, Ints, Mask
from waypost.model import MDP, Strategy
from waypost.solve.arena import Arena
from waypost.solve.rational import to_rationals
from waypost.solve.reachability import Reach


@dataclass(frozen=True, eq=False)
class InducedChain:
    """Markov chain of a strategy: an arena with one choice per state; state `s` in mode `m` is number ``m S + s``."""

    reach: Reach
    steps: NDArray[Any]  # (nnz,) one-step probabilities
    start: int
    modes: int

    @classmethod
    def of(cls, mdp: MDP, strategy: Strategy, target: Mask, *, exact: bool) -> InducedChain:
        """Resolve every choice as the strategy says."""
        if strategy.mdp is not mdp and (strategy.mdp.states, strategy.mdp.actions) != (mdp.states, mdp.actions):
            raise StrategyError("the strategy belongs to another model: its states or actions differ")
        data = to_rationals(mdp.rationals()) if exact else np.asarray(mdp.transitions.data)
        n = mdp.n_states
        sources, goals, values = [], [], []
        for mode, probabilities in enumerate(strategy.modes):
            weight = _exact_weights(mdp, probabilities) if exact else probabilities
            entry_choice = np.repeat(np.arange(mdp.n_choices), np.diff(mdp.transitions.indptr))
            used = probabilities[entry_choice] > 0
            entry, successor = entry_choice[used], np.asarray(mdp.transitions.indices, np.int64)[used]
            sources.append(mode * n + mdp.choice_state[entry])
            goals.append(strategy.update[mode, successor] * n + successor)
            values.append(weight[entry] * data[used])
        graph, merged = _matrix(
            np.concatenate(sources), np.concatenate(goals), np.concatenate(values), strategy.memory * n
        )
        spread = np.tile(target, strategy.memory)
        reach = Reach(Arena.over(graph, merged, spread), spread)
        return cls(reach, merged, strategy.start * n + mdp.initial, strategy.memory)

    def copies(self, states: Mask) -> Mask:
        """The copies of some states, one per mode."""
        return np.tile(states, self.modes)


def _exact_weights(mdp: MDP, probabilities: NDArray[np.float64]) -> NDArray[np.object_]:
    """Each probability as its shortest decimal, each state's summing to exactly 1."""
    weights = [Fraction(repr(float(p))) for p in probabilities]
    sums = [Fraction(0)] * mdp.n_states
    owner = mdp.choice_state.tolist()
    for state, weight in zip(owner, weights, strict=True):
        sums[state] += weight
    return to_rationals(weight / sums[state] for state, weight in zip(owner, weights, strict=True))


def _matrix(source: Ints, goal: Ints, value: NDArray[Any], n: int) -> tuple[Graph, NDArray[Any]]:
    """Sort entries by row and column and add up those in the same place."""
    key = source * n + goal
    order = np.argsort(key, kind="stable")
    key = key[order]
    head = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    rows, columns = key[head] // n, key[head] % n
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    return Graph(np.arange(n + 1), indptr, columns), np.add.reduceat(value[order], head)
