"""From a table of events to a stored log: columns found, cases put in order, alike cases grouped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from waypost.errors import LogError
from waypost.logs.headings import chosen_columns
from waypost.logs.joining import Overlap
from waypost.logs.log import ACTIVITY, CASE, LIFECYCLE, TIME
from waypost.logs.stored.engines import Engine, Table, duckdb, literal, shown, table_of
from waypost.logs.stored.log import NO_TIME, StoredLog, letter, number_of
from waypost.logs.table import missing_name, numbers_for_times, reading_note
from waypost.logs.times import HOUR

FILE = "wp_file"  # column: the number of the file that a row is in


def stored_log(source: str, mapping: Mapping[str, str | None]) -> StoredLog:
    """Log of a table by its address, ``duckdb:///events.db#applications``."""
    engine, table = table_of(source)
    return load(engine, table, mapping, shown(source))


def parquet_log(files: Sequence[Path], mapping: Mapping[str, str | None], where: str) -> StoredLog:
    """Log of a Parquet file, or of several, one after another, read in place by DuckDB."""
    engine = duckdb()
    listed = f"[{', '.join(literal(str(path)) for path in files)}]"
    row, file_number = "file_row_number", ""
    if len(files) > 1:
        found = engine.fetch(engine.view(f"SELECT file_name, num_rows FROM parquet_file_metadata({listed})"))
        rows = dict(zip(found["file_name"].to_pylist(), found["num_rows"].to_pylist(), strict=True))
        begin = list(accumulate((rows[str(path)] for path in files[:-1]), initial=0))
        row = f"CAST({begin} AS BIGINT[])[CAST(file_index AS BIGINT) + 1] + file_row_number"
        file_number = f", CAST(file_index AS BIGINT) AS {FILE}"
    file = f"read_parquet({listed}, file_row_number=true, hive_partitioning=false)"
    return load(
        engine,
        f"(SELECT * EXCLUDE file_row_number, {row} AS rowid{file_number} FROM {file})",
        mapping,
        where,
        files=len(files),
    )


def csv_log(path: Path, delimiter: str, mapping: Mapping[str, str | None]) -> StoredLog:
    """Log of a CSV file in UTF-8 with ISO 8601 times, read once into DuckDB, and its times with it."""
    engine = duckdb()
    options = f"all_varchar=true, header=true, delim={literal(delimiter)}, quote='\"', escape='\"', nullstr=''"
    file = f"read_csv({literal(str(path))}, {options})"
    chosen = chosen_columns(tuple(engine.view(f"SELECT * FROM {file}").columns), mapping, path.name)
    typed = ""
    if TIME in chosen:
        time = engine.quoted(chosen[TIME])
        typed = f" REPLACE (CAST({time} AS TIMESTAMPTZ) AS {time})"
    engine.raw(f"CREATE TABLE events AS SELECT *{typed} FROM {file}")
    return load(engine, "events", mapping, path.name)


def frame_log(frame: Any, mapping: Mapping[str, str | None], where: str) -> StoredLog:
    """Log of a frame of pandas, polars or pyarrow, in DuckDB."""
    import pyarrow as pa

    if hasattr(frame, "to_arrow"):
        frame = frame.to_arrow()
    elif not isinstance(frame, pa.Table):
        frame = pa.Table.from_pandas(frame, preserve_index=False)
    engine = duckdb()
    return load(engine, engine.put(frame).get_name(), mapping, where)


def load(engine: Engine, table: str, mapping: Mapping[str, str | None], where: str, *, files: int = 1) -> StoredLog:
    """Log of a table of an engine, named in its SQL; of several `files`, whose number is in a column."""
    types = engine.view(f"SELECT * FROM {table} AS t").schema()
    columns = tuple(c for c in types if c not in ("rowid", FILE))
    chosen = chosen_columns(columns, mapping, where)
    if TIME in chosen and types[chosen[TIME]].is_numeric():
        raise numbers_for_times(where, "leave them out of the table")
    source = engine.view(_query(engine, table, chosen))
    _check(engine, source, where)
    notes = reading_note(chosen)
    if files > 1:
        source, joining = _one_log(engine, source, files, timed=TIME in chosen)
        notes = (*joining, *notes)
    source, gaps = _timed(engine, source, timed=TIME in chosen)
    if gaps:
        notes = (*notes, f"{gaps:,} cases have events without a time and keep the order of the source")
    if TIME not in chosen:
        notes = (*notes, "no times: events keep the order of the source")
    kinds, lists = _cases(engine, source)
    disordered = int(_one(engine, lists.agg(n=(lists.wp_r != lists.wp_r.sort()).sum())))
    if disordered:
        notes = (*notes, f"{disordered:,} cases were put in order of time")
    cases, groups, rows = _grouped(engine, kinds, lists, lifecycle=LIFECYCLE in chosen)
    known = {column: column for column in columns} | chosen
    return StoredLog(engine, source, cases, groups, rows, known, TIME in chosen and not gaps, notes)


def _query(engine: Engine, table: str, chosen: Mapping[str, str]) -> str:
    """SQL of the source with our own columns beside it: everything that differs from engine to engine."""
    name = {standard: f"t.{engine.quoted(column)}" for standard, column in chosen.items()}
    own = {
        "wp_case": engine.text.format(name[CASE]),
        "wp_activity": engine.text.format(name[ACTIVITY]),
        "wp_lifecycle": f"COALESCE({engine.text.format(name[LIFECYCLE])}, '')" if LIFECYCLE in name else "''",
        "wp_instant": engine.micros.format(name[TIME]) if TIME in name else "CAST(0 AS BIGINT)",
        "wp_r": engine.row,
    }
    return f"SELECT t.*, {', '.join(f'{sql} AS {column}' for column, sql in own.items())} FROM {table} AS t"


def _check(engine: Engine, source: Table, where: str) -> None:
    for column, what in (("wp_case", "case"), ("wp_activity", "activity")):
        lacking = source[column].isnull() | (source[column].strip() == "")
        missing, row = engine.row_of(source.agg(n=lacking.sum(), row=source.wp_r.min(where=lacking)))
        if missing is None:
            raise LogError(f"{where} has no rows")
        if missing:
            raise missing_name(where, row, what, missing)


def _one_log(engine: Engine, source: Table, files: int, *, timed: bool) -> tuple[Table, tuple[str, ...]]:
    """Source without events that a file before has, too, and notes on that: see `waypost.logs.joining`."""
    import ibis

    by_case = source.group_by("wp_case").agg(low=source[FILE].min(), high=source[FILE].max(), met=source.wp_r.min())
    spread = engine.keep(by_case.filter(by_case.low < by_case.high))
    cases, first = engine.row_of(spread.agg(n=spread.count(), first=spread.wp_case.argmin(spread.met)))
    if not cases:
        return source.drop(FILE), Overlap(files).notes
    event = ["wp_case", "wp_activity", "wp_instant", "wp_lifecycle"]
    some = source.semi_join(spread, "wp_case").select(*event, FILE, "wp_r")
    some = some.mutate(time=ibis.row_number().over(group_by=[*event, FILE], order_by="wp_r"))
    some = some.mutate(told=ibis.row_number().over(group_by=[*event, "time"], order_by="wp_r"))
    again = engine.keep(some.filter(some.told > 0).select("wp_r"))
    timed = timed and bool(_one(engine, some.agg(n=(some.wp_instant % HOUR != 0).sum())))
    found = Overlap(files, cases, first, int(_one(engine, again.agg(n=again.count()))), timed)
    return (source.anti_join(again, "wp_r") if timed and found.events else source).drop(FILE), found.notes


def _timed(engine: Engine, source: Table, *, timed: bool) -> tuple[Table, int]:
    """Source with `wp_us` to order by: no time at all for cases that lack one somewhere; and how many these are."""
    import ibis

    lacking = source.wp_instant.isnull()
    gaps = int(_one(engine, source.agg(n=source.wp_case.nunique(where=lacking)))) if timed else 0
    if not gaps:
        return source.mutate(wp_us=source.wp_instant), 0
    odd = engine.keep(source.filter(lacking).select(wp_odd=source.wp_case).distinct())
    joined = source.left_join(odd, source.wp_case == odd.wp_odd)
    order = ibis.ifelse(joined.wp_odd.isnull(), joined.wp_instant, ibis.literal(0, "int64"))
    return joined.mutate(wp_us=order, wp_instant=ibis.coalesce(joined.wp_instant, NO_TIME)).drop("wp_odd"), gaps


def _cases(engine: Engine, source: Table) -> tuple[list[tuple[str, str]], Table]:
    """Kinds of events, and (wp_case, letters, times, rows) each case in order, a letter for each kind."""
    import pyarrow as pa

    found = engine.fetch(source.group_by("wp_activity", "wp_lifecycle").agg(n=source.count()))
    kinds = sorted(zip(found["wp_activity"].to_pylist(), found["wp_lifecycle"].to_pylist(), strict=True))
    names, transitions = (list(part) for part in zip(*kinds, strict=True))
    letters = [letter(k) for k in range(len(kinds))]
    known = engine.put(pa.table({"wp_activity": names, "wp_lifecycle": transitions, "wp_letter": letters}))
    spelled = source.join(known, ["wp_activity", "wp_lifecycle"])
    spelled = spelled.select("wp_case", "wp_us", "wp_r", "wp_letter", "wp_instant")
    lists = engine.keep_by_parts(
        spelled,
        "wp_case",
        sum(found["n"].to_pylist()),
        lambda part: engine.ordered(part, "wp_case", ["wp_us", "wp_r"], ["wp_letter", "wp_instant", "wp_r"]),
    )
    return kinds, lists


def _grouped(
    engine: Engine, kinds: list[tuple[str, str]], lists: Table, *, lifecycle: bool
) -> tuple[Table, Table, Table]:
    """Cases with their groups, groups, and the events of the groups."""
    import ibis
    import pyarrow as pa

    spelled = lists.select(name="wp_case", word=lists.wp_letter.join(""), us="wp_instant", begun=_least(lists.wp_r))
    numbered = engine.keep(spelled.mutate(k=ibis.row_number().over(order_by=spelled.begun)))
    found = numbered.group_by("word").agg(n=numbered.count(), met=numbered.k.min())
    fetched = engine.fetch(found.order_by("met"))
    words = fetched["word"].to_pylist()
    group = np.arange(len(words))
    groups = engine.put(
        pa.table({"g": group, "word": words, "n": fetched["n"].cast("int64"), "met": fetched["met"].cast("int64")})
    )
    spelled_out = number_of(words)
    length = np.array([len(word) for word in spelled_out])
    flat = np.array([k for word in spelled_out for k in word])
    place = np.arange(len(flat)) - np.repeat(np.cumsum(length) - length, length)
    names, transitions = (np.array(part, object) for part in zip(*kinds, strict=True))
    columns = {"g": np.repeat(group, length), "pos": place, "at": place.astype(np.int32), "activity": names[flat]}
    if lifecycle:
        columns["lifecycle"] = transitions[flat]
    rows = engine.put(pa.table({name: pa.array(values) for name, values in columns.items()}))
    cases = engine.keep(numbered.join(groups, "word").select("k", "name", "g", "us"))
    return cases, groups.drop("word"), rows


def _least(lists: Any) -> Any:
    """Least number of a list."""
    return lists.sort()[0]


def _one(engine: Engine, table: Table) -> Any:
    return engine.row_of(table)[0] or 0
