"""A model reduced to its choices: every state without one is eliminated, once, for all questions about the model.

Write ``K`` for the states with a choice, ``Y`` for the others on the way to the target ``t``, ``Q`` for one step within
``Y`` and ``N = (I - Q)^-1`` for the expected visits. Each choice of ``K`` is a row ``r``, and standing in the start is
one more. Where a row gets to next is

    q_r = P(r, K) + P(r, Y) N Q(Y, K)      t_r = P(r, t) + P(r, Y) N Q(Y, t)

and likewise for the states from which ``t`` cannot be reached. ``I - Q`` is an M-matrix: its factors need no pivoting,
and solving with non-negative right-hand sides adds non-negative numbers only, so nothing cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from waypost.graph import Graph, Ints, Mask
from waypost.graph.compiled import kernel
from waypost.solve.gth import Fill, dense_fill
from waypost.solve.reachability import Reach
from waypost.solve.strain import EPS

MOST_KEPT = 32  # more states with a choice than this: lanes are faster
FINE = 1e-11  # the relative error that rounding may cause: the expected number of steps, times that of one

LONGEST = 100  # steps in which the rows that are taken are counted

Floats = NDArray[np.float64]


class Sparse(NamedTuple):
    """A sparse matrix, by row or by column, as a compiled loop takes it."""

    pointer: Ints
    place: Ints
    value: Floats


class Rows(NamedTuple):
    """Where every row gets to next, and every state of ``Y``."""

    own: Ints  # (k + 1,) rows of the i-th state of K: own[i] : own[i + 1]; the start, if not in K, is the last row
    inner: Sparse  # (R, m) one step into Y, by row
    to_kept: Floats  # (R, k)
    by_kept: Floats  # (k, R) the same, transposed
    to_target: Floats  # (R,)
    to_nowhere: Floats  # (R,)
    inner_to_kept: Floats  # (m, k)
    inner_to_target: Floats  # (m,)
    inner_to_nowhere: Floats  # (m,)
    scale: Floats  # (k,) greatest probability of t
    base: Ints  # (k,) rows of a strategy that reaches t with positive probability from everywhere
    start: int  # position of the start in K, or -1
    rounding: float  # relative error of all these numbers, at most
    visits: float  # to K, at most, whatever the strategy; infinity where there is no bound at first sight
    pattern: Fill  # for cutting out the states of K


class LU(NamedTuple):
    """``I - Q = L U`` up to the order of rows and columns."""

    lower: Sparse  # by column
    upper: Sparse  # by column
    row_order: Ints  # (m,)
    column_order: Ints  # (m,)


@dataclass(frozen=True, eq=False)
class Elimination:
    """A model reduced to its choices."""

    kept: Ints  # (k,) K
    inner: Ints  # (m,) Y
    direct: Sparse  # (R, S) by row: one step of every row
    inflow: Sparse  # (m, S) by row: one step of every state of Y
    rows: Rows
    factors: LU

    @property
    def work(self) -> int:
        """Basic steps that one question takes, roughly."""
        factors = len(self.factors.lower.value) + len(self.factors.upper.value)
        return factors + 5 * self.rows.to_kept.size + 30 * len(self.kept) ** 2 + 50


def eliminate(reach: Reach, start: int, *, enabled: Mask, visited: Mask) -> Elimination | None:
    """Reduce a model to its choices; None where too many states have one, or rounding would show."""
    graph, target = reach.arena.graph, reach.target
    alive = visited & reach.possible & ~target
    choices = np.flatnonzero(enabled & alive[graph.choice_state])
    owner = graph.choice_state[choices]
    options = np.bincount(owner, minlength=graph.n_states)
    kept, inner = np.flatnonzero(alive & (options > 1)), np.flatnonzero(alive & (options == 1))
    if len(kept) > MOST_KEPT:
        return None
    free = choices[options[owner] > 1]
    inflow, direct = (_steps(graph, reach.arena.data, c) for c in (choices[options[owner] == 1], free))
    if start not in kept:  # one more row: standing there
        pointer = np.append(direct.pointer, len(direct.place) + 1)
        direct = Sparse(pointer, np.append(direct.place, start), np.append(direct.value, 1.0))
    column = np.where(target, len(kept), len(kept) + 1)
    column[kept] = np.arange(len(kept))
    column[inner] = -1 - np.arange(len(inner))
    part = _parted.sized(graph.size)
    exits, steps = part(inflow, column, len(kept) + 2)
    solved = _factorised(steps, exits)
    if solved is None:
        return None
    factors, leads, rounding = solved
    found, into = part(direct, column, len(kept) + 2)
    _carry_on.sized(found.shape[1] * len(into.place))(into, leads, found)
    return Elimination(
        kept=kept,
        inner=inner,
        direct=direct,
        inflow=inflow,
        factors=factors,
        rows=Rows(
            own=np.concatenate([[0], np.cumsum(options[kept])]),
            inner=into,
            to_kept=np.ascontiguousarray(found[:, :-2]),
            by_kept=np.ascontiguousarray(found[:, :-2].T),
            to_target=np.ascontiguousarray(found[:, -2]),
            to_nowhere=np.ascontiguousarray(found[:, -1]),
            inner_to_kept=np.ascontiguousarray(leads[:, :-2]),
            inner_to_target=np.ascontiguousarray(leads[:, -2]),
            inner_to_nowhere=np.ascontiguousarray(leads[:, -1]),
            scale=np.ascontiguousarray(reach.max.values[kept]),
            base=np.searchsorted(free, reach.max.choice[kept]),
            start=int(np.searchsorted(kept, start)) if start in kept else -1,
            rounding=rounding,
            visits=_visits(found[:, :-2], np.cumsum(options[kept])),
            pattern=dense_fill(len(kept)),
        ),
    )


def _visits(to_kept: Floats, ends: Ints) -> float:
    """Rows that are taken, at most: ``T(i) >= 1 + sum_j q_r(j) T(j)`` for every row ``r`` of ``i``, found from below.

    Once one more step adds less than one row, the inequality holds for a multiple of what was found.

    >>> 4.0 <= _visits(np.array([[0.0, 1.0], [0.5, 0.0], [0.25, 0.0]]), np.array([1, 3])) < 5.0
    True
    """
    if not len(ends):
        return 1.0
    first = np.concatenate([[0], ends[:-1]])
    found = np.zeros(len(ends))
    for _ in range(LONGEST):
        taken = 1.0 + to_kept @ found
        longer = np.maximum.reduceat(taken[: ends[-1]], first)
        more = float((longer - found).max())
        if more <= 0.25:
            return float(taken.max()) / (1.0 - more) * (1.0 + FINE)
        found = longer
    return np.inf


def _steps(graph: Graph, data: Floats, choices: Ints) -> Sparse:
    """One step of some choices, by row."""
    sizes = np.diff(graph.indptr)[choices]
    pointer = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.repeat(graph.indptr[choices] - pointer[:-1], sizes) + np.arange(pointer[-1])
    return Sparse(pointer, graph.indices[entries], data[entries])


@kernel
def _parted(rows, column, width) -> tuple[Floats, Sparse]:  # type: ignore[no-untyped-def]
    """Rows in two parts: their `width` columns that are at least 0, and by row the others, each a place ``-1 - i``."""
    n = len(rows.pointer) - 1
    dense = np.zeros((n, width))
    inner = Sparse(np.zeros(n + 1, np.int64), np.empty(len(rows.place), np.int64), np.empty(len(rows.place)))
    filled = 0
    for r in range(n):
        for e in range(rows.pointer[r], rows.pointer[r + 1]):
            j = column[rows.place[e]]
            if j >= 0:
                dense[r, j] += rows.value[e]
            elif rows.value[e] != 0.0:
                inner.place[filled] = -1 - j
                inner.value[filled] = rows.value[e]
                filled += 1
        inner.pointer[r + 1] = filled
    return dense, Sparse(inner.pointer, inner.place[:filled].copy(), inner.value[:filled].copy())


@kernel
def _carry_on(into, leads, found) -> None:  # type: ignore[no-untyped-def]
    """Add to where rows lead to where they lead through ``Y``."""
    for r in range(len(found)):
        for e in range(into.pointer[r], into.pointer[r + 1]):
            for j in range(found.shape[1]):
                found[r, j] += into.value[e] * leads[into.place[e], j]


@kernel
def _one_minus(steps) -> Sparse:  # type: ignore[no-untyped-def]
    """``I - Q`` by column, of a ``Q`` by row with nothing on its diagonal."""
    m = len(steps.pointer) - 1
    pointer = np.zeros(m + 1, np.int64)
    for j in steps.place:
        pointer[j + 1] += 1
    pointer = np.cumsum(pointer) + np.arange(m + 1)
    place = np.empty(pointer[m], np.int64)
    value = np.empty(pointer[m])
    at = pointer[:m].copy()
    for i in range(m):
        place[at[i]] = i
        value[at[i]] = 1.0
        at[i] += 1
        for e in range(steps.pointer[i], steps.pointer[i + 1]):
            j = steps.place[e]
            place[at[j]] = i
            value[at[j]] = -steps.value[e]
            at[j] += 1
    return Sparse(pointer, place, value)


def _factorised(steps: Sparse, exits: Floats) -> tuple[LU, Floats, float] | None:
    """Factors of ``I - Q``, ``N`` applied to the columns `exits`, and its error; None where that is too large."""
    from scipy.sparse.linalg import splu  # takes a while to import: not for a single question

    m = len(steps.pointer) - 1
    if m == 0:
        nothing = np.empty(0, np.int64)
        none = Sparse(np.zeros(1, np.int64), nothing, np.empty(0))
        return LU(none, none, nothing, nothing), exits, 8 * EPS
    pointer, place, value = _one_minus.sized(2 * (m + len(steps.place)))(steps)
    system = csc_array((value, place.astype(np.int32), pointer.astype(np.int32)), shape=(m, m))
    try:
        lu = splu(system, permc_spec="COLAMD", diag_pivot_thresh=0.0)
    except RuntimeError:  # singular to working precision
        return None
    steps_before_leaving = float(np.abs(lu.solve(np.ones(m))).max())
    rounding = 8 * EPS * (1 + steps_before_leaving)
    if rounding > FINE:
        return None
    lower, upper = (Sparse(f.indptr.astype(np.int64), f.indices.astype(np.int64), f.data) for f in (lu.L, lu.U))
    factors = LU(lower, upper, lu.perm_r.astype(np.int64), lu.perm_c.astype(np.int64))
    return factors, np.asarray(lu.solve(exits)), rounding
