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

from waypost.graph import Graph, Ints, Mask
from waypost.model import MDP, Strategy
from waypost.solve.arena import Arena
from waypost.solve.rational import to_rationals
from waypost.solve.reachability import Reach


@dataclass(frozen=True, eq=False)
class InducedChain:
    """Markov chain of a strategy: an arena with one choice per state; state `s` in mode `m` is number ``m S + s``.

    A strategy that tosses at the start has one more state, the last: there it tosses.
    """

    reach: Reach
    steps: NDArray[Any]  # (nnz,) one-step probabilities
    start: int
    starts: tuple[tuple[int, Any], ...]  # copies of the initial state that runs begin in, and how likely each is
    modes: int

    @classmethod
    def of(cls, mdp: MDP, strategy: Strategy, target: Mask, *, exact: bool) -> InducedChain:
        """Resolve every choice as the strategy says."""
        strategy.of(mdp)
        data = to_rationals(mdp.rationals()) if exact else np.asarray(mdp.transitions.data)
        n, tossed = mdp.n_states, strategy.toss is not None
        sources, goals, values = [], [], []
        for mode, probabilities in enumerate(strategy.modes):
            weight = _exact_weights(mdp, probabilities) if exact else probabilities
            entry_choice = np.repeat(np.arange(mdp.n_choices), np.diff(mdp.transitions.indptr))
            used = probabilities[entry_choice] > 0
            entry, successor = entry_choice[used], np.asarray(mdp.transitions.indices, np.int64)[used]
            sources.append(mode * n + mdp.choice_state[entry])
            goals.append(strategy.update[mode, successor] * n + successor)
            values.append(weight[entry] * data[used])
        last = strategy.memory * n
        places = np.array([mode * n + mdp.initial for mode, _ in strategy.starts])
        chances = _chances(strategy, exact=exact)
        if tossed:
            sources.append(np.full(len(places), last))
            goals.append(places)
            values.append(chances)
        graph, steps = _matrix(np.concatenate(sources), np.concatenate(goals), np.concatenate(values), last + tossed)
        spread = _copies(target, strategy.memory, tossed=tossed)
        reach = Reach(Arena.over(graph, steps, spread), spread)
        starts = tuple(zip(places.tolist(), chances, strict=True))
        return cls(reach, steps, last if tossed else starts[0][0], starts, strategy.memory)

    def copies(self, states: Mask) -> Mask:
        """The copies of some states, one per mode."""
        return _copies(states, self.modes, tossed=len(self.starts) > 1)


def _copies(states: Mask, modes: int, *, tossed: bool) -> Mask:
    return np.concatenate([np.tile(states, modes), np.zeros(int(tossed), bool)])


def _chances(strategy: Strategy, *, exact: bool) -> NDArray[Any]:
    """Probability of each of `Strategy.starts`."""
    if not exact:
        return np.array([chance for _, chance in strategy.starts], float)
    chance = Fraction(0) if strategy.toss is None else Fraction(str(strategy.toss[1]))
    return to_rationals([1 - chance, chance][: len(strategy.starts)])


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
