"""The prefix tree of weighted traces: what was seen, before anything is merged.

Traces that are the same are walked once and counted as often as they happened: a log of thirteen thousand cases has a
third as many variants. Nodes are ranked by the length, then by the order of the steps that lead to them, so that the
root is number 0 and "the shortest history first" is a comparison of two numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from waypost.logs.traces import Trace, Traces, steps_of

Step = tuple[str, str]  # input and output


class Node:
    """A history of the data: its last output, and how often each step came next.

    `children` and `seen` change as nodes are merged; `data_children` and `data_seen` stay what the data say.
    """

    __slots__ = ("children", "data_children", "data_seen", "output", "parent", "rank", "seen", "step")

    def __init__(self, output: str, parent: Node | None = None, step: Step | None = None) -> None:
        self.output = output
        self.parent = parent  # the node that has this one among its children, by `step`
        self.step = step
        self.rank = 0
        self.data_children: dict[Step, Node] = {}
        self.data_seen: dict[Step, int] = {}
        self.children = self.data_children
        self.seen = self.data_seen

    def __lt__(self, other: Node) -> bool:
        return self.rank < other.rank


def weighted(traces: Iterable[Trace]) -> list[tuple[Trace, int]]:
    """Traces without repetition, each with how often it happened, in the order of their first appearance.

    >>> weighted([["start", ("a", "x")], ["start"], ["start", ("a", "x")]])
    [(['start', ('a', 'x')], 2), (['start'], 1)]
    """
    tally: Counter[tuple[Any, ...]] = Counter()
    if isinstance(traces, Traces):
        for trace, count in zip(traces.variants, traces.counts, strict=True):
            tally[tuple(trace)] += count
    else:
        tally.update(map(tuple, traces))
    return [(list(trace), count) for trace, count in tally.items()]


def prefix_tree(variants: Sequence[tuple[Trace, int]]) -> list[Node]:
    """Nodes of the prefix tree, by rank; the first is the root.

    >>> [node.output for node in prefix_tree([(["start", ("a", "y")], 2), (["start", ("a", "x")], 1)])]
    ['start', 'x', 'y']
    """
    root = Node(str(variants[0][0][0]))
    for trace, count in variants:
        node = root
        for step in steps_of(trace):
            child = node.data_children.get(step)
            if child is None:
                child = node.data_children[step] = Node(step[1], node, step)
                node.data_seen[step] = count
            else:
                node.data_seen[step] += count
            node = child
    return _ranked(root)


def _ranked(root: Node) -> list[Node]:
    """All nodes, level by level, each level in the order of its histories."""
    nodes = [root]
    for node in nodes:  # grows while it is walked
        nodes.extend(node.data_children[step] for step in sorted(node.data_children))
    for rank, node in enumerate(nodes):
        node.rank = rank
    return nodes
