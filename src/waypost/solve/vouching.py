"""Whether the strategies that lanes (`lanes`) end with are certainly the best for their states; see `strain`.

All lanes are looked at together, each with the strain that its own strategy asks for, and some more where another does.
Where that does not end soon, or states share what they are worth (end components), one lane is looked at by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.graph.compiled import kernel, leaf
from waypost.graph.components import stay_in_ends
from waypost.graph.eightfold import any_of, eight, put, row, where
from waypost.solve.factors import DECIDED, STOP, factorise, substitute_lanes
from waypost.solve.gth import blank
from waypost.solve.policy import Payoff, Rewards
from waypost.solve.remaining import HIGHEST, LOWEST
from waypost.solve.strain import EPS, HARMLESS, WITHOUT_RATIO, bettered, judge, judge_single, lay, nothing_known

UNSURE, SURE, SWITCHED = range(3)

_MUCH = 4.0  # times what their own strategies ask for is the strain that lanes begin with: then little is to be raised
_FROM = 3
_PASSES = 12  # in which strains may rise before a lane is looked at by itself


@kernel
def vouched(w, patient, course, pattern, lanes) -> int:  # type: ignore[no-untyped-def]
    """Whether no other strategy beats that of a lane by more than the answer may be off: SURE, UNSURE or SWITCHED.

    Whoever is `patient` switches to what is better to twice as many digits first: the strain of a strategy that is not
    the best takes long to find.
    """
    weights = lanes.weights
    n = len(lanes.choice)
    earned = Payoff(np.empty(n), np.empty(n), np.empty(n, np.int64))
    stops = np.empty(n, np.bool_)
    worth, stake = np.empty(n), np.zeros(n)
    for x in range(n):
        up = weights[0, w] * lanes.gain[x, w]
        down = weights[1, w] * lanes.loss[x, w]
        earned.gain[x], earned.loss[x], earned.choice[x] = lanes.gain[x, w], lanes.loss[x, w], lanes.choice[x, w]
        stops[x] = lanes.may_stop[x, w]
        worth[x] = up - down
        if earned.choice[x] == DECIDED:
            stake[x] = up + down
        elif earned.choice[x] == STOP and not stops[x]:  # in a cycle that is never left: no strategy in scope
            return UNSURE
    rewards = Rewards(
        course.first_choice, course.indptr, course.indices, course.data, course.enabled, stops, stops,
        weights[0, w], weights[1, w], 0.0, 0.0, False,
    )  # fmt: skip
    start = course.start
    least = weights[0, w] * earned.gain[start] + weights[1, w] * earned.loss[start]
    found = worth[start]
    known = nothing_known(worth, stake)
    if course.wandering.any():
        _lead(course, earned.choice, known.leader)
    factors = blank(pattern, course.data)
    switched = False
    for k in range(len(pattern.blocks) - 1):
        low = pattern.blocks[k]
        high = pattern.blocks[k + 1]
        if high - low == 1:
            judge_single(pattern.order[low], rewards, earned, known)
            continue
        if not lay(low, high, pattern.order, pattern, pattern.place, rewards, earned.choice, factors):
            return UNSURE
        if patient and bettered(low, high, pattern.order, pattern, rewards, earned, known, factors, True):
            switched = True
        elif not switched:
            judge(low, high, pattern.order, pattern, pattern.place, rewards, earned, known, factors)
    if switched:
        for x in range(n):
            lanes.choice[x, w] = earned.choice[x]
        return SWITCHED
    most = known.worth[start] + known.fix[start] + EPS * known.strain[start]
    return SURE if _small(course.kind, most, found, least) else UNSURE


@leaf
def _small(kind, most, found, stake):  # type: ignore[no-untyped-def]
    """Whether it does not matter that the start may be worth `most`; a ratio is judged a little above it."""
    if kind in (HIGHEST, LOWEST):
        return (most <= 0.0) & (most - found <= HARMLESS * stake)
    return most - found <= WITHOUT_RATIO * HARMLESS * stake


@kernel
def _lead(course, choice, leader) -> None:  # type: ignore[no-untyped-def]
    """Let one state of each end component of a lane's problem stand for it."""
    inner = course.wandering.copy()
    for c in range(len(inner)):
        inner[c] &= choice[course.choice_state[c]] != DECIDED
    component = np.empty(len(leader), np.int64)
    stay_in_ends(
        course.first_choice, course.indptr, course.indices, course.pointer, course.choices, course.choice_state,
        inner, component,
    )  # fmt: skip
    first = np.full(len(leader), -1, np.int64)
    for x in range(len(leader)):
        if component[x] >= 0:
            if first[component[x]] < 0:
                first[component[x]] = x
            leader[x] = first[component[x]]


@kernel
def vouched_by_steps(ended, steps, course, pattern, lanes, worth) -> Any:  # type: ignore[no-untyped-def]
    """(8,) SURE where no choice is so much better that it matters in as many `steps` as there are at most, or UNSURE.

    Strains are ``known + most T(x)``, see `steps`: then no choice asks for more. `worth` is room.
    """
    sure = np.empty((1, 8), np.bool_)
    sure[0] = ended
    weight, against = row(lanes.weights, 0), row(lanes.weights, 1)
    certain, known, most = row(sure, 0), eight(0.0), eight(0.0)  # strains of what is decided, and of one step
    for x in range(len(steps)):
        up, down, choice = weight * row(lanes.gain, x), against * row(lanes.loss, x), row(lanes.choice, x)
        decided, may_stop = choice == DECIDED, row(lanes.may_stop, x)
        put(worth, x, up - down)
        known = _greater(known, where(decided, 4.0 * (up + down), 0.0))
        if any_of(may_stop & ~decided):
            most = _greater(most, where(may_stop & ~decided, -1.001 * (up - down) / EPS / steps[x], 0.0))
        certain = certain & ~((choice == STOP) & ~may_stop)
    longest = 0
    for x in pattern.order:
        free = row(lanes.choice, x) != DECIDED
        for c in range(course.first_choice[x], course.first_choice[x + 1]):
            if not course.enabled[c]:
                continue
            leaving = 0.0
            better, spread = eight(0.0), eight(0.0)
            for e in range(course.indptr[c], course.indptr[c + 1]):
                y = course.indices[e]
                p = course.data[e]
                leaving += p if y != x else 0.0
                more = row(worth, y) - row(worth, x)
                better = better + p * more
                spread = spread + p * _size(more)
            n = course.indptr[c + 1] - course.indptr[c] + 8
            longest = max(longest, n)
            asked = float(n) * spread + better / EPS
            if leaving > 0.0:  # or it stays where it is
                most = where(free & (asked > most * leaving), asked / leaving, most)
    x = course.start
    up, down = weight * row(lanes.gain, x), against * row(lanes.loss, x)
    strain = known + 1.001 * (most + longest * EPS * known) * steps[x]  # strains are rounded, too
    put(sure, 0, certain & _small(course.kind, up - down + EPS * strain, up - down, up + down))
    return np.where(sure[0], SURE, UNSURE)


@kernel
def vouched_together(ended, course, pattern, lanes, errors) -> Any:  # type: ignore[no-untyped-def]
    """(8,) SURE or, where that takes a closer look or a lane has not ended, UNSURE; `errors` is room."""
    n = len(lanes.choice)
    sure = np.empty((1, 8), np.bool_)
    sure[0] = ended
    certain = row(sure, 0)
    for x in range(n):
        certain = certain & ~((row(lanes.choice, x) == STOP) & ~row(lanes.may_stop, x))
    for c in range(len(course.wandering)):
        if course.wandering[c]:
            certain = certain & (row(lanes.choice, course.choice_state[c]) == DECIDED)
    put(sure, 0, certain)
    if not any_of(certain):
        return np.where(sure[0], SURE, UNSURE)
    weight, against = row(lanes.weights, 0), row(lanes.weights, 1)
    worth, fix, strain = errors[0], errors[1], errors[2]
    for x in range(n):
        up, down = weight * row(lanes.gain, x), against * row(lanes.loss, x)
        put(worth, x, up - down)
        put(fix, x, 0.0)
        put(strain, x, where(row(lanes.choice, x) == DECIDED, 4.0 * (up + down), 0.0))
    raised = np.zeros((1, 8), np.bool_)
    asking = lanes.choice.copy()
    for b in range(len(pattern.blocks) - 1):
        low = pattern.blocks[b]
        high = pattern.blocks[b + 1]
        if high - low == 1:
            x = pattern.order[low]
            put(fix, x, _missing(x, course, lanes, errors))
        else:
            _refine(low, high, course, pattern, lanes, errors)
            _strain(low, high, asking, course, pattern, lanes, errors)
        for k in range(_PASSES if high - low > 1 else 1):
            put(raised, 0, False)
            _raise(low, high, k % 2 == 1, asking, course, pattern, lanes, errors, raised)
            if not any_of(row(raised, 0) & row(sure, 0)):
                break
            if k % 2 == 1 and k >= _FROM:
                factorise(low, high, 0, asking, lanes.gain, lanes.loss, course, pattern, lanes.factors)
                _strain(low, high, asking, course, pattern, lanes, errors)
        if high - low > 1:
            put(sure, 0, row(sure, 0) & ~row(raised, 0))
    x = course.start
    up, down = weight * row(lanes.gain, x), against * row(lanes.loss, x)
    most = row(worth, x) + row(fix, x) + EPS * row(strain, x)
    put(sure, 0, row(sure, 0) & _small(course.kind, most, up - down, up + down))
    return np.where(sure[0], SURE, UNSURE)


@leaf
def _greater(one, other):  # type: ignore[no-untyped-def]
    return where(other > one, other, one)


@leaf
def _size(some):  # type: ignore[no-untyped-def]
    return where(some < 0.0, 0.0 - some, some)


@leaf
def _missing(x, course, lanes, errors):  # type: ignore[no-untyped-def]
    """By how much one step of every lane's strategy earns more than its state is worth."""
    worth, fix, taken = errors[0], errors[1], row(lanes.choice, x)
    missing = eight(0.0)
    for c in range(course.first_choice[x], course.first_choice[x + 1]):
        takes = taken == c
        if any_of(takes):
            total, rest = eight(0.0), eight(0.0)
            for e in range(course.indptr[c], course.indptr[c + 1]):
                y = course.indices[e]
                total = total + course.data[e] * (row(worth, y) - row(worth, x))
                rest = rest + course.data[e] * (row(fix, y) - row(fix, x))
            missing = where(takes, total + rest, missing)
    return missing


@kernel
def _refine(low, high, course, pattern, lanes, errors) -> None:  # type: ignore[no-untyped-def]
    """Find what is missing of the worth of a component of several, given that of its successors."""
    sides = lanes.factors.sides
    for i in range(low, high):
        put(sides, i, _missing(pattern.order[i], course, lanes, errors))
    substitute_lanes(low, high, pattern, lanes.factors)
    for i in range(low, high):
        put(errors[1], pattern.order[i], row(sides, i))


@kernel
def _strain(low, high, asking, course, pattern, lanes, errors) -> None:  # type: ignore[no-untyped-def]
    """Raise strains to what the strategies that are asking ask for in a component, given their factors, and more."""
    strain, sides = errors[2], lanes.factors.sides
    for _ in range(2):  # the second time with what rounding hides of strains
        for i in range(low, high):
            put(sides, i, _own(low, high, pattern.order[i], asking, course, pattern, lanes, errors))
        substitute_lanes(low, high, pattern, lanes.factors)
        for i in range(low, high):
            x = pattern.order[i]
            put(strain, x, _greater(row(strain, x), row(sides, i)))


@leaf
def _own(low, high, x, asking, course, pattern, lanes, errors):  # type: ignore[no-untyped-def]
    """What one step of every lane's strategy adds to the strain of a state, and more; and what follows it."""
    worth, fix, strain = errors[0], errors[1], errors[2]
    taken, choice = row(asking, x), row(lanes.choice, x)
    stopping = _MUCH * _greater(eight(0.0), -1.001 * (row(worth, x) + row(fix, x)) / EPS)
    found = where(taken == DECIDED, row(strain, x), where((taken == STOP) & (choice >= 0), stopping, 0.0))
    for c in range(course.first_choice[x], course.first_choice[x + 1]):
        takes = taken == c
        if not any_of(takes):
            continue
        better, spread, onward, beyond = eight(0.0), eight(0.0), eight(0.0), eight(0.0)
        for e in range(course.indptr[c], course.indptr[c + 1]):
            y = course.indices[e]
            p = course.data[e]
            if not low <= pattern.place[y] < high:
                beyond = beyond + p * row(strain, y)
            if y != x:
                more, change = row(worth, y) - row(worth, x), row(fix, y) - row(fix, x)
                better = better + p * (more + change)
                spread = spread + p * (_size(more) + _size(change))
                onward = onward + p * row(strain, y)
        better = where(choice == c, _size(better), better)
        n = float(course.indptr[c + 1] - course.indptr[c] + 8)
        times = where(better > 0.0, eight(_MUCH), 1.0)
        found = where(takes, beyond + _MUCH * n * (spread + EPS * onward) + times * better / EPS, found)
    return found


@leaf
def _raise(low, high, backwards, asking, course, pattern, lanes, errors, raised) -> None:  # type: ignore[no-untyped-def]
    """Raise the strain wherever a choice asks for more, and tell which one, and in which lanes."""
    worth, fix, strain = errors[0], errors[1], errors[2]
    rose = row(raised, 0)
    for j in range(low, high):
        x = pattern.walk[low + high - 1 - j if backwards else j]
        free = row(lanes.choice, x) != DECIDED
        here, fixed, most, asks = row(worth, x), row(fix, x), row(strain, x), row(asking, x)
        asked = -1.001 * (here + fixed) / EPS
        more_asked = free & row(lanes.may_stop, x) & (asked > most)
        most, asks = where(more_asked, asked, most), where(more_asked, STOP, asks)
        changed = more_asked
        for c in range(course.first_choice[x], course.first_choice[x + 1]):
            leaving = 0.0
            for e in range(course.indptr[c], course.indptr[c + 1]):
                leaving += course.data[e] if course.indices[e] != x else 0.0
            if not (course.enabled[c] and leaving > 0.0):
                continue
            n = float(course.indptr[c + 1] - course.indptr[c] + 8)
            better, rest, spread, onward = eight(0.0), eight(0.0), eight(0.0), eight(0.0)
            for e in range(course.indptr[c], course.indptr[c + 1]):
                y = course.indices[e]
                if y != x:
                    p = course.data[e]
                    more, change = row(worth, y) - here, row(fix, y) - fixed
                    better = better + p * more
                    rest = rest + p * change
                    spread = spread + p * (_size(more) + _size(change))
                    onward = onward + p * row(strain, y)
            asked = onward * (1.0 + n * EPS) + n * spread + (better + rest) / EPS
            more_asked = free & (asked > most * leaving)
            most, asks = where(more_asked, (asked + n * spread) / leaving, most), where(more_asked, c, asks)
            changed = changed | more_asked
        if any_of(changed):
            put(strain, x, most)
            put(asking, x, asks)
            rose = rose | changed
    put(raised, 0, rose)
