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
from scipy.sparse import csc_array, csr_array

from waypost.graph import Ints
from waypost.graph.compiled import kernel
from waypost.graph.reach import idle_without
from waypost.solve.elimination import Elimination, Floats, Sparse
from waypost.solve.gth import Chain, blank, eliminate, substitute
from waypost.solve.reachability import Reach

WORTH_SHARING = 1e7  # basic steps, some ten milliseconds: less is not worth a second thread
WIDTH = 16  # right-hand sides solved side by side

HIGHEST, LOWEST, MOST_VIA, MOST_AROUND, LEAST_VIA = range(5)  # what to optimise; see `_optimised`

Progress = Callable[[int], None]


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
    workers: int,
    progress: Progress | None = None,
) -> Floats:
    """(n, 2) probabilities of meeting each state, and of the target without it, under the strategy optimal for it.

    A probability of meeting is 0 only if the strategy never does: it is a sum of products, in which nothing cancels.
    `weight[s]` is what meeting `s` is worth: the probability with which the target is then reached.
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
    stops = _stops(reach, parts, given, kind)
    results = np.zeros((len(given), 2))
    work = len(given) * parts.work
    run = _sweep.sized(work)
    alone = workers == 1 or work < WORTH_SHARING or run is _sweep.plain
    size = 64 * WIDTH if alone else max(WIDTH, min(64 * WIDTH, -(-len(given) // (4 * workers * WIDTH)) * WIDTH))

    ends = (inner[given] < 0) & (kept[given] < 0)
    entered, direct = _columns(parts.inflow, given, ends), _columns(parts.direct, given, ends)

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
        run(asked, kind, parts.rows, parts.factors, results[some])
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
    found = np.empty_like(results)
    found[order] = results
    return found


def _columns(matrix: csr_array, states: Ints, wanted: NDArray[np.bool_]) -> Sparse:
    """Columns of the wanted states, and empty ones for the others."""
    columns = Sparse.of(csc_array(matrix[:, states[wanted]]))
    pointer = np.zeros(len(states) + 1, np.int64)
    pointer[1:][wanted] = np.diff(columns.pointer)
    return columns._replace(pointer=np.cumsum(pointer))


def _stops(reach: Reach, parts: Elimination, states: Ints, kind: int) -> NDArray[np.bool_]:
    """(n, k) where stopping is allowed: state and target can both be avoided for ever."""
    if kind in (MOST_VIA, MOST_AROUND) or not len(parts.kept):
        return np.zeros((len(states), len(parts.kept)), bool)
    idle = reach.avoidable[0]
    stops = np.repeat(idle[parts.kept][None, :], len(states), axis=0)
    affected = np.flatnonzero(idle[states] & reach.possible[states])
    if len(affected) and stops.any():
        stops[affected] = idle_without(reach.arena.graph, idle, states[affected], parts.kept)
    return stops


@kernel
def _sweep(asked, kind, rows, factors, results):  # type: ignore[no-untyped-def]
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
            results[b, 0], results[b, 1] = _optimised(
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


@kernel
def _optimised(first, leads, ends, fails, removed, weight, may_stop, kind, rows):  # type: ignore[no-untyped-def]
    """Probability of meeting the state, and of the target without it, from the start, under the optimal strategy.

    `first` are the rows' probabilities of meeting the state; `leads`, `ends`, `fails` say where the state itself would
    lead; `removed` is its position in K, or -1.
    """
    n_rows, k = rows.to_kept.shape
    choice = rows.base.copy()
    factors = blank(rows.pattern, rows.scale)
    met = np.zeros((k, 2))
    via = met[:, 0]
    around = met[:, 1]
    worth = np.empty(n_rows)
    start_via = 0.0
    start_around = 0.0
    highest = -np.inf
    still = 0  # rounds without a rise
    for _ in range(1000):
        settled, new_via, new_around = _evaluated(choice, first, leads, ends, fails, removed, rows, factors, met)
        a_share = kind in (HIGHEST, LOWEST, MOST_AROUND)
        if not settled or (a_share and not weight * new_via + new_around > 0.0):
            return np.nan, np.nan
        pay_via, pay_around, objective = _paid(kind, weight, new_via, new_around)
        unit = 1.0 if a_share else abs(objective)  # a share is compared as it is, a probability to itself
        if objective < highest - 1e-13 * unit:  # a switch for rounding's sake made it worse: the last was best
            break
        if objective > highest + 1e-15 * unit:
            highest = objective
            still = 0
        else:
            still += 1
        start_via = new_via
        start_around = new_around
        switched = _improved(
            choice, pay_via, pay_around, first, leads, ends, removed, may_stop, rows, via, around, worth
        )
        if not switched and _undecided(choice, pay_via, pay_around, removed, rows, via, around, worth):
            return np.nan, np.nan
        if not switched or still > k + 4:  # the objective cannot rest for longer: what still switches is rounding
            break
    else:
        return np.nan, np.nan  # never return an unconverged number
    if start_via == 0.0:
        for r in range(n_rows):
            if 0.0 < first[r] < 1e-200:  # where such numbers occur, a 0 may be an underflow
                start_via = 1e-300
    return start_via, start_around


@kernel
def _evaluated(choice, first, leads, ends, fails, removed, rows, factors, met):  # type: ignore[no-untyped-def]
    """Evaluate a strategy: fill `met`, both for every state of K, and return both for the start.

    The first answer is False if it keeps to K for ever.
    """
    n_rows, k = rows.to_kept.shape
    chain = Chain(np.empty(k + 1, np.int64), np.empty(k * k, np.int64), np.empty(k * k))
    leaving = np.empty(k)
    filled = 0
    for i in range(k):
        chain.pointer[i] = filled
        r = choice[i]
        stops = r < 0 or i == removed
        met[i, 0] = 0.0 if stops else first[r]
        met[i, 1] = 0.0 if stops else max(rows.to_target[r] - first[r] * ends, 0.0)
        lost = 1.0 if stops else max(rows.to_nowhere[r] - first[r] * fails, 0.0)
        leaving[i] = met[i, 0] + met[i, 1] + lost
        if not stops:
            for j in range(k):
                if j not in (i, removed):
                    chain.place[filled] = j
                    chain.chance[filled] = max(rows.to_kept[r, j] - first[r] * leads[j], 0.0)
                    filled += 1
    chain.pointer[k] = filled
    if not eliminate(rows.pattern, chain, leaving, factors):
        return False, 0.0, 0.0
    substitute(rows.pattern, factors, met, k)
    if rows.start >= 0:
        via, around = met[rows.start]
    else:
        r = n_rows - 1
        via = first[r]
        around = max(rows.to_target[r] - first[r] * ends, 0.0)
        for j in range(k):
            if j != removed:
                step = max(rows.to_kept[r, j] - first[r] * leads[j], 0.0)
                via += step * met[j, 0]
                around += step * met[j, 1]
    return True, via, around


@kernel
def _paid(kind, weight, via, around):  # type: ignore[no-untyped-def]
    """What meeting the state and what the target without it are worth, and the objective."""
    if kind == MOST_VIA:
        return 1.0, 0.0, via
    if kind == LEAST_VIA:
        return -1.0, 0.0, -via
    total = weight * via + around
    met = weight * via / total
    missed = around / total  # one minus the other, without cancellation
    if kind == HIGHEST:  # the share that meets the state
        return missed * weight, -met, met
    return -missed * weight, met, missed  # LOWEST and MOST_AROUND: the share that does not


@kernel
def _undecided(choice, pay_via, pay_around, removed, rows, via, around, worth):  # type: ignore[no-untyped-def]
    """Whether a row may be better where what is at stake is next to nothing beside the numbers that cancel in it."""
    for i in range(len(choice)):
        size = abs(pay_via) * via[i] + abs(pay_around) * around[i]
        noise = 1e-15 * abs(pay_around) * rows.scale[i]
        if i == removed or noise <= 1e-12 * size:
            continue
        value = pay_via * via[i] + pay_around * around[i]
        for r in range(rows.own[i], rows.own[i + 1]):
            if r != choice[i] and worth[r] != 0.0 and abs(worth[r] - value) <= noise + 1e-12 * size:
                return True
    return False


@kernel
def _improved(choice, pay_via, pay_around, first, leads, ends, removed, may_stop, rows, via, around, worth):  # type: ignore[no-untyped-def]
    """Switch to better rows, where they are better by more than rounding; whether there was one."""
    n_rows, k = rows.to_kept.shape
    change = pay_via - ends * pay_around
    for j in range(k):
        if j != removed:
            change -= leads[j] * (pay_via * via[j] + pay_around * around[j])
    for r in range(n_rows):
        worth[r] = first[r] * change + rows.to_target[r] * pay_around
    for j in range(k):
        value = pay_via * via[j] + pay_around * around[j]
        if j != removed and value != 0.0:
            for r in range(n_rows):
                worth[r] += rows.by_kept[j, r] * value
    switched = False
    for i in range(k):
        if i == removed:
            continue
        size = abs(pay_via) * via[i] + abs(pay_around) * around[i]
        best = pay_via * via[i] + pay_around * around[i] + 4e-15 * size + 1e-16 * abs(pay_around) * rows.scale[i]
        taken = -2
        if may_stop[i] and best < 0.0:
            best = 0.0
            taken = -1
        for r in range(rows.own[i], rows.own[i + 1]):
            if worth[r] > best:
                best = worth[r]
                taken = r
        if taken > -2:
            choice[i] = taken
            switched = True
    return switched
