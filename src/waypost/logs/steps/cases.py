"""Steps that look at whole cases: which to keep, where to cut them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from waypost.errors import LogError
from waypost.logs.log import EventLog, matches
from waypost.logs.steps.events import Patterns

Moment = str | date  # a datetime is a date, too


def keep_cases(
    log: EventLog,
    *,
    having: Patterns = "*",
    lacking: Patterns = (),
    attribute: str | None = None,
    values: Patterns = "*",
) -> EventLog:
    """Keep the cases that have one event and lack another, or an `attribute` with certain `values`.

    >>> log = EventLog.from_sequences([["ask", "pay"], ["ask"], ["ask", "pay", "complain"]])
    >>> keep_cases(log, having="pay", lacking="complain").sequences()
    [('ask', 'pay')]
    """
    keep = _cases_with(log, having) & ~_cases_with(log, lacking)
    if attribute is not None:
        rows = matches(log.column(attribute, "keep_cases"), values)
        keep &= np.bincount(log.case_of, weights=rows, minlength=len(keep)) > 0
    return log.where_cases(keep, f"kept {keep.sum():,} of {len(keep):,} cases")


def keep_periods(log: EventLog, *, periods: list[Mapping[str, Moment]]) -> EventLog:
    """Keep the cases that lie wholly within one of the periods ``{"from": moment, "until": moment}``, or half of it.

    Both ends belong to the period; a moment without a time zone is UTC, and a date is its midnight.
    """
    times, first = log.times("keep_periods"), log.first_event
    begin, end = np.minimum.reduceat(times, first[:-1]), np.maximum.reduceat(times, first[:-1])
    keep = np.zeros(len(begin), bool)
    for period in periods:
        checked_period(period)
        inside = np.ones(len(begin), bool)
        if "from" in period:
            inside &= begin >= instant(period["from"])
        if "until" in period:
            inside &= end <= instant(period["until"])
        keep |= inside
    return log.where_cases(keep, f"kept {keep.sum():,} of {len(keep):,} cases, by time")


def keep_variants(log: EventLog, *, at_least: int = 2) -> EventLog:
    """Keep the cases whose sequence of events happened at least that often.

    >>> keep_variants(EventLog.from_sequences(["ab", "ac", "ab"]), at_least=2).sequences()
    [('a', 'b'), ('a', 'b')]
    """
    counts = log.variants()
    keep = np.array([counts[sequence] >= at_least for sequence in log.sequences()], bool)
    often = sum(n >= at_least for n in counts.values())
    return log.where_cases(keep, f"kept {often:,} of {len(counts):,} variants, {keep.sum():,} of {len(keep):,} cases")


def cut_cases(log: EventLog, *, after: Patterns, missing: Literal["drop", "keep"] = "drop") -> EventLog:
    """End each case with the first of these events; a case without one is dropped, or kept as it is.

    >>> cut_cases(EventLog.from_sequences(["abcb", "ac"]), after="b").sequences()
    [('a', 'b')]
    """
    if missing not in ("drop", "keep"):
        raise LogError(f"cut_cases: missing is 'drop' or 'keep', not {missing!r}")
    first = log.first_event
    hit = matches(log.names(), after)
    before = np.concatenate([[0], np.cumsum(hit)])[:-1]  # hits before each row, over all cases
    seen = before - before[first[:-1]][log.case_of]
    ends = _cases_with(log, after)
    keep = (seen == 0) & (ends[log.case_of] if missing == "drop" else True)
    gone = 0 if missing == "keep" else int((~ends).sum())
    return log.where(
        keep, f"cut {ends.sum():,} cases at their first {after!r}" + (f", dropped {gone:,} without" if gone else "")
    )


def _cases_with(log: EventLog, names: Patterns) -> NDArray[np.bool_]:
    return np.bincount(log.case_of, weights=matches(log.names(), names), minlength=log.n_cases) > 0


def checked_period(period: Mapping[str, Moment]) -> None:
    """Refuse a period that is none."""
    unknown = set(period) - {"from", "until"}
    if unknown or not period:
        raise LogError(f"keep_periods: a period has 'from', 'until' or both, not {sorted(unknown) or 'nothing'}")


def instant(moment: Moment) -> np.datetime64:
    """Moment of a period, in UTC."""
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise LogError(
                f"keep_periods: {moment!r} is no date or time; write 2016-06-30 or 2016-06-30T23:59:59"
            ) from None
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(moment, "us")
