"""Whether the strategy that a lane (`lanes`) ends with is certainly the best for its state; see `strain`."""

from __future__ import annotations

import numpy as np

from waypost.graph.compiled import kernel
from waypost.solve.optimiser import Payoff, Rewards
from waypost.solve.strain import EPS, HARMLESS, WITHOUT_RATIO, harmless, own_strain, raise_strain


@kernel
def vouched(w, course, pattern, gain, loss, choice, may_stop, weights, ahead, back, rows) -> bool:  # type: ignore[no-untyped-def]
    """Whether no other strategy beats that of a lane by more than the answer may be off.

    `ahead`, `back` and `rows` are the factors of its last round (`rounds.evaluate`).
    """
    earned = Payoff(gain[:, w].copy(), loss[:, w].copy(), choice[:, w].copy())
    stops = may_stop[:, w].copy()
    rewards = Rewards(
        course.first_choice, course.indptr, course.indices, course.data, course.enabled, stops, stops,
        weights[0, w], weights[1, w], 0.0, 0.0,
    )  # fmt: skip
    worth = weights[0, w] * earned.gain - weights[1, w] * earned.loss
    slack = 1.0 if course.kind < 2 else WITHOUT_RATIO
    strain = np.zeros(len(stops))
    column = np.zeros(len(pattern.order))
    for k in range(len(pattern.blocks) - 1):
        low = pattern.blocks[k]
        high = pattern.blocks[k + 1]
        block = pattern.walk[low:high]
        if high - low > 1:
            _add_up(w, low, high, pattern, rewards, earned, ahead, back, rows, column, strain)
        if not raise_strain(block, rewards, earned, worth, strain, slack):
            return False
        if not harmless(block, rewards, earned, strain, slack):
            return False
    start = course.start
    if course.kind < 2:  # a ratio, judged a little above it
        return bool(worth[start] + EPS * strain[start] <= 0.0)
    if course.kind == 3:  # MOST_AROUND: what is missing counts
        return bool(EPS * strain[start] <= slack * HARMLESS * (course.most[start] - gain[start, w]))
    return True


@kernel
def _add_up(w, low, high, pattern, rewards, earned, ahead, back, rows, column, strain) -> None:  # type: ignore[no-untyped-def]
    """Strain of a lane's strategy in a component: what each step of it adds, along the run."""
    for i in range(low, high):
        x = pattern.order[i]
        c = earned.choice[x]
        column[i] = 0.0
        if c >= 0:
            column[i] = own_strain(x, rewards, earned)
            for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                if pattern.slot[e] > len(pattern.later):  # out of the component
                    column[i] += rewards.data[e] * strain[rewards.indices[e]]
    for i in range(low, high):
        column[i] *= rows[i, 3, w]
        for a in range(pattern.pointer[i], pattern.pointer[i + 1]):
            column[pattern.later[a]] += back[a, w] * column[i]
    for i in range(high - 1, low - 1, -1):
        for a in range(pattern.pointer[i], pattern.pointer[i + 1]):
            column[i] += ahead[a, w] * column[pattern.later[a]]
        strain[pattern.order[i]] = column[i]
