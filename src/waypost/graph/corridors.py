"""Corridors: states that the same runs pass.

A *corridor* is a state with one choice that certainly leads to one other state, which is entered from nowhere else:
whoever is in the one is in the other next, and was in the first before.
"""

from __future__ import annotations

import numpy as np

from waypost.graph.arrows import Graph
from waypost.graph.compiled import kernel
from waypost.model.arrays import Ints, Mask


def corridors(graph: Graph, apart: Mask, alive: Mask) -> tuple[Ints, Ints]:
    """(S,) the first state of each state's corridors, and of a first one the last; of any other state itself.

    Only states that are `alive`, reached by runs, count; those `apart` are entered by no corridor. The start must be
    one of these: then no corridor closes a circle.

    >>> from waypost.model import MDP
    >>> mdp = MDP.from_dict({"a": {"go": "b"}, "b": {"go": "c", "stop": "d"}, "c": {}, "d": {}}, initial="a")
    >>> first, last = corridors(Graph.of(mdp), mdp.where("a"), ~mdp.where("d"))
    >>> first.tolist(), last.tolist()
    ([0, 0, 2, 3], [1, 1, 2, 3])
    """
    first, last = np.arange(graph.n_states), np.arange(graph.n_states)
    run = _follow.sized(2 * graph.size)
    run(graph.first_choice, graph.indptr, graph.indices, apart, alive, first, last)
    return first, last


@kernel
def _follow(first_choice, indptr, indices, apart, alive, first, last) -> None:  # type: ignore[no-untyped-def]
    n = len(alive)
    nobody = -1
    several = -2
    came = np.full(n, nobody)  # the one state that each is entered from
    for x in range(n):
        if alive[x]:
            for e in range(indptr[first_choice[x]], indptr[first_choice[x + 1]]):
                y = indices[e]
                if came[y] == nobody:
                    came[y] = x
                elif came[y] != x:
                    came[y] = several
    leads = np.full(n, nobody)
    entered = np.zeros(n, np.bool_)  # by a corridor
    for x in range(n):
        c = first_choice[x]
        if alive[x] and first_choice[x + 1] - c == 1 and indptr[c + 1] - indptr[c] == 1:
            y = indices[indptr[c]]
            if y != x and came[y] == x and alive[y] and not apart[y]:
                leads[x] = y
                entered[y] = True
    for x in range(n):
        if not entered[x]:
            y = x
            while leads[y] >= 0:
                y = leads[y]
                first[y] = x
            last[x] = y
