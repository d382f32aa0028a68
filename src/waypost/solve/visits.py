"""How often the states of a Markov chain are visited before it is left, without a subtraction.

``N = (I - Q)^-1`` has the expected visits to each state from each. With Grassmann, Taksar and Heyman's elimination
``I - Q = L U`` (see `waypost.solve.gth`) both ``N c`` and ``s N`` are sums and products of numbers that are not
negative, so every entry keeps nearly all its digits, however rarely the chain is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from waypost.graph import Ints
from waypost.graph.compiled import kernel
from waypost.solve.gth import NO_LIMIT, Chain, Factors, Fill, arrange, blank, eliminate, substitute

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Visits:
    """Expected visits to the states of a chain, eliminated once and asked as often as one likes.

    >>> found = Visits.of(csr_array(np.array([[0.5, 0.25], [0.5, 0.0]])), leaving=np.array([0.25, 0.5]))
    >>> found.before(np.array([1.0, 0.0]))  # visits to both states from the first one: 1/0.375, a quarter of that
    array([2.66666667, 0.66666667])
    >>> found.after(np.array([[0.25], [0.5]])).ravel()  # it is left for certain
    array([1., 1.])
    """

    pattern: Fill
    factors: Factors
    rank: Ints  # (n,) when each state is cut out

    @classmethod
    def of(cls, steps: csr_array, leaving: Floats, *, limit: int = NO_LIMIT) -> Visits:
        """Eliminate a chain of steps ``Q`` that is left at once with probability `leaving`.

        The two together are 1 in every row; what is left is told, because ``1 - Q 1`` would lose its digits. Arranging
        it in more than `limit` steps is an OverflowError.
        """
        n = steps.shape[0]
        source = np.repeat(np.arange(n), np.diff(steps.indptr))
        goal = np.asarray(steps.indices, np.int64)
        away = source != goal
        work = 100.0 * (n + len(goal))
        arranged, pattern = arrange.sized(work)(n, source[away], goal[away], limit)
        if not arranged:
            raise OverflowError(f"this chain of {n} states fills in")
        rank = np.argsort(pattern.order)
        ordered = csr_array(steps[pattern.order])
        chain = Chain(np.asarray(ordered.indptr, np.int64), rank[ordered.indices], np.asarray(ordered.data, float))
        out = np.asarray(leaving, float)[pattern.order]
        factors = blank(pattern, out)
        if not eliminate.sized(work + 10.0 * len(pattern.later))(0, n, pattern, chain, out, factors):
            raise ZeroDivisionError("a part of this chain is never left")
        return cls(pattern, factors, rank)

    def after(self, columns: NDArray[Any]) -> Floats:
        """(n, k) what is collected from each state on: ``N c`` for every column ``c`` of what one visit gives."""
        found = np.array(columns, float)[self.pattern.order]
        substitute.sized(self._work(found))(0, len(found), self.pattern, self.factors, found)
        return found[self.rank]

    def before(self, start: Floats) -> Floats:
        """(n,) expected visits to each state, ``s N``, where each state is begun in with probability `start`."""
        found = np.array(start, float)[self.pattern.order]
        substitute_left.sized(self._work(found))(self.pattern, self.factors, found)
        return found[self.rank]

    def _work(self, found: NDArray[Any]) -> float:
        columns = found.shape[1] if found.ndim > 1 else 1
        return float((2 * len(self.pattern.later) + len(found)) * columns)


@kernel
def substitute_left(pattern, factors, row) -> None:  # type: ignore[no-untyped-def]
    """Solve ``v = v Q + s`` in place: what flows to states cut out later, then back from there."""
    n = len(row)
    for i in range(n):
        for f in range(pattern.after[i], pattern.after[i + 1]):
            row[pattern.later[f]] += factors.onward[f] * row[i]
    for i in range(n - 1, -1, -1):
        row[i] = row[i] / factors.pivot[i]
        for e in range(pattern.before[i], pattern.before[i + 1]):
            row[pattern.earlier[e]] += factors.passed[e] * row[i]
