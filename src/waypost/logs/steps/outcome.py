"""How a case ended: by an event, by its last event, by a deadline, or by an attribute."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from waypost.errors import LogError, unknown_name
from waypost.logs.log import CASE, DECIDES, OUTCOME, OVERDUE, EventLog, matches
from waypost.logs.steps.events import Patterns
from waypost.logs.variants import AnyLog
from waypost.model.traces import NEGATIVE, POSITIVE

Others = Literal["error", "drop", "positive", "negative"]
Marks = NDArray[np.bool_]

_SPAN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)
_SECONDS = {"s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0}
_SECONDS |= {"": 86_400.0, "d": 86_400.0, "day": 86_400.0, "w": 604_800.0, "week": 604_800.0}


def set_outcome(
    log: EventLog,
    *,
    positive: Patterns,
    negative: Patterns = (),
    attribute: str | None = None,
    last: bool = False,
    within: str | float | None = None,
    others: Others | None = None,
) -> EventLog:
    """Say which cases ended well: by an event, by their `last` event, or by the values of an `attribute`.

    Where events of both kinds happen in a case, the later one decides. `within` is a deadline from the first event of
    the case on, as in "60 days" or "8 hours": a positive event that comes later makes no case positive, and what comes
    later in a negative case comes when that is decided. `others` says
    what becomes of cases with neither: by default they are negative, or an error where `negative` was given. The events
    that decide are marked, so that nobody takes the outcome for its own explanation.

    >>> log = set_outcome(EventLog.from_sequences([["ask", "pay"], ["ask"]]), positive="pay")
    >>> log.notes[-1]
    'outcomes: 1 positive, 1 negative'
    >>> set_outcome(log, positive="play")
    Traceback (most recent call last):
    ...
    waypost.errors.LogError: set_outcome: no event 'play' in this log; did you mean 'pay'? known events: ask, pay
    """
    good, bad = _told(log, positive, negative, attribute)
    if last:
        final = np.zeros(len(log), bool)
        final[log.first_event[1:] - 1] = True
        good, bad = good & final, bad & final
    named = good | bad
    open_cases, overdue = 0, np.zeros(len(log), bool)
    if within is not None:
        good, overdue, open_cases = _in_time(log, good, seconds_of(within))
    case = log.case_of
    outcome = np.full(log.n_cases, "", object)
    decides = np.flatnonzero(good | bad)
    outcome[case[decides]] = np.array([NEGATIVE, POSITIVE], object)[good[decides].astype(np.int8)]  # the last one stays
    without = outcome == ""
    others = others or ("error" if negative else "negative")
    first = str(log.events.iloc[log.first_event[int(without.argmax())]][CASE]) if without.any() else ""
    check_others(others, int(without.sum()), len(without), first)
    if others in (POSITIVE, NEGATIVE):
        outcome[without] = others
    ended = int((outcome == POSITIVE).sum()), int((outcome == NEGATIVE).sum())
    note = outcome_note(*ended, positive, open_cases, int(without.sum()) if others == "drop" else 0)
    marks = {OUTCOME: outcome[case]}
    if attribute is None:
        marks[DECIDES] = np.where(good, POSITIVE, np.where(named, NEGATIVE, ""))
    if within is not None:
        marks[OVERDUE] = np.where(overdue & (outcome[case] == NEGATIVE), NEGATIVE, "")
    return log.with_events(log.events.assign(**marks)).where_cases(outcome != "", note)


def events_apart(log: AnyLog) -> AnyLog:
    """Log in which no event is called what outcomes are called, for as targets they would be the same.

    >>> log = set_outcome(EventLog.from_sequences([["ask", "positive"], ["ask"]]), positive="positive")
    >>> events_apart(log).sequences()
    [('ask', 'positive (event)'), ('ask',)]
    """
    clash = sorted({POSITIVE, NEGATIVE} & set(log.activities()))
    if not log.has(OUTCOME) or not clash:
        return log
    told = " and ".join(map(repr, clash))
    note = f"events called {told}, as outcomes are, have '(event)' after their name"
    return log.spoken_as({name: f"{name} (event)" for name in clash}, note)


def _told(log: EventLog, positive: Patterns, negative: Patterns, attribute: str | None) -> tuple[Marks, Marks]:
    """(N,) the rows that speak for a good and for a bad end; names that no row has are slips of the pen."""
    told = log.names() if attribute is None else log.column(attribute, "set_outcome")
    if attribute is not None:  # True, true and TRUE say the same
        folded = {value: value.casefold() for value in set(told.tolist())}
        told = np.array(list(map(folded.__getitem__, told.tolist())), object)
    known = log.activities() if attribute is None else dict.fromkeys(sorted(set(told.tolist())), 1)
    good, bad = (wanted_values(which, known, attribute) for which in (positive, negative))
    return np.isin(told, good), np.isin(told, bad)


def wanted_values(which: Patterns, known: Mapping[str, int], attribute: str | None) -> list[str]:
    """Names or values that patterns mean; one that fits nothing is a slip of the pen."""
    names = np.array(list(known), object)
    patterns = [p if attribute is None else p.casefold() for p in listed(which)]
    for pattern, given in zip(patterns, listed(which), strict=True):
        if not matches(names, pattern).any():
            kind = "event" if attribute is None else f"value of {attribute!r}"
            raise LogError(f"set_outcome: {unknown_name(kind, given, list(known), 'this log')}")
    return list(names[matches(names, patterns)])


def _in_time(log: EventLog, good: Marks, seconds: float) -> tuple[Marks, Marks, int]:
    """Rows that are good and in time, all rows that are not in time, and how many cases may still become good."""
    times, case = log.times("an outcome by deadline"), log.case_of
    begun = times[log.first_event[:-1]]
    since = (times - begun[case]).astype(np.int64) / 1e6
    timely = good & (since <= seconds)
    lacking = np.bincount(case, weights=good, minlength=log.n_cases) == 0
    observed = (times.max() - begun).astype(np.int64) / 1e6
    return timely, since > seconds, int((lacking & (observed < seconds)).sum())


def seconds_of(span: str | float) -> float:
    """Seconds of "60 days", "8 hours", or a number of days."""
    found = _SPAN.fullmatch(str(span))
    unit = None if found is None else found[2].casefold()
    factor = None if unit is None else _SECONDS.get(unit, _SECONDS.get(unit.removesuffix("s")))
    if found is None or factor is None:
        raise LogError(f"set_outcome: within is a time such as '60 days' or '8 hours', not {span!r}")
    return float(found[1]) * factor


def check_others(others: str, without: int, cases: int, first: str) -> None:
    """Refuse cases without an outcome where nothing says what they are; `first` is the name of one."""
    if others not in ("error", "drop", POSITIVE, NEGATIVE):
        raise LogError(f"set_outcome: others is 'error', 'drop', 'positive' or 'negative', not {others!r}")
    if others == "error" and without:
        raise LogError(
            f"{without:,} of {cases:,} cases have no outcome (the first is {first!r}); "
            f"say what they are: others='drop', 'positive' or 'negative' (--others drop leaves them out)"
        )


def outcome_note(good: int, bad: int, positive: Patterns, open_cases: int, dropped: int) -> str:
    """Say how cases ended; good and bad ones must both be there, otherwise there is nothing to tell apart."""
    if not good or not bad:
        named = " or ".join(repr(p) for p in listed(positive))
        which = "no case is" if not good else "the one case there is is" if good == 1 else f"all {good:,} cases are"
        raise LogError(
            f"{which} positive by {named}, so nothing tells good cases from bad ones; choose an outcome that some "
            f"cases have and others lack (`waypost log FILE` lists candidates)"
        )
    early = f" ({open_cases:,} of them had less time than that before the log ends)" if open_cases else ""
    gone = f", {dropped:,} without were dropped" if dropped else ""
    return f"outcomes: {good:,} {POSITIVE}, {bad:,} {NEGATIVE}{early}{gone}"


def listed(names: Patterns) -> list[str]:
    """Patterns, also where there is one."""
    return [names] if isinstance(names, str) else list(names)
