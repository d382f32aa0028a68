"""Whether the strategies that lanes (`lanes`) end with are certainly the best for their states; see `strain`.

All lanes are looked at together, each with the strain that its own strategy asks for, and some more where another does.
Where that does not end soon, or states share what they are worth (end components), one lane is looked at by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.graph.compiled import kernel, leaf
from waypost.graph.components import stay_in_ends
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


@kernel
def _small(kind, most, found, stake):  # type: ignore[no-untyped-def]
    """Whether it does not matter that the start may be worth `most`; a ratio is judged a little above it."""
    if kind in (HIGHEST, LOWEST):
        return most <= 0.0 and most - found <= HARMLESS * stake
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
def _at_first(ended):  # type: ignore[no-untyped-def]
    """(8,) SURE where a lane has ended."""
    verdict = np.empty(8, np.int64)
    for w in range(8):
        verdict[w] = SURE if ended[w] else UNSURE
    return verdict


@leaf
def _any(some, verdict):  # type: ignore[no-untyped-def]
    """Whether any of some lanes is SURE."""
    found = False
    for w in range(8):
        found |= some[w] and verdict[w] == SURE
    return found


@kernel
def vouched_by_steps(ended, steps, course, pattern, lanes, worth) -> Any:  # type: ignore[no-untyped-def]
    """(8,) SURE where no choice is so much better that it matters in as many `steps` as there are at most, or UNSURE.

    Strains are ``known + most T(x)``, see `steps`: then no choice asks for more. `worth` is room.
    """
    width = 8
    verdict = _at_first(ended)
    known = np.zeros(width)  # strain of what is decided
    most = np.zeros(width)  # strain of one step
    better, spread = np.empty(width), np.empty(width)
    for x in range(len(steps)):
        for w in range(width):
            up = lanes.weights[0, w] * lanes.gain[x, w]
            down = lanes.weights[1, w] * lanes.loss[x, w]
            worth[x, w] = up - down
            if lanes.choice[x, w] == DECIDED:
                known[w] = max(known[w], 4.0 * (up + down))
            elif lanes.may_stop[x, w]:
                most[w] = max(most[w], -1.001 * worth[x, w] / EPS / steps[x])
            elif lanes.choice[x, w] == STOP:
                verdict[w] = UNSURE
    longest = 0
    for x in pattern.order:
        for c in range(course.first_choice[x], course.first_choice[x + 1]):
            if not course.enabled[c]:
                continue
            leaving = 0.0
            for w in range(width):
                better[w] = 0.0
                spread[w] = 0.0
            for e in range(course.indptr[c], course.indptr[c + 1]):
                y = course.indices[e]
                p = course.data[e]
                leaving += p if y != x else 0.0
                for w in range(width):
                    more = worth[y, w] - worth[x, w]
                    better[w] += p * more
                    spread[w] += p * abs(more)
            n = course.indptr[c + 1] - course.indptr[c] + 8
            longest = max(longest, n)
            for w in range(width):
                asked = n * spread[w] + better[w] / EPS
                if lanes.choice[x, w] != DECIDED and asked > most[w] * leaving:
                    most[w] = asked / leaving
    for w in range(width):
        x = course.start
        up = lanes.weights[0, w] * lanes.gain[x, w]
        down = lanes.weights[1, w] * lanes.loss[x, w]
        strain = known[w] + 1.001 * (most[w] + longest * EPS * known[w]) * steps[x]  # strains are rounded, too
        if not _small(course.kind, up - down + EPS * strain, up - down, up + down):
            verdict[w] = UNSURE
    return verdict


@kernel
def vouched_together(ended, course, pattern, lanes, errors) -> Any:  # type: ignore[no-untyped-def]
    """(8,) SURE or, where that takes a closer look or a lane has not ended, UNSURE; `errors` is room."""
    n, width = lanes.choice.shape
    verdict = _at_first(ended)
    for x in range(n):
        for w in range(width):
            if lanes.choice[x, w] == STOP and not lanes.may_stop[x, w]:
                verdict[w] = UNSURE
    if course.wandering.any():
        for c in range(len(course.wandering)):
            if course.wandering[c]:
                for w in range(width):
                    if lanes.choice[course.choice_state[c], w] != DECIDED:
                        verdict[w] = UNSURE
        if not _any(ended, verdict):
            return verdict
    worth, fix, strain = errors[0], errors[1], errors[2]
    for x in range(n):
        for w in range(width):
            up = lanes.weights[0, w] * lanes.gain[x, w]
            down = lanes.weights[1, w] * lanes.loss[x, w]
            worth[x, w] = up - down
            fix[x, w] = 0.0
            strain[x, w] = 4.0 * (up + down) if lanes.choice[x, w] == DECIDED else 0.0
    raised = np.zeros(width, np.bool_)
    asking = lanes.choice.copy()
    for b in range(len(pattern.blocks) - 1):
        low = pattern.blocks[b]
        high = pattern.blocks[b + 1]
        if high - low == 1:
            _refine_single(pattern.order[low], course, lanes, errors)
        else:
            _refine(low, high, course, pattern, lanes, errors)
            _strain(low, high, asking, course, pattern, lanes, errors)
        for k in range(_PASSES if high - low > 1 else 1):
            for w in range(width):
                raised[w] = False
            _raise(low, high, k % 2 == 1, asking, course, pattern, lanes, errors, raised)
            if not _any(raised, verdict):
                break
            if k % 2 == 1 and k >= _FROM:
                factorise(low, high, 1, asking, lanes.gain, lanes.loss, course, pattern, lanes.factors)
                _strain(low, high, asking, course, pattern, lanes, errors)
        for w in range(width):
            if high - low > 1 and raised[w]:
                verdict[w] = UNSURE
    for w in range(width):
        x = course.start
        up = lanes.weights[0, w] * lanes.gain[x, w]
        down = lanes.weights[1, w] * lanes.loss[x, w]
        most = worth[x, w] + fix[x, w] + EPS * strain[x, w]
        if not _small(course.kind, most, up - down, up + down):
            verdict[w] = UNSURE
    return verdict


@leaf
def _missing(x, w, course, lanes, errors):  # type: ignore[no-untyped-def]
    """By how much one step of a lane's strategy earns more than its state is worth."""
    worth, fix = errors[0], errors[1]
    c = lanes.choice[x, w]
    total = 0.0
    rest = 0.0
    if c >= 0:
        for e in range(course.indptr[c], course.indptr[c + 1]):
            y = course.indices[e]
            total += course.data[e] * (worth[y, w] - worth[x, w])
            rest += course.data[e] * (fix[y, w] - fix[x, w])
    return total + rest


@leaf
def _refine_single(x, course, lanes, errors) -> None:  # type: ignore[no-untyped-def]
    """Find what is missing of the worth of a component that is one state."""
    for w in range(8):
        errors[1, x, w] = _missing(x, w, course, lanes, errors)


@kernel
def _refine(low, high, course, pattern, lanes, errors) -> None:  # type: ignore[no-untyped-def]
    """Find what is missing of the worth of a component of several, given that of its successors."""
    rows = lanes.factors.rows
    for j in range(low, high):
        x = pattern.walk[j]
        for w in range(8):
            rows[4 * pattern.place[x] + 1, w] = _missing(x, w, course, lanes, errors)
    substitute_lanes(low, high, 2, pattern, lanes.factors)
    for j in range(low, high):
        x = pattern.walk[j]
        for w in range(8):
            errors[1, x, w] = rows[4 * pattern.place[x] + 1, w]


@kernel
def _strain(low, high, asking, course, pattern, lanes, errors) -> None:  # type: ignore[no-untyped-def]
    """Raise strains to what the strategies that are asking ask for in a component, given their factors, and more."""
    strain, rows = errors[2], lanes.factors.rows
    for _ in range(2):  # the second time with what rounding hides of strains
        for j in range(low, high):
            x = pattern.walk[j]
            for w in range(8):
                rows[4 * pattern.place[x] + 1, w] = _own(low, high, x, w, asking, course, pattern, lanes, errors)
        substitute_lanes(low, high, 2, pattern, lanes.factors)
        for j in range(low, high):
            x = pattern.walk[j]
            i = pattern.place[x]
            for w in range(8):
                strain[x, w] = max(strain[x, w], rows[4 * i + 1, w])


@leaf
def _own(low, high, x, w, asking, course, pattern, lanes, errors):  # type: ignore[no-untyped-def]
    """What one step of a strategy adds to the strain of a state in one lane, and more; and what follows it."""
    worth, fix, strain = errors[0], errors[1], errors[2]
    c = asking[x, w]
    if c == DECIDED:
        return strain[x, w]
    if c == STOP:
        return _MUCH * max(-1.001 * (worth[x, w] + fix[x, w]) / EPS, 0.0) if lanes.choice[x, w] >= 0 else 0.0
    better = 0.0
    spread = 0.0
    onward = 0.0
    beyond = 0.0
    for e in range(course.indptr[c], course.indptr[c + 1]):
        y = course.indices[e]
        p = course.data[e]
        if not low <= pattern.place[y] < high:
            beyond += p * strain[y, w]
        if y != x:
            more = worth[y, w] - worth[x, w]
            change = fix[y, w] - fix[x, w]
            better += p * (more + change)
            spread += p * (abs(more) + abs(change))
            onward += p * strain[y, w]
    if c == lanes.choice[x, w]:
        better = abs(better)
    n = course.indptr[c + 1] - course.indptr[c] + 8
    return beyond + _MUCH * n * (spread + EPS * onward) + (_MUCH if better > 0.0 else 1.0) * better / EPS


@leaf
def _raise(low, high, backwards, asking, course, pattern, lanes, errors, raised) -> None:  # type: ignore[no-untyped-def]
    """Raise the strain wherever a choice asks for more, and tell which one, and in which lanes."""
    worth, fix, strain, choice = errors[0], errors[1], errors[2], lanes.choice
    for j in range(low, high):
        x = pattern.walk[low + high - 1 - j if backwards else j]
        for w in range(8):
            asked = -1.001 * (worth[x, w] + fix[x, w]) / EPS
            if lanes.may_stop[x, w] and choice[x, w] != DECIDED and asked > strain[x, w]:
                strain[x, w] = asked
                asking[x, w] = STOP
                raised[w] = True
        for c in range(course.first_choice[x], course.first_choice[x + 1]):
            leaving = 0.0
            for e in range(course.indptr[c], course.indptr[c + 1]):
                leaving += course.data[e] if course.indices[e] != x else 0.0
            if not (course.enabled[c] and leaving > 0.0):
                continue
            n = course.indptr[c + 1] - course.indptr[c] + 8
            for w in range(8):
                if choice[x, w] == DECIDED:
                    continue
                better = 0.0
                rest = 0.0
                spread = 0.0
                onward = 0.0
                for e in range(course.indptr[c], course.indptr[c + 1]):
                    y = course.indices[e]
                    p = course.data[e] if y != x else 0.0
                    more = worth[y, w] - worth[x, w]
                    change = fix[y, w] - fix[x, w]
                    better += p * more
                    rest += p * change
                    spread += p * (abs(more) + abs(change))
                    onward += p * strain[y, w]
                asked = onward * (1.0 + n * EPS) + n * spread + (better + rest) / EPS
                if asked > strain[x, w] * leaving:
                    strain[x, w] = (asked + n * spread) / leaving
                    asking[x, w] = c
                    raised[w] = True
