"""The two-copy product: an MDP that remembers whether the state, or the path, of interest was seen.

Paper, Sect. 5, *Preprocessing*. Every state has a copy for "seen" (⊤) and one for "not seen" (⊥). Entering the state of
interest leads to ⊤, and there one stays; target states are absorbing, so only their first visit counts. For a path the
memory follows it from the first step on: whoever takes the last step is in ⊤, whoever deviates in ⊥ for ever.

Departs from the paper: the initial state starts in ⊤ when it is itself of interest, so that its importance is 1 as the
paper's Lemma 7 says; and the remark on paths at the end of Sect. 5, which multiplies the importance of the last state by
the probability of the path although the former contains it already, is replaced by the definition of P4.
Only product states that can be reached are built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, vstack

from waypost.errors import PathError, UndefinedImportanceError
from waypost.graph import Graph, can_reach, reachable
from waypost.model import MDP

Mask = NDArray[np.bool_]
Steps = tuple[tuple[int, int, int], ...]  # state, choice, next state


@dataclass(frozen=True, eq=False)
class Product:
    """The product of an MDP with the bit "seen".

    >>> from waypost.cases import loan
    >>> mdp = loan()
    >>> product = state_product(mdp, mdp.where("Granted"), mdp.where("Consultation"))
    >>> product.mdp.n_states, [product.mdp.states[x] for x in np.flatnonzero(product.via | product.bypass)]
    (14, ['Granted⊥', 'Granted⊤'])
    """

    base: MDP
    mdp: MDP  # the product itself
    origin: NDArray[np.int64]  # (C',) choice of `base` behind each choice; -1 where a target was made absorbing
    state: NDArray[np.int64]  # (S',) state of `base` behind each state
    seen: Mask  # (S',) the copy ⊤
    via: Mask  # (S',) t⊤: the target, after having seen
    bypass: Mask  # (S',) t⊥: the target, without having seen

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

    def choices(self, x: int) -> range:
        """Choices of a product state."""
        return range(int(self.mdp.first_choice[x]), int(self.mdp.first_choice[x + 1]))

    def successors(self, choice: int) -> list[tuple[int, float]]:
        """Successors of a choice, with their probabilities."""
        rows = self.mdp.transitions
        part = slice(rows.indptr[choice], rows.indptr[choice + 1])
        return list(zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True))


def state_product(mdp: MDP, target: Mask, subject: Mask) -> Product:
    """Product that remembers whether a state of `subject` was entered (the initial state counts)."""
    seen = bool(subject[mdp.initial])
    return _product(mdp, target, np.ones(mdp.n_choices, bool), subject, (), seen_at_start=seen)


def path_product(mdp: MDP, target: Mask, path: Sequence[str]) -> Product:
    """Product that remembers whether `path` was followed from the start; its actions are forced at every visit.

    >>> from waypost.cases import loan
    >>> mdp = loan()
    >>> product = path_product(mdp, mdp.where("Granted"), ["s0", "Apply", "Application"])
    >>> product.mdp.states[product.mdp.initial], product.mdp.n_states
    ('s0#0', 14)
    """
    steps = _steps(mdp, target, path)
    enabled = np.ones(mdp.n_choices, bool)
    for state, choice, _ in steps:
        enabled[mdp.first_choice[state] : mdp.first_choice[state + 1]] = False
        enabled[choice] = True
    return _product(mdp, target, enabled, np.zeros(mdp.n_states, bool), steps, seen_at_start=True)


def _steps(mdp: MDP, target: Mask, path: Sequence[str]) -> Steps:
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


def _product(mdp: MDP, target: Mask, enabled: Mask, subject: Mask, steps: Steps, *, seen_at_start: bool) -> Product:
    n, walk = mdp.n_states, len(steps)
    rows, owner, origin = _absorbing(mdp, target, enabled)
    i, j, p = rows.row, rows.col, rows.data
    above = len(owner)  # the choices of ⊤ are numbered after those of ⊥, those on the path after both
    on_path = _path_entries(rows, origin, steps, n)
    whole = csr_array(
        (
            np.concatenate([p, p, on_path[2]]),
            (
                np.concatenate([i, i + above, on_path[0] + 2 * above]),
                np.concatenate([j + n * subject[j], j + n, on_path[1]]),
            ),
        ),
        shape=(2 * above + walk, 2 * n + walk),
    )
    owners = np.concatenate([owner, owner + n, 2 * n + np.arange(walk)])
    origins = np.concatenate([origin, origin, np.array([choice for _, choice, _ in steps], np.int64)])
    states = np.concatenate([np.arange(n), np.arange(n), np.array([state for state, _, _ in steps], np.int64)])
    names = [f"{s}⊥" for s in mdp.states] + [f"{s}⊤" for s in mdp.states]
    names += [f"{mdp.states[s]}#{k}" for k, (s, _, _) in enumerate(steps)]
    start = 2 * n if walk else mdp.initial + n * seen_at_start
    everything = _model(whole, owners, names, [mdp.actions[c] if c >= 0 else "(target)" for c in origins], start)
    kept = reachable(Graph.of(everything), np.arange(2 * n + walk) == start)
    seen = np.repeat([False, True, False], [n, n, walk])
    ends = np.concatenate([target, target, np.zeros(walk, bool)])
    if not (ends & kept).any():
        raise UndefinedImportanceError("no strategy reaches the target, so importance is undefined")
    smaller, kept_choices = _restricted(everything, kept)
    return Product(
        mdp, smaller, origins[kept_choices], states[kept], seen[kept], (ends & seen)[kept], (ends & ~seen)[kept]
    )


def _absorbing(mdp: MDP, target: Mask, enabled: Mask) -> tuple[coo_array, NDArray[np.int64], NDArray[np.int64]]:
    """Rows, owners and origins of the choices once target states are absorbing (origin -1) and others disabled."""
    kept = np.flatnonzero(enabled & ~target[mdp.choice_state])
    ends = np.flatnonzero(target)
    owner = np.concatenate([mdp.choice_state[kept], ends])
    origin = np.concatenate([kept, np.full(len(ends), -1)])
    order = np.argsort(owner, kind="stable")
    loops = csr_array((np.ones(len(ends)), (np.arange(len(ends)), ends)), shape=(len(ends), mdp.n_states))
    rows = vstack([mdp.transitions[kept], loops], format="csr")[order]
    return coo_array(rows), owner[order], origin[order]


def _path_entries(
    rows: coo_array, origin: NDArray[np.int64], steps: Steps, n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Transitions on the path: the next step goes on, or into ⊤ at the end; everything else deviates into ⊥."""
    entries: list[tuple[int, int, float]] = []
    for k, (_, choice, following) in enumerate(steps):
        (row,) = np.flatnonzero(origin == choice)
        for y, p in zip(rows.col[rows.row == row].tolist(), rows.data[rows.row == row].tolist(), strict=True):
            onward = n + y if k + 1 == len(steps) else 2 * n + k + 1
            entries.append((k, onward if y == following else y, p))
    k_, y_, p_ = zip(*entries, strict=True) if entries else ((), (), ())
    return np.array(k_, np.int64), np.array(y_, np.int64), np.array(p_, float)


def _restricted(mdp: MDP, kept: Mask) -> tuple[MDP, NDArray[np.int64]]:
    """Part of a model whose states are `kept`, which must be closed, and the choices that remain."""
    choices = np.flatnonzero(kept[mdp.choice_state])
    states = np.flatnonzero(kept)
    number = np.cumsum(kept) - 1
    rows = csr_array(mdp.transitions[choices][:, states])
    names = [mdp.states[x] for x in states]
    actions = [mdp.actions[c] for c in choices]
    return _model(rows, number[mdp.choice_state[choices]], names, actions, int(number[mdp.initial])), choices


def _model(
    rows: csr_array, owner: NDArray[np.int64], names: list[str], actions: list[str], initial: int
) -> MDP:
    rows.sort_indices()
    counts = np.bincount(owner, minlength=len(names))
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return MDP(rows, first, tuple(names), tuple(actions), initial, {})
