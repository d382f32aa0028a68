"""The process map of a log: its activities, and how often one directly follows another.

As analysts know it: an arrow from `a` to `b` counts the events `b` that come right after an `a` in the same case. Every
case runs from the start to an end; where the log has outcomes, to the end that its outcome names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from waypost.logs.variants import Log, Variants
from waypost.model.traces import NEGATIVE, POSITIVE

Role = Literal["start", "activity", "good", "bad", "end"]
MOST_STEPS = 400_000  # of all journeys together; a log with more of them keeps none
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
class Journey:
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
    journeys: tuple[Journey, ...] = ()  # all of them, the most frequent first; none where they are too many


def process_map(log: Log) -> ProcessMap:
    """Process map of a log.

    >>> from waypost.logs import EventLog
    >>> log = EventLog.from_sequences([["ask", "pay"]] * 3 + [["ask", "ask", "go"]])
    >>> found = process_map(log)
    >>> [(stop.name, stop.cases, stop.events) for stop in found.stops]
    [('start', 4, 4), ('ask', 4, 5), ('pay', 3, 3), ('go', 1, 1), ('end', 4, 4)]
    >>> [(found.stops[a.source].name, found.stops[a.target].name, a.count) for a in found.arrows][:3]
    [('start', 'ask', 4), ('ask', 'pay', 3), ('pay', 'end', 3)]
    >>> found.journeys[1]
    Journey(stops=(1, 1, 3, 4), count=1, example='case 4')
    """
    seen = log.seen
    names, cases = list(seen.activities), seen.n_cases
    activity, first, count = seen.code + 1, seen.first, seen.count
    ends, end_of = _ends(seen)
    with_it = count @ seen.present
    stops = [Stop("start", "start", cases, cases)]
    stops += [Stop(name, "activity", int(with_it[k]), seen.activities[name]) for k, name in enumerate(names)]
    stops += [Stop(end, _ENDS.get(end, "end"), *[int(count[end_of == k].sum())] * 2) for k, end in enumerate(ends)]
    inside = np.ones(len(activity), bool)
    inside[first[:-1]] = False
    later = np.flatnonzero(inside)
    source = np.concatenate([np.zeros(len(seen), np.int64), activity[later - 1], activity[first[1:] - 1]])
    target = np.concatenate([activity[first[:-1]], activity[later], len(names) + 1 + end_of])
    weight = np.concatenate([count, count[seen.variant[later]], count])
    pair, where = np.unique(source * len(stops) + target, return_inverse=True)
    often = np.bincount(where, weights=weight)
    arrows = []
    for code, number in zip(pair.tolist(), often.tolist(), strict=True):
        a, b = divmod(code, len(stops))
        between = 0 < a <= len(names) and b <= len(names)
        waiting = seen.clock.gaps.get((names[a - 1], names[b - 1])) if between else None
        arrows.append(Arrow(a, b, int(number), waiting))
    arrows.sort(key=lambda arrow: (-arrow.count, arrow.source, arrow.target))
    return ProcessMap(cases, tuple(stops), tuple(arrows), _journeys(seen, len(names) + 1 + end_of))


def _ends(seen: Variants) -> tuple[list[str], NDArray[np.int64]]:
    """Names of the ends, the good one first, and (V,) which of them the cases of each variant come to."""
    if seen.outcomes is None:
        return ["end"], np.zeros(len(seen), np.int64)
    known = set(seen.outcomes)
    ends = sorted(known, key=lambda end: (list(_ENDS).index(end) if end in _ENDS else len(_ENDS), end))
    return ends, np.array([ends.index(end) for end in seen.outcomes], np.int64)


def _journeys(seen: Variants, end_of: NDArray[np.int64]) -> tuple[Journey, ...]:
    """What cases do, `end_of` (V,) being the stop at which those of each variant end."""
    if len(seen.code) > MOST_STEPS:
        return ()
    found: dict[tuple[int, ...], Journey] = {}
    for v, (low, high) in enumerate(pairwise(seen.first.tolist())):
        stops = (*(seen.code[low:high] + 1).tolist(), int(end_of[v]))
        known = found.get(stops, Journey(stops, 0, seen.examples[v][0]))
        found[stops] = replace(known, count=known.count + int(seen.count[v]))
    return tuple(sorted(found.values(), key=lambda journey: -journey.count))
