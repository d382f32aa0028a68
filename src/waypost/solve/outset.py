"""How a lane (`lanes`) takes up a state: what is decided there, who may stop, and the strategy to begin with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from waypost.graph import Ints, Mask
from waypost.graph.compiled import kernel
from waypost.solve.remaining import HIGHEST, LEAST_VIA, LOWEST, MOST_VIA
from waypost.solve.factors import DECIDED


class Idling(NamedTuple):
    """Where a lane may stop: what `begin` changes for a while and puts back."""

    inside: Mask  # (S,) where the target can be avoided for ever
    outside: Ints  # (C,) successors of each choice that are not
    options: Ints  # (S,) choices of each state that stay inside
    nearer: Ints  # (S,) room: a choice that gets nearer to the state asked about, or -1
    trail: Ints  # (S,) room


@kernel
def blank_idling(course) -> Any:  # type: ignore[no-untyped-def]
    """Where lanes may stop if they need no state for it."""
    outside = np.zeros(len(course.choice_state), np.int64)
    options = np.zeros(len(course.most), np.int64)
    for c in range(len(course.choice_state)):
        for e in range(course.indptr[c], course.indptr[c + 1]):
            if not course.idle[course.indices[e]]:
                outside[c] += 1
        if outside[c] == 0:
            options[course.choice_state[c]] += 1
    return Idling(course.idle.copy(), outside, options, np.empty_like(options), np.empty_like(options))


@kernel
def begin(w, s, course, lanes, idling) -> None:  # type: ignore[no-untyped-def]
    """Set a lane up for state `s`: what is decided, who may stop, and what to begin with."""
    kind = course.kind
    wide = kind in (HIGHEST, MOST_VIA)  # who meets its end component meets s
    nearer, known, choice = idling.nearer, lanes.known, lanes.choice
    _approach(s, wide, course, nearer, idling.trail)
    for x in range(len(nearer)):
        if nearer[x] >= 0:
            if known[x, w] >= 0:
                choice[x, w] = known[x, w]
            elif wide or course.base[x] < 0:
                choice[x, w] = nearer[x]
            else:
                choice[x, w] = course.base[x]
            known[x, w] = choice[x, w]
            lanes.may_stop[x, w] = idling.inside[x] or kind == MOST_VIA
            continue
        choice[x, w] = DECIDED
        lanes.gain[x, w] = 0.0
        lanes.loss[x, w] = 0.0
        if wide and course.leader[x] == course.leader[s]:
            lanes.gain[x, w] = course.most[s]
        elif x == s:
            if kind in (LOWEST, LEAST_VIA):
                lanes.loss[x, w] = course.least[x]
        elif kind == HIGHEST:
            lanes.loss[x, w] = course.least[x]
        elif kind == LOWEST:
            lanes.gain[x, w] = course.most[x]
    if idling.inside[s] and kind != MOST_VIA:
        _let_go_on(w, s, course, lanes.may_stop, idling)


@kernel
def _approach(s, wide, course, nearer, trail) -> None:  # type: ignore[no-untyped-def]
    """Find a choice of every state that may meet `s`, or its end component if that is `wide`, that gets nearer."""
    pointer, choices = course.approach
    nearer[:] = -1
    trail[0] = s
    length = 1
    if wide:
        for x in range(len(nearer)):
            if course.leader[x] == course.leader[s] and x != s:
                trail[length] = x
                length += 1
    head = 0
    while head < length:
        y = trail[head]
        head += 1
        for e in range(pointer[y], pointer[y + 1]):
            c = choices[e]
            x = course.choice_state[c]
            if nearer[x] < 0 and x != s and not (wide and course.leader[x] == course.leader[s]):
                nearer[x] = c
                trail[length] = x
                length += 1


@kernel
def _let_go_on(w, s, course, may_stop, idling) -> None:  # type: ignore[no-untyped-def]
    """Nobody may stop who needs `s` for it."""
    inside, outside, options, trail = idling.inside, idling.outside, idling.options, idling.trail
    inside[s] = False
    trail[0] = s
    length = 1
    head = 0
    while head < length:
        y = trail[head]
        head += 1
        for e in range(course.pointer[y], course.pointer[y + 1]):
            c = course.choices[e]
            outside[c] += 1
            if outside[c] == 1:
                x = course.choice_state[c]
                options[x] -= 1
                if options[x] == 0 and inside[x]:
                    inside[x] = False
                    may_stop[x, w] = False
                    trail[length] = x
                    length += 1
    for i in range(length):  # put everything back
        y = trail[i]
        inside[y] = True
        for e in range(course.pointer[y], course.pointer[y + 1]):
            c = course.choices[e]
            outside[c] -= 1
            if outside[c] == 0:
                options[course.choice_state[c]] += 1
