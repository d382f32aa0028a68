"""Strongly connected components and maximal end components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from waypost.graph.arrows import Graph, Ints, Mask
from waypost.graph.compiled import kernel
from waypost.graph.reach import stay


@dataclass(frozen=True, eq=False)
class Components:
    """Strongly connected components in reverse topological order: successors come first."""

    pointer: Ints  # (K + 1,)
    members: Ints  # (S,) states of component k: members[pointer[k] : pointer[k + 1]]
    component: Ints  # (S,) component of each state

    def __len__(self) -> int:
        return len(self.pointer) - 1


def strong_components(graph: Graph, *, enabled: Mask | None = None) -> Components:
    """Strongly connected components of the graph (Tarjan), successors first.

    >>> from waypost.model import MDP
    >>> mdp = MDP.from_dict({"a": {"go": "b"}, "b": {"back": "a", "on": "c"}, "c": {}}, initial="a")
    >>> found = strong_components(Graph.of(mdp))
    >>> [found.members[i:j].tolist() for i, j in zip(found.pointer, found.pointer[1:])]
    [[2], [1, 0]]
    """
    enabled = graph.everything if enabled is None else enabled
    members = np.empty(graph.n_states, np.int64)
    component = np.full(graph.n_states, -1, np.int64)
    run = _tarjan.sized(3 * graph.size)
    pointer = run(graph.first_choice, graph.indptr, graph.indices, enabled, members, component)
    return Components(pointer, members, component)


def end_components(graph: Graph, *, inside: Mask | None = None, enabled: Mask | None = None) -> tuple[Ints, Mask]:
    """Maximal end components: (S,) the number of each state's or -1, and (C,) the choices that stay in theirs.

    An end component is a set of states with choices that never leave it and connect it; a strategy may stay for ever.

    >>> from waypost.model import MDP
    >>> mdp = MDP.from_dict({"a": {"go": "b"}, "b": {"back": "a", "on": "c"}, "c": {}}, initial="a")
    >>> found, inner = end_components(Graph.of(mdp))
    >>> found.tolist(), [mdp.actions[c] for c in np.flatnonzero(inner)]
    ([0, 0, 1], ['go', 'back', '(final)'])
    """
    owner = graph.choice_state
    inner = (graph.everything if enabled is None else enabled).copy()
    alive = np.ones(graph.n_states, bool) if inside is None else inside.copy()
    inner &= alive[owner]
    while True:
        parts = strong_components(graph, enabled=inner)
        number = np.where(alive, parts.component, -1)
        # a choice stays if all its successors are alive and in its owner's component
        same = number[graph.indices] == np.repeat(number[owner], np.diff(graph.indptr))
        stays = inner & np.logical_and.reduceat(same, graph.indptr[:-1]) & (number[owner] >= 0)
        has_choice = np.zeros(graph.n_states, bool)
        has_choice[owner[stays]] = True
        if (stays == inner).all() and (has_choice == alive).all():
            break
        # whoever must leave drags others along: all of them go at once, or a long chain would go state by state
        alive, _ = stay(graph, alive & has_choice, enabled=stays)
        inner = stays & alive[owner] & np.logical_and.reduceat(alive[graph.indices], graph.indptr[:-1])
    _, compact = np.unique(np.concatenate([[-1], number]), return_inverse=True)
    return compact[1:] - 1, inner


@kernel
def _tarjan(first_choice, indptr, indices, enabled, members, component):  # type: ignore[no-untyped-def]
    n = len(component)
    number = np.full(n, -1, np.int64)  # order of discovery
    low = np.zeros(n, np.int64)
    stack = np.empty(n, np.int64)  # discovered, in no component yet
    call = np.empty(n, np.int64)  # states being explored
    next_choice = first_choice[:n].copy()
    next_edge = np.empty(n, np.int64)
    pointer = np.zeros(n + 1, np.int64)
    found = 0
    filled = 0
    top = 0
    counter = 0
    for root in range(n):
        if number[root] >= 0:
            continue
        depth = -1
        entered = root
        while True:
            if entered >= 0:
                depth += 1
                call[depth] = entered
                number[entered] = counter
                low[entered] = counter
                counter += 1
                stack[top] = entered
                top += 1
                next_edge[entered] = indptr[first_choice[entered]]
            x = call[depth]
            entered = _undiscovered(
                x, first_choice, indptr, indices, enabled, number, low, component, next_choice, next_edge
            )
            if entered >= 0:
                continue
            if low[x] == number[x]:  # x is the root of a component
                while True:
                    top -= 1
                    y = stack[top]
                    component[y] = found
                    members[filled] = y
                    filled += 1
                    if y == x:
                        break
                found += 1
                pointer[found] = filled
            depth -= 1
            if depth < 0:
                break
            low[call[depth]] = min(low[call[depth]], low[x])
    return pointer[: found + 1].copy()


@kernel
def _undiscovered(x, first_choice, indptr, indices, enabled, number, low, component, next_choice, next_edge):  # type: ignore[no-untyped-def]
    """Next successor of `x` that is not discovered, or -1; those on the stack lower its `low` on the way."""
    while next_choice[x] < first_choice[x + 1]:
        c = next_choice[x]
        if not enabled[c] or next_edge[x] == indptr[c + 1]:
            next_choice[x] = c + 1
            if c + 1 < first_choice[x + 1]:
                next_edge[x] = indptr[c + 1]
            continue
        y = indices[next_edge[x]]
        next_edge[x] += 1
        if number[y] < 0:
            return y
        if component[y] < 0:  # on the stack
            low[x] = min(low[x], number[y])
    return -1
