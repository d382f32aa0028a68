"""The prefix tree of weighted traces: what was seen, before anything is merged.

Traces that are the same are walked once and counted as often as they happened: a log of thirteen thousand cases has a
third as many variants. Nodes are numbered by the length, then by the order of the steps that lead to them: the root is
number 0, "the shortest history first" is a comparison of two numbers, and the children of a node lie side by side in
the order of their steps. A tree is a few arrays, so that one of millions of nodes takes 24 bytes for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.graph.compiled import kernel
from waypost.logs.traces import Traces
from waypost.model.traces import Trace, steps_of

InputOutput = tuple[str, str]  # input and output
Nodes = NDArray[np.int32]  # nodes, or numbers of steps
NOTHING = -1  # no node: the end of a list of children
UNSEEN = -2  # a node that is in no list yet


@dataclass(frozen=True, eq=False)
class PrefixTree:
    """Histories of the data, and how often each happened; node `k` is reached from its parent by step `k`.

    `head` is the child of a node that the data show first, and `follow` the one of the same parent they show next.

    >>> tree = prefix_tree([(["start", ("a", "y")], 2), (["start", ("a", "x")], 1)])
    >>> tree.outputs(), tree.seen.tolist()
    (['start', 'x', 'y'], [3, 1, 2])
    >>> tree.head.tolist(), tree.follow.tolist()
    ([2, -1, -1], [-1, -1, 1])
    """

    start: str  # output of the root
    steps: tuple[InputOutput, ...]  # all there are, in order
    parent: Nodes
    step: Nodes  # (nodes,) place in `steps`; the root has none
    seen: NDArray[Any]  # (nodes,) how often, in four bytes where that is enough
    first_child: Nodes  # (nodes + 1,)
    head: Nodes
    follow: Nodes

    def __len__(self) -> int:
        return len(self.step)

    def outputs(self) -> list[str]:
        """Last output of every node."""
        return [self.start, *(self.steps[k][1] for k in self.step[1:].tolist())]


def weighted(traces: Iterable[Trace]) -> list[tuple[Trace, int]]:
    """Traces without repetition, each with how often it happened, in the order of their first appearance.

    >>> weighted([["start", ("a", "x")], ["start"], ["start", ("a", "x")]])
    [(['start', ('a', 'x')], 2), (['start'], 1)]
    """
    counted = zip(traces.variants, traces.counts, strict=True) if isinstance(traces, Traces) else zip(traces, repeat(1))
    first: dict[tuple[Any, ...], Trace] = {}
    tally: Counter[tuple[Any, ...]] = Counter()
    for trace, count in counted:
        kind = tuple(trace)
        first.setdefault(kind, trace)
        tally[kind] += count
    return [(trace, tally[kind]) for kind, trace in first.items()]


def prefix_tree(variants: Sequence[tuple[Trace, int]]) -> PrefixTree:
    """Prefix tree of weighted traces.

    >>> prefix_tree([(["start", ("a", "y")], 2), (["start", ("a", "x")], 1)]).outputs()
    ['start', 'x', 'y']
    """
    met = dict.fromkeys(chain.from_iterable(steps_of(trace) for trace, _ in variants))
    steps = sorted(met)
    number = {step: k for k, step in enumerate(steps)}
    first = np.zeros(len(variants) + 1, np.int64)
    np.cumsum([len(trace) - 1 for trace, _ in variants], out=first[1:])
    found = (number[step] for trace, _ in variants for step in steps_of(trace))
    codes = np.fromiter(found, np.int32, int(first[-1]))
    written = codes.astype(">i4").tobytes()  # big-endian numbers are ordered as bytes as they are as numbers
    keys = [written[4 * low : 4 * high] for low, high in zip(first[:-1].tolist(), first[1:].tolist(), strict=True)]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    del written, keys
    counts = np.array([count for _, count in variants], np.int64)
    work = 4.0 * len(codes)
    shared = np.zeros(len(order), np.int64)
    level = _levels.sized(work)(codes, first, order, shared)
    nodes = int(level[-1])
    tree = PrefixTree(
        str(variants[0][0][0]),
        tuple(steps),
        parent=np.full(nodes, NOTHING, np.int32),
        step=np.full(nodes, NOTHING, np.int32),
        seen=np.zeros(nodes, np.int32 if counts.sum() < 2**31 else np.int64),
        first_child=np.zeros(nodes + 1, np.int32),
        head=np.full(nodes, NOTHING, np.int32),
        follow=np.full(nodes, UNSEEN, np.int32),
    )
    last = np.zeros(len(order), np.int32)
    _grow.sized(work)(codes, first, order, shared, level[:-1].copy(), counts, tree.parent, tree.step, tree.seen, last)
    del codes
    _link.sized(work)(last, tree.parent, tree.first_child, tree.head, tree.follow)
    return tree


@kernel
def _levels(codes: Any, first: Any, order: Any, shared: Any) -> Any:
    """(levels + 1,) where each level of the tree begins; `shared` becomes what each variant has of the one before.

    Variants come in their order, so that those with a common beginning lie side by side.
    """
    longest = 0
    for v in range(len(order)):
        longest = max(longest, first[v + 1] - first[v])
    level = np.zeros(longest + 2, np.int64)
    level[1] = 1
    for k in range(len(order)):
        low, high = first[order[k]], first[order[k] + 1]
        common = 0
        if k > 0:
            before, end = first[order[k - 1]], first[order[k - 1] + 1]
            while low + common < high and before + common < end and codes[low + common] == codes[before + common]:
                common += 1
        shared[k] = common
        for depth in range(common + 1, high - low + 1):
            level[depth + 1] += 1
    for depth in range(1, len(level)):
        level[depth] += level[depth - 1]
    return level


@kernel
def _grow(
    codes: Any,
    first: Any,
    order: Any,
    shared: Any,
    free: Any,
    counts: Any,
    parent: Any,
    step: Any,
    seen: Any,
    last: Any,
) -> None:
    """Put every node into its place, `free` being the next one of each level; `last` is where a variant ends."""
    path = np.zeros(len(free), np.int32)
    for k in range(len(order)):
        variant = order[k]
        low, length = first[variant], first[variant + 1] - first[variant]
        count = counts[variant]
        seen[0] += count
        for depth in range(1, length + 1):
            if depth > shared[k]:
                node = free[depth]
                free[depth] += 1
                path[depth] = node
                parent[node] = path[depth - 1]
                step[node] = codes[low + depth - 1]
            seen[path[depth]] += count
        last[variant] = path[length]


@kernel
def _link(last: Any, parent: Any, first_child: Any, head: Any, follow: Any) -> None:
    """Say where the children of every node lie, and list them in the order in which the variants show them."""
    for node in range(1, len(parent)):
        first_child[parent[node] + 1] += 1
    first_child[0] = 1  # behind the root
    for node in range(len(parent)):
        first_child[node + 1] += first_child[node]
    tail = head.copy()
    follow[0] = NOTHING
    for variant in range(len(last)):
        node = last[variant]
        while follow[node] == UNSEEN:
            follow[node] = NOTHING
            above = parent[node]
            if head[above] == NOTHING:
                head[above] = node
            else:
                follow[tail[above]] = node
            tail[above] = node
            node = above
