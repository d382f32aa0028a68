"""Which entries arise when the states of a model are cut out, whatever the strategy: one fill for all of them.

States are cut out component by component, within one in an order that keeps the fill small (minimum degree). It is the
fill of every choice together, so the chain of every strategy fits into it, and so do chains of several strategies side
by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array

from waypost.graph import Components, Graph, Ints, Mask, strong_components
from waypost.graph.compiled import kernel

MOST_UPDATES = 20_000_000  # more than that, and one strategy after the other is better


class SharedFill(NamedTuple):
    """States in the order in which they are cut out, and who is next to whom then.

    An entry `k` of place `i` stands for the pair of ``i`` and ``later[k]``, both ways.
    """

    order: Ints  # (m,) states, component by component, successors first
    walk: Ints  # (m,) states, component by component, within one by number
    blocks: Ints  # (K + 1,) places of component k: blocks[k] : blocks[k + 1]
    after: Ints  # (m + 1,) entries of place i: after[i] : after[i + 1]
    later: Ints  # (nnz,) places that are cut out later, sorted
    before: Ints  # (m + 1,) and the same the other way round, as in `gth.Fill`
    earlier: Ints  # (nnz,) places that were cut out earlier, sorted
    four: Mask  # (m,) places that are cut out together with the three that follow, see `_fours`
    update: Ints  # for entries a < b of place i in turn: the entry of (later[a], later[b])
    slot: Ints  # (E,) of an arrow: entry k ahead, -1 - k back, or OUTSIDE
    leaving: Ints  # (m + 1,) arrows of place i that leave its component: exits[leaving[i] : leaving[i + 1]]
    exits: Ints  # arrows
    inside: Mask  # (S,) states that are cut out
    place: Ints  # (S,) place of each state, or -1


OUTSIDE = np.iinfo(np.int64).max


def shared_fill(graph: Graph, *, inside: Mask, enabled: Mask) -> SharedFill | None:
    """Fill of the `enabled` choices of the states `inside`; None where it is too large."""
    parts = strong_components(graph, enabled=enabled & inside[graph.choice_state])
    source, used = within_components(graph, parts, inside=inside, enabled=enabled)
    place, order, pointer, later = filled_in(source[used], graph.indices[used], parts.component, inside)
    m = len(order)
    degrees = np.diff(pointer)
    if (degrees * (degrees - 1)).sum() > 2 * MOST_UPDATES:
        return None
    update = _updates.sized(float((degrees**2).sum()))(pointer, later)
    four = _fours.sized(m)(pointer, later)
    slot = np.full(len(graph.indices), OUTSIDE)
    slot[used] = _slots.sized(20 * used.sum())(place[source[used]], place[graph.indices[used]], pointer, later)
    starts = np.flatnonzero(np.diff(parts.component[order], prepend=-1)) if m else np.zeros(0, np.int64)
    walk = order[np.lexsort((order, parts.component[order]))]
    before = np.concatenate([[0], np.cumsum(np.bincount(later, minlength=m))])
    earlier = np.repeat(np.arange(m), degrees)[np.argsort(later, kind="stable")]
    blocks = np.append(starts, m)
    taken = np.repeat(enabled & inside[graph.choice_state], np.diff(graph.indptr))
    exits = np.flatnonzero(taken & ~used & (source != graph.indices))
    exits = exits[np.argsort(place[source[exits]], kind="stable")]
    leaving = np.concatenate([[0], np.cumsum(np.bincount(place[source[exits]], minlength=m))])
    return SharedFill(
        order, walk, blocks, pointer, later, before, earlier, four, update, slot, leaving, exits, inside, place
    )


def within_components(graph: Graph, parts: Components, *, inside: Mask, enabled: Mask) -> tuple[Ints, Mask]:
    """(E,) where each arrow comes from, and (E,) which ones stay in their component and lead on there."""
    source = np.repeat(graph.choice_state, np.diff(graph.indptr))
    used = np.repeat(enabled & inside[graph.choice_state], np.diff(graph.indptr)) & inside[graph.indices]
    used &= (parts.component[source] == parts.component[graph.indices]) & (source != graph.indices)
    return source, used


def filled_in(sources: Ints, ends: Ints, component: Ints, inside: Mask) -> tuple[Ints, Ints, Ints, Ints]:
    """(S,) place of each state, (m,) states by place, and who is next to whom when it is cut out: pointer and places.

    Takes the arrows within components.
    """
    place, order = _order(sources, ends, component, inside)
    m = len(order)
    one, other = place[sources], place[ends]
    earlier, later = np.minimum(one, other), np.maximum(one, other)
    pointer = np.concatenate([[0], np.cumsum(np.bincount(earlier, minlength=m))])
    return place, order, *_filled.sized(20 * (m + len(later)))(pointer, later[np.argsort(earlier)])


def _order(sources: Ints, ends: Ints, component: Ints, inside: Mask) -> tuple[Ints, Ints]:
    """(S,) place of each state, and (m,) states by place: components in turn, within one by minimum degree."""
    from scipy.sparse.linalg import splu  # takes a while to import: not for a single question

    states = np.flatnonzero(inside)
    local = np.cumsum(inside) - 1
    n = len(states)
    rank = np.arange(n)
    if len(sources):
        rows, columns = local[sources], local[ends]
        pairs = np.concatenate([rows, columns, rank]), np.concatenate([columns, rows, rank])
        weights = np.repeat([-1.0, 2.0 * len(sources) + 1.0], [2 * len(sources), n])  # never singular
        system = csc_array((weights, pairs), shape=(n, n))
        options = {"SymmetricMode": True}
        lu = splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        rank = lu.perm_c.astype(np.int64)
    order = states[np.lexsort((rank, component[states]))]
    place = np.full(len(inside), -1)
    place[order] = np.arange(n)
    return place, order


@kernel
def _filled(pointer, later):  # type: ignore[no-untyped-def]
    """Neighbours that are cut out later, with those that cutting out makes neighbours."""
    m = len(pointer) - 1
    child = np.full(m, -1, np.int64)  # the places whose first later neighbour is this one, as a list
    sibling = np.full(m, -1, np.int64)
    mark = np.full(m, -1, np.int64)
    starts = np.zeros(m + 1, np.int64)
    found = np.empty(max(16, 4 * len(later)), np.int64)
    for i in range(m):
        filled = starts[i]
        if filled + m - i > len(found):
            more = np.empty(2 * len(found) + m, np.int64)
            more[:filled] = found[:filled]
            found = more
        mark[i] = i
        for k in range(pointer[i], pointer[i + 1]):
            j = later[k]
            if mark[j] != i:
                mark[j] = i
                found[filled] = j
                filled += 1
        c = child[i]
        while c >= 0:
            for k in range(starts[c], starts[c + 1]):
                j = found[k]
                if mark[j] != i:
                    mark[j] = i
                    found[filled] = j
                    filled += 1
            c = sibling[c]
        found[starts[i] : filled] = np.sort(found[starts[i] : filled])
        if filled > starts[i]:
            parent = found[starts[i]]
            sibling[i] = child[parent]
            child[parent] = i
        starts[i + 1] = filled
    return starts, found[: starts[m]].copy()


@kernel
def _fours(pointer, later):  # type: ignore[no-untyped-def]
    """(m,) where four places begin each of which is next to those after it, and to the same others as they."""
    m = len(pointer) - 1
    four = np.zeros(m, np.bool_)
    first = 0
    for i in range(1, m):
        before = pointer[i] - pointer[i - 1]
        if not (before > 0 and later[pointer[i - 1]] == i and before == pointer[i + 1] - pointer[i] + 1):
            first = i
        elif i - first == 3:
            four[first] = True
            first = i + 1
    return four


@kernel
def _updates(pointer, later):  # type: ignore[no-untyped-def]
    """Where the product of two entries of a place goes."""
    m = len(pointer) - 1
    total = 0
    for i in range(m):
        d = pointer[i + 1] - pointer[i]
        total += d * (d - 1) // 2
    update = np.empty(total, np.int32)
    at = 0
    for i in range(m):
        for a in range(pointer[i], pointer[i + 1]):
            k = pointer[later[a]]
            for b in range(a + 1, pointer[i + 1]):
                while later[k] != later[b]:
                    k += 1
                update[at] = k
                at += 1
    return update


@kernel
def _slots(sources, ends, pointer, later):  # type: ignore[no-untyped-def]
    """Entry of each arrow: `k` ahead, ``-1 - k`` back."""
    slot = np.empty(len(sources), np.int64)
    for e in range(len(sources)):
        i = min(sources[e], ends[e])
        j = max(sources[e], ends[e])
        low = pointer[i]
        high = pointer[i + 1]
        while high - low > 1:
            middle = (low + high) // 2
            if later[middle] <= j:
                low = middle
            else:
                high = middle
        slot[e] = low if sources[e] < ends[e] else -1 - low
    return slot
