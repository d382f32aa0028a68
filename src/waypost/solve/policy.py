"""The two halves of policy iteration on a component: what a strategy earns, and where another choice is better.

A strategy is evaluated by `gth` elimination, given what everything that comes after the component is worth. The same
text serves floats and rationals. A choice is better by ``sum_y P(c, y) (w(y) - w(x))``. In floats, where a component is
hardly ever left, small differences count, for they are met again and again: there `w` is replaced by its *gap*, what a
state is worth more than the one cut out last. Gaps have equations of their own, in which a run ends where it leaves or
meets that state, and lose no digits however rarely the component is left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask
from waypost.graph.compiled import kernel
from waypost.solve.gth import Chain, eliminate, substitute

STOP = -1  # the choice of a state that stops or is terminal
TIE = 1e-13  # relative: a smaller improvement is taken for rounding
GAP_TIE = 1e-12  # relative to the gaps
HARDLY = 1e-4  # left with a smaller probability before the last state is met again: compare by gaps


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
    finest: bool  # what is better in the last digits only counts, too: ties hang on it


class Payoff(NamedTuple):
    """What a memoryless deterministic strategy earns from every state, and the strategy."""

    gain: NDArray[Any]  # (S,)
    loss: NDArray[Any]  # (S,)
    choice: Ints  # (S,) or STOP


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
