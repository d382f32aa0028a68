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
from scipy.sparse import csc_array, csr_array, identity, vstack
from scipy.sparse.linalg import splu

from waypost.graph import Ints, Mask
from waypost.solve.gth import Fill, dense_fill
from waypost.solve.reachability import Reach
from waypost.solve.strain import EPS

MOST_KEPT = 32  # more states with a choice than this: lanes are faster
FINE = 1e-11  # the relative error that rounding may cause: the expected number of steps, times that of one

Floats = NDArray[np.float64]


class Sparse(NamedTuple):
    """A sparse matrix as a compiled loop takes it."""

    pointer: Ints
    place: Ints
    value: Floats

    @classmethod
    def of(cls, matrix: csr_array | csc_array) -> Sparse:
        """Arrays of a CSR or CSC matrix."""
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)


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
    direct: csr_array  # (R, S) one step of every row
    inflow: csr_array  # (m, S) one step of every state of Y
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
    matrix = csr_array((reach.arena.data, graph.indices, graph.indptr), shape=(graph.n_choices, graph.n_states))
    free = choices[options[owner] > 1]
    inflow, direct = csr_array(matrix[choices[options[owner] == 1]]), csr_array(matrix[free])
    if start not in kept:
        standing = csr_array(([1.0], ([0], [start])), shape=(1, graph.n_states))
        direct = csr_array(vstack([direct, standing], format="csr"))
    ends = np.column_stack([target, ~reach.possible]).astype(float)
    exits = np.column_stack([inflow[:, kept].toarray(), inflow @ ends])
    solved = _factorised(csr_array(inflow[:, inner]), exits)
    if solved is None:
        return None
    factors, leads, rounding = solved
    into = csr_array(direct[:, inner])
    found = np.column_stack([direct[:, kept].toarray(), direct @ ends]) + into @ leads
    return Elimination(
        kept=kept,
        inner=inner,
        direct=direct,
        inflow=inflow,
        factors=factors,
        rows=Rows(
            own=np.concatenate([[0], np.cumsum(options[kept])]),
            inner=Sparse.of(into),
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
            visits=_visits(found[:, :-2]),
            pattern=dense_fill(len(kept)),
        ),
    )


def _visits(to_kept: Floats) -> float:
    """Expected visits to K, at most: every row may lead on to it, with the greatest probability that one does."""
    again = float(to_kept.sum(axis=1).max(initial=0.0))
    return 1 / (1 - again) if again < 1 - 1e-6 else np.inf


def _factorised(steps: csr_array, exits: Floats) -> tuple[LU, Floats, float] | None:
    """Factors of ``I - Q``, ``N`` applied to the columns `exits`, and its error; None where that is too large."""
    m = steps.shape[0]
    if m == 0:
        nothing = Sparse.of(csc_array((0, 0)))
        return LU(nothing, nothing, np.empty(0, np.int64), np.empty(0, np.int64)), exits, 8 * EPS
    system = csc_array(identity(m, format="csr") - steps)
    try:
        lu = splu(system, permc_spec="COLAMD", diag_pivot_thresh=0.0)
    except RuntimeError:  # singular to working precision
        return None
    steps_before_leaving = float(np.abs(lu.solve(np.ones(m))).max())
    rounding = 8 * EPS * (1 + steps_before_leaving)
    if rounding > FINE:
        return None
    factors = LU(
        Sparse.of(csc_array(lu.L)), Sparse.of(csc_array(lu.U)), lu.perm_r.astype(np.int64), lu.perm_c.astype(np.int64)
    )
    return factors, np.asarray(lu.solve(exits)), rounding
