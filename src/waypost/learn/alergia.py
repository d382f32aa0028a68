"""IOAlergia: states of a prefix tree are merged when nothing in the data tells them apart.

The algorithm, its tree and its test are AALpy's; only the main loop is our own. AALpy's collects the open nodes anew,
by comparing prefixes, after every merge, and asks every state whether it fits; this one keeps the open nodes in a heap
and asks the states with the same output, in the same order. The result is the same, the time is not: where few states
merge AALpy's loop is cubic in their number.
"""

from __future__ import annotations

import heapq
import sys
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
    library = require("aalpy.learning_algs.stochastic_passive.Alergia", "learn", "learning a model")
    with _deep(2 * max(map(len, traces))):
        return _run(library.Alergia(list(traces), "mdp", eps=eps), eps, progress)


def _run(alergia: Any, eps: float, progress: Progress | None) -> list[Any]:
    """Merge, in AALpy's order: the open node with the shortest prefix into the first state that fits."""
    alergia.diff_checker = _checker(eps)
    root = alergia.fpta
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
        state = next((state for state in same if alergia.compatibility_test(state, node)), None)
        if state is None:
            insort(red, node)
            insort(same, node)
            settled.add(id(node))
            open_below(node)
        else:
            for changed in _merge(alergia, state, node, settled):
                open_below(changed)
        if progress is not None:
            progress(len(red), len(heap))
    return red


def _merge(alergia: Any, state: Any, node: Any, settled: set[int]) -> list[Any]:
    """Merge `node` into `state`, and return the states whose successors have changed."""
    parent = alergia.fpta
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


def _checker(eps: float) -> Any:
    """AALpy's Hoeffding test, with the frequencies of a node sorted by input once instead of at every comparison."""
    library = require("aalpy.learning_algs.stochastic_passive.CompatibilityChecker", "learn", "learning a model")
    known: dict[int, dict[str, dict[str, int]]] = {}

    def by_input(node: Any) -> dict[str, dict[str, int]]:
        if id(node) not in known:
            sorted_out: dict[str, dict[str, int]] = {}
            for (given, output), count in node.original_input_frequency.items():
                sorted_out.setdefault(given, {})[output] = count
            known[id(node)] = sorted_out
        return known[id(node)]

    class ByInput(library.HoeffdingCompatibility):  # type: ignore[misc, name-defined]
        def are_states_different(self, a: Any, b: Any, **_: Any) -> bool:
            ours, theirs = by_input(a), by_input(b)
            fewer, more = (ours, theirs) if len(ours) <= len(theirs) else (theirs, ours)
            return any(given in more and self.hoeffding_bound(fewer[given], more[given]) for given in fewer)

    return ByInput(eps)


@contextmanager
def _deep(depth: int) -> Iterator[None]:
    """Allow AALpy's recursion to follow the longest case."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, depth + 1000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
