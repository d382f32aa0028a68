"""How far a case must have come for a step to happen: what makes comparing cases with and without it fair.

A late step goes with success for no better reason than that most failures are over by then, and a step that comes only
after another goes with whatever the other goes with. So a step is compared among the cases that pass its *stage*, the
last step that nearly always comes before it: those with the step and those without it had the same chance to take it.

The last one is the one that the fewest cases pass. It must leave the step open: where hardly any case passes it and
goes without the step, or most of those that do are decided by then, the two cannot be told apart, and the step before
is looked at. A step that all good cases pass is always a stage: behind it, failures that were over would count again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from waypost.logs.variants import Variants
from waypost.model.arrays import Floats, Ints, Mask

NEARLY_ALL = 0.95  # cases: real logs are not quite in order
FEWEST = 5  # cases without a step that it can be compared with
ENOUGH = 30  # cases with a step that tell what comes before it; before few, much comes by chance
AT_ONCE = 1 << 20  # entries that are looked at together, so that memory stays small


def stages_before(seen: Variants, told: Mask) -> Ints:
    """(activities,) the stage of each activity, one of those `told` of, by its number; -1 where there is none.

    >>> from waypost.logs import EventLog
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> cases = [["ask", "prove", "pay"]] * 40 + [["ask", "go"]] * 30 + [["pay"]] * 20 + [["go"]] * 10
    >>> seen = set_outcome(EventLog.from_sequences(cases), positive="pay").seen
    >>> list(seen.activities), stages_before(seen, np.ones(4, bool)).tolist()
    (['ask', 'pay', 'prove', 'go'], [-1, -1, 0, -1])
    """
    before, cases = _nearly_always_before(seen)
    names = list(seen.activities)
    everywhere = np.asarray(seen.present[seen.good].all(axis=0))
    order = sorted(range(len(names)), key=lambda k: (cases[k], -len(before[k]), names[k]))  # of equals, the later one
    possible = [k for k in order if told[k] and cases[k] < seen.n_cases]
    found = np.full(len(names), -1)
    for step, earlier in enumerate(map(set, before)):
        enough = cases[step] >= ENOUGH
        stages = (k for k in possible if k in earlier and (everywhere[k] or (enough and _open(seen, names, k, step))))
        found[step] = next(stages, -1)
    return found


def _open(seen: Variants, names: Sequence[str], stage: int, step: int) -> bool:
    """Whether enough of the cases that pass a stage go without the step, and most of them could go on to it."""
    without = int(seen.count[seen.present[:, stage] & ~seen.present[:, step]].sum())
    settled, late = (seen.decided[names[k]].settled for k in (stage, step))  # where a stage is late, its step is too
    return without >= max(FEWEST, 2 * (settled - late))


def _nearly_always_before(seen: Variants) -> tuple[list[list[int]], Floats]:
    """(activities,) which activities come before each one in nearly all cases that have it, and how many cases do.

    Pairs of activities are counted variant by variant, as many as there are in each.
    """
    many = len(seen.activities)
    new = np.sort(np.unique(seen.variant * many + seen.code, return_index=True)[1])  # an activity is new to its variant
    variant, activity = seen.variant[new], seen.code[new]
    cases = np.asarray(np.bincount(activity, seen.count[variant], many), np.float64)
    begins = np.searchsorted(variant, np.arange(len(seen)))
    by_activity = np.split(np.argsort(activity, kind="stable"), np.cumsum(np.bincount(activity, minlength=many))[:-1])
    found = []
    for step, at in enumerate(by_activity):
        earlier = at - begins[variant[at]]
        weight = np.zeros(many)
        for part in _parts(earlier):
            weight += _weights(activity, at[part], earlier[part], seen.count[variant[at[part]]], many)
        found.append(np.flatnonzero(weight >= NEARLY_ALL * cases[step]).tolist())
    return found, cases


def _weights(activity: Ints, at: Ints, earlier: Ints, count: Ints, many: int) -> Floats:
    """(activities,) in how many cases each comes among the `earlier` entries just before `at`."""
    ends = np.cumsum(earlier)
    entries = np.arange(ends[-1]) + np.repeat(at - ends, earlier)
    return np.asarray(np.bincount(activity[entries], np.repeat(count, earlier), many), np.float64)


def _parts(sizes: Ints) -> list[slice]:
    """Runs of items that are not too large together, as far as a single one is not."""
    if not len(sizes):
        return []
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // AT_ONCE)) + 1
    return [slice(low, high) for low, high in zip([0, *cuts.tolist()], [*cuts.tolist(), len(sizes)], strict=True)]
