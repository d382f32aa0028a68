"""The most important states of a large model, proved to be: numbers by chunks until no bound of the others is above.

States are ranked as in every explanation (`waypost.importance.reading.ranking`): by the sum of their bounds over the
scopes, equal ones in the order of the model. A cheap *cap* on that sum, for all states at once, says whom to ask first
and when to stop. With ``m(s)`` what `waypost.solve.flow` finds, at least the importance under every strategy it covers,

    scope         least importance                        greatest importance
    optimal       at most m(s) of one best strategy       at most m(s) of all conserving choices
    all           the same, or 0 where the target         at most 1
                  can be avoided once s is seen
    a strategy    at most m(s) of its chain               the same

and all of them are 0 where no run passes `s` on its way to the target: the least importance is at most that under any
single strategy in scope, and a best strategy is in every scope.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from waypost.graph import Ints, Mask
from waypost.importance.beside import Top
from waypost.importance.numbers import TOGETHER, Numbers, answer, numbers
from waypost.importance.question import Question
from waypost.importance.reading import DIGITS
from waypost.importance.results import StateImportance
from waypost.importance.sweeps import Progress
from waypost.model.arrays import Floats
from waypost.solve.flow import most_passed
from waypost.solve.rewards import STOP

AT_ONCE = 64  # states of a chunk, at least: small ones share little
RARELY = 0.1  # share of the states: where choices sway fewer, one pass is enough, for the least is below the greatest
ALIKE = 1e-5  # relative: states whose caps are as near as this to that of the last wanted are asked about with it


def ask_most_important(
    questions: Sequence[Question], asked: Ints, top: int, *, progress: Progress | None = None
) -> tuple[dict[str, StateImportance], Top]:
    """Both bounds, by scope, of the `top` most important of the states asked for, and how they were told.

    A state of which no bound can be certified counts with what is certain of it where it is met, and is not met where
    the caps of others are above its own.
    """
    known: list[dict[int, tuple[Any, Any]]] = [{} for _ in questions]
    refused: list[dict[int, str]] = [{} for _ in questions]
    together = len(asked) >= TOGETHER

    def scores(positions: Ints) -> Floats:
        total = np.zeros(len(positions))
        for question, bounds, why in zip(questions, known, refused, strict=True):
            found = numbers(question, asked[positions], together=together, progress=progress)
            bounds.update(zip(positions.tolist(), zip(found.lower, found.upper, strict=True), strict=True))
            why.update(found.refused)
            total += found.lower.astype(float) + found.upper.astype(float)
        return total

    most = np.sum([caps(question)[asked] for question in questions], axis=0)
    chosen, proved = most_important(most, top, scores)
    if progress is not None:
        progress(2 * len(questions) * proved.left)
    answers: dict[str, StateImportance] = {}
    for question, bounds, why in zip(questions, known, refused, strict=True):
        dtype = object if question.exact else float
        lower, upper = (np.array([bounds[k][side] for k in chosen.tolist()], dtype) for side in (0, 1))
        states = asked[chosen]
        met = {s: said for s, said in why.items() if s in set(states.tolist())}
        answers[question.scope_name] = answer(question, states, Numbers(lower, upper, met))
    return answers, proved


Scores = Callable[[Ints], Floats]  # of positions among the states asked for: the sum of the bounds


def most_important(caps: Floats, top: int, scores: Scores) -> tuple[Ints, Top]:
    """Positions of the `top` states, in the order of the model, and how they were told from the others.

    >>> exact = np.array([0.2, 1.5, 0.5, 1.5, 0.1])
    >>> asked = []
    >>> found = most_important(exact + 0.01, 2, lambda some: asked.extend(some.tolist()) or exact[some])
    >>> found[0].tolist(), found[1].tied
    ([1, 3], False)
    """
    n = len(caps)
    most = np.round(caps, DIGITS)
    open_ = np.ones(n, bool)
    value = np.full(n, -np.inf)
    order = np.argsort(-most, kind="stable")
    size = max(top, AT_ONCE)
    while True:
        last = _last(value, open_, top)
        ahead = open_ if last is None else open_ & _before(most, value[last], last)
        if not ahead.any():
            break
        some = order[ahead[order]]
        near = int((most[some] >= most[some[min(top, len(some)) - 1]] * (1 - ALIKE)).sum())
        some = some[: max(size, min(near, 2 * size))]
        value[some], open_[some] = np.round(scores(some), DIGITS), False
        size *= 2
    ranked = np.lexsort((np.arange(n), -value))
    chosen, others = ranked[: min(top, n)], ranked[top:]
    known = np.where(open_, most, value)
    tied = bool(len(others)) and bool((known[others] >= value[chosen[-1]]).any())
    return np.sort(chosen), Top(n, int((~open_).sum()), tied)


def _last(value: Floats, open_: Mask, top: int) -> int | None:
    """The last of the `top` states known so far, if there are so many."""
    known = np.flatnonzero(~open_)
    if len(known) < min(top, len(value)):
        return None
    return int(known[np.lexsort((known, -value[known]))[min(top, len(value)) - 1]])


def _before(most: Floats, value: float, position: int) -> Mask:
    """(n,) who may come before a state: by what it is at most, or by its place where that is equal."""
    return np.asarray((most > value) | ((most == value) & (np.arange(len(most)) < position)))


def caps(question: Question) -> Floats:
    """(S,) at least the sum of both bounds of each state of the model.

    >>> from waypost.cases import loan
    >>> question = Question.of(loan(), target="Granted", scope="optimal")
    >>> found, exact = caps(question), question.states()
    >>> bool((found >= exact.lower + exact.upper - 1e-12).all())
    True
    """
    least, greatest = (_by_state(question, found) for found in _by_copy(question))
    return np.asarray(least + greatest)


def _by_copy(question: Question) -> tuple[Floats, Floats]:
    """At least the least and the greatest importance of each state where the scope is played."""
    ever = question.ever.astype(float)
    if question.exact:  # rationals are slow; the graph says who is passed at all
        return ever * question.visited_by_best, ever
    reach, start = question.reach, question.start
    if question.chain is not None or (question.optimal and question.swayed.mean() < RARELY):
        return question.flow.bound, question.flow.bound
    best = np.zeros(question.graph.n_choices, bool)
    best[reach.max.choice[reach.max.choice != STOP]] = True
    least = most_passed(reach, start, enabled=best & question.enabled, visited=question.visited_by_best).bound
    if question.optimal:
        return least, question.flow.bound
    unavoidable = ~reach.avoidable[0]
    unavoidable[start] = True
    return least * (unavoidable | question.always), ever


def _by_state(question: Question, found: Floats) -> Floats:
    """(S,) from the copies that a strategy with memory has of each state: passing it is passing one of them."""
    n = question.mdp.n_states
    if question.chain is None:
        return found
    copies = found[: question.chain.modes * n].reshape(-1, n)
    return np.asarray(np.minimum(1.0, copies.sum(axis=0)))
