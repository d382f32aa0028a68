"""How many steps runs take at most, whatever the strategy: what rounding can add up to.

With ``w`` what states are worth under a strategy, a choice ``c`` of ``x`` is better by ``A(c) = sum_y P(c, y) w(y) -
w(x)``, and no strategy is worth more than ``w(x) + max A T(x)``, if nobody takes more than ``T(x)`` steps from ``x``
on. So where runs are short, one look at every choice shows that a strategy is as good as the best (`vouching`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.graph.compiled import kernel, leaf
from waypost.solve.factors import DECIDED
from waypost.solve.gth import blank, substitute
from waypost.solve.policy import Rewards
from waypost.solve.strain import lay

MANY = 1e6  # steps: then rounding may add up to something
_CLOSE = 1e-7  # relative: fewer steps more are none
_ROUNDS = 50  # strategies that take more steps


@kernel
def most_steps(course, pattern) -> Any:  # type: ignore[no-untyped-def]
    """(S,) steps inside the pattern at most, in expectation; infinite where there is no bound, or it is of no use.

    For every choice ``c`` of ``x``, given that it leads elsewhere: ``T(x) >= 1 + sum_y P(c, y) T(y)``; outside it is 0.
    Found as the most steps of any strategy, then lengthened by what rounding may hide.
    """
    n = len(course.most)
    steps = np.zeros(n)
    nobody = np.zeros(n, np.bool_)
    rewards = Rewards(
        course.first_choice, course.indptr, course.indices, course.data, course.enabled, nobody, nobody,
        0.0, 0.0, 0.0, 0.0, False,
    )  # fmt: skip
    taken = np.full(n, DECIDED, np.int64)
    for x in pattern.order:
        taken[x] = course.base[x]
    factors = blank(pattern, course.data)
    columns = np.zeros((len(pattern.order), 1))
    margin = 1.0  # steps that the inequality leaves for the one that is taken
    for k in range(len(pattern.blocks) - 1):
        low = pattern.blocks[k]
        high = pattern.blocks[k + 1]
        if high - low == 1:
            steps[pattern.order[low]], left = _longest(pattern.order[low], course, steps)
            margin = min(margin, left)
            continue
        longer = True
        for _ in range(_ROUNDS):
            if not lay(low, high, pattern.order, pattern, pattern.place, rewards, taken, factors):
                return np.full(n, np.inf)
            for i in range(low, high):
                steps[pattern.order[i]] = 0.0
            for i in range(low, high):
                leaving, onward = _ahead(pattern.order[i], taken[pattern.order[i]], course, steps)
                columns[i, 0] = leaving + onward
            substitute(low, high, pattern, factors, columns)
            for i in range(low, high):
                steps[pattern.order[i]] = columns[i, 0]
                if not columns[i, 0] < MANY:
                    return np.full(n, np.inf)
            longer, left = _lengthened(pattern.order[low:high], taken, course, steps)
            if not longer:
                margin = min(margin, left)
                break
        if longer:
            return np.full(n, np.inf)
    return steps / margin if margin > 0.5 else np.full(n, np.inf)


@leaf
def _ahead(x, c, course, steps):  # type: ignore[no-untyped-def]
    """Probability that a choice leads elsewhere, and steps that follow."""
    leaving = 0.0
    onward = 0.0
    for e in range(course.indptr[c], course.indptr[c + 1]):
        if course.indices[e] != x:
            leaving += course.data[e]
            onward += course.data[e] * steps[course.indices[e]]
    return leaving, onward


@leaf
def _longest(x, course, steps):  # type: ignore[no-untyped-def]
    """Steps of a component that is one state, and what is left for one of them."""
    most = 0.0
    for c in range(course.first_choice[x], course.first_choice[x + 1]):
        leaving, onward = _ahead(x, c, course, steps)
        if course.enabled[c] and leaving > 0.0:
            most = max(most, onward / leaving)
    return 1.0 + most, 1.0 + most - most


@kernel
def _lengthened(block, taken, course, steps):  # type: ignore[no-untyped-def]
    """Switch to choices that take more steps; whether there were any, and what is left for one step if not."""
    switched = False
    left = 1.0
    for x in block:
        most = steps[x] * (1.0 + _CLOSE)
        for c in range(course.first_choice[x], course.first_choice[x + 1]):
            if course.enabled[c]:
                leaving, onward = _ahead(x, c, course, steps)
                if leaving > 0.0:
                    left = min(left, steps[x] - onward / leaving)
                    if 1.0 + onward / leaving > most:
                        most = 1.0 + onward / leaving
                        taken[x] = c
                        switched = True
    return switched, left
