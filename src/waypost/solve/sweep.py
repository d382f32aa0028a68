"""Every state at once: one sparse solve and a tiny optimisation per state.

Real models have few states with a choice; `elimination` leaves only those, ``K``, with a row per choice. A state ``s``
in ``Y`` needs one solve, ``z = N e_s``, whence ``f_r = P(r, Y) z / z_s``, the probability that row ``r`` meets ``s``
before anything else; stopping there is a rank-one change:

    to s: f_r        to t: t_r - f_r t_s        to K: q_r - f_r q_s

For ``s`` in ``K`` it is ``f_r = q_r(s)``, and for a target state ``z = N Q(Y, s)``. What remains is a problem with
``|K|`` unknowns per state, settled by policy iteration in which the guess of the ratio (see `conditional`) is updated
with every strategy. The first strategy is the best one for reaching ``t``: it meets ``s`` or ``t`` from everywhere
with positive probability, so no cycle is closed, and strict improvement keeps it so. Most states are certified by the
first test.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask
from waypost.graph.compiled import kernel
from waypost.graph.reach import idle_without
from waypost.solve.elimination import Elimination, Floats, Sparse
from waypost.solve.reachability import Reach
from waypost.solve.remaining import MOST_AROUND, MOST_VIA, optimised

WORTH_SHARING = 1e7  # basic steps, some ten milliseconds: less is not worth a second thread
WIDTH = 16  # right-hand sides solved side by side


class Asked(NamedTuple):
    """Some states, as the compiled loop takes them."""

    inner: Ints  # (n,) position in Y, or -1
    kept: Ints  # (n,) position in K, or -1
    weight: Floats  # (n,) what meeting the state is worth
    may_stop: NDArray[np.bool_]  # (n, k)
    entered: Sparse  # (m, n) by column: one step from Y into the state
    direct: Sparse  # (R, n) by column: one step from a row into the state


def sweep(
    reach: Reach,
    parts: Elimination,
    states: Ints,
    weight: Floats,
    kind: int,
    *,
    stopping: bool = True,
    workers: int,
    progress: Callable[[int], None] | None = None,
) -> tuple[Floats, Mask]:
    """(n, 2) probabilities of meeting each state, and of the target without it, under the strategy optimal for it.

    With them comes (n,) whether that is certainly the optimal one; no other may be used. The graph must have told that
    the state is met: a probability of 0 is one that floats cannot hold.
    `weight[s]` is what meeting `s` is worth: the probability with which the target is then reached. Without `stopping`,
    strategies may not avoid both for ever.
    """
    n = reach.arena.graph.n_states
    inner, kept = np.full(n, -1), np.full(n, -1)
    inner[parts.inner] = np.arange(len(parts.inner))
    kept[parts.kept] = np.arange(len(parts.kept))
    if len(parts.inner):  # neighbours in the factors share zeros: solve them together
        order = np.argsort(np.where(inner[states] >= 0, parts.factors.row_order[inner[states]], -1), kind="stable")
    else:
        order = np.arange(len(states))
    given = states[order]
    stops = _stops(reach, parts, given, stopping and kind not in (MOST_VIA, MOST_AROUND))
    results, certain = np.zeros((len(given), 2)), np.zeros(len(given), bool)
    work = len(given) * parts.work
    run = _sweep.sized(work)
    alone = workers == 1 or work < WORTH_SHARING or run is _sweep.plain
    size = 64 * WIDTH if alone else max(WIDTH, min(64 * WIDTH, -(-len(given) // (4 * workers * WIDTH)) * WIDTH))

    ends = np.flatnonzero((inner[given] < 0) & (kept[given] < 0))
    column = np.full(n, -1)
    column[given[ends]] = ends
    entered, direct = (
        _columns.sized(len(rows.place) + len(given))(rows, column, len(given)) for rows in (parts.inflow, parts.direct)
    )

    def settle(low: int) -> int:
        some = slice(low, low + size)
        columns = slice(low, low + size + 1)
        asked = Asked(
            inner[given[some]],
            kept[given[some]],
            weight[given[some]],
            stops[some],
            entered._replace(pointer=entered.pointer[columns]),
            direct._replace(pointer=direct.pointer[columns]),
        )
        run(asked, kind, parts.rows, parts.factors, results[some], certain[some])
        return len(asked.inner)

    chunks = range(0, len(given), size)
    with ThreadPoolExecutor(workers) as pool:  # starts a thread when it is given something to do, not before
        try:
            for done in map(settle, chunks) if alone else pool.map(settle, chunks):
                if progress is not None:
                    progress(done)
        except BaseException:  # Ctrl-C: do not begin what has not begun
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    found, sure = np.empty_like(results), np.empty_like(certain)
    found[order], sure[order] = results, certain
    return found, sure


@kernel
def _columns(rows, column, n) -> Sparse:  # type: ignore[no-untyped-def]
    """The `n` columns that some states have, by column, of a matrix by row; -1 is none."""
    pointer = np.zeros(n + 1, np.int64)
    for y in rows.place:
        if column[y] >= 0:
            pointer[column[y] + 1] += 1
    pointer = np.cumsum(pointer)
    place = np.empty(pointer[n], np.int64)
    value = np.empty(pointer[n])
    at = pointer[:n].copy()
    for r in range(len(rows.pointer) - 1):
        for e in range(rows.pointer[r], rows.pointer[r + 1]):
            j = column[rows.place[e]]
            if j >= 0:
                place[at[j]] = r
                value[at[j]] = rows.value[e]
                at[j] += 1
    return Sparse(pointer, place, value)


def _stops(reach: Reach, parts: Elimination, states: Ints, stopping: bool) -> NDArray[np.bool_]:
    """(n, k) where stopping is allowed: state and target can both be avoided for ever."""
    if not stopping or not len(parts.kept):
        return np.zeros((len(states), len(parts.kept)), bool)
    idle = reach.avoidable[0]
    stops = np.repeat(idle[parts.kept][None, :], len(states), axis=0)
    affected = np.flatnonzero(idle[states] & reach.possible[states])
    if len(affected) and stops.any():
        stops[affected] = idle_without(reach.arena.graph, idle, states[affected], parts.kept)
    return stops


@kernel
def _sweep(asked, kind, rows, factors, results, certain):  # type: ignore[no-untyped-def]
    """Settle some states, a few right-hand sides at a time."""
    m = len(factors.row_order)
    n_rows, k = rows.to_kept.shape
    n = len(asked.inner)
    width = 16
    block = np.zeros((m, width))
    solved = np.zeros((m, width))
    first = np.zeros(n_rows)
    nothing = np.zeros(k)
    for low in range(0, n, width):
        high = min(low + width, n)
        block[:] = 0.0
        least = m
        for b in range(low, high):
            if asked.inner[b] >= 0:
                i = factors.row_order[asked.inner[b]]
                block[i, b - low] = 1.0
                least = min(least, i)
            elif asked.kept[b] < 0:  # a target state: where it is entered from
                for e in range(asked.entered.pointer[b], asked.entered.pointer[b + 1]):
                    i = factors.row_order[asked.entered.place[e]]
                    block[i, b - low] = asked.entered.value[e]
                    least = min(least, i)
        _solve_block(least, block, solved, factors)
        for b in range(low, high):
            removed = asked.kept[b]
            y = asked.inner[b]
            leads = nothing
            ends = 0.0
            fails = 0.0
            if removed >= 0:
                for r in range(n_rows):
                    first[r] = rows.to_kept[r, removed]
            else:
                scale = 1.0
                ends = 1.0
                if y >= 0:
                    scale = solved[factors.column_order[y], b - low]
                    leads = rows.inner_to_kept[y]
                    ends = rows.inner_to_target[y]
                    fails = rows.inner_to_nowhere[y]
                for r in range(n_rows):
                    total = 0.0
                    for e in range(rows.inner.pointer[r], rows.inner.pointer[r + 1]):
                        total += rows.inner.value[e] * solved[factors.column_order[rows.inner.place[e]], b - low]
                    first[r] = total / scale
                if y < 0:
                    for e in range(asked.direct.pointer[b], asked.direct.pointer[b + 1]):
                        first[asked.direct.place[e]] += asked.direct.value[e]
            results[b, 0], results[b, 1], certain[b] = optimised(
                first, leads, ends, fails, removed, asked.weight[b], asked.may_stop[b], kind, rows
            )


@kernel
def _solve_block(least, block, solved, factors):  # type: ignore[no-untyped-def]
    """Solve ``L U solved = block``, several right-hand sides side by side; `block` is used up."""
    m, width = block.shape
    low, up = factors.lower, factors.upper
    for j in range(least, m):
        busy = False
        for b in range(width):
            if block[j, b] != 0.0:
                busy = True
        if busy:
            for e in range(low.pointer[j], low.pointer[j + 1]):
                i = low.place[e]
                if i > j:
                    for b in range(width):
                        block[i, b] -= low.value[e] * block[j, b]
    for j in range(m - 1, -1, -1):
        busy = False
        for b in range(width):
            if block[j, b] != 0.0:
                busy = True
        if not busy:
            for b in range(width):
                solved[j, b] = 0.0
            continue
        pivot = 1.0
        for e in range(up.pointer[j], up.pointer[j + 1]):
            if up.place[e] == j:
                pivot = up.value[e]
        for b in range(width):
            solved[j, b] = block[j, b] / pivot
        for e in range(up.pointer[j], up.pointer[j + 1]):
            i = up.place[e]
            if i < j:
                for b in range(width):
                    block[i, b] -= up.value[e] * solved[j, b]
