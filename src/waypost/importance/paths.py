"""Importance of a path (P3, P4): among the runs that reach the target, those that begin with it.

Paper, Sect. 4.1. For a simple path ``tau = s0 a0 s1 ... sn`` that avoids the target, under a fixed strategy::

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
from waypost.importance.passing import Side
from waypost.importance.question import Question
from waypost.model import MDP, Strategy, one_hot
from waypost.solve.rational import to_rationals
from waypost.solve.reachability import Reach
from waypost.solve.rewards import STOP


def path_bounds(question: Question, path: Sequence[str]) -> tuple[Any, Any, Any]:
    """Least and greatest importance of a path, and the greatest probability of the target when it is followed."""
    followed = _Path.of(question, path)
    if isinstance(question.scope, Strategy) and question.chain is not None:
        value = _under_strategy(question.scope, question.chain, followed)
        return value, value, question.best
    start = question.mdp.initial
    if not followed.reach.possible[start]:
        raise UndefinedImportanceError(
            f"no strategy that follows this path reaches {question.name}, so importance is undefined"
        )
    conserving = question.reach.conserving[followed.choices].all()
    best = question.best if conserving else followed.reach.max.values[start]
    if not conserving and not question.exact:  # it costs something, be it less than a float can tell
        best = min(best, np.nextafter(question.best, 0))
    lower, upper = (followed.bound("both" if question.optimal else side) for side in ("lower", "upper"))
    return lower, upper, best


def path_witness(question: Question, path: Sequence[str], side: Side) -> Strategy:
    """Strategy in scope that attains a bound of the importance of a path."""
    if isinstance(question.scope, Strategy):
        return question.scope
    followed = _Path.of(question, path)
    return followed.optimal_witness() if question.optimal else followed.witness(side)


def _checked(question: Question, names: tuple[str, ...]) -> tuple[Ints, Ints]:
    """States and choices of a path, step by step."""
    mdp, target = question.mdp, question.target_states
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
    return states, choices


@dataclass(frozen=True, eq=False)
class _Path:
    """A simple path in the model in which its actions are forced at every visit."""

    mdp: MDP
    states: Ints  # (n + 1,)
    choices: Ints  # (n,)
    left: Mask  # (C,) choices that are left
    reach: Reach  # in the forced model

    @classmethod
    def of(cls, question: Question, path: Sequence[str]) -> _Path:
        """Check a path and force its actions."""
        mdp = question.mdp
        states, choices = _checked(question, tuple(path))
        left = ~np.isin(mdp.choice_state, states[:-1])
        left[choices] = True
        return cls(mdp, states, choices, left, question.model.forced(left))

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

    def bound(self, side: Side | Literal["both"]) -> Any:
        """Least or greatest importance over all strategies that follow the path, or under the best ("both").

        0 and 1 fall out exactly.
        """
        along, aside = self._halves(side)
        if along == 0 and aside == 0:  # one half never reaches the target, the other need not: it alone decides
            along, aside = self._halves("both")
        share = along / (along + aside)  # 1 only if there is nothing aside
        return np.nextafter(1, 0) if aside > 0 and isinstance(share, float) and share >= 1 else share

    def _halves(self, side: Side | Literal["both"]) -> tuple[Any, Any]:
        """Probability of the target along the path and aside from it; each at its best where `side` wants it."""
        likely, deviations = self.steps
        best, worst = self.reach.max.values, self.reach.min.values
        end, off = (worst if side == "lower" else best), (worst if side == "upper" else best)
        return likely * end[self.states[-1]], sum((p * off[y] for p, y in deviations), self.reach.arena.zero)

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


def _under_strategy(strategy: Strategy, chain: InducedChain, followed: _Path) -> Any:
    """P3: follow the path through the strategy's chain; 1 only if no run leaves it and still reaches the target."""
    ways = [_along(strategy, chain, followed, start) for start, _ in chain.starts]
    along = sum(chance * value for (_, chance), (value, _) in zip(chain.starts, ways, strict=True))
    share = along / chain.reach.max.values[chain.start]
    if chain.reach.arena.exact or share < 1:
        return share
    return 1.0 if all(alone for _, alone in ways) else float(np.nextafter(1, 0))


def _along(strategy: Strategy, chain: InducedChain, followed: _Path, at: int) -> tuple[Any, bool]:
    """Probability of the path and then the target, mode by mode, and whether no run leaves it and still succeeds."""
    graph, likely, alone = chain.reach.arena.graph, chain.reach.arena.one, True
    for y in followed.states[1:].tolist():
        onward = int(strategy.update[at // followed.mdp.n_states, y]) * followed.mdp.n_states + y
        row = slice(graph.indptr[at], graph.indptr[at + 1])
        taken = graph.indices[row] == onward
        alone = alone and not chain.reach.possible[graph.indices[row][~taken]].any()
        if not taken.any():
            return chain.reach.arena.zero, alone
        likely, at = likely * chain.steps[row][taken][0], onward
    return likely * chain.reach.max.values[at], alone
