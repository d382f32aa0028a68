"""IOAlergia: states of a prefix tree are merged when nothing in the data tells them apart.

The prefix tree and the Hoeffding test are AALpy's; the loop around them is our own. AALpy's collects the open nodes
anew, by comparing prefixes, after every merge, asks every state whether it fits, and forgets what it has found out.
This one keeps the open nodes in a heap, asks the states with the same output, in the same order, and remembers which
nodes differ. The result is the same, the time is not: where few states merge AALpy's loop is cubic in their number.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from waypost.errors import LogError, require
from waypost.logs.traces import Trace

Progress = Callable[[int, int], None]  # states found, nodes that wait


def merged_states(traces: Sequence[Trace], eps: float, progress: Progress | None = None) -> list[Any]:
    """States that IOAlergia finds, as nodes of AALpy's prefix tree: ``output``, ``children``, ``input_frequency``.

    They are ordered by the shortest sequence of inputs and outputs that leads to them, so the first is the initial one.
    `eps` is the Hoeffding test's: the larger, the more easily two states are told apart.
    """
    if isinstance(eps, bool) or not isinstance(eps, int | float) or not 0 < eps <= 2:
        raise LogError(f"eps is a number above 0 and up to 2, not {eps!r}")
    library = require("aalpy.learning_algs.stochastic_passive.FPTA", "learn", "learning a model")
    return _run(library.create_fpta(list(traces), "mdp"), eps, progress)


def _run(root: Any, eps: float, progress: Progress | None) -> list[Any]:
    """Merge, in AALpy's order: the open node with the shortest prefix into the first state that fits."""
    fits = _test(eps)
    red, by_output = [root], {root.output: [root]}
    settled = {id(root)}
    waiting = {id(node): node for node in root.successors()}  # nodes below a state, not yet looked at
    heap = [(len(node.prefix), node.prefix, id(node)) for node in waiting.values()]
    heapq.heapify(heap)

    def open_below(state: Any) -> None:
        for node in state.successors():
            if id(node) not in settled and id(node) not in waiting:
                waiting[id(node)] = node
                heapq.heappush(heap, (len(node.prefix), node.prefix, id(node)))

    while heap:
        node = waiting.pop(heapq.heappop(heap)[2])
        same = by_output.setdefault(node.output, [])
        state = next((state for state in same if fits(state, node)), None)
        if state is None:
            insort(red, node)
            insort(same, node)
            settled.add(id(node))
            open_below(node)
        else:
            for changed in _merge(root, state, node, settled):
                open_below(changed)
        if progress is not None:
            progress(len(red), len(heap))
    return red


def _merge(root: Any, state: Any, node: Any, settled: set[int]) -> list[Any]:
    """Merge `node` into `state`, and return the states whose successors have changed."""
    parent = root
    for step in node.prefix[:-1]:
        parent = parent.children[step]
    parent.children[node.prefix[-1]] = state
    changed = []
    stack = [(state, node, iter(node.children.items()))]  # depth first: of two nodes folded together the first stays
    while stack:
        into, folded, steps = stack[-1]
        if id(into) in settled:
            changed.append(into)
        for step, child in steps:
            if step in into.children:
                into.input_frequency[step] += folded.input_frequency[step]
                stack.append((into.children[step], child, iter(child.children.items())))
                break
            into.children[step] = child
            into.input_frequency[step] = folded.input_frequency[step]
        else:
            stack.pop()
    return changed


def _test(eps: float) -> Callable[[Any, Any], bool]:
    """Test whether nothing tells two nodes of the tree, or what comes after them, apart.

    It looks at the data only, never at what was merged, so that two nodes that differ once differ for ever.
    """
    library = require("aalpy.learning_algs.stochastic_passive.CompatibilityChecker", "learn", "learning a model")
    differ = library.HoeffdingCompatibility(eps).hoeffding_bound
    frequencies: dict[int, dict[str, dict[str, int]]] = {}  # of each node, by input
    refuted: set[tuple[int, int]] = set()

    def by_input(node: Any) -> dict[str, dict[str, int]]:
        known = frequencies.get(id(node))
        if known is None:
            known = frequencies[id(node)] = {}
            for (given, output), count in node.original_input_frequency.items():
                known.setdefault(given, {})[output] = count
        return known

    def alike(one: Any, other: Any) -> bool:
        if one.output != other.output or (id(one), id(other)) in refuted:
            return False
        if not one.original_children or not other.original_children:
            return True  # nothing is known of what comes after
        ours, theirs = by_input(one), by_input(other)
        if any(given in theirs and differ(ours[given], theirs[given]) for given in ours):
            refuted.add((id(one), id(other)))
            return False
        return True

    def fits(one: Any, other: Any) -> bool:
        if not alike(one, other):
            return False
        path = [((id(one), id(other)), _common(one, other))]  # a stack: cases may be longer than Python recurses
        while path:
            for ours, theirs in path[-1][1]:
                if not alike(ours, theirs):
                    refuted.update(pair for pair, _ in path)
                    return False
                path.append(((id(ours), id(theirs)), _common(ours, theirs)))
                break
            else:
                path.pop()
        return True

    return fits


def _common(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Children of two nodes by the same step."""
    others = other.original_children
    return ((child, others[step]) for step, child in one.original_children.items() if step in others)
