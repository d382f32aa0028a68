"""IOAlergia: states of a prefix tree are merged when nothing in the data tells them apart.

Mao et al., Learning deterministic probabilistic automata from a model checking perspective, Machine Learning 105, 2016,
with the Hoeffding test. The result is AALpy's, state by state (tested on random traces); the loop keeps the open nodes
in a heap, asks only the states with the same output, and remembers which nodes differ, so that it stays quick where few
states merge.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import log, sqrt

from waypost.errors import LogError
from waypost.learn.tree import Node, prefix_tree, weighted
from waypost.logs.traces import Trace

Progress = Callable[[int, int], None]  # states found, nodes that wait
Distribution = tuple[int, dict[str, float]]  # how often an input was seen, and the share of each output

NO_MERGING = 0.0


def merged_states(traces: Sequence[Trace], eps: float, progress: Progress | None = None) -> list[Node]:
    """States that IOAlergia finds: nodes with ``output``, ``children`` and ``seen``.

    They are ordered by the shortest sequence of inputs and outputs that leads to them, so the first is the initial one.
    `eps` is the Hoeffding test's: the larger, the more easily two states are told apart; 0 merges nothing.
    """
    return states_of(prefix_tree(weighted(traces)), eps, progress)


def states_of(nodes: Sequence[Node], eps: float, progress: Progress | None = None) -> list[Node]:
    """States that IOAlergia finds in a prefix tree; what was merged in it before is undone."""
    unmerged = checked_eps(eps) == NO_MERGING
    for node in nodes:
        children, seen = node.data_children, node.data_seen
        node.children, node.seen = (children, seen) if unmerged else (dict(children), dict(seen))
        for child in children.values():
            child.parent = node
    return list(nodes) if unmerged else _run(nodes[0], eps, progress)


def checked_eps(eps: object) -> float:
    """Number that says how readily states are told apart.

    >>> checked_eps("none"), checked_eps(0.9)
    (0.0, 0.9)
    """
    if eps == "none":
        return NO_MERGING
    if isinstance(eps, bool) or not isinstance(eps, int | float) or not 0 <= eps <= 2:
        raise LogError(f"eps is a number above 0 and up to 2, 'none' (or 0) to merge nothing, or 'auto', not {eps!r}")
    return float(eps)


def _run(root: Node, eps: float, progress: Progress | None) -> list[Node]:
    """Merge: the open node with the shortest history into the first state that fits."""
    fits = _test(eps)
    red, by_output = [root], {root.output: [root]}
    settled = {root.rank}
    waiting = {node.rank: node for node in root.children.values()}  # nodes below a state, not yet looked at
    heap = sorted(waiting)

    def open_all(nodes: Iterable[Node]) -> None:
        for node in nodes:
            if node.rank not in settled and node.rank not in waiting:
                waiting[node.rank] = node
                heapq.heappush(heap, node.rank)

    while heap:
        node = waiting.pop(heapq.heappop(heap))
        same = by_output.setdefault(node.output, [])
        state = next((state for state in same if fits(state, node)), None)
        if state is None:
            insort(red, node)
            insort(same, node)
            settled.add(node.rank)
            open_all(node.children.values())
        else:
            open_all(_merge(state, node, settled))
        if progress is not None:
            progress(len(red), len(heap))
    return red


def _merge(state: Node, node: Node, settled: set[int]) -> list[Node]:
    """Merge `node` into `state`, and return what has come below a state by that."""
    if node.parent is not None and node.step is not None:
        node.parent.children[node.step] = state
    below = []
    stack = [(state, node, iter(node.children.items()))]  # depth first: of two nodes folded together the first stays
    while stack:
        into, folded, steps = stack[-1]
        for step, child in steps:
            if step in into.children:
                into.seen[step] += folded.seen[step]
                stack.append((into.children[step], child, iter(child.children.items())))
                break
            into.children[step] = child
            into.seen[step] = folded.seen[step]
            child.parent = into
            if into.rank in settled:
                below.append(child)
        else:
            stack.pop()
    return below


def _test(eps: float) -> Callable[[Node, Node], bool]:
    """Test whether nothing tells two nodes of the tree, or what comes after them, apart.

    It looks at the data only, never at what was merged, so that two nodes that differ once differ for ever.
    """
    width = sqrt(0.5 * log(2 / eps))
    known: dict[int, dict[str, Distribution]] = {}  # of each node, by input
    refuted: set[tuple[int, int]] = set()

    def by_input(node: Node) -> dict[str, Distribution]:
        found = known.get(node.rank)
        if found is None:
            found = known[node.rank] = _distributions(node)
        return found

    def alike(one: Node, other: Node) -> bool:
        if one.output != other.output or (one.rank, other.rank) in refuted:
            return False
        if not one.data_children or not other.data_children:
            return True  # nothing is known of what comes after
        theirs = by_input(other)
        for given, ours in by_input(one).items():
            if given in theirs and _differ(ours, theirs[given], width):
                refuted.add((one.rank, other.rank))
                return False
        return True

    def fits(one: Node, other: Node) -> bool:
        if not alike(one, other):
            return False
        path = [((one.rank, other.rank), _common(one, other))]  # a stack: cases may be longer than Python recurses
        while path:
            for ours, theirs in path[-1][1]:
                if not alike(ours, theirs):
                    refuted.update(pair for pair, _ in path)
                    return False
                path.append(((ours.rank, theirs.rank), _common(ours, theirs)))
                break
            else:
                path.pop()
        return True

    return fits


def _distributions(node: Node) -> dict[str, Distribution]:
    counts: dict[str, dict[str, int]] = {}
    for (given, output), count in node.data_seen.items():
        counts.setdefault(given, {})[output] = count
    found = {}
    for given, outputs in counts.items():
        total = sum(outputs.values())
        found[given] = total, {output: count / total for output, count in outputs.items()}
    return found


def _differ(one: Distribution, other: Distribution, width: float) -> bool:
    """Hoeffding's test: some output is more often seen here than there, by more than chance would do.

    |f1(o) / n1 - f2(o) / n2| > (1 / sqrt(n1) + 1 / sqrt(n2)) sqrt(ln(2 / eps) / 2)
    """
    (n1, ours), (n2, theirs) = one, other
    bound = (sqrt(1 / n1) + sqrt(1 / n2)) * width
    if bound >= 1:
        return False
    return any(abs(share - theirs.get(output, 0.0)) > bound for output, share in ours.items()) or any(
        share > bound for output, share in theirs.items() if output not in ours
    )


def _common(one: Node, other: Node) -> Iterator[tuple[Node, Node]]:
    """Children of two nodes by the same step."""
    others = other.data_children
    return ((child, others[step]) for step, child in one.data_children.items() if step in others)
