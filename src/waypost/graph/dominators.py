"""Indispensable states: those on every path from the initial state to the target."""

from __future__ import annotations

import numpy as np

from waypost.graph.arrows import Graph
from waypost.graph.compiled import kernel
from waypost.graph.reach import distances
from waypost.model.arrays import Ints, Mask


def dominators(graph: Graph, start: int, goal: Mask, *, enabled: Mask | None = None) -> Mask:
    """States that every path from `start` to `goal` passes before or on entering `goal`.

    One shortest path is laid; a state of it is indispensable iff no detour leads from before it to behind it. Detours
    are explored in path order, each edge once. A goal state counts when the goal can only be entered there. All False
    when `goal` cannot be reached.

    >>> from waypost.cases import loan
    >>> mdp = loan()
    >>> found = dominators(Graph.of(mdp), mdp.initial, mdp.where("Granted"))
    >>> [mdp.states[s] for s in np.flatnonzero(found)]
    ['s0', 'Application+', 'Granted']
    """
    enabled = graph.everything if enabled is None else enabled
    distance, nearer = distances(graph, goal, enabled=enabled)
    found = np.zeros(graph.n_states, bool)
    if distance[start] < 0:
        return found
    path = _path(graph, start, distance, nearer)
    place = np.full(graph.n_states, -1, np.int64)
    place[path] = np.arange(len(path))
    run = _detours.sized(graph.size)
    run(graph.first_choice, graph.indptr, graph.indices, enabled, goal, path, place, found)
    return found


def _path(graph: Graph, start: int, distance: Ints, nearer: Ints) -> Ints:
    """Follow the choices that get nearer, to the first goal state."""
    path = [start]
    while distance[path[-1]] > 0:
        choice = nearer[path[-1]]
        successors = graph.indices[graph.indptr[choice] : graph.indptr[choice + 1]]
        known = successors[distance[successors] >= 0]
        path.append(int(known[np.argmin(distance[known])]))
    return np.array(path, np.int64)


@kernel
def _detours(first_choice, indptr, indices, enabled, goal, path, place, found):  # type: ignore[no-untyped-def]
    n = len(goal)
    seen = np.zeros(n, np.bool_)
    stack = np.empty(n, np.int64)
    last = len(path) - 1
    furthest = 0  # the greatest place on the path reached so far; last + 1 stands for another goal state
    for i in range(len(path)):
        if furthest == i:
            found[path[i]] = True
        if furthest > last:
            return
        if i == last:
            return
        top = 1
        stack[0] = path[i]
        while top > 0:
            top -= 1
            x = stack[top]
            for c in range(first_choice[x], first_choice[x + 1]):
                if not enabled[c]:
                    continue
                for e in range(indptr[c], indptr[c + 1]):
                    y = indices[e]
                    if place[y] >= 0:
                        furthest = max(furthest, place[y])
                    elif goal[y]:
                        furthest = last + 1
                    elif not seen[y]:
                        seen[y] = True
                        stack[top] = y
                        top += 1
