"""A log in memory, seen as its variants."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.logs.deciding import MOMENT
from waypost.logs.log import BASE, CASE, DECIDES, OUTCOME, OVERDUE, TIME, EventLog
from waypost.logs.times import only_dates
from waypost.logs.variants import EXAMPLES, Clock, Decided, EventKind, Variants, Waiting, packed
from waypost.model.arrays import Ints
from waypost.model.traces import POSITIVE


def see(log: EventLog) -> Variants:
    """Variants of a log in memory, with what its clock says."""
    decides, first = _decides(log), log.first_event
    known, met = _variants(log, decides)
    ends = _ends(log)
    kind, begins = packed([sequence for sequence, _ in met])
    called = log.events[CASE].to_numpy(dtype=object)[first[:-1]]
    examples = [cases[:EXAMPLES] for cases in met.values()]
    outcomes = tuple(end for _, end in met) if OUTCOME in log.events else None
    good = np.array([end == POSITIVE for end in ends], bool)
    return Variants(
        kinds=tuple(EventKind(*key) for key in known),
        kind=kind,
        first=begins,
        count=np.array([len(cases) for cases in met.values()], np.int64),
        outcomes=outcomes,
        examples=tuple(tuple(str(called[k]) for k in cases) for cases in examples),
        met=tuple(np.array(cases, np.int64) for cases in examples),
        clock=_clock(log, good),
        decided={} if outcomes is None else _decided(log, decides, good),
    )


def _variants(
    log: EventLog, decides: NDArray[np.object_]
) -> tuple[Mapping[tuple[str, str, str], int], Mapping[tuple[tuple[int, ...], str], list[int]]]:
    """Kinds of events with their numbers; sequences of these, with how they end and the cases that run like that."""
    names, first = log.names().tolist(), log.first_event.tolist()
    base = log.events[BASE].to_numpy(dtype=object).tolist() if BASE in log.events else names
    known: dict[tuple[str, str, str], int] = {}
    code = [known.setdefault(key, len(known)) for key in zip(names, base, decides.tolist(), strict=True)]
    met: dict[tuple[tuple[int, ...], str], list[int]] = {}
    for case, ((low, high), end) in enumerate(zip(pairwise(first), _ends(log), strict=True)):
        met.setdefault((tuple(code[low:high]), end), []).append(case)
    return known, met


def _decides(log: EventLog) -> NDArray[np.object_]:
    """(N,) the outcome that each event decides, '' for most of them."""
    return log.column(DECIDES, "contrast") if DECIDES in log.events else np.full(len(log), "", object)


def _ends(log: EventLog) -> list[str]:
    """(cases,) how each case ended, '' where no outcome was set."""
    if OUTCOME not in log.events:
        return [""] * log.n_cases
    ends: list[str] = log.column(OUTCOME, "contrast")[log.first_event[:-1]].tolist()
    return ends


def _timed(log: EventLog) -> bool:
    return TIME in log.events and not log.events[TIME].isna().any()


def _at_once(log: EventLog) -> bool:
    """Whether times tell what happens at the same moment; dates do not."""
    return _timed(log) and not only_dates(log.times("contrast"))


def _clock(log: EventLog, good: NDArray[np.bool_]) -> Clock:
    """Waiting times by activity and outcome, and from each activity to the next."""
    if not _timed(log):
        return Clock()
    times = log.times("waiting").astype(np.int64) / 1e6
    case, activity = log.case_of, log.names()
    before = np.full(len(log), np.nan)
    same = case[1:] == case[:-1]
    before[1:][same] = np.diff(times)[same]
    after = np.append(before[1:], np.nan)
    waiting = {}
    names = tuple(log.activities())
    well = good[case]
    for name in names:
        rows = activity == name
        for outcome in (True, False):
            those = rows & (well == outcome)
            waiting[name, outcome] = Waiting(*_spread(before[those]), *_spread(after[those]))
    return Clock(waiting, _gaps(activity, before, names))


def _gaps(
    activity: NDArray[np.object_], before: NDArray[np.float64], names: tuple[str, ...]
) -> Mapping[tuple[str, str], float]:
    position = {name: k for k, name in enumerate(names)}
    code = np.array([position[name] for name in activity.tolist()], np.int64)
    later = np.flatnonzero(~np.isnan(before))
    pair = code[later - 1] * len(names) + code[later]
    order = np.argsort(pair, kind="stable")
    starts: Any = np.flatnonzero(np.append(True, pair[order][1:] != pair[order][:-1])) if len(order) else []
    found = {}
    for rows in np.split(order, starts)[1:]:
        a, b = divmod(int(pair[rows[0]]), len(names))
        found[names[a], names[b]] = float(np.median(before[later[rows]]))
    return found


def _spread(seconds: NDArray[np.float64]) -> tuple[float, float] | tuple[None, None]:
    known = seconds[~np.isnan(seconds)]
    if not len(known):
        return None, None
    median, ninety = np.quantile(known, [0.5, 0.9])
    return float(median), float(ninety)


def closings(log: EventLog, also: Mapping[str, str]) -> Ints:
    """Where the cases of each variant of a log in memory are decided (see `waypost.logs.variants.Log`)."""
    case, marked = log.case_of, _decides(log)
    named = np.array([also.get(name, "") for name in log.names().tolist()], object)
    good = np.array([end == POSITIVE for end in _ends(log)], bool)
    moment = _decisions(log, np.where(marked == "", named, marked), good)[case]
    settled = np.arange(len(log)) >= moment
    if _at_once(log):
        times = log.times("contrast")
        settled |= times + MOMENT >= times[moment]
    settled &= moment >= 0
    until = np.diff(log.first_event) - np.bincount(case, settled, log.n_cases).astype(np.int64)
    variant = np.zeros(log.n_cases, np.int64)
    for number, cases in enumerate(_variants(log, marked)[1].values()):
        variant[cases] = number
    found, many = np.unique(np.column_stack([variant, until]), axis=0, return_counts=True)
    return np.column_stack([found, many])


def _decided(log: EventLog, decides: NDArray[np.object_], good: NDArray[np.bool_]) -> dict[str, Decided]:
    """Count the cases in which an activity comes late, and those that an event decided."""
    names, case = tuple(log.activities()), log.case_of
    position = {name: k for k, name in enumerate(names)}
    code = np.array([position[name] for name in log.names().tolist()], np.int64)
    row = np.sort(np.unique(case * len(names) + code, return_index=True)[1])  # where an activity is new to its case
    decided = _decisions(log, decides, good)
    closed = np.zeros(log.n_cases, np.int64)
    np.maximum.at(closed, case[row], row)
    moment = np.where(decided >= 0, decided, closed)[case[row]]  # the row from which on nothing is open
    late = row >= moment
    if _at_once(log):
        times = log.times("contrast")
        late |= times[row] + MOMENT >= times[moment]
    by_event = decided[case[row]] >= 0
    parts = (late, by_event, late & by_event)
    counts = np.array([np.bincount(code[row], weights=part, minlength=len(names)) for part in parts], np.int64)
    return {name: Decided(*counts[:, k].tolist()) for name, k in position.items()}


def _decisions(log: EventLog, decides: NDArray[np.object_], good: NDArray[np.bool_]) -> Ints:
    """(cases,) the row that decided the case: the first that spoke for its outcome unrevoked, or came too late.

    -1 where none did.
    """
    decided = np.full(log.n_cases, -1, np.int64)
    case = log.case_of
    for row in np.flatnonzero(decides != "").tolist():
        k = case[row]
        speaks_for_it = (decides[row] == POSITIVE) == good[k]
        if not speaks_for_it:
            decided[k] = -1
        elif decided[k] < 0:
            decided[k] = row
    if OVERDUE in log.events:
        late = np.flatnonzero(log.column(OVERDUE, "contrast") != "")
        over, first = np.unique(case[late], return_index=True)
        rows = late[first]
        decided[over] = np.where(decided[over] < 0, rows, np.minimum(decided[over], rows))
    return decided
