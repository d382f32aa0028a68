"""Many states at once where many states have a choice: policy iteration for several of them side by side.

Every state asked about has a problem of its own: where a run is decided, what it then gains and loses (see
`waypost.importance.passing`), and a strategy. Their chains have one pattern in common (`pattern`), so a *lane* per
state goes through one compiled loop with the others: evaluate by cutting out states, adding only, then switch where
that strictly helps. A lane that has come to its end records its result and takes up the next state, beginning with the
strategy it has: neighbours have nearly the same.

Ratios (``gain / (gain + loss)``) are optimised as in `conditional`, but a lane takes the ratio of its strategy for the
next guess after every round; guesses rise with every switch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask
from waypost.graph.compiled import in_parts, kernel
from waypost.graph.components import end_components, leaders
from waypost.solve.conditional import ABOVE
from waypost.solve.pattern import pattern_of
from waypost.solve.reachability import Reach
from waypost.solve.remaining import HIGHEST, MOST_VIA
from waypost.solve.rounds import evaluate, improve, single
from waypost.solve.vouching import SURE, SWITCHED, vouched

Floats = NDArray[np.float64]

WIDTH = 8  # lanes
PART = 512  # states that one set of lanes goes through
_ROUNDS = 400  # of one lane for one state
_HIGHER = 1e-14  # relative: a smaller rise of a ratio is none


class Course(NamedTuple):
    """A model, as the compiled loop takes it."""

    first_choice: Ints
    indptr: Ints
    indices: Ints
    data: Floats
    pointer: Ints  # backward
    choices: Ints
    choice_state: Ints
    enabled: Mask
    wandering: Mask  # (C,) choices that stay in an end component of the pattern
    leader: Ints  # (S,) the state that stands for its end component
    most: Floats  # (S,) greatest probability of the target
    least: Floats  # (S,) and least
    idle: Mask  # (S,) where the target can be avoided for ever
    base: Ints  # (S,) choices to begin with
    start: int
    kind: int


def side_by_side(
    reach: Reach, start: int, states: Ints, kind: int, *, enabled: Mask, visited: Mask, best: bool
) -> tuple[Floats, Mask] | None:
    """(n, 2) gain and loss from the start under the strategy optimal for each state; None where that is too much.

    With ``vmax`` and ``vmin`` of the target, and `x` where the state `s` cannot be met any more::

        HIGHEST      gain vmax(s) at s, loss vmin(x)       the greatest gain / (gain + loss)
        LOWEST       gain vmax(x), loss vmin(s) at s       the same
        MOST_VIA     gain vmax(s) at s                     the greatest gain
        LEAST_VIA    loss vmin(s) at s                     the least loss

    Of the `best` strategies a state is worth vmax whatever they do, and they never idle: then vmin is vmax, and nobody
    stops. No state is the start. With them comes (n,) whether that is certainly the optimal strategy; no other may be
    used.
    """
    graph = reach.arena.graph
    pattern = pattern_of(graph, inside=visited & reach.possible & ~reach.target, enabled=enabled)
    if pattern is None:
        return None
    number, wandering = end_components(graph, inside=pattern.inside, enabled=enabled)
    leader = leaders(number)
    asked, again = states, np.arange(len(states))
    if kind in (HIGHEST, MOST_VIA):  # whoever meets a state of an end component gets to any other
        states, again = np.unique(leader[asked], return_inverse=True)
    course = Course(
        _own(graph.first_choice), _own(graph.indptr), _own(graph.indices), _own(reach.arena.data),
        *graph.backward, graph.choice_state, _own(enabled), wandering, leader, _own(reach.max.values),
        _own((reach.max if best else reach.min).values), reach.avoidable[0] & (not best), _own(reach.max.choice),
        start, kind,
    )  # fmt: skip
    found, certain = np.zeros((len(states), 2)), np.zeros(len(states), bool)

    def settle(run: Callable[..., None], part: slice) -> None:
        run(course, pattern, states[part], found[part], certain[part])

    work = 4.0 * len(states) * (graph.size + len(pattern.later) + len(pattern.update))
    in_parts(_run, settle, len(states), work, PART)
    return found[again], certain[again]


def _own(array: Any) -> Any:
    """An array that may be written: read-only is another type, for which everything would be compiled again."""
    return array if array.flags.writeable else array.copy()


@kernel
def _run(course, pattern, states, found, certain):  # type: ignore[no-untyped-def]
    """Drive the lanes, each along its strip of the states."""
    n = len(course.most)
    width = 8
    m = len(pattern.order)
    gain = np.zeros((n, width))
    loss = np.zeros((n, width))
    choice = np.full((n, width), -2, np.int64)
    known = np.full((n, width), -1, np.int64)  # the last real choice
    may_stop = np.zeros((n, width), np.bool_)
    weights = np.zeros((2, width))
    best = np.zeros((2, width))  # gain and loss of the best strategy so far
    rounds = np.zeros(width, np.int64)
    switched = np.zeros(width, np.bool_)
    taken = np.zeros(width, np.int64)
    scratch = np.zeros((5, width))
    ahead = np.zeros((len(pattern.later), width))
    back = np.zeros((len(pattern.later), width))
    rows = np.zeros((m, 4, width))  # leaving, gain, loss, and one over the pivot, by place
    offset = np.zeros(m + 1, np.int64)
    for i in range(m):
        d = pattern.after[i + 1] - pattern.after[i]
        offset[i + 1] = offset[i] + d * (d - 1) // 2
    outside = np.zeros(len(course.choice_state), np.int64)  # successors of each choice outside idle
    options = np.zeros(n, np.int64)  # choices of each state that stay in idle
    for c in range(len(course.choice_state)):
        for e in range(course.indptr[c], course.indptr[c + 1]):
            if not course.idle[course.indices[e]]:
                outside[c] += 1
        if outside[c] == 0:
            options[course.choice_state[c]] += 1
    inside = course.idle.copy()
    nearer = np.empty(n, np.int64)
    trail = np.empty(n, np.int64)
    strip = -(-len(states) // width)
    at = np.empty(width, np.int64)  # the state each lane is at, or -1
    due = np.ones(width, np.bool_)  # lanes that take up their next state
    for w in range(width):
        at[w] = w * strip - 1
    while True:
        running = False
        for w in range(width):
            if due[w]:
                at[w] += 1
                due[w] = False
                if at[w] < min((w + 1) * strip, len(states)):
                    _begin(w, states[at[w]], course, pattern, gain, loss, choice, known, may_stop, outside, options,
                           inside, nearer, trail)  # fmt: skip
                    _reset(w, course.kind, weights, best, rounds)
                else:
                    at[w] = -1
                    choice[:, w] = -2
            running |= at[w] >= 0
        if not running:
            return
        switched[:] = False
        for k in range(len(pattern.blocks) - 1):
            low = pattern.blocks[k]
            high = pattern.blocks[k + 1]
            if high - low == 1:
                single(pattern.order[low], course, gain, loss, choice, known, may_stop, weights, taken, scratch)
            else:
                evaluate(low, high, offset, course, pattern, gain, loss, choice, ahead, back, rows)
                improve(low, high, course, pattern, gain, loss, choice, known, may_stop, weights, switched, scratch)
        for w in range(width):
            if at[w] >= 0:
                rounds[w] += 1
                better = _compare(w, course, gain, loss, weights, best)
                if not better and not switched[w]:
                    found[at[w], 0] = best[0, w]
                    found[at[w], 1] = best[1, w]
                    verdict = vouched(w, course, pattern, gain, loss, choice, may_stop, weights, ahead, back, rows)
                    certain[at[w]] = verdict == SURE
                    due[w] = verdict != SWITCHED or rounds[w] >= _ROUNDS
                elif rounds[w] == _ROUNDS:
                    due[w] = True


@kernel
def _reset(w, kind, weights, best, rounds):  # type: ignore[no-untyped-def]
    weights[0, w] = 0.0 if kind == 4 else 1.0  # LEAST_VIA
    weights[1, w] = 1.0 if kind == 4 else 0.0
    best[0, w] = -1.0
    best[1, w] = 0.0
    rounds[w] = 0


@kernel
def _begin(  # type: ignore[no-untyped-def]
    w, s, course, pattern, gain, loss, choice, known, may_stop, outside, options, inside, nearer, trail
):
    """Set a lane up for state `s`: what is decided, who may stop, and what to begin with."""
    n = len(nearer)
    for x in range(n):
        nearer[x] = -1
    kind = course.kind
    wide = kind in (0, 2)  # HIGHEST, MOST_VIA: who meets its end component meets s
    trail[0] = s
    length = 1
    if wide:
        for x in range(n):
            if course.leader[x] == course.leader[s] and x != s:
                trail[length] = x
                length += 1
    head = 0
    while head < length:  # who may meet s
        y = trail[head]
        head += 1
        for e in range(course.pointer[y], course.pointer[y + 1]):
            c = course.choices[e]
            x = course.choice_state[c]
            met = x == s or (wide and course.leader[x] == course.leader[s])
            if course.enabled[c] and pattern.inside[x] and nearer[x] < 0 and not met:
                nearer[x] = c
                trail[length] = x
                length += 1
    for x in range(n):
        if nearer[x] >= 0:
            if known[x, w] >= 0:
                choice[x, w] = known[x, w]
            elif wide or course.base[x] < 0:
                choice[x, w] = nearer[x]
            else:
                choice[x, w] = course.base[x]
            known[x, w] = choice[x, w]
            may_stop[x, w] = inside[x] or kind == 2  # MOST_VIA
            continue
        choice[x, w] = -2
        gain[x, w] = 0.0
        loss[x, w] = 0.0
        if wide and course.leader[x] == course.leader[s]:
            gain[x, w] = course.most[s]
        elif x == s:
            if kind in (1, 4):  # LOWEST, LEAST_VIA
                loss[x, w] = course.least[x]
        elif kind == 0:
            loss[x, w] = course.least[x]
        elif kind == 1:
            gain[x, w] = course.most[x]
    if not inside[s] or kind == 2:
        return
    inside[s] = False  # nobody may stop who needs s for it
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


@kernel
def _compare(w, course, gain, loss, weights, best):  # type: ignore[no-untyped-def]
    """Whether a lane's ratio rose; if so, take it for the next guess. Other kinds just record."""
    up = gain[course.start, w]
    down = loss[course.start, w]
    if course.kind in (2, 4):
        best[0, w] = up
        best[1, w] = down
        return False
    if best[0, w] >= 0.0 and not up * best[1, w] > best[0, w] * down * (1.0 + _HIGHER):
        return False
    if not up > 0.0:
        return False
    best[0, w] = up
    best[1, w] = down
    weights[0, w] = down / (up + down)
    weights[1, w] = up / (up + down) * (1.0 + ABOVE)
    return True
