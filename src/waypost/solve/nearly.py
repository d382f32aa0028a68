"""Choices that are nearly as good as those of a strategy, among which its strain is found; the others are far worse."""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.graph.compiled import kernel
from waypost.solve.strain import EPS

_NEARLY = 1e-6  # the share of what is at stake by which a choice is clearly worse


@kernel
def nearly_best(block, rewards, earned) -> Any:  # type: ignore[no-untyped-def]
    """(C,) the choices of a strategy in a component, and those that are nearly as good or better."""
    near = np.zeros(len(rewards.enabled), np.bool_)
    for x in block:
        if earned.choice[x] >= 0:
            near[earned.choice[x]] = True
        up = rewards.gain_weight * earned.gain[x]
        down = rewards.loss_weight * earned.loss[x]
        for c in range(rewards.first_choice[x], rewards.first_choice[x + 1]):
            if rewards.enabled[c]:
                better = 0.0
                for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                    y = rewards.indices[e]
                    there = rewards.gain_weight * earned.gain[y] - rewards.loss_weight * earned.loss[y]
                    better += rewards.data[e] * (there - (up - down))
                near[c] |= better >= -_NEARLY * (up + down)
    return near


@kernel
def ask_no_more(block, rewards, near, known) -> bool:  # type: ignore[no-untyped-def]
    """Whether the strains found among `near` choices are enough for the others (the inequality of `strain`)."""
    for x in block:
        me = known.leader[x]
        for c in range(rewards.first_choice[x], rewards.first_choice[x + 1]):
            if rewards.enabled[c] and not near[c]:
                n = rewards.indptr[c + 1] - rewards.indptr[c] + 8
                asked = 0.0
                left = 0.0
                for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                    y = rewards.indices[e]
                    if known.leader[y] != me:
                        more = known.worth[y] - known.worth[x] + (known.fix[y] - known.fix[x])
                        onward = known.strain[known.leader[y]] * (1.0 + n * EPS)
                        asked += rewards.data[e] * (onward + n * abs(more) + more / EPS)
                        left += rewards.data[e] * known.strain[me]
                if asked > left:
                    return False
    return True
