"""Policy iteration where the choices of a component together would fill in, but hardly those of one strategy.

Protocols are like that: thousands of states lead to one another, each by several choices, and most choices to a single
state. So every strategy is arranged by itself. Between two of them, what a better choice is worth is passed on from
state to state (`_rise`, value iteration): an elimination then settles what many such passes would only approach.

The strain (`strain`) of the last strategy is found in the same way: what its own choices ask for by elimination; what
others do, by raising it from state to state, and where that goes on, by elimination of those who ask for most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.graph.compiled import kernel, leaf
from waypost.solve.gth import blank
from waypost.solve.markowitz import arrange_chain
from waypost.solve.policy import GAP_TIE, HARDLY, STOP, evaluate, gaps, improve
from waypost.solve.strain import ask, bettered, harmless, lay, own_strain, raise_strain, refine_together

_ROUNDS = 60  # strategies; more of them, and floats go round in circles
_TIE = 2e-15  # relative: a smaller improvement is taken for rounding; most choices lead to one state, and round nothing
_PASSES = 30  # in which better choices are passed on before a strategy is evaluated again
_STRAINED = 12  # strategies that ask for more strain
_RAISED = 8  # passes in which strains may rise before those who ask for most are evaluated
_MUCH = 4.0  # times what a strategy asks for is the strain it is given: then little is to be raised


@kernel
def iterate_apart(block, rewards, earned, place, known, limit, judged) -> bool:  # type: ignore[no-untyped-def]
    """Policy iteration in which every strategy is arranged by itself; False if one fills in, or there is no end.

    What is better in the last digits only is switched to where ties hang on it, or the error would be too large else.
    """
    walk = block
    finest = rewards.finest
    for _ in range(_ROUNDS):
        arranged, block, pattern = _arranged(walk, rewards, earned.choice, place, limit)
        if not arranged:
            return False
        factors = blank(pattern, rewards.data)
        if not evaluate(block, pattern, rewards, earned, place, factors):
            return False
        if _rise(walk, rewards, earned):
            continue
        if factors.pivot[-1] < HARDLY:
            gap = gaps(block, pattern, rewards, earned, place, factors)
            if improve(block, rewards, earned, place, gap, GAP_TIE):
                continue
        if not judged:
            return True
        if finest and bettered(0, len(block), block, pattern, rewards, earned, known, factors, False):
            continue
        _judge_apart(walk, block, pattern, place, rewards, earned, known, factors, limit)
        if finest or harmless(block, rewards, earned, known):
            return True
        finest = True
        if not bettered(0, len(block), block, pattern, rewards, earned, known, factors, False):
            return True
    return False


@kernel
def _arranged(walk, rewards, choice, place, limit) -> Any:  # type: ignore[no-untyped-def]
    """Whether a strategy can be arranged within a limit; a component in the order that is best for it, and the pattern.

    `place` is the place in that order.
    """
    place[walk] = np.arange(len(walk))
    total = 0
    for x in walk:
        if choice[x] >= 0:
            total += rewards.indptr[choice[x] + 1] - rewards.indptr[choice[x]]
    source = np.empty(total, np.int64)
    goal = np.empty(total, np.int64)
    n = 0
    for i in range(len(walk)):
        c = choice[walk[i]]
        if c >= 0:
            for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                j = place[rewards.indices[e]]
                if j >= 0 and j != i:
                    source[n] = i
                    goal[n] = j
                    n += 1
    arranged, pattern = arrange_chain(len(walk), source[:n], goal[:n], limit)
    block = walk
    if arranged:
        block = walk[pattern.order]
        place[block] = np.arange(len(block))
    return arranged, block, pattern


@kernel
def _rise(walk, rewards, earned):  # type: ignore[no-untyped-def]
    """Switch to better choices and pass on what they are worth at once, some times; whether any state switched.

    Values never fall, and a switch is a strict rise: no cycle that is never left arises.
    """
    switched = False
    for _ in range(_PASSES):
        found = False
        for x in walk:
            found |= _switch(x, rewards, earned, switched)
        switched |= found
        if not found:
            break
    return switched


@leaf
def _switch(x, rewards, earned, moving):  # type: ignore[no-untyped-def]
    """Switch to a better choice of one state where it helps by more than rounding; whether it does.

    Where values are `moving`, the state first takes over what its own choice has come to.
    """
    first = earned.choice[x]
    if moving and first >= 0:
        earned.gain[x], earned.loss[x] = _after(first, rewards, earned)
    up = rewards.gain_weight * earned.gain[x]
    down = rewards.loss_weight * earned.loss[x]
    best = up - down
    stake = up + down
    if first >= 0 and rewards.may_stop[x] and best + _TIE * stake < 0.0:
        best = 0.0
        earned.choice[x] = STOP
        earned.gain[x] = 0.0
        earned.loss[x] = 0.0
    for c in range(rewards.first_choice[x], rewards.first_choice[x + 1]):
        if rewards.enabled[c] and c != first:
            gain, loss = _after(c, rewards, earned)
            up = rewards.gain_weight * gain
            down = rewards.loss_weight * loss
            if up - down > best + _TIE * (stake + up + down):
                best = up - down
                earned.choice[x] = c
                earned.gain[x] = gain
                earned.loss[x] = loss
    return earned.choice[x] != first


@leaf
def _after(c, rewards, earned):  # type: ignore[no-untyped-def]
    """Gain and loss after a choice."""
    gain = 0.0
    loss = 0.0
    for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
        gain += rewards.data[e] * earned.gain[rewards.indices[e]]
        loss += rewards.data[e] * earned.loss[rewards.indices[e]]
    return gain, loss


@kernel
def _judge_apart(walk, block, pattern, place, rewards, earned, known, factors, limit) -> None:  # type: ignore[no-untyped-def]
    """Find worth and strain of a component, as `strain.judge` does; infinite where there is no telling."""
    n = len(block)
    refine_together(0, n, block, pattern, rewards, earned, known, factors)
    more = True
    for k in range(_STRAINED):
        if k > 0:
            arranged, block, pattern = _arranged(walk, rewards, known.asking, place, limit)
            if not arranged:
                break
            factors = blank(pattern, rewards.data)
            if not lay(0, n, block, pattern, place, rewards, known.asking, factors):
                break
        own_strain(0, n, block, pattern, place, rewards, earned, known, factors, _MUCH)
        more = raise_strain(walk, rewards, known, _RAISED)
        if not more or not harmless(block, rewards, earned, known):  # they never fall
            break
        more = ask(block, rewards, earned, known.asking, known)
        if not more:
            break
    for x in block:
        known.strain[x] = np.inf if more else known.strain[known.leader[x]]
