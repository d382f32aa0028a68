"""Factors of the chains of eight strategies side by side, made anew only where a strategy changed.

States of a component are cut out one after the other (`filling`), adding only, as in `gth`. What is found of a place
depends on the places before it that lead there, however indirectly. So a new strategy leaves most of it as it is: what
is *stale* are the places where a lane takes another choice, those that were cut out before and are next to such a one,
and all that these lead to. To stale places the others add again what they added before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask
from waypost.graph.compiled import kernel, leaf
from waypost.graph.eightfold import any_of, eight, put, row, rows_of_eight, where

Floats = NDArray[np.float64]

STOP, DECIDED = -1, -2  # instead of a choice: a lane stops here; its state is decided, whatever comes
_NEVER = -3  # no choice, nor one of these


class LaneFactors(NamedTuple):
    """What cutting out left of the chains: a column per lane, eight of them; `m` places, `nnz` entries."""

    ahead: Floats  # (nnz, 8) steps to places cut out later, over the pivot
    back: Floats  # (nnz, 8) and from there, at the time
    leads: Mask  # (nnz,) where `ahead` is not 0 in every lane
    returns: Mask  # (nnz,) where `back` is not
    leaving: Floats  # (m, 8) steps out of the component, over the pivot
    scale: Floats  # (m, 8) one over the pivot
    sides: Floats  # (2 m, 8) two right-hand sides, one after the other
    laid: Ints  # (m, 8) the choices that all this stands for
    stale: Mask  # (m,) room
    offset: Ints  # (m + 1,) updates of each place


@kernel
def blank_factors(pattern) -> Any:  # type: ignore[no-untyped-def]
    """Factors of nothing yet."""
    m = len(pattern.order)
    nnz = len(pattern.later)
    offset = np.zeros(m + 1, np.int64)
    for i in range(m):
        d = pattern.after[i + 1] - pattern.after[i]
        offset[i + 1] = offset[i] + d * (d - 1) // 2
    return LaneFactors(
        rows_of_eight(nnz), rows_of_eight(nnz), np.zeros(nnz, np.bool_), np.zeros(nnz, np.bool_), rows_of_eight(m),
        rows_of_eight(m), rows_of_eight(2 * m), np.full((m, 8), _NEVER, np.int64), np.zeros(m, np.bool_), offset,
    )  # fmt: skip


@kernel
def factorise(low, high, many, choice, gain, loss, course, pattern, factors) -> None:  # type: ignore[no-untyped-def]
    """Cut out the states of a component, given its strategies, with what is gained and lost where it is left.

    Who is in a cycle that is never left stops there. As `many` right-hand sides are left halfway to their solution, see
    `put_back`.
    """
    _compare(low, high, choice, pattern, factors)
    for i in range(low, high):
        _lay_sides(i, choice, gain, loss, course, pattern, factors)
        if factors.stale[i]:
            _lay(i, choice, course, pattern, factors)
    leading, returning = np.empty(high - low, np.int64), np.empty(high - low, np.int64)
    i = low
    while i < high:
        if pattern.four[i] and factors.stale[i]:  # what follows a stale place is stale
            _cut_four_out(i, many, choice, pattern, factors)
            i += 4
            continue
        start = pattern.after[i]
        if factors.stale[i]:
            _cut_out(i, choice, pattern, factors)
        else:
            start = pattern.after[i + 1]
            while start > pattern.after[i] and factors.stale[pattern.later[start - 1]]:
                start -= 1
        _pass_sides_on(i, many, pattern, factors)
        if start < pattern.after[i + 1]:
            _pass_on(i, start, leading, returning, pattern, factors)
        i += 1


@leaf
def _compare(low, high, choice, pattern, factors) -> None:  # type: ignore[no-untyped-def]
    """Find the places that are stale, and make their entries 0."""
    stale = factors.stale
    for i in range(low, high):
        stale[i] = False
    for i in range(low, high):
        taken = row(choice, pattern.order[i])
        if any_of(taken != row(factors.laid, i)):
            put(factors.laid, i, taken)
            stale[i] = True
            for k in range(pattern.before[i], pattern.before[i + 1]):
                stale[pattern.earlier[k]] = True
    for i in range(low, high):
        if stale[i]:
            for k in range(pattern.after[i], pattern.after[i + 1]):
                if factors.leads[k]:
                    put(factors.ahead, k, 0.0)
                if factors.returns[k]:
                    put(factors.back, k, 0.0)
            if pattern.after[i] < pattern.after[i + 1]:
                stale[pattern.later[pattern.after[i]]] = True


@leaf
def _lay_sides(i, choice, gain, loss, course, pattern, factors) -> None:  # type: ignore[no-untyped-def]
    """Right-hand sides of a place: what is earned where the component is left."""
    x = pattern.order[i]
    taken = row(choice, x)
    more, less = where(taken == DECIDED, row(gain, x), 0.0), where(taken == DECIDED, row(loss, x), 0.0)
    for k in range(pattern.leaving[i], pattern.leaving[i + 1]):
        e = pattern.exits[k]
        p = where(taken == course.choice_of[e], eight(course.data[e]), 0.0)
        more = more + p * row(gain, course.indices[e])
        less = less + p * row(loss, course.indices[e])
    put(factors.sides, i, more)
    put(factors.sides, len(pattern.order) + i, less)


@leaf
def _lay(i, choice, course, pattern, factors) -> None:  # type: ignore[no-untyped-def]
    """Lay out the steps from a place that is stale; those to places that are not are there."""
    ahead, back = factors.ahead, factors.back
    x = pattern.order[i]
    taken = row(choice, x)
    leaving = where(taken < 0, eight(1.0), 0.0)
    for c in range(course.first_choice[x], course.first_choice[x + 1]):
        takes = taken == c
        if not any_of(takes):
            continue
        for e in range(course.indptr[c], course.indptr[c + 1]):
            y = course.indices[e]
            if y == x:
                continue
            k = pattern.slot[e]
            p = where(takes, eight(course.data[e]), 0.0)
            if k > len(pattern.later):  # out of the component
                leaving = leaving + p
            elif k >= 0:
                put(ahead, k, row(ahead, k) + p)
            elif factors.stale[pattern.place[y]]:
                put(back, -1 - k, row(back, -1 - k) + p)
    put(factors.leaving, i, leaving)


@leaf
def _cut_out(i, choice, pattern, factors) -> None:  # type: ignore[no-untyped-def]
    """Divide what leads away from a place by all of it.

    The pattern has room for every choice, of which a strategy takes few: many entries are 0 in all lanes.
    """
    ahead, leads, leaving = factors.ahead, factors.leads, factors.leaving
    total = row(leaving, i)
    for k in range(pattern.after[i], pattern.after[i + 1]):
        there = row(ahead, k)
        leads[k] = any_of(there > 0.0)
        factors.returns[k] = any_of(row(factors.back, k) > 0.0)
        total = total + there
    for_ever = ~(total > 0.0)
    if any_of(for_ever):
        x = pattern.order[i]
        put(choice, x, where(for_ever, STOP, row(choice, x)))
        put(factors.laid, i, where(for_ever, _NEVER, row(factors.laid, i)))  # whoever comes with it again stops again
        put(leaving, i, where(for_ever, 1.0, row(leaving, i)))
        total = where(for_ever, 1.0, total)
    scale = 1.0 / total
    put(leaving, i, row(leaving, i) * scale)
    put(factors.scale, i, scale)
    for k in range(pattern.after[i], pattern.after[i + 1]):
        if leads[k]:
            put(ahead, k, row(ahead, k) * scale)


@leaf
def _pass_on(i, start, leading, returning, pattern, factors) -> None:  # type: ignore[no-untyped-def]
    """Let whoever leads to a place lead to where that leads, from entry `start` of the place on."""
    ahead, back, leaving, update = factors.ahead, factors.back, factors.leaving, pattern.update
    first = pattern.after[i]
    width = 2 * (pattern.after[i + 1] - first) - 1
    ways = 0
    ways_back = 0
    for k in range(start, pattern.after[i + 1]):
        if factors.leads[k]:
            leading[ways] = k
            ways += 1
        if factors.returns[k]:
            returning[ways_back] = k
            ways_back += 1
    p = 0
    q = 0
    for r in range(ways_back):
        a = returning[r]
        fro = row(back, a)
        put(leaving, pattern.later[a], row(leaving, pattern.later[a]) + fro * row(leaving, i))
        at = factors.offset[i] + (a - first) * (width - a + first) // 2 - a - 1  # update of a and b: at + b
        while p < ways and leading[p] <= a:
            p += 1
        for k in range(p, ways):
            b = leading[k]
            put(ahead, update[at + b], row(ahead, update[at + b]) + fro * row(ahead, b))
    for r in range(ways):
        a = leading[r]
        there = row(ahead, a)
        at = factors.offset[i] + (a - first) * (width - a + first) // 2 - a - 1
        while q < ways_back and returning[q] <= a:
            q += 1
        for k in range(q, ways_back):
            b = returning[k]
            put(back, update[at + b], row(back, update[at + b]) + there * row(back, b))


@leaf
def _cut_four_out(i, many, choice, pattern, factors) -> None:  # type: ignore[no-untyped-def]
    """Cut out four places that are next to each other and to the same others: what they add there is stored once."""
    ahead, back, leaving, sides = factors.ahead, factors.back, factors.leaving, factors.sides
    m = len(pattern.order)
    last = i + 3
    for j in range(i, last + 1):
        _cut_out(j, choice, pattern, factors)
        for k in range(many):
            put(sides, k * m + j, row(sides, k * m + j) * row(factors.scale, j))
        for q in range(j + 1, last + 1):
            a = pattern.after[j] + q - j - 1
            to, fro = row(ahead, a), row(back, a)
            put(leaving, q, row(leaving, q) + fro * row(leaving, j))
            for k in range(many):
                put(sides, k * m + q, row(sides, k * m + q) + fro * row(sides, k * m + j))
            b = a + 1
            for k in range(pattern.after[q], pattern.after[q + 1]):
                put(ahead, k, row(ahead, k) + fro * row(ahead, b))
                put(back, k, row(back, k) + to * row(back, b))
                b += 1
    first, end = pattern.after[last], pattern.after[last + 1]
    k1, k2, k3 = pattern.after[i + 1] - end, pattern.after[i + 2] - end, first - end  # from entries of the last one
    width = 2 * (end - first) - 1
    for a in range(first, end):
        to1, to2, to3, to4 = row(ahead, a + k1), row(ahead, a + k2), row(ahead, a + k3), row(ahead, a)
        fro1, fro2, fro3, fro4 = row(back, a + k1), row(back, a + k2), row(back, a + k3), row(back, a)
        at = pattern.later[a]
        total = row(leaving, at) + fro1 * row(leaving, i) + fro2 * row(leaving, i + 1)
        put(leaving, at, total + fro3 * row(leaving, i + 2) + fro4 * row(leaving, last))
        for k in range(many):
            at, j = k * m + pattern.later[a], k * m + i
            total = row(sides, at) + fro1 * row(sides, j) + fro2 * row(sides, j + 1)
            put(sides, at, total + fro3 * row(sides, j + 2) + fro4 * row(sides, j + 3))
        at = factors.offset[last] + (a - first) * (width - a + first) // 2 - a - 1
        for b in range(a + 1, end):
            k = pattern.update[at + b]
            total = row(ahead, k) + fro1 * row(ahead, b + k1) + fro2 * row(ahead, b + k2)
            put(ahead, k, total + fro3 * row(ahead, b + k3) + fro4 * row(ahead, b))
            total = row(back, k) + to1 * row(back, b + k1) + to2 * row(back, b + k2)
            put(back, k, total + to3 * row(back, b + k3) + to4 * row(back, b))


@leaf
def _pass_sides_on(i, many, pattern, factors) -> None:  # type: ignore[no-untyped-def]
    """Let whoever leads to a place earn what that earns."""
    sides, m = factors.sides, len(pattern.order)
    for k in range(many):
        side = row(sides, k * m + i) * row(factors.scale, i)
        put(sides, k * m + i, side)
        if not any_of(side != 0.0):
            continue
        for a in range(pattern.after[i], pattern.after[i + 1]):
            if factors.returns[a]:
                j = k * m + pattern.later[a]
                put(sides, j, row(sides, j) + row(factors.back, a) * side)


@kernel
def substitute_lanes(low, high, pattern, factors) -> None:  # type: ignore[no-untyped-def]
    """Solve for the first right-hand side in place."""
    for i in range(low, high):
        _pass_sides_on(i, 1, pattern, factors)
    put_back(low, high, 1, pattern, factors)


@kernel
def put_back(low, high, many, pattern, factors) -> None:  # type: ignore[no-untyped-def]
    """Put the states that were cut out back, the last first: as `many` right-hand sides become their solutions."""
    sides, m = factors.sides, len(pattern.order)
    for i in range(high - 1, low - 1, -1):
        for k in range(many):
            total = row(sides, k * m + i)
            for a in range(pattern.after[i], pattern.after[i + 1]):
                if factors.leads[a]:
                    total = total + row(factors.ahead, a) * row(sides, k * m + pattern.later[a])
            put(sides, k * m + i, total)
