"""One round of every lane (`lanes`): what its strategy earns, and where it switches.

Arrays have a column per lane, eight of them. A choice is -1 where a lane stops, and -2 where its state is decided.
"""

from __future__ import annotations

import numpy as np

from waypost.graph.compiled import kernel

_SWEEPS = 2  # in search of better choices, per round
_TIE = 1e-14  # relative: a smaller improvement is taken for rounding


@kernel
def single(x, course, gain, loss, choice, known, may_stop, weights, taken, scratch) -> None:  # type: ignore[no-untyped-def]
    """Best choice of a component that is one state, in every lane."""
    width = 8
    best, more, less = scratch[0], scratch[1], scratch[2]
    top = scratch[3:5]
    for w in range(width):
        top[0, w] = 0.0
        top[1, w] = 0.0
        best[w] = 0.0 if may_stop[x, w] else -np.inf
        taken[w] = -1
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
        if choice[x, w] != -2:
            choice[x, w] = taken[w]
            gain[x, w] = top[0, w]
            loss[x, w] = top[1, w]
            if taken[w] >= 0:
                known[x, w] = taken[w]


@kernel
def _lanes(rows, k):  # type: ignore[no-untyped-def]
    """One row, all lanes: read before anything is written, so that machine code takes several at a time."""
    return (rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3], rows[k, 4], rows[k, 5], rows[k, 6], rows[k, 7])


@kernel
def _add(rows, k, a, b):  # type: ignore[no-untyped-def]
    """Add the product of two rows to a third."""
    c = _lanes(rows, k)
    s0 = c[0] + a[0] * b[0]
    s1 = c[1] + a[1] * b[1]
    s2 = c[2] + a[2] * b[2]
    s3 = c[3] + a[3] * b[3]
    s4 = c[4] + a[4] * b[4]
    s5 = c[5] + a[5] * b[5]
    s6 = c[6] + a[6] * b[6]
    s7 = c[7] + a[7] * b[7]
    rows[k, 0] = s0
    rows[k, 1] = s1
    rows[k, 2] = s2
    rows[k, 3] = s3
    rows[k, 4] = s4
    rows[k, 5] = s5
    rows[k, 6] = s6
    rows[k, 7] = s7


@kernel
def evaluate(low, high, offset, course, pattern, gain, loss, choice, ahead, back, rows) -> None:  # type: ignore[no-untyped-def]
    """What every lane's strategy earns in a component: cut out its states one after the other, adding only."""
    width = 8
    for k in range(pattern.after[low], pattern.after[high]):
        for w in range(width):
            ahead[k, w] = 0.0
            back[k, w] = 0.0
    for i in range(low, high):
        x = pattern.order[i]
        for w in range(width):
            c = choice[x, w]
            rows[i, 0, w] = 1.0 if c < 0 else 0.0
            rows[i, 1, w] = gain[x, w] if c == -2 else 0.0
            rows[i, 2, w] = loss[x, w] if c == -2 else 0.0
            if c < 0:
                continue
            for e in range(course.indptr[c], course.indptr[c + 1]):
                k = pattern.slot[e]
                p = course.data[e]
                y = course.indices[e]
                if y == x:
                    continue
                if k > len(pattern.later):  # out of the component
                    rows[i, 0, w] += p
                    rows[i, 1, w] += p * gain[y, w]
                    rows[i, 2, w] += p * loss[y, w]
                elif k >= 0:
                    ahead[k, w] += p
                else:
                    back[-1 - k, w] += p
    total = np.empty(width)
    columns = 2 if course.kind == 2 else 3  # nobody loses in MOST_VIA
    for i in range(low, high):
        first = pattern.after[i]
        last = pattern.after[i + 1]
        for w in range(width):
            total[w] = rows[i, 0, w]
        for k in range(first, last):
            for w in range(width):
                total[w] += ahead[k, w]
        for w in range(width):
            if not total[w] > 0.0:  # a cycle that is never left: it may as well stop
                choice[pattern.order[i], w] = -1
                rows[i, 0, w] = 1.0
                total[w] = 1.0
        for w in range(width):
            scale = 1.0 / total[w]
            total[w] = scale
            rows[i, 3, w] = scale
            rows[i, 0, w] *= scale
            rows[i, 1, w] *= scale
            rows[i, 2, w] *= scale
        for k in range(first, last):
            for w in range(width):
                ahead[k, w] *= total[w]
        at = offset[i]
        for a in range(first, last):
            r = pattern.later[a]
            into = _lanes(back, a)
            onto = _lanes(ahead, a)
            for column in range(columns):
                _add(rows[r], column, into, _lanes(rows[i], column))
            for b in range(a + 1, last):
                k = pattern.update[at]
                at += 1
                _add(ahead, k, into, _lanes(ahead, b))
                _add(back, k, onto, _lanes(back, b))
    for i in range(high - 1, low - 1, -1):
        for k in range(pattern.after[i], pattern.after[i + 1]):
            j = pattern.later[k]
            onto = _lanes(ahead, k)
            for column in range(1, columns):
                _add(rows[i], column, onto, _lanes(rows[j], column))
        x = pattern.order[i]
        for w in range(width):
            gain[x, w] = rows[i, 1, w]
            loss[x, w] = rows[i, 2, w]


@kernel
def improve(low, high, course, pattern, gain, loss, choice, known, may_stop, weights, switched, scratch) -> None:  # type: ignore[no-untyped-def]
    """Switch to better choices, forth and back through a component, until there is none, or not for long.

    What a switch is worth is passed on at once, or a rise would travel one state per round. Values never fall, and a
    switch is a strict rise: no cycle that is never left arises.
    """
    width = 8
    here = np.zeros(width, np.bool_)
    for sweep in range(_SWEEPS):
        found = False
        for i in range(low, high):
            x = pattern.walk[i if sweep % 2 == 0 else high - 1 - (i - low)]
            found |= _switch(x, course, gain, loss, choice, known, may_stop, weights, here, scratch)
        if not found:
            break
    for w in range(width):
        switched[w] |= here[w]


@kernel
def _switch(x, course, gain, loss, choice, known, may_stop, weights, switched, scratch):  # type: ignore[no-untyped-def]
    """Switch to a better choice of one state wherever it helps by more than rounding; whether any lane did."""
    width = 8
    best, stake, more, less = scratch[0], scratch[1], scratch[2], scratch[3]
    found = False
    loses = course.kind != 2
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
        if c >= 0 and may_stop[x, w] and best[w] + _TIE * stake[w] < 0.0:
            best[w] = 0.0
            choice[x, w] = -1
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
            if up - down > best[w] + _TIE * (stake[w] + up + down) and choice[x, w] != -2:
                best[w] = up - down
                choice[x, w] = c
                known[x, w] = c
                gain[x, w] = more[w]
                loss[x, w] = less[w]
                switched[w] = True
                found = True
    return found
