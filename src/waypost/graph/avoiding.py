"""One qualitative question for many states: can the target be reached only through a state, or only around it?

`waypost.importance.facts` asks it for one set of states in a few lines of set algebra; here it is asked for thousands
of single states `s`:

*some strategy* gets to `s` (or to the target) with positive probability and never to the other (all strategies), or
*some strategy* gets to it or a hopeless state with probability 1 and never to the other (optimal strategies).

States *lose* when every choice may lead to a losing state. Around `s`, `s` loses and drags others along; through `s`,
the target loses, but `s` no longer does, and some that lost because of it are saved. Both are small changes of what is
the same for all `s`: they are carried out, read off, and taken back, at a cost of what changed. Where probability 1 is
asked for, end components are merged (`quotient`): a strategy that does not lose then gets there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from waypost.graph.arrows import Graph
from waypost.graph.attractor import attract, options_of, release
from waypost.graph.compiled import in_parts, kernel
from waypost.graph.quotient import quotient
from waypost.graph.reach import confined, reachable, stay
from waypost.model.arrays import Ints, Mask

_MEETS, _AVOIDS, _GETS_AROUND = range(3)  # what `_around` finds


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

    `certainly` asks for a strategy that ends in the goal or a hopeless state with probability 1; it needs `enabled`
    choices by which every state has one that ends in the target or a hopeless state. No state is the start or hopeless.
    """
    if not len(states):
        return np.zeros(0, bool)
    if not certainly:
        if through:
            return _saved(graph, start, target, states, enabled)
        return np.asarray(_verdicts(graph, start, target, states, enabled) == _GETS_AROUND, bool)
    merged, place, wandering, _ = quotient(graph, inside=~target & ~hopeless, enabled=enabled)
    everything = np.ones(merged.n_choices, bool)
    ends = np.zeros(merged.n_states, bool)
    ends[place[target]] = True
    if through:
        answer = np.asarray(place[states] == place[start], bool)
        answer[~answer] = _saved(merged, place[start], ends, place[states[~answer]], everything)
        return answer
    answer = np.zeros(len(states), bool)
    alone = ~wandering[states]
    answer[alone] = _verdicts(merged, place[start], ends, place[states[alone]], everything) != _MEETS
    goal = target | hopeless
    answer[~alone] = _other_ways(graph, start, goal, states[~alone], enabled)
    return answer


def inevitable(graph: Graph, start: int, target: Mask, states: Ints, *, enabled: Mask) -> Mask:
    """(n,) whether *every* strategy meets each state with positive probability, before the target or on entering it."""
    return np.asarray(_verdicts(graph, start, target, states, enabled) == _MEETS, bool)


def _verdicts(graph: Graph, start: int, target: Mask, states: Ints, enabled: Mask) -> Ints:
    """(n,) what `_around` finds."""
    verdict = np.zeros(len(states), np.int64)
    pointer, choices = graph.backward

    def settle(run: Callable[..., None], part: slice) -> None:
        run(
            graph.first_choice, graph.indptr, graph.indices, pointer, choices, graph.choice_state, enabled, target,
            start, states[part], verdict[part],
        )  # fmt: skip

    in_parts(_around, settle, len(states), graph.size * (1 + len(states) / 4))
    return verdict


def _saved(graph: Graph, start: int, target: Mask, states: Ints, enabled: Mask) -> Mask:
    """(n,) whether the start gets to each state, and keeps away from the rest of the target."""
    safe, _ = stay(graph, ~target, enabled=enabled)
    here = np.zeros(graph.n_states, bool)
    here[start] = safe[start]
    staying = enabled.copy()
    staying[enabled] = np.logical_and.reduceat(safe[graph.indices], graph.indptr[:-1])[enabled] if len(enabled) else []
    near = reachable(graph, here, enabled=staying)
    found = near[states] & safe[states]
    outside = np.flatnonzero(~safe[states])
    answer = np.zeros(len(outside), bool)
    pointer, choices = graph.backward

    def settle(run: Callable[..., None], part: slice) -> None:
        run(
            graph.indptr, graph.indices, pointer, choices, graph.choice_state, enabled, target, safe, near, start,
            states[outside[part]], answer[part],
        )  # fmt: skip

    in_parts(_through, settle, len(outside), graph.size * (1 + len(outside) / 4))
    found[outside] = answer
    return found


def _other_ways(graph: Graph, start: int, goal: Mask, states: Ints, enabled: Mask) -> Mask:
    """(n,) whether the start gets to the rest of the goal with probability 1 without each state, which is no end.

    A strategy that does it without one state does it without every state that it never meets.
    """
    answer = np.zeros(len(states), bool)
    _without.sized(graph.size * (1 + len(states) / 4))(
        graph.first_choice, graph.indptr, graph.indices, *graph.backward, graph.choice_state, enabled, goal, start,
        states, answer,
    )  # fmt: skip
    return answer


@kernel
def _around(  # type: ignore[no-untyped-def]
    first_choice, indptr, indices, pointer, choices, choice_state, enabled, target, start, states, verdict
):
    """Let each state lose, see whether the start loses; if not, whether it still gets to the target."""
    n = len(target)
    options = options_of(choice_state, enabled, n)
    losing = np.zeros(len(choice_state), np.int64)
    lost = np.zeros(n, np.bool_)
    trail = np.empty(n, np.int64)
    seen = np.full(n, -1, np.int64)
    came = np.empty(n, np.int64)
    stack = np.empty(n, np.int64)
    path = np.empty(n, np.int64)  # choices of a path to the target
    steps = -1
    for k in range(len(states)):
        s = states[k]
        lost[s] = True
        trail[0] = s
        length, at = attract(pointer, choices, choice_state, enabled, losing, options, lost, trail, 1, start)
        if not lost[start]:
            verdict[k] = 1
            holds = steps >= 0
            for i in range(steps):
                if losing[path[i]] > 0:
                    holds = False
                    break
            if not holds:
                found = _walk(
                    first_choice, indptr, indices, choice_state, enabled, losing, target, start, s, k, seen, came,
                    stack, path,
                )  # fmt: skip
                if found >= 0:
                    steps = found
                    holds = True
            if holds:
                verdict[k] = 2
        release(pointer, choices, choice_state, enabled, losing, options, lost, trail, length, at)


@kernel
def _walk(  # type: ignore[no-untyped-def]
    first_choice, indptr, indices, choice_state, enabled, losing, target, start, s, mark, seen, came, stack, path
):
    """Lay a path from the start to a target state other than `s` by choices that lead to no loser; its length or -1."""
    seen[start] = mark
    came[start] = -1
    stack[0] = start
    top = 1
    while top > 0:
        top -= 1
        x = stack[top]
        if target[x] and x != s:
            length = 0
            while came[x] >= 0:
                path[length] = came[x]
                length += 1
                x = choice_state[came[x]]
            return length
        for c in range(first_choice[x], first_choice[x + 1]):
            if enabled[c] and losing[c] == 0:
                for e in range(indptr[c], indptr[c + 1]):
                    y = indices[e]
                    if seen[y] != mark:
                        seen[y] = mark
                        came[y] = c
                        stack[top] = y
                        top += 1
    return -1


@kernel
def _through(  # type: ignore[no-untyped-def]
    indptr, indices, pointer, choices, choice_state, enabled, target, safe, near, start, states, answer
):
    """Keep each state from losing, see whether that saves the start, or somebody next to where it may be.

    Losers are ranked: each choice of a loser leads to one of lower rank. Whoever has a choice that no longer does is
    taken for saved, then those are found out who still lose.
    """
    n = len(target)
    options = options_of(choice_state, enabled, n)
    losing = np.zeros(len(choice_state), np.int64)
    trail = np.empty(n, np.int64)
    again = np.empty(n, np.int64)
    saved = np.zeros(n, np.bool_)
    rank = _ranked(pointer, choices, choice_state, enabled, losing, options, target, safe, trail)
    support = _supported(indptr, indices, choice_state, enabled, rank)
    for k in range(len(states)):
        s = states[k]
        length = _save(pointer, choices, choice_state, enabled, losing, options, rank, support, saved, trail, s)
        _lose_again(pointer, choices, choice_state, enabled, losing, options, saved, trail, length, again)
        answer[k] = saved[start] or _next_to(
            pointer, choices, choice_state, enabled, losing, near, saved, trail, length
        )
        _take_back(pointer, choices, choice_state, enabled, losing, options, rank, support, saved, trail, length)


@kernel
def _ranked(pointer, choices, choice_state, enabled, losing, options, target, safe, trail):  # type: ignore[no-untyped-def]
    """(S,) when each state lost, or -1: each choice of a loser leads to one that lost before."""
    n = len(target)
    lost = np.zeros(n, np.bool_)
    length = 0
    for x in range(n):
        if not safe[x] and (target[x] or options[x] == 0):
            lost[x] = True
            trail[length] = x
            length += 1
    length, _ = attract(pointer, choices, choice_state, enabled, losing, options, lost, trail, length, -1)
    rank = np.full(n, -1, np.int64)
    for i in range(length):
        rank[trail[i]] = i
    return rank


@kernel
def _supported(indptr, indices, choice_state, enabled, rank):  # type: ignore[no-untyped-def]
    """(C,) by how many successors of lower rank each choice of a loser loses."""
    support = np.zeros(len(choice_state), np.int64)
    for c in range(len(choice_state)):
        x = choice_state[c]
        if enabled[c] and rank[x] >= 0:
            for e in range(indptr[c], indptr[c + 1]):
                if 0 <= rank[indices[e]] < rank[x]:
                    support[c] += 1
    return support


@kernel
def _save(pointer, choices, choice_state, enabled, losing, options, rank, support, saved, trail, s):  # type: ignore[no-untyped-def]
    """Take `s` for saved, and whoever has a choice without support then; how many, on the trail."""
    saved[s] = True
    trail[0] = s
    length = 1
    at = 0
    while at < length:
        y = trail[at]
        at += 1
        for e in range(pointer[y], pointer[y + 1]):
            c = choices[e]
            if enabled[c]:
                x = choice_state[c]
                losing[c] -= 1
                if losing[c] == 0:
                    options[x] += 1
                if rank[y] < rank[x]:
                    support[c] -= 1
                    if support[c] == 0 and not saved[x]:
                        saved[x] = True
                        trail[length] = x
                        length += 1
    return length


@kernel
def _lose_again(pointer, choices, choice_state, enabled, losing, options, saved, trail, length, again):  # type: ignore[no-untyped-def]
    """Find out who on the trail, but for its first, loses all the same: nobody is left there, or only losers are."""
    top = 0
    for i in range(1, length):
        if options[trail[i]] == 0:
            saved[trail[i]] = False
            again[top] = trail[i]
            top += 1
    while top > 0:
        top -= 1
        y = again[top]
        for e in range(pointer[y], pointer[y + 1]):
            c = choices[e]
            if enabled[c]:
                x = choice_state[c]
                losing[c] += 1
                if losing[c] == 1:
                    options[x] -= 1
                    if options[x] == 0 and saved[x] and x != trail[0]:
                        saved[x] = False
                        again[top] = x
                        top += 1


@kernel
def _next_to(pointer, choices, choice_state, enabled, losing, near, saved, trail, length):  # type: ignore[no-untyped-def]
    """Whether somebody `near` has a choice that leads to one who was saved, and to no loser."""
    for i in range(length):
        y = trail[i]
        if saved[y]:
            for e in range(pointer[y], pointer[y + 1]):
                c = choices[e]
                if enabled[c] and losing[c] == 0 and near[choice_state[c]]:
                    return True
    return False


@kernel
def _take_back(pointer, choices, choice_state, enabled, losing, options, rank, support, saved, trail, length):  # type: ignore[no-untyped-def]
    """Let everybody on the trail lose as before."""
    for i in range(length):
        y = trail[i]
        for e in range(pointer[y], pointer[y + 1]):
            c = choices[e]
            if enabled[c]:
                x = choice_state[c]
                if rank[y] < rank[x]:
                    support[c] += 1
                if saved[y]:
                    losing[c] += 1
                    if losing[c] == 1:
                        options[x] -= 1
        saved[y] = False


@kernel
def _without(  # type: ignore[no-untyped-def]
    first_choice, indptr, indices, pointer, choices, choice_state, enabled, goal, start, states, answer
):
    """Find strategies around one state after the other; each answers for all that it does not meet."""
    n = len(goal)
    blocked = goal.copy()
    distance = np.empty(n, np.int64)
    nearer = np.empty(n, np.int64)
    met = np.empty(n, np.bool_)
    stack = np.empty(n, np.int64)
    for k in range(len(states)):
        if answer[k]:
            continue
        blocked[states[k]] = True
        if confined(pointer, choices, choice_state, enabled, goal, blocked, start, distance, nearer):
            met[:] = False
            met[start] = True
            stack[0] = start
            top = 1
            while top > 0:
                top -= 1
                c = nearer[stack[top]]
                if c >= 0:
                    for e in range(indptr[c], indptr[c + 1]):
                        if not met[indices[e]]:
                            met[indices[e]] = True
                            stack[top] = indices[e]
                            top += 1
            for j in range(k, len(states)):
                if not met[states[j]]:
                    answer[j] = True
        blocked[states[k]] = False
