"""The two-copy product: an MDP that remembers whether the state, or the path, of interest was seen.

Paper, Sect. 5, *Preprocessing*. Every state has a copy for "seen" (⊤) and one for "not seen" (⊥). Entering the state of
interest leads to ⊤, and there one stays; target states are absorbing, so only their first visit counts. For a path the
memory follows it from the first step on: whoever takes the last step is in ⊤, whoever deviates in ⊥ for ever.

Departs from the paper: the initial state starts in ⊤ when it is itself of interest, so that its importance is 1 as the
paper's appendix says; and the remark on paths at the end of Sect. 5, which multiplies the importance of the last state
by the probability of the path although the former contains it already, is replaced by the definition of P4.
Only product states that can be reached are built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from waypost.errors import PathError, StrategyError, UndefinedImportanceError
from waypost.graph import Graph, can_reach, reachable
from waypost.model import MDP, Strategy
from waypost.model.arrays import Mask
from waypost.model.strategy import one_hot

PathSteps = tuple[tuple[int, int, int], ...]  # state, choice, next state


@dataclass(frozen=True, eq=False)
class TwoCopyProduct:
    """The product of an MDP with the bit "seen".

    >>> from waypost.cases import loan
    >>> mdp = loan()
    >>> product = state_product(mdp, mdp.where("Granted"), mdp.where("Consultation"))
    >>> product.mdp.n_states, [product.mdp.states[x] for x in np.flatnonzero(product.via | product.bypass)]
    (15, ['Granted⊥', 'Granted⊤'])
    """

    base: MDP
    mdp: MDP  # the product itself
    origin: NDArray[np.int64]  # (C',) choice of `base` behind each choice; -1 where a target was made absorbing
    entry: NDArray[np.int64]  # (nnz',) transition of `base` behind each transition; -1 as above
    state: NDArray[np.int64]  # (S',) state of `base` behind each state
    seen: Mask  # (S',) the copy ⊤
    via: Mask  # (S',) t⊤: the target, after having seen
    bypass: Mask  # (S',) t⊥: the target, without having seen
    subject: Mask | None = None  # (S,) the states of interest; None for a path

    @cached_property
    def graph(self) -> Graph:
        """Graph of the product."""
        return Graph.of(self.mdp)

    @cached_property
    def target(self) -> Mask:
        """(S',) the target in either copy."""
        return np.asarray(self.via | self.bypass)

    @cached_property
    def reaches(self) -> tuple[Mask, Mask]:
        """(S',) each: the states that can reach t⊤, and those that can reach t⊥."""
        return can_reach(self.graph, self.via), can_reach(self.graph, self.bypass)

    @cached_property
    def terminal(self) -> Mask:
        """(S',) the paper's ``T``: states whose only choice is a self-loop."""
        single = np.diff(self.mdp.first_choice) == 1
        first = self.mdp.first_choice[:-1]
        loops = self.mdp.transitions[first, :].diagonal() if self.mdp.n_states else np.zeros(0)
        return np.asarray(single & (loops == 1.0))

    def rationals(self) -> NDArray[np.object_]:
        """(nnz',) the probabilities as Fractions."""
        exact = np.array([*self.base.rationals(), Fraction(1)], dtype=object)
        return np.asarray(exact[self.entry])  # -1, the self-loops of targets, is the last

    def strategy(self, probabilities: NDArray[np.float64]) -> Strategy:
        """Strategy of the base model with one bit: ⊥ until a state of interest is entered, ⊤ from then on."""
        if self.subject is None:
            raise StrategyError("a path needs more than one bit of memory; its strategy stays on the product")
        modes = []
        for seen in (False, True):
            mode = one_hot(self.base, self.base.first_choice[:-1]).copy()
            here = np.flatnonzero((self.seen[self.mdp.choice_state] == seen) & (self.origin >= 0))
            mode[np.isin(self.base.choice_state, self.base.choice_state[self.origin[here]])] = 0.0
            mode[self.origin[here]] = probabilities[here]
            modes.append(mode)
        return Strategy.one_bit(self.base, modes[0], modes[1], self.subject)

    def choices(self, x: int) -> range:
        """Choices of a product state."""
        return self.mdp.choices(x)

    def choices_of(self, states: Sequence[int]) -> NDArray[np.int64]:
        """Choices of several product states, one state after the other."""
        return np.array([choice for x in states for choice in self.choices(x)], np.int64)

    def successors(self, choice: int) -> list[tuple[int, float]]:
        """Successors of a choice, with their probabilities."""
        first, states, probabilities = self._lists
        part = slice(first[choice], first[choice + 1])
        return list(zip(states[part], probabilities[part], strict=True))

    @cached_property
    def _lists(self) -> tuple[list[int], list[int], list[float]]:
        """The transitions once more, as Python has them: to walk along them costs less than to cut arrays."""
        rows = self.mdp.transitions
        return rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()


def state_product(mdp: MDP, target: Mask, subject: Mask) -> TwoCopyProduct:
    """Product that remembers whether a state of `subject` was entered (the initial state counts)."""
    seen = bool(subject[mdp.initial])
    return _product(mdp, target, np.ones(mdp.n_choices, bool), subject, (), seen_at_start=seen)


def path_product(mdp: MDP, target: Mask, path: Sequence[str]) -> TwoCopyProduct:
    """Product that remembers whether `path` was followed from the start; its actions are forced at every visit.

    >>> from waypost.cases import loan
    >>> mdp = loan()
    >>> product = path_product(mdp, mdp.where("Granted"), ["s0", "Apply", "Application"])
    >>> product.mdp.states[product.mdp.initial], product.mdp.n_states
    ('s0#0', 17)
    """
    steps = _steps(mdp, target, path)
    enabled = np.ones(mdp.n_choices, bool)
    for state, choice, _ in steps:
        enabled[mdp.first_choice[state] : mdp.first_choice[state + 1]] = False
        enabled[choice] = True
    return _product(mdp, target, enabled, np.zeros(mdp.n_states, bool), steps, seen_at_start=True)


def _steps(mdp: MDP, target: Mask, path: Sequence[str]) -> PathSteps:
    """The path as (state, choice, next state), checked: simple, from the initial state, avoiding the target."""
    if len(path) % 2 == 0:
        raise PathError("a path is written state, action, state, ..., state: an odd number of names")
    states = [mdp.state(name) for name in path[::2]]
    if states[0] != mdp.initial:
        raise PathError(f"the path starts in {path[0]!r}, not in the initial state {mdp.states[mdp.initial]!r}")
    if len(set(states)) != len(states):
        raise PathError("the path visits a state twice; only simple paths have an importance")
    if target[states].any():
        raise PathError("the path runs through the target")
    choices = [mdp.choice(s, action) for s, action in zip(states, path[1::2], strict=False)]
    for (x, y), c in zip(pairwise(states), choices, strict=True):
        if mdp.transitions[[c], :][0, y] == 0:
            raise PathError(f"action {mdp.actions[c]!r} does not lead from {mdp.states[x]!r} to {mdp.states[y]!r}")
    return tuple(zip(states, choices, states[1:], strict=False))


def _product(
    mdp: MDP, target: Mask, enabled: Mask, subject: Mask, steps: PathSteps, *, seen_at_start: bool
) -> TwoCopyProduct:
    n, walk = mdp.n_states, len(steps)
    rows = _absorbing(mdp, target, enabled)
    above = len(rows.owner)  # the choices of ⊤ are numbered after those of ⊥, those on the path after both
    on_path = _on_path(rows, steps, n)
    row = np.concatenate([rows.row, rows.row + above, on_path.row + 2 * above])
    column = np.concatenate([rows.column + n * subject[rows.column], rows.column + n, on_path.column])
    entry = np.concatenate([rows.entry, rows.entry, on_path.entry])
    owners = np.concatenate([rows.owner, rows.owner + n, on_path.owner])
    origins = np.concatenate([rows.origin, rows.origin, on_path.origin])
    start = 2 * n if walk else mdp.initial + n * seen_at_start
    pattern = csr_array((np.arange(1, len(row) + 1), (row, column)), shape=(2 * above + walk, 2 * n + walk))
    first = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=2 * n + walk))])
    graph = Graph(first, pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64))
    kept = reachable(graph, np.arange(2 * n + walk) == start)
    seen = np.repeat([False, True, False], [n, n, walk])
    ends = np.concatenate([target, target, np.zeros(walk, bool)])
    if not (ends & kept).any():
        raise UndefinedImportanceError("no strategy reaches the target, so importance is undefined")
    choices, states = np.flatnonzero(kept[owners]), np.flatnonzero(kept)
    pattern = csr_array(pattern[choices][:, states])
    pattern.sort_indices()
    entry = entry[pattern.data - 1]
    base_state = np.concatenate([np.arange(n), np.arange(n), np.array([s for s, _, _ in steps], np.int64)])
    suffix = ["⊥"] * n + ["⊤"] * n + [f"#{k}" for k in range(walk)]
    data = np.where(entry >= 0, mdp.transitions.data[entry], 1.0)
    model = MDP(
        csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape),
        np.concatenate([[0], np.cumsum(np.bincount(owners[choices], minlength=2 * n + walk)[kept])]),
        tuple(mdp.states[base_state[x]] + suffix[x] for x in states),
        tuple(mdp.actions[c] if c >= 0 else "(target)" for c in origins[choices]),
        int(np.flatnonzero(states == start)[0]),
        {},
    )
    via, bypass = (ends & seen)[kept], (ends & ~seen)[kept]
    interest = None if walk or not subject.any() else subject
    return TwoCopyProduct(mdp, model, origins[choices], entry, base_state[kept], seen[kept], via, bypass, interest)


@dataclass(frozen=True, eq=False)
class _ChoiceArrays:
    """Choices as parallel arrays: who owns them, where they come from, and their transitions."""

    owner: NDArray[np.int64]  # (c,)
    origin: NDArray[np.int64]  # (c,) choice of the base model, or -1
    row: NDArray[np.int64]  # (nnz,)
    column: NDArray[np.int64]  # (nnz,)
    entry: NDArray[np.int64]  # (nnz,) transition of the base model, or -1


def _absorbing(mdp: MDP, target: Mask, enabled: Mask) -> _ChoiceArrays:
    """Enabled choices once target states are absorbing (origin -1), sorted by state."""
    kept = np.flatnonzero(enabled & ~target[mdp.choice_state])
    ends = np.flatnonzero(target)
    owner = np.concatenate([mdp.choice_state[kept], ends])
    origin = np.concatenate([kept, np.full(len(ends), -1)])
    order = np.argsort(owner, kind="stable")
    owner, origin = owner[order], origin[order]
    pointer, indices = mdp.transitions.indptr, mdp.transitions.indices
    sizes = np.where(origin >= 0, np.diff(pointer)[origin], 1)
    row = np.repeat(np.arange(len(origin)), sizes)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    entry = np.where(origin[row] >= 0, pointer[:-1][origin[row]] + offset, -1)
    column = np.where(entry >= 0, indices[entry], owner[row])
    return _ChoiceArrays(owner, origin, row, column.astype(np.int64), entry)


def _on_path(rows: _ChoiceArrays, steps: PathSteps, n: int) -> _ChoiceArrays:
    """Choices on the path: the next step goes on, or into ⊤ at the end; everything else deviates into ⊥."""
    found: list[tuple[int, int, int]] = []
    for k, (_, choice, following) in enumerate(steps):
        for e in np.flatnonzero(rows.origin[rows.row] == choice).tolist():
            y = int(rows.column[e])
            onward = n + y if k + 1 == len(steps) else 2 * n + k + 1
            found.append((k, onward if y == following else y, int(rows.entry[e])))
    row, column, entry = np.array(found, np.int64).reshape(-1, 3).T
    owner = 2 * n + np.arange(len(steps))
    return _ChoiceArrays(owner, np.array([choice for _, choice, _ in steps], np.int64), row, column, entry)
