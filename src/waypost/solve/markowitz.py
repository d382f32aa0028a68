"""In which order to cut out the states of one chain, so that little fills in (Markowitz 1957).

Cutting a state out makes an arrow from each that leads to it to each it leads to: the one with the fewest of these is
next, more or less. Arrows have a direction here. A state that leads to a single other one can be cut out for nothing,
however many lead to it; patterns that serve all strategies at once (`gth.arrange`) are symmetric, and do not see that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from waypost.graph import Ints
from waypost.graph.compiled import kernel
from waypost.solve.gth import Fill

_SLACK = 1.25  # a state may make that many times as many arrows as the one that makes fewest


class _Lists(NamedTuple):
    """Lists of states that grow, in one pool; `filled` is how much of it is used."""

    start: Ints  # (n,)
    size: Ints  # (n,)
    room: Ints  # (n,)
    filled: Ints  # (1,)


@kernel
def arrange_chain(n, source, goal, limit) -> Any:  # type: ignore[no-untyped-def]
    """Lay an order for the arrows of one chain; False first if it takes more than `limit` steps."""
    onward, leads_to = _listed(n, source, goal)
    comings, led_from = _listed(n, goal, source)
    alive = comings.size.copy()  # how many lead to each state that were not cut out
    rank = np.full(n, -1, np.int64)
    order = np.empty(n, np.int64)
    into = np.empty(2 * len(source) + 64, np.int64)  # who led to a state when it was cut out
    passed = np.zeros(n + 1, np.int64)  # pointer
    done = 0
    work = 0
    most = 0
    while done < n:
        least = np.iinfo(np.int64).max
        for x in range(n):
            if rank[x] >= 0:
                continue
            if alive[x] * onward.size[x] > most:
                least = min(least, alive[x] * onward.size[x])
                continue
            rank[x] = done
            order[done] = x
            filled = passed[done]
            low = onward.start[x]
            high = low + onward.size[x]
            for e in range(low, high):
                alive[leads_to[e]] -= 1
            for f in range(comings.start[x], comings.start[x] + comings.size[x]):
                p = led_from[f]
                if rank[p] >= 0:
                    continue
                if filled == len(into):
                    into = _longer(into)
                into[filled] = p
                filled += 1
                work += high - low + onward.size[p]
                leads_to = _redirect(p, x, low, high, onward, leads_to)
                for e in range(onward.start[p] + onward.size[p] - onward.filled[1], onward.start[p] + onward.size[p]):
                    led_from = _append(leads_to[e], p, comings, led_from)
                    alive[leads_to[e]] += 1
            done += 1
            passed[done] = filled
            if work > limit:
                return False, Fill(order[:0], passed[:1], into[:0], passed[:1], into[:0])
        most = max(least, int(most * _SLACK))
    return True, _pattern(order, rank, onward, leads_to, passed, into)


@kernel
def _listed(n, source, goal):  # type: ignore[no-untyped-def]
    """Lists of the goals of each source, each once, and the pool."""
    start = np.zeros(n + 1, np.int64)
    for e in range(len(source)):
        start[source[e] + 1] += 1
    start = np.cumsum(start)
    pool = np.empty(2 * len(source) + 64, np.int64)
    free = start.copy()
    for e in range(len(source)):
        pool[free[source[e]]] = goal[e]
        free[source[e]] += 1
    size = np.zeros(n, np.int64)
    seen = np.full(n, -1, np.int64)
    for x in range(n):
        for e in range(start[x], start[x + 1]):
            if seen[pool[e]] != x:
                seen[pool[e]] = x
                pool[start[x] + size[x]] = pool[e]
                size[x] += 1
    filled = np.zeros(2, np.int64)
    filled[0] = start[n]
    return _Lists(start[:n].copy(), size, start[1:] - start[:n], filled), pool


@kernel
def _longer(pool):  # type: ignore[no-untyped-def]
    return np.concatenate((pool, np.empty(len(pool) + 64, np.int64)))


@kernel
def _append(x, y, lists, pool):  # type: ignore[no-untyped-def]
    """Append a state to a list; the pool, which may be a longer one."""
    if lists.size[x] == lists.room[x]:
        room = 2 * lists.size[x] + 2
        while lists.filled[0] + room > len(pool):
            pool = _longer(pool)
        head = lists.filled[0]
        for e in range(lists.size[x]):
            pool[head + e] = pool[lists.start[x] + e]
        lists.start[x] = head
        lists.room[x] = room
        lists.filled[0] += room
    pool[lists.start[x] + lists.size[x]] = y
    lists.size[x] += 1
    return pool


@kernel
def _redirect(p, x, low, high, lists, pool):  # type: ignore[no-untyped-def]
    """Let `p` lead to whatever `x` leads to, ``pool[low:high]``, instead of `x`; what is new comes last.

    How many are new is left in ``filled[1]``.
    """
    start = lists.start[p]
    last = start + lists.size[p] - 1
    for e in range(start, last):
        if pool[e] == x:
            pool[e] = pool[last]
            break
    lists.size[p] -= 1
    old = lists.size[p]
    for e in range(low, high):
        y = pool[e]
        known = y == p
        for f in range(lists.start[p], lists.start[p] + old):
            known |= pool[f] == y
        if not known:
            pool = _append(p, y, lists, pool)
    lists.filled[1] = lists.size[p] - old
    return pool


@kernel
def _pattern(order, rank, onward, leads_to, passed, into):  # type: ignore[no-untyped-def]
    """What was laid, by places: where each leads when it is cut out, and to which earlier ones it has led."""
    n = len(order)
    after = np.zeros(n + 1, np.int64)
    for i in range(n):
        after[i + 1] = after[i] + onward.size[order[i]]
    later = np.empty(after[n], np.int64)
    for i in range(n):
        x = order[i]
        for e in range(onward.size[x]):
            later[after[i] + e] = rank[leads_to[onward.start[x] + e]]
    before = np.zeros(n + 1, np.int64)
    for e in range(passed[n]):
        before[rank[into[e]] + 1] += 1
    before = np.cumsum(before)
    free = before.copy()
    earlier = np.empty(passed[n], np.int64)
    for i in range(n):  # ascending
        for e in range(passed[i], passed[i + 1]):
            p = rank[into[e]]
            earlier[free[p]] = i
            free[p] += 1
    return Fill(order, after, later, before, earlier)
