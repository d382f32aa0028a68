"""Qualitative reachability: who can, who must, who never gets there.

Baier and Katoen, *Principles of Model Checking*, Sect. 10.6.1. Over all strategies of an MDP and a target ``T``::

    vmax(x) = 0   x in prob0a(T): no strategy gets there
    vmin(x) = 0   x in prob0e(T): some strategy avoids T for ever
    vmax(x) = 1   x in prob1e(T): some strategy certainly gets there
    vmin(x) = 1   x in prob1a(T): every strategy does

The letters say for how many strategies: *A*ll, or one that *E*xists.
"""

from __future__ import annotations

import numpy as np

from waypost.graph.arrows import Graph
from waypost.graph.attractor import attract, options_of, release
from waypost.graph.compiled import kernel
from waypost.model.arrays import Ints, Mask


def reachable(graph: Graph, start: Mask, *, blocked: Mask | None = None, enabled: Mask | None = None) -> Mask:
    """States that some strategy visits from `start`; `blocked` states are entered but not left.

    >>> from waypost.cases import loan
    >>> mdp = loan()
    >>> found = reachable(Graph.of(mdp), mdp.where("Rework"))
    >>> [mdp.states[s] for s in np.flatnonzero(found)]
    ['Rework', 'Resubmit', 'Granted', 'Rejected']
    """
    seen = start.copy()
    blocked = np.zeros(graph.n_states, bool) if blocked is None else blocked
    enabled = graph.everything if enabled is None else enabled
    _forward.sized(graph.size)(graph.first_choice, graph.indptr, graph.indices, enabled, blocked, seen)
    return seen


def can_reach(graph: Graph, goal: Mask, *, blocked: Mask | None = None, enabled: Mask | None = None) -> Mask:
    """States from which some strategy reaches `goal` with positive probability, not passing `blocked` before."""
    return distances(graph, goal, blocked=blocked, enabled=enabled)[0] >= 0


def distances(
    graph: Graph, goal: Mask, *, blocked: Mask | None = None, enabled: Mask | None = None
) -> tuple[Ints, Ints]:
    """(S,) least number of steps to `goal` or -1, and (S,) a choice that gets one step nearer or -1."""
    blocked = np.zeros(graph.n_states, bool) if blocked is None else blocked & ~goal
    enabled = graph.everything if enabled is None else enabled
    pointer, choices = graph.backward
    distance = np.where(goal, 0, -1)
    nearer = np.full(graph.n_states, -1, np.int64)
    run = _backward.sized(graph.size)
    run(pointer, choices, graph.choice_state, enabled, blocked, distance, nearer)
    return distance, nearer


def stay(
    graph: Graph, inside: Mask, *, absorbing: Mask | None = None, enabled: Mask | None = None
) -> tuple[Mask, Ints]:
    """Greatest part of `inside` that some strategy never leaves, and (S,) a choice that stays, or -1.

    States in `absorbing` need no choice to stay.

    >>> from waypost.cases import loan
    >>> mdp = loan()
    >>> kept, _ = stay(Graph.of(mdp), ~mdp.where("Granted"))
    >>> [mdp.states[s] for s in np.flatnonzero(~kept)]  # whoever applies without a choice may be granted the loan
    ['Application', 'Application+', 'Resubmit', 'Granted']
    """
    kept = inside.copy()
    absorbing = np.zeros(graph.n_states, bool) if absorbing is None else absorbing
    enabled = graph.everything if enabled is None else enabled
    staying = np.full(graph.n_states, -1, np.int64)
    run = _shrink.sized(graph.size)
    run(graph.first_choice, *graph.backward, graph.choice_state, enabled, absorbing, kept, staying)
    return kept, staying


def prob0a(graph: Graph, goal: Mask, *, enabled: Mask | None = None) -> Mask:
    """States from which *every* strategy reaches `goal` with probability 0."""
    return ~can_reach(graph, goal, enabled=enabled)


def prob0e(graph: Graph, goal: Mask, *, enabled: Mask | None = None) -> tuple[Mask, Ints]:
    """States from which *some* strategy reaches `goal` with probability 0, and (S,) its choice there, or -1."""
    return stay(graph, ~goal, enabled=enabled)


def prob1e(graph: Graph, goal: Mask, *, enabled: Mask | None = None) -> tuple[Mask, Ints]:
    """States from which *some* strategy reaches `goal` with probability 1, and (S,) its choice there, or -1."""
    enabled = graph.everything if enabled is None else enabled
    pointer, choices = graph.backward
    distance = np.empty(graph.n_states, np.int64)
    nearer = np.empty(graph.n_states, np.int64)
    nowhere = np.zeros(graph.n_states, bool)
    run = confined.sized(2 * graph.size)
    run(pointer, choices, graph.choice_state, enabled, goal, nowhere, -1, distance, nearer)
    return distance >= 0, nearer


def prob1a(graph: Graph, goal: Mask, *, enabled: Mask | None = None) -> Mask:
    """States from which *every* strategy reaches `goal` with probability 1."""
    avoids, _ = prob0e(graph, goal, enabled=enabled)
    return ~can_reach(graph, avoids, blocked=goal, enabled=enabled)


@kernel
def _forward(first_choice, indptr, indices, enabled, blocked, seen):  # type: ignore[no-untyped-def]
    n = len(seen)
    stack = np.empty(n, np.int64)
    top = 0
    for s in range(n):
        if seen[s]:
            stack[top] = s
            top += 1
    while top > 0:
        top -= 1
        s = stack[top]
        if blocked[s]:
            continue
        for c in range(first_choice[s], first_choice[s + 1]):
            if enabled[c]:
                for e in range(indptr[c], indptr[c + 1]):
                    y = indices[e]
                    if not seen[y]:
                        seen[y] = True
                        stack[top] = y
                        top += 1


@kernel
def _backward(pointer, choices, choice_state, enabled, blocked, distance, nearer):  # type: ignore[no-untyped-def]
    """Lay distances to where they are 0, not through `blocked` states."""
    n = len(distance)
    queue = np.empty(n, np.int64)
    head = 0
    tail = 0
    for s in range(n):
        if distance[s] == 0:
            queue[tail] = s
            tail += 1
    while head < tail:
        y = queue[head]
        head += 1
        for e in range(pointer[y], pointer[y + 1]):
            c = choices[e]
            x = choice_state[c]
            if enabled[c] and distance[x] < 0 and not blocked[x]:
                distance[x] = distance[y] + 1
                nearer[x] = c
                queue[tail] = x
                tail += 1


@kernel
def confined(  # type: ignore[no-untyped-def]
    pointer, choices, choice_state, enabled, goal, blocked, start, distance, nearer
) -> bool:
    """Lay distances to `goal` by choices that never lead to where it cannot be reached so; -1 there.

    Gives up, False, once `start` cannot reach it.
    """
    n = len(goal)
    usable = enabled.copy()
    options = options_of(choice_state, enabled, n)
    gone = np.zeros(n, np.bool_)
    stack = np.empty(n, np.int64)
    top = 0
    for x in range(n):
        if not goal[x] and (blocked[x] or options[x] == 0):
            gone[x] = True
            stack[top] = x
            top += 1
    while True:
        _draw_in(pointer, choices, choice_state, goal, usable, options, gone, stack, top)
        if start >= 0 and gone[start]:
            return False
        for x in range(n):
            distance[x] = 0 if goal[x] else -1
            nearer[x] = -1
        _backward(pointer, choices, choice_state, usable, blocked, distance, nearer)
        if start >= 0 and distance[start] < 0:
            return False
        top = 0
        for y in range(n):
            if distance[y] < 0 and not gone[y]:
                gone[y] = True
                stack[top] = y
                top += 1
        if top == 0:
            return True


@kernel
def _draw_in(pointer, choices, choice_state, goal, usable, options, gone, stack, top) -> None:  # type: ignore[no-untyped-def]
    """Take away the choices that may lead to somebody on the stack, and put there who is left without one."""
    while top > 0:
        top -= 1
        y = stack[top]
        for e in range(pointer[y], pointer[y + 1]):
            c = choices[e]
            if usable[c]:
                usable[c] = False
                x = choice_state[c]
                options[x] -= 1
                if options[x] == 0 and not goal[x] and not gone[x]:
                    gone[x] = True
                    stack[top] = x
                    top += 1


@kernel
def _shrink(first_choice, pointer, choices, choice_state, enabled, absorbing, kept, staying):  # type: ignore[no-untyped-def]
    """Take out whoever is drawn out of `kept`, and find everybody else a choice."""
    n = len(kept)
    losing = np.zeros(len(choice_state), np.int64)
    options = options_of(choice_state, enabled, n)
    lost = np.zeros(n, np.bool_)
    trail = np.empty(n, np.int64)
    length = 0
    for s in range(n):
        if absorbing[s]:
            options[s] += 1  # to stay
        if not kept[s] or options[s] == 0:
            lost[s] = True
            trail[length] = s
            length += 1
    attract(pointer, choices, choice_state, enabled, losing, options, lost, trail, length, -1)
    for s in range(n):
        kept[s] = not lost[s]
        if kept[s]:
            for c in range(first_choice[s], first_choice[s + 1]):
                if enabled[c] and losing[c] == 0:
                    staying[s] = c
                    break


def idle_without(graph: Graph, idle: Mask, removed: Ints, kept: Ints) -> Mask:
    """(n, k) whether each `kept` state can stay in `idle` for ever once one `removed` state is taken out of it."""
    still = np.zeros((len(removed), len(kept)), bool)
    run = _idle_without.sized(graph.size * (1 + len(removed) / 4))
    run(graph.indptr, graph.indices, *graph.backward, graph.choice_state, graph.everything, idle, removed, kept, still)
    return still


@kernel
def _idle_without(indptr, indices, pointer, choices, choice_state, enabled, idle, removed, kept, still):  # type: ignore[no-untyped-def]
    n = len(idle)
    losing = np.zeros(len(choice_state), np.int64)
    options = np.zeros(n, np.int64)
    for c in range(len(choice_state)):
        for e in range(indptr[c], indptr[c + 1]):
            if not idle[indices[e]]:
                losing[c] += 1
        if losing[c] == 0:
            options[choice_state[c]] += 1
    lost = ~idle
    trail = np.empty(n, np.int64)
    for k in range(len(removed)):
        lost[removed[k]] = True
        trail[0] = removed[k]
        length, at = attract(pointer, choices, choice_state, enabled, losing, options, lost, trail, 1, -1)
        for j in range(len(kept)):
            still[k, j] = not lost[kept[j]]
        release(pointer, choices, choice_state, enabled, losing, options, lost, trail, length, at)
