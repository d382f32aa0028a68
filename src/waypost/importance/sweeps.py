"""Many states at once: the bounds of `passing`, sharing everything shareable.

Qualitative answers come first, from one pass over the graph; the rest goes through `waypost.solve.sweep` where few
states have a choice, and state by state where many do. Which way is taken depends on the model alone, and both give
the same numbers.
"""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints
from waypost.importance.facts import Facts
from waypost.importance.passing import NEAR, RARE, Passing
from waypost.solve.elimination import Elimination, eliminate
from waypost.solve.sweep import (
    HIGHEST,
    LEAST_VIA,
    LOWEST,
    MOST_AROUND,
    MOST_VIA,
    Progress,
    sweep,
)

Floats = NDArray[np.float64]


def bounds_of_states(
    facts: Facts,
    asked: Ints,
    problem: Literal["importance", "absolute"],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[Floats, Floats]:
    """(n,) least and (n,) greatest importance of each asked state, in floats.

    `progress` is told how many bounds were settled since it was last called; in all there are two per state.
    """
    return Sweeper(facts, workers or os.cpu_count() or 1, progress).bounds(asked, problem)


class Sweeper:
    """The states of one model, target and scope."""

    def __init__(self, facts: Facts, workers: int, progress: Progress | None) -> None:
        self.facts = facts
        self.workers = workers
        self.progress = progress
        self.rare = bool(facts.reach.max.values[facts.start] < RARE)
        self.parts: Elimination | None = eliminate(
            facts.reach, facts.start, enabled=facts.enabled, visited=facts.visited
        )

    def bounds(self, asked: Ints, problem: Literal["importance", "absolute"]) -> tuple[Floats, Floats]:
        """Both bounds of every asked state."""
        reach, start = self.facts.reach, self.facts.start
        lower, upper = np.zeros(len(asked)), np.zeros(len(asked))
        live = self.facts.ever[asked]
        if problem == "absolute":
            self._tell(2 * int((~live).sum()))
            lower[live], upper[live] = self._absolute(asked[live])
            return lower, upper
        certain = live & ((asked == start) | self.facts.always[asked])
        lower[certain] = 1.0
        upper[certain] = 1.0
        open_ = live & ~certain
        self._tell(2 * int((~open_).sum()))
        upper[open_] = self._highest(asked[open_])
        if self.parts is not None and not len(self.parts.kept):  # no choice: both bounds are one number
            lower[open_] = upper[open_]
            self._tell(int(open_.sum()))
            return lower, upper
        if not self.facts.optimal:
            free = open_ & reach.avoidable[0][asked]  # once it is seen, the target can be avoided: 0
            self._tell(int(free.sum()))
            open_ &= ~free
        lower[open_] = np.minimum(self._lowest(asked[open_]), upper[open_])
        return lower, upper

    def _highest(self, states: Ints) -> Floats:
        best = self.facts.reach.max.values
        kind = MOST_VIA if self.facts.optimal else HIGHEST
        value = self._share(states, best, kind)
        near = np.flatnonzero((value > 1 - NEAR) | self.rare)
        one = near[self.facts.only_one_way(states[near], through=True)]
        value = np.clip(value, np.nextafter(0, 1), np.nextafter(1, 0))
        value[one] = 1.0
        return value

    def _lowest(self, states: Ints) -> Floats:
        reach = self.facts.reach
        kind, weight = (MOST_AROUND, reach.max.values) if self.facts.optimal else (LOWEST, reach.min.values)
        value = self._share(states, weight, kind)
        zero = value == 0  # the strategy found never meets the state
        near = np.flatnonzero(((value < NEAR) | self.rare) & ~zero)
        zero[near] = self.facts.only_one_way(states[near], through=False)
        return np.where(zero, 0.0, np.clip(value, np.nextafter(0, 1), np.nextafter(1, 0)))

    def _share(self, states: Ints, weight: Floats, kind: int) -> Floats:
        """Share of the runs to the target that meet each state, under its optimal strategy."""
        if self.parts is None:
            return self._one_by_one(states, "highest" if kind in (HIGHEST, MOST_VIA) else "lowest")
        met = self._sweep(states, weight, kind)
        via = weight[states] * met[:, 0]
        share = np.asarray(via / (via + met[:, 1]))
        unsettled = np.isnan(share)
        if unsettled.any():
            share[unsettled] = self._one_by_one(
                states[unsettled], "highest" if kind in (HIGHEST, MOST_VIA) else "lowest"
            )
        return share

    def _absolute(self, states: Ints) -> tuple[Floats, Floats]:
        reach = self.facts.reach
        if self.parts is None:
            return self._one_by_one(states, "absolute_lowest"), self._one_by_one(states, "absolute_highest")
        upper = self._sweep(states, reach.max.values, MOST_VIA)[:, 0] * reach.max.values[states]
        lower = np.zeros(len(states))
        free = reach.avoidable[0][states]  # once it is seen, the target can be avoided: 0
        self._tell(int(free.sum()))
        if not free.all():
            found = self._sweep(states[~free], reach.min.values, LEAST_VIA)
            lower[~free] = found[:, 0] * reach.min.values[states[~free]]
        first = states == self.facts.start
        lower[first], upper[first] = reach.min.values[self.facts.start], reach.max.values[self.facts.start]
        for bound, least in ((lower, True), (upper, False)):
            for i in np.flatnonzero(((bound > 0) & (bound < NEAR) & least) | (bound > 1 - NEAR)):
                bound[i] = Passing(self.facts, self._mask(states[i])).absolutely(bound[i], least=least)
        return np.minimum(lower, upper), upper

    def _sweep(self, states: Ints, weight: Floats, kind: int) -> Floats:
        if self.parts is None:  # pragma: no cover - told apart by the callers
            raise TypeError("nothing was eliminated")
        return sweep(self.facts.reach, self.parts, states, weight, kind, workers=self.workers, progress=self.progress)

    def _one_by_one(self, states: Ints, bound: str) -> Floats:
        found = np.empty(len(states))
        for i, s in enumerate(states):
            found[i] = getattr(Passing(self.facts, self._mask(s), rounded=True), bound)().value
            self._tell(1)
        return found

    def _tell(self, settled: int) -> None:
        if self.progress is not None:
            self.progress(settled)

    def _mask(self, s: Any) -> NDArray[np.bool_]:
        mask = np.zeros(self.facts.graph.n_states, bool)
        mask[s] = True
        return mask
