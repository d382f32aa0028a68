"""The one optimisation everything else is: the best expected terminal reward.

Some states are *terminal* and pay a gain or a loss, both at least 0; in some others one *may stop* with neither;
elsewhere a strategy picks choices until it gets to one of those. Its worth is ``w = a gain - b loss``, in expectation,
for two weights. The best is the solution of

    w(x) = a gain(x) - b loss(x)                         x terminal
    w(x) = max( [0 if x may stop],  max_c  sum_y P(c, y) w(y) )   otherwise

that belongs to a strategy which gets to a terminal or stopping state. Components are settled in reverse topological
order by policy iteration (`optimiser`); what comes out is what a real strategy earns, with its gain and its loss
apart, and satisfies the optimality equation. Reachability needs no more:

    Prmax(F T)   gain 1 on T, stopping allowed everywhere
    Prmin(F T)   loss 1 on T, terminal where T can be avoided for ever
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import PrecisionError
from waypost.graph import Ints, Mask, distances
from waypost.graph.compiled import eagerly
from waypost.solve.arena import Arena
from waypost.solve.digits import EQUAL, in_digits, to_digits
from waypost.solve.doubt import doubtful
from waypost.solve.exactly import Evaluation, settle_exactly
from waypost.solve.gth import NO_LIMIT, arrange, blank
from waypost.solve.optimiser import settle, settle_single
from waypost.solve.policy import STOP, TIE, Payoff, Rewards, arrows, evaluate, improve
from waypost.solve.strain import nothing_known

__all__ = ["STOP", "Payoff", "best_rewards"]

MOST_IN_DIGITS = 20_000  # states of a component: a hundred digits each take hours beyond
FEW = 40  # states whose strategies rationals try by themselves
SOME = 10_000  # basic steps of one optimisation that are some milliseconds in plain Python; there may be hundreds


def best_rewards(
    arena: Arena,
    *,
    terminal: Mask,
    may_stop: Mask,
    gain: NDArray[Any] | None = None,
    loss: NDArray[Any] | None = None,
    weights: tuple[Any, Any] | None = None,
    enabled: Mask | None = None,
    initial: Payoff | None = None,
    certified: bool = True,
    finest: bool = False,
) -> Payoff:
    """Best expected terminal reward from every state, and a strategy with it.

    `gain` and `loss` are at least 0 and matter on `terminal` states only; left out, they are 0. A state that is neither
    terminal nor may stop must not be able to avoid those states for ever. `initial` is what a strategy earns that
    certainly gets to a terminal or stopping state, with this gain and loss, whatever the weights; without it one is
    laid towards the gains. Floats are `certified`: where they cannot tell whether a strategy is the best (`doubt`),
    more digits do (`digits`). Say `finest` where ties hang on the answer: then what is better in the last digits
    only is switched to as well.
    """
    graph = arena.graph
    enabled = graph.everything if enabled is None else enabled
    gain_weight, loss_weight = (arena.one, arena.one) if weights is None else weights
    if terminal.all():  # the graph has settled everything
        gained, lost = (arena.zeros() if column is None else column.copy() for column in (gain, loss))
        return Payoff(gained, lost, np.full(arena.graph.n_states, STOP))
    if initial is None:
        choice = _towards(arena, terminal, gain, may_stop, enabled)
        if loss is None or loss_weight == 0:  # nothing to gain, nothing to lose: whoever may stop there does
            idle = (choice == STOP) & may_stop & ~terminal
            terminal = terminal | idle
            gain = np.where(idle, arena.zero, gain) if gain is not None and idle.any() else gain
            loss = np.where(idle, arena.zero, loss) if loss is not None and idle.any() else loss
        earned = Payoff(arena.zeros(), arena.zeros(), np.where(terminal, STOP, choice))
    else:
        earned = Payoff(initial.gain.copy(), initial.loss.copy(), np.where(terminal, STOP, initial.choice))
    for column, paid in ((earned.gain, gain), (earned.loss, loss)):
        if paid is not None:
            column[terminal] = paid[terminal]
    rewards = rewards_in(arena, terminal, may_stop, enabled, (gain_weight, loss_weight), finest=finest)
    if arena.rational:
        _settle_rationally(arena, rewards, earned, evaluated=initial is not None)
    elif arena.exact:
        with in_digits():
            _settle_in_order(arena, rewards, earned)
    else:
        _settle_in_floats(arena, rewards, earned, certified=certified, evaluated=initial is not None)
    return earned


def rewards_of(
    arena: Arena,
    choice: Ints,
    *,
    terminal: Mask,
    may_stop: Mask,
    gain: NDArray[Any],
    loss: NDArray[Any],
    enabled: Mask | None = None,
) -> Payoff | None:
    """What a strategy earns, in rationals; None if it does not certainly get to a terminal or stopping state."""
    earned = Payoff(arena.zeros(), arena.zeros(), np.where(terminal, STOP, choice))
    earned.gain[terminal], earned.loss[terminal] = gain[terminal], loss[terminal]
    enabled = arena.graph.everything if enabled is None else enabled
    rewards = rewards_in(arena, terminal, may_stop, enabled)
    return earned if Evaluation(rewards, earned).run() else None


def rewards_in(
    arena: Arena,
    terminal: Mask,
    may_stop: Mask,
    enabled: Mask,
    weights: tuple[Any, Any] | None = None,
    *,
    finest: bool = False,
) -> Rewards:
    """Terminal rewards in an arena, as loops take them."""
    graph = arena.graph
    return Rewards(
        graph.first_choice, graph.indptr, graph.indices, arena.data, enabled, terminal, may_stop,
        *(weights or (arena.one, arena.one)), tie=_margin(arena), zero=arena.zero, finest=finest,
    )  # fmt: skip


def _settle_rationally(arena: Arena, rewards: Rewards, earned: Payoff, *, evaluated: bool) -> None:
    """Settle everything in rationals, from a strategy that floats have found, if none is `evaluated` already."""
    if evaluated:
        settle_exactly(rewards, earned, evaluated=True)
        return
    laid, rough = earned.choice.copy(), _found_in_floats(arena, rewards, earned)
    if rough is not None:
        earned.choice[:] = rough
    if not settle_exactly(rewards, earned):  # rounding led into a cycle that is never left
        earned.choice[:] = laid
        settle_exactly(rewards, earned)


def _found_in_floats(arena: Arena, rewards: Rewards, earned: Payoff) -> Ints | None:
    """Best strategy as floats find it: where rationals begin, and hardly ever have anything to improve."""
    if (~rewards.terminal).sum() < FEW:
        return None
    try:
        with in_haste(arena):
            found = best_rewards(
                arena.rough,
                terminal=rewards.terminal,
                may_stop=rewards.may_stop,
                gain=in_floats(earned.gain),
                loss=in_floats(earned.loss),
                weights=(float(rewards.gain_weight), float(rewards.loss_weight)),
                enabled=rewards.enabled,
                certified=False,
            )
    except (PrecisionError, ArithmeticError):
        return None
    return found.choice


def in_haste(arena: Arena) -> AbstractContextManager[None]:
    """Where floats that only lead the way must not take longer than the fractions: unless they are few, compiled."""
    return eagerly() if arena.work > SOME else nullcontext()


def in_floats(rewards: NDArray[Any]) -> NDArray[np.float64]:
    """Terminal rewards, rounded."""
    found = np.zeros(len(rewards))
    paid = np.asarray(rewards != 0, bool)
    found[paid] = rewards[paid].astype(float)
    return found


def _settle_in_order(arena: Arena, rewards: Rewards, earned: Payoff) -> None:
    """Settle every component in a hundred digits, or in any other kind of number."""
    parts = arena.components
    place = np.full(arena.graph.n_states, -1)
    for low, high in zip(parts.pointer[:-1], parts.pointer[1:], strict=True):
        block = parts.members[low:high]
        block = block[~rewards.terminal[block]]
        if len(block) == 1:
            settle_single(block[0], rewards, earned)
        elif len(block) > 1:
            _iterate(block, rewards, earned, place)


def _iterate(block: Ints, rewards: Rewards, earned: Payoff, place: Ints) -> bool:
    """Policy iteration on a component, every strategy arranged anew, so that less fills in; False if one never ends."""
    improved = True
    while improved:
        place[block] = np.arange(len(block))
        taken = np.zeros(len(rewards.enabled), bool)
        taken[earned.choice[block[earned.choice[block] >= 0]]] = True
        ways = arrows(block, rewards.first_choice, rewards.indptr, rewards.indices, taken, place)
        pattern = arrange.sized(100 * len(block))(len(block), *ways, NO_LIMIT)[1]
        block = block[pattern.order]
        place[block] = np.arange(len(block))
        if not evaluate(block, pattern, rewards, earned, place, blank(pattern, rewards.data)):
            return False
        improved = improve(block, rewards, earned, place, earned.gain[:0], rewards.tie)
    place[block] = -1
    return True


def _settle_in_floats(arena: Arena, rewards: Rewards, earned: Payoff, *, certified: bool, evaluated: bool) -> None:
    """Settle every component in floats, and those in doubt again."""
    parts, start = arena.components, earned.choice.copy()
    worth = np.where(rewards.terminal, _worth(rewards, earned), 0.0)
    stake = np.where(rewards.terminal, rewards.gain_weight * earned.gain + rewards.loss_weight * earned.loss, 0.0)
    known, suspect = nothing_known(worth, stake), np.zeros(len(parts), bool)
    run = settle.sized(arena.work)
    low = 0
    again: set[int] = set()
    while True:
        low = run(low, parts.pointer, parts.members, rewards, earned, known, suspect, certified, evaluated)
        if low < len(parts):
            again.add(low)
            block = parts.members[parts.pointer[low] : parts.pointer[low + 1]]
            _settle_in_digits(block, rewards, earned, start)
            known.worth[block] = _worth(rewards, earned)[block]
            evaluated = False  # nor is what leads there
            low += 1
            continue
        if not suspect.any():
            return
        suspects = doubtful(arena, rewards, earned, suspect)
        k = next((int(k) for k in suspects if k not in again), None)
        if k is None:
            return
        again.add(k)
        low = len(parts)
        block = parts.members[parts.pointer[k] : parts.pointer[k + 1]]
        if _settle_in_digits(block, rewards, earned, start):
            known.worth[block] = _worth(rewards, earned)[block]
            low = k + 1


def _worth(rewards: Rewards, earned: Payoff) -> NDArray[np.float64]:
    """(S,) what a strategy is worth."""
    return np.asarray(rewards.gain_weight * earned.gain - rewards.loss_weight * earned.loss)


def _settle_in_digits(block: Ints, rewards: Rewards, earned: Payoff, start: Ints) -> bool:
    """Settle a component in a hundred digits; whether that made a difference.

    What lies outside is worth what it is in floats: for numbers as rounded as those, the best strategy is found.
    """
    block = block[~rewards.terminal[block]]
    if len(block) > MOST_IN_DIGITS:
        raise PrecisionError(
            f"{len(block):,} states lead to one another, and runs leave them so slowly that floats do not settle "
            "what is best"
        )
    choices = np.concatenate([np.arange(*rewards.first_choice[x : x + 2]) for x in block])
    choices = choices[rewards.enabled[choices]]
    sizes = np.diff(rewards.indptr)[choices]
    ends = np.cumsum(sizes)
    entries = np.repeat(rewards.indptr[choices] - (ends - sizes), sizes) + np.arange(sizes.sum())
    outside = np.setdiff1d(rewards.indices[entries], block)
    states = np.concatenate([block, outside])
    place = np.empty(len(rewards.terminal), np.int64)
    place[states] = np.arange(len(states))
    owner = np.repeat(np.arange(len(rewards.terminal)), np.diff(rewards.first_choice))[choices]
    owned = np.bincount(place[owner], minlength=len(states))
    gain_weight, loss_weight = to_digits([rewards.gain_weight, rewards.loss_weight])
    small = Rewards(
        first_choice=np.concatenate([[0], np.cumsum(owned)]),
        indptr=np.concatenate([[0], ends]),
        indices=place[rewards.indices[entries]],
        data=to_digits(rewards.data[entries]),
        enabled=np.ones(len(choices), bool),
        terminal=np.arange(len(states)) >= len(block),
        may_stop=rewards.may_stop[states],
        gain_weight=gain_weight,
        loss_weight=loss_weight,
        tie=EQUAL,
        zero=EQUAL * 0,
        finest=True,
    )
    local = np.full(len(rewards.enabled), STOP)
    local[choices] = np.arange(len(choices))
    inside = np.arange(len(block))
    with in_digits():
        for given in (earned.choice, start):
            choice = np.full(len(states), STOP)
            choice[inside] = np.where(given[block] >= 0, local[given[block]], STOP)
            found = Payoff(to_digits(earned.gain[states]), to_digits(earned.loss[states]), choice)
            if _iterate(inside, small, found, np.full(len(states), -1)):
                break
        else:
            raise PrecisionError("policy iteration did not settle; try exact arithmetic")
    strategy = np.where(found.choice[inside] >= 0, choices[found.choice[inside]], STOP)
    same = (strategy == earned.choice[block]).all()
    earned.gain[block] = found.gain[inside].astype(float)
    earned.loss[block] = found.loss[inside].astype(float)
    earned.choice[block] = strategy
    return not same


def _margin(arena: Arena) -> Any:
    """What an improvement must exceed, relative to what is at stake."""
    if not arena.exact:
        return TIE
    return EQUAL if isinstance(arena.zero, Decimal) else arena.zero


def _towards(arena: Arena, terminal: Mask, gain: NDArray[Any] | None, may_stop: Mask, enabled: Mask) -> Ints:
    """Strategy that gets nearer to a gain where it can, stops where it may, and else takes any choice."""
    graph = arena.graph
    positive = np.zeros(graph.n_states, bool) if gain is None else terminal & np.asarray(gain > arena.zero, bool)
    _, nearer = distances(graph, positive, blocked=terminal, enabled=enabled)
    rest = (nearer < 0) & ~terminal & ~may_stop
    if rest.any():
        options = np.flatnonzero(enabled)[::-1]
        some = np.full(graph.n_states, STOP)
        some[graph.choice_state[options]] = options  # the first enabled choice of each state is written last
        nearer = np.where(rest, some, nearer)
    return nearer
