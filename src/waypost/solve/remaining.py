"""The small problem that is left of one state: which choice to take in each of the few states that have one.

``|K|`` unknowns and a row per choice (see `sweep`). Policy iteration, in which the guess of the ratio is updated with
every strategy; then a bound on what another strategy could still add, without which no answer counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.graph.compiled import kernel, leaf
from waypost.solve.conditional import ABOVE
from waypost.solve.gth import Chain, blank, eliminate, substitute
from waypost.solve.strain import HARMLESS, WITHOUT_RATIO

CLEAR = 1e-10  # relative: a row that is worse by this share is worse
RAISES = 40  # passes in which strains may rise

HIGHEST, LOWEST, MOST_VIA, MOST_AROUND, LEAST_VIA = range(5)  # what to optimise; see `optimised`


@kernel
def optimised(first, leads, ends, fails, removed, weight, may_stop, kind, rows) -> Any:  # type: ignore[no-untyped-def]
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


@leaf
def _enough(kind, left, pay_via, pay_around, via, around):  # type: ignore[no-untyped-def]
    """Whether what another strategy may be worth more does not matter; `via` and `around` are those of this one."""
    if kind == MOST_AROUND:
        return left <= WITHOUT_RATIO * HARMLESS * around
    if kind in (MOST_VIA, LEAST_VIA):
        return left <= WITHOUT_RATIO * HARMLESS * via
    return pay_via * via + pay_around * around + left <= 0.0


@leaf
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
    if not eliminate(0, len(leaving), rows.pattern, chain, leaving, factors):
        return False, 0.0, 0.0
    substitute(0, k, rows.pattern, factors, met)
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


@leaf
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


@leaf
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


@leaf
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
    substitute(0, k, rows.pattern, factors, column)
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
            spare = 0.0
            for r in range(rows.own[i], rows.own[i + 1]):
                if _same(i, r, pay_via, pay_around, first, removed, rows, value, 0.0):
                    need = 0.0
                    for j in range(k):
                        if j not in (i, removed) and rows.to_kept[r, j] > 0.0:
                            need = max(need, strain[j])
                else:
                    better = worth[0, r] - value[i]
                    better = abs(better) if r == choice[i] else better
                    hidden = stake[i] + worth[1, r] + lift
                    need = hidden + better / rows.rounding
                    leaving = max(first[r], rows.to_target[r] + rows.to_nowhere[r])  # or more
                    for j in range(k):
                        if j not in (i, removed):
                            step = max(rows.to_kept[r, j] - first[r] * leads[j], 0.0)
                            doubt = 2.0 * rows.rounding * rows.to_kept[r, j]
                            need += (step + doubt) * strain[j]
                            leaving += max(step - doubt, 0.0)
                    if not leaving > 0.0:
                        return np.inf
                    need /= min(leaving, 1.0)
                    spare = max(spare, 0.25 * hidden / min(leaving, 1.0))
                asked = max(asked, need)
            if asked > strain[i]:
                strain[i] = asked + spare
                raised = True
        if not raised:
            break
    else:
        return np.inf
    if rows.start >= 0:
        return rows.rounding * strain[rows.start]
    r = n_rows - 1
    total = worth[1, r]
    for j in range(k):
        if j != removed:
            step = max(rows.to_kept[r, j] - first[r] * leads[j], 0.0)
            total += (step + 2.0 * rows.rounding * rows.to_kept[r, j]) * strain[j]
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


@leaf
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


@leaf
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
