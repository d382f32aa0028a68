"""Hoeffding's test: does anything in the data tell two nodes of the prefix tree, or what comes after them, apart?

It looks at the data only, never at what was merged, so that two nodes that differ once differ for ever.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from waypost.graph.compiled import kernel
from waypost.learn.tree import PrefixTree

FEWEST, MOST = 1 << 12, 1 << 22  # places for pairs of nodes that are remembered


class Data(NamedTuple):
    """What the test reads, and the pairs of nodes that it remembers as different: a cache, each pair in its place."""

    first_child: Any  # (nodes + 1,)
    step: Any  # (nodes,)
    given: Any  # (steps,) number of the input
    seen: Any  # (nodes,)
    refuted: Any  # a power of two of numbers, each that of a pair
    tally: Any  # how many pairs were looked at, how many were remembered


def data_of(tree: PrefixTree) -> Data:
    """Arrays of the tree for the test."""
    inputs = {name: k for k, name in enumerate(dict.fromkeys(given for given, _ in tree.steps))}
    given = np.array([inputs[name] for name, _ in tree.steps], np.int32)
    return Data(tree.first_child, tree.step, given, tree.seen, np.full(FEWEST, -1, np.int64), np.zeros(2, np.int64))


def roomier(data: Data) -> Data:
    """The same with more places, where half of them are taken."""
    if 2 * data.tally[1] < len(data.refuted) or len(data.refuted) >= MOST:
        return data
    wider = data._replace(refuted=np.full(4 * len(data.refuted), -1, np.int64))
    known = data.refuted[data.refuted >= 0]
    wider.refuted[_place(wider, known)] = known
    return wider


def width(eps: float) -> float:
    """How far apart two shares may be, for one observation each: ``sqrt(ln(2 / eps) / 2)``."""
    return sqrt(0.5 * log(2 / eps))


@kernel
def _input_ends(data: Any, low: Any, high: Any) -> Any:
    """Where the children by the same input end, and how often they were seen; `low` is the first of them."""
    given, total = data.given[data.step[low]], data.seen[low]
    end = low + 1
    while end < high and data.given[data.step[end]] == given:
        total += data.seen[end]
        end += 1
    return end, total


@kernel
def _differ(data: Any, one: Any, other: Any, width: Any) -> Any:
    """Some output is more often seen here than there, by more than chance would do.

    |f1(o) / n1 - f2(o) / n2| > (1 / sqrt(n1) + 1 / sqrt(n2)) sqrt(ln(2 / eps) / 2)
    """
    i, i_last = data.first_child[one], data.first_child[one + 1]
    j, j_last = data.first_child[other], data.first_child[other + 1]
    while i < i_last and j < j_last:
        ours, theirs = data.given[data.step[i]], data.given[data.step[j]]
        i_end, n1 = _input_ends(data, i, i_last)
        j_end, n2 = _input_ends(data, j, j_last)
        if ours < theirs:
            i = i_end
            continue
        if theirs < ours:
            j = j_end
            continue
        bound = (sqrt(1 / n1) + sqrt(1 / n2)) * width
        if bound >= 1:
            i, j = i_end, j_end
        while i < i_end or j < j_end:
            share = 0.0
            here = i < i_end and (j == j_end or data.step[i] <= data.step[j])
            there = j < j_end and (i == i_end or data.step[j] <= data.step[i])
            if here:
                share = data.seen[i] / n1
                i += 1
            if there:
                share -= data.seen[j] / n2
                j += 1
            if abs(share) > bound:
                return True
    return False


@kernel
def _place(data: Any, pair: Any) -> Any:
    """Where a pair is remembered."""
    mixed = (pair & 0x3FFFFFFF) * 1000003 + (pair >> 30) * 7919  # below 2**63 for any tree that memory holds
    return (mixed ^ (mixed >> 19)) & (len(data.refuted) - 1)


@kernel
def fits(data: Any, one: Any, other: Any, width: Any) -> Any:
    """Nothing tells two nodes with the same output apart: neither what comes next nor what comes after that."""
    nodes = np.int64(len(data.step))
    pairs = np.zeros(64, np.int64)  # from `one` and `other` down to where the test is
    places = np.zeros((64, 2), np.int64)  # children of each pair that come next
    top = 0
    pair = one * nodes + other
    while top >= 0:
        if pair >= 0:  # a pair not yet looked at
            here, there = pair // nodes, pair % nodes
            data.tally[0] += 1
            differ = data.refuted[_place(data, pair)] == pair or _differ(data, here, there, width)
            pairs[top] = pair
            if differ:
                for k in range(top + 1):
                    data.refuted[_place(data, pairs[k])] = pairs[k]
                data.tally[1] += top + 1
                return False
            places[top, 0], places[top, 1] = data.first_child[here], data.first_child[there]
        pair = np.int64(-1)
        here, there = pairs[top] // nodes, pairs[top] % nodes
        i, j = places[top]
        i_end, j_end = data.first_child[here + 1], data.first_child[there + 1]
        while i < i_end and j < j_end and data.step[i] != data.step[j]:
            if data.step[i] < data.step[j]:
                i += 1
            else:
                j += 1
        if i == i_end or j == j_end:
            top -= 1
            continue
        places[top, 0], places[top, 1] = i + 1, j + 1
        pair = i * nodes + j
        top += 1
        if top == len(pairs):
            pairs = np.concatenate((pairs, np.zeros_like(pairs)))
            places = np.concatenate((places, np.zeros_like(places)))
    return True
