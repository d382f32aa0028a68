"""Many states at once: the bounds of `passing`, sharing everything shareable.

Where few states have a choice, numbers are cheap: they come from `waypost.solve.sweep`, and the graph is asked about
those near 0 and 1. Where many have one, the graph is asked first, for all states at once, and what it leaves open goes
through `waypost.solve.lanes`. Which way is taken depends on the model alone, and both give the same numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints, Mask
from waypost.importance import facts
from waypost.importance.passing import NEAR, Side, absolutely, bound, strictly_between
from waypost.importance.question import Question
from waypost.solve.elimination import Elimination
from waypost.solve.lanes import side_by_side
from waypost.solve.sweep import HIGHEST, LEAST_VIA, LOWEST, MOST_AROUND, MOST_VIA, sweep

Floats = NDArray[np.float64]
Progress = Callable[[int], None]  # told how many bounds were settled since it was last called


def bounds_of_states(
    question: Question,
    asked: Ints,
    *,
    absolute: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[Floats, Floats]:
    """(n,) least and (n,) greatest importance of each asked state, in floats; or absolutely, over all strategies.

    `progress` is told how many bounds were settled since it was last called; in all there are two per state.
    """
    run = _Sweep(question, workers or os.cpu_count() or 1, progress or (lambda _settled: None))
    lower, upper = np.zeros(len(asked)), np.zeros(len(asked))
    live = question.ever[asked]
    if absolute:
        run.tell(2 * int((~live).sum()))
        lower[live], upper[live] = run.absolute(asked[live])
        return lower, upper
    sure = live & ((asked == question.start) | question.always[asked])
    lower[sure] = upper[sure] = 1.0
    unsure = live & ~sure
    run.tell(2 * int((~unsure).sum()))
    upper[unsure] = run.highest(asked[unsure])
    if question.reduced is not None and not len(question.reduced.kept):  # no choice: both bounds are one number
        lower[unsure] = upper[unsure]
        run.tell(int(unsure.sum()))
        return lower, upper
    if not question.optimal:
        free = unsure & question.reach.avoidable[0][asked]  # once it is seen, the target can be avoided: 0
        run.tell(int(free.sum()))
        unsure &= ~free
    lower[unsure] = np.minimum(run.lowest(asked[unsure]), upper[unsure])
    return lower, upper


@dataclass(frozen=True, eq=False)
class _Sweep:
    """Many states of one question, none of them settled by the graph at first sight."""

    question: Question
    workers: int
    tell: Progress

    def highest(self, states: Ints) -> Floats:
        """Greatest importance."""
        kind = MOST_VIA if self.question.optimal else HIGHEST
        reduced = self.question.reduced
        if reduced is None:
            one = self._told(facts.only_one_way(self.question, states, through=True))
            value = np.ones(len(states))
            value[~one] = strictly_between(self._side_by_side(states[~one], kind, "upper"))
            return value
        value = self._share(reduced, states, self.question.reach.max.values, kind, "upper")
        near = np.flatnonzero((value > 1 - NEAR) | self.question.rare)
        near = near[facts.only_one_way(self.question, states[near], through=True)]
        value = np.asarray(strictly_between(value))
        value[near] = 1.0
        return value

    def lowest(self, states: Ints) -> Floats:
        """Least importance."""
        reach, reduced = self.question.reach, self.question.reduced
        kind, weight = (MOST_AROUND, reach.max.values) if self.question.optimal else (LOWEST, reach.min.values)
        if reduced is None:
            zero = self._told(facts.only_one_way(self.question, states, through=False))
            value = np.zeros(len(states))
            value[~zero] = strictly_between(self._side_by_side(states[~zero], kind, "lower"))
            return value
        value = self._share(reduced, states, weight, kind, "lower")
        zero = value == 0  # the strategy found never meets the state
        near = np.flatnonzero(((value < NEAR) | self.question.rare) & ~zero)
        zero[near] = facts.only_one_way(self.question, states[near], through=False)
        return np.where(zero, 0.0, strictly_between(value))

    def absolute(self, states: Ints) -> tuple[Floats, Floats]:
        """Least and greatest probability of passing and then reaching the target, over all strategies."""
        reach, start, reduced = self.question.reach, self.question.start, self.question.reduced
        if reduced is None:
            return self._absolute_by_graph(states)
        upper = self._sweep(reduced, states, reach.max.values, MOST_VIA)[:, 0] * reach.max.values[states]
        lower = np.zeros(len(states))
        free = reach.avoidable[0][states]  # once it is seen, the target can be avoided: 0
        self.tell(int(free.sum()))
        if not free.all():
            found = self._sweep(reduced, states[~free], reach.min.values, LEAST_VIA)
            lower[~free] = found[:, 0] * reach.min.values[states[~free]]
        first = states == start
        lower[first], upper[first] = reach.min.values[start], reach.max.values[start]
        for numbers, least in ((lower, True), (upper, False)):
            for i in np.flatnonzero(((numbers > 0) & (numbers < NEAR) & least) | (numbers > 1 - NEAR)):
                numbers[i] = absolutely(self.question, self._only(states[i]), numbers[i], least=least)
        return np.minimum(lower, upper), upper

    def _absolute_by_graph(self, states: Ints) -> tuple[Floats, Floats]:
        """`absolute` where the graph is asked first."""
        question, reach = self.question, self.question.reach
        lower, upper = np.zeros(len(states)), np.ones(len(states))
        first = states == question.start
        lower[first], upper[first] = reach.min.values[question.start], question.best
        sure = question.always[states] & (reach.min.values[question.start] == 1)
        lower[sure] = 1.0
        unsure = np.flatnonzero(~first & ~sure)
        unsure = unsure[~facts.each_impossible(question, states[unsure])]
        self.tell(len(states) - len(unsure))
        lower[unsure] = strictly_between(self._side_by_side(states[unsure], LEAST_VIA, "lower", absolute=True))
        unsure = np.flatnonzero(~first & ~facts.each_certain(question, states))
        self.tell(len(states) - len(unsure))
        upper[unsure] = strictly_between(self._side_by_side(states[unsure], MOST_VIA, "upper", absolute=True))
        return np.minimum(lower, upper), upper

    def _told(self, settled: Mask) -> Mask:
        self.tell(int(settled.sum()))
        return settled

    def _side_by_side(self, states: Ints, kind: int, side: Side, *, absolute: bool = False) -> Floats:
        """The bound of each state, a few states at a time; one by one where that is too much."""
        question = self.question
        found = side_by_side(
            question.reach, question.start, states, kind, enabled=question.enabled, visited=question.visited
        )
        if found is None:
            return self._one_by_one(states, side, absolute=absolute)
        gain, loss = found.T
        if absolute:
            value = gain if kind == MOST_VIA else loss
        elif kind in (MOST_VIA, MOST_AROUND):
            value = gain / question.best if kind == MOST_VIA else 1 - gain / question.best
        else:
            value = (gain if kind == HIGHEST else loss) / (gain + loss)
        unsettled = np.isnan(value)
        self.tell(int((~unsettled).sum()))
        value[unsettled] = self._one_by_one(states[unsettled], side, absolute=absolute)
        return np.asarray(value)

    def _share(self, reduced: Elimination, states: Ints, weight: Floats, kind: int, side: Side) -> Floats:
        """Share of the runs to the target that meet each state, under its optimal strategy."""
        met = self._sweep(reduced, states, weight, kind)
        via = weight[states] * met[:, 0]
        share = np.asarray(via / (via + met[:, 1]))
        unsettled = np.isnan(share)
        share[unsettled] = self._one_by_one(states[unsettled], side)
        return share

    def _sweep(self, reduced: Elimination, states: Ints, weight: Floats, kind: int) -> Floats:
        return sweep(self.question.reach, reduced, states, weight, kind, workers=self.workers, progress=self.tell)

    def _one_by_one(self, states: Ints, side: Side, *, absolute: bool = False) -> Floats:
        found = np.empty(len(states))
        for i, s in enumerate(states):
            found[i] = bound(self.question, self._only(s), side, absolute=absolute, rounded=not absolute).value
            self.tell(1)
        return found

    def _only(self, state: int) -> Mask:
        return np.asarray(np.arange(self.question.graph.n_states) == state)
