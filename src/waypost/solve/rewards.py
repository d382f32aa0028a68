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

from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import PrecisionError
from waypost.graph import Ints, Mask, distances
from waypost.solve.arena import Arena
from waypost.solve.gth import NO_LIMIT, arrange, blank
from waypost.solve.optimiser import STOP, TIE, Payoff, Rewards, arrows, evaluate, improve, settle, settle_single

__all__ = ["STOP", "Payoff", "best_rewards"]


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
) -> Payoff:
    """Best expected terminal reward from every state, and a strategy with it.

    `gain` and `loss` are at least 0 and matter on `terminal` states only; left out, they are 0. A state that is neither
    terminal nor may stop must not be able to avoid those states for ever. `initial` is what a strategy earns that
    certainly gets to a terminal or stopping state, with this gain and loss, whatever the weights; without it one is
    laid towards the gains.
    """
    graph = arena.graph
    enabled = graph.everything if enabled is None else enabled
    gain_weight, loss_weight = (arena.one, arena.one) if weights is None else weights
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
    rewards = Rewards(
        graph.first_choice, graph.indptr, graph.indices, arena.data, enabled, terminal, may_stop,
        gain_weight, loss_weight, tie=arena.zero if arena.exact else TIE, zero=arena.zero,
    )  # fmt: skip
    parts = arena.components
    if arena.exact:
        _settle_exactly(arena, rewards, earned)
    elif settle.sized(arena.work)(parts.pointer, parts.members, rewards, earned) < len(parts):
        raise PrecisionError("policy iteration did not settle; try exact arithmetic")
    return earned


def _settle_exactly(arena: Arena, rewards: Rewards, earned: Payoff) -> None:
    """Settle every component in rationals, as `settle` does; every strategy is arranged anew, so that less fills in."""
    parts, graph = arena.components, arena.graph
    place = np.full(graph.n_states, -1)
    for low, high in zip(parts.pointer[:-1], parts.pointer[1:], strict=True):
        block = parts.members[low:high]
        block = block[~rewards.terminal[block]]
        if len(block) == 1:
            settle_single(block[0], rewards, earned)
        improved = len(block) > 1
        while improved:
            place[block] = np.arange(len(block))
            taken = np.zeros(graph.n_choices, bool)
            taken[earned.choice[block[earned.choice[block] >= 0]]] = True
            ways = arrows(block, graph.first_choice, graph.indptr, graph.indices, taken, place)
            pattern = arrange.sized(100 * len(block))(len(block), *ways, NO_LIMIT)[1]
            block = block[pattern.order]
            place[block] = np.arange(len(block))
            evaluate(block, pattern, rewards, earned, place, blank(pattern, arena.data))
            improved = improve(block, rewards, earned, place, earned.gain[:0], arena.zero)
        place[block] = -1


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
