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

from waypost.graph import Ints, Mask
from waypost.graph.compiled import kernel
from waypost.graph.reach import idle_without
from waypost.solve.conditional import ABOVE
from waypost.solve.elimination import Elimination, Floats, Sparse
from waypost.solve.gth import Chain, blank, eliminate, substitute
from waypost.solve.reachability import Reach
from waypost.solve.strain import CLEAR, HARMLESS, RAISES, WITHOUT_RATIO

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
    stopping: bool = True,
    workers: int,
    progress: Progress | None = None,
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


def _columns(matrix: csr_array, states: Ints, wanted: NDArray[np.bool_]) -> Sparse:
    """Columns of the wanted states, and empty ones for the others."""
    columns = Sparse.of(csc_array(matrix[:, states[wanted]]))
    pointer = np.zeros(len(states) + 1, np.int64)
    pointer[1:][wanted] = np.diff(columns.pointer)
    return columns._replace(pointer=np.cumsum(pointer))


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
            results[b, 0], results[b, 1], certain[b] = _optimised(
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
    lead; `removed` is its position in K, or -1. The last answer is whether the strategy is certainly the best.
    """
    n_rows, k = rows.to_kept.shape
    choice = rows.base.copy()
    factors = blank(rows.pattern, rows.scale)
    met = np.zeros((k, 2))
    worth = np.empty((2, n_rows))  # and what is at stake
    best_via = -1.0
    best_around = 0.0
    pay_via = 0.0
    pay_around = 0.0
    for _ in range(1000):
        settled, via, around = _evaluated(choice, first, leads, ends, fails, removed, rows, factors, met)
        if not settled:
            break
        if best_via < 0.0 or _higher(kind, weight, via, around, best_via, best_around):
            best_via = via
            best_around = around
            pay_via, pay_around = _paid(kind, weight, via, around)
        _weigh(pay_via, pay_around, first, leads, ends, removed, rows, met, worth)
        if _improved(choice, pay_via, pay_around, removed, may_stop, rows, met, worth):
            continue
        left = 4.0 * rows.rounding * rows.visits * worth[1].max()  # stakes are sums of these
        if not _enough(kind, left, pay_via, pay_around, via, around):
            left = _strain(choice, pay_via, pay_around, first, leads, removed, may_stop, rows, factors, met, worth)
        certain = _enough(kind, left, pay_via, pay_around, via, around)
        return best_via, best_around, certain and (best_via > 0.0 or kind == MOST_AROUND)  # else it was too small
    return best_via, best_around, False


@kernel
def _enough(kind, left, pay_via, pay_around, via, around):  # type: ignore[no-untyped-def]
    """Whether what another strategy may be worth more does not matter; `via` and `around` are those of this one."""
    if kind == MOST_AROUND:
        return left <= WITHOUT_RATIO * HARMLESS * around
    if kind in (MOST_VIA, LEAST_VIA):
        return left <= WITHOUT_RATIO * HARMLESS * via
    return pay_via * via + pay_around * around + left <= 0.0


@kernel
def _higher(kind, weight, via, around, best_via, best_around):  # type: ignore[no-untyped-def]
    """Whether the objective rose, by more than rounding."""
    if kind == MOST_VIA:
        return via > best_via * (1.0 + 1e-15)
    if kind == MOST_AROUND:
        return around > best_around * (1.0 + 1e-15)
    if kind == LEAST_VIA:
        return via * (1.0 + 1e-15) < best_via
    total = weight * via + around
    best = weight * best_via + best_around
    if not total > 0.0:
        return False
    more = (weight * via / total) * (best_around / best)
    less = (weight * best_via / best) * (around / total)
    return more > less * (1.0 + 1e-14) if kind == HIGHEST else more * (1.0 + 1e-14) < less


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
    """What meeting the state and what the target without it are worth; a ratio is judged a little above it."""
    if kind == MOST_VIA:
        return 1.0, 0.0
    if kind == MOST_AROUND:
        return 0.0, 1.0
    if kind == LEAST_VIA:
        return -1.0, 0.0
    total = weight * via + around
    if not total > 0.0:
        return 0.0, 0.0
    met = weight * via / total
    missed = around / total  # one minus the other, without cancellation
    if kind == HIGHEST:  # the share that meets the state
        return missed * weight, -met * (1.0 + ABOVE)
    return -missed * weight * (1.0 + ABOVE), met  # LOWEST: the share that does not


@kernel
def _weigh(pay_via, pay_around, first, leads, ends, removed, rows, met, worth):  # type: ignore[no-untyped-def]
    """What each row is worth, and the sum of what cancels in that."""
    n_rows, k = rows.to_kept.shape
    change = pay_via - ends * pay_around
    size = abs(pay_via) + ends * abs(pay_around)
    for j in range(k):
        if j != removed:
            change -= leads[j] * (pay_via * met[j, 0] + pay_around * met[j, 1])
            size += leads[j] * (abs(pay_via) * met[j, 0] + abs(pay_around) * met[j, 1])
    for r in range(n_rows):
        worth[0, r] = first[r] * change + rows.to_target[r] * pay_around
        worth[1, r] = first[r] * size + rows.to_target[r] * abs(pay_around)
    for j in range(k):
        value = pay_via * met[j, 0] + pay_around * met[j, 1]
        stake = abs(pay_via) * met[j, 0] + abs(pay_around) * met[j, 1]
        if j != removed and stake != 0.0:
            for r in range(n_rows):
                worth[0, r] += rows.by_kept[j, r] * value
                worth[1, r] += rows.by_kept[j, r] * stake


@kernel
def _improved(choice, pay_via, pay_around, removed, may_stop, rows, met, worth):  # type: ignore[no-untyped-def]
    """Switch to better rows, where they are better by more than rounding; whether there was one."""
    switched = False
    for i in range(len(choice)):
        if i == removed:
            continue
        value = pay_via * met[i, 0] + pay_around * met[i, 1]
        stake = abs(pay_via) * met[i, 0] + abs(pay_around) * met[i, 1]
        best = 0.0
        taken = -2
        if may_stop[i] and choice[i] >= 0 and value < -rows.rounding * stake:
            best = -value
            taken = -1
        for r in range(rows.own[i], rows.own[i + 1]):
            better = worth[0, r] - value
            if better > best + rows.rounding * (stake + worth[1, r]):
                best = better
                taken = r
        if taken > -2:
            choice[i] = taken
            switched = True
    return switched


@kernel
def _strain(choice, pay_via, pay_around, first, leads, removed, may_stop, rows, factors, met, worth):  # type: ignore[no-untyped-def]
    """By how much the start may be worth more under another strategy: as `strain` has it, by rows; or infinity."""
    n_rows, k = rows.to_kept.shape
    value = pay_via * met[:, 0] + pay_around * met[:, 1]
    stake = abs(pay_via) * met[:, 0] + abs(pay_around) * met[:, 1]
    column = np.zeros((k, 1))
    for i in range(k):
        if i != removed and choice[i] >= 0:
            residual = abs(worth[0, choice[i]] - value[i])
            column[i, 0] = 1.5 * (stake[i] + worth[1, choice[i]] + residual / rows.rounding)
    substitute(rows.pattern, factors, column, k)
    strain = column[:, 0]
    given = value.copy()
    pointer, opened = _opened(choice, removed, rows, stake, value, worth)
    _level(pay_via, pay_around, first, removed, rows, pointer, opened, stake, value)
    lift = (value - given).max() / rows.rounding if k else 0.0  # rows were weighed before
    for _ in range(RAISES):
        raised = False
        for i in range(k):
            if i == removed:
                continue
            asked = stake[i] - value[i] / rows.rounding if may_stop[i] and value[i] < 0.0 else 0.0
            for e in range(pointer[i], pointer[i + 1]):
                r = opened[e]
                if _same(i, r, pay_via, pay_around, first, removed, rows, value, 0.0):
                    need = 0.0
                    for j in range(k):
                        if j not in (i, removed) and rows.to_kept[r, j] > 0.0:
                            need = max(need, strain[j] / 1.25)
                else:
                    better = worth[0, r] - value[i]
                    better = abs(better) if r == choice[i] else max(better, 0.0)
                    need = stake[i] + worth[1, r] + lift + better / rows.rounding
                    for j in range(k):
                        if j not in (i, removed):
                            need += max(rows.to_kept[r, j] - first[r] * leads[j], 0.0) * strain[j]
                asked = max(asked, need)
            if asked > strain[i]:
                strain[i] = 1.25 * asked
                raised = True
        if not raised:
            break
    else:
        return np.inf
    for i in range(k):
        if i != removed and rows.rounding * strain[i] > HARMLESS * stake[i]:
            return np.inf
    if rows.start >= 0:
        return rows.rounding * strain[rows.start]
    r = n_rows - 1
    total = worth[1, r]
    for j in range(k):
        if j != removed:
            total += max(rows.to_kept[r, j] - first[r] * leads[j], 0.0) * strain[j]
    return rows.rounding * total


@kernel
def _opened(choice, removed, rows, stake, value, worth):  # type: ignore[no-untyped-def]
    """Pointer and list of the rows of each state that are not clearly worse than the one taken."""
    k = len(choice)
    pointer = np.zeros(k + 1, np.int64)
    opened = np.empty(worth.shape[1], np.int64)
    filled = 0
    for i in range(k):
        if i != removed:
            for r in range(rows.own[i], rows.own[i + 1]):
                if r == choice[i] or worth[0, r] - value[i] >= -CLEAR * (stake[i] + worth[1, r]):
                    opened[filled] = r
                    filled += 1
        pointer[i + 1] = filled
    return pointer, opened


@kernel
def _same(i, r, pay_via, pay_around, first, removed, rows, value, margin):  # type: ignore[no-untyped-def]
    """Whether everything that a row may lead to is worth what its state is, up to a margin."""
    here = value[i]
    if first[r] > 0.0 and abs(pay_via - here) > margin:
        return False
    if rows.to_target[r] > 0.0 and abs(pay_around - here) > margin:
        return False
    if rows.to_nowhere[r] > 0.0 and abs(here) > margin:
        return False
    for j in range(len(value)):
        if j != removed and rows.to_kept[r, j] > 0.0 and abs(value[j] - here) > margin:
            return False
    return True


@kernel
def _level(pay_via, pay_around, first, removed, rows, pointer, opened, stake, value) -> None:  # type: ignore[no-untyped-def]
    """Make a state worth what all that a row of it leads to is, where they differ for rounding only."""
    for _ in range(RAISES):
        rose = False
        for i in range(len(value)):
            if i == removed:
                continue
            most = value[i]
            margin = 16.0 * rows.rounding * stake[i]
            for e in range(pointer[i], pointer[i + 1]):
                r = opened[e]
                if _same(i, r, pay_via, pay_around, first, removed, rows, value, margin):
                    if first[r] > 0.0:
                        most = max(most, pay_via)
                    if rows.to_target[r] > 0.0:
                        most = max(most, pay_around)
                    for j in range(len(value)):
                        if j != removed and rows.to_kept[r, j] > 0.0:
                            most = max(most, value[j])
            if most > value[i]:
                value[i] = most
                rose = True
        if not rose:
            return
