"""Least and greatest probability of reaching a target, with strategies that attain them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from waypost.arguments import checked
from waypost.graph import Graph, Ints, Mask, can_reach, prob0a, prob0e, prob1e, reachable
from waypost.graph.compiled import both
from waypost.model import MDP, Target
from waypost.model.once import once
from waypost.solve.arena import Arena
from waypost.solve.digits import EQUAL, in_digits
from waypost.solve.exactly import keeping
from waypost.solve.rational import to_fraction
from waypost.solve.rewards import Payoff, best_rewards, rewards_in


@checked
def reachability(mdp: MDP, *, target: Target, optimum: Literal["max", "min"], exact: bool = False) -> NDArray[Any]:
    """Probability of reaching `target` from each state, greatest or least over all strategies.

    Parameters
    ----------
    mdp
        The model.
    target
        Labels or names of states; any of them is the target.
    optimum
        Whether strategies go for the target or avoid it.
    exact
        Whether numbers are fractions.

    Returns
    -------
    numpy.ndarray
        A probability for each state, in the order of ``mdp.states``.

    Raises
    ------
    NameUnknownError
        If the model has no such target.
    PrecisionError
        If floats cannot tell; ask for exact numbers then.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> mdp = loan()
    >>> dict(zip(mdp.states, reachability(mdp, target="Granted", optimum="max").round(3).tolist()))["Application"]
    0.98
    >>> reachability(mdp, target="Granted", optimum="max", exact=True)[0]
    Fraction(49, 50)
    """
    reach = Reach.of(mdp, mdp.where(target), exact=exact)
    found = (reach.max if optimum == "max" else reach.min).values
    return fractions(found) if exact else found


def fractions(values: NDArray[Any]) -> NDArray[np.object_]:
    """Array of Python's own Fractions."""
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = to_fraction(value)
    return array


@dataclass(frozen=True, eq=False)
class Optimum:
    """Probabilities and a memoryless deterministic strategy that attains them."""

    values: NDArray[Any]  # (S,)
    choice: Ints  # (S,) or STOP


@dataclass(frozen=True, eq=False)
class Reach:
    """A target in an arena: what can be said about reaching it, computed when it is first asked for.

    Some choices may be forbidden; then `known` is the target without that, right wherever none of them is met. Who has
    found both optima elsewhere says so (`given`).
    """

    arena: Arena
    target: Mask  # (S,)
    enabled: Mask | None = None  # (C,) choices that may be taken
    known: Reach | None = None
    given: tuple[Optimum, Optimum] | None = None  # least and greatest

    @classmethod
    def of(cls, mdp: MDP, target: Mask, *, exact: bool) -> Reach:
        """Prepare an MDP and a target."""
        return cls(Arena.of(mdp, target, exact=exact), target.copy())

    def forced(self, enabled: Mask) -> Reach:
        """The same target where only some choices may be taken."""
        return Reach(self.arena, self.target, enabled, self)

    @once
    def untouched(self) -> Mask:
        """(S,) where everything is as `known`: no state with a forbidden choice is ever met."""
        graph = self.arena.graph
        touched = np.zeros(graph.n_states, bool)
        if self.enabled is None or self.known is None:
            return touched
        touched[graph.choice_state[~self.enabled]] = True
        return ~can_reach(graph, touched, enabled=self.enabled)

    @once
    def possible(self) -> Mask:
        """(S,) where some strategy reaches the target: vmax > 0."""
        return ~prob0a(self.arena.graph, self.target, enabled=self.enabled)

    @once
    def avoidable(self) -> tuple[Mask, Ints]:
        """(S,) where some strategy never reaches it, vmin = 0, and the choice that stays there."""
        return prob0e(self.arena.graph, self.target, enabled=self.enabled)

    @once
    def optima(self) -> tuple[Optimum, Optimum]:
        """Both, `min` and `max`, for who needs both: they share nothing but the graph."""
        if self.given is not None:
            return self.given
        graph, _ = self.arena.graph, (self.possible, self.avoidable, self.untouched)
        return both(lambda: self.min, lambda: self.max, 0 if self.arena.exact else graph.size)

    @once
    def max(self) -> Optimum:
        """Greatest probability of reaching the target, and a strategy for it. 0 and 1 are decided by the graph."""
        if self.given is not None:
            return self.given[1]
        arena = self.arena
        sure, nearer = prob1e(arena.graph, self.target, enabled=self.enabled)
        terminal = sure | ~self.possible | self.untouched
        gain = np.where(sure, arena.one, arena.zero)
        if self.known is not None:
            gain = np.where(self.untouched, self.known.max.values, gain)
        found = best_rewards(arena, terminal=terminal, may_stop=~terminal, gain=gain, enabled=self.enabled, finest=True)
        values = found.gain if arena.exact else _strictly_between(found.gain, zero=~self.possible, one=sure)
        choice = np.where(sure, nearer, found.choice)
        return Optimum(values, self._where_untouched(choice, "max"))

    @once
    def min(self) -> Optimum:
        """Least probability of reaching the target, and a strategy for it. 0 and 1 are decided by the graph."""
        if self.given is not None:
            return self.given[0]
        arena = self.arena
        zero, staying = self.avoidable
        one = ~can_reach(arena.graph, zero, blocked=self.target, enabled=self.enabled)  # prob1a
        terminal = zero | one | self.untouched
        loss = np.where(one, arena.one, arena.zero)
        if self.known is not None:
            loss = np.where(self.untouched, self.known.min.values, loss)
        nowhere = np.zeros(len(zero), bool)
        found = best_rewards(arena, terminal=terminal, may_stop=nowhere, loss=loss, enabled=self.enabled)
        values = found.loss if arena.exact else _strictly_between(found.loss, zero=zero, one=one)
        choice = np.where(zero, staying, found.choice)
        return Optimum(values, self._where_untouched(choice, "min"))

    def _where_untouched(self, choice: Ints, optimum: Literal["max", "min"]) -> Ints:
        """Take over the strategy that is known."""
        if self.known is None:
            return choice
        return np.where(self.untouched, getattr(self.known, optimum).choice, choice)

    @once
    def conserving(self) -> Mask:
        """(C,) choices that keep the greatest probability of the target: ``vmax(x) = sum_y P(c, y) vmax(y)``.

        Every optimal strategy keeps to them until it reaches the target. Equal means equal: what floats cannot tell
        apart is computed with more digits.
        """
        arena, graph, value = self.arena, self.arena.graph, self.max.values
        if arena.rational:
            return self._equal(value)
        if arena.exact:
            return self._keeping(value, arena, graph.everything)
        rate = np.add.reduceat(arena.data * value[graph.indices], graph.indptr[:-1])
        own = value[graph.choice_state]
        # sure facts: an optimum of 1 is kept exactly by the choices that lead to such states only
        keeps = np.where(own == 1, np.logical_and.reduceat(value[graph.indices] == 1, graph.indptr[:-1]), rate > 0)
        keeps = np.where(own == 0, True, keeps)
        keeps &= rate >= own * (1 - CLEARLY)
        if self.enabled is not None:
            keeps &= self.enabled
        inner = keeps & (own > 0) & (own < 1)
        options = np.bincount(graph.choice_state[inner], minlength=graph.n_states)[graph.choice_state]
        tied = inner & (options > 1)
        if tied.any():
            keeps[tied] = self._decided(keeps, tied)[tied]
        return np.asarray(keeps, bool)

    def _equal(self, value: NDArray[Any]) -> Mask:
        """(C,) choices that lose nothing, in rationals."""
        graph, enabled = self.arena.graph, self.arena.graph.everything if self.enabled is None else self.enabled
        nowhere = np.zeros(graph.n_states, bool)
        return keeping(rewards_in(self.arena, nowhere, nowhere, enabled), value, self.max.choice)

    def _decided(self, keeps: Mask, tied: Mask) -> Mask:
        """(C,) which of the `tied` choices are as good as the best; only those that `keep` matter for that."""
        graph = self.arena.graph
        like = self._alike(keeps)
        owners = np.zeros(graph.n_states, bool)
        owners[graph.choice_state[tied]] = True
        unsure = tied & ~keeping_alike(graph, like)
        differing = unsure.copy()
        if self.arena.mdp is not None:
            differing[unsure] = ~twin_choices(self.arena.mdp, np.flatnonzero(unsure), like)[unsure]
        owners &= np.bincount(graph.choice_state[differing], minlength=graph.n_states) > 1
        if not owners.any():  # they do not differ at all
            return tied
        needed = reachable(graph, owners, enabled=keeps)
        finer = self.arena.careful(keeps & needed[graph.choice_state])
        best = self._best_in_digits(finer, keeps, needed)
        rows = unsure & owners[graph.choice_state]
        return np.where(rows, self._keeping(best, finer, rows), tied)

    def _alike(self, keeps: Mask) -> Ints:
        """(S,) a state that is worth exactly as much, by the graph alone: the same one for all that it tells alike.

        Whoever keeps to one choice, and leads by it to states that are alike, is like them.
        """
        graph, value = self.arena.graph, self.max.values
        like = np.arange(graph.n_states)
        for extreme in (0, 1):
            like[value == extreme] = np.argmax(value == extreme)
        only = np.bincount(graph.choice_state[keeps], minlength=graph.n_states) == 1
        rows = np.flatnonzero(keeps & (only & (value > 0) & (value < 1))[graph.choice_state])
        sizes = np.diff(graph.indptr)[rows]
        entries = np.repeat(graph.indptr[rows] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        owner, onward = np.repeat(graph.choice_state[rows], sizes), graph.indices[entries]
        owner, onward = owner[owner != onward], onward[owner != onward]
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        mine = owner[starts]
        while len(mine):
            there = like[onward]
            least = np.minimum.reduceat(there, starts)
            moved = (np.maximum.reduceat(there, starts) == least) & (like[mine] != least)
            if not moved.any():
                break
            like[mine[moved]] = least[moved]
            like = like[like]
        return like

    def _best_in_digits(self, arena: Arena, keeps: Mask, needed: Mask) -> NDArray[Any]:
        """(S,) `max` in a hundred digits, of the `needed` states."""
        found = self.max
        ends = ~needed | np.asarray((found.values == 0) | (found.values == 1), bool)
        gain = np.where(needed & (found.values == 1), arena.one, arena.zero)
        initial = Payoff(arena.zeros(), arena.zeros(), found.choice)
        with in_digits():
            return best_rewards(
                arena, terminal=ends, may_stop=~ends, gain=gain, enabled=keeps, initial=initial
            ).gain  # fmt: skip

    def _keeping(self, value: NDArray[Any], arena: Arena, rows: Mask) -> Mask:
        """(C,) which of some choices lose nothing, beyond floats."""
        graph, found = arena.graph, np.zeros(arena.graph.n_choices, bool)
        zero = arena.zero
        with in_digits():
            for c in np.flatnonzero(rows).tolist():
                x = graph.choice_state[c]
                entries = range(graph.indptr[c], graph.indptr[c + 1])
                lost = sum((arena.data[e] * (value[graph.indices[e]] - value[x]) for e in entries), zero)
                found[c] = abs(lost) <= EQUAL * value[x] if isinstance(zero, Decimal) else lost == 0
        return found


CLEARLY = 1e-9  # relative: a choice that keeps less is worse


def keeping_alike(graph: Graph, like: Ints) -> Mask:
    """(C,) choices that only lead to what is alike their state: they keep its value, whatever it is.

    Waiting in a place, or going around in circles, loses nothing: ``sum_y P(c, y) v(y) = v(x)`` where ``v(y) = v(x)``.
    """
    same = like[graph.indices] == np.repeat(like[graph.choice_state], np.diff(graph.indptr))
    return np.logical_and.reduceat(same, graph.indptr[:-1])


def twin_choices(mdp: MDP, choices: Ints, like: Ints) -> Mask:
    """(C,) which of some choices lead where an earlier one of the same state does, or to what is alike."""
    twins, seen = np.zeros(mdp.n_choices, bool), set()
    numbers = mdp.transitions.data if mdp.exact is None else mdp.exact
    for c in choices.tolist():
        row = slice(mdp.transitions.indptr[c], mdp.transitions.indptr[c + 1])
        there = like[mdp.transitions.indices[row]]
        order = np.argsort(there, kind="stable")
        key = (int(mdp.choice_state[c]), *there[order], *numbers[row][order])
        if there.min() == there.max():
            key = (int(mdp.choice_state[c]), int(there[0]))
        twins[c] = key in seen
        seen.add(key)
    return twins


def _strictly_between(values: NDArray[np.float64], *, zero: Mask, one: Mask) -> NDArray[np.float64]:
    """Keep rounding from making a 0 or a 1 of what is neither."""
    inner = np.clip(values, np.nextafter(0, 1), np.nextafter(1, 0))
    return np.where(zero, 0.0, np.where(one, 1.0, inner))
