"""XES, the standard format of event logs: read as a stream, without entities, document types or the network.

Nothing is kept of what is no attribute of a case or an event, however much of it there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count as counting
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from waypost.errors import LogError, require
from waypost.formats.reading import LARGE, unpacked_limit
from waypost.logs.files import open_binary
from waypost.logs.joining import EVENT, one_log
from waypost.logs.log import ACTIVITY, CASE, OFFSET, TIME
from waypost.logs.times import parse_times

DEEPEST = 256  # elements within each other; the standard needs a handful
CELLS = 20_000_000  # of the table that any log may fill, and forty more for each value it has
Classifiers = dict[str, tuple[str, ...]]  # the columns that together name an activity, by the name of the classifier


class _Columns:
    """Attributes on their way in: for each key the rows that have it, and its values as text."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[list[int], list[str]]] = {}

    def add(self, row: int, attributes: dict[str, str], line: int) -> None:
        """Take over one attribute."""
        value = attributes.get("value")
        if value is None:  # lists and containers have none
            return
        key = attributes.get("key")
        if key is None:
            raise LogError(f"line {line}: an attribute without a key")
        column = self.rows.get(key)
        if column is None:
            column = self.rows[key] = ([], [])
        column[0].append(row)
        column[1].append(value)

    def dense(self, key: str, length: int) -> Any:
        """(length,) one column, None where a row has no such attribute; the last of several counts."""
        column = np.full(length, None, object)
        rows, values = self.rows[key]
        column[rows] = values
        return column


class _Stream:
    """What is kept of a log while it streams by: the attributes of traces and of their events, nothing else."""

    def __init__(self, path: Path) -> None:
        self.events, self.cases = _Columns(), _Columns()
        self.lengths: list[int] = []  # events of each trace
        self.lines: list[int] = []  # where each event begins
        self.classifiers: Classifiers = {}
        self.stray = 0
        self._path = path
        self._depth = self._before = 0
        self._in_trace = self._in_event = False
        self._parser = expat.ParserCreate(namespace_separator="}")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def read(self) -> None:
        """Read the whole file, a piece at a time."""
        try:
            with open_binary(self._path) as stream:
                while piece := stream.read(1 << 16):
                    self._parser.Parse(piece, False)
                self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise LogError(f"{self._path.name}, line {error.lineno}: not well-formed XML: {reason}") from None
        except (LookupError, ValueError) as error:  # an encoding that is none, or not of single bytes
            raise LogError(f"{self._path.name} is in an encoding that is not read: {error}") from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        depth, self._depth = self._depth, self._depth + 1
        if depth == 3:
            if self._in_event:
                self.events.add(len(self.lines) - 1, attributes, self._parser.CurrentLineNumber)
        elif depth == 2:
            if self._in_trace:
                self._in_event = _local(name) == "event"
                if self._in_event:
                    self.lines.append(self._parser.CurrentLineNumber)
                else:
                    self.cases.add(len(self.lengths), attributes, self._parser.CurrentLineNumber)
        elif depth == 1:
            kind = _local(name)
            self._in_trace, self._before = kind == "trace", len(self.lines)
            self.stray += kind == "event"
            if kind == "classifier":
                self.classifiers |= _classifier(attributes)
        elif depth == 0:
            if _local(name) != "log":
                raise LogError(f"{self._path.name} is no XES log: it starts with <{_local(name)[:40]}>, not <log>")
        elif depth > DEEPEST:
            raise LogError(f"{self._path.name}: elements lie more than {DEEPEST} deep within each other")

    def _end(self, _name: str) -> None:
        self._depth -= 1
        if self._depth == 1 and self._in_trace:
            self.lengths.append(len(self.lines) - self._before)
            self._in_trace = self._in_event = False

    def _refuse_doctype(self, *_: Any) -> None:
        raise LogError(f"{self._path.name} declares a document type, which is not read; remove the <!DOCTYPE ...>")


def read_xes_files(paths: Sequence[Path]) -> tuple[Any, tuple[str, ...], Classifiers]:
    """Read several XES files as one log; what is named alike in two of them is one case."""
    if len(paths) == 1:
        return read_xes(paths[0])
    pandas = require("pandas", "logs", "reading event logs")
    frames: list[Any] = []
    said: list[str] = []
    classifiers: Classifiers = {}
    for path in paths:
        frame, notes, found = read_xes(path, before=sum(each[CASE].nunique() for each in frames))
        frames.append(frame)
        said += [f"{path.name}: {note}" for note in notes]
        classifiers |= found
    told = [column for column in EVENT if all(column in frame for frame in frames)]
    joined, notes = one_log(pandas.concat(frames, ignore_index=True), [*map(len, frames)], told)
    return joined, (*notes, *said), classifiers


def read_xes(path: Path, before: int = 0) -> tuple[Any, tuple[str, ...], Classifiers]:
    """Events of an XES or XES.gz file as a DataFrame in the file's order, notes on what was left out, classifiers.

    Every ``<trace>`` is a case of its own, also where several have the same name: the second is called ``name (2)``.
    Those without a name are numbered, from behind so many cases that were read `before`.
    """
    pandas = require("pandas", "logs", "reading event logs")
    log = _Stream(path)
    log.read()
    events, cases, lengths, lines, stray = log.events, log.cases, log.lengths, log.lines, log.stray
    if not lines:
        raise LogError(f"{path.name} has no events in any <trace>" + (f" ({stray} outside of one)" if stray else ""))
    if ACTIVITY not in events.rows:
        known = ", ".join(repr(key) for key in list(events.rows)[:20]) or "none"
        raise LogError(f"the events of {path.name} have no {ACTIVITY!r}; their attributes: {known}")
    _check_cells(events, cases, len(lines), path)
    count = np.array(lengths)
    names, again = _case_names(cases, len(lengths), before)
    columns: dict[str, Any] = {CASE: np.repeat(names, count)}
    columns |= {key: events.dense(key, len(lines)) for key in events.rows}
    for key in cases.rows:
        if key != ACTIVITY:
            columns[f"case:{key}"] = np.repeat(cases.dense(key, len(lengths)), count)
    nameless = np.flatnonzero([not name for name in columns[ACTIVITY]])
    if len(nameless):
        raise LogError(
            f"{path.name}, line {lines[nameless[0]]}: an event without {ACTIVITY!r} ({len(nameless)} in all)"
        )
    frame = pandas.DataFrame(columns)
    if TIME in frame:
        frame = _with_times(frame, path, lines)
    return frame, _notes(stray, int((count == 0).sum()), again), log.classifiers


def _check_cells(events: _Columns, cases: _Columns, rows: int, path: Path) -> None:
    """Refuse a log whose table would be all but empty and still not fit into memory."""
    keys = len(events.rows) + len(cases.rows)
    values = sum(len(found) for part in (events, cases) for found, _ in part.rows.values())
    if keys * rows > CELLS + 40 * values and unpacked_limit(0) is not None:
        raise LogError(
            f"{path.name} has {keys:,} different attributes and {rows:,} events, a table of which nearly nothing is "
            f"filled; to read it all the same, set {LARGE}=1"
        )


def _classifier(attributes: dict[str, str]) -> Classifiers:
    """Name and keys of an event classifier; keys with blanks in them are quoted."""
    name, keys = attributes.get("name"), attributes.get("keys")
    if not name or not keys or attributes.get("scope", "event") != "event":
        return {}
    return {name: tuple(quoted or plain for quoted, plain in re.findall(r"'([^']*)'|(\S+)", keys))}


def _local(name: str) -> str:
    """Name of an element without its namespace."""
    return name.rpartition("}")[2]


def _case_names(cases: _Columns, n: int, before: int) -> tuple[Any, int]:
    """(n,) a name for each trace that no other has, and how many are called like one before them."""
    given = cases.dense(ACTIVITY, n) if ACTIVITY in cases.rows else np.full(n, None, object)
    called = [f"case {before + k + 1}" if name is None else name for k, name in enumerate(given)]
    again: dict[str, Iterator[str]] = {}
    taken = set(called)
    names = np.array(called, object)
    for k, name in enumerate(called):
        if name in again:
            names[k] = next(other for other in again[name] if other not in taken)
        else:
            again[name] = (f"{name} ({number})" for number in counting(2))
    return names, n - len(taken)


def _with_times(frame: Any, path: Path, lines: list[int]) -> Any:
    pandas = require("pandas", "logs", "reading event logs")
    try:
        times, offsets = parse_times(frame[TIME], repr(TIME))
    except LogError:
        read = pandas.to_datetime(frame[TIME], format="ISO8601", utc=True, errors="coerce")
        bad = int((read.isna() & frame[TIME].notna()).to_numpy().argmax())
        value = frame[TIME].iloc[bad]
        raise LogError(
            f"{path.name}, event in line {lines[bad]}: {TIME!r} is {value!r}, which is no ISO 8601 timestamp"
        ) from None
    return frame.assign(**{TIME: times}) if offsets is None else frame.assign(**{TIME: times, OFFSET: offsets})


def _notes(stray: int, empty: int, again: int) -> tuple[str, ...]:
    notes = []
    if stray:
        notes.append(f"{stray} events outside any case were left out")
    if empty:
        notes.append(f"{empty} cases without events were left out")
    if again:
        notes.append(f"{again:,} cases are called like one before them, and stay apart as '... (2)' and so on")
    return tuple(notes)
