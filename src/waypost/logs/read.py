"""Reading a log, whatever it comes as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from waypost.arguments import checked
from waypost.errors import LogError, is_address, require
from waypost.formats.reading import begins_as_list
from waypost.logs.files import LOG_SUFFIXES, PARQUET, exists, is_xes, log_files, parquet_files
from waypost.logs.headings import ROLE
from waypost.logs.joining import EVENT, one_log
from waypost.logs.log import CASE, TIME, EventLog
from waypost.logs.stored.engines import SCHEMES, fetched, is_stored, shown
from waypost.logs.table import combined, expanded, plain_csv, read_csvs, reading_note, standard_columns, typed
from waypost.logs.variants import Log
from waypost.logs.xes import read_xes_files

LARGE_FILE = 1 << 25  # bytes; a CSV file of as many is not read into memory


@checked
def read_log(
    source: str | PathLike[str] | Any,
    *,
    case: str | None = None,
    activity: str | None = None,
    time: str | None = None,
    lifecycle: str | None = None,
    start: str | None = None,
    delimiter: str | None = None,
    time_format: str | None = None,
    encoding: str = "utf-8-sig",
) -> EventLog:
    """Event log in memory, of files (XES, CSV, Parquet, packed or not), a pandas DataFrame, or a table by its address.

    The events of a case are ordered by time; ties, and cases in which a time is missing, keep the order of the source.
    Instants are kept in UTC, the zone each was written in beside them (column ``time:offset``).

    Parameters
    ----------
    source
        A path of a file, or of a folder of files of one kind; or a DataFrame with the usual names
        (``case:concept:name``, ``concept:name``, ``time:timestamp``).
    case, activity, time, lifecycle
        The columns of a table, where their names are unusual. An activity may combine several, "Status+Sub Status", or
        be a classifier of the XES file by its name.
    start
        The column of a table that says when an event began, where `time` is when it was over: an event that lasted
        becomes two, with the lifecycle "start" and "complete".
    delimiter, time_format, encoding
        How a CSV file is written, where it is not to be guessed.

    Returns
    -------
    EventLog
        With notes on what reading it did.

    Raises
    ------
    LogError
        If the source cannot be read as a log.
    MissingExtraError
        If a library that it needs is not installed.

    Examples
    --------
    >>> import pandas
    >>> table = pandas.DataFrame({"Case ID": ["a", "b", "a"], "Activity": ["ask", "ask", "answer"]})
    >>> read_log(table).sequences()
    [('ask', 'answer'), ('ask',)]
    """
    mapping = {"case": case, "activity": activity, "time": time, "lifecycle": lifecycle}
    if not isinstance(source, str | PathLike):
        if not hasattr(source, "columns"):
            raise LogError(f"a log is a path or a pandas DataFrame, not {type(source).__name__}")
        return _from_tables([source], mapping, "the DataFrame", start, time_format)
    if is_stored(str(source)):
        return _from_tables([fetched(str(source))], mapping, shown(str(source)), start, time_format)
    if is_address(str(source)):
        known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
        raise LogError(f"{shown(str(source))} is in no database we know; known addresses begin with {known}")
    path = Path(source)
    if not exists(path):
        raise LogError(f"there is no file {str(path)!r}")
    files = log_files(path)
    if is_xes(files[0]):
        return _from_xes(files, mapping, path.name)
    parquet = files[0].suffix.casefold() in PARQUET
    frames = _parquet(files) if parquet else read_csvs(files, delimiter, encoding)
    return _from_tables(frames, mapping, path.name, start, time_format)


def _from_xes(paths: Sequence[Path], mapping: Mapping[str, str | None], name: str) -> EventLog:
    """Log in one or several XES files, of whose attributes some may be called otherwise."""
    frame, notes, classifiers = read_xes_files(paths)
    read_as: Mapping[str, str] = {}
    if any(mapping.values()):
        frame = combined(frame, mapping["activity"], classifiers)
        frame, read_as = standard_columns(frame, mapping, name)
        frame = typed(frame, name)
    return replace(_ordered(frame, notes), classifiers=classifiers, read_as=read_as)


def open_log(
    source: str | PathLike[str] | Any, *, engine: Literal["auto", "memory", "duckdb"] = "auto", **columns: Any
) -> Log:
    """Event log wherever it lives: in memory where it is small, in an engine where it is large or in a database.

    A log in an engine takes the same steps and gives the same variants, model and words as one in memory; only its
    variants are fetched. See docs/scale.md.

    Parameters
    ----------
    source
        What `read_log` takes; a folder of Parquet files; a frame of polars or pyarrow; or the address of a table,
        ``duckdb:///events.db#applications``, ``postgres://user@host/db#events``, ``spark://host:7077#events``.
    engine
        "memory" reads a file or frame with pandas, "duckdb" with DuckDB; by default large CSV files go to DuckDB.
    columns
        What `read_log` takes beside its source.

    Examples
    --------
    >>> import pandas
    >>> table = pandas.DataFrame({"case": [1, 2, 1], "activity": ["ask", "ask", "answer"]})
    >>> open_log(table, engine="duckdb").activities() == open_log(table).activities()
    True
    """
    from waypost.logs.stored import csv_log, frame_log, parquet_log, stored_log

    given = {name: value for name, value in columns.items() if value is not None}
    mapping: dict[str, Any] = {role: given[role] for role in ROLE if role in given}
    if not isinstance(source, str | PathLike):
        pandas = type(source).__module__.partition(".")[0] == "pandas"
        if engine == "memory" or (pandas and engine == "auto") or not hasattr(source, "columns"):
            return read_log(source, **given)
        return frame_log(source, mapping, "the DataFrame")
    if is_stored(str(source)):
        _only(given, ROLE, "a table in a database")
        return stored_log(str(source), mapping)
    path = Path(source)
    if files := parquet_files(path):
        _only(given, ROLE, "Parquet")
        return parquet_log(files, mapping, path.name)
    wanted = engine == "duckdb" or (engine == "auto" and exists(path) and path.stat().st_size >= LARGE_FILE)
    simple = set(given) <= {*ROLE, "delimiter"} and str(path).casefold().endswith((".csv", ".tsv"))
    if wanted and simple and (delimiter := plain_csv(path, given.get("delimiter"), mapping)):
        try:
            return csv_log(path, delimiter, mapping)
        except LogError:  # whatever is wrong with the file is told by who reads it row by row
            pass
    return read_log(source, **given)


def _parquet(files: Sequence[Path]) -> list[Any]:
    pandas = require("pandas", "logs", "reading event logs")
    require("pyarrow", "table", "reading Parquet")
    frames = []
    for path in files:
        try:
            frames.append(pandas.read_parquet(path, partitioning=None))
        except (OSError, ValueError) as error:
            raise LogError(f"{path.name} is no Parquet that can be read: {str(error).splitlines()[0][:200]}") from None
    return frames


def _only(given: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    wrong = next((name for name in given if name not in known), None)
    if wrong is not None:
        raise LogError(f"{wrong} says how a CSV file is written, and this is {what}")


def looks_like_log(path: str | PathLike[str]) -> bool:
    """Whether a source is that of a log rather than of a model, by its name or address; a folder always is."""
    if is_stored(str(path)) or str(path).casefold().endswith((*LOG_SUFFIXES, ".xlsx", ".xls")):
        return True
    return exists(Path(path)) and Path(path).is_dir()


def looks_like_traces(path: str | PathLike[str]) -> bool:
    """Whether a file is JSON and starts as a list does: input/output traces rather than a model."""
    return begins_as_list(Path(path))


def _from_tables(
    frames: Sequence[Any], mapping: dict[str, str | None], where: str, start: str | None, time_format: str | None
) -> EventLog:
    """Log of a table, or of several, one after another."""
    pandas = require("pandas", "logs", "reading event logs")
    frame = frames[0] if len(frames) == 1 else pandas.concat(frames, ignore_index=True)
    if not len(frame):
        raise LogError(f"{where} has no rows")
    frame, chosen = standard_columns(combined(frame, mapping["activity"], {}), mapping, where)
    notes = reading_note(chosen)
    frame = typed(frame.reset_index(drop=True), where, time_format)
    if len(frames) > 1:
        frame, joining = one_log(frame, [*map(len, frames)], [column for column in EVENT if column in frame])
        notes = (*joining, *notes)
    log = _ordered(frame if start is None else expanded(frame, start, where, time_format), notes)
    return replace(log, read_as=chosen)


def _ordered(frame: Any, notes: tuple[str, ...]) -> EventLog:
    """Bring the rows of a case together, in order of time; ties keep the order they came in."""
    pandas = require("pandas", "logs", "reading event logs")
    code = pandas.factorize(frame[CASE])[0]
    keys = [code]
    if TIME in frame:
        instant = frame[TIME].to_numpy("datetime64[us]").astype(np.int64)
        gaps = np.unique(code[frame[TIME].isna().to_numpy()])
        instant[np.isin(code, gaps)] = 0  # a case with a missing time keeps the order of the source
        keys.insert(0, instant)
        if len(gaps):
            notes = (*notes, f"{len(gaps):,} cases have events without a time and keep the order of the source")
    else:
        notes = (*notes, "no times: events keep the order of the source")
    order = np.lexsort(keys)
    if (order[1:] > order[:-1]).all():
        return EventLog(frame.reset_index(drop=True), notes)
    disordered = len(np.unique(code[order[order != np.argsort(code, kind="stable")]]))
    if disordered:
        notes = (*notes, f"{disordered:,} cases were put in order of time")
    return EventLog(frame.iloc[order].reset_index(drop=True), notes)
