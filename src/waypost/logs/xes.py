"""XES, the standard format of event logs: read as a stream, without entities, document types or the network."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from waypost.errors import LogError, require
from waypost.logs.files import open_binary
from waypost.logs.log import ACTIVITY, CASE, OFFSET, TIME
from waypost.logs.times import parse_times

Classifiers = dict[str, tuple[str, ...]]  # the columns that together name an activity, by the name of the classifier


class _Columns:
    """Attributes on their way in: for each key the rows that have it, and its values as text."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[list[int], list[str]]] = {}

    def add(self, row: int, element: Any) -> None:
        """Take over the attributes that are children of `element`."""
        rows = self.rows
        for attribute in element:
            value = attribute.get("value")
            if value is not None:  # lists and containers have none
                key = attribute.get("key")
                if key is None:
                    raise LogError(f"line {attribute.sourceline}: an attribute without a key")
                column = rows.get(key)
                if column is None:
                    column = rows[key] = ([], [])
                column[0].append(row)
                column[1].append(value)

    def dense(self, key: str, length: int) -> Any:
        """(length,) one column, None where a row has no such attribute; the last of several counts."""
        column = np.full(length, None, object)
        rows, values = self.rows[key]
        column[rows] = values
        return column


def read_xes(path: Path) -> tuple[Any, tuple[str, ...], Classifiers]:
    """Events of an XES or XES.gz file as a DataFrame in the file's order, notes on what was left out, classifiers.

    Every ``<trace>`` is a case of its own, also where several have the same name: the second is called ``name (2)``.
    """
    pandas = require("pandas", "logs", "reading event logs")
    events, cases = _Columns(), _Columns()
    lengths: list[int] = []
    lines: list[int] = []
    stray = 0
    classifiers: Classifiers = {}
    for kind, element in _elements(path):
        if kind == "stray":
            stray += 1
            continue
        if kind == "classifier":
            classifiers |= _classifier(element)
            continue
        before = len(lines)
        for child in element:
            if isinstance(child.tag, str) and child.tag.rpartition("}")[2] == "event":
                events.add(len(lines), child)
                lines.append(child.sourceline)
                child.clear()
                child.tag = "done"  # what is left of the trace are its own attributes
        cases.add(len(lengths), element)
        lengths.append(len(lines) - before)
    if not lines:
        raise LogError(f"{path.name} has no events in any <trace>" + (f" ({stray} outside of one)" if stray else ""))
    if ACTIVITY not in events.rows:
        known = ", ".join(repr(key) for key in events.rows) or "none"
        raise LogError(f"the events of {path.name} have no {ACTIVITY!r}; their attributes: {known}")
    count = np.array(lengths)
    columns: dict[str, Any] = {CASE: np.repeat(_case_names(cases, len(lengths)), count)}
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
    return frame, _notes(stray, int((count == 0).sum())), classifiers


def _elements(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield ("trace", element), ("stray", event outside any trace) and ("classifier", element), freeing what was seen.

    lxml's limits stay on (``huge_tree=False``): they bound depth, single texts and entities, not the size of the file.
    """
    etree = require("lxml.etree", "logs", "reading XES")
    try:
        with open_binary(path) as stream:
            parser = etree.iterparse(
                stream,
                tag="{*}trace",
                resolve_entities=False,
                no_network=True,
                load_dtd=False,
                remove_comments=True,
                remove_pis=True,
            )
            root = None
            for _, element in parser:
                if root is None:
                    root = element.getroottree().getroot()
                    _check_root(root, path)
                if element.getparent() is root:
                    yield "trace", element
                    yield from _passed(root, element)
            _check_root(parser.root, path)
            yield from _passed(parser.root, None)
    except etree.XMLSyntaxError as error:
        line = error.lineno or 1
        raise LogError(f"{path.name}, line {line}: not well-formed XML: {str(error.msg).split(', line')[0]}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise LogError(f"{path.name} is a damaged gzip file: {error}") from None


def _passed(root: Any, last: Any) -> Iterator[tuple[str, Any]]:
    """Free the children of `root` up to `last`, and yield the events and classifiers among them."""
    while len(root) and root[0] is not last:
        tag = root[0].tag.rpartition("}")[2]
        if tag in ("event", "classifier"):
            yield ("stray" if tag == "event" else tag), root[0]
        del root[0]
    if last is not None:
        last.clear()


def _classifier(element: Any) -> Classifiers:
    """Name and keys of an event classifier; keys with blanks in them are quoted."""
    name, keys = element.get("name"), element.get("keys")
    if not name or not keys or element.get("scope", "event") != "event":
        return {}
    return {name: tuple(quoted or plain for quoted, plain in re.findall(r"'([^']*)'|(\S+)", keys))}


def _check_root(root: Any, path: Path) -> None:
    tag = "nothing" if root is None else f"<{root.tag.rpartition('}')[2]}>"
    if tag != "<log>":
        raise LogError(f"{path.name} is no XES log: it starts with {tag}, not <log>")
    if root.getroottree().docinfo.internalDTD is not None:
        raise LogError(f"{path.name} declares a document type, which is not read; remove the <!DOCTYPE ...>")


def _case_names(cases: _Columns, n: int) -> Any:
    given = cases.dense(ACTIVITY, n) if ACTIVITY in cases.rows else np.full(n, None, object)
    seen: dict[str, int] = {}
    names = np.empty(n, object)
    for k, name in enumerate(given):
        plain = f"case {k + 1}" if name is None else name
        seen[plain] = seen.get(plain, 0) + 1
        names[k] = plain if seen[plain] == 1 else f"{plain} ({seen[plain]})"
    return names


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


def _notes(stray: int, empty: int) -> tuple[str, ...]:
    notes = []
    if stray:
        notes.append(f"{stray} events outside any case were left out")
    if empty:
        notes.append(f"{empty} cases without events were left out")
    return tuple(notes)
