"""What the graph alone says about importance: the zeros and ones, exactly.

``imp = 0`` and ``imp = 1`` are qualitative: no probability decides them, so no rounding may. *Passing* a set of states
means visiting one of them before the target, or entering the target at one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from waypost.graph import Graph, Ints, Mask, can_reach, dominators, only_one_way, reachable, stay
from waypost.graph import prob1e as almost_surely
from waypost.solve import Reach


@dataclass(frozen=True, eq=False)
class Facts:
    """Graph facts about passing states on the way from `start` to the target.

    With `optimal` only strategies that reach the target with the greatest probability are in scope: they keep to the
    conserving choices, and reach the target or lose all hope of it with probability 1.
    """

    reach: Reach
    start: int
    optimal: bool = False

    @property
    def graph(self) -> Graph:
        """The graph everything here is read from."""
        return self.reach.arena.graph

    @cached_property
    def enabled(self) -> Mask:
        """(C,) choices that strategies in scope may take before the target."""
        usable = ~self.reach.target[self.graph.choice_state]
        return usable & self.reach.conserving[0] if self.optimal else usable

    @cached_property
    def visited(self) -> Mask:
        """(S,) states that some strategy visits before, or on entering, the target."""
        return reachable(self.graph, _only(self.start, self.graph.n_states), enabled=self.enabled)

    @cached_property
    def usual(self) -> Mask:
        """(S,) states that the best strategy found visits before, or on entering, the target."""
        taken = np.zeros(self.graph.n_choices, bool)
        taken[self.reach.max.choice[self.reach.max.choice >= 0]] = True
        return reachable(self.graph, _only(self.start, self.graph.n_states), enabled=self.enabled & taken)

    @cached_property
    def ever(self) -> Mask:
        """(S,) greatest importance above 0: visited, and the target may follow."""
        return self.visited & self.reach.possible

    @cached_property
    def always(self) -> Mask:
        """(S,) least importance 1: on every path to the target."""
        return dominators(self.graph, self.start, self.reach.target, enabled=self.enabled)

    def must_pass(self, passing: Mask) -> bool:
        """Whether no strategy reaches the target without passing: least importance 1."""
        if passing.sum() == 1:
            return bool(self.always[passing][0])
        around = self.enabled & ~passing[self.graph.choice_state]
        start = _only(self.start, self.graph.n_states) & ~passing
        return not (reachable(self.graph, start, enabled=around) & self.reach.target & ~passing).any()

    def can_be_one(self, passing: Mask) -> bool:
        """Whether some strategy reaches the target only by passing: greatest importance 1.

        Over all strategies it must keep to states from which the rest of the target can be avoided for ever.
        """
        rest = self.reach.target & ~passing
        if passing[self.start]:
            return True
        if not (self.ever & passing).any() or rest[self.start]:
            return False
        before = self.enabled & ~passing[self.graph.choice_state]
        if self.optimal:
            goal = (passing | ~self.reach.possible) & ~rest
            return bool(almost_surely(self.graph, goal, enabled=before)[0][self.start])
        safe, _ = stay(self.graph, ~rest, absorbing=passing | ~self.reach.possible, enabled=before)
        return self._connected(safe, passing & self.reach.possible, before)

    def can_be_zero(self, passing: Mask) -> bool:
        """Whether some strategy reaches the target, and never by passing: least importance 0."""
        rest = self.reach.target & ~passing
        if passing[self.start] or self.must_pass(passing):
            return False
        before = self.enabled & ~passing[self.graph.choice_state]
        if self.optimal:
            goal = rest | ~self.reach.possible
            return bool(almost_surely(self.graph, goal, enabled=before)[0][self.start])
        harmful = passing & ~self.reach.avoidable[0]  # others may be passed: avoid the target for ever afterwards
        safe, _ = stay(self.graph, ~harmful, absorbing=rest | passing | ~self.reach.possible, enabled=before)
        return self._connected(safe, rest, before)

    def certain(self, passing: Mask, *, least: bool) -> bool:
        """Whether passing and then reaching the target has probability 1, under every or under some strategy."""
        values = self.reach.min.values if least else self.reach.max.values
        goal = passing & np.asarray(values == 1, bool)
        before = self.enabled & ~passing[self.graph.choice_state]
        if not least:
            return bool(almost_surely(self.graph, goal, enabled=before)[0][self.start])
        ends = (self.reach.target | passing) & ~goal
        never, _ = stay(self.graph, ~goal, absorbing=ends, enabled=before)
        return not can_reach(self.graph, never, blocked=goal, enabled=before)[self.start]

    def impossible(self, passing: Mask) -> bool:
        """Whether some strategy never passes and then reaches the target, be it that it never reaches it at all."""
        harmful = passing & ~self.reach.avoidable[0]
        before = self.enabled & ~passing[self.graph.choice_state]
        ends = (self.reach.target | passing | ~self.reach.possible) & ~harmful
        return bool(stay(self.graph, ~harmful, absorbing=ends, enabled=before)[0][self.start])

    def only_one_way(self, states: Ints, *, through: bool) -> Mask:
        """(n,) `can_be_one` (through) or `can_be_zero` (around) of many single states; none of them the start."""
        return only_one_way(
            self.graph,
            self.start,
            self.reach.target,
            states,
            hopeless=~self.reach.possible,
            enabled=self.enabled,
            through=through,
            certainly=self.optimal,
        )

    def _connected(self, safe: Mask, goal: Mask, enabled: Mask) -> bool:
        """Whether `goal` is reached from the start by choices that stay in `safe`."""
        if not safe[self.start]:
            return False
        staying = enabled & np.logical_and.reduceat(safe[self.graph.indices], self.graph.indptr[:-1])
        return bool(can_reach(self.graph, goal, enabled=staying)[self.start])


def _only(s: int, n: int) -> Mask:
    mask = np.zeros(n, bool)
    mask[s] = True
    return mask
