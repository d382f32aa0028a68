"""How sure shares are: cases are drawn again, and what was counted is counted again.

Nothing is learned. Drawing cases is drawing how often each kind of case comes, so a thousand draws take a moment.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from waypost.logs import Log, contrast
from waypost.logs.tally import tally
from waypost.model.arrays import Floats

LEVEL = 0.95
Interval = tuple[float, float]


def share_intervals(log: Log, *, resamples: int, seed: int, level: float = LEVEL) -> dict[str, dict[str, Interval]]:
    """Intervals of the shares of every activity, by activity and share.

    >>> from waypost.logs import EventLog
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> cases = [["ask", "help", "pay"]] * 30 + [["ask", "pay"]] * 10 + [["ask", "go"]] * 60
    >>> found = share_intervals(set_outcome(EventLog.from_sequences(cases), positive="pay"), resamples=1000, seed=1)
    >>> low, high = found["help"]["good_share"]
    >>> 0.6 < low < 0.65, 0.85 < high < 0.9, found["ask"]["good_share"]
    (True, True, (1.0, 1.0))
    """
    names = tuple(log.activities())
    counted = contrast(log).activities
    stages = {c.name: names.index(c.stage.name) for c in counted if c.stage is not None}
    early = [c.name for c in counted if c.late_cases]
    drawn = drawn_shares(log, names, np.random.default_rng(seed), resamples, stages, early)
    found: dict[str, dict[str, Interval]] = {name: {} for name in names}
    for part in ("good_share", "bad_share", "success_after", "success_without", "success_without_as_far"):
        for k, name in enumerate(names):
            known = drawn[part][:, k][np.isfinite(drawn[part][:, k])]
            if len(known):
                low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
                found[name][part] = (float(low), float(high))
    return found


def _patterns(
    log: Log, names: tuple[str, ...], early: Collection[str] = ()
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Floats]:
    """Kinds of cases, by outcome and activities: which activities, whether good, and how many there are.

    Of the activities that count only while the outcome is open, `early` has the names.
    """
    told, there = tally(log), log.seen.activities
    having = np.where([name in early for name in there], told.early, told.having)
    rows = np.zeros((len(told.count), len(names) + 1), bool)
    rows[:, [names.index(name) for name in there]] = having
    rows[:, -1] = told.good
    kinds, where = np.unique(rows, axis=0, return_inverse=True)
    return kinds[:, :-1], kinds[:, -1], np.bincount(where.ravel(), weights=told.count).astype(float)


def measured_shares(log: Log, names: tuple[str, ...]) -> dict[str, Floats]:
    """(activities,) every share in the log itself."""
    present, good, counts = _patterns(log, names)
    return {part: values[0] for part, values in _shares(present, good, counts[None, :]).items()}


def drawn_shares(
    log: Log,
    names: tuple[str, ...],
    random: np.random.Generator,
    draws: int,
    stages: Mapping[str, int] | None = None,
    early: Collection[str] = (),
) -> dict[str, Floats]:
    """Shares in as many resamples: drawing cases is drawing how often each kind of case comes.

    `stages` are the stages of activities, by their position in `names`: what came as far is told where it is asked for.
    Of activities in `early` only what comes while the outcome is open counts.
    """
    present, good, counts = _patterns(log, names, early)
    weights = random.multinomial(int(counts.sum()), counts / counts.sum(), size=draws).astype(float)
    found = _shares(present, good, weights)
    if stages is not None:
        lacking = ~present
        for name, stage in stages.items():
            lacking[:, names.index(name)] &= present[:, stage]
        with np.errstate(divide="ignore", invalid="ignore"):
            without, well = weights @ lacking.astype(float), weights[:, good] @ lacking[good].astype(float)
            found["success_without_as_far"] = well / without
    return found


def _shares(present: NDArray[np.bool_], good: NDArray[np.bool_], weights: Floats) -> dict[str, Floats]:
    """(draws, activities) every share, for cases that come as often as `weights` says."""
    all_cases, well = weights.sum(axis=1, keepdims=True), weights[:, good].sum(axis=1, keepdims=True)
    with_it, with_good = weights @ present.astype(float), weights[:, good] @ present[good].astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        good_share, bad_share = with_good / well, (with_it - with_good) / (all_cases - well)
        return {
            "success": well / all_cases,
            "share": with_it / all_cases,
            "good_share": good_share,
            "bad_share": bad_share,
            "separation": good_share - bad_share,
            "success_after": with_good / with_it,
            "success_without": (well - with_good) / (all_cases - with_it),
        }
