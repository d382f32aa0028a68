"""Settle one component after the other: values and choices, given those of everything that comes after it.

Every strategy here earns a *gain* and suffers a *loss* (see `rewards`), and is worth
``gain_weight * gain - loss_weight * loss``. Policy iteration: find what the strategy earns, switch only where that
strictly helps. Started from a strategy that leaves with probability 1, strict improvement can never close a cycle (on
a closed cycle the average of ``P w - w`` is zero, yet a switched state would make it positive). What a strategy earns
is found in one of three ways:

* a single state: one division;
* more: by sweeps, ``x <- Q x + c`` state by state, which is quick where runs soon leave. The result counts only with a
  *certificate*: a vector ``w > 0`` with ``w - Q w >= k x`` for some ``k > 0``. If one more sweep would move no ``x`` by
  more than its share ``r``, then ``|x - exact| <= (r / k) w``. No closed cycle has such a ``w``;
* where sweeps are too slow: the states of a small component are cut out one after the other, adding only (Grassmann,
  Taksar, Heyman 1985), and a large one is left to `direct`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask
from waypost.graph.compiled import kernel

STOP = -1  # the choice of a state that stops or is terminal
TIE = 1e-13  # relative: a smaller improvement is taken for rounding
CERTIFIED = 1e-12  # the relative error that a certificate must exclude

MODERATE = 100  # so few states are cut out where sweeps are slow
_LARGE = 1_500  # more states are certified to one digit less
_COARSE, _FINEST = 1e-3, 1e-15  # strategies are compared from rough values first
_PATIENCE = 400  # sweeps
_HARDLY = 1e-4  # a smaller probability of leaving before the first state is met again makes a component slow
_GAP_TIE = 1e-12  # relative to the gaps
_EPS = 2.220446049250313e-16


class Problem(NamedTuple):
    """Terminal rewards in a model, as a compiled loop takes them."""

    first_choice: Ints
    indptr: Ints
    indices: Ints
    data: NDArray[Any]
    enabled: Mask  # (C,)
    terminal: Mask  # (S,)
    may_stop: Mask  # (S,)
    gain_weight: Any
    loss_weight: Any
    tie: Any  # an improvement must exceed this share of what is at stake
    zero: Any


class Payoff(NamedTuple):
    """What a memoryless deterministic strategy earns from every state, and the strategy."""

    gain: NDArray[Any]  # (S,)
    loss: NDArray[Any]  # (S,)
    choice: Ints  # (S,) or STOP


@kernel
def settle(start, alone, pointer, members, slow, place, problem, earned) -> int:  # type: ignore[no-untyped-def]
    """Settle components from number `start` on; return the number of one that is too much for here, or the end.

    With `alone` only single states are settled. `slow` remembers components that sweeps do not settle: they are left to
    the caller, who has `settle_dense` for small ones.
    """
    for k in range(start, len(pointer) - 1):
        active = 0
        x = members[pointer[k]]
        for i in range(pointer[k], pointer[k + 1]):
            if not problem.terminal[members[i]]:
                active += 1
                x = members[i]
        if active == 0:
            continue
        if active == 1:
            _settle_single(x, problem, earned)
            continue
        if alone or slow[k]:
            return k
        block = np.empty(active, np.int64)
        first = np.empty(active, np.int64)
        n = 0
        for i in range(pointer[k], pointer[k + 1]):
            y = members[i]
            if not problem.terminal[y]:
                block[n] = y
                first[n] = earned.choice[y]
                place[y] = n
                n += 1
        settled = _settle_by_sweeps(block, problem, earned, place)
        if not settled and not _leaves(block, problem, earned, place):
            for i in range(active):
                earned.choice[block[i]] = first[i]
        for y in block:
            place[y] = -1
        if not settled:
            slow[k] = True
            return k
    return len(pointer) - 1


@kernel
def _settle_single(x, problem, earned):  # type: ignore[no-untyped-def]
    """Best choice of a component that is one state."""
    zero = problem.zero
    best = zero
    best_gain = zero
    best_loss = zero
    taken = -1
    known = problem.may_stop[x]
    for c in range(problem.first_choice[x], problem.first_choice[x + 1]):
        if not problem.enabled[c]:
            continue
        gain = zero
        loss = zero
        leaving = zero
        for e in range(problem.indptr[c], problem.indptr[c + 1]):
            y = problem.indices[e]
            if y != x:
                leaving = leaving + problem.data[e]
                gain = gain + problem.data[e] * earned.gain[y]
                loss = loss + problem.data[e] * earned.loss[y]
        if leaving > zero:
            gain = gain / leaving
            loss = loss / leaving
            value = problem.gain_weight * gain - problem.loss_weight * loss
            if not known or value > best:
                best = value
                best_gain = gain
                best_loss = loss
                taken = c
                known = True
    earned.gain[x] = best_gain
    earned.loss[x] = best_loss
    earned.choice[x] = taken


@kernel
def _improve(block, problem, earned, margin):  # type: ignore[no-untyped-def]
    """Switch to a better choice wherever it helps by more than the margin; tell whether any did."""
    switched = False
    for x in block:
        up = problem.gain_weight * earned.gain[x]
        down = problem.loss_weight * earned.loss[x]
        best = up - down
        if problem.may_stop[x] and best + margin * (up + down) < 0.0:
            best = 0.0
            earned.choice[x] = -1
            earned.gain[x] = 0.0
            earned.loss[x] = 0.0
            switched = True
        for c in range(problem.first_choice[x], problem.first_choice[x + 1]):
            if problem.enabled[c]:
                gain = 0.0
                loss = 0.0
                for e in range(problem.indptr[c], problem.indptr[c + 1]):
                    gain += problem.data[e] * earned.gain[problem.indices[e]]
                    loss += problem.data[e] * earned.loss[problem.indices[e]]
                more = problem.gain_weight * gain
                less = problem.loss_weight * loss
                if more - less > best + margin * (up + down + more + less):
                    best = more - less
                    earned.choice[x] = c
                    earned.gain[x] = gain
                    earned.loss[x] = loss
                    switched = True
    return switched


@kernel
def settle_dense(block, problem, earned, place) -> bool:  # type: ignore[no-untyped-def]
    """Policy iteration on a small component; `place` is the position of its states, and -1 elsewhere.

    States are cut out one after the other, and nothing is subtracted: a diagonal is the sum of the ways out. Where the
    component is hardly ever left, all its states are worth nearly the same, and choices are compared by the *gaps*
    (`_improve_by_gaps`), unless that leads into a cycle that is never left: then it was rounding. False, and the first
    strategy again, if it does not come to an end.
    """
    n = len(block)
    first = np.empty(n, np.int64)
    for i in range(n):
        first[i] = earned.choice[block[i]]
    for by_gaps in (True, False):
        if _cut_out(block, problem, earned, place, by_gaps):
            return True
        for i in range(n):
            earned.choice[block[i]] = first[i]
    return False


@kernel
def _cut_out(block, problem, earned, place, by_gaps):  # type: ignore[no-untyped-def]
    """Policy iteration by elimination; False if a strategy never leaves, or there are too many."""
    n = len(block)
    matrix = np.zeros((n, n))
    leaving = np.zeros(n)  # probability of leaving the component at once
    total = np.zeros(n)
    gain = np.zeros(n)
    loss = np.zeros(n)
    for _ in range(_PATIENCE):
        for i in range(n):
            for j in range(n):
                matrix[i, j] = 0.0
            leaving[i] = 1.0
            gain[i] = 0.0
            loss[i] = 0.0
            c = earned.choice[block[i]]
            if c >= 0:
                leaving[i] = 0.0
                for e in range(problem.indptr[c], problem.indptr[c + 1]):
                    y = problem.indices[e]
                    j = place[y]
                    if j >= 0:
                        matrix[i, j] += problem.data[e]
                    else:
                        leaving[i] += problem.data[e]
                        gain[i] += problem.data[e] * earned.gain[y]
                        loss[i] += problem.data[e] * earned.loss[y]
        for i in range(n - 1, -1, -1):
            total[i] = leaving[i]
            for j in range(i):
                total[i] += matrix[i, j]
            if not total[i] > 0.0:
                return False
            leaving[i] /= total[i]
            gain[i] /= total[i]
            loss[i] /= total[i]
            for j in range(i):
                matrix[i, j] /= total[i]
            for r in range(i):
                weight = matrix[r, i]
                if weight > 0.0:
                    leaving[r] += weight * leaving[i]
                    gain[r] += weight * gain[i]
                    loss[r] += weight * loss[i]
                    for j in range(i):
                        matrix[r, j] += weight * matrix[i, j]
        for i in range(n):
            for j in range(i):
                gain[i] += matrix[i, j] * gain[j]
                loss[i] += matrix[i, j] * loss[j]
            earned.gain[block[i]] = gain[i]
            earned.loss[block[i]] = loss[i]
        if by_gaps and total[0] < _HARDLY:
            if not _improve_by_gaps(block, problem, earned, place, matrix, total):
                return True
        elif not _improve(block, problem, earned, problem.tie):
            return True
    return False


@kernel
def _improve_by_gaps(block, problem, earned, place, matrix, total):  # type: ignore[no-untyped-def]
    """`_improve` where a component is hardly ever left: small differences count, for they are met again and again.

    What a state is worth more than the first one, ``g(x) = w(x) - w(x0)``, has equations of its own, with ``g(x0) = 0``
    and ``w - w(x0)`` outside. A run gets to ``x0`` or outside soon, so these lose no digits, however rarely the
    component is left; and ``sum_y P(c, y) (g(y) - g(x))`` is what a choice is better.
    """
    n = len(block)
    gap = np.zeros(n)
    level = problem.gain_weight * earned.gain[block[0]] - problem.loss_weight * earned.loss[block[0]]
    for i in range(1, n):
        c = earned.choice[block[i]]
        if c < 0:
            gap[i] = -level
        else:
            for e in range(problem.indptr[c], problem.indptr[c + 1]):
                y = problem.indices[e]
                if place[y] < 0:
                    worth = problem.gain_weight * earned.gain[y] - problem.loss_weight * earned.loss[y]
                    gap[i] += problem.data[e] * (worth - level)
    for i in range(n - 1, 0, -1):  # the columns of the eliminated matrix still hold what was passed on
        gap[i] /= total[i]
        for r in range(1, i):
            gap[r] += matrix[r, i] * gap[i]
    for i in range(1, n):
        for j in range(1, i):
            gap[i] += matrix[i, j] * gap[j]
    switched = False
    for i in range(n):
        x = block[i]
        best = 0.0
        if problem.may_stop[x] and earned.choice[x] >= 0 and -level - gap[i] > _GAP_TIE * (abs(level) + abs(gap[i])):
            best = -level - gap[i]
            earned.choice[x] = -1
            switched = True
        for c in range(problem.first_choice[x], problem.first_choice[x + 1]):
            if problem.enabled[c]:
                better = 0.0
                size = 0.0
                for e in range(problem.indptr[c], problem.indptr[c + 1]):
                    y = problem.indices[e]
                    if place[y] >= 0:
                        there = gap[place[y]]
                    else:
                        there = problem.gain_weight * earned.gain[y] - problem.loss_weight * earned.loss[y] - level
                    better += problem.data[e] * (there - gap[i])
                    size += problem.data[e] * (abs(there) + abs(gap[i]))
                if better > best + _GAP_TIE * size:
                    best = better
                    earned.choice[x] = c
                    switched = True
    return switched


@kernel
def _settle_by_sweeps(block, problem, earned, place):  # type: ignore[no-untyped-def]
    """Policy iteration on a component, evaluated by sweeps; False if they are too slow for a certificate."""
    n = len(block)
    patience = _PATIENCE + n // 10
    last = np.zeros((n, 2))
    step = np.zeros((n, 2))
    tolerance = _COARSE
    sweeps = 0
    while True:
        change = 1.0
        rounds = 0
        while change > tolerance:
            if sweeps == patience:
                return False
            sweeps += 1
            rounds += 1
            change = _sweep(block, problem, earned)
            if rounds == 16:  # what has become 0 would die out for ever, and never be 0
                _clear(block, problem, earned.gain, earned.choice, place)
                _clear(block, problem, earned.loss, earned.choice, place)
            if rounds % 8 >= 5:
                _leap(block, earned, last, step, rounds % 8 == 7 and change > tolerance)
        if not _improve(block, problem, earned, max(problem.tie, 10.0 * tolerance)):
            if tolerance <= _FINEST:
                return _certified(block, problem, earned, place, change)
            tolerance = max(_FINEST, tolerance * 1e-4)


@kernel
def _leap(block, earned, last, step, leap):  # type: ignore[no-untyped-def]
    """Remember what a sweep changed; where one change is `t` times the one before, leap to where that leads (Aitken).

    The slowest part of the error dies out like ``t ** k``: it is what remains after some sweeps.
    """
    for column in range(2):
        values = earned.gain if column == 0 else earned.loss
        along = 0.0
        before = 0.0
        for i in range(len(block)):
            value = values[block[i]]
            if value > 0.0:
                moved = (value - last[i, column]) / value
                was = step[i, column] / value
                along += moved * was
                before += was * was
        ratio = along / before if before > 0.0 else 0.0
        further = ratio / (1.0 - ratio) if leap and 0.0 < ratio < 1.0 else 0.0
        for i in range(len(block)):
            value = values[block[i]]
            step[i, column] = value - last[i, column]
            if further > 0.0 and value > 0.0:
                values[block[i]] = max(value + further * step[i, column], 0.5 * value)
            last[i, column] = value


@kernel
def _clear(block, problem, values, choice, place):  # type: ignore[no-untyped-def]
    """Set to 0 what a strategy earns where it never gets to anything positive."""
    positive = np.zeros(len(block), np.bool_)
    for i in range(len(block)):
        c = choice[block[i]]
        if c >= 0:
            for e in range(problem.indptr[c], problem.indptr[c + 1]):
                y = problem.indices[e]
                positive[i] |= place[y] < 0 and problem.data[e] * values[y] > 0.0
    _spread(block, problem, choice, place, positive)
    for i in range(len(block)):
        if not positive[i]:
            values[block[i]] = 0.0


@kernel
def _leaves(block, problem, earned, place):  # type: ignore[no-untyped-def]
    """Whether the strategy leaves the component, or stops, from everywhere."""
    leaving = np.zeros(len(block), np.bool_)
    for i in range(len(block)):
        c = earned.choice[block[i]]
        leaving[i] = c < 0
        if c >= 0:
            for e in range(problem.indptr[c], problem.indptr[c + 1]):
                leaving[i] |= place[problem.indices[e]] < 0 and problem.data[e] > 0.0
    return _spread(block, problem, earned.choice, place, leaving) == len(block)


@kernel
def _spread(block, problem, choice, place, marked):  # type: ignore[no-untyped-def]
    """Mark whatever gets to what is marked, within the component; return how many are."""
    found = True
    total = 0
    while found:
        found = False
        total = 0
        for i in range(len(block)):
            c = choice[block[i]]
            if c >= 0 and not marked[i]:
                for e in range(problem.indptr[c], problem.indptr[c + 1]):
                    j = place[problem.indices[e]]
                    if j >= 0 and marked[j] and problem.data[e] > 0.0:
                        marked[i] = True
                        found = True
            total += marked[i]
    return total


@kernel
def _sweep(block, problem, earned):  # type: ignore[no-untyped-def]
    """Replace what each state earns by what its successors do; return the greatest relative change."""
    change = 0.0
    for x in block:
        c = earned.choice[x]
        gain = 0.0
        loss = 0.0
        if c >= 0:
            for e in range(problem.indptr[c], problem.indptr[c + 1]):
                gain += problem.data[e] * earned.gain[problem.indices[e]]
                loss += problem.data[e] * earned.loss[problem.indices[e]]
        if abs(gain - earned.gain[x]) > change * gain:
            change = abs(gain - earned.gain[x]) / gain if gain > 0.0 else 1.0
        if abs(loss - earned.loss[x]) > change * loss:
            change = abs(loss - earned.loss[x]) / loss if loss > 0.0 else 1.0
        earned.gain[x] = gain
        earned.loss[x] = loss
    return change


@kernel
def _certified(block, problem, earned, place, change):  # type: ignore[no-untyped-def]
    """Whether what the last sweep changed proves gains and losses right: find a vector ``w`` for each."""
    n = len(block)
    longest = 0
    for x in block:
        c = earned.choice[x]
        if c >= 0:
            longest = max(longest, problem.indptr[c + 1] - problem.indptr[c])
    moved = change + (longest + 2) * _EPS
    enough = CERTIFIED if n <= _LARGE else 10.0 * CERTIFIED
    weight = np.empty(n)
    onward = np.empty(n)  # Q w
    for column in range(2):
        values = earned.gain if column == 0 else earned.loss
        for i in range(n):
            weight[i] = values[block[i]]
        found = False
        for _ in range(_PATIENCE):
            least = np.inf  # of (w - Q w) / x
            greatest = 0.0  # of w / x
            for i in range(n):
                value = values[block[i]]
                if value > 0.0:
                    onward[i] = 0.0
                    c = earned.choice[block[i]]
                    for e in range(problem.indptr[c], problem.indptr[c + 1]):
                        j = place[problem.indices[e]]
                        if j >= 0:
                            onward[i] += problem.data[e] * weight[j]
                    least = min(least, (weight[i] - onward[i]) / value)
                    greatest = max(greatest, weight[i] / value)
            if moved * greatest <= enough * least:
                found = True
                break
            for i in range(n):
                if values[block[i]] > 0.0:
                    weight[i] = onward[i] + values[block[i]]
        if not found:
            return False
    return True
