"""Timestamps as text: parsed without guessing, their time zones kept."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import LogError, require

_HINT = "; give the form, as in time_format='%d/%m/%Y %H:%M:%S' (--column time_format=...)"
_EXCEL_HINT = (
    ", but may be one of Excel's, which counts days; write the column as a date and a time before it leaves Excel, or "
    "say that it has days (--column time_format=excel)"
)
EXCEL = "excel"  # in place of a format: days since the end of 1899, as spreadsheets keep times
UNIX = "unix"  # seconds since the beginning of 1970, or milliseconds, as programs keep times
MILLISECONDS = 1e11  # so many seconds are in the year 5138
_UNIX_HINT = (
    ", but may be the seconds or milliseconds since 1970 that programs keep; if so, say --column time_format=unix"
)
_SINCE = re.compile(r"\s*1\d{9}(\d{3}|\.\d+)?\s*$")
HOUR = 3_600_000_000  # microseconds
_DAYS = re.compile(r"\s*\d{5}([.,]\d+)?\s*$")
_ZONE = re.compile(r"\d\d:\d\d\S*\s*(?:(Z)|([+-])(\d\d):?(\d\d)?)$", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"\s*\d{4}[-/.]?\d")
_YEAR_LAST = re.compile(
    r"\s*(\d{1,2})([-/.])(\d{1,2})[-/.](\d{4}|\d{2})(?:[ T]+(\d{1,2}:\d{2}(:\d{2})?(\.\d+)?)(\s*[AaPp][Mm])?)?\s*$"
)


def parse_times(text: Any, where: str, time_format: str | None = None) -> tuple[Any, Any]:
    """Instants in UTC, and the minutes east of UTC that each was written with (or None if none was).

    ISO 8601 and its relatives (``2016/01/02 01:00``) are read as they stand, and ``03.04.2016`` with the day first;
    ``03/04/2016`` only where some other row settles what is the day. A time without a zone is read as UTC and has no
    offset.

    Parameters
    ----------
    text
        A pandas Series of text; missing values stay missing.
    where
        Name of the column, for messages.
    time_format
        A `strptime` format, where the text is something else; "excel" for the days that spreadsheets count,
        "unix" for the seconds or milliseconds since 1970 that programs count.
    """
    pandas = require("pandas", "logs", "reading event logs")
    text = text.astype(object).where(text.notna(), None)
    if time_format == EXCEL:
        days = pandas.to_numeric(text.map(lambda t: t and t.replace(",", ".")), errors="coerce")
        sane = days.where(days.between(0, 200_000)).astype(float)
        times = pandas.to_datetime((sane * 86_400_000).round(), unit="ms", origin="1899-12-30", utc=True)
    elif time_format == UNIX:
        since = pandas.to_numeric(text, errors="coerce").astype(float)
        times = pandas.to_datetime(
            (since * np.where(since.abs() < MILLISECONDS, 1e3, 1)).round(), unit="ms", utc=True, errors="coerce"
        )
    elif time_format is not None:
        try:
            times = pandas.to_datetime(text, format=time_format, utc=True, errors="coerce")
        except (ValueError, re.error) as error:
            raise LogError(f"{time_format[:60]!r} is no form of a time: {str(error)[:200]}") from None
    else:
        first = next((t for t in text if t is not None), "")
        if _YEAR_FIRST.match(first):
            times = _year_first(pandas, text)
        else:
            times = pandas.to_datetime(text, format=_year_last(text, where), utc=True, errors="coerce")
    bad = np.flatnonzero(times.isna().to_numpy() & text.notna().to_numpy())
    if len(bad):
        value = text.iloc[bad[0]]
        hint = _EXCEL_HINT if _DAYS.match(value) else _UNIX_HINT if _SINCE.match(value) else _HINT
        form = f" of the form {time_format!r}" if time_format else hint
        raise LogError(f"{where} has {value!r} in row {bad[0] + 1}, which is no timestamp{form}")
    return times.astype("datetime64[us, UTC]"), _offsets(pandas, text)


def from_datetimes(times: Any) -> tuple[Any, Any]:
    """Do the same for a pandas Series of datetimes."""
    if times.dt.tz is None:
        return times.dt.tz_localize("UTC").astype("datetime64[us, UTC]"), None
    local = times.dt.tz_localize(None)
    instants = times.dt.tz_convert("UTC")
    minutes = (local - instants.dt.tz_localize(None)).dt.total_seconds() / 60
    return instants.astype("datetime64[us, UTC]"), minutes.round().astype("Int16")


def only_dates(times: NDArray[np.datetime64]) -> bool:
    """Whether no time lies between two hours: then they are dates, of whatever zone, and tell no order within a day.

    >>> [only_dates(np.array([time, "NaT"], "datetime64[us]")) for time in ("2024-01-02", "2024-01-02T10:05")]
    [True, False]
    """
    known = times[~np.isnat(times)].astype("datetime64[us]").astype(np.int64)
    return not (known % HOUR).any()


def local_text(times: Any, offsets: Any) -> list[str]:
    """Timestamps as ISO 8601 text, in the zone they were written in."""
    from datetime import timedelta, timezone

    if offsets is None:
        return [t.tz_localize(None).isoformat() if t == t else "" for t in times]  # noqa: PLR0124  NaT differs from itself
    zones = {m: timezone(timedelta(minutes=int(m))) for m in offsets.dropna().unique()}
    return [
        "" if t != t else (t.tz_convert(zones[m]) if m in zones else t.tz_localize(None)).isoformat()  # noqa: PLR0124
        for t, m in zip(times, offsets, strict=True)
    ]


def _year_first(pandas: Any, text: Any) -> Any:
    times = pandas.to_datetime(text, format="ISO8601", utc=True, errors="coerce")
    odd = times.isna() & text.notna()
    if odd.any():  # 2016/01/02 and 2016.01.02 mean the same
        dashed = text[odd].map(lambda t: re.sub(r"^\s*(\d{4})[/.](\d\d?)[/.](\d\d?)", r"\1-\2-\3", t))
        times[odd] = pandas.to_datetime(dashed, format="ISO8601", utc=True, errors="coerce")
    return times


def _year_last(text: Any, where: str) -> str:
    """Find the `strptime` format of 31/12/2016 or 12/31/2016, from the rows that leave no doubt."""
    told = [value for value in text if value is not None]
    dates = [found for value in told if (found := _YEAR_LAST.match(value)) is not None]
    if len(dates) < len(told):
        odd = next(value for value in told if not _YEAR_LAST.match(value))
        raise LogError(f"{where} has {odd!r}, which is no timestamp{_HINT}")
    found = dates[-1]
    firsts, seconds = ({int(date[k]) for date in dates} for k in (1, 3))
    day_first, month_first = max(firsts) > 12, max(seconds) > 12
    if not month_first and found[2] == ".":  # nobody writes a month, a dot and a day
        day_first = True
    if day_first == month_first:
        raise LogError(
            f"{where} has dates such as {found[0].strip()!r}, in which day and month cannot be told apart; say which "
            f"comes first: --column 'time_format={_form(found, day_first=True)}', or "
            f"--column 'time_format={_form(found, day_first=False)}'"
        )
    return _form(found, day_first=day_first)


def _form(found: re.Match[str], *, day_first: bool) -> str:
    """Write the `strptime` format of a date that ends with its year."""
    day = "%d{0}%m{0}" if day_first else "%m{0}%d{0}"
    form = day.format(found[2]) + ("%Y" if len(found[4]) == 4 else "%y")
    if found[5]:
        form += " %I" if found[8] else " %H"
        form += ":%M" + (":%S" if found[6] else "") + (".%f" if found[7] else "") + (" %p" if found[8] else "")
    return form


def _offsets(pandas: Any, text: Any) -> Any:
    """Offsets in minutes, or None; computed once per ending, since a log has few zones and many rows."""
    known: dict[str, int | None] = {}
    found = np.empty(len(text), object)
    for k, value in enumerate(text):
        if value is None:
            continue
        tail = value[-6:]
        if tail not in known or known[tail] is None:  # an ending without a zone says nothing about the next
            known[tail] = _offset(value)
        found[k] = known[tail]
    offsets = pandas.array(found, dtype="Int16")
    return None if offsets.isna().all() else pandas.Series(offsets, index=text.index)


def _offset(value: str) -> int | None:
    zone = _ZONE.search(value)
    if zone is None:
        return None
    if zone[1]:
        return 0
    minutes = 60 * int(zone[3]) + int(zone[4] or 0)
    return -minutes if zone[2] == "-" else minutes
