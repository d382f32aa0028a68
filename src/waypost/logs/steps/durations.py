"""Steps that look at time: pair starts with ends, classify durations, tell late from soon."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from waypost.errors import LogError, require
from waypost.logs.log import DURATION, LIFECYCLE, EventLog, matches
from waypost.logs.steps.events import Patterns, bases, lower, with_names


def pair_lifecycle(
    log: EventLog,
    *,
    names: Patterns = "*",
    start: Patterns = "start",
    complete: Patterns = "complete",
    longer_than: float = 0.0,
) -> EventLog:
    """Make one event, with a duration, of a start and the next completion of the same activity in the same case.

    The event stands where the start stood. A start that is started again before it ends counts from the later one;
    starts without an end, ends without a start, and other transitions of these activities are dropped, and so is what
    lasted `longer_than` seconds or less.
    """
    transition = lower(log.column(LIFECYCLE, "pair_lifecycle"))
    activities, case, times = log.names(), log.case_of, log.times("pair_lifecycle")
    concerned = matches(activities, names)
    starts, ends = matches(transition, lowered(start)), matches(transition, lowered(complete))
    seconds = (times - times.min()).astype(np.int64) / 1e6
    duration = np.full(len(log), np.nan)
    opened: dict[tuple[int, str], int] = {}
    for row in np.flatnonzero(concerned & (starts | ends)).tolist():
        key = (int(case[row]), activities[row])
        if starts[row]:
            opened[key] = row
        elif key in opened:
            begun = opened.pop(key)
            duration[begun] = seconds[row] - seconds[begun]
    if not (duration >= 0).any():
        raise LogError(f"pair_lifecycle: no event called {names!r} has a {start!r} followed by a {complete!r}")
    kept = ~concerned | (duration > longer_than)
    events = log.events.assign(**{DURATION: duration})
    paired, long = int((duration >= 0).sum()), int((duration > longer_than).sum())
    short = f", of which {paired - long:,} lasted {longer_than:g} s or less and were dropped" if long < paired else ""
    return log.with_events(events[kept], f"paired {paired:,} starts with their ends{short}")


def classify_durations(
    log: EventLog,
    *,
    names: Patterns = "*",
    classes: Mapping[str, float] | None = None,
    mixture: int | None = None,
    seed: int = 42,
    separator: str = " ",
) -> EventLog:
    """Append the class of its duration to the name of each event that has one.

    Either `classes` gives each class the number of seconds that it stays below, ``{"SHORT": 600, "LONG": inf}``, or
    `mixture` is the number of classes that a Bayesian Gaussian mixture finds for each activity by itself.
    """
    if (classes is None) == (mixture is None):
        raise LogError("classify_durations: give either classes or mixture")
    if DURATION not in log.events:
        raise LogError("classify_durations: no event has a duration yet; run pair_lifecycle before it")
    activities, base = log.names(), bases(log)
    duration = log.events[DURATION].to_numpy(float)
    rows = matches(activities, names) & ~np.isnan(duration)
    named = activities.copy()
    told = []
    for activity in sorted(set(activities[rows].tolist())):
        those = np.flatnonzero(rows & (activities == activity))
        if classes is not None:
            found = checked_limits(duration[those], classes, activity)
        else:
            found = by_mixture(duration[those], mixture or 0, seed, activity)
        named[those] = [f"{activity}{separator}{c}" for c in found]
        told += [
            told_class(f"{activity}{separator}{c}", duration[those][found == c]) for c in dict.fromkeys(sorted(found))
        ]
    return with_names(log, named, base, f"classified {rows.sum():,} durations: {'; '.join(told)}")


def rename_by_gap(log: EventLog, *, names: Patterns, days: float, late: str, soon: str) -> EventLog:
    """Call these events `late` when that many days or more have passed since the event before, and `soon` otherwise."""
    times, case = log.times("rename_by_gap"), log.case_of
    gap = np.zeros(len(log))
    gap[1:] = np.where(case[1:] == case[:-1], (times[1:] - times[:-1]).astype(np.int64) / 86_400e6, 0.0)
    rows = matches(log.names(), names)
    renamed, base = log.names().copy(), bases(log).copy()
    renamed[rows] = np.where(gap[rows] >= days, late, soon)
    base[rows] = renamed[rows]
    waited = int((rows & (gap >= days)).sum())
    return with_names(log, renamed, base, f"{waited:,} events became {late!r}, {int(rows.sum()) - waited:,} {soon!r}")


def checked_limits(duration: NDArray[np.float64], classes: Mapping[str, float], activity: str) -> NDArray[np.object_]:
    """(n,) the class of each duration, by the seconds that a class stays below."""
    limits = list(classes.values())
    if not limits or any(low >= high for low, high in pairwise(limits)):
        raise LogError(f"classify_durations: the limits {limits} must rise from class to class")
    if duration.max() >= limits[-1]:
        raise LogError(
            f"classify_durations: an event {activity!r} lasted {duration.max():g} s, which is in no class; "
            f"let the last class end at inf"
        )
    return np.array(list(classes), object)[np.searchsorted(limits, duration, side="right")]


def by_mixture(duration: NDArray[np.float64], n: int, seed: int, activity: str) -> NDArray[np.object_]:
    """(n,) the class of each duration, as a mixture finds it."""
    model = require("sklearn.mixture", "logs", "classify_durations with a mixture")
    if not 1 <= n <= len(duration):
        raise LogError(f"classify_durations: {len(duration)} durations of {activity!r} cannot be put into {n} classes")
    fit = model.BayesianGaussianMixture(n_components=n, covariance_type="full", random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a mixture that has not settled still gives classes; the note tells which
        found = fit.fit_predict(duration.reshape(-1, 1))
    return np.array([str(c) for c in found], object)


def told_class(name: str, duration: NDArray[np.float64]) -> str:
    """Say what a class became."""
    return f"{name!r} {duration.min():,.0f} to {duration.max():,.0f} s ({len(duration):,})"


def lowered(patterns: Patterns) -> list[str]:
    """Patterns without upper case."""
    return [p.casefold() for p in ([patterns] if isinstance(patterns, str) else patterns)]
