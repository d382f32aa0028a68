"""The one optimisation everything else is: the best expected terminal reward.

Some states are *terminal* and pay a gain or a loss, both at least 0; in some others one *may stop* with neither;
elsewhere a strategy picks choices until it gets to one of those. Its worth is ``w = a gain - b loss``, in expectation,
for two weights. The best is the solution of

    w(x) = a gain(x) - b loss(x)                         x terminal
    w(x) = max( [0 if x may stop],  max_c  sum_y P(c, y) w(y) )   otherwise

that belongs to a strategy which gets to a terminal or stopping state. Components are settled in reverse topological
order by policy iteration (`settle`, `direct`); what comes out is what a real strategy earns, with its gain and its loss
apart, and satisfies the optimality equation. Reachability needs no more:

    Prmax(F T)   gain 1 on T, stopping allowed everywhere
    Prmin(F T)   loss 1 on T, terminal where T can be avoided for ever
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask, distances
from waypost.solve.arena import Arena
from waypost.solve.direct import settle_directly
from waypost.solve.rational import solve_fixpoint
from waypost.solve.settle import MODERATE, STOP, TIE, Payoff, Problem, settle, settle_dense

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
    first: bool = False,
) -> Payoff:
    """Best expected terminal reward from every state, and a strategy with it.

    `gain` and `loss` are at least 0 and matter on `terminal` states only; left out, they are 0. A state that is neither
    terminal nor may stop must not be able to avoid those states for ever. `initial` is what a strategy earns that
    certainly gets to a terminal or stopping state, with this gain and loss, whatever the weights; without it one is
    laid towards the gains. The `first` problem in an arena finds out which components are slow, for all that follow:
    they must not learn from each other, or the order of questions would show in the last digits.
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
    problem = Problem(
        graph.first_choice, graph.indptr, graph.indices, arena.data, enabled, terminal, may_stop,
        gain_weight, loss_weight, tie=arena.zero if arena.exact else TIE, zero=arena.zero,
    )  # fmt: skip
    _settle_all(arena, problem, earned, arena.slow if first else arena.slow.copy())
    return earned


def _settle_all(arena: Arena, problem: Problem, earned: Payoff, slow: Mask) -> None:
    """Settle every component; what the compiled loop cannot, it hands back."""
    parts = arena.components
    run = settle.sized(0 if arena.exact else arena.graph.size)
    alone = run is settle.plain
    place = np.full(arena.graph.n_states, -1)
    k = 0
    while True:
        k = run(k, alone, parts.pointer, parts.members, slow, place, problem, earned)
        if k == len(parts):
            return
        members = parts.members[parts.pointer[k] : parts.pointer[k + 1]]
        block = members[~problem.terminal[members]]
        if arena.exact:
            _settle_exactly(problem, earned, block.tolist())
        elif not (len(block) <= MODERATE and _settled_dense(problem, earned, block, place)):
            settle_directly(arena, problem, earned, np.sort(block), place)
        k += 1


def _settled_dense(problem: Problem, earned: Payoff, block: Ints, place: Ints) -> bool:
    """Settle a small component by cutting out its states; False if that does not end."""
    place[block] = np.arange(len(block))
    settled = settle_dense.sized(4 * len(block) ** 2)(block, problem, earned, place)
    place[block] = -1
    return bool(settled)


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


def _settle_exactly(problem: Problem, earned: Payoff, block: list[int]) -> None:
    """Policy iteration on a component in rationals, by state elimination."""
    inside = {x: i for i, x in enumerate(block)}
    switched = True
    while switched:
        rows: list[dict[int, Any]] = []
        gains, losses = [], []
        for x in block:
            row: dict[int, Any] = {}
            gain = loss = problem.zero
            for y, chance in _step(problem, int(earned.choice[x])):
                if y in inside:
                    row[inside[y]] = chance
                else:
                    gain, loss = gain + chance * earned.gain[y], loss + chance * earned.loss[y]
            rows.append(row)
            gains.append(gain)
            losses.append(loss)
        earned.gain[block], earned.loss[block] = solve_fixpoint(rows, gains, losses)
        switched = False
        worth = {x: problem.gain_weight * earned.gain[x] - problem.loss_weight * earned.loss[x] for x in block}
        for x in block:
            best = worth[x]
            if problem.may_stop[x] and best < problem.zero:
                best, earned.choice[x], switched = problem.zero, STOP, True
            for c in range(problem.first_choice[x], problem.first_choice[x + 1]):
                if not problem.enabled[c]:
                    continue
                total = problem.zero
                for y, chance in _step(problem, c):
                    total = total + chance * (
                        problem.gain_weight * earned.gain[y] - problem.loss_weight * earned.loss[y]
                    )
                if total > best:
                    best, earned.choice[x], switched = total, c, True


def _step(problem: Problem, choice: int) -> list[tuple[int, Any]]:
    """Successors of a choice with their probabilities; none where one stops."""
    if choice < 0:
        return []
    low, high = problem.indptr[choice], problem.indptr[choice + 1]
    return list(zip(problem.indices[low:high].tolist(), problem.data[low:high], strict=True))
