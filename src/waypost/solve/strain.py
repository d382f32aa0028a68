"""How far a strategy found in floats may be from the best: a bound on the error, from the numbers themselves.

What a strategy is worth, ``w = a gain - b loss``, is at most ``w + eps e`` under *any* strategy if for every choice `c`

    e(x) - sum_y P(c, y) e(y)  >=  (n(c) + 8) spread(c)  +  better(c) / eps

where ``better(c) = sum_y P(c, y) (w(y) - w(x))`` as floats have it, ``spread(c)`` is the same sum of absolute values,
and ``n(c)`` is how many successors it has: then ``w + eps e`` never rises along a run, whatever is chosen. The first
term is what rounding can hide: that of differences, products and their sum, and of probabilities when they were read
and when staying was left out. Nothing is said of where ``w`` comes from, so ``w = worth + fix``: floats as they were
found, and what puts them right to twice as many digits (one step of iterative refinement). Where runs stay for long
among states that are worth nearly the same, nothing spreads, and nothing is hidden.

The least such ``e`` is the *strain* of a state: what the right-hand sides add up to along a run, at most. It is found
by policy iteration (`judge`), which begins with the strategy itself; most often that asks for most already.

In an end component (`waypost.graph.components`) runs may wander for ever, and every state is worth the same, as a fact:
each gets to every other. So its states share one worth, the greatest found for any of them, and one strain; choices
that stay in it ask for nothing, and one that leaves it with probability ``l`` asks ``e >= (...) / l``, the sums taken
over where it leaves to. The `leader` of a state is the one that stands for its end component, or itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints
from waypost.graph.compiled import kernel, leaf
from waypost.graph.components import send_towards
from waypost.solve.gth import Chain, eliminate, substitute

EPS = 2.220446049250313e-16
HARMLESS = 5e-11  # the share of what is at stake by which a best strategy may be missed
WITHOUT_RATIO = 8.0  # where no ratio is asked for, as many times that: nothing was judged a little above it

HOPELESS = 1e-6  # a greater share than that comes to no good
_MORE = 1.5  # what is asked for is exceeded by this factor, or rounding would ask again
_FIXED = 1e-13  # relative to what it is the balance of: how right a fix is, if that is
_ROUNDS = 30  # strategies that ask for more


class Known(NamedTuple):
    """What is known of the error of every state."""

    worth: NDArray[Any]  # (S,) what was found; that of every terminal state, and of every component judged before
    fix: NDArray[Any]  # (S,) what is missing there
    unsure: NDArray[Any]  # (S,) by how much that may be wrong
    strain: NDArray[Any]  # (S,) in units of rounding
    leader: Ints  # (S,) the state that stands for its end component, where that is known
    asking: Ints  # (S,) choices that ask for most strain
    columns: NDArray[Any]  # (S, 2) by place: room to solve in


@kernel
def nothing_known(worth, stake) -> Known:  # type: ignore[no-untyped-def]
    """Nothing but what terminal states are worth, and have at stake."""
    n = len(worth)
    return Known(worth, np.zeros(n), np.zeros(n), 4.0 * stake, np.arange(n), np.empty(n, np.int64), np.zeros((n, 2)))


@kernel
def judge(low, high, order, pattern, place, rewards, earned, known, factors) -> None:  # type: ignore[no-untyped-def]
    """Find worth and strain of a component, given those of its successors; infinite where there is no telling.

    It is ``order[low:high]``, and `place` of a state its place there, or something else. Elsewhere, and where the
    choice is below -1, everything is known. `factors` are those of the strategy; they are used up.
    """
    block = order[low:high]
    refine_together(low, high, order, pattern, rewards, earned, known, factors)
    more = True
    for k in range(_ROUNDS):
        if k > 0 and not lay(low, high, order, pattern, place, rewards, known.asking, factors):
            break
        own_strain(low, high, order, pattern, place, rewards, earned, known, factors, 1.0)
        more = ask(block, rewards, earned, known.asking, known)
        if not more or hopeless(block, rewards, earned, known):
            break
    for x in block:
        if earned.choice[x] >= -1:
            known.strain[x] = np.inf if more else known.strain[known.leader[x]]


@kernel
def refine_together(low, high, order, pattern, rewards, earned, known, factors) -> None:  # type: ignore[no-untyped-def]
    """Find worth of a component to twice as many digits, the same for all states of an end component."""
    block = order[low:high]
    begin(block, rewards, earned, known)
    _refine(low, high, order, pattern, rewards, known, factors, 1.0)
    agree(block, known)


@kernel
def own_strain(low, high, order, pattern, place, rewards, earned, known, factors, times) -> None:  # type: ignore[no-untyped-def]
    """Raise strains to what the strategy that is asking asks for, given its factors, or to some `times` as much."""
    columns = known.columns
    for _ in range(2):  # the second time with what rounding hides of strains
        for i in range(low, high):
            columns[i, 0] = _own(low, high, order[i], place, rewards, earned, known.asking, known, times)
        substitute(low, high, pattern, factors, columns[:, :1])
        for i in range(low, high):
            me = known.leader[order[i]]
            if earned.choice[order[i]] >= -1:
                known.strain[me] = max(known.strain[me], columns[i, 0])


@kernel
def bettered(low, high, order, pattern, rewards, earned, known, factors, boldly) -> bool:  # type: ignore[no-untyped-def]
    """Switch to choices that are certainly better, to twice as many digits; whether there were any.

    `factors` are those of the strategy; what is known of the strain is kept. `boldly`, what rounding hides of a fix
    along a run is taken for nothing, for neighbours share most of it: it may lead round in circles.
    """
    block = order[low:high]
    strain = np.empty(high - low)
    for i in range(high - low):
        strain[i] = known.strain[block[i]]
    begin(block, rewards, earned, known)
    _refine(low, high, order, pattern, rewards, known, factors, 0.0 if boldly else 1.0)
    switched = _improve(block, rewards, earned, known)
    agree(block, known)
    for i in range(high - low):
        known.strain[block[i]] = strain[i]
    return bool(switched)


@kernel
def _refine(low, high, order, pattern, rewards, known, factors, hidden) -> None:  # type: ignore[no-untyped-def]
    """Find what is missing of the worth of a component: one step of iterative refinement."""
    columns, asking = known.columns, known.asking
    for i in range(low, high):
        columns[i, 0], columns[i, 1] = _missing(order[i], rewards, asking, known, hidden)
    substitute(low, high, pattern, factors, columns)
    for i in range(low, high):
        if asking[order[i]] >= 0:
            known.fix[order[i]] = columns[i, 0]
            known.unsure[order[i]] = columns[i, 1]


@kernel
def _improve(block, rewards, earned, known):  # type: ignore[no-untyped-def]
    """Switch to choices that are certainly better, to twice as many digits; whether there were any."""
    switched = False
    for x in block:
        if earned.choice[x] < -1:
            continue
        best = 0.0
        worth = known.worth[x] + known.fix[x]
        if rewards.may_stop[x] and worth < -known.unsure[x]:
            best = -worth
            earned.choice[x] = -1
            switched = True
        for c in range(rewards.first_choice[x], rewards.first_choice[x + 1]):
            if rewards.enabled[c] and c != earned.choice[x]:
                better, rest, spread, unsure = 0.0, 0.0, 0.0, known.unsure[x]
                for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                    y = rewards.indices[e]
                    p = rewards.data[e]
                    better += p * (known.worth[y] - known.worth[x])
                    rest += p * (known.fix[y] - known.fix[x])
                    spread += p * (abs(known.worth[y] - known.worth[x]) + abs(known.fix[y] - known.fix[x]))
                    unsure += p * known.unsure[y]
                n = rewards.indptr[c + 1] - rewards.indptr[c] + 8
                if better + rest > best + n * EPS * spread + unsure:
                    best = better + rest
                    earned.choice[x] = c
                    switched = True
    return switched


@leaf
def judge_single(x, rewards, earned, known) -> None:  # type: ignore[no-untyped-def]
    """Worth and strain of a component that is one state."""
    _forget(x, rewards, earned, known)
    if earned.choice[x] >= -1:
        known.fix[x], known.unsure[x] = _missing(x, rewards, earned.choice, known, 1.0)
        _, asked, spare = _asks_most(x, rewards, known)
        known.strain[x] = asked + spare if asked > 0.0 else 0.0


@kernel
def raise_strain(block, rewards, known, passes) -> bool:  # type: ignore[no-untyped-def]
    """Raise strains, forth and back, until no choice asks for more; whether some still do after so many passes."""
    raised = True
    k = 0
    while raised and k < passes:
        raised = False
        for i in range(len(block)):
            x = block[i] if k % 2 == 0 else block[len(block) - 1 - i]
            _, asked, spare = _asks_most(x, rewards, known)
            if asked > known.strain[known.leader[x]]:
                known.strain[known.leader[x]] = asked + spare
                raised = True
        k += 1
    return raised


@kernel
def begin(block, rewards, earned, known) -> None:  # type: ignore[no-untyped-def]
    """Forget what was known of a component but what its states were found to be worth."""
    for x in block:
        _forget(x, rewards, earned, known)


@leaf
def _forget(x, rewards, earned, known) -> None:  # type: ignore[no-untyped-def]
    known.asking[x] = earned.choice[x]
    if earned.choice[x] >= -1:
        known.worth[x] = rewards.gain_weight * earned.gain[x] - rewards.loss_weight * earned.loss[x]
        known.fix[x], known.unsure[x], known.strain[x] = 0.0, 0.0, 0.0


@leaf
def _missing(x, rewards, choice, known, hidden):  # type: ignore[no-untyped-def]
    """By how much one step of a strategy earns more than its state is worth, and by how much that may be wrong.

    By what rounding hides of it, a little of itself, as floats add it up along runs, and what is wrong where it leads.
    """
    total, rest, spread, unsure, n = 0.0, 0.0, 0.0, 0.0, 0.0
    if choice[x] >= 0:
        n = rewards.indptr[choice[x] + 1] - rewards.indptr[choice[x]] + 8
        for e in range(rewards.indptr[choice[x]], rewards.indptr[choice[x] + 1]):
            y = rewards.indices[e]
            more = known.worth[y] - known.worth[x]
            fix = known.fix[y] - known.fix[x]
            total += rewards.data[e] * more
            rest += rewards.data[e] * fix
            spread += rewards.data[e] * (abs(more) + abs(fix))
            unsure += rewards.data[e] * known.unsure[y]
    return total + rest, unsure + _FIXED * abs(total) + hidden * n * EPS * spread


@kernel
def lay(low, high, order, pattern, place, rewards, asking, factors) -> bool:  # type: ignore[no-untyped-def]
    """Factors of the chain that a strategy makes of a component; False if it is never left."""
    size = 0
    for i in range(low, high):
        c = asking[order[i]]
        size += rewards.indptr[c + 1] - rewards.indptr[c] if c >= 0 else 0
    chain = Chain(np.zeros(high - low + 1, np.int64), np.empty(size, np.int64), np.empty(size))
    leaving = np.zeros(high - low)
    filled = 0
    for i in range(low, high):
        c = asking[order[i]]
        if c < 0:
            leaving[i - low] = 1.0
        else:
            for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                y = rewards.indices[e]
                if low <= place[y] < high and asking[y] >= -1:
                    if place[y] != i:
                        chain.place[filled] = place[y]
                        chain.chance[filled] = rewards.data[e]
                        filled += 1
                else:
                    leaving[i - low] += rewards.data[e]
        chain.pointer[i - low + 1] = filled
    return bool(eliminate(low, high, pattern, chain, leaving, factors))


@leaf
def _own(low, high, x, place, rewards, earned, asking, known, times):  # type: ignore[no-untyped-def]
    """What one step of a strategy adds to the strain of a state, and more, some `times`; and what follows it."""
    c = asking[x]
    if c < -1:
        return 0.0
    if c == -1:
        return times * _stopping(x, known) if earned.choice[x] >= 0 else 0.0
    better, spread, onward, leaving = _weigh(x, c, rewards, known)
    total = 0.0
    for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
        y = rewards.indices[e]
        if not (low <= place[y] < high and asking[y] >= -1):
            total += rewards.data[e] * known.strain[y]
    if leaving == 0.0:
        return total
    if c == earned.choice[x]:
        better = abs(better)
    n = rewards.indptr[c + 1] - rewards.indptr[c] + 8
    hidden = _MORE * n * (spread + EPS * onward)
    return total + times * hidden + (times * _MORE if better > 0.0 else 1.0) * better / EPS


@kernel
def agree(block, known) -> None:  # type: ignore[no-untyped-def]
    """Let the states of an end component be worth the same: the greatest of what was found."""
    for x in block:
        me = known.leader[x]
        if me != x and known.worth[x] + known.fix[x] > known.worth[me] + known.fix[me]:
            known.worth[me] = known.worth[x]
            known.fix[me] = known.fix[x]
    for x in block:
        known.worth[x] = known.worth[known.leader[x]]
        known.fix[x] = known.fix[known.leader[x]]


@leaf
def _weigh(x, c, rewards, known):  # type: ignore[no-untyped-def]
    """How much better a choice is than what its state is worth, the spread, the strain to come, and leaving at all."""
    me = known.leader[x]
    better, rest, spread, onward, leaving = 0.0, 0.0, 0.0, 0.0, 0.0
    for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
        y = rewards.indices[e]
        if known.leader[y] != me:
            p = rewards.data[e]
            more = known.worth[y] - known.worth[x]
            fix = known.fix[y] - known.fix[x]
            better += p * more
            rest += p * fix
            spread += p * (abs(more) + abs(fix))
            onward += p * known.strain[known.leader[y]]
            leaving += p
    return better + rest, spread, onward, leaving


@leaf
def _stopping(x, known):  # type: ignore[no-untyped-def]
    """Strain that is asked for where one may stop."""
    return max(-1.001 * (known.worth[x] + known.fix[x]) / EPS, 0.0)


@leaf
def _asks_most(x, rewards, known):  # type: ignore[no-untyped-def]
    """The choice of a state that asks for the greatest strain, -1 for stopping; how much, and a little more."""
    most = _stopping(x, known) if rewards.may_stop[x] else 0.0
    best = -1
    spare = 0.0
    for c in range(rewards.first_choice[x], rewards.first_choice[x + 1]):
        if rewards.enabled[c]:
            better, spread, onward, leaving = _weigh(x, c, rewards, known)
            if leaving > 0.0:
                n = rewards.indptr[c + 1] - rewards.indptr[c] + 8
                asked = (onward * (1.0 + n * EPS) + n * spread + better / EPS) / leaving
                spare = max(spare, 0.25 * n * spread / leaving)
                if asked > most:
                    most = asked
                    best = c
    return best, most, spare


@kernel
def ask(block, rewards, earned, asking, known) -> bool:  # type: ignore[no-untyped-def]
    """Switch to the choices that ask for more than there is; whether there were any."""
    switched = False
    leader = known.leader
    led = 0
    for x in block:
        led += leader[x] != x
    way_out = np.full(len(leader) if led > 0 else 0, -1)  # by leader
    for x in block:
        if earned.choice[x] >= -1:
            c, asked, _ = _asks_most(x, rewards, known)
            me = leader[x]
            if asked > known.strain[me]:
                switched = True
                asking[x] = c
                known.strain[me] = asked  # what others of its end component must exceed
                if led > 0:
                    way_out[me] = x
    if led > 0:
        several = np.zeros(len(leader), np.bool_)
        for x in block:
            several[leader[x]] |= leader[x] != x
        for x in block:
            if several[x] and way_out[x] >= 0:
                send_towards(
                    way_out[x], block, rewards.first_choice, rewards.indptr, rewards.indices, rewards.enabled, leader,
                    asking,
                )  # fmt: skip
    return switched


@kernel
def hopeless(block, rewards, earned, known) -> bool:  # type: ignore[no-untyped-def]
    """Whether strains have grown beyond any use."""
    strain, stake = 0.0, 0.0
    for x in block:
        strain = max(strain, known.strain[x])
        stake = max(stake, rewards.gain_weight * earned.gain[x] + rewards.loss_weight * earned.loss[x])
    return bool(EPS * strain > HOPELESS * stake)


@kernel
def harmless(block, rewards, earned, known) -> bool:  # type: ignore[no-untyped-def]
    """Whether no state is `harmful`."""
    harm = False
    for x in block:
        harm |= harmful(x, rewards, earned, known)
    return not harm


@leaf
def harmful(x, rewards, earned, known) -> bool:  # type: ignore[no-untyped-def]
    """Whether a state may be worth more than was found by more than a small share of what is at stake."""
    up = rewards.gain_weight * earned.gain[x]
    down = rewards.loss_weight * earned.loss[x]
    more = known.worth[x] - (up - down) + known.fix[x] + EPS * known.strain[x]
    return not more <= HARMLESS * (up + down)
