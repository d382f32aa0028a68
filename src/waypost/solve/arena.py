"""The stage every quantity is computed on: a graph, its probabilities in one arithmetic, its components."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Components, Graph, Mask, strong_components
from waypost.model import MDP
from waypost.model.checking import normalised_exactly
from waypost.model.once import once
from waypost.solve.digits import in_digits, to_digits
from waypost.solve.rational import to_rationals


@dataclass(frozen=True, eq=False)
class Arena:
    """Graph and probabilities of an MDP with absorbing target: floats, rationals, or numbers of a hundred digits.

    Probabilities are those of leaving: a choice that may stay where it is is taken until it does not, which changes no
    probability of getting anywhere and keeps the digits of one that stays nearly always. The arrow remains, with
    probability 0; a choice that always stays keeps it.

    ``components`` are those of the graph in which the target is not left; they stay valid (if coarse) for every problem
    that only removes choices or makes more states absorbing.
    """

    graph: Graph
    data: NDArray[Any]  # (nnz,) float64, or object in exact arithmetic
    components: Components
    mdp: MDP | None = None

    @classmethod
    def of(cls, mdp: MDP, target: Mask, *, exact: bool) -> Arena:
        """Arena of an MDP, in floats or rationals."""
        graph = Graph.of(mdp)
        data = to_rationals(mdp.rationals()) if exact else np.array(mdp.transitions.data)
        return replace(cls.over(graph, data, target), mdp=mdp)

    @classmethod
    def over(cls, graph: Graph, data: NDArray[Any], target: Mask) -> Arena:
        """Arena of a graph with its one-step probabilities."""
        components = strong_components(graph, enabled=~target[graph.choice_state])
        return cls(graph, _leaving(graph, data), components)

    @property
    def exact(self) -> bool:
        """Whether numbers are no floats."""
        return self.data.dtype == object

    @property
    def rational(self) -> bool:
        """Whether numbers are fractions of any length."""
        return self.exact and not isinstance(self.data[0], Decimal)

    @once
    def rough(self) -> Arena:
        """The same in floats."""
        return Arena(self.graph, self.data.astype(float), self.components, self.mdp)

    @property
    def zero(self) -> Any:
        """0 in this arithmetic."""
        return self.data[0] * 0 if self.exact else 0.0

    @property
    def one(self) -> Any:
        """1 in this arithmetic."""
        return self.zero + 1

    @once
    def work(self) -> int:
        """Basic steps that one optimisation takes, roughly: components of several states take more, and fill in."""
        sizes = np.diff(self.components.pointer)
        several = sizes[sizes > 1]
        return self.graph.size + int((200 * several * np.maximum(1.0, np.sqrt(several) / 4)).sum())

    @once
    def several(self) -> Mask:
        """(S,) states in components of several."""
        return np.asarray(np.diff(self.components.pointer)[self.components.component] > 1)

    def careful(self, rows: Mask) -> Arena:
        """The same in a hundred digits, of some choices; the others have no probabilities."""
        used = np.repeat(rows, np.diff(self.graph.indptr))
        owned = np.bincount(self.graph.choice_state[rows], minlength=self.graph.n_states)
        sizes = np.diff(self.graph.indptr)[rows]
        first, indptr = (np.concatenate([[0], np.cumsum(counts)]) for counts in (owned, sizes))
        numbers = self.data[used]
        if self.mdp is not None and self.mdp.exact is not None:
            numbers = self.mdp.exact[used]
        elif self.mdp is not None:  # a float stands for its shortest decimal
            given = np.array([Fraction(repr(float(p))) for p in self.mdp.transitions.data[used]], object)
            numbers = normalised_exactly(given, indptr)
        with in_digits():
            data = np.full(len(used), to_digits([0])[0], object)
            data[used] = _leaving(Graph(first, indptr, self.graph.indices[used]), to_digits(numbers))
        return Arena(self.graph, data, self.components)

    def zeros(self) -> NDArray[Any]:
        """(S,) zeros in this arithmetic."""
        return np.full(self.graph.n_states, self.zero, dtype=self.data.dtype)


def _leaving(graph: Graph, data: NDArray[Any]) -> NDArray[Any]:
    """(nnz,) probabilities under the condition that the state is left; 0 for staying, unless that is certain."""
    sizes = np.diff(graph.indptr)
    stays = graph.indices == np.repeat(graph.choice_state, sizes)
    stays &= np.repeat(sizes > 1, sizes)
    if not stays.any():
        return data
    staying = np.add.reduceat(stays, graph.indptr[:-1]) > 0
    moved = np.where(stays, data[0] * 0, data)
    total = np.add.reduceat(moved, graph.indptr[:-1])
    touched = np.repeat(staying, sizes)
    moved[touched] = moved[touched] / np.repeat(total, sizes)[touched]
    return moved
