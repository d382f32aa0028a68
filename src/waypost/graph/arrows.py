"""The graph of an MDP: who leads where, and who is led to from where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array

from waypost.model import MDP
from waypost.model.arrays import Ints, Mask


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

    @cached_property
    def choice_state(self) -> Ints:
        """(C,) owner of each choice."""
        return np.repeat(np.arange(self.n_states), np.diff(self.first_choice))

    @cached_property
    def backward(self) -> tuple[Ints, Ints]:
        """Pointer ``(S + 1,)`` and choices ``(nnz,)``: the choices that may lead to each state."""
        ones = np.ones(len(self.indices), np.int8)
        forward = csr_array((ones, self.indices, self.indptr), shape=(self.n_choices, self.n_states))
        transposed = csc_array(forward)
        return transposed.indptr.astype(np.int64), transposed.indices.astype(np.int64)

    @cached_property
    def everything(self) -> Mask:
        """(C,) mask that enables every choice."""
        return np.ones(self.n_choices, bool)
