"""One round of every lane (`lanes`): what its strategy earns, and where it switches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask
from waypost.graph.compiled import kernel, leaf
from waypost.graph.eightfold import add_product, any_above
from waypost.solve.remaining import MOST_VIA

Floats = NDArray[np.float64]

STOP, DECIDED = -1, -2  # instead of a choice: a lane stops here; its state is decided, whatever comes

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
    careful: Mask  # (8,) lanes that switch only where more digits show that it helps
    ahead: Floats  # (nnz, 8) factors: steps to places cut out later, over the pivot
    back: Floats  # (nnz, 8) and from there, at the time
    leads: Mask  # (nnz,) where `ahead` is not 0 in every lane
    returns: Mask  # (nnz,) where `back` is not
    rows: Floats  # (4 m, 8) four for each place: leaving, two right-hand sides, and one over the pivot
    offset: Ints  # (m + 1,) updates of each place
    scratch: Floats  # (5, 8)
    taken: Ints  # (8,)


@kernel
def blank_lanes(n, pattern) -> Any:  # type: ignore[no-untyped-def]
    """Lanes in which nothing was found yet."""
    width = 8
    m = len(pattern.order)
    offset = np.zeros(m + 1, np.int64)
    for i in range(m):
        d = pattern.after[i + 1] - pattern.after[i]
        offset[i + 1] = offset[i] + d * (d - 1) // 2
    return Lanes(
        np.zeros((n, width)), np.zeros((n, width)), np.full((n, width), DECIDED, np.int64),
        np.full((n, width), -1, np.int64), np.zeros((n, width), np.bool_), np.zeros((2, width)),
        np.zeros(width, np.bool_),
        np.zeros((len(pattern.later), width)), np.zeros((len(pattern.later), width)),
        np.zeros(len(pattern.later), np.bool_), np.zeros(len(pattern.later), np.bool_), np.zeros((4 * m, width)),
        offset, np.zeros((5, width)), np.zeros(width, np.int64),
    )  # fmt: skip


@kernel
def lanes_beside(lanes) -> Any:  # type: ignore[no-untyped-def]
    """Blank lanes that keep their factors where others do: whoever goes first loses them."""
    return Lanes(
        np.zeros_like(lanes.gain), np.zeros_like(lanes.loss), np.full_like(lanes.choice, DECIDED),
        np.full_like(lanes.known, -1), np.zeros_like(lanes.may_stop), np.zeros_like(lanes.weights),
        np.zeros_like(lanes.careful), lanes.ahead, lanes.back, lanes.leads, lanes.returns, lanes.rows, lanes.offset,
        lanes.scratch, lanes.taken,
    )  # fmt: skip


@leaf
def single(x, course, lanes) -> None:  # type: ignore[no-untyped-def]
    """Best choice of a component that is one state, in every lane."""
    width = 8
    gain, loss, choice, may_stop, weights, taken = (
        lanes.gain, lanes.loss, lanes.choice, lanes.may_stop, lanes.weights, lanes.taken
    )  # fmt: skip
    best, more, less = lanes.scratch[0], lanes.scratch[1], lanes.scratch[2]
    top = lanes.scratch[3:5]
    for w in range(width):
        top[0, w] = 0.0
        top[1, w] = 0.0
        best[w] = 0.0 if may_stop[x, w] else -np.inf
        taken[w] = STOP
    for c in range(course.first_choice[x], course.first_choice[x + 1]):
        low = course.indptr[c]
        high = course.indptr[c + 1]
        if not course.enabled[c] or (high - low == 1 and course.indices[low] == x):
            continue
        for w in range(width):
            more[w] = 0.0
            less[w] = 0.0
        for e in range(low, high):
            y = course.indices[e]
            p = course.data[e]
            if y != x:
                for w in range(width):
                    more[w] += p * gain[y, w]
                    less[w] += p * loss[y, w]
        for w in range(width):
            value = weights[0, w] * more[w] - weights[1, w] * less[w]
            if value > best[w]:
                best[w] = value
                top[0, w] = more[w]
                top[1, w] = less[w]
                taken[w] = c
    for w in range(width):
        if choice[x, w] != DECIDED:
            choice[x, w] = taken[w]
            gain[x, w] = top[0, w]
            loss[x, w] = top[1, w]
            if taken[w] >= 0:
                lanes.known[x, w] = taken[w]


@kernel
def evaluate(low, high, course, pattern, lanes) -> None:  # type: ignore[no-untyped-def]
    """What every lane's strategy earns in a component: cut out its states one after the other, adding only."""
    columns = 2 if course.kind == MOST_VIA else 3  # where nobody loses
    rows = lanes.rows
    _lay(low, high, lanes.choice, course, pattern, lanes)
    _eliminate(low, high, columns, lanes.choice, pattern, lanes)
    _return(low, high, columns, pattern, lanes)
    for j in range(low, high):
        x = pattern.walk[j]
        i = pattern.place[x]
        for w in range(8):
            lanes.gain[x, w] = rows[4 * i + 1, w]
            lanes.loss[x, w] = rows[4 * i + 2, w]


@kernel
def factorise(low, high, choice, course, pattern, lanes) -> None:  # type: ignore[no-untyped-def]
    """Factors of other strategies than those of the lanes, for `substitute_lanes`, in the place of theirs."""
    _lay(low, high, choice, course, pattern, lanes)
    _eliminate(low, high, 1, choice, pattern, lanes)


@kernel
def _eliminate(low, high, columns, choice, pattern, lanes) -> None:  # type: ignore[no-untyped-def]
    """Cut out the states of a component; who is in a cycle that is never left stops there.

    The pattern has room for every choice, of which a strategy takes few: most entries are 0 in all lanes.
    """
    width = 8
    ahead, back, leads, returns, rows = lanes.ahead, lanes.back, lanes.leads, lanes.returns, lanes.rows
    total = np.empty(width)
    leading, returning = np.empty(high - low, np.int64), np.empty(high - low, np.int64)
    for i in range(low, high):
        first = pattern.after[i]
        last = pattern.after[i + 1]
        ways = 0
        ways_back = 0
        for w in range(width):
            total[w] = rows[4 * i, w]
        for k in range(first, last):
            leads[k] = any_above(ahead, k)
            returns[k] = any_above(back, k)
            if leads[k]:
                leading[ways] = k
                ways += 1
                for w in range(width):
                    total[w] += ahead[k, w]
            if returns[k]:
                returning[ways_back] = k
                ways_back += 1
        for w in range(width):
            if not total[w] > 0.0:
                choice[pattern.order[i], w] = STOP
                rows[4 * i, w] = 1.0
                total[w] = 1.0
        for w in range(width):
            scale = 1.0 / total[w]
            total[w] = scale
            rows[4 * i + 3, w] = scale
            rows[4 * i, w] *= scale
            rows[4 * i + 1, w] *= scale
            rows[4 * i + 2, w] *= scale
        for k in range(ways):
            for w in range(width):
                ahead[leading[k], w] *= total[w]
        _cut_out(i, columns, leading, ways, returning, ways_back, pattern, lanes)


@leaf
def _cut_out(i, columns, leading, ways, returning, ways_back, pattern, lanes) -> None:  # type: ignore[no-untyped-def]
    """Let whoever leads to a place lead to where that leads; given the entries that are not 0 in every lane."""
    ahead, back, rows, update = lanes.ahead, lanes.back, lanes.rows, pattern.update
    first = pattern.after[i]
    width = 2 * (pattern.after[i + 1] - first) - 1
    p = 0
    q = 0
    for r in range(ways_back):
        a = returning[r]
        for column in range(columns):
            add_product(rows, 4 * pattern.later[a] + column, back, a, rows, 4 * i + column)
        at = lanes.offset[i] + (a - first) * (width - a + first) // 2 - a - 1  # update of a and b: at + b
        while p < ways and leading[p] <= a:
            p += 1
        for k in range(p, ways):
            add_product(ahead, update[at + leading[k]], back, a, ahead, leading[k])
    for r in range(ways):
        a = leading[r]
        at = lanes.offset[i] + (a - first) * (width - a + first) // 2 - a - 1
        while q < ways_back and returning[q] <= a:
            q += 1
        for k in range(q, ways_back):
            add_product(back, update[at + returning[k]], ahead, a, back, returning[k])


@kernel
def _lay(low, high, choice, course, pattern, lanes) -> None:  # type: ignore[no-untyped-def]
    """Lay out the chains that strategies make of a component, and what is earned where it is left."""
    width = 8
    gain, loss, ahead, back, rows = lanes.gain, lanes.loss, lanes.ahead, lanes.back, lanes.rows
    for k in range(pattern.after[low], pattern.after[high]):
        if lanes.leads[k]:
            for w in range(width):
                ahead[k, w] = 0.0
        if lanes.returns[k]:
            for w in range(width):
                back[k, w] = 0.0
    for j in range(low, high):
        x = pattern.walk[j]  # neighbours lie together
        i = pattern.place[x]
        for w in range(width):
            c = choice[x, w]
            rows[4 * i, w] = 1.0 if c < 0 else 0.0
            rows[4 * i + 1, w] = gain[x, w] if c == DECIDED else 0.0
            rows[4 * i + 2, w] = loss[x, w] if c == DECIDED else 0.0
            if c < 0:
                continue
            for e in range(course.indptr[c], course.indptr[c + 1]):
                k = pattern.slot[e]
                p = course.data[e]
                y = course.indices[e]
                if y == x:
                    continue
                if k > len(pattern.later):  # out of the component
                    rows[4 * i, w] += p
                    rows[4 * i + 1, w] += p * gain[y, w]
                    rows[4 * i + 2, w] += p * loss[y, w]
                elif k >= 0:
                    ahead[k, w] += p
                else:
                    back[-1 - k, w] += p


@kernel
def substitute_lanes(low, high, columns, pattern, lanes) -> None:  # type: ignore[no-untyped-def]
    """Solve for right-hand sides ``1:columns`` in place, with the factors that `evaluate` or `factorise` left."""
    back, rows = lanes.back, lanes.rows
    for i in range(low, high):
        for column in range(1, columns):
            for w in range(8):
                rows[4 * i + column, w] *= rows[4 * i + 3, w]
        for a in range(pattern.after[i], pattern.after[i + 1]):
            if lanes.returns[a]:
                for column in range(1, columns):
                    add_product(rows, 4 * pattern.later[a] + column, back, a, rows, 4 * i + column)
    _return(low, high, columns, pattern, lanes)


@kernel
def _return(low, high, columns, pattern, lanes) -> None:  # type: ignore[no-untyped-def]
    """Put the states that were cut out back, the last first."""
    ahead, rows = lanes.ahead, lanes.rows
    for i in range(high - 1, low - 1, -1):
        for k in range(pattern.after[i], pattern.after[i + 1]):
            if lanes.leads[k]:
                for column in range(1, columns):
                    add_product(rows, 4 * i + column, ahead, k, rows, 4 * pattern.later[k] + column)


@kernel
def improve(low, high, course, pattern, lanes, switched) -> None:  # type: ignore[no-untyped-def]
    """Switch to better choices, back and forth through a component, until there is none, or not for long.

    What a switch is worth is passed on at once, or a rise would travel one state per round. Values never fall, and a
    switch is a strict rise: no cycle that is never left arises.
    """
    width = 8
    here = np.zeros(width, np.bool_)
    for sweep in range(_SWEEPS):
        found = False
        for i in range(low, high):
            x = pattern.walk[i if sweep % 2 == 1 else high - 1 - (i - low)]
            found |= _switch(x, course, lanes, here)
        if not found:
            break
    for w in range(width):
        switched[w] |= here[w]


@leaf
def _switch(x, course, lanes, switched):  # type: ignore[no-untyped-def]
    """Switch to a better choice of one state wherever it helps by more than rounding; whether any lane did."""
    width = 8
    gain, loss, choice, weights = lanes.gain, lanes.loss, lanes.choice, lanes.weights
    best, stake, more, less = lanes.scratch[0], lanes.scratch[1], lanes.scratch[2], lanes.scratch[3]
    found = False
    loses = course.kind != MOST_VIA
    for w in range(width):
        c = choice[x, w]
        if switched[w] and c >= 0:  # its successors may have risen
            up = 0.0
            down = 0.0
            for e in range(course.indptr[c], course.indptr[c + 1]):
                up += course.data[e] * gain[course.indices[e], w]
                down += course.data[e] * loss[course.indices[e], w]
            gain[x, w] = up
            loss[x, w] = down
        up = weights[0, w] * gain[x, w]
        down = weights[1, w] * loss[x, w]
        best[w] = up - down
        stake[w] = up + down
        if c >= 0 and lanes.may_stop[x, w] and not lanes.careful[w] and best[w] + _TIE * stake[w] < 0.0:
            best[w] = 0.0
            choice[x, w] = STOP
            gain[x, w] = 0.0
            loss[x, w] = 0.0
            switched[w] = True
            found = True
    for c in range(course.first_choice[x], course.first_choice[x + 1]):
        if not course.enabled[c]:
            continue
        for w in range(width):
            more[w] = 0.0
            less[w] = 0.0
        for e in range(course.indptr[c], course.indptr[c + 1]):
            y = course.indices[e]
            p = course.data[e]
            for w in range(width):
                more[w] += p * gain[y, w]
            if loses:
                for w in range(width):
                    less[w] += p * loss[y, w]
        for w in range(width):
            up = weights[0, w] * more[w]
            down = weights[1, w] * less[w]
            better = up - down > best[w] + _TIE * (stake[w] + up + down)
            if better and choice[x, w] != DECIDED and not lanes.careful[w]:
                best[w] = up - down
                choice[x, w] = c
                lanes.known[x, w] = c
                gain[x, w] = more[w]
                loss[x, w] = less[w]
                switched[w] = True
                found = True
    return found
