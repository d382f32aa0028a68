"""Strongly connected components and maximal end components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from waypost.graph.arrows import Graph, turned
from waypost.graph.attractor import options_of
from waypost.graph.compiled import kernel
from waypost.model.arrays import Ints, Mask


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
    inner = (graph.everything if enabled is None else enabled).copy()
    if inside is not None:
        inner &= inside[graph.choice_state]
    component = np.empty(graph.n_states, np.int64)
    run = stay_in_ends.sized(10 * graph.size)
    run(graph.first_choice, graph.indptr, graph.indices, *graph.backward, graph.choice_state, inner, component)
    _, compact = np.unique(np.concatenate([[-1], component]), return_inverse=True)
    return compact[1:] - 1, inner


def leaders(number: Ints) -> Ints:
    """(S,) one state for each numbered set, the same for all of its states; and each state of none (-1) itself.

    >>> leaders(np.array([1, 1, -1, 0, 1])).tolist()
    [0, 0, 2, 3, 0]
    """
    some = np.flatnonzero(number >= 0)
    _, first, which = np.unique(number[some], return_index=True, return_inverse=True)
    leader = np.arange(len(number))
    leader[some] = some[first][which]
    return leader


@kernel
def stay_in_ends(first_choice, indptr, indices, pointer, choices, choice_state, inner, component) -> None:  # type: ignore[no-untyped-def]
    """Leave of the choices in `inner` those that stay in an end component, and number these; -1 is none."""
    n = len(component)
    members = np.empty(n, np.int64)
    trail = np.empty(n, np.int64)
    settled = False
    while not settled:
        component[:] = -1
        _tarjan(first_choice, indptr, indices, inner, members, component)
        settled = True
        for c in range(len(inner)):
            if inner[c]:
                for e in range(indptr[c], indptr[c + 1]):
                    if component[indices[e]] != component[choice_state[c]]:
                        inner[c] = False
                        settled = False
                        break
        options = options_of(choice_state, inner, n)
        length = 0
        for x in range(n):
            if options[x] == 0:
                trail[length] = x
                length += 1
        at = 0
        while at < length:  # whoever must leave draws others along: at once, or a long chain would go one by one
            y = trail[at]
            at += 1
            for e in range(pointer[y], pointer[y + 1]):
                c = choices[e]
                if inner[c]:
                    inner[c] = False
                    settled = False
                    options[choice_state[c]] -= 1
                    if options[choice_state[c]] == 0:
                        trail[length] = choice_state[c]
                        length += 1
    for i in range(length):
        component[trail[i]] = -1


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


@kernel
def send_towards(state, block, first_choice, indptr, indices, enabled, leader, choice) -> None:  # type: ignore[no-untyped-def]
    """Let every other state of an end component that lies in a block take a choice that stays there and gets to one."""
    me = leader[state]
    near = np.zeros(len(leader), np.bool_)
    near[state] = True
    found = True
    k = 0
    while found:
        found = False
        for i in range(len(block)):
            x = block[i] if k % 2 == 0 else block[len(block) - 1 - i]
            if leader[x] == me and not near[x]:
                for c in range(first_choice[x], first_choice[x + 1]):
                    inner = enabled[c]
                    nearer = False
                    for e in range(indptr[c], indptr[c + 1]):
                        inner &= leader[indices[e]] == me
                        nearer |= near[indices[e]]
                    if inner and nearer:
                        choice[x] = c
                        near[x] = True
                        found = True
                        break
        k += 1


@kernel
def lead_ends(block, first_choice, indptr, indices, enabled, place, leader) -> bool:  # type: ignore[no-untyped-def]
    """Let one state of every end component within a block stand for it, its `leader`; whether any leads others.

    `place` is -1 everywhere, before and after. It takes a time that depends on the block alone.
    """
    n = len(block)
    place[block] = np.arange(n)
    rows, steps = 0, 0
    for x in block:
        rows += first_choice[x + 1] - first_choice[x]
        steps += indptr[first_choice[x + 1]] - indptr[first_choice[x]]
    first = np.zeros(n + 1, np.int64)
    start = np.zeros(rows + 1, np.int64)
    goal = np.empty(steps, np.int64)
    owner = np.empty(rows, np.int64)
    rows, steps = 0, 0
    for i in range(n):
        for c in range(first_choice[block[i]], first_choice[block[i] + 1]):
            inner = enabled[c]
            for e in range(indptr[c], indptr[c + 1]):
                inner &= place[indices[e]] >= 0
            if inner:
                for e in range(indptr[c], indptr[c + 1]):
                    goal[steps] = place[indices[e]]
                    steps += 1
                owner[rows] = i
                rows += 1
                start[rows] = steps
        first[i + 1] = rows
    place[block] = -1
    start, goal, owner = start[: rows + 1], goal[:steps], owner[:rows]
    pointer, choices = turned(n, start, goal)
    component = np.empty(n, np.int64)
    stay_in_ends(first, start, goal, pointer, choices, owner, np.ones(rows, np.bool_), component)
    head = np.full(n, -1, np.int64)
    led = False
    for i in range(n):
        if component[i] >= 0:
            if head[component[i]] < 0:
                head[component[i]] = block[i]
            leader[block[i]] = head[component[i]]
            led |= leader[block[i]] != block[i]
    return led
