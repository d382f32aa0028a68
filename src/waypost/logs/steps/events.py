"""Steps that look at single events: keep, drop, rename, number, merge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import LogError
from waypost.logs.log import ACTIVITY, BASE, DURATION, LIFECYCLE, EventLog, each_once, matches

Patterns = str | Sequence[str]  # names, in which * and ? stand for what they do in a shell


def keep_events(log: EventLog, *, names: Patterns) -> EventLog:
    """Keep the events with one of these names.

    >>> keep_events(EventLog.from_sequences([["a1", "b", "a2"]]), names="a*").sequences()
    [('a1', 'a2')]
    """
    rows = matches(log.names(), names)
    return log.where(rows, f"kept {counted(rows.sum(), 'event')} called {spoken(names)}")


def drop_events(log: EventLog, *, names: Patterns, unless: Patterns = (), in_cases_with: Patterns = "*") -> EventLog:
    """Drop the events with one of these names, `unless` they have one of those; only in cases with a certain event.

    >>> log = EventLog.from_sequences([["send", "send back", "pay"], ["send", "wait"]])
    >>> drop_events(log, names="send*", unless="send back", in_cases_with="pay").sequences()
    [('send back', 'pay'), ('send', 'wait')]
    """
    activities, case = log.names(), log.case_of
    rows = matches(activities, names) & ~matches(activities, unless)
    rows &= np.isin(case, case[matches(activities, in_cases_with)])
    where = "" if in_cases_with == "*" else f" in cases with {spoken(in_cases_with)}"
    return log.where(~rows, f"dropped {counted(rows.sum(), 'event')} called {spoken(names)}{where}")


def rename_events(log: EventLog, *, names: Mapping[str, str]) -> EventLog:
    """Give events other names, each as a whole.

    >>> rename_events(EventLog.from_sequences([["W_Nabellen"]]), names={"W_Nabellen": "call"}).sequences()
    [('call',)]
    """
    activities = log.names()
    missing_name(names, log.activities())
    renamed = np.array([names.get(name, name) for name in activities.tolist()], object)
    changed = renamed != activities
    return with_names(
        log, renamed, np.where(changed, renamed, bases(log)), f"renamed {counted(changed.sum(), 'event')}"
    )


def keep_lifecycle(log: EventLog, *, transitions: Patterns = "complete") -> EventLog:
    """Keep the events of these lifecycle transitions, upper and lower case alike; events without one stay."""
    given = lower(log.column(LIFECYCLE, "keep_lifecycle"))
    wanted = [transitions] if isinstance(transitions, str) else transitions
    rows = matches(given, [w.casefold() for w in wanted]) | (given == "")
    return log.where(rows, f"kept {counted(rows.sum(), 'event')} that are {spoken(transitions)}")


def merge_repeats(log: EventLog, *, names: Patterns = "*") -> EventLog:
    """Make one event of several with the same name in a row; their durations are added.

    >>> merge_repeats(EventLog.from_sequences([["call", "call", "pay", "call"]])).sequences()
    [('call', 'pay', 'call')]
    """
    activities, case = log.names(), log.case_of
    again = matches(activities, names)
    again[0] = False
    again[1:] &= (activities[1:] == activities[:-1]) & (case[1:] == case[:-1])
    events = log.events
    if DURATION in events:
        run = np.cumsum(~again) - 1
        total = np.bincount(run, weights=events[DURATION].fillna(0).to_numpy(float))
        known = np.bincount(run, weights=events[DURATION].notna().to_numpy(float)) > 0
        events = events.assign(**{DURATION: np.where(known, total, np.nan)[run]})
    return log.with_events(events[~again], f"merged {counted(again.sum(), 'repeated event')}")


def number_events(log: EventLog, *, names: Patterns, first: int = 0) -> EventLog:
    """Append to each of these events how often its case has seen it before.

    >>> number_events(EventLog.from_sequences([["offer", "call", "offer"]]), names="offer").sequences()
    [('offer0', 'call', 'offer1')]
    """
    activities, rows = log.names(), matches(log.names(), names)
    occurrence = log.events.groupby([log.case_of, activities]).cumcount().to_numpy() + first
    numbered = np.array([f"{a}{k}" if r else a for a, r, k in zip(activities, rows, occurrence, strict=True)], object)
    return with_names(log, numbered, bases(log), f"numbered {counted(rows.sum(), 'event')} called {spoken(names)}")


def bases(log: EventLog) -> NDArray[np.object_]:
    """(N,) the name of each event before it was numbered or classified."""
    return each_once(log.events[BASE]) if BASE in log.events else log.names()


def with_names(log: EventLog, names: NDArray[Any], base: NDArray[Any], note: str) -> EventLog:
    """Return the same events under other names."""
    return log.with_events(log.events.assign(**{ACTIVITY: names, BASE: base}), note)


def lower(values: NDArray[np.object_]) -> NDArray[np.object_]:
    """(N,) text without upper case."""
    return np.array([v.casefold() for v in values.tolist()], object)


def missing_name(names: Iterable[str], known: Mapping[str, int]) -> None:
    """Refuse to rename what is not there."""
    absent = next((old for old in names if old not in known), None)
    if absent is not None:
        raise LogError(f"rename_events: no event is called {absent!r}; there are: {spoken(list(known))}")


def counted(n: int, what: str) -> str:
    """Write a number of things.

    >>> counted(1, "event"), counted(2000, "event")
    ('1 event', '2,000 events')
    """
    return f"{int(n):,} {what}{'' if n == 1 else 's'}"


def spoken(names: Patterns) -> str:
    """Write the first of these names."""
    listed = [names] if isinstance(names, str) else list(names)
    return ", ".join(repr(n) for n in listed[:6]) + (f" and {len(listed) - 6} more" if len(listed) > 6 else "")
