"""One state, or one set of states, over all strategies in scope (P2): bounds and witnesses, by the definitions.

``imp(s) = Pr(not t U s | F t)`` is a conditional reachability probability (paper, Sect. 4.1; Baier, Klein,
Klüppelholz, Märcker, TACAS 2014). With ``vmax`` and ``vmin`` the greatest and least probability of reaching the target
``t``::

    greatest:  gain vmax(s) at s,  loss 1 at t          one minus least:  gain 1 at t,  loss vmin(s) at s

Stopping is allowed where both `s` and `t` can be avoided for ever. A state ``x`` from which `s` cannot be met any more
is settled: loss ``vmin(x)``, or gain ``vmax(x)``; what remains is the cone between the start and `s`. Over
reachability-optimal strategies only, with ``M*`` the conserving choices and ``p* = vmax(s0)``::

    greatest = vmax(s) Prmax_M*(not t U s) / p*          least = (p* - Prmax_M*(not s U t)) / p*

The idle cycles that ``M*`` may contain do no harm to a maximum; minimising directly would count them. For a set of
states ``s`` stands for the first of them that is visited; for target states, "via s" means that the target is entered
at `s`.

Departs from the paper: no quadratic program, no integers, no big M, no epsilon; the target and `s` may be sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask, can_reach, stay
from waypost.graph.compiled import both
from waypost.importance import facts
from waypost.importance.question import Question
from waypost.model import MDP, Strategy, one_hot
from waypost.model.once import once
from waypost.solve.conditional import Ratio, best_ratio
from waypost.solve.reachability import Reach
from waypost.solve.rewards import STOP, Payoff, best_rewards

Side = Literal["lower", "upper"]
SIDES: tuple[Side, Side] = ("lower", "upper")


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound and the strategy that attains it: `before` until a passing state is entered, `after` from then on."""

    value: Any
    before: Callable[[], Ints]  # (S,) choice of each state; completed when it is asked for
    after: Ints  # (S,)

    def strategy(self, mdp: MDP, passing: Mask) -> Strategy:
        """Witness with its bit of memory."""
        return Strategy.one_bit(mdp, one_hot(mdp, self.before()), one_hot(mdp, self.after), passing)


def bound(question: Question, states: Mask, side: Side, *, absolute: bool = False, open_: bool = False) -> Bound:
    """Least or greatest importance of passing some states of the model, or absolutely, over all strategies.

    The graph is asked first whether it is 0 or 1; `open_` means that it was, and it is neither.
    """
    return _Cone(question, question.spread(states), open_ or question.exact).bound(side, absolute=absolute)


def bounds(question: Question, states: Mask, *, absolute: bool = False) -> tuple[Any, Any]:
    """Least and greatest importance of passing some states of the model, or the same without normalisation."""
    if absolute and question.scope == "all":
        return _Cone(question, question.spread(states), question.exact).bounds(absolute=True)
    lower, upper = _by_graph(question, question.spread(states))
    cone = _Cone(question, question.spread(states), question.exact or question.chain is None)
    if lower is None and upper is None and question.chain is None:
        lower, upper = cone.bounds()
    elif upper is None:
        upper = cone.bound("upper").value
    if lower is None:
        lower = upper if question.chain is not None else cone.bound("lower").value
    lower = min(lower, upper)
    return (lower * question.best, upper * question.best) if absolute else (lower, upper)


def _by_graph(question: Question, passing: Mask) -> tuple[Any, Any]:
    """Least and greatest importance where the graph decides them, None where a number is needed."""
    zero, one = question.reach.arena.zero, question.reach.arena.one
    if not (question.ever & passing).any():
        return zero, zero
    if facts.must_pass(question, passing):
        return one, one
    if question.chain is not None:
        return None, None
    lower = zero if facts.can_be_zero(question, passing) else None
    return lower, one if facts.can_be_one(question, passing) else None


def witness(question: Question, states: Mask, side: Side, *, absolute: bool = False) -> Strategy:
    """Strategy in scope that attains a bound."""
    if isinstance(question.scope, Strategy):
        return question.scope
    return bound(question, states, side, absolute=absolute and question.scope == "all").strategy(question.mdp, states)


def strictly_between(value: Any) -> Any:
    """Keep rounding from making a 0 or a 1 of what the graph says is neither."""
    return np.clip(value, np.nextafter(0, 1), np.nextafter(1, 0))


@dataclass(frozen=True, eq=False)
class _Cone:
    """What lies between the start and the states to be passed."""

    question: Question
    states: Mask  # (S,) the passing states
    open: bool  # the graph need not be asked about 0 and 1

    def bound(self, side: Side, *, absolute: bool = False) -> Bound:
        """Least or greatest importance, or absolutely, over all strategies."""
        if absolute or self.question.inevitable:  # there is nothing to divide by
            return self.absolute_lowest() if side == "lower" else self.absolute_highest()
        return self.lowest() if side == "lower" else self.highest()

    def bounds(self, *, absolute: bool = False) -> tuple[Any, Any]:
        """Both bounds; they share what lies between, and are found at the same time."""
        question, _ = self.question, (self.settled, self.idle)
        return both(
            lambda: self.bound("lower", absolute=absolute).value,
            lambda: self.bound("upper", absolute=absolute).value,
            0 if question.exact else question.graph.size,
        )

    @property
    def reach(self) -> Reach:
        """The target where the scope is played."""
        return self.question.reach

    @once
    def rest(self) -> Mask:
        """(S,) target states that do not count as passing."""
        return self.reach.target & ~self.states

    @once
    def ends(self) -> Mask:
        """(S,) where the question is decided: passed, reached otherwise, or hopeless."""
        return self.states | self.rest | ~self.reach.possible

    @once
    def settled(self) -> Mask:
        """(S,) outside the cone: decided, or no run from the start gets there, or none gets from there to pass."""
        graph, enabled = self.question.graph, self.question.enabled
        return self.ends | ~self.question.visited | ~can_reach(graph, self.states, enabled=enabled)

    @once
    def idle(self) -> tuple[Mask, Ints]:
        """(S,) where passing states and target can be avoided for ever, and the choice that does."""
        return stay(self.question.graph, ~(self.states | self.rest))

    def highest(self) -> Bound:
        """Greatest importance over the strategies in scope."""
        arena, best = self.reach.arena, self.total(self.reach.max.choice)
        if self.states[self.question.start]:
            return Bound(arena.one, lambda: best, best)
        if not (self.question.ever & self.states).any():
            return Bound(arena.zero, lambda: best, best)
        one = not self.open and facts.can_be_one(self.question, self.states)
        if self.question.optimal:
            value = arena.one if one else self.number(self.most_via.gain[self.question.start] / self.question.best)
            return Bound(value, lambda: self.total(self.most_via.choice, otherwise=best), best)
        worst = self.total(self.reach.min.choice)
        value = arena.one if one else self.number(self.highest_ratio.value)
        return Bound(value, lambda: self.idling(self.highest_ratio.choice, worst), best)

    def lowest(self) -> Bound:
        """Least importance over the strategies in scope."""
        arena, best = self.reach.arena, self.total(self.reach.max.choice)
        if facts.must_pass(self.question, self.states):
            return Bound(arena.one, lambda: best, best)
        if not (self.question.visited_by_best & self.states).any():  # the best strategy found never passes
            return Bound(arena.zero, lambda: best, best)
        zero = not self.open and facts.can_be_zero(self.question, self.states)
        if self.question.optimal:
            value = arena.zero if zero else self.number(self.most_around.complement)
            return Bound(value, lambda: self.total(self.most_around.choice, otherwise=best), best)
        worst = self.total(self.reach.min.choice)
        value = arena.zero if zero else self.number(self.lowest_ratio.complement)
        return Bound(value, lambda: self.idling(self.lowest_ratio.choice, best), worst)

    def absolute_highest(self) -> Bound:
        """Greatest probability of passing and then reaching the target."""
        arena, best = self.reach.arena, self.total(self.reach.max.choice)
        if not (self.question.ever & self.states).any():
            return Bound(arena.zero, lambda: best, best)
        one = not self.open and facts.certain(self.question, self.states, least=False)
        value = arena.one if one else self.number(self.most_via.gain[self.question.start])
        return Bound(value, lambda: self.total(self.most_via.choice, otherwise=best), best)

    def absolute_lowest(self) -> Bound:
        """Least probability of passing and then reaching the target (an infimum over those that can reach it)."""
        arena, worst = self.reach.arena, self.total(self.reach.min.choice)
        if not self.open and facts.impossible(self.question, self.states):
            value = arena.zero
        elif not self.open and facts.certain(self.question, self.states, least=True):
            value = arena.one
        else:
            value = self.number(self.least_via.loss[self.question.start])
        return Bound(value, lambda: self.idling(self.least_via.choice, worst), worst)

    @once
    def most_via(self) -> Payoff:
        """Greatest probability of passing and then reaching the target, with the choices in scope."""
        settled = self.settled
        passed = np.where(self.states, self.reach.max.values, self.reach.arena.zero)
        enabled = self.question.enabled
        return best_rewards(self.reach.arena, terminal=settled, may_stop=~settled, gain=passed, enabled=enabled)

    @once
    def most_around(self) -> Ratio:
        """The greatest share of the target without passing, with the choices in scope: the sum is always ``p*``.

        Where the target cannot be reached any more without passing, all of ``vmax`` is lost.
        """
        zero, best = self.reach.arena.zero, self.reach.max.values
        graph, enabled = self.question.graph, self.question.enabled
        around = np.where(self.states, zero, best)
        ways = enabled & ~self.settled[graph.choice_state]
        lost = self.states | ~can_reach(graph, self.settled & np.asarray(around > zero, bool), enabled=ways)
        return best_ratio(
            self.reach.arena,
            start=self.question.start,
            terminal=self.settled | lost,
            gain=np.where(lost, zero, around),
            loss=np.where(lost, best, zero),
            may_stop=np.zeros(len(lost), bool),  # idling would count as reaching
            enabled=enabled,
        )

    @once
    def least_via(self) -> Payoff:
        """Least probability of passing and then reaching the target."""
        price = np.where(self.states, self.reach.min.values, self.reach.arena.zero)
        return best_rewards(self.reach.arena, terminal=self.settled, may_stop=self.idle[0], loss=price)

    @once
    def highest_ratio(self) -> Ratio:
        """The greatest share that passes."""
        zero = self.reach.arena.zero
        passed = np.where(self.states, self.reach.max.values, zero)
        return self.ratio(passed, np.where(self.states, zero, self.reach.min.values))

    @once
    def lowest_ratio(self) -> Ratio:
        """The greatest share that does not pass."""
        zero = self.reach.arena.zero
        around = np.where(self.states, zero, self.reach.max.values)
        return self.ratio(around, np.where(self.states, self.reach.min.values, zero))

    def ratio(self, gain: NDArray[Any], loss: NDArray[Any]) -> Ratio:
        """Greatest conditional probability from the start."""
        arena, start, idle = self.reach.arena, self.question.start, self.idle[0]
        return best_ratio(arena, start=start, terminal=self.settled, gain=gain, loss=loss, may_stop=idle)

    def number(self, value: Any) -> Any:
        """What the graph says is neither 0 nor 1."""
        return value if self.question.exact else float(strictly_between(value))

    def total(self, choice: Ints, otherwise: Ints | None = None) -> Ints:
        """Complete a partial strategy: where it stops, do as `otherwise`, or anything."""
        spare = self.question.graph.first_choice[:-1] if otherwise is None else otherwise
        return np.where(choice == STOP, spare, choice)

    def idling(self, choice: Ints, otherwise: Ints) -> Ints:
        """Complete a strategy that stops: from there on avoid passing states and target for ever.

        States on the way of the idling must idle too. They are worth nothing to the optimum, so it stays one.
        """
        idle, staying = self.idle
        graph = self.question.graph
        stops = idle & (choice == STOP) & ~self.settled
        queue = list(np.flatnonzero(stops))
        while queue:
            c = staying[queue.pop()]
            for y in graph.indices[graph.indptr[c] : graph.indptr[c + 1]]:
                if not stops[y] and not self.ends[y]:
                    stops[y] = True
                    queue.append(y)
        return np.where(stops, staying, self.total(choice, otherwise))
