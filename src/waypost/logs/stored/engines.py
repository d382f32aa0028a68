"""Where a stored log lives, and what each engine says in words of its own.

Everything between the source and the variants is one relational expression (Ibis) for all engines. Left to the engine
are the order in which a table's rows lie, instants as whole numbers, and how a table is kept for the next step.
"""

from __future__ import annotations

import math
import os
import re
import uuid
import warnings
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from waypost.errors import LogError, require, without_credentials
from waypost.processes.folders import passing_folder

SCHEMES = ("duckdb", "postgres", "postgresql", "spark")
MEMORY = "WAYPOST_MEMORY"  # what DuckDB may use before it goes to the disk, as in 2GB
USUAL_MEMORY = "2GB"
BYTES = 150  # of memory that an event takes while the events of its case are put together
VALUE = 24  # bytes that a number takes while quantiles are computed
SHARE = 4  # lists and quantiles come on top of what DuckDB may use: where it is short, they take a fourth of that

Table = Any  # an Ibis table expression
Column = Any  # an Ibis column expression
Quantiles = dict[tuple[Any, ...], tuple[float, ...]]  # by group


@dataclass(frozen=True, eq=False)
class Engine:
    """A database that a log lives in, or is put into."""

    name: str
    con: Any  # the Ibis backend
    row: str  # SQL: the position of a row in its table
    micros: str  # SQL: an instant `{}` as microseconds since 1970
    text: str  # SQL: a value `{}` as text
    quote: str = '"'

    def quoted(self, name: str) -> str:
        """Name of a column or table in SQL."""
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def view(self, query: str) -> Table:
        """Give the rows of an SQL query."""
        return self._asked(lambda: self.con.sql(query))

    def fetch(self, expression: Any) -> Any:
        """Give an expression's rows, as a pyarrow table."""
        return self._asked(lambda: self.con.to_pyarrow(expression))

    def row_of(self, table: Table) -> tuple[Any, ...]:
        """Give the only row of a table."""
        return tuple(column[0].as_py() for column in self.fetch(table).columns)

    def raw(self, statement: str) -> None:
        """Run an SQL statement."""
        cursor = self._asked(lambda: self.con.raw_sql(statement))
        if self.name == "postgres":
            cursor.close()

    def keep(self, table: Table) -> Table:
        """Compute a table and keep it for whatever comes next."""
        name = f"waypost_{uuid.uuid4().hex[:12]}"
        query = self.con.compile(table)
        if self.name == "spark":  # which has no temporary tables
            self._asked(lambda: self._session.sql(query).localCheckpoint().createOrReplaceTempView(name))
        else:
            temporary = "TEMPORARY " if self.name == "postgres" else ""
            self.raw(f"CREATE {temporary}TABLE {name} AS {query}")
        return self.con.table(name)

    def keep_by_parts(self, table: Table, by: str, rows: int, made: Callable[[Table], Table]) -> Table:
        """Keep what is `made` of a table of so many rows and needs all of a value of `by` together.

        DuckDB goes to the disk for much, but not for lists that it is about to put together; so where these would not
        fit into its memory, it sorts the table, which does, and makes them of one part after another.
        """
        if self.name != "duckdb" or rows * BYTES <= memory_limit():
            return self.keep(made(table))
        parts = -(-SHARE * rows * BYTES // memory_limit())
        sorted_name = f"waypost_{uuid.uuid4().hex[:12]}"
        columns = f"*, hash({self.quoted(by)}) % {parts} AS wp_part"
        query = f"SELECT {columns} FROM ({self.con.compile(table)}) ORDER BY wp_part"
        self.raw(f"CREATE TABLE {sorted_name} AS {query}")
        in_parts = self.con.table(sorted_name)
        pieces = (made(in_parts.filter(in_parts.wp_part == part).drop("wp_part")) for part in range(parts))
        kept = self.keep(next(pieces))
        for piece in pieces:
            self.raw(f"INSERT INTO {kept.get_name()} {self.con.compile(piece)}")
        self.raw(f"DROP TABLE {sorted_name}")
        return kept

    def quantiles(self, table: Table, by: Sequence[str], column: str, points: Sequence[float]) -> Quantiles:
        """Quantiles of the numbers in a column, for each group in which there are any; between two, on a line.

        DuckDB would collect them in memory, on top of what it may use; so where they are many, it sorts them, which
        it does on the disk, and looks up those in the right places.
        """
        known = table.filter(table[column].notnull())
        if self.name == "duckdb":
            sizes = self._rows(known.group_by(*by).agg(n=known.count()).order_by(*by))
            if sum(n for *_, n in sizes) * VALUE * SHARE > memory_limit():
                return self._looked_up(known.order_by(*by, column).select(column), sizes, points)
        found = {f"q{k}": known[column].quantile(point) for k, point in enumerate(points)}
        rows = self._rows(known.group_by(*by).agg(**found))
        return {row[: len(by)]: row[len(by) :] for row in rows}

    def _looked_up(self, ordered: Table, sizes: Sequence[tuple[Any, ...]], points: Sequence[float]) -> Quantiles:
        """Quantiles of numbers that come in order, group by group, so many in each."""
        import ibis

        kept = self.keep(ordered)
        begin = list(accumulate((n for *_, n in sizes), initial=0))
        places = [[(n - 1) * point for point in points] for *_, n in sizes]
        around = [
            {at + whole for x in each for whole in (math.floor(x), math.ceil(x))}
            for at, each in zip(begin, places, strict=False)
        ]
        numbered = self.view(f"SELECT rowid AS r, * FROM {kept.get_name()}")
        value = dict(self._rows(numbered.filter(ibis._.r.isin(sorted(set().union(*around))))))
        self.raw(f"DROP TABLE {kept.get_name()}")

        def between(at: int, x: float) -> float:
            part = x - math.floor(x)
            return float(value[at + math.floor(x)] * (1 - part) + value[at + math.ceil(x)] * part)  # as DuckDB does

        return {
            tuple(group): tuple(between(at, x) for x in each)
            for at, (*group, _), each in zip(begin, sizes, places, strict=False)
        }

    def _rows(self, table: Table) -> list[tuple[Any, ...]]:
        fetched = self.fetch(table)
        return list(zip(*(column.to_pylist() for column in fetched.columns), strict=True))

    def put(self, columns: Any) -> Table:
        """Give the engine a table of pyarrow, or a frame that speaks Arrow."""
        name = f"waypost_{uuid.uuid4().hex[:12]}"
        if self.name == "spark":
            self._asked(lambda: self._session.createDataFrame(columns).createOrReplaceTempView(name))
        elif self.name == "duckdb":
            self.con.con.register(f"{name}_given", columns)
            self.raw(f"CREATE TABLE {name} AS SELECT * FROM {name}_given")
            self.con.con.unregister(f"{name}_given")
        else:
            return self._asked(lambda: self.con.create_table(name, columns, temp=True))
        return self.con.table(name)

    @property
    def _session(self) -> Any:
        return self.con._session  # noqa: SLF001  Ibis keeps Spark's session to itself

    def ordered(self, table: Table, by: str, order: Sequence[str], columns: Sequence[str]) -> Table:
        """Lists of each column, one per value of `by`, in an order that is total; no value is missing."""
        if self.name == "postgres":
            lists = {c: table[c].collect(order_by=[table[o] for o in order]) for c in columns}
            return table.group_by(by).agg(**lists)
        import ibis

        both = [*order, *(c for c in columns if c not in order)]
        found = table.group_by(by).agg(rows=ibis.struct({c: table[c] for c in both}).collect())
        found = found.select(by, rows=found["rows"].sort())
        return found.select(by, **{c: found["rows"].map(lambda row, c=c: row[c]) for c in columns})

    def words(self, table: Table, by: str, order: str, letter: str) -> Table:
        """(by, word) text of the letters of each group, in order."""
        found = self.ordered(table, by, [order], [letter])
        return found.select(by, word=found[letter].join(""))

    def _asked(self, ask: Callable[[], Any]) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # between Ibis and the engines' own libraries
                return ask()
        except Exception as error:
            raise LogError(f"{self.name} does not answer as hoped: {said(error)}") from None


def said(error: object) -> str:
    """First line of what an engine said, without users and passwords.

    >>> said("cannot reach postgres://me:secret@host/db now")
    'cannot reach postgres://host/db now'
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return without_credentials(lines[0])[:300]


def is_stored(source: str) -> bool:
    """Whether a source is the address of a table in a database.

    >>> is_stored("duckdb:///events.db#applications"), is_stored("log.csv")
    (True, False)
    """
    return source.partition("://")[0] in SCHEMES and "://" in source


def shown(source: str) -> str:
    """Address of a table as it may be shown: without user, password and parameters.

    >>> shown("postgres://me:secret@host:5432/db#events")
    'postgres://host:5432/db#events'
    """
    return without_credentials(source)


def table_of(source: str) -> tuple[Engine, str]:
    """Engine of an address, and the table's name as its SQL writes it."""
    try:
        parts = urlsplit(source)
        _ = parts.port
    except ValueError:  # what it says may be part of a password
        raise LogError(
            f"{shown(source)} is no address that can be read; in a password, write / as %2F, @ as %40 and # as %23"
        ) from None
    if not parts.fragment:
        raise LogError(f"say which table: {shown(source)}#TABLE")
    names = [unquote(name) for name in parts.fragment.split(".")]  # a dot in a name is written %2E
    if parts.scheme == "duckdb":
        path = unquote(parts.netloc + parts.path)
        path = path[1:] if not Path(path).exists() and Path(path[1:]).exists() else path
        if not Path(path).is_file():
            raise LogError(f"there is no DuckDB file {path!r}")
        engine = duckdb()
        engine.raw(f"ATTACH {literal(path)} AS source (READ_ONLY)")
        return engine, ".".join(["source", *map(engine.quoted, names)])
    engine = spark(parts.netloc) if parts.scheme == "spark" else postgres(source.partition("#")[0])
    return engine, ".".join(map(engine.quoted, names))


def fetched(source: str) -> Any:
    """Fetch a table by its address as a pandas DataFrame, its rows in the order in which they lie."""
    engine, table = table_of(source)
    rows = engine.view(f"SELECT t.*, {engine.row} AS wp_r FROM {table} AS t")
    return engine.fetch(rows.order_by("wp_r").drop("wp_r")).to_pandas()


def duckdb() -> Engine:
    """DuckDB, embedded: its tables are in a temporary file that is gone when the engine is, or the whole process."""
    ibis = require("ibis", "engines", "a log that is larger than memory, or in Parquet or a database")
    require("duckdb", "engines", "a log that is larger than memory, or in Parquet or a database")
    memory = memory_limit()
    folder, remove = passing_folder()
    con = ibis.duckdb.connect(os.path.join(folder, "log.duckdb"))  # noqa: PTH118
    con.raw_sql("SET TimeZone='UTC'")
    con.raw_sql(f"SET memory_limit='{memory}B'")
    con.raw_sql(f"SET temp_directory={literal(folder)}")
    engine = Engine("duckdb", con, "rowid", "epoch_us({}::TIMESTAMPTZ)", "{}::VARCHAR")
    weakref.finalize(engine, _close, con, remove)
    return engine


def memory_limit() -> int:
    """Bytes that DuckDB may use, from what the user wrote.

    >>> memory_limit()
    2000000000
    """
    text = os.environ.get(MEMORY, USUAL_MEMORY)
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", text, re.IGNORECASE)
    if found is None or float(found[1]) == 0:
        raise LogError(f"{MEMORY} is a size such as 2GB or 512MB, not {text!r}")
    unit = 1024 if found[3] else 1000
    return int(float(found[1]) * unit ** " KMGT".index(found[2].upper() or " "))


def _close(con: Any, remove: Callable[[], None]) -> None:
    con.disconnect()
    remove()


def postgres(url: str) -> Engine:
    """PostgreSQL at an address; what the address leaves open (a password, say) comes from libpq's own places."""
    ibis = require("ibis", "engines", "a log in PostgreSQL")
    require("psycopg", "engines", "a log in PostgreSQL")
    try:
        con = ibis.connect(url)
    except Exception as error:
        raise LogError(f"{shown(url)} cannot be reached: {said(error)}") from None
    for setting in ("max_parallel_workers_per_gather = 0", "synchronize_seqscans = off", "timezone = 'UTC'"):
        con.raw_sql(f"SET {setting}").close()  # rows come in the order in which they lie
    micros = "(EXTRACT(EPOCH FROM {}::timestamptz) * 1000000)::bigint"
    engine = Engine("postgres", con, "row_number() OVER ()", micros, "{}::text")
    weakref.finalize(engine, con.disconnect)
    return engine


def spark(master: str) -> Engine:
    """Spark, by its own session: ``spark://local#table``, or the address of a master."""
    ibis = require("ibis", "engines", "a log in Spark")
    session_of = require("pyspark.sql", "spark", "a log in Spark").SparkSession
    session = session_of.getActiveSession()
    if session is None:
        address = "local[*]" if master in ("", "local") else f"spark://{master}"
        session = session_of.builder.master(address).appName("waypost").getOrCreate()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    con = ibis.pyspark.connect(session)
    micros = "unix_micros(CAST({} AS TIMESTAMP))"
    return Engine("spark", con, "monotonically_increasing_id()", micros, "CAST({} AS STRING)", "`")


def literal(text: str) -> str:
    """Text in SQL."""
    return "'" + text.replace("'", "''") + "'"
