"""One qualitative question for many states: can the target be reached only through a state, or only around it?

`waypost.importance.facts` asks it for one set of states in a few lines of set algebra; here it is asked for thousands
of single states in compiled loops. With ``bad`` and ``goal`` the two roles of the state `s` and the rest of the
target:

*some strategy* gets from the start to ``goal`` with positive probability and never to ``bad`` (all strategies), or
*some strategy* gets to ``goal`` or a hopeless state with probability 1 and never to ``bad`` (optimal strategies).
"""

from __future__ import annotations

import numpy as np

from waypost.graph.arrows import Graph, Ints, Mask
from waypost.graph.compiled import kernel
from waypost.graph.reach import confined


def only_one_way(
    graph: Graph,
    start: int,
    target: Mask,
    states: Ints,
    *,
    hopeless: Mask,
    enabled: Mask,
    through: bool,
    certainly: bool,
) -> Mask:
    """(n,) whether some strategy reaches the target only `through` each state, or only around it.

    `certainly` asks for a strategy that ends in the goal or a hopeless state with probability 1.
    """
    answer = np.zeros(len(states), bool)
    if not len(states):
        return answer
    pointer, choices = graph.backward
    kind = _almost_surely if certainly else _at_all
    kind.sized(graph.size * len(states))(
        graph.first_choice, graph.indptr, graph.indices, pointer, choices, graph.choice_state, enabled, target,
        hopeless, start, states, through, answer,
    )  # fmt: skip
    return answer


@kernel
def _at_all(  # type: ignore[no-untyped-def]
    first_choice, indptr, indices, pointer, choices, choice_state, enabled, target, hopeless, start, states,
    through, answer,
):  # fmt: skip
    n = len(target)
    enabled_options = np.zeros(n, np.int64)
    for c in range(len(choice_state)):
        if enabled[c]:
            enabled_options[choice_state[c]] += 1
    options = np.empty(n, np.int64)
    broken = np.empty(len(choice_state), np.bool_)
    lost = np.empty(n, np.bool_)  # cannot keep away from bad
    seen = np.empty(n, np.bool_)
    stack = np.empty(n, np.int64)
    for k in range(len(states)):
        s = states[k]
        options[:] = enabled_options
        broken[:] = False
        lost[:] = False
        top = 0
        if through:
            for x in range(n):
                if target[x] and x != s:
                    lost[x] = True
                    stack[top] = x
                    top += 1
        else:
            lost[s] = True
            stack[top] = s
            top += 1
        while top > 0 and not lost[start]:
            top -= 1
            y = stack[top]
            for e in range(pointer[y], pointer[y + 1]):
                c = choices[e]
                if enabled[c] and not broken[c]:
                    broken[c] = True
                    x = choice_state[c]
                    options[x] -= 1
                    if options[x] == 0 and not lost[x] and not hopeless[x] and x != s and not target[x]:
                        lost[x] = True
                        stack[top] = x
                        top += 1
        if lost[start]:
            continue
        seen[:] = False
        seen[start] = True
        stack[0] = start
        top = 1
        while top > 0:  # walk by choices that are not broken
            top -= 1
            x = stack[top]
            if (through and x == s) or (not through and target[x] and x != s):
                answer[k] = True
                break
            if x == s or target[x] or hopeless[x]:
                continue
            for c in range(first_choice[x], first_choice[x + 1]):
                if enabled[c] and not broken[c]:
                    for e in range(indptr[c], indptr[c + 1]):
                        y = indices[e]
                        if not seen[y]:
                            seen[y] = True
                            stack[top] = y
                            top += 1


@kernel
def _almost_surely(  # type: ignore[no-untyped-def]
    first_choice, indptr, indices, pointer, choices, choice_state, enabled, target, hopeless, start, states,
    through, answer,
):  # fmt: skip
    n = len(target)
    goal = np.empty(n, np.bool_)
    blocked = np.empty(n, np.bool_)
    distance = np.empty(n, np.int64)
    nearer = np.empty(n, np.int64)
    for k in range(len(states)):
        s = states[k]
        for x in range(n):
            goal[x] = hopeless[x] and not target[x]
            blocked[x] = target[x]
            if not through and target[x]:
                goal[x] = True
        goal[s] = through
        blocked[s] = True
        answer[k] = confined(pointer, choices, choice_state, enabled, goal, blocked, start, distance, nearer)
