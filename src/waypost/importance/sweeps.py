"""Many states at once: the bounds of `passing`, sharing everything shareable.

The graph is asked first, for all states at once, which bounds are 0 and 1. Of the others those are asked about once
that the same runs pass (`contraction`) or that a symmetry of the model exchanges (`waypost.graph.symmetry`). Numbers
come from `waypost.solve.sweep` where few states have a choice, and through `waypost.solve.lanes` where many have one;
one by one where runs may be so long that what floats round away could add up. Which way is taken depends on the model
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from waypost.errors import PrecisionError
from waypost.graph import Ints, Mask
from waypost.graph.compiled import cores
from waypost.importance import facts
from waypost.importance.passing import Side, bound, strictly_between
from waypost.importance.question import Question
from waypost.processes.places import place, spread_out, working
from waypost.solve.elimination import Elimination
from waypost.solve.lanes import side_by_side
from waypost.solve.remaining import HIGHEST, LEAST_VIA, LOWEST, MOST_VIA
from waypost.solve.sweep import sweep
from waypost.solve.wandering import least_met

Floats = NDArray[np.float64]
T = TypeVar("T")
CHUNKS = 64  # that a sweep is shared out in
TOGETHER = 6  # states of a chunk, at least
APART = 50_000  # steps of a pass over the graph: then single states are worth a thread each, and chains one for all
LARGE = 1_000_000  # and then one pass for all of the best strategies
NOTHING = 1e-9  # the share of the best that rounding may hide
MOST = 8  # one in so many states is asked about, at least: then symmetries are looked for
RENAMING = 200_000  # steps of a pass over the graph for every state of it: then they are worth looking for

Progress = Callable[[int], None]  # told how many bounds were settled since it was last called


def bounds_of_states(
    question: Question,
    asked: Ints,
    *,
    absolute: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    refused: dict[int, str] | None = None,
    most: bool | None = None,
) -> tuple[Floats, Floats]:
    """(n,) least and (n,) greatest importance of each asked state, in floats; or absolutely, over all strategies.

    `progress` is told how many bounds were settled since it was last called; in all there are two per state. Why a
    bound is `refused` is told by state, and the bound is what is possible at all; or, without that, an error. Inside
    ``with working(...)`` the states are shared out in chunks; which ones lie together changes no bit. Where `most`
    states are asked about, those that are alike have one answer, to the last bit.
    """
    most = MOST * len(asked) >= question.graph.n_states if most is None else most
    if workers is None and not place().here:
        return _shared_out(question, asked, absolute=absolute, progress=progress, refused=refused, most=most)
    run = _Sweep(question, workers or cores(), progress or (lambda _settled: None), refused, most)
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
    if not unsure.any():
        return lower, upper
    upper[unsure] = run.highest(asked[unsure])
    if not question.chooses:  # both bounds are one number
        lower[unsure] = upper[unsure]
        run.tell(int(unsure.sum()))
        return lower, upper
    if question.optimal:
        same = unsure & ~question.swayed[asked]  # no choice before it, and what comes after makes no difference
        lower[same] = upper[same]
        run.tell(int(same.sum()))
        unsure &= ~same
    else:
        free = unsure & question.reach.avoidable[0][asked]  # once it is seen, the target can be avoided: 0
        run.tell(int(free.sum()))
        unsure &= ~free
    lower[unsure] = np.minimum(run.lowest(asked[unsure]), upper[unsure])
    return lower, upper


def _shared_out(
    question: Question,
    asked: Ints,
    *,
    absolute: bool,
    progress: Progress | None,
    refused: dict[int, str] | None,
    most: bool,
) -> tuple[Floats, Floats]:
    """Bounds of states by chunks, wherever these are computed; those with one answer lie together."""
    order = np.arange(len(asked))
    if most and question.reduced is None:
        order = np.argsort(_places(question, most=most)[1][asked], kind="stable")
        asked = asked[order]
    size = max(TOGETHER, -(-len(asked) // CHUNKS))
    jobs = [asked[low : low + size].tolist() for low in range(0, len(asked), size)]
    done = 0

    def told(number: int) -> None:
        nonlocal done
        settled = 2 * sum(map(len, jobs[done:number]))
        done = number
        if progress is not None and settled:
            progress(settled)

    found = spread_out(__name__, "_answering", (question, absolute, refused is not None, most), jobs, told=told)
    lower, upper = (np.array([value for chunk in found for value in chunk[side]]) for side in (0, 1))
    if refused is not None:
        refused.update({state: why for chunk in found for state, why in chunk[2]})
    back = np.argsort(order)
    return lower[back], upper[back]


def _answering(given: tuple[Question, bool, bool, bool]) -> Callable[[list[int]], list[list[Any]]]:
    """What a worker does with each chunk of states: what it knows about the question it keeps."""
    question, absolute, forgiving, most = given

    def answer(states: list[int]) -> list[list[Any]]:
        refused: dict[int, str] | None = {} if forgiving else None
        with working():
            asked = np.array(states, np.int64)
            lower, upper = bounds_of_states(question, asked, absolute=absolute, workers=1, refused=refused, most=most)
        return [lower.tolist(), upper.tolist(), list(map(list, (refused or {}).items()))]

    return answer


def _places(question: Question, *, most: bool) -> tuple[Question, Ints]:
    """The question, about a smaller model if there is one, and (S,) where each state is in it: one answer per place."""
    place = np.arange(question.graph.n_states)
    if question.contracted is not None:
        question, place = question.contracted
    if most and question.graph.n_states * question.graph.size > RENAMING:
        place = question.alike[place]
    return question, place


@contextmanager
def in_turn(work: Callable[[int], T], jobs: list[int], workers: int) -> Iterator[Iterable[T]]:
    """Answers in the order of the jobs, from as many threads; what has not begun when the block is left never does."""
    if workers <= 1 or len(jobs) <= 1:
        yield map(work, jobs)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        yield pool.map(work, jobs)
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, eq=False)
class _Sweep:
    """Many states of one question, none of them settled by the graph at first sight."""

    question: Question
    workers: int
    tell: Progress
    refused: dict[int, str] | None = None
    most: bool = False  # whether most states of the model are asked about

    def highest(self, states: Ints) -> Floats:
        """Greatest importance."""
        whole = self.question.inevitable  # then there is nothing to divide by
        kind = MOST_VIA if self.question.optimal or whole else HIGHEST
        one = self._told(facts.only_one_way(self.question, states, through=True))
        value = np.ones(len(states))
        value[~one] = self._numbers(states[~one], kind, "upper", absolute=whole)
        return value

    def lowest(self, states: Ints) -> Floats:
        """Least importance."""
        zero = self._told(facts.only_one_way(self.question, states, through=False))
        value = np.zeros(len(states))
        whole = self.question.inevitable
        value[~zero] = self._numbers(states[~zero], LEAST_VIA if whole else LOWEST, "lower", absolute=whole)
        return value

    def absolute(self, states: Ints) -> tuple[Floats, Floats]:
        """Least and greatest probability of passing and then reaching the target, over all strategies."""
        question, reach = self.question, self.question.reach
        lower, upper = np.zeros(len(states)), np.ones(len(states))
        first = states == question.start
        lower[first], upper[first] = reach.min.values[question.start], question.best
        sure = question.always[states] & (reach.min.values[question.start] == 1)
        lower[sure] = 1.0
        unsure = np.flatnonzero(~first & ~sure)
        unsure = unsure[~facts.each_impossible(question, states[unsure])]
        self.tell(len(states) - len(unsure))
        lower[unsure] = self._numbers(states[unsure], LEAST_VIA, "lower", absolute=True)
        unsure = np.flatnonzero(~first & ~facts.each_certain(question, states))
        self.tell(len(states) - len(unsure))
        upper[unsure] = self._numbers(states[unsure], MOST_VIA, "upper", absolute=True)
        return np.minimum(lower, upper), upper

    def _told(self, settled: Mask) -> Mask:
        self.tell(int(settled.sum()))
        return settled

    def _numbers(self, states: Ints, kind: int, side: Side, *, absolute: bool = False) -> Floats:
        """The bound of each state, which is neither 0 nor 1: together where that is certain, one by one elsewhere."""
        if not len(states):
            return np.empty(0)
        if self.question.chain is not None or self.question.reduced is not None:
            return self._settled(states, kind, side, absolute=absolute)
        question, place = _places(self.question, most=self.most)
        places, again = np.unique(place[states], return_inverse=True)
        refused: dict[int, str] | None = None if self.refused is None else {}
        run = replace(self, question=question, refused=refused)
        value = run._settled(places, kind, side, absolute=absolute)  # noqa: SLF001 - it is one of us
        self.tell(len(states) - len(places))
        if self.refused is not None and refused:
            found = zip(states.tolist(), places[again].tolist(), strict=True)
            self.refused.update({s: refused[p] for s, p in found if p in refused})
        return np.asarray(value[again])

    def _settled(self, states: Ints, kind: int, side: Side, *, absolute: bool) -> Floats:
        """The same, of states that have an answer each."""
        value = self._together(states, kind, absolute=absolute)
        alone = np.isnan(value)
        self.tell(int((~alone).sum()))
        value[alone] = self._one_by_one(states[alone], side, absolute=absolute)
        refused = np.isnan(value)
        return np.where(refused, 0.0 if side == "lower" else 1.0, strictly_between(value))

    def _together(self, states: Ints, kind: int, *, absolute: bool) -> Floats:
        """The bound of each state, all from what they share; NaN where that does not do."""
        question = self.question
        value = np.full(len(states), np.nan)
        if question.graph.size > self._enough_for_flow:
            value = self._by_flow(states, kind)
        rest = np.isnan(value)
        if rest.any() and question.reduced is not None:
            value[rest] = self._swept(question.reduced, states[rest], kind, absolute=absolute)
        elif rest.any():
            value[rest] = self._side_by_side(states[rest], kind, absolute=absolute)
        return value

    @property
    def _enough_for_flow(self) -> float:
        """Size of a graph above which one pass for all states comes first."""
        if self.question.chain is not None:
            return APART
        return LARGE if self.question.optimal and self.question.reduced is None else inf

    def _by_flow(self, states: Ints, kind: int) -> Floats:
        """The same of one strategy, or of the best ones where no choice lies before a state, or its end component."""
        question, flow = self.question, self.question.flow
        if kind == MOST_VIA or question.chain is not None:
            return np.where(flow.attained[states], flow.most[states], np.nan)
        return least_met(question.reach, question.start, flow, states, enabled=question.enabled)

    def _side_by_side(self, states: Ints, kind: int, *, absolute: bool) -> Floats:
        """The same where many states have a choice."""
        question = self.question
        if question.track is None:
            return np.full(len(states), np.nan)
        found, certain = side_by_side(question.track, states, kind)
        gain, loss = found.T
        gain = np.where(certain, gain, np.nan)
        if absolute:
            return np.where(certain, gain if kind == MOST_VIA else loss, np.nan)
        if kind == MOST_VIA:
            return np.asarray(gain / question.best)
        if question.optimal:  # nothing is lost on the way
            gain = np.where(abs(gain + loss - question.best) <= NOTHING * question.best, gain, np.nan)
        return np.asarray((gain if kind == HIGHEST else loss) / (gain + loss))

    def _swept(self, reduced: Elimination, states: Ints, kind: int, *, absolute: bool) -> Floats:
        """The same where few have one."""
        reach = self.question.reach
        least = kind in (LOWEST, LEAST_VIA) and not self.question.optimal
        weight = reach.min.values if least else reach.max.values
        stopping = not self.question.optimal
        places, again = np.unique(self.question.corridors[0][states], return_inverse=True)  # nothing is asked twice
        met, certain = sweep(reach, reduced, places, weight, kind, stopping=stopping, workers=self.workers)
        via = np.where(certain, weight[places] * met[:, 0], np.nan)
        return np.asarray(via if absolute else via / (via + met[:, 1]))[again]

    def _one_by_one(self, states: Ints, side: Side, *, absolute: bool = False) -> Floats:
        """The bound of each state by itself; NaN where it is refused."""

        def settled(s: int) -> tuple[float, PrecisionError | None]:
            try:
                return bound(self.question, self._only(s), side, absolute=absolute, open_=True).value, None
            except PrecisionError as why:
                return np.nan, why

        found = np.full(len(states), np.nan)
        with in_turn(settled, states.tolist(), self.workers if self.question.graph.size > APART else 1) as answers:
            for i, (value, why) in enumerate(answers):
                if why is not None:
                    if self.refused is None:
                        raise why
                    self.refused[int(states[i])] = str(why)
                found[i] = value
                self.tell(1)
        return found

    def _only(self, state: int) -> Mask:
        return np.asarray(np.arange(self.question.graph.n_states) == state)
