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
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask, can_reach, stay
from waypost.importance import facts
from waypost.importance.question import Question
from waypost.model import MDP, Strategy, one_hot
from waypost.solve.conditional import Ratio, best_ratio
from waypost.solve.reachability import Reach
from waypost.solve.rewards import STOP, Payoff, best_rewards

NEAR = 1e-6  # a float nearer than this to 0 or 1 is decided by the graph

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


def bound(question: Question, states: Mask, side: Side, *, absolute: bool = False, rounded: bool = False) -> Bound:
    """Least or greatest importance of passing some states of the model, or absolutely, over all strategies.

    `rounded` means not to ask whether floats near 0 and 1 stand for those: the caller does, for many states.
    """
    cone = _Cone(question, question.spread(states), rounded)
    if absolute:
        return cone.absolute_lowest() if side == "lower" else cone.absolute_highest()
    return cone.lowest() if side == "lower" else cone.highest()


def bounds(question: Question, states: Mask, *, absolute: bool = False) -> tuple[Any, Any]:
    """Least and greatest importance of passing some states of the model, or the same without normalisation."""
    if absolute and question.scope == "all":
        return tuple(bound(question, states, side, absolute=True).value for side in SIDES)
    lower, upper = _by_graph(question, question.spread(states))
    if upper is None:
        upper = bound(question, states, "upper").value
    if lower is None:
        lower = upper if question.chain is not None else min(bound(question, states, "lower").value, upper)
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


def absolutely(question: Question, passing: Mask, value: Any, *, least: bool) -> Any:
    """Let the graph decide whether a probability is 0 or 1; other floats stay strictly between."""
    if question.exact:
        return value
    if value < NEAR and (facts.impossible(question, passing) if least else not (question.ever & passing).any()):
        return 0.0
    if value > 1 - NEAR and facts.certain(question, passing, least=least):
        return 1.0
    return float(strictly_between(value))


def strictly_between(value: Any) -> Any:
    """Keep rounding from making a 0 or a 1 of what is neither."""
    return np.clip(value, np.nextafter(0, 1), np.nextafter(1, 0))


@dataclass(frozen=True, eq=False)
class _Cone:
    """What lies between the start and the states to be passed."""

    question: Question
    states: Mask  # (S,) the passing states
    rounded: bool

    @property
    def reach(self) -> Reach:
        """The target where the scope is played."""
        return self.question.reach

    @cached_property
    def rest(self) -> Mask:
        """(S,) target states that do not count as passing."""
        return self.reach.target & ~self.states

    @cached_property
    def ends(self) -> Mask:
        """(S,) where the question is decided: passed, reached otherwise, or hopeless."""
        return self.states | self.rest | ~self.reach.possible

    @cached_property
    def settled(self) -> Mask:
        """(S,) outside the cone: decided, or no run from the start gets there, or none gets from there to pass."""
        graph, enabled = self.question.graph, self.question.enabled
        return self.ends | ~self.question.visited | ~can_reach(graph, self.states, enabled=enabled)

    @cached_property
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
        passed = np.where(self.states, self.reach.max.values, arena.zero)
        if self.question.optimal:
            found = self.reaches(passed)
            value = found.gain[self.question.start] / self.question.best
            return Bound(self.decided(value, upper=True), lambda: self.total(found.choice, otherwise=best), best)
        worst = self.total(self.reach.min.choice)
        ratio = self.ratio(passed, np.where(self.states, arena.zero, self.reach.min.values))
        return Bound(self.decided(ratio.value, upper=True), lambda: self.idling(ratio.choice, worst), best)

    def lowest(self) -> Bound:
        """Least importance over the strategies in scope."""
        arena, best = self.reach.arena, self.total(self.reach.max.choice)
        if facts.must_pass(self.question, self.states):
            return Bound(arena.one, lambda: best, best)
        if not (self.question.visited_by_best & self.states).any():  # the best strategy found never passes
            return Bound(arena.zero, lambda: best, best)
        around = np.where(self.states, arena.zero, self.reach.max.values)
        if self.question.optimal:
            found = self.reaches(around)
            value = 1 - found.gain[self.question.start] / self.question.best
            return Bound(self.decided(value, upper=False), lambda: self.total(found.choice, otherwise=best), best)
        worst = self.total(self.reach.min.choice)
        ratio = self.ratio(around, np.where(self.states, self.reach.min.values, arena.zero))
        return Bound(self.decided(ratio.complement, upper=False), lambda: self.idling(ratio.choice, best), worst)

    def absolute_highest(self) -> Bound:
        """Greatest probability of passing and then reaching the target."""
        best = self.total(self.reach.max.choice)
        found = self.reaches(np.where(self.states, self.reach.max.values, self.reach.arena.zero))
        value = absolutely(self.question, self.states, found.gain[self.question.start], least=False)
        return Bound(value, lambda: self.total(found.choice, otherwise=best), best)

    def absolute_lowest(self) -> Bound:
        """Least probability of passing and then reaching the target (an infimum over those that can reach it)."""
        arena = self.reach.arena
        price = np.where(self.states, self.reach.min.values, arena.zero)
        worst = self.total(self.reach.min.choice)
        found = best_rewards(arena, terminal=self.settled, may_stop=self.idle[0], loss=price)
        value = absolutely(self.question, self.states, found.loss[self.question.start], least=True)
        return Bound(value, lambda: self.idling(found.choice, worst), worst)

    def reaches(self, gain: NDArray[Any]) -> Payoff:
        """Greatest expected gain on the way, with the choices in scope."""
        enabled, settled = self.question.enabled, self.settled
        return best_rewards(self.reach.arena, terminal=settled, may_stop=~settled, gain=gain, enabled=enabled)

    def ratio(self, gain: NDArray[Any], loss: NDArray[Any]) -> Ratio:
        """Greatest conditional probability from the start."""
        arena, start, idle = self.reach.arena, self.question.start, self.idle[0]
        return best_ratio(arena, start=start, terminal=self.settled, gain=gain, loss=loss, may_stop=idle)

    def decided(self, value: Any, *, upper: bool) -> Any:
        """Let the graph decide whether an upper bound is 1 or a lower bound 0; other floats stay strictly between."""
        if self.question.exact:
            return value
        near = value > 1 - NEAR if upper else value < NEAR
        decide = facts.can_be_one if upper else facts.can_be_zero
        if not self.rounded and (self.question.rare or near) and decide(self.question, self.states):
            return 1.0 if upper else 0.0
        return float(strictly_between(value))

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
