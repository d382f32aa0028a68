"""The attractor of a set: whoever cannot keep away from it, once every choice of theirs may lead into it.

It is grown state by state along a `trail`, and released again at a cost of what changed: who asks the same of many
sets that differ little pays for the differences. Three counts go with it::

    options[x]   enabled choices of state x that lead to nobody in the attractor; x is drawn in when none is left
    losing[c]    successors of choice c in the attractor
    lost[x]      whether x is in it
"""

from __future__ import annotations

import numpy as np

from waypost.graph.compiled import kernel
from waypost.model.arrays import Ints


@kernel
def options_of(choice_state, enabled, n) -> Ints:  # type: ignore[no-untyped-def]
    """(S,) number of enabled choices of each state."""
    options = np.zeros(n, np.int64)
    for c in range(len(choice_state)):
        if enabled[c]:
            options[choice_state[c]] += 1
    return options


@kernel
def attract(pointer, choices, choice_state, enabled, losing, options, lost, trail, length, awaited) -> tuple[int, int]:  # type: ignore[no-untyped-def]
    """Draw in who cannot keep away from the first `length` states of the trail, which are lost; or until `awaited` is.

    Gives the new length of the trail, and how far its states have been counted for their predecessors.
    """
    at = 0
    while at < length and not (awaited >= 0 and lost[awaited]):
        y = trail[at]
        at += 1
        for e in range(pointer[y], pointer[y + 1]):
            c = choices[e]
            if enabled[c]:
                losing[c] += 1
                if losing[c] == 1:
                    x = choice_state[c]
                    options[x] -= 1
                    if options[x] == 0 and not lost[x]:
                        lost[x] = True
                        trail[length] = x
                        length += 1
    return length, at


@kernel
def release(pointer, choices, choice_state, enabled, losing, options, lost, trail, length, at) -> None:  # type: ignore[no-untyped-def]
    """Take back what `attract` did."""
    for i in range(length):
        lost[trail[i]] = False
    for i in range(at):
        y = trail[i]
        for e in range(pointer[y], pointer[y + 1]):
            c = choices[e]
            if enabled[c]:
                losing[c] -= 1
                if losing[c] == 0:
                    options[choice_state[c]] += 1
