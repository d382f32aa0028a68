"""IOAlergia: states of a prefix tree are merged when nothing in the data tells them apart.

Mao et al., Learning deterministic probabilistic automata from a model checking perspective, Machine Learning 105, 2016,
with the Hoeffding test. The result is AALpy's, state by state (tested on random traces); the loop keeps the open nodes
in a heap, asks only the states with the same output, and remembers which nodes differ, so that it stays quick where few
states merge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waypost.arguments import shown
from waypost.errors import ArgumentError
from waypost.learn.folding import STATE, Folded, edges_of, folded, settle
from waypost.learn.hoeffding import data_of, roomier, width
from waypost.learn.tree import InputOutput, PrefixTree, prefix_tree, weighted
from waypost.model.traces import Trace

MergingProgress = Callable[[int, int], None]  # states found, nodes that wait

NO_MERGING = 0.0
AT_ONCE = 2_000  # pairs compared and edges folded between two signs of life


@dataclass(frozen=True, eq=False)
class States:
    """What learning found: states by the shortest history that leads to them, and the steps of each in order.

    >>> found = merged_states([["start", ("a", "x")]] * 3 + [["start", ("a", "y")]], 0.9)
    >>> found.outputs, found.successor.tolist(), found.seen.tolist()
    (['start', 'x', 'y'], [1, 2], [3, 1])
    >>> found.onward(0)
    {('a', 'x'): (1, 3), ('a', 'y'): (2, 1)}
    """

    outputs: list[str]
    steps: tuple[InputOutput, ...]  # all there are, in order
    first_step: NDArray[np.int64]  # (states + 1,)
    step: NDArray[np.int32]  # place in `steps`
    successor: NDArray[np.int32]
    seen: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.outputs)

    def onward(self, state: int) -> dict[InputOutput, tuple[int, int]]:
        """Successor and count of every step of a state."""
        part = slice(int(self.first_step[state]), int(self.first_step[state + 1]))
        rows = zip(self.step[part].tolist(), self.successor[part].tolist(), self.seen[part].tolist(), strict=True)
        return {self.steps[step]: (successor, seen) for step, successor, seen in rows}


def merged_states(traces: Sequence[Trace], eps: float, progress: MergingProgress | None = None) -> States:
    """States that IOAlergia finds, the first being the initial one.

    `eps` is the Hoeffding test's: the larger, the more easily two states are told apart; 0 merges nothing.
    """
    return states_of(prefix_tree(weighted(traces)), eps, progress, spent=True)


def states_of(tree: PrefixTree, eps: float, progress: MergingProgress | None = None, *, spent: bool = False) -> States:
    """States that IOAlergia finds in a prefix tree, which stays as it is, unless it is `spent`: needed no more."""
    if checked_eps(eps) == NO_MERGING:
        first = tree.first_child.astype(np.int64) - 1
        every = np.arange(1, len(tree), dtype=np.int32)
        return States(tree.outputs(), tree.steps, first, tree.step[1:], every, tree.seen[1:].astype(np.int64))
    merging, data = folded(tree, spent=spent), data_of(tree)
    while merging.sizes[0]:
        settle.sized(20.0 * min(AT_ONCE, len(tree)))(merging, data, width(eps), AT_ONCE)
        data = roomier(data)
        if progress is not None:
            progress(int(merging.sizes[1]), int(merging.sizes[0]))
    return _found(tree, merging)


def _found(tree: PrefixTree, merging: Folded) -> States:
    """States of a tree in which nothing is open any more, and their steps in order."""
    states = np.flatnonzero(merging.status == STATE)
    edges = edges_of.sized(10.0 * len(states))(merging, states)
    owner, step = np.searchsorted(states, merging.owner[edges]), merging.step[edges]
    order = np.lexsort((step, owner))
    first = np.zeros(len(states) + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=len(states)), out=first[1:])
    names = [tree.start, *(tree.steps[k][1] for k in tree.step[states[1:]].tolist())]
    to = np.searchsorted(states, merging.target[edges]).astype(np.int32)
    return States(names, tree.steps, first, step[order], to[order], merging.seen[edges][order].astype(np.int64))


def checked_eps(eps: object) -> float:
    """Number that says how readily states are told apart.

    >>> checked_eps("none"), checked_eps(0.9)
    (0.0, 0.9)
    """
    if eps == "none":
        return NO_MERGING
    if isinstance(eps, bool) or not isinstance(eps, int | float) or not 0 <= eps <= 2:
        raise ArgumentError(f"eps is a number from 0 (no merging) to 2, 'none' or 'auto', not {shown(eps)}")
    return float(eps)
