"""What a strategy earns in a component, by relaxation: ``x <- Q x + c``, state by state, with a certificate.

Quick where runs soon leave and elimination would fill in. The result counts only with a *certificate*: a vector
``w > 0`` with ``w - Q w >= k x`` for some ``k > 0``. If one more pass would move no ``x`` by more than its share ``r``,
then ``|x - exact| <= (r / k) w``. No closed cycle has such a ``w``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.graph.compiled import kernel, leaf
from waypost.solve.strain import agree, begin, raise_strain

CERTIFIED = 1e-12  # the relative error that a certificate must exclude
PATIENCE = 3_000  # passes: elimination of what is relaxed at all costs thousands of them

_LARGE = 1_500  # more states are certified to one digit less
_EPS = 2.220446049250313e-16


@kernel
def relax(block, rewards, earned, place, tolerance, patience) -> Any:  # type: ignore[no-untyped-def]
    """Repeat until a pass moves nothing by more than the tolerance; the number of passes, and the last change."""
    last = np.zeros((len(block), 2))
    step = np.zeros((len(block), 2))
    change = 1.0
    passes = 0
    while change > tolerance and passes < patience:
        passes += 1
        change = _pass(block, rewards, earned)
        if passes == 16:  # what has become 0 would die out for ever, and never be 0
            _clear(block, rewards, earned.gain, earned.choice, place)
            _clear(block, rewards, earned.loss, earned.choice, place)
        if passes % 8 >= 5:
            _leap(block, earned, last, step, passes % 8 == 7 and change > tolerance)
    return passes, change


@leaf
def _pass(block, rewards, earned):  # type: ignore[no-untyped-def]
    """Replace what each state earns by what its successors do; return the greatest relative change."""
    change = 0.0
    for x in block:
        c = earned.choice[x]
        gain = 0.0
        loss = 0.0
        if c >= 0:
            for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                gain += rewards.data[e] * earned.gain[rewards.indices[e]]
                loss += rewards.data[e] * earned.loss[rewards.indices[e]]
        if abs(gain - earned.gain[x]) > change * gain:
            change = abs(gain - earned.gain[x]) / gain if gain > 0.0 else 1.0
        if abs(loss - earned.loss[x]) > change * loss:
            change = abs(loss - earned.loss[x]) / loss if loss > 0.0 else 1.0
        earned.gain[x] = gain
        earned.loss[x] = loss
    return change


@leaf
def _leap(block, earned, last, step, leap):  # type: ignore[no-untyped-def]
    """Remember what a pass changed; where one change is `t` times the one before, leap to where that leads (Aitken).

    The slowest part of the error dies out like ``t ** k``: it is what remains after some passes.
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
def _clear(block, rewards, values, choice, place):  # type: ignore[no-untyped-def]
    """Set to 0 what a strategy earns where it never gets to anything positive."""
    positive = np.zeros(len(block), np.bool_)
    for i in range(len(block)):
        c = choice[block[i]]
        if c >= 0:
            for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                y = rewards.indices[e]
                positive[i] |= place[y] < 0 and rewards.data[e] * values[y] > 0.0
    _attract(block, rewards, choice, place, positive)
    for i in range(len(block)):
        if not positive[i]:
            values[block[i]] = 0.0


@kernel
def leaves(block, rewards, earned, place) -> bool:  # type: ignore[no-untyped-def]
    """Whether the strategy leaves the component, or stops, from everywhere."""
    leaving = np.zeros(len(block), np.bool_)
    for i in range(len(block)):
        c = earned.choice[block[i]]
        leaving[i] = c < 0
        if c >= 0:
            for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                leaving[i] |= place[rewards.indices[e]] < 0 and rewards.data[e] > 0.0
    return bool(_attract(block, rewards, earned.choice, place, leaving) == len(block))


@kernel
def _attract(block, rewards, choice, place, marked):  # type: ignore[no-untyped-def]
    """Mark whatever gets to what is marked, within the component; return how many are."""
    found = True
    total = 0
    while found:
        found = False
        total = 0
        for i in range(len(block)):
            c = choice[block[i]]
            if c >= 0 and not marked[i]:
                for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                    j = place[rewards.indices[e]]
                    if j >= 0 and marked[j] and rewards.data[e] > 0.0:
                        marked[i] = True
                        found = True
            total += marked[i]
    return total


@kernel
def certified(block, rewards, earned, place, change) -> bool:  # type: ignore[no-untyped-def]
    """Whether what the last pass changed proves gains and losses right: find a vector ``w`` for each."""
    n = len(block)
    longest = 0
    for x in block:
        c = earned.choice[x]
        if c >= 0:
            longest = max(longest, rewards.indptr[c + 1] - rewards.indptr[c])
    moved = change + (longest + 2) * _EPS
    enough = CERTIFIED if n <= _LARGE else 10.0 * CERTIFIED
    weight = np.empty(n)
    onward = np.empty(n)  # Q w
    for column in range(2):
        values = earned.gain if column == 0 else earned.loss
        for i in range(n):
            weight[i] = values[block[i]]
        found = False
        for _ in range(PATIENCE):
            least = np.inf  # of (w - Q w) / x
            greatest = 0.0  # of w / x
            for i in range(n):
                value = values[block[i]]
                if value > 0.0:
                    onward[i] = 0.0
                    c = earned.choice[block[i]]
                    for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                        j = place[rewards.indices[e]]
                        if j >= 0:
                            onward[i] += rewards.data[e] * weight[j]
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


@kernel
def relax_strain(block, rewards, earned, known, patience) -> None:  # type: ignore[no-untyped-def]
    """As `judge` without elimination: raise strains until no choice asks for more; infinite if that takes long."""
    begin(block, rewards, earned, known)
    agree(block, known)
    raised = raise_strain(block, rewards, known, patience)
    for x in block:
        known.strain[x] = np.inf if raised else known.strain[known.leader[x]]
