"""Every state at once: eliminate what has no choice, then solve a tiny problem per state.

Real models have few states with a choice. Write ``K`` for those, ``Y`` for the other states on the way to the target
``t``, ``N = (I - Q)^-1`` for the visits within ``Y``, and a row for every choice of ``K`` (and one for the start).
For a row ``r``

    q_r = P(r, K) + P(r, Y) N Q(Y, K)      t_r = P(r, t) + P(r, Y) N Q(Y, t)

are the probabilities of getting next to ``K`` and to ``t``: once for the whole model. A state ``s`` in ``Y`` needs
one sparse solve, ``z = N e_s``, whence ``f_r = P(r, Y) z / z_s``, the probability of meeting ``s`` first; stopping
there is a rank-one change,

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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, identity
from scipy.sparse.linalg import splu

from waypost.graph import Ints, Mask
from waypost.graph.compiled import kernel
from waypost.graph.reach import idle_without
from waypost.solve.reachability import Reach

MOST_KEPT = 96  # more states with a choice than this: state by state is faster
SWITCH = 4e-15  # relative: a smaller improvement is rounding
WIDTH = 16  # right-hand sides solved side by side

HIGHEST, LOWEST, MOST_VIA, MOST_AROUND, LEAST_VIA = range(5)  # what to optimise; see `_optimised`

Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Elimination:
    """A model reduced to its choices: rows over ``Y``, and where they lead."""

    kept: Ints  # (k,) states with a choice
    inner: Ints  # (m,) states without, on the way to the target
    owner: Ints  # (R,) index into kept of each row; -1 for the start
    rows: csr_array  # (R, m)
    direct: csr_array  # (R, S) one step
    inflow: csr_array  # (m, S) one step from inner states
    lower: csc_array  # L U factors of I - Q
    upper: csc_array
    row_order: Ints
    column_order: Ints
    to_kept: NDArray[np.float64]  # (R, k)
    to_target: NDArray[np.float64]  # (R,)
    to_nowhere: NDArray[np.float64]  # (R,) where the target cannot be reached any more
    inner_to_kept: NDArray[np.float64]  # (m, k)
    inner_to_target: NDArray[np.float64]  # (m,)
    inner_to_nowhere: NDArray[np.float64]  # (m,)
    base: Ints  # (k,) row of the first strategy
    start: int  # index into kept, or -1: the last row is the start


def eliminate(reach: Reach, start: int, *, enabled: Mask, visited: Mask) -> Elimination | None:
    """Reduce a model to its choices; None where too many states have one."""
    graph, target = reach.arena.graph, reach.target
    alive = visited & reach.possible & ~target
    usable = enabled & alive[graph.choice_state]
    options = np.bincount(graph.choice_state[usable], minlength=graph.n_states)
    kept = np.flatnonzero(alive & (options > 1))
    if len(kept) > MOST_KEPT:
        return None
    inner = np.flatnonzero(alive & (options == 1))
    matrix = csr_array((reach.arena.data, graph.indices, graph.indptr), shape=(graph.n_choices, graph.n_states))
    choices = np.flatnonzero(usable)
    is_inner = options[graph.choice_state[choices]] == 1
    inflow = csr_array(matrix[choices[is_inner]])
    row_choices = choices[~is_inner]
    place = np.full(graph.n_states, -1)
    place[kept] = np.arange(len(kept))
    owner, direct, rows = place[graph.choice_state[row_choices]], csr_array(matrix[row_choices]), None
    if start not in kept:  # the start is one more row, that of standing in it
        unit = csr_array((np.ones(1), (np.zeros(1, int), [start])), shape=(1, graph.n_states))
        direct = csr_array(unit) if not len(row_choices) else csr_array(_stacked(direct, unit))
        owner = np.append(owner, -1)
    rows = csr_array(direct[:, inner])
    system = csc_array(identity(len(inner), format="csc") - inflow[:, inner])
    ends = np.column_stack([target, ~reach.possible]).astype(float)
    exits = np.column_stack([inflow[:, kept].toarray(), inflow @ ends])
    if len(inner):
        lu = splu(system, permc_spec="COLAMD", diag_pivot_thresh=0.0, options={"SymmetricMode": False})
        low, up, row_order, column_order = lu.L, lu.U, lu.perm_r, lu.perm_c
        leads = lu.solve(exits)
    else:
        low, up = csc_array((0, 0)), csc_array((0, 0))
        row_order = column_order = np.empty(0, np.int64)
        leads = exits
    found = np.column_stack([direct[:, kept].toarray(), direct @ ends]) + rows @ leads
    best = reach.max.choice[kept]
    return Elimination(
        kept=kept,
        inner=inner,
        owner=owner,
        rows=rows,
        direct=direct,
        inflow=inflow,
        lower=csc_array(low),
        upper=csc_array(up),
        row_order=np.asarray(row_order, np.int64),
        column_order=np.asarray(column_order, np.int64),
        to_kept=np.ascontiguousarray(found[:, :-2]),
        to_target=np.ascontiguousarray(found[:, -2]),
        to_nowhere=np.ascontiguousarray(found[:, -1]),
        inner_to_kept=np.ascontiguousarray(leads[:, :-2]),
        inner_to_target=np.ascontiguousarray(leads[:, -2]),
        inner_to_nowhere=np.ascontiguousarray(leads[:, -1]),
        base=np.searchsorted(row_choices, best),
        start=int(place[start]),
    )


def _stacked(above: csr_array, below: csr_array) -> csr_array:
    from scipy.sparse import vstack

    return csr_array(vstack([above, below], format="csr"))


def sweep(
    reach: Reach,
    parts: Elimination,
    asked: Ints,
    weight: NDArray[np.float64],
    kind: int,
    *,
    workers: int,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """(n, 2) probabilities of meeting each asked state, and of the target without it, under the optimal strategy.

    `weight[s]` is what meeting `s` is worth: the probability with which the target is then reached.
    """
    graph = reach.arena.graph
    place = np.full(graph.n_states, -1)
    place[parts.inner] = np.arange(len(parts.inner))
    kept_place = np.full(graph.n_states, -1)
    kept_place[parts.kept] = np.arange(len(parts.kept))
    stops = _stops(reach, parts, asked, kind)
    found = np.zeros((len(asked), 2))
    rows = parts.rows
    shared = (
        parts.lower.indptr, parts.lower.indices, parts.lower.data, parts.upper.indptr, parts.upper.indices,
        parts.upper.data, parts.row_order, parts.column_order, rows.indptr, rows.indices, rows.data, parts.owner,
        parts.to_kept, parts.to_target, parts.to_nowhere, parts.inner_to_kept, parts.inner_to_target,
        parts.inner_to_nowhere, parts.base, parts.start,
    )  # fmt: skip
    # neighbours in the factor share zeros: solve them together
    order = np.argsort(
        np.where(place[asked] >= 0, parts.row_order[place[asked]] if len(parts.inner) else 0, -1), kind="stable"
    )
    given = asked[order]
    columns = csc_array(parts.inflow[:, given])  # how a target state is entered
    entry = csc_array(parts.direct[:, given])
    work = len(asked) * (
        len(parts.lower.data) + len(parts.upper.data) + 5 * parts.to_kept.size + 30 * len(parts.kept) ** 2 + 50
    )
    run = _sweep.sized(work)
    size = max(WIDTH, min(64 * WIDTH, -(-len(given) // (4 * workers * WIDTH)) * WIDTH))
    chunks = [slice(low, min(low + size, len(given))) for low in range(0, len(given), size)]

    def settle(chunk: slice) -> int:
        run(
            given[chunk], place[given[chunk]], kept_place[given[chunk]], weight[given[chunk]], stops[order][chunk],
            kind, SWITCH, columns.indptr[chunk.start : chunk.stop + 1], columns.indices, columns.data,
            entry.indptr[chunk.start : chunk.stop + 1], entry.indices, entry.data, *shared, results[chunk],
        )  # fmt: skip
        return int(chunk.stop - chunk.start)

    results = np.zeros((len(asked), 2))
    if workers == 1 or len(chunks) == 1 or run is _sweep.plain:
        for chunk in chunks:
            done = settle(chunk)
            if progress is not None:
                progress(done)
    else:
        with ThreadPoolExecutor(workers) as pool:
            try:
                for done in pool.map(settle, chunks):
                    if progress is not None:
                        progress(done)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    found[order] = results
    return found


def _stops(reach: Reach, parts: Elimination, asked: Ints, kind: int) -> NDArray[np.bool_]:
    """(n, k) where stopping is allowed: state and target can both be avoided for ever."""
    if kind in (MOST_VIA, MOST_AROUND) or not len(parts.kept):
        return np.zeros((len(asked), len(parts.kept)), bool)
    idle = reach.avoidable[0]
    stops = np.repeat(idle[parts.kept][None, :], len(asked), axis=0)
    affected = np.flatnonzero(idle[asked] & reach.possible[asked])
    if len(affected) and stops.any():
        stops[affected] = idle_without(reach.arena.graph, idle, asked[affected], parts.kept)
    return stops


@kernel
def _sweep(  # type: ignore[no-untyped-def]
    states, places, kept_places, weights, stops, kind, tie,
    column_ptr, column_idx, column_val, entry_ptr, entry_idx, entry_val,
    low_ptr, low_idx, low_val, up_ptr, up_idx, up_val, row_order, column_order, row_ptr, row_idx, row_val,
    owner, to_kept, to_target, to_nowhere, inner_to_kept, inner_to_target, inner_to_nowhere, base, start, results,
):  # fmt: skip
    """Settle a list of states, a few right-hand sides at a time."""
    m = len(row_order)
    n_rows = len(owner)
    k = to_kept.shape[1]
    width = 16
    block = np.zeros((m, width))
    solved = np.zeros((m, width))
    first = np.zeros(n_rows)
    nothing = np.zeros(k)
    for low in range(0, len(states), width):
        high = min(low + width, len(states))
        block[:] = 0.0
        least = m
        for b in range(low, high):
            if places[b] >= 0:
                i = row_order[places[b]]
                block[i, b - low] = 1.0
                least = min(least, i)
            elif kept_places[b] < 0:  # a target state: where it is entered from
                for e in range(column_ptr[b], column_ptr[b + 1]):
                    i = row_order[column_idx[e]]
                    block[i, b - low] = column_val[e]
                    least = min(least, i)
        _solve_block(least, block, solved, low_ptr, low_idx, low_val, up_ptr, up_idx, up_val)
        for b in range(low, high):
            column = b - low
            if kept_places[b] >= 0:
                removed = kept_places[b]
                for r in range(n_rows):
                    first[r] = to_kept[r, removed]
                results[b, 0], results[b, 1] = _optimised(
                    first, nothing, 0.0, 0.0, removed, weights[b], stops[b], kind, tie, owner, to_kept, to_target,
                    to_nowhere, base, start,
                )  # fmt: skip
                continue
            if places[b] >= 0:
                scale = solved[column_order[places[b]], column]
                leads = inner_to_kept[places[b]]
                ends = inner_to_target[places[b]]
                fails = inner_to_nowhere[places[b]]
            else:
                scale = 1.0
                leads = nothing
                ends = 1.0
                fails = 0.0
            for r in range(n_rows):
                total = 0.0
                for e in range(row_ptr[r], row_ptr[r + 1]):
                    total += row_val[e] * solved[column_order[row_idx[e]], column]
                first[r] = total / scale
            if places[b] < 0:
                for e in range(entry_ptr[b], entry_ptr[b + 1]):
                    first[entry_idx[e]] += entry_val[e]
            results[b, 0], results[b, 1] = _optimised(
                first, leads, ends, fails, -1, weights[b], stops[b], kind, tie, owner, to_kept, to_target, to_nowhere,
                base, start,
            )  # fmt: skip


@kernel
def _solve_block(least, block, solved, low_ptr, low_idx, low_val, up_ptr, up_idx, up_val):  # type: ignore[no-untyped-def]
    """Solve ``L U solved = block``; an M-matrix adds non-negative numbers only, so nothing cancels."""
    m, width = block.shape
    for j in range(least, m):
        busy = False
        for b in range(width):
            if block[j, b] != 0.0:
                busy = True
        if busy:
            for e in range(low_ptr[j], low_ptr[j + 1]):
                i = low_idx[e]
                if i > j:
                    for b in range(width):
                        block[i, b] -= low_val[e] * block[j, b]
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
        for e in range(up_ptr[j], up_ptr[j + 1]):
            if up_idx[e] == j:
                pivot = up_val[e]
        for b in range(width):
            solved[j, b] = block[j, b] / pivot
        for e in range(up_ptr[j], up_ptr[j + 1]):
            i = up_idx[e]
            if i < j:
                for b in range(width):
                    block[i, b] -= up_val[e] * solved[j, b]


@kernel
def _optimised(  # type: ignore[no-untyped-def]
    first, leads, ends, fails, removed, weight, may_stop, kind, tie, owner, to_kept, to_target, to_nowhere, base, start
):  # fmt: skip
    """Probability of meeting the state, and of the target without it, from the start, under the optimal strategy."""
    n_rows, k = to_kept.shape
    choice = base.copy()
    matrix = np.empty((k, k))
    via = np.zeros(k)
    around = np.zeros(k)
    lost = np.zeros(k)
    value = np.zeros(k)
    start_via = 0.0
    start_around = 0.0
    guess = 0.0
    highest = -np.inf
    still = 0
    settled = False
    rounding = 1e-16  # rewards are at most 1
    for _ in range(1000):
        # evaluate the strategy
        for i in range(k):
            for j in range(k):
                matrix[i, j] = 0.0
            r = choice[i]
            if r >= 0 and i != removed:
                for j in range(k):
                    if j != removed:
                        matrix[i, j] = max(to_kept[r, j] - first[r] * leads[j], 0.0)
                via[i] = first[r]
                around[i] = max(to_target[r] - first[r] * ends, 0.0)
                lost[i] = max(to_nowhere[r] - first[r] * fails, 0.0)
            else:
                via[i] = 0.0
                around[i] = 0.0
                lost[i] = 1.0
        _eliminated(matrix, via, around, lost)
        if start >= 0:
            new_via = via[start]
            new_around = around[start]
        else:
            r = n_rows - 1
            new_via = first[r]
            new_around = to_target[r] - first[r] * ends
            for j in range(k):
                if j != removed:
                    new_via += (to_kept[r, j] - first[r] * leads[j]) * via[j]
                    new_around += (to_kept[r, j] - first[r] * leads[j]) * around[j]
            new_around = max(new_around, 0.0)
        # what meeting the state and what the target alone are worth
        if kind == 0:  # greatest share via the state
            total = weight * new_via + new_around
            if total <= 0.0:
                break
            guess = weight * new_via / total
            pay_via = (1.0 - guess) * weight
            pay_around = -guess
        elif kind == 1:  # greatest share around it
            total = weight * new_via + new_around
            if total <= 0.0:
                break
            guess = new_around / total
            pay_via = -guess * weight
            pay_around = 1.0 - guess
        elif kind == 2:
            pay_via = 1.0
            pay_around = 0.0
        elif kind == 3:
            pay_via = 0.0
            pay_around = 1.0
        else:
            pay_via = -1.0
            pay_around = 0.0
        # the objective rises; once it has stood still for longer than k rounds, what still switches is rounding
        if kind < 2:
            objective = guess
        else:
            objective = pay_via * new_via + pay_around * new_around
        if objective < highest - 1e-13:  # a switch for the sake of rounding made it worse: the last one was best
            settled = True
            break
        if objective > highest + 1e-15:
            highest = objective
            still = 0
        else:
            still += 1
            if still > k + 4:
                settled = True
                break
        start_via = new_via
        start_around = new_around
        # improve it
        change = pay_via - ends * pay_around
        for j in range(k):
            if j == removed:
                value[j] = 0.0
            else:
                value[j] = pay_via * via[j] + pay_around * around[j]
                change -= leads[j] * value[j]
        switched = False
        r = 0
        while r < n_rows:
            i = owner[r]
            if i < 0:
                break
            size = abs(pay_via) * via[i] + abs(pay_around) * around[i]
            best = value[i] + tie * size + rounding
            taken = -2
            if may_stop[i] and best < 0.0:
                best = 0.0
                taken = -1
            while r < n_rows and owner[r] == i:
                worth = first[r] * change + to_target[r] * pay_around
                for j in range(k):
                    worth += to_kept[r, j] * value[j]
                if worth > best:
                    best = worth
                    taken = r
                r += 1
            if taken > -2 and i != removed:
                choice[i] = taken
                switched = True
        if not switched:
            settled = True
            break
    if not settled:  # never return an unconverged number
        return np.nan, np.nan
    return start_via, start_around


@kernel
def _eliminated(matrix, via, around, lost):  # type: ignore[no-untyped-def]
    """Absorption probabilities of a chain, in place: one state after the other is cut out (Grassmann, Taksar, Heyman).

    Nothing is ever subtracted: a diagonal is the sum of the ways out, so rare exits keep their digits.
    """
    k = len(via)
    for i in range(k - 1, -1, -1):
        total = via[i] + around[i] + lost[i]
        for j in range(i):
            total += matrix[i, j]
        if total <= 0.0:
            total = 1.0
        via[i] /= total
        around[i] /= total
        lost[i] /= total
        for j in range(i):
            matrix[i, j] /= total
        for r in range(i):
            weight = matrix[r, i]
            if weight > 0.0:
                for j in range(i):
                    matrix[r, j] += weight * matrix[i, j]
                via[r] += weight * via[i]
                around[r] += weight * around[i]
                lost[r] += weight * lost[i]
    for i in range(k):
        for j in range(i):
            via[i] += matrix[i, j] * via[j]
            around[i] += matrix[i, j] * around[j]
