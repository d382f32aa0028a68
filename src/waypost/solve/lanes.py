"""Many states at once where many states have a choice: policy iteration for several of them side by side.

Every state asked about has a problem of its own: where a run is decided, what it then gains and loses (see
`waypost.importance.passing`), and a strategy. Their chains have one fill in common (`filling`), so a *lane* per
state goes through one compiled loop with the others: evaluate by cutting out states, adding only, then switch where
that strictly helps. When half of them have come to their ends, what these found is vouched for (`vouching`) and
recorded, and each takes up its next state, beginning with the strategy it has: neighbours have nearly the same.

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
from waypost.solve.filling import SharedFill, shared_fill
from waypost.solve.reachability import Reach
from waypost.solve.remaining import HIGHEST, LEAST_VIA, LOWEST, MOST_VIA
from waypost.solve.rounds import DECIDED, blank_lanes, evaluate, improve, single
from waypost.solve.steps import MANY, most_steps
from waypost.solve.vouching import SURE, SWITCHED, UNSURE, vouched, vouched_by_steps, vouched_together

Floats = NDArray[np.float64]

WIDTH = 8  # lanes
PART = 128  # states that one set of lanes goes through
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
    approach: tuple[Ints, Ints]  # backward, by the enabled choices of the pattern
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


class Idling(NamedTuple):
    """Where a lane may stop: what `_begin` changes for a while and puts back."""

    inside: Mask  # (S,) where the target can be avoided for ever
    outside: Ints  # (C,) successors of each choice that are not
    options: Ints  # (S,) choices of each state that stay inside
    nearer: Ints  # (S,) room: a choice that gets nearer to the state asked about, or -1
    trail: Ints  # (S,) room


class Track(NamedTuple):
    """All that states asked about share: a model, the fill of its chains, and what is known of its runs."""

    course: Course
    pattern: SharedFill
    steps: Floats  # (S,) that runs take at most
    rank: Ints  # (S,) states in an order in which each is near the one before


def track_of(reach: Reach, start: int, *, enabled: Mask, visited: Mask, best: bool) -> Track | None:
    """Lay a model out for lanes; None where its chains would fill in too much.

    Of the `best` strategies a state is worth vmax whatever they do, and they never idle: then vmin is vmax, and nobody
    stops.
    """
    graph = reach.arena.graph
    pattern = shared_fill(graph, inside=visited & reach.possible & ~reach.target, enabled=enabled)
    if pattern is None:
        return None
    number, wandering = end_components(graph, inside=pattern.inside, enabled=enabled)
    approach = _filtered(*graph.backward, enabled & pattern.inside[graph.choice_state])
    course = Course(
        _own(graph.first_choice), _own(graph.indptr), _own(graph.indices), _own(reach.arena.data),
        *graph.backward, approach, graph.choice_state, _own(enabled), wandering, leaders(number),
        _own(reach.max.values), _own((reach.max if best else reach.min).values), reach.avoidable[0] & (not best),
        _own(reach.max.choice), start, HIGHEST,
    )  # fmt: skip
    steps = most_steps.sized(10.0 * _once_through(course, pattern))(course, pattern)
    rank = _explored.sized(graph.size)(start, graph.first_choice, graph.indptr, graph.indices, enabled)
    return Track(course, pattern, steps, rank)


def side_by_side(track: Track, states: Ints, kind: int) -> tuple[Floats, Mask]:
    """(n, 2) gain and loss from the start under the strategy optimal for each state, and (n,) whether that is certain.

    With ``vmax`` and ``vmin`` of the target, and `x` where the state `s` cannot be met any more::

        HIGHEST      gain vmax(s) at s, loss vmin(x)       the greatest gain / (gain + loss)
        LOWEST       gain vmax(x), loss vmin(s) at s       the same
        MOST_VIA     gain vmax(s) at s                     the greatest gain
        LEAST_VIA    loss vmin(s) at s                     the least loss

    No state is the start. What is not certain may not be used.
    """
    course, pattern, steps, rank = track
    again = np.arange(len(states))
    if kind in (HIGHEST, MOST_VIA):  # whoever meets a state of an end component gets to any other
        states, again = np.unique(course.leader[states], return_inverse=True)
    order = np.argsort(rank[states], kind="stable")
    states, back = states[order], np.argsort(order)
    found, certain = np.zeros((len(states), 2)), np.zeros(len(states), bool)
    course = course._replace(kind=kind)

    def settle(run: Callable[..., None], part: slice) -> None:
        run(course, pattern, steps, states[part], found[part], certain[part])

    in_parts(_run, settle, len(states), 4.0 * len(states) * _once_through(course, pattern), PART)
    return found[back][again], certain[back][again]


def _once_through(course: Course, pattern: SharedFill) -> int:
    """Basic steps of evaluating one strategy."""
    graph = len(course.most) + len(course.choice_state) + len(course.indices)
    return graph + len(pattern.later) + len(pattern.update)


@kernel
def _explored(start, first_choice, indptr, indices, enabled):  # type: ignore[no-untyped-def]
    """(S,) when each state is met by a run that turns back as late as it can; 0 where it is not."""
    rank = np.zeros(len(first_choice) - 1, np.int64)
    stack = np.empty(len(indices) + 1, np.int64)
    stack[0] = start
    top = 1
    met = 0
    while top > 0:
        top -= 1
        x = stack[top]
        if rank[x] == 0:
            met += 1
            rank[x] = met
            for c in range(first_choice[x + 1] - 1, first_choice[x] - 1, -1):
                if enabled[c]:
                    for e in range(indptr[c], indptr[c + 1]):
                        stack[top] = indices[e]
                        top += 1
    return rank


def _filtered(pointer: Ints, choices: Ints, kept: Mask) -> tuple[Ints, Ints]:
    """Entries of the choices that are kept."""
    stays = kept[choices]
    return np.concatenate([[0], np.cumsum(stays)])[pointer], choices[stays]


def _own(array: Any) -> Any:
    """An array that may be written: read-only is another type, for which everything would be compiled again."""
    return array if array.flags.writeable else array.copy()


@kernel
def _run(course, pattern, steps, states, found, certain):  # type: ignore[no-untyped-def]
    """Drive the lanes, each along its strip of the states."""
    n = len(course.most)
    width = 8
    lanes = blank_lanes(n, pattern)
    best = np.zeros((2, width))  # gain and loss of the best strategy so far
    rounds = np.zeros(width, np.int64)
    switched = np.zeros(width, np.bool_)
    idling = _idling(course)
    errors = np.zeros((3, n, width))
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
                    _begin(w, states[at[w]], course, lanes, idling)
                    _reset(w, course.kind, lanes, best, rounds)
                else:
                    at[w] = -1
                    lanes.choice[:, w] = DECIDED
            running |= at[w] >= 0
        if not running:
            return
        switched[:] = False
        for k in range(len(pattern.blocks) - 1):
            low = pattern.blocks[k]
            high = pattern.blocks[k + 1]
            if high - low == 1:
                single(pattern.order[low], course, lanes)
            else:
                evaluate(low, high, course, pattern, lanes)
                improve(low, high, course, pattern, lanes, switched)
        for w in range(width):
            if at[w] >= 0 and (_compare(w, course, lanes, best) or switched[w]):
                switched[w] = True
                rounds[w] += 1
                due[w] = rounds[w] >= _ROUNDS
        ended = (at >= 0) & ~switched & ~due
        if 2 * ended.sum() >= ((at >= 0) & ~due).sum():
            _end(ended, course, pattern, lanes, at, best, rounds, due, steps, errors, found, certain)


@kernel
def _idling(course):  # type: ignore[no-untyped-def]
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
def _end(ended, course, pattern, lanes, at, best, rounds, due, steps, errors, found, certain) -> None:  # type: ignore[no-untyped-def]
    """Vouch for some lanes, and record what they found; one that can be bettered goes on."""
    verdict = np.full(len(at), UNSURE)
    if steps[course.start] < MANY:
        verdict = vouched_by_steps(ended, steps, course, pattern, lanes, errors[0])
    doubtful = ended & (verdict == UNSURE)
    if doubtful.any():
        verdict = np.where(doubtful, vouched_together(doubtful, course, pattern, lanes, errors), verdict)
    for w in range(len(at)):
        if ended[w]:
            if verdict[w] == UNSURE:
                verdict[w] = vouched(w, rounds[w] < _ROUNDS // 2, course, pattern, lanes)
            found[at[w], 0] = best[0, w]
            found[at[w], 1] = best[1, w]
            certain[at[w]] = verdict[w] == SURE
            lanes.careful[w] = verdict[w] == SWITCHED  # or floats might switch back
            rounds[w] += _ROUNDS // 20
            due[w] = verdict[w] != SWITCHED or rounds[w] >= _ROUNDS


@kernel
def _reset(w, kind, lanes, best, rounds):  # type: ignore[no-untyped-def]
    lanes.weights[0, w] = 0.0 if kind == LEAST_VIA else 1.0
    lanes.weights[1, w] = 1.0 if kind == LEAST_VIA else 0.0
    lanes.careful[w] = False
    best[0, w] = -1.0
    best[1, w] = 0.0
    rounds[w] = 0


@kernel
def _begin(w, s, course, lanes, idling):  # type: ignore[no-untyped-def]
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


@kernel
def _compare(w, course, lanes, best):  # type: ignore[no-untyped-def]
    """Whether a lane's ratio rose; if so, take it for the next guess. Other kinds just record."""
    up = lanes.gain[course.start, w]
    down = lanes.loss[course.start, w]
    if course.kind in (MOST_VIA, LEAST_VIA):
        best[0, w] = up
        best[1, w] = down
        return False
    if best[0, w] >= 0.0 and not up * best[1, w] > best[0, w] * down * (1.0 + _HIGHER):
        return False
    if not up > 0.0:
        return False
    best[0, w] = up
    best[1, w] = down
    lanes.weights[0, w] = down / (up + down)
    lanes.weights[1, w] = up / (up + down) * (1.0 + ABOVE)
    return True
