"""The one optimiser: policy iteration on a component, given what everything that comes after it is worth.

Every strategy earns a *gain* and suffers a *loss* (see `rewards`), and is worth ``w = a gain - b loss``. Policy
iteration: find what the strategy earns, switch only where that strictly helps. Started from a strategy that leaves with
probability 1, strict improvement can never close a cycle (on a closed cycle the average of ``P w - w`` is zero, yet a
switched state would make it positive). What a strategy earns is found in one of some ways, chosen by the component:

* a single state: one division;
* more: by `gth` elimination, which adds only, in one order for all strategies;
* where choices lead to hardly more than one state each: by elimination, for every strategy in an order of its own
  (`apart`), as one order for all would fill in;
* where it would elsewhere: by `relaxation` with a certificate; if there is none, for every strategy apart; and
  if that fills in, too, by elimination all the same.
"""

from __future__ import annotations

import numpy as np

from waypost.graph.compiled import kernel, leaf
from waypost.graph.components import lead_ends
from waypost.solve.apart import iterate_apart
from waypost.solve.gth import NO_FILL, arrange, blank
from waypost.solve.policy import GAP_TIE, HARDLY, STOP, arrows, evaluate, gaps, improve
from waypost.solve.relaxation import PATIENCE, certified, leaves, relax, relax_strain
from waypost.solve.strain import begin, bettered, harmful, harmless, judge, judge_single

MOST_ROUNDS = 10_000  # strategies tried in a component

_WAYS = 6  # to settle a component, until one does
_APART_AT_ONCE, _TOGETHER, _RELAXING, _APART, _APART_AT_LENGTH, _TOGETHER_AT_LENGTH = range(_WAYS)
_LARGE = 200  # states: fewer are arranged in no time
_MANY, _HARDLY_MORE = 1.5, 1.5  # choices per state, and arrows per choice
_COARSE, _FINEST = 1e-3, 1e-15  # relaxation compares strategies from rough values first
_SMALL = 1_000_000  # steps of elimination that are always worth it
_FILL = 256  # and per arrow: beyond, there may be better ways
_LONG = 100_000_000  # steps that one strategy by itself may take
_LONGEST = 400_000_000  # and all of them: a list of these steps takes gigabytes


@kernel
def settle(first, pointer, members, rewards, earned, known, suspect, judged, evaluated) -> int:  # type: ignore[no-untyped-def]
    """Settle every component from the `first` on, successors first; return one that did not, or how many there are.

    If they are `judged`, those whose strategy is not certainly the best are `suspect`. Otherwise, where the strategy
    given was `evaluated`, nothing is done again where neither it nor what it leads to has changed.
    """
    place = np.full(len(rewards.terminal), -1)
    moved = np.zeros(len(rewards.terminal), np.bool_)  # who earns something else than before
    keeping = evaluated and not judged
    for k in range(first, len(pointer) - 1):
        x = members[pointer[k]]
        if pointer[k + 1] - pointer[k] == 1:
            if rewards.terminal[x] or (keeping and _has_to_stay(x, rewards, moved)):
                continue
            gain, loss = earned.gain[x], earned.loss[x]
            settle_single(x, rewards, earned)
            moved[x] = gain != earned.gain[x] or loss != earned.loss[x]
            if judged:
                judge_single(x, rewards, earned, known)
                suspect[k] = harmful(x, rewards, earned, known)
                if suspect[k]:  # it is looked after; what leads there is judged by itself
                    known.strain[x] = 0.0
            continue
        some = members[pointer[k] : pointer[k + 1]]
        block = some[~rewards.terminal[some]]
        kept = keeping and _leads_as_before(block, rewards, earned, moved)
        if kept and not improve(block, rewards, earned, place, earned.gain[:0], rewards.tie):
            continue
        gains, losses = earned.gain[block], earned.loss[block]
        if not _settle_component(k, block, rewards, earned, place, known, suspect, judged):
            return k
        moved[block] = (gains != earned.gain[block]) | (losses != earned.loss[block])
    return len(pointer) - 1


@leaf
def _has_to_stay(x, rewards, moved):  # type: ignore[no-untyped-def]
    """Whether a state has one choice, and nothing that it leads to has changed."""
    c = rewards.first_choice[x]
    if rewards.may_stop[x] or rewards.first_choice[x + 1] - c > 1:
        return False
    return not _leads_elsewhere(c, rewards, moved)


@leaf
def _leads_elsewhere(c, rewards, moved):  # type: ignore[no-untyped-def]
    """Whether a choice leads to somebody who earns something else than before."""
    elsewhere = False
    for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
        elsewhere |= moved[rewards.indices[e]]
    return elsewhere


@kernel
def _leads_as_before(block, rewards, earned, moved):  # type: ignore[no-untyped-def]
    """Whether nothing has changed that the strategy of a component leads to."""
    elsewhere = False
    for x in block:
        elsewhere |= earned.choice[x] >= 0 and _leads_elsewhere(earned.choice[x], rewards, moved)
    return not elsewhere


@kernel
def _settle_component(k, block, rewards, earned, place, known, suspect, judged):  # type: ignore[no-untyped-def]
    """Settle a component; once more if it is suspect, and has end components."""
    grouped = False
    while len(block) > 0:  # one place where it is settled: compiled once
        if not _settle_several(block, rewards, earned, place, known, judged):
            return False
        suspect[k] = judged and not harmless(block, rewards, earned, known)
        if grouped or not suspect[k]:
            break
        grouped = lead_ends(
            block, rewards.first_choice, rewards.indptr, rewards.indices, rewards.enabled, place, known.leader
        )
        if not grouped:
            break
    if suspect[k]:
        begin(block, rewards, earned, known)
    return True


@leaf
def settle_single(x, rewards, earned) -> None:  # type: ignore[no-untyped-def]
    """Best choice of a component that is one state."""
    zero = rewards.zero
    best = zero
    best_gain = zero
    best_loss = zero
    taken = STOP
    known = rewards.may_stop[x]
    for c in range(rewards.first_choice[x], rewards.first_choice[x + 1]):
        if not rewards.enabled[c]:
            continue
        gain = zero
        loss = zero
        leaving = zero
        for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
            y = rewards.indices[e]
            if y != x:
                leaving = leaving + rewards.data[e]
                gain = gain + rewards.data[e] * earned.gain[y]
                loss = loss + rewards.data[e] * earned.loss[y]
        if leaving > zero:
            gain = gain / leaving
            loss = loss / leaving
            value = rewards.gain_weight * gain - rewards.loss_weight * loss
            if not known or value > best:
                best = value
                best_gain = gain
                best_loss = loss
                taken = c
                known = True
    earned.gain[x] = best_gain
    earned.loss[x] = best_loss
    earned.choice[x] = taken


@kernel
def _settle_several(block, rewards, earned, place, known, judged):  # type: ignore[no-untyped-def]
    """Settle a component in floats; `place` is -1 everywhere, before and after."""
    if len(block) == 1:
        settle_single(block[0], rewards, earned)
        if judged:
            judge_single(block[0], rewards, earned, known)
        return True
    place[block] = np.arange(len(block))
    source, goal = arrows(block, rewards.first_choice, rewards.indptr, rewards.indices, rewards.enabled, place)
    short = max(_SMALL, _FILL * len(source))
    first = earned.choice[block]
    settled = False
    for way in range(_WAYS):  # one place where each is called, so that it is compiled once
        if way in (_TOGETHER, _TOGETHER_AT_LENGTH):
            limit = short if way == _TOGETHER else _LONGEST
            settled = _iterate_together(block, source, goal, rewards, earned, place, known, limit, judged)
        elif way == _RELAXING:
            settled = iterate(block, NO_FILL, rewards, earned, place, known, True, False, judged)
            if not settled and leaves(block, rewards, earned, place):
                first = earned.choice[block]
        elif way != _APART_AT_ONCE or _fork(block, rewards, len(source)):
            limit = _LONG if way == _APART_AT_LENGTH else short
            settled = iterate_apart(block, rewards, earned, place, known, limit, judged)
        if settled:
            break
        earned.choice[block] = first
        place[block] = np.arange(len(block))
    place[block] = -1
    return settled


@kernel
def _fork(block, rewards, arrows):  # type: ignore[no-untyped-def]
    """Whether a large component offers many choices that lead to hardly more than one state each."""
    total = 0
    for x in block:
        for c in range(rewards.first_choice[x], rewards.first_choice[x + 1]):
            total += rewards.enabled[c]
    return len(block) >= _LARGE and total >= _MANY * len(block) and arrows <= _HARDLY_MORE * total


@kernel
def _iterate_together(block, source, goal, rewards, earned, place, known, limit, judged):  # type: ignore[no-untyped-def]
    """Policy iteration in one order for all strategies; False if that fills in, or does not come to an end."""
    arranged, pattern = arrange(len(block), source, goal, limit)
    if arranged:
        block = block[pattern.order]
        place[block] = np.arange(len(block))
        first = earned.choice[block]
        for k in range(2):
            if iterate(block, pattern, rewards, earned, place, known, False, k == 0, judged):
                return True
            earned.choice[block] = first  # gaps may have led into a cycle that is never left: that was rounding
    return False


@kernel
def iterate(block, pattern, rewards, earned, place, known, relaxing, by_gaps, judged) -> bool:  # type: ignore[no-untyped-def]
    """Policy iteration: evaluate, improve, until nothing improves; False if it does not come to an end.

    If it is to be `judged`, its strain comes with it.
    """
    factors = blank(pattern, rewards.data)
    patience = PATIENCE + len(block) // 10
    tolerance = _COARSE
    most = MOST_ROUNDS if relaxing else 60 + len(block)  # what is all rounding may go round in circles
    for _ in range(most):
        if relaxing:
            passes, change = relax(block, rewards, earned, place, tolerance, patience)
            patience -= passes
            if change > tolerance:
                return False
            if improve(block, rewards, earned, place, earned.gain[:0], max(rewards.tie, 10.0 * tolerance)):
                continue
            if tolerance <= _FINEST:
                if not certified(block, rewards, earned, place, change):
                    return False
                if judged:
                    relax_strain(block, rewards, earned, known, PATIENCE)
                return True
            tolerance = max(_FINEST, tolerance * 1e-4)
            continue
        if not evaluate(block, pattern, rewards, earned, place, factors):
            return False
        if by_gaps and factors.pivot[-1] < HARDLY:
            gap = gaps(block, pattern, rewards, earned, place, factors)
            switched = improve(block, rewards, earned, place, gap, GAP_TIE)
        else:
            switched = improve(block, rewards, earned, place, earned.gain[:0], rewards.tie)
        if switched:
            continue
        if not judged:
            return True
        if bettered(0, len(block), block, pattern, rewards, earned, known, factors, False):
            continue  # ties are decided by what is best to all digits: others may do as well, but not be taken for it
        judge(0, len(block), block, pattern, place, rewards, earned, known, factors)
        return True
    return False
