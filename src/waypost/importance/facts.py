"""What the graph alone says about importance: the zeros and ones, exactly.

``imp = 0`` and ``imp = 1`` are qualitative: no probability decides them, so no rounding may. *Passing* a set of states
means visiting one of them before the target, or entering the target at one of them. Sets of states are those of
`Question.graph`.
"""

from __future__ import annotations

import numpy as np

from waypost.graph import Ints, Mask, can_reach, inevitable, prob1e, reachable, stay
from waypost.graph import only_one_way as _only_one_way
from waypost.importance.question import Question


def must_pass(question: Question, passing: Mask) -> bool:
    """Whether no strategy reaches the target without passing: least importance 1."""
    if passing.sum() == 1:
        return bool(question.always[passing][0])
    start = (np.arange(len(passing)) == question.start) & ~passing
    around = reachable(question.graph, start, enabled=_before(question, passing))
    return not (around & question.reach.target & ~passing).any()


def passed_by_all(question: Question, passing: Mask) -> bool:
    """Whether every run passes, whatever is done and whether or not it reaches the target: that explains nothing.

    ``Prmin(F passing) = 1``, where the target ends a run, over all choices of the model, in whichever scope.
    """
    graph, target = question.graph, question.reach.target
    before = ~(passing | target)[graph.choice_state]
    avoids = stay(graph, ~passing, absorbing=target, enabled=before)[0]
    return not can_reach(graph, avoids, enabled=before)[question.start]


def can_be_one(question: Question, passing: Mask) -> bool:
    """Whether some strategy reaches the target only by passing: greatest importance 1.

    Over all strategies it must keep to states from which the rest of the target can be avoided for ever.
    """
    reach = question.reach
    rest = reach.target & ~passing
    if passing[question.start]:
        return True
    if not (question.ever & passing).any() or rest[question.start]:
        return False
    if question.optimal:
        return _prob1e(question, (passing | ~reach.possible) & ~rest, passing)
    safe = _staying(question, ~rest, passing | ~reach.possible, passing)
    return _connected(question, safe, passing & reach.possible, passing)


def can_be_zero(question: Question, passing: Mask) -> bool:
    """Whether some strategy reaches the target, and never by passing: least importance 0."""
    reach = question.reach
    rest = reach.target & ~passing
    if passing[question.start] or must_pass(question, passing):
        return False
    if question.optimal:
        return _prob1e(question, rest | ~reach.possible, passing)
    harmful = passing & ~reach.avoidable[0]  # others may be passed: avoid the target for ever afterwards
    safe = _staying(question, ~harmful, rest | passing | ~reach.possible, passing)
    return _connected(question, safe, rest, passing)


def certain(question: Question, passing: Mask, *, least: bool) -> bool:
    """Whether passing and then reaching the target has probability 1, under every or under some strategy."""
    reach = question.reach
    goal = passing & np.asarray((reach.min if least else reach.max).values == 1, bool)
    if not least:
        return _prob1e(question, goal, passing)
    never = _staying(question, ~goal, (reach.target | passing) & ~goal, passing)
    return not can_reach(question.graph, never, blocked=goal, enabled=_before(question, passing))[question.start]


def impossible(question: Question, passing: Mask) -> bool:
    """Whether some strategy never passes and then reaches the target, be it that it never reaches it at all."""
    reach = question.reach
    harmful = passing & ~reach.avoidable[0]
    ends = (reach.target | passing | ~reach.possible) & ~harmful
    return bool(_staying(question, ~harmful, ends, passing)[question.start])


def only_one_way(question: Question, states: Ints, *, through: bool) -> Mask:
    """(n,) `can_be_one` (through) or `can_be_zero` (around) of many single states; none of them the start."""
    return _only_one_way(
        question.graph,
        question.start,
        question.reach.target,
        states,
        hopeless=~question.reach.possible,
        enabled=question.enabled,
        through=through,
        certainly=question.optimal,
    )


def each_certain(question: Question, states: Ints) -> Mask:
    """(n,) `certain` of many single states, under some strategy; over all strategies.

    Where the target is reached for certain, that is to be on a way of a best strategy which keeps to such ways.
    """
    found = np.zeros(len(states), bool)
    if question.best < 1:
        return found
    best = question.within("optimal")
    found[:] = best.ever[states] & ((states == best.start) | best.always[states])
    unsure = np.flatnonzero(best.ever[states] & ~found)
    found[unsure] = only_one_way(best, states[unsure], through=True)
    return found


def each_impossible(question: Question, states: Ints) -> Mask:
    """(n,) `impossible` of many single states, none of them the start; over all strategies."""
    found = np.asarray(question.reach.avoidable[0][states], bool)
    unsure = np.flatnonzero(~found)
    reach = question.reach
    met = inevitable(question.graph, question.start, reach.target, states[unsure], enabled=question.enabled)
    found[unsure] = ~met
    return found


def _before(question: Question, passing: Mask) -> Mask:
    """(C,) choices that may be taken before passing."""
    return question.enabled & ~passing[question.graph.choice_state]


def _prob1e(question: Question, goal: Mask, passing: Mask) -> bool:
    return bool(prob1e(question.graph, goal, enabled=_before(question, passing))[0][question.start])


def _staying(question: Question, inside: Mask, absorbing: Mask, passing: Mask) -> Mask:
    return stay(question.graph, inside, absorbing=absorbing, enabled=_before(question, passing))[0]


def _connected(question: Question, safe: Mask, goal: Mask, passing: Mask) -> bool:
    """Whether `goal` is reached from the start by choices that stay in `safe`."""
    if not safe[question.start]:
        return False
    graph = question.graph
    inside = np.logical_and.reduceat(safe[graph.indices], graph.indptr[:-1])
    return bool(can_reach(graph, goal, enabled=_before(question, passing) & inside)[question.start])
