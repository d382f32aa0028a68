"""One round of every lane (`lanes`): what its strategy earns, and where it switches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask
from waypost.graph.compiled import kernel, leaf
from waypost.graph.eightfold import any_of, eight, put, row, rows_of_eight, where
from waypost.solve.factors import DECIDED, STOP, LaneFactors, blank_factors, factorise, put_back
from waypost.solve.remaining import MOST_VIA

Floats = NDArray[np.float64]

_SWEEPS = 2  # in search of better choices, per round
_TIE = 1e-14  # relative: a smaller improvement is taken for rounding


class Lanes(NamedTuple):
    """What every lane has found: a column per lane, eight of them."""

    gain: Floats  # (S, 8)
    loss: Floats  # (S, 8)
    choice: Ints  # (S, 8) or STOP, or DECIDED
    known: Ints  # (S, 8) the last real choice
    may_stop: Mask  # (S, 8)
    weights: Floats  # (2, 8) of gain and loss
    careful: Mask  # (1, 8) lanes that switch only where more digits show that it helps
    moving: Mask  # (1, 8) lanes that have switched in this round, so that values are no longer those of a strategy
    room: Floats  # (2 C, 8) two rows for each choice of a state
    factors: LaneFactors


@kernel
def blank_lanes(course, pattern) -> Any:  # type: ignore[no-untyped-def]
    """Lanes in which nothing was found yet."""
    n = len(course.most)
    options = 1
    for x in range(n):
        options = max(options, course.first_choice[x + 1] - course.first_choice[x])
    return Lanes(
        rows_of_eight(n), rows_of_eight(n), np.full((n, 8), DECIDED, np.int64), np.full((n, 8), -1, np.int64),
        np.zeros((n, 8), np.bool_), np.zeros((2, 8)), np.zeros((1, 8), np.bool_), np.zeros((1, 8), np.bool_),
        rows_of_eight(2 * options), blank_factors(pattern),
    )  # fmt: skip


@kernel
def lanes_beside(lanes) -> Any:  # type: ignore[no-untyped-def]
    """Blank lanes that keep their factors where others do: these are made anew where the two differ."""
    n = len(lanes.gain)
    return Lanes(
        rows_of_eight(n), rows_of_eight(n), np.full_like(lanes.choice, DECIDED), np.full_like(lanes.known, -1),
        np.zeros_like(lanes.may_stop), np.zeros_like(lanes.weights), np.zeros_like(lanes.careful),
        np.zeros_like(lanes.moving), lanes.room, lanes.factors,
    )  # fmt: skip


@leaf
def single(x, course, lanes) -> None:  # type: ignore[no-untyped-def]
    """Best choice of a component that is one state, in every lane."""
    gain, loss = lanes.gain, lanes.loss
    up, down = row(lanes.weights, 0), row(lanes.weights, 1)
    first = row(lanes.choice, x)
    best = where(row(lanes.may_stop, x), eight(0.0), -np.inf)
    top, bottom, taken = eight(0.0), eight(0.0), eight(STOP)
    for c in range(course.first_choice[x], course.first_choice[x + 1]):
        low = course.indptr[c]
        high = course.indptr[c + 1]
        if not course.enabled[c] or (high - low == 1 and course.indices[low] == x):
            continue
        more, less = eight(0.0), eight(0.0)
        for e in range(low, high):
            y = course.indices[e]
            if y != x:
                more = more + course.data[e] * row(gain, y)
                less = less + course.data[e] * row(loss, y)
        value = up * more - down * less
        better = value > best
        best = where(better, value, best)
        top = where(better, more, top)
        bottom = where(better, less, bottom)
        taken = where(better, c, taken)
    free = first != DECIDED
    put(lanes.choice, x, where(free, taken, first))
    put(gain, x, where(free, top, row(gain, x)))
    put(loss, x, where(free, bottom, row(loss, x)))
    put(lanes.known, x, where(free & (taken >= 0), taken, row(lanes.known, x)))


@kernel
def evaluate(low, high, course, pattern, lanes) -> None:  # type: ignore[no-untyped-def]
    """What every lane's strategy earns in a component."""
    many = 1 if course.kind == MOST_VIA else 2  # where nobody loses, or else
    factors, m = lanes.factors, len(pattern.order)
    factorise(low, high, many, lanes.choice, lanes.gain, lanes.loss, course, pattern, factors)
    put_back(low, high, many, pattern, factors)
    for i in range(low, high):
        x = pattern.order[i]
        put(lanes.gain, x, row(factors.sides, i))
        if many == 2:
            put(lanes.loss, x, row(factors.sides, m + i))


@kernel
def improve(low, high, course, pattern, lanes, switched) -> None:  # type: ignore[no-untyped-def]
    """Switch to better choices, back and forth through a component, until there is none, or not for long.

    What a switch is worth is passed on at once, or a rise would travel one state per round. Values never fall, and a
    switch is a strict rise: no cycle that is never left arises.
    """
    put(lanes.moving, 0, False)
    for sweep in range(_SWEEPS):
        found = False
        for i in range(low, high):
            x = pattern.walk[i if sweep % 2 == 1 else high - 1 - (i - low)]
            found |= _switch(x, course, lanes)
        if not found:
            break
    for w in range(8):
        switched[w] |= lanes.moving[0, w]


@leaf
def _switch(x, course, lanes):  # type: ignore[no-untyped-def]
    """Switch to a better choice of one state wherever it helps by more than rounding; whether any lane did.

    Where values are moving, the state first takes over what its own choice has come to.
    """
    loses = course.kind != MOST_VIA
    weight, against = row(lanes.weights, 0), row(lanes.weights, 1)
    gain, loss, first, moving = row(lanes.gain, x), row(lanes.loss, x), row(lanes.choice, x), row(lanes.moving, 0)
    start = course.first_choice[x]
    for c in range(start, course.first_choice[x + 1]):
        if not course.enabled[c]:
            continue
        more, less = eight(0.0), eight(0.0)
        for e in range(course.indptr[c], course.indptr[c + 1]):
            more = more + course.data[e] * row(lanes.gain, course.indices[e])
            if loses:
                less = less + course.data[e] * row(lanes.loss, course.indices[e])
        put(lanes.room, 2 * (c - start), more)
        put(lanes.room, 2 * (c - start) + 1, less)
        own = moving & (first == c)
        gain = where(own, more, gain)
        loss = where(own, less, loss)
    free = (first != DECIDED) & ~row(lanes.careful, 0)
    up, down = weight * gain, against * loss
    best, stake, taken = up - down, up + down, first
    stops = free & (first >= 0) & row(lanes.may_stop, x) & (best + _TIE * stake < 0.0)
    best, taken = where(stops, 0.0, best), where(stops, STOP, taken)
    gain, loss = where(stops, 0.0, gain), where(stops, 0.0, loss)
    for c in range(start, course.first_choice[x + 1]):
        if not course.enabled[c]:
            continue
        more, less = row(lanes.room, 2 * (c - start)), row(lanes.room, 2 * (c - start) + 1)
        up, down = weight * more, against * less
        better = free & (up - down > best + _TIE * (stake + up + down))
        best, taken = where(better, up - down, best), where(better, c, taken)
        gain, loss = where(better, more, gain), where(better, less, loss)
    switched = taken != first
    if any_of(moving | switched):
        put(lanes.gain, x, gain)
        put(lanes.loss, x, loss)
    found = any_of(switched)
    if found:
        put(lanes.choice, x, taken)
        put(lanes.known, x, where(switched & (taken >= 0), taken, row(lanes.known, x)))
        put(lanes.moving, 0, moving | switched)
    return found
