"""How many of the runs of a strategy match a segment or a template: one question after the other, here or elsewhere.

Patterns are over names that are numbers. A question is plain data, so is its answer, the probabilities of matching with
success and with failure: whoever has the runs can tell (`waypost.processes.places`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from waypost.model import Automaton
from waypost.model.arrays import Floats, Ints
from waypost.patterns.declare import PAIRED, choice, existence
from waypost.patterns.language import automaton_of
from waypost.patterns.runs import Runs, Watched
from waypost.patterns.tree import ANYTHING, Pattern, Step, step
from waypost.processes.places import place, spread_out

Activities = tuple[int, ...]  # numbers of activities
Gaps = tuple[bool, ...]  # whether other steps may come between

FEW = 40  # so many states are watched with dense matrices; with more, all steps are looked at with sparse ones
TOGETHER = 50  # questions of a job


class Matching:
    """Shares of the runs of a strategy."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.states = [np.flatnonzero(runs.activity == k) for k in range(len(runs.names))]
        self._pair: tuple[Activities, tuple[Runs | Watched, Ints]] | None = (
            None  # looked at last: templates come in turn
        )

    def segments(self, asked: Sequence[tuple[Activities, Gaps]]) -> Iterator[Floats]:
        """(2,) matching each segment, with success and with failure."""
        return self._answers([["segment", list(steps), list(gaps)] for steps, gaps in asked])

    def templates(self, asked: Sequence[tuple[Activities, str]]) -> Iterator[Floats]:
        """(2,) fulfilling each template of two activities."""
        return self._answers([["template", list(steps), kind] for steps, kind in asked])

    def genuine(self, steps: Activities, kind: str) -> Floats:
        """(2,) fulfilling a template not only because nothing it speaks of happens."""
        return self._paired(steps, _genuine(kind))

    def answer(self, question: Sequence[Any]) -> Floats:
        """Answer one question."""
        what, steps, how = question
        if what == "segment":
            return self._segment(tuple(steps), tuple(how))
        return self._paired(tuple(steps), _template(how))

    def _answers(self, questions: list[Any]) -> Iterator[Floats]:
        if place().here:
            return map(self.answer, questions)
        jobs = [questions[low : low + TOGETHER] for low in range(0, len(questions), TOGETHER)]
        found = spread_out(__name__, "answering", self.runs, jobs)
        return (np.array(share) for some in found for share in some)

    def _segment(self, steps: Activities, gaps: Gaps) -> Floats:
        order = list(dict.fromkeys(steps))
        automaton = _segment(tuple(order.index(k) for k in steps), gaps)
        letter = np.full(len(self.states), len(order))
        letter[order] = np.arange(len(order))
        own = np.concatenate([self.states[k] for k in order])
        if all(gaps) and len(own) <= FEW:
            return self.runs.watched(own).shares(automaton, letter[self.runs.activity[own]])
        return self.runs.shares(automaton, letter)

    def _paired(self, steps: Activities, automaton: Automaton) -> Floats:
        if self._pair is None or self._pair[0] != steps:
            self._pair = steps, self._watching(*steps)
        watched, letter = self._pair[1]
        return watched.shares(automaton, letter)

    def _watching(self, a: int, b: int) -> tuple[Runs | Watched, Ints]:
        """The runs as far as two activities go, and the letters that these are."""
        sizes = [len(self.states[a]), len(self.states[b])]
        if sum(sizes) <= FEW:
            return self.runs.watched(np.concatenate([self.states[a], self.states[b]])), np.repeat([0, 1], sizes)
        letter = np.full(len(self.states), 2)
        letter[[a, b]] = 0, 1
        return self.runs, letter


def answering(runs: Runs) -> Callable[[list[Any]], list[list[float]]]:
    """What a worker does with some questions."""
    matching = Matching(runs)
    return lambda questions: [matching.answer(question).tolist() for question in questions]


def in_a_row(parts: Sequence[Pattern], gaps: Gaps) -> Pattern:
    """Pattern of a segment: steps one after the other, or with gaps."""
    found = ANYTHING + parts[0]
    for gap, part in zip(gaps, parts[1:], strict=True):
        found = found + ANYTHING + part if gap else found + part
    return found + ANYTHING


def _numbered(test: Step) -> frozenset[int]:
    return frozenset([int(str(test.name))])


@cache
def _template(kind: str) -> Automaton:
    """Automaton of a template over the letters A, B, and other."""
    return automaton_of(PAIRED[kind](step("0"), step("1")), _numbered, 3)


@cache
def _genuine(kind: str) -> Automaton:
    """Automaton of the runs that fulfil a template not only because nothing it speaks of happens."""
    a, b = step("0"), step("1")
    happens = choice(a, b) if kind.startswith("not_") else in_a_row([a, b], (True,))
    if kind in ("responded_existence", "coexistence"):
        happens = existence(a) & existence(b)
    return automaton_of(PAIRED[kind](a, b) & happens, _numbered, 3)


@cache
def _segment(steps: Activities, gaps: Gaps) -> Automaton:
    """Automaton of a segment over its steps, by number, and other."""
    return automaton_of(in_a_row([step(str(k)) for k in steps], gaps), _numbered, max(steps) + 2)
