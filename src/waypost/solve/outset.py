"""How a lane (`lanes`) takes up a state: what is decided there, who may stop, and the strategy to begin with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from waypost.graph import Ints, Mask
from waypost.graph.compiled import kernel
from waypost.solve.factors import DECIDED
from waypost.solve.remaining import HIGHEST, LEAST_VIA, LOWEST, MOST_VIA


class Idling(NamedTuple):
    """Where a lane may stop: what `begin` changes for a while and puts back."""

    inside: Mask  # (S,) where the target can be avoided for ever
    outside: Ints  # (C,) successors of each choice that are not
    options: Ints  # (S,) choices of each state that stay inside
    home: Ints  # (1,) the component that the last state asked about was in, or -1
    members: Mask  # (S,) whoever may meet a state of it, and these
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
    home, members = np.full(1, -1), np.zeros(len(options), np.bool_)
    return Idling(course.idle.copy(), outside, options, home, members, np.empty_like(options), np.empty_like(options))


@kernel
def begin(w, s, course, lanes, idling) -> None:  # type: ignore[no-untyped-def]
    """Set a lane up for state `s`: what is decided, who may stop, and what to begin with."""
    kind = course.kind
    wide = kind in (HIGHEST, MOST_VIA)  # who meets its end component meets s
    known, choice = lanes.known, lanes.choice
    approached = idling.home[0] < 0 or idling.home[0] != course.component[s]
    if approached:
        _approach(s, wide, course, idling)
        idling.home[0] = course.component[s]
    for x in range(len(idling.members)):
        met = x == s or (wide and course.leader[x] == course.leader[s])
        if idling.members[x] and not met:
            if known[x, w] < 0 and (wide or course.base[x] < 0):
                if not approached:
                    _approach(s, wide, course, idling)
                    approached = True
                known[x, w] = idling.nearer[x]
            elif known[x, w] < 0:
                known[x, w] = course.base[x]
            choice[x, w] = known[x, w]
            lanes.may_stop[x, w] = idling.inside[x] or kind == MOST_VIA
            continue
        choice[x, w] = DECIDED
        lanes.gain[x, w] = 0.0
        lanes.loss[x, w] = 0.0
        if met:
            if wide:
                lanes.gain[x, w] = course.most[s]
            elif kind in (LOWEST, LEAST_VIA):
                lanes.loss[x, w] = course.least[x]
        elif kind == HIGHEST:
            lanes.loss[x, w] = course.least[x]
        elif kind == LOWEST:
            lanes.gain[x, w] = course.most[x]
    if idling.inside[s] and kind != MOST_VIA:
        _let_go_on(w, s, course, lanes.may_stop, idling)


@kernel
def _approach(s, wide, course, idling) -> None:  # type: ignore[no-untyped-def]
    """Find a choice of every state that may meet `s`, or its end component if that is `wide`, that gets nearer."""
    pointer, choices = course.approach
    nearer, members, trail = idling.nearer, idling.members, idling.trail
    length = 0
    for x in range(len(nearer)):
        nearer[x] = -1
        members[x] = x == s or (wide and course.leader[x] == course.leader[s])
        if members[x]:
            trail[length] = x
            length += 1
    head = 0
    while head < length:
        y = trail[head]
        head += 1
        for e in range(pointer[y], pointer[y + 1]):
            c = choices[e]
            x = course.choice_state[c]
            if not members[x]:
                members[x] = True
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
