"""The one optimiser: policy iteration on a component, given what everything that comes after it is worth.

Every strategy earns a *gain* and suffers a *loss* (see `rewards`), and is worth ``w = a gain - b loss``. Policy
iteration: find what the strategy earns, switch only where that strictly helps. Started from a strategy that leaves with
probability 1, strict improvement can never close a cycle (on a closed cycle the average of ``P w - w`` is zero, yet a
switched state would make it positive). What a strategy earns is found in one of some ways, chosen by the component:

* a single state: one division;
* more: by `gth` elimination, which adds only, in one order for all strategies;
* where that would fill in: by `relaxation` with a certificate; if there is none by elimination, for every strategy in
  an order of its own; and if that fills in, too, in one order all the same.

The same text serves floats and rationals. A choice is better by ``sum_y P(c, y) (w(y) - w(x))``. In floats, where a
component is hardly ever left, small differences count, for they are met again and again: there `w` is replaced by its
*gap*, what a state is worth more than the one cut out last. Gaps have equations of their own, in which a run ends where
it leaves or meets that state, and lose no digits however rarely the component is left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask
from waypost.graph.compiled import kernel
from waypost.solve.gth import Chain, arrange, blank, eliminate, substitute
from waypost.solve.nearly import ask_no_more, nearly_best
from waypost.solve.relaxation import PATIENCE, certified, leaves, relax
from waypost.solve.strain import begin, bettered, harmless, judge, judge_single, relax_strain

STOP = -1  # the choice of a state that stops or is terminal
TIE = 1e-13  # relative: a smaller improvement is taken for rounding
MOST_ROUNDS = 10_000  # strategies tried in a component

_RELAXING, _BY_ITSELF, _BY_GAPS, _BY_WORTHS = range(4)  # ways to iterate
_GAP_TIE = 1e-12  # relative to the gaps
_HARDLY = 1e-4  # left with a smaller probability before the last state is met again: compare by gaps
_COARSE, _FINEST = 1e-3, 1e-15  # relaxation compares strategies from rough values first
_SMALL = 1_000_000  # steps of elimination that are always worth it
_FILL = 256  # and per arrow: beyond, relaxation comes first
_LONG = 100_000_000  # steps that one strategy by itself may take
_LONGEST = 400_000_000  # and all of them: a list of these steps takes gigabytes


class Rewards(NamedTuple):
    """Terminal rewards in a model, as a compiled loop takes them."""

    first_choice: Ints
    indptr: Ints
    indices: Ints
    data: NDArray[Any]
    enabled: Mask  # (C,)
    terminal: Mask  # (S,)
    may_stop: Mask  # (S,)
    gain_weight: Any
    loss_weight: Any
    tie: Any  # an improvement must exceed this share of what is at stake
    zero: Any


class Payoff(NamedTuple):
    """What a memoryless deterministic strategy earns from every state, and the strategy."""

    gain: NDArray[Any]  # (S,)
    loss: NDArray[Any]  # (S,)
    choice: Ints  # (S,) or STOP


@kernel
def settle(first, pointer, members, rewards, earned, known, suspect) -> int:  # type: ignore[no-untyped-def]
    """Settle every component from the `first` on, successors first; return one that did not, or how many there are.

    Those whose strategy is not certainly the best are `suspect`.
    """
    place = np.full(len(rewards.terminal), -1)
    for k in range(first, len(pointer) - 1):
        some = members[pointer[k] : pointer[k + 1]]
        block = some[~rewards.terminal[some]]
        if len(block) == 0:
            continue
        if len(block) == 1:
            settle_single(block[0], rewards, earned)
            judge_single(block[0], rewards, earned, known)
        elif not _settle_several(block, rewards, earned, place, known):
            return k
        suspect[k] = not harmless(block, rewards, earned, known)
        if suspect[k]:  # it is looked after; what leads there is judged by itself
            begin(block, rewards, earned, known)
    return len(pointer) - 1


@kernel
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
def _settle_several(block, rewards, earned, place, known):  # type: ignore[no-untyped-def]
    """Settle a component in floats; `place` is -1 everywhere, before and after."""
    place[block] = np.arange(len(block))
    source, goal = arrows(block, rewards.first_choice, rewards.indptr, rewards.indices, rewards.enabled, place)
    limit = max(_SMALL, _FILL * len(source))
    settled = False
    way = _RELAXING
    while not settled and way <= _BY_WORTHS:  # one place each where `arrange` and `iterate` are called: compiled once
        if way == _BY_ITSELF:
            way += 1
            first = earned.choice[block]
            settled = iterate_apart(block, rewards, earned, place, known)
            if not settled:
                earned.choice[block] = first
            continue
        arranged, pattern = arrange(len(block), source, goal, limit)
        if not arranged and way != _RELAXING:
            break
        if arranged:
            way = max(way, _BY_GAPS)
            block = block[pattern.order]
            place[block] = np.arange(len(block))
        first = earned.choice[block]
        settled = iterate(block, pattern, rewards, earned, place, known, way == _RELAXING, way == _BY_GAPS)
        if not settled and (way != _RELAXING or not leaves(block, rewards, earned, place)):
            earned.choice[block] = first  # gaps may have led into a cycle that is never left: that was rounding
        if not settled and way != _RELAXING:
            source, goal = arrows(block, rewards.first_choice, rewards.indptr, rewards.indices, rewards.enabled, place)
        limit = _LONGEST
        way += 1
    place[block] = -1
    return settled


@kernel
def arrows(block, first_choice, indptr, indices, enabled, place) -> Any:  # type: ignore[no-untyped-def]
    """Arrows between the states of a component, by their places in it."""
    total = 0
    for x in block:
        total += indptr[first_choice[x + 1]] - indptr[first_choice[x]]
    source = np.empty(total, np.int64)
    goal = np.empty(total, np.int64)
    n = 0
    for i in range(len(block)):
        for c in range(first_choice[block[i]], first_choice[block[i] + 1]):
            if enabled[c]:
                for e in range(indptr[c], indptr[c + 1]):
                    j = place[indices[e]]
                    if j >= 0 and j != i:
                        source[n] = i
                        goal[n] = j
                        n += 1
    return source[:n], goal[:n]


@kernel
def iterate(block, pattern, rewards, earned, place, known, relaxing, by_gaps) -> bool:  # type: ignore[no-untyped-def]
    """Policy iteration: evaluate, improve, until nothing improves; False if it does not come to an end.

    The strain of the strategy itself comes with it, where it is eliminated.
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
                relax_strain(block, rewards, earned, known, PATIENCE)
                return True
            tolerance = max(_FINEST, tolerance * 1e-4)
            continue
        if not evaluate(block, pattern, rewards, earned, place, factors):
            return False
        if by_gaps and factors.pivot[-1] < _HARDLY:
            gap = gaps(block, pattern, rewards, earned, place, factors)
            switched = improve(block, rewards, earned, place, gap, _GAP_TIE)
        else:
            switched = improve(block, rewards, earned, place, earned.gain[:0], rewards.tie)
        if switched or bettered(0, len(block), block, pattern, place, rewards, earned, known, factors, True):
            continue  # ties are decided by what is best to all digits: others may do as well, but not be taken for it
        judge(0, len(block), block, pattern, place, rewards, earned, known, factors)
        return True
    return False


@kernel
def iterate_apart(block, rewards, earned, place, known) -> bool:  # type: ignore[no-untyped-def]
    """Policy iteration in which every strategy is arranged by itself; False if that fills in, or has no end.

    With it come the choices that are nearly as good, among which its strain is found. The others are worse by far more
    than there is of that, which is seen to in the end.
    """
    judged = False
    for _ in range(60 + len(block)):
        near = nearly_best(block, rewards, earned)
        source, goal = arrows(block, rewards.first_choice, rewards.indptr, rewards.indices, near, place)
        arranged, pattern = arrange(len(block), source, goal, _LONG)
        if not arranged:
            return False
        block = block[pattern.order]
        place[block] = np.arange(len(block))
        factors = blank(pattern, rewards.data)
        if not evaluate(block, pattern, rewards, earned, place, factors):
            return False
        gap = earned.gain[:0]
        if factors.pivot[-1] < _HARDLY:
            gap = gaps(block, pattern, rewards, earned, place, factors)
        if improve(block, rewards, earned, place, gap, _GAP_TIE if len(gap) else rewards.tie):
            continue
        among = Rewards(
            rewards.first_choice, rewards.indptr, rewards.indices, rewards.data, near, rewards.terminal,
            rewards.may_stop, rewards.gain_weight, rewards.loss_weight, rewards.tie, rewards.zero,
        )  # fmt: skip
        if bettered(0, len(block), block, pattern, place, among, earned, known, factors, True):
            continue
        judge(0, len(block), block, pattern, place, among, earned, known, factors)
        enough = ask_no_more(block, rewards, near, known)
        if not enough:
            known.strain[block] = np.inf
        if enough or judged:
            return True
        judged = True  # what is near was told from rough values, perhaps
    return False


@kernel
def evaluate(block, pattern, rewards, earned, place, factors) -> bool:  # type: ignore[no-untyped-def]
    """Find what the strategy earns by elimination; False if it never leaves."""
    n = len(block)
    total = 0
    for x in block:
        c = earned.choice[x]
        total += rewards.indptr[c + 1] - rewards.indptr[c] if c >= 0 else 0
    chain = Chain(np.zeros(n + 1, np.int64), np.empty(total, np.int64), np.empty(total, rewards.data.dtype))
    leaving = np.zeros(n, rewards.data.dtype)
    columns = np.zeros((n, 2), rewards.data.dtype)
    filled = 0
    for i in range(n):
        c = earned.choice[block[i]]
        if c < 0:
            leaving[i] = rewards.zero + 1
        else:
            for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                y = rewards.indices[e]
                if place[y] < 0:
                    leaving[i] += rewards.data[e]
                    columns[i, 0] += rewards.data[e] * earned.gain[y]
                    columns[i, 1] += rewards.data[e] * earned.loss[y]
                elif place[y] != i:
                    chain.place[filled] = place[y]
                    chain.chance[filled] = rewards.data[e]
                    filled += 1
        chain.pointer[i + 1] = filled
    if not eliminate(0, len(leaving), pattern, chain, leaving, factors):
        return False
    substitute(0, n, pattern, factors, columns)
    for i in range(n):
        earned.gain[block[i]] = columns[i, 0]
        earned.loss[block[i]] = columns[i, 1]
    return True


@kernel
def gaps(block, pattern, rewards, earned, place, factors) -> Any:  # type: ignore[no-untyped-def]
    """(n,) what each state is worth more than the last one: ``g(last) = 0``, and ``w - w(last)`` where runs leave."""
    n = len(block)
    gap = np.zeros((n, 1))
    level = rewards.gain_weight * earned.gain[block[-1]] - rewards.loss_weight * earned.loss[block[-1]]
    for i in range(n - 1):
        c = earned.choice[block[i]]
        if c < 0:
            gap[i, 0] = -level
        else:
            for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                y = rewards.indices[e]
                if place[y] < 0:
                    worth = rewards.gain_weight * earned.gain[y] - rewards.loss_weight * earned.loss[y]
                    gap[i, 0] += rewards.data[e] * (worth - level)
    substitute(0, n - 1, pattern, factors, gap)
    return gap[:, 0]


@kernel
def improve(block, rewards, earned, place, gap, margin) -> bool:  # type: ignore[no-untyped-def]
    """Switch to a better choice wherever it helps by more than the margin; tell whether any did.

    Worths are compared, in the light of what is at stake: gain *and* loss; or `gap`, where it is given.
    """
    zero = rewards.zero
    by_gaps = len(gap) > 0
    level = zero
    if by_gaps:
        level = rewards.gain_weight * earned.gain[block[-1]] - rewards.loss_weight * earned.loss[block[-1]]
    switched = False
    for i in range(len(block)):
        x = block[i]
        up = rewards.gain_weight * earned.gain[x]
        down = rewards.loss_weight * earned.loss[x]
        here = gap[i] if by_gaps else up - down
        stake = abs(here) if by_gaps else up + down
        best = zero  # what is gained by switching
        if rewards.may_stop[x] and earned.choice[x] >= 0 and -level - here > margin * (abs(level) + stake):
            best = -level - here
            earned.choice[x] = STOP
            switched = True
        for c in range(rewards.first_choice[x], rewards.first_choice[x + 1]):
            if not rewards.enabled[c]:
                continue
            better = zero
            size = zero
            for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                y = rewards.indices[e]
                more = rewards.gain_weight * earned.gain[y]
                less = rewards.loss_weight * earned.loss[y]
                there = gap[place[y]] if by_gaps and place[y] >= 0 else more - less - level
                better = better + rewards.data[e] * (there - here)
                if margin > 0:
                    size = size + rewards.data[e] * ((abs(there) if by_gaps else more + less) + stake)
            if better > best + margin * size:
                best = better
                earned.choice[x] = c
                switched = True
    return switched
