"""How far a case must have come for a step to happen: what makes comparing cases with and without it fair.

A late step goes with success for no better reason than that most failures are over by then. Steps that all good cases
pass are *stages*. The stage of another step is the last one that comes before it; among the cases that pass this stage,
those with the step and those without it had the same chance to take it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from waypost.logs.variants import Variants
from waypost.model.arrays import Ints

NEARLY_ALL = 0.95  # of the cases with a step, the stage must come before it: real logs are not quite in order


def stages_before(seen: Variants, stages: Sequence[int]) -> Ints:
    """(activities,) the last of the stages before each activity, by its number; -1 where there is none.

    The last one is the one that the fewest cases pass, and of equals the first one given.

    >>> from waypost.logs import EventLog
    >>> seen = EventLog.from_sequences([["ask", "offer", "call", "pay"], ["ask", "offer", "pay"], ["ask", "go"]]).seen
    >>> list(seen.activities)
    ['ask', 'offer', 'pay', 'call', 'go']
    >>> stages_before(seen, [1, 0]).tolist()
    [-1, 0, 1, 1, 0]
    """
    many = len(seen.activities)
    found, fewest = np.full(many, -1), np.full(many, seen.n_cases + 1)
    pairs, event = np.unique(seen.variant * many + seen.code, return_index=True)  # the first time in each variant
    variant, activity = pairs // many, pairs % many
    cases = np.bincount(activity, weights=seen.count[variant], minlength=many)
    for stage in stages:
        passed = np.full(len(seen), len(seen.kind))  # by the event with which a variant passes it
        passed[variant[activity == stage]] = event[activity == stage]
        later = event > passed[variant]
        after = np.bincount(activity[later], weights=seen.count[variant[later]], minlength=many)
        better = (after >= NEARLY_ALL * cases) & (cases[stage] < fewest)
        found[better], fewest[better] = stage, cases[stage]
    return found
