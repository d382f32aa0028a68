"""The process map of a log: its activities, and how often one directly follows another.

As analysts know it: an arrow from `a` to `b` counts the events `b` that come right after an `a` in the same case. Every
case runs from the start to an end; where the log has outcomes, to the end that its outcome names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from waypost.logs.log import CASE, NEGATIVE, OUTCOME, POSITIVE, TIME, EventLog

Role = Literal["start", "activity", "good", "bad", "end"]
MOST_STEPS = 400_000  # of all courses together; a log with more of them keeps none
_ENDS: dict[str, Role] = {POSITIVE: "good", NEGATIVE: "bad"}


@dataclass(frozen=True)
class Stop:
    """An activity of the map, or where all cases start, or where some of them end."""

    name: str
    role: Role
    cases: int  # that pass it
    events: int  # how often they do


@dataclass(frozen=True)
class Arrow:
    """How often one stop directly follows another."""

    source: int  # a position in the map's stops
    target: int
    count: int
    waiting: float | None  # median seconds from one to the other; None at both ends and where the log has no times


@dataclass(frozen=True)
class Course:
    """What some cases do from their first event to their end: a variant, told apart by how it ends."""

    stops: tuple[int, ...]  # positions in the map's stops; the last is an end
    count: int  # cases
    example: str  # the first of them, by name


@dataclass(frozen=True)
class ProcessMap:
    """Stops, the start first and the ends last, and the arrows between them, the most frequent first.

    What comes in goes out: the counts of the arrows into an activity sum to its events, and so do those out of it.
    """

    cases: int
    stops: tuple[Stop, ...]
    arrows: tuple[Arrow, ...]
    courses: tuple[Course, ...] = ()  # all of them, the most frequent first; none where they are too many


def process_map(log: EventLog) -> ProcessMap:
    """Process map of a log.

    >>> log = EventLog.from_sequences([["ask", "pay"]] * 3 + [["ask", "ask", "go"]])
    >>> found = process_map(log)
    >>> [(stop.name, stop.cases, stop.events) for stop in found.stops]
    [('start', 4, 4), ('ask', 4, 5), ('pay', 3, 3), ('go', 1, 1), ('end', 4, 4)]
    >>> [(found.stops[a.source].name, found.stops[a.target].name, a.count) for a in found.arrows][:3]
    [('start', 'ask', 4), ('ask', 'pay', 3), ('pay', 'end', 3)]
    >>> found.courses[1]
    Course(stops=(1, 1, 3, 4), count=1, example='case 4')
    """
    names = list(log.activities())
    code = {name: k for k, name in enumerate(names, 1)}
    activity = np.array([code[name] for name in log.names().tolist()], np.int64)
    first = log.first_event
    ends, end_of = _ends(log)
    n = len(names) + 1
    stops = [Stop("start", "start", log.n_cases, log.n_cases), *_stops(log, names, activity)]
    stops += [Stop(end, _ENDS.get(end, "end"), *[int((end_of == k).sum())] * 2) for k, end in enumerate(ends)]
    inside = np.ones(len(log), bool)
    inside[first[:-1]] = False
    later = np.flatnonzero(inside)
    source = np.concatenate([np.zeros(log.n_cases, np.int64), activity[later - 1], activity[first[1:] - 1]])
    target = np.concatenate([activity[first[:-1]], activity[later], n + end_of])
    seconds = np.full(len(source), np.nan)
    if TIME in log.events and not log.events[TIME].isna().any():
        times = log.times("waiting").astype(np.int64) / 1e6
        seconds[log.n_cases : log.n_cases + len(later)] = times[later] - times[later - 1]
    arrows = _arrows(source, target, seconds, n + len(ends))
    return ProcessMap(log.n_cases, tuple(stops), arrows, _courses(log, activity, n + end_of))


def _ends(log: EventLog) -> tuple[list[str], NDArray[np.int64]]:
    """Names of the ends, the good one first, and (cases,) which of them each case comes to."""
    if OUTCOME not in log.events:
        return ["end"], np.zeros(log.n_cases, np.int64)
    told = log.column(OUTCOME, "process_map")[log.first_event[:-1]].tolist()
    ends = sorted(set(told), key=lambda end: (list(_ENDS).index(end) if end in _ENDS else len(_ENDS), end))
    return ends, np.array([ends.index(end) for end in told], np.int64)


def _stops(log: EventLog, names: list[str], activity: NDArray[np.int64]) -> list[Stop]:
    events = np.bincount(activity, minlength=len(names) + 1)
    in_case = np.unique(log.case_of * (len(names) + 1) + activity) % (len(names) + 1)
    cases = np.bincount(in_case, minlength=len(names) + 1)
    return [Stop(name, "activity", int(cases[k]), int(events[k])) for k, name in enumerate(names, 1)]


def _arrows(
    source: NDArray[np.int64], target: NDArray[np.int64], seconds: NDArray[np.float64], n: int
) -> tuple[Arrow, ...]:
    order = np.argsort(source * n + target, kind="stable")
    pair = (source * n + target)[order]
    starts = np.flatnonzero(np.concatenate([[True], pair[1:] != pair[:-1]]))
    arrows = []
    for low, high in zip(starts.tolist(), [*starts[1:].tolist(), len(pair)], strict=True):
        waiting = float(np.median(seconds[order[low:high]]))
        a, b = divmod(int(pair[low]), n)
        arrows.append(Arrow(a, b, high - low, None if np.isnan(waiting) else waiting))
    return tuple(sorted(arrows, key=lambda arrow: (-arrow.count, arrow.source, arrow.target)))


def _courses(log: EventLog, activity: NDArray[np.int64], end_of: NDArray[np.int64]) -> tuple[Course, ...]:
    """Count the cases that do the same, `end_of` (cases,) being the stop at which each ends."""
    first = log.first_event.tolist()
    found: dict[tuple[bytes, int], list[int]] = {}  # cases and the first of them
    steps = 0
    for case, end in enumerate(end_of.tolist()):
        key = (activity[first[case] : first[case + 1]].tobytes(), end)
        if key not in found:
            steps += first[case + 1] - first[case]
            if steps > MOST_STEPS:
                return ()
            found[key] = [0, case]
        found[key][0] += 1
    names = log.events[CASE].to_numpy(dtype=object)
    courses = [
        Course((*np.frombuffer(taken, np.int64).tolist(), end), count, str(names[first[case]]))
        for (taken, end), (count, case) in found.items()
    ]
    return tuple(sorted(courses, key=lambda course: -course.count))
