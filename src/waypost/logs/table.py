"""Logs as tables: CSV files and pandas DataFrames, their columns detected or mapped."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from waypost.errors import LogError, require
from waypost.formats.reading import LARGE, unpacked_limit
from waypost.logs.files import open_binary
from waypost.logs.headings import chosen_columns, there_are
from waypost.logs.log import ACTIVITY, CASE, LIFECYCLE, OFFSET, TIME, is_text, plain_text
from waypost.logs.times import EXCEL, UNIX, from_datetimes, parse_times

DELIMITERS = ",;\t|"
SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how .xlsx (a zip archive) and .xls begin
UTF8 = "utf-8-sig"  # with or without a mark at its beginning
SAMPLE = 1 << 16  # bytes from which a file's shape is guessed
CELLS = 20_000_000  # of the table that any file may fill
_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?\s?(Z|[+-]\d\d(:?\d\d)?)?)?$")


def read_csv(path: Path, delimiter: str | None = None, encoding: str = UTF8) -> Any:
    """Read a CSV file as a DataFrame of text; only an empty field is missing, "NA" is a name like any other."""
    pandas = require("pandas", "logs", "reading event logs")
    if delimiter is not None and len(delimiter) != 1:
        raise LogError(f"{delimiter[:40]!r} is no delimiter; it is one character, such as ; or a tab")
    separator = delimiter or ","
    try:
        with open_binary(path) as stream:
            if stream.peek(4).startswith(SPREADSHEETS):
                raise LogError(f"{path.name} is a spreadsheet or an archive; save it as CSV (in UTF-8) and read that")
            if encoding == UTF8 and stream.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                encoding = "utf-16"  # "Unicode text", as spreadsheets call it
            sample = codecs.getincrementaldecoder(_text_encoding(encoding))().decode(stream.peek(SAMPLE))
            if not sample.strip():
                raise LogError(f"{path.name} is empty")
            separator = delimiter or detect_delimiter(sample)
            frame = pandas.read_csv(
                io.BufferedReader(_CheckedLines(stream, _width(sample, separator, path.name), path.name), SAMPLE),
                sep=separator,
                encoding=encoding,
                dtype=str,
                keep_default_na=False,
                na_values=[""],
            )
    except UnicodeError:
        raise LogError(
            f"{path.name} is not {encoding.removesuffix('-sig')}; name its encoding "
            f"(--column encoding=cp1252 for a file from Windows)"
        ) from None
    except LookupError:
        raise LogError(f"{encoding[:40]!r} is not an encoding") from None
    except (ValueError, OverflowError, TypeError, csv.Error) as error:  # pandas' errors are ValueErrors
        raise LogError(f"{path.name} is no proper CSV: {_odd_line(str(error).strip()[:300], separator)}") from None
    if not len(frame):
        raise LogError(f"{path.name} has a heading but no events")
    return frame


def read_csvs(paths: Sequence[Path], delimiter: str | None = None, encoding: str = UTF8) -> list[Any]:
    """Read CSV files with the same columns."""
    frames = [read_csv(path, delimiter, encoding) for path in paths]
    for path, frame in zip(paths, frames, strict=True):
        if set(frame.columns) != set(frames[0].columns):
            odd = min(map(str, set(frame.columns) ^ set(frames[0].columns)))
            raise LogError(f"{paths[0].name} and {path.name} are in one folder and differ in the column {odd!r}")
    return frames


def _odd_line(said: str, separator: str) -> str:
    """What pandas says of a line that has too many fields, for people.

    >>> _odd_line("Error tokenizing data. C error: Expected 3 fields in line 4, saw 5", ";")
    "line 4 has 5 fields where 3 were expected; put quotes around text that has ';' in it, or name the delimiter \
(--column delimiter=...)"
    """
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", said)
    if found is None:
        return said
    what_to_do = f"put quotes around text that has {separator!r} in it, or name the delimiter (--column delimiter=...)"
    return f"line {found[2]} has {found[3]} fields where {found[1]} were expected; {what_to_do}"


def plain_csv(path: Path, delimiter: str | None, mapping: Mapping[str, str | None]) -> str | None:
    """Delimiter of a CSV file that any engine reads alike, in UTF-8 with ISO 8601 times; None for every other file."""
    with open_binary(path) as stream:
        sample = stream.peek(SAMPLE)
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(sample)
        separator = delimiter or detect_delimiter(text)
        rows = list(csv.reader(text.splitlines()[:20], delimiter=separator))
        chosen = chosen_columns(rows[0], mapping, path.name)
    except (ValueError, IndexError, csv.Error, LogError):
        return None
    times = rows[0].index(chosen[TIME]) if TIME in chosen else None
    iso = times is None or all(_ISO.match(row[times]) for row in rows[1:-1] if len(row) > times and row[times])
    return separator if iso and len(set(rows[0])) == len(rows[0]) and sample[:2] != b"\x1f\x8b" else None


class _CheckedLines(io.RawIOBase):
    """A stream that is refused when its lines are too short for their heading, as a table would fill them up."""

    def __init__(self, stream: IO[bytes], width: int, name: str) -> None:
        self._stream, self._width, self._name = stream, width, name
        self._lines = self._bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read on; every honest line has a byte for each of its cells."""
        content = self._stream.read(len(buffer))
        self._lines += content.count(b"\n")
        self._bytes += len(content)
        if self._lines * self._width > CELLS + 2 * self._bytes and unpacked_limit(0) is not None:
            raise LogError(
                f"{self._name} has a heading of {self._width:,} columns and far shorter lines; that is no table (to "
                f"read it all the same, set {LARGE}=1)"
            )
        buffer[: len(content)] = content
        return len(content)


def _text_encoding(name: str) -> str:
    found = codecs.lookup(name)
    if not getattr(found, "_is_text_encoding", True):
        raise LookupError(name)
    return found.name


def _width(sample: str, separator: str, name: str) -> int:
    """Number of columns that the first line announces."""
    lines = sample.splitlines(keepends=True)
    if len(lines) < 2 and len(sample) >= SAMPLE // 4:
        raise LogError(f"{name} begins with a line of more than {len(sample):,} characters; that is no heading")
    return len(next(csv.reader(lines, delimiter=separator), []))


def detect_delimiter(sample: str) -> str:
    """Delimiter that splits the first lines into equally many fields, the most fields of all.

    >>> detect_delimiter('case;activity;note' + chr(10) + '1;"a;b";x, y')
    ';'
    """
    lines = sample.splitlines()[:20]
    if len(sample) >= SAMPLE // 4:
        lines = lines[:-1] or lines
    best, most = ",", 1
    for delimiter in DELIMITERS:
        try:
            widths = {len(row) for row in csv.reader(lines, delimiter=delimiter, strict=True) if row}
        except csv.Error:  # a quote closes in the middle of a field: not this delimiter
            continue
        if len(widths) == 1 and max(widths) > most:
            best, most = delimiter, max(widths)
    return best


def standard_columns(frame: Any, mapping: Mapping[str, str | None], where: str) -> tuple[Any, dict[str, str]]:
    """Give the case, activity, time and lifecycle columns their standard names; say which column became which."""
    columns = [str(c) for c in frame.columns]
    chosen = chosen_columns(columns, mapping, where)
    frame = frame.set_axis(columns, axis="columns")
    for standard, column in chosen.items():
        frame = frame.assign(**{standard: frame[column]})
    return frame, chosen


def reading_note(chosen: Mapping[str, str]) -> tuple[str, ...]:
    """Tell which columns were read as something else than they are called.

    >>> reading_note({"case:concept:name": "Case ID", "concept:name": "concept:name"})
    ("read 'Case ID' as case:concept:name",)
    """
    renamed = {standard: column for standard, column in chosen.items() if column != standard}
    return (f"read {', '.join(map(repr, renamed.values()))} as {', '.join(renamed)}",) if renamed else ()


def combined(frame: Any, activity: str | None, classifiers: Mapping[str, Sequence[str]]) -> Any:
    """Add the column `activity` where it is a classifier, or several columns joined by ``+``.

    >>> import pandas
    >>> combined(pandas.DataFrame({"status": ["done"], "why": ["paid"]}), "status+why", {})["status+why"].tolist()
    ['done+paid']
    """
    if activity is None or activity in frame:
        return frame
    keys = list(classifiers.get(activity, activity.split("+")))
    if not all(key in frame for key in keys) or len(keys) + (activity in classifiers) < 2:
        return frame
    parts = [frame[key].astype(object).where(frame[key].notna(), "").map(plain_text) for key in keys]
    joined = ["+".join(part for part in row if part) for row in zip(*parts, strict=True)]
    return frame.assign(**{activity: joined})


def typed(frame: Any, where: str, time_format: str | None = None) -> Any:
    """Check the four columns and give them their types: names are text, times are instants with an offset beside."""
    for column, what in ((CASE, "case"), (ACTIVITY, "activity")):
        names = frame[column].unique()
        missing = frame[column].isna() | frame[column].isin([n for n in names if isinstance(n, str) and not n.strip()])
        if missing.any():
            raise missing_name(where, int(missing.to_numpy().argmax()), what, int(missing.sum()))
        if not is_text(frame[column]):
            frame = frame.assign(**{column: frame[column].map(plain_text).astype(str)})
    if TIME in frame:
        times = frame[TIME]
        if times.isna().all() and getattr(times.dtype, "kind", "") != "M":
            times = times.astype("datetime64[us, UTC]")
        if getattr(times.dtype, "kind", "") == "M":
            instants, offsets = from_datetimes(times)
        elif getattr(times.dtype, "kind", "") in "iufb" and time_format not in (EXCEL, UNIX):
            or_say = f"say what they count, {EXCEL} days or {UNIX} seconds (--column time_format={EXCEL}|{UNIX})"
            raise numbers_for_times(where, or_say)
        else:
            text = times.where(times.isna(), times.map(str))
            instants, offsets = parse_times(text, f"{where}: the time column", time_format)
        frame = frame.assign(**{TIME: instants})
        if offsets is not None:
            frame = frame.assign(**{OFFSET: offsets})
    return frame


def missing_name(where: str, row: int, what: str, rows: int) -> LogError:
    """Error about rows that do not say whose they are, or what happened.

    >>> print(missing_name("log.csv", 1, "activity", 4))
    log.csv, row 2: no activity (4 rows in all are without); fill it in, delete these rows, or say which column has it \
(--column activity=NAME)
    """
    other = f"fill it in, delete these rows, or say which column has it (--column {what}=NAME)"
    return LogError(f"{where}, row {row + 1}: no {what} ({rows} rows in all are without); {other}")


def numbers_for_times(where: str, or_else: str) -> LogError:
    """Error about a column of times that holds numbers."""
    what_to_do = f"turn them into timestamps, map another column (--column time=NAME), or {or_else}"
    return LogError(f"{where}: the times are numbers; {what_to_do}")


def expanded(frame: Any, start: str, where: str, time_format: str | None = None) -> Any:
    """Make of each row that has a `start` before its time two events, "start" and "complete"; of others "complete"."""
    pandas = require("pandas", "logs", "reading event logs")
    if start not in frame:
        raise LogError(f"{where} has no column {start!r} for the start; {there_are([str(c) for c in frame.columns])}")
    if TIME not in frame:
        raise LogError(f"{where}: a start ({start!r}) needs a time at which the event is over (--column time=NAME)")
    if LIFECYCLE in frame:
        raise LogError(f"{where} has both a lifecycle and a start ({start!r}); map one of them only")
    begun = typed(frame.assign(**{TIME: frame[start]})[[CASE, ACTIVITY, TIME]], where, time_format)
    lasting = (begun[TIME] < frame[TIME]).to_numpy()
    starts = frame.assign(**{c: begun[c] for c in (TIME, OFFSET) if c in begun}, **{LIFECYCLE: "start"})[lasting]
    both = pandas.concat([starts, frame.assign(**{LIFECYCLE: "complete"})])
    return both.sort_index(kind="stable")  # a start goes before the completion of the same row
