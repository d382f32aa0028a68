"""The graph of an MDP: who leads where, and who is led to from where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from waypost.graph.compiled import kernel
from waypost.model import MDP
from waypost.model.arrays import Ints, Mask
from waypost.model.once import once


@dataclass(frozen=True, eq=False)
class Graph:
    """Choices and their successors as index arrays; probabilities do not matter here.

    The functions of this room take masks over states ``(S,)`` and, as `enabled`, over choices ``(C,)``.
    """

    first_choice: Ints  # (S + 1,)
    indptr: Ints  # (C + 1,)
    indices: Ints  # (nnz,) successors of choice c: indices[indptr[c] : indptr[c + 1]]

    @classmethod
    def of(cls, mdp: MDP) -> Graph:
        """Graph of an MDP, in arrays of its own: read-only ones are another type, and all would be compiled twice."""
        return cls(
            np.array(mdp.first_choice, np.int64),
            np.array(mdp.transitions.indptr, np.int64),
            np.array(mdp.transitions.indices, np.int64),
        )

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.first_choice) - 1

    @property
    def n_choices(self) -> int:
        """Number of choices."""
        return len(self.indptr) - 1

    @property
    def size(self) -> int:
        """Number of basic steps a pass over the graph takes."""
        return self.n_states + self.n_choices + len(self.indices)

    @once
    def choice_state(self) -> Ints:
        """(C,) owner of each choice."""
        return np.repeat(np.arange(self.n_states), np.diff(self.first_choice))

    @once
    def backward(self) -> tuple[Ints, Ints]:
        """Pointer ``(S + 1,)`` and choices ``(nnz,)``: the choices that may lead to each state."""
        found: tuple[Ints, Ints] = turned.sized(2 * self.size)(self.n_states, self.indptr, self.indices)
        return found

    @once
    def everything(self) -> Mask:
        """(C,) mask that enables every choice."""
        return np.ones(self.n_choices, bool)


@kernel
def turned(n, start, goal) -> tuple[Ints, Ints]:  # type: ignore[no-untyped-def]
    """Pointer ``(n + 1,)`` and rows: those that lead to each of `n` places, in their order."""
    pointer = np.zeros(n + 1, np.int64)
    for y in goal:
        pointer[y + 1] += 1
    pointer = np.cumsum(pointer)
    at = pointer[:n].copy()
    rows = np.empty(len(goal), np.int64)
    for r in range(len(start) - 1):
        for e in range(start[r], start[r + 1]):
            rows[at[goal[e]]] = r
            at[goal[e]] += 1
    return pointer, rows
