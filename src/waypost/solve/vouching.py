"""Whether the strategy that a lane (`lanes`) ends with is certainly the best for its state; see `strain`."""

from __future__ import annotations

import numpy as np

from waypost.graph.compiled import kernel
from waypost.graph.components import stay_in_ends
from waypost.solve.gth import blank
from waypost.solve.optimiser import Payoff, Rewards
from waypost.solve.strain import EPS, HARMLESS, WITHOUT_RATIO, judge, judge_single, nothing_known

UNSURE, SURE, SWITCHED = range(3)


@kernel
def vouched(w, course, pattern, gain, loss, choice, may_stop, weights, ahead, back, rows) -> int:  # type: ignore[no-untyped-def]
    """Whether no other strategy beats that of a lane by more than the answer may be off: SURE, UNSURE or SWITCHED.

    `ahead`, `back` and `rows` are the factors of its last round (`rounds.evaluate`).
    """
    earned = Payoff(gain[:, w].copy(), loss[:, w].copy(), choice[:, w].copy())
    stops = may_stop[:, w].copy()
    rewards = Rewards(
        course.first_choice, course.indptr, course.indices, course.data, course.enabled, stops, stops,
        weights[0, w], weights[1, w], 0.0, 0.0,
    )  # fmt: skip
    stake = weights[0, w] * earned.gain + weights[1, w] * earned.loss
    start = course.start
    least = stake[start]
    stake[earned.choice != -2] = 0.0
    known = nothing_known(weights[0, w] * earned.gain - weights[1, w] * earned.loss, stake)
    found = known.worth[start]
    if course.wandering.any():
        _lead(course, earned.choice, known.leader)
    factors = blank(pattern, course.data)
    for a in range(len(pattern.later)):
        factors.onward[a] = ahead[a, w]
        factors.passed[a] = back[pattern.mirror[a], w]
    for i in range(len(pattern.order)):
        factors.pivot[i] = 1.0 / rows[i, 3, w] if rows[i, 3, w] > 0.0 else 1.0
    for k in range(len(pattern.blocks) - 1):
        low = pattern.blocks[k]
        high = pattern.blocks[k + 1]
        if high - low == 1:
            judge_single(pattern.order[low], rewards, earned, known)
        elif not judge(low, high, pattern.order, pattern, pattern.place, rewards, earned, known, factors):
            choice[:, w] = earned.choice
            return SWITCHED
    most = known.worth[start] + known.fix[start] + EPS * known.strain[start]
    sure = course.kind >= 2 or most <= 0.0  # a ratio is judged a little above it
    if sure and most - found <= (WITHOUT_RATIO if course.kind >= 2 else 1.0) * HARMLESS * least:
        return SURE
    return UNSURE


@kernel
def _lead(course, choice, leader) -> None:  # type: ignore[no-untyped-def]
    """Let one state of each end component of a lane's problem stand for it."""
    inner = course.wandering.copy()
    for c in range(len(inner)):
        inner[c] &= choice[course.choice_state[c]] != -2
    component = np.empty(len(leader), np.int64)
    stay_in_ends(
        course.first_choice, course.indptr, course.indices, course.pointer, course.choices, course.choice_state,
        inner, component,
    )  # fmt: skip
    first = np.full(len(leader), -1, np.int64)
    for x in range(len(leader)):
        if component[x] >= 0:
            if first[component[x]] < 0:
                first[component[x]] = x
            leader[x] = first[component[x]]
