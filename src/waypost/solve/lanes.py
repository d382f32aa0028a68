"""Many states at once where many states have a choice: policy iteration for several of them side by side.

Every state asked about has a problem of its own: where a run is decided, what it then gains and loses (see
`waypost.importance.passing`), and a strategy. Their chains have one fill in common (`filling`), so a *lane* per
state goes through one compiled loop with the others: evaluate by cutting out states, adding only, then switch where
that strictly helps. Who has come to an end takes up the next state, beginning with the strategy it has: neighbours have
nearly the same. What was found is vouched for (`vouching`) and recorded at once where half of the lanes have ended, or
put aside until there is enough for lanes of its own.

Ratios (``gain / (gain + loss)``) are optimised as in `conditional`, but a lane takes the ratio of its strategy for the
next guess after every round; guesses rise with every switch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask
from waypost.graph.compiled import in_parts, kernel, leaf
from waypost.graph.components import end_components, leaders
from waypost.solve.conditional import ABOVE
from waypost.solve.factors import DECIDED
from waypost.solve.filling import SharedFill, shared_fill
from waypost.solve.outset import begin, blank_idling
from waypost.solve.reachability import Reach
from waypost.solve.remaining import HIGHEST, LEAST_VIA, MOST_VIA
from waypost.solve.rounds import blank_lanes, evaluate, improve, lanes_beside, single
from waypost.solve.steps import MANY, most_steps
from waypost.solve.vouching import SURE, SWITCHED, UNSURE, vouched, vouched_by_steps, vouched_together

Floats = NDArray[np.float64]

PART = 128  # states that one set of lanes goes through, at least
PARTS = 16  # of so many sets, or more
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
    choice_of: Ints  # (E,) of an arrow
    enabled: Mask
    wandering: Mask  # (C,) choices that stay in an end component of the pattern
    leader: Ints  # (S,) the state that stands for its end component
    component: Ints  # (S,) of the pattern, or -1
    most: Floats  # (S,) greatest probability of the target
    least: Floats  # (S,) and least
    idle: Mask  # (S,) where the target can be avoided for ever
    base: Ints  # (S,) choices to begin with
    start: int
    kind: int


class Crew(NamedTuple):
    """Where the lanes are."""

    at: Ints  # (8,) the state that each lane has taken up, by its place in the list, or -1
    until: Ints  # (8,) where its strip ends
    best: Floats  # (2, 8) gain and loss of the best strategy so far
    rounds: Ints  # (8,) that it took
    due: Mask  # (8,) lanes that are done with their state


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
    component = np.where(pattern.inside, np.searchsorted(pattern.blocks, pattern.place, side="right") - 1, -1)
    course = Course(
        _own(graph.first_choice), _own(graph.indptr), _own(graph.indices), _own(reach.arena.data),
        *graph.backward, approach, graph.choice_state, np.repeat(np.arange(graph.n_choices), np.diff(graph.indptr)),
        _own(enabled), wandering, leaders(number), component,
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

    work = 4.0 * len(states) * _once_through(course, pattern)
    in_parts(_run, settle, len(states), work, max(PART, -(-len(states) // PARTS)))
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
    lanes, crew = blank_lanes(course, pattern), _blank_crew()
    aside, parked = lanes_beside(lanes), _blank_crew()
    idling = blank_idling(course)
    errors = np.zeros((3, n, 8))
    strip = -(-len(states) // 8)
    for w in range(8):
        crew.at[w] = w * strip - 1
        crew.until[w] = max(min((w + 1) * strip, len(states)), w * strip)
        crew.due[w] = True
    while _take_up(states, course, lanes, crew, idling):
        ended = _round(course, pattern, lanes, crew)
        if 2 * ended.sum() >= ((crew.at >= 0) & ~crew.due).sum():
            _end(ended, course, pattern, lanes, crew, steps, errors, found, certain)
            continue
        for w in range(8):
            if ended[w]:
                _park(w, lanes, crew, aside, parked)
                if (parked.at >= 0).all():
                    _settle(course, pattern, aside, parked, steps, errors, found, certain)
    _settle(course, pattern, aside, parked, steps, errors, found, certain)


@kernel
def _blank_crew():  # type: ignore[no-untyped-def]
    return Crew(np.full(8, -1), np.full(8, -1), np.zeros((2, 8)), np.zeros(8, np.int64), np.zeros(8, np.bool_))


@kernel
def _take_up(states, course, lanes, crew, idling):  # type: ignore[no-untyped-def]
    """Let lanes that are due take up their next states, or half of what another has left; whether any lane runs."""
    for w in range(8):
        if crew.due[w]:
            crew.at[w] += 1
            crew.due[w] = False
            if crew.at[w] == crew.until[w]:
                v = np.argmax(crew.until - crew.at)
                crew.at[w] = crew.until[v] - (crew.until[v] - crew.at[v]) // 2
                crew.until[w] = crew.until[v]
                crew.until[v] = crew.at[w]
                lanes.known[:, w] = lanes.known[:, v]
            if crew.at[w] < crew.until[w]:
                begin(w, states[crew.at[w]], course, lanes, idling)
                _reset(w, course.kind, lanes, crew)
            else:
                crew.at[w] = -1
                crew.until[w] = -1
                lanes.choice[:, w] = DECIDED
    return (crew.at >= 0).any()


@kernel
def _round(course, pattern, lanes, crew):  # type: ignore[no-untyped-def]
    """Evaluate and improve the strategies of all lanes; (8,) those that came to their ends."""
    switched = np.zeros(8, np.bool_)
    for k in range(len(pattern.blocks) - 1):
        low = pattern.blocks[k]
        high = pattern.blocks[k + 1]
        if high - low == 1:
            single(pattern.order[low], course, lanes)
        else:
            evaluate(low, high, course, pattern, lanes)
            improve(low, high, course, pattern, lanes, switched)
    for w in range(8):
        if crew.at[w] >= 0 and (_compare(w, course, lanes, crew.best) or switched[w]):
            switched[w] = True
            crew.rounds[w] += 1
            crew.due[w] = crew.rounds[w] >= _ROUNDS
    return (crew.at >= 0) & ~switched & ~crew.due


@kernel
def _park(w, lanes, crew, aside, parked) -> None:  # type: ignore[no-untyped-def]
    """Put what a lane ended with aside, where there is room: it is due for its next state while others go on."""
    k = np.argmin(parked.at)
    for x in range(len(lanes.choice)):
        aside.choice[x, k] = lanes.choice[x, w]
        aside.may_stop[x, k] = lanes.may_stop[x, w]
        aside.gain[x, k] = lanes.gain[x, w]
        aside.loss[x, k] = lanes.loss[x, w]
    aside.weights[:, k] = lanes.weights[:, w]
    aside.careful[0, k] = lanes.careful[0, w]
    parked.at[k] = crew.at[w]
    parked.best[:, k] = crew.best[:, w]
    parked.rounds[k] = crew.rounds[w]
    crew.due[w] = True


@kernel
def _settle(course, pattern, lanes, crew, steps, errors, found, certain) -> None:  # type: ignore[no-untyped-def]
    """Take lanes to their ends, all of them."""
    while (crew.at >= 0).any():
        ended = _round(course, pattern, lanes, crew)
        if ended.any():
            _end(ended, course, pattern, lanes, crew, steps, errors, found, certain)
        for w in range(8):
            if crew.due[w]:
                crew.at[w] = -1
                crew.due[w] = False
                lanes.choice[:, w] = DECIDED


@kernel
def _end(ended, course, pattern, lanes, crew, steps, errors, found, certain) -> None:  # type: ignore[no-untyped-def]
    """Vouch for some lanes, and record what they found; one that can be bettered goes on."""
    at, _, best, rounds, due = crew
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
            lanes.careful[0, w] = verdict[w] == SWITCHED  # or floats might switch back
            rounds[w] += _ROUNDS // 20
            due[w] = verdict[w] != SWITCHED or rounds[w] >= _ROUNDS


@kernel
def _reset(w, kind, lanes, crew) -> None:  # type: ignore[no-untyped-def]
    lanes.weights[0, w] = 0.0 if kind == LEAST_VIA else 1.0
    lanes.weights[1, w] = 1.0 if kind == LEAST_VIA else 0.0
    lanes.careful[0, w] = False
    crew.best[0, w] = -1.0
    crew.best[1, w] = 0.0
    crew.rounds[w] = 0


@leaf
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
