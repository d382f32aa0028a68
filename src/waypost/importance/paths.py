"""Importance of a path (P3, P4): among the runs that reach the target, those that begin with it.

Paper, Sect. 4.2. For a simple path ``tau = s0 a0 s1 ... sn`` that avoids the target, under a fixed strategy::

    imp(tau) = Pr(tau) Pr_sn(F t) / Pr_s0(F t)

Over all strategies that follow it (``sigma(s_i) = a_i`` at every visit) the halves separate, because a run that has
left the path never gets back to its beginning. In ``M^tau``, where those actions are forced, with ``P`` the
probability of the path and the deviations ``D = {(P_i delta(s_i, a_i, y), y) : y != s_{i+1}}``::

    max = P vmax(sn) / (P vmax(sn) + sum_D p vmin(y))        min = P vmin(sn) / (P vmin(sn) + sum_D p vmax(y))

Scope "optimal" means the best of the strategies that follow the path; they all give ``P vmax(sn) / vmax(s0)``, taken in
``M^tau``. `PathImportance` tells what following the path costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from waypost.errors import PathError, UndefinedImportanceError
from waypost.graph import Ints, Mask
from waypost.importance.fixed import InducedChain
from waypost.importance.results import Number, PathImportance, Scope, Side
from waypost.importance.states import Question, plain
from waypost.model import MDP, Strategy, Target, one_hot
from waypost.solve.rational import to_rationals
from waypost.solve.reachability import Reach
from waypost.solve.rewards import STOP


def path_importance(
    mdp: MDP, *, path: Sequence[str], target: Target, scope: Scope, exact: bool = False
) -> PathImportance:
    """Importance of a simple path from the initial state, for reaching `target`.

    `path` alternates states and actions: ``[s0, a0, s1, ..., sn]``.

    >>> from waypost.cases import loan
    >>> found = path_importance(loan(), path=["s0", "Apply", "Application"], target="Granted", scope="all")
    >>> round(found.lower, 12), found.upper
    (0.897166841553, 1.0)
    >>> path_importance(loan(), path=["s0", "Apply", "Application"], target="Granted", scope="optimal").lower
    0.95
    """
    question = Question.of(mdp, target=target, scope=scope, exact=exact)
    walk = Walk.of(question, path)
    best = question.facts.reach.max.values[question.facts.start]
    if question.chain is not None:
        value = _under_strategy(question, walk)
        return _answer(question, walk, value, value, best, best)
    if not walk.reach.possible[mdp.initial]:
        raise UndefinedImportanceError(
            f"no strategy that follows this path reaches {question.name}, so importance is undefined"
        )
    conserving = question.facts.reach.conserving[0][walk.choices].all()
    following = best if conserving else walk.reach.max.values[mdp.initial]
    if scope == "optimal":
        value = walk.optimal()
        return _answer(question, walk, value, value, best, following)
    return _answer(question, walk, walk.bound("lower"), walk.bound("upper"), best, following)


def path_witness(question: Question, path: Sequence[str], side: Side) -> Strategy:
    """Strategy in scope that attains a bound of the importance of a path."""
    if isinstance(question.scope, Strategy):
        return question.scope
    walk = Walk.of(question, path)
    return walk.optimal_witness() if question.scope == "optimal" else walk.witness(side)


@dataclass(frozen=True, eq=False)
class Walk:
    """A simple path in the model in which its actions are forced at every visit."""

    mdp: MDP
    names: tuple[str, ...]
    states: Ints  # (n + 1,)
    choices: Ints  # (n,)
    left: Mask  # (C,) choices that are left
    reach: Reach  # in the forced model

    @classmethod
    def of(cls, question: Question, path: Sequence[str]) -> Walk:
        """Check a path step by step."""
        mdp, target = question.mdp, question.target
        names = tuple(path)
        if len(names) % 2 == 0:
            raise PathError("a path alternates states and actions: it starts and ends with a state")
        states = np.array([mdp.state(name) for name in names[::2]], np.int64)
        if states[0] != mdp.initial:
            raise PathError(f"a path starts in the initial state {mdp.states[mdp.initial]!r}, not in {names[0]!r}")
        if len(set(states.tolist())) != len(states):
            twice = next(name for i, name in enumerate(names[::2]) if name in names[: 2 * i : 2])
            raise PathError(f"the path visits {twice!r} twice; importance is defined for simple paths")
        if target[states].any():
            hit = mdp.states[states[int(np.argmax(target[states]))]]
            raise PathError(f"the path runs through {hit!r}, which belongs to the target {question.name}")
        choices = np.array([mdp.choice(s, a) for s, a in zip(states[:-1].tolist(), names[1::2], strict=True)], np.int64)
        for c, s, y in zip(choices, states[:-1], states[1:], strict=True):
            row = mdp.transitions.indices[mdp.transitions.indptr[c] : mdp.transitions.indptr[c + 1]]
            if y not in row:
                known = ", ".join(mdp.states[z] for z in row[:6])
                raise PathError(
                    f"action {mdp.actions[c]!r} in state {mdp.states[s]!r} does not lead to {mdp.states[y]!r}; "
                    f"it leads to: {known}"
                )
        left = np.ones(mdp.n_choices, bool)
        for s in states[:-1]:
            left[mdp.first_choice[s] : mdp.first_choice[s + 1]] = False
        left[choices] = True
        whole = question.facts.reach if question.chain is None else Reach.of(mdp, target, exact=question.exact)
        return cls(mdp, names, states, choices, left, whole.forced(left))

    @cached_property
    def steps(self) -> tuple[Any, list[tuple[Any, int]]]:
        """Probability of the path, and its deviations as (probability, state)."""
        arena, transitions = self.reach.arena, self.mdp.transitions
        likely, deviations = arena.one, []
        for choice, onward in zip(self.choices, self.states[1:], strict=True):
            row = slice(transitions.indptr[choice], transitions.indptr[choice + 1])
            chances = to_rationals(self.mdp.rationals()[row]) if arena.exact else transitions.data[row]
            step = arena.zero
            for y, chance in zip(transitions.indices[row].tolist(), chances, strict=True):
                if y == onward:
                    step = chance
                else:
                    deviations.append((likely * chance, y))
            likely = likely * step
        return likely, deviations

    def bound(self, side: Side) -> Any:
        """Least or greatest importance over all strategies that follow the path; 0 and 1 fall out exactly."""
        along, aside = self._halves(side)
        if along == 0 and aside == 0:  # one half never reaches the target, the other need not: it alone decides
            along, aside = self._halves("both")
        return _share(along, aside)

    def _halves(self, side: Side | Literal["both"]) -> tuple[Any, Any]:
        """Probability of the target along the path and aside from it; each at its best where `side` wants it."""
        likely, deviations = self.steps
        best, worst = self.reach.max.values, self.reach.min.values
        end, off = (worst if side == "lower" else best), (worst if side == "upper" else best)
        return likely * end[self.states[-1]], sum((p * off[y] for p, y in deviations), self.reach.arena.zero)

    def optimal(self) -> Any:
        """Importance under the best strategies that follow the path."""
        return _share(*self._halves("both"))

    def witness(self, side: Side) -> Strategy:
        """Strategy that knows how far the path was followed, then does its best or worst."""
        best, worst = self._choices(self.reach.max.choice), self._choices(self.reach.min.choice)
        end, off = (best, worst) if side == "upper" else (worst, best)
        if self._halves(side) == (0, 0):
            end = off = best
        n, done, left = len(self.choices), len(self.choices), len(self.choices) + 1
        update = np.full((n + 2, self.mdp.n_states), left)
        for i in range(n):
            update[i, self.states[i + 1]] = i + 1
        update[done] = done
        modes = (*[one_hot(self.mdp, best)] * n, one_hot(self.mdp, end), one_hot(self.mdp, off))
        return Strategy(self.mdp, modes, update)

    def optimal_witness(self) -> Strategy:
        """Best strategy that follows the path; it needs no memory."""
        return Strategy.deterministic_of(self.mdp, self._choices(self.reach.max.choice))

    def _choices(self, choice: Ints) -> Ints:
        """Complete a strategy: where it stops, the first choice that is left."""
        options = np.flatnonzero(self.left)[::-1]
        first = np.empty(self.mdp.n_states, np.int64)
        first[self.mdp.choice_state[options]] = options  # the first one is written last
        return np.where(choice == STOP, first, choice)


def _share(along: Any, aside: Any) -> Any:
    """``along / (along + aside)``, and 1 only if there is nothing aside."""
    share = along / (along + aside)
    return np.nextafter(1, 0) if aside > 0 and isinstance(share, float) and share >= 1 else share


def _under_strategy(question: Question, walk: Walk) -> Any:
    """P3: follow the path through the strategy's chain, mode by mode."""
    chain: InducedChain | None = question.chain
    strategy = question.scope
    if chain is None or not isinstance(strategy, Strategy):  # pragma: no cover - told apart by the caller
        raise TypeError("not a strategy")
    arena, n = chain.reach.arena, question.mdp.n_states
    reached = chain.reach.max.values
    at, likely = chain.start, arena.one
    for y in walk.states[1:]:
        onward = int(strategy.update[at // n, y]) * n + int(y)
        row = slice(arena.graph.indptr[at], arena.graph.indptr[at + 1])
        place = np.flatnonzero(arena.graph.indices[row] == onward)
        if not len(place):
            return arena.zero
        likely = likely * chain.steps[row][place[0]]
        at = onward
    value = likely * reached[at] / reached[chain.start]
    if arena.exact or value == 0:
        return value
    return value if value < 1 else _one_if_certain(question, walk, chain)


def _one_if_certain(question: Question, walk: Walk, chain: InducedChain) -> float:
    """A value that rounded to 1 is 1 only if no run leaves the path and still reaches the target."""
    strategy, n = question.scope, question.mdp.n_states
    at = chain.start
    for y in walk.states[1:]:
        onward = int(strategy.update[at // n, y]) * n + int(y)  # type: ignore[union-attr]
        graph = chain.reach.arena.graph
        others = graph.indices[graph.indptr[at] : graph.indptr[at + 1]]
        if chain.reach.possible[others[others != onward]].any():
            return float(np.nextafter(1, 0))
        at = onward
    return 1.0


def _answer(question: Question, walk: Walk, lower: Any, upper: Any, best: Any, following: Any) -> PathImportance:
    numbers: list[Number] = [plain(x) for x in (lower, upper, best, following)]
    return PathImportance(
        mdp=question.mdp,
        target=question.name,
        path=walk.names,
        scope=question.scope_name,
        lower=numbers[0],
        upper=numbers[1],
        reachability=numbers[2],
        reachability_following=numbers[3],
        question=question,
    )
