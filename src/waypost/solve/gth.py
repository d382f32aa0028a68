"""Linear systems of Markov chains without a subtraction: Grassmann, Taksar and Heyman's elimination, sparse.

``x = Q x + c`` for a substochastic ``Q`` from which every state is left. States are cut out one after the other: where
a state leads, given that it is left, is passed on to whoever leads there. A pivot is the *sum of the ways out* and
never ``1 - q``, so nothing cancels: every number keeps nearly all its digits however rarely the chain is left (relative
errors grow with the number of states, not with the condition of the system).

The order in which states are cut out, and where entries appear, is laid once for all strategies of a component
(`arrange`); the numbers of one strategy follow (`eliminate`), and then any right-hand sides (`substitute`). Nothing
here knows whether numbers are floats or rationals.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints
from waypost.graph.compiled import kernel

NO_LIMIT = 2**62  # steps


class Fill(NamedTuple):
    """Where numbers stand once states have been cut out, in the order in which they are."""

    order: Ints  # (n,) the state that is cut out i-th
    after: Ints  # (n + 1,) pointer
    later: Ints  # states cut out later that the i-th leads to: later[after[i] : after[i + 1]]
    before: Ints  # (n + 1,) pointer
    earlier: Ints  # states cut out earlier that the i-th leads to, ascending


_NONE = np.zeros(0, np.int64)
_ZERO = np.zeros(1, np.int64)
NO_FILL = Fill(_NONE, _ZERO, _NONE, _ZERO, _NONE)


class Chain(NamedTuple):
    """One step of a Markov chain, by rows, in the order of elimination."""

    pointer: Ints  # (n + 1,)
    place: Ints
    chance: NDArray[Any]


class Factors(NamedTuple):
    """The numbers of a `Fill`."""

    onward: NDArray[Any]  # like later: where a state leads once it is left for good or for a later one
    passed: NDArray[Any]  # like earlier: how often a state leads to an earlier one, before that is cut out
    leaving: NDArray[Any]  # (n,) probability of leaving the chain before meeting a later state
    pivot: NDArray[Any]  # (n,) probability of getting away from a state before it is met again


@kernel
def arrange(n, source, goal, limit) -> Any:  # type: ignore[no-untyped-def]
    """Lay an order in which little fills in; False first if it takes more than `limit` steps.

    Takes the arrows of the chain, in either direction: the pattern is symmetric. What the i-th state leads to when it
    is cut out is what it led to before, and what those did for which it was the first to come.
    """
    start, size, pool = _neighbours(n, source, goal)
    order = _ordered(n, start.copy(), size.copy(), pool.copy(), limit)
    rank = np.empty(n, np.int64)
    for i in range(len(order)):
        rank[order[i]] = i
    after = np.zeros(n + 1, np.int64)
    later = np.empty(len(source) + n, np.int64)
    heir = np.full(n, -1, np.int64)  # the last state whose first to come is this one, and so on
    elder = np.full(n, -1, np.int64)
    seen = np.full(n, -1, np.int64)
    filled = 0
    arranged = len(order) == n
    for i in range(len(order)):
        seen[i] = i
        first = n
        p = order[i]
        child = heir[i]
        low, high = start[p], start[p] + size[p]
        own = True
        while own or child >= 0:
            while filled + high - low > len(later):
                later = _longer(later)
            for e in range(low, high):
                y = rank[pool[e]] if own else later[e]
                if y > i and seen[y] != i:
                    seen[y] = i
                    later[filled] = y
                    filled += 1
                    first = min(first, y)
            if not own:
                child = elder[child]
            own = False
            if child >= 0:
                low, high = after[child], after[child + 1]
        after[i + 1] = filled
        if first < n:
            elder[i] = heir[first]
            heir[first] = i
        if filled > limit:
            arranged = False
            break
    if not arranged:
        return False, Fill(order[:0], after[:1], later[:0], after[:1], later[:0])
    before = np.zeros(n + 1, np.int64)
    for e in range(filled):
        before[later[e] + 1] += 1
    before = np.cumsum(before)
    earlier = np.empty(filled, np.int64)
    free = before.copy()
    for i in range(n):
        for e in range(after[i], after[i + 1]):
            earlier[free[later[e]]] = i
            free[later[e]] += 1
    return True, Fill(order, after, later[:filled].copy(), before, earlier)


@kernel
def _ordered(n, start, size, pool, limit):  # type: ignore[no-untyped-def]
    """Order by minimum degree; states with very many neighbours come last and do not count. Empty beyond the limit."""
    order = np.empty(n, np.int64)
    gone = np.zeros(n, np.bool_)
    many = max(16.0, 10.0 * np.sqrt(n))
    done = n
    for x in range(n - 1, -1, -1):
        if size[x] > many:
            gone[x] = True
            done -= 1
            order[done] = x
    left = done
    filled = start[n]
    for x in range(n):  # forget them
        head = start[x]
        for e in range(start[x], start[x] + size[x]):
            if not gone[pool[e]]:
                pool[head] = pool[e]
                head += 1
        size[x] = head - start[x]
    mark = np.full(n, -1, np.int64)
    done = 0
    work = 0
    degree = 0
    while done < left:
        least = n
        for p in range(n):
            if gone[p]:
                continue
            if size[p] > degree:
                least = min(least, size[p])
                continue
            near = pool[start[p] : start[p] + size[p]].copy()
            order[done] = p
            gone[p] = True
            done += 1
            for x in near:
                mark[x] = p
            for x in near:  # whoever leads to p leads to its neighbours from now on
                work += len(near) + size[x]
                while filled + len(near) + size[x] > len(pool):
                    pool = _longer(pool)
                head = filled
                for y in near:
                    if y != x:
                        pool[filled] = y
                        filled += 1
                for e in range(start[x], start[x] + size[x]):
                    y = pool[e]
                    if mark[y] != p and y != p:
                        pool[filled] = y
                        filled += 1
                start[x] = head
                size[x] = filled - head
            if work > limit:
                return order[:0]
        degree = least
    return order


@kernel
def _longer(array):  # type: ignore[no-untyped-def]
    return np.concatenate((array, np.empty(len(array) + 64, np.int64)))


@kernel
def _neighbours(n, source, goal):  # type: ignore[no-untyped-def]
    """Pointer, number and list of each state's neighbours, each once."""
    start = np.zeros(n + 1, np.int64)
    for e in range(len(source)):
        start[source[e] + 1] += 1
        start[goal[e] + 1] += 1
    start = np.cumsum(start)
    pool = np.empty(2 * start[n] + 64, np.int64)
    free = start.copy()
    for e in range(len(source)):
        pool[free[source[e]]] = goal[e]
        free[source[e]] += 1
        pool[free[goal[e]]] = source[e]
        free[goal[e]] += 1
    size = np.zeros(n, np.int64)
    seen = np.full(n, -1, np.int64)
    for x in range(n):
        seen[x] = x
        for e in range(start[x], start[x + 1]):
            y = pool[e]
            if seen[y] != x:
                seen[y] = x
                pool[start[x] + size[x]] = y
                size[x] += 1
    return start, size, pool


def dense_fill(n: int) -> Fill:
    """Where numbers stand in a chain in which every state leads to every other."""
    rows = np.arange(n)
    after, before = (np.concatenate([[0], np.cumsum(length)]) for length in (n - 1 - rows, rows))
    return Fill(rows, after, np.triu_indices(n, 1)[1], before, np.tril_indices(n, -1)[1])


@kernel
def blank(pattern, like) -> Any:  # type: ignore[no-untyped-def]
    """Factors with nothing in them, of the kind of number of `like`."""
    n = len(pattern.order)
    return Factors(
        np.zeros(len(pattern.later), like.dtype),
        np.zeros(len(pattern.earlier), like.dtype),
        np.zeros(n, like.dtype),
        np.zeros(n, like.dtype),
    )


@kernel
def eliminate(low, high, pattern, chain, leaving, factors) -> bool:  # type: ignore[no-untyped-def]
    """Cut out the states ``low:high``, which lead to each other only; False if one is never left.

    `chain` and `leaving`, the probability of being left at once, begin with the first of them.
    """
    row = np.zeros(high - low, factors.pivot.dtype)
    for i in range(low, high):
        out = leaving[i - low]
        for e in range(chain.pointer[i - low], chain.pointer[i - low + 1]):
            row[chain.place[e] - low] += chain.chance[e]
        for e in range(pattern.before[i], pattern.before[i + 1]):
            k = pattern.earlier[e]
            weight = row[k - low]
            row[k - low] = 0
            factors.passed[e] = weight
            if weight > 0:
                out = out + weight * factors.leaving[k]
                for f in range(pattern.after[k], pattern.after[k + 1]):
                    if factors.onward[f] > 0:
                        row[pattern.later[f] - low] += weight * factors.onward[f]
        row[i - low] = 0  # it is taken until it leads elsewhere
        total = out
        for f in range(pattern.after[i], pattern.after[i + 1]):
            total = total + row[pattern.later[f] - low]
        if not total > 0:
            return False
        factors.pivot[i] = total
        factors.leaving[i] = out / total
        for f in range(pattern.after[i], pattern.after[i + 1]):
            factors.onward[f] = row[pattern.later[f] - low] / total
            row[pattern.later[f] - low] = 0
    return True


@kernel
def substitute(low, high, pattern, factors, columns) -> None:  # type: ignore[no-untyped-def]
    """Solve for right-hand sides in place; only the states ``low:high`` count, the others are worth 0."""
    for i in range(low, high):
        for e in range(pattern.before[i], pattern.before[i + 1]):
            if factors.passed[e] > 0:
                for j in range(columns.shape[1]):
                    columns[i, j] += factors.passed[e] * columns[pattern.earlier[e], j]
        for j in range(columns.shape[1]):
            columns[i, j] = columns[i, j] / factors.pivot[i]
    for i in range(high - 1, low - 1, -1):
        for f in range(pattern.after[i], pattern.after[i + 1]):
            if pattern.later[f] < high:
                for j in range(columns.shape[1]):
                    columns[i, j] += factors.onward[f] * columns[pattern.later[f], j]
