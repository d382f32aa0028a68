"""The same recipe in DuckDB, PostgreSQL and Spark, each a real one started here: equal variants tables."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from servers import SECRET, postgresql
from small_logs import attributed, told
from waypost.errors import LogError
from waypost.logs import EventLog, Recipe, RecipeStep, describe_log, open_log, parse_recipe, read_log
from waypost.logs.confounding import tallies
from waypost.logs.stored import engines

pytest.importorskip("ibis")

RECIPE = Recipe(
    steps=(
        RecipeStep("keep_lifecycle", {}),
        RecipeStep("merge_repeats", {}),
        RecipeStep("rename_by_gap", {"names": "help", "days": 0.005, "late": "late help", "soon": "soon help"}),
        RecipeStep("drop_events", {"names": "call", "in_cases_with": "pay"}),
        RecipeStep("set_outcome", {"positive": "pay", "within": "2 hours"}),
    )
)


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with postgresql() as address:
        yield address


@pytest.fixture(scope="module")
def spark() -> Iterator[str]:
    """Address of a Spark of our own, in this machine's Java."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed (pip install waypost[spark])")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java (Debian: apt-get install default-jre-headless)")
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    quiet = {"spark.sql.shuffle.partitions": "1", "spark.driver.host": "127.0.0.1", "spark.log.level": "OFF"}
    for key, value in {**quiet, "spark.driver.bindAddress": "127.0.0.1"}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield "spark://local"
    session.stop()


def expected() -> EventLog:
    return RECIPE(read_log(attributed()))


def tallied(log) -> dict:
    """Cases by the value of each attribute that cases keep, by outcome and by two activities."""
    return {
        found.attribute: sorted(zip(found.values, found.good, map(tuple, found.having), found.cases, strict=True))
        for found in tallies(log, ["call", "go"])
    }


def same(log) -> None:
    """Description, notes, variants with counts, outcomes, examples and waiting times: as of the log in memory."""
    assert describe_log(log) == describe_log(read_log(attributed()))
    log, memory = RECIPE(log), expected()
    assert log.notes == memory.notes
    (found, (_, waits)), (wanted, (clock, _)) = told(log.seen), told(memory.seen)
    assert found == wanted
    assert waits == clock
    assert describe_log(log) == describe_log(memory)
    assert tallied(log) == tallied(memory)
    day = np.datetime64("1970-01-03", "us")
    for part, wanted_part in zip(log.divided_at(day), memory.divided_at(day), strict=True):
        assert told(part.seen)[0] == told(wanted_part.seen)[0]


def test_duckdb_gives_the_variants_of_the_log_in_memory():
    same(open_log(attributed(), engine="duckdb"))


@pytest.mark.parametrize("parts", [2, 7])
def test_cases_put_together_by_parts_are_the_same_cases(monkeypatch, parts):
    """Law: into how many parts a log is cut, because DuckDB has little memory, changes nothing."""
    frame = attributed()
    monkeypatch.setattr(engines, "BYTES", parts * engines.memory_limit() // len(frame))
    monkeypatch.setattr(engines, "SHARE", 1)
    kept: list[str] = []
    raw = engines.Engine.raw
    monkeypatch.setattr(engines.Engine, "raw", lambda self, said: (kept.append(said), raw(self, said))[1])
    same(open_log(frame, engine="duckdb"))
    assert sum(said.startswith("INSERT INTO") for said in kept) == parts - 1


def test_quantiles_of_sorted_numbers_are_those_of_numbers_in_memory(monkeypatch):
    """Law: whether DuckDB has room for all waiting times at once changes no bit of what they are."""
    random = np.random.default_rng(7)
    cases = np.sort(random.integers(0, 60, 500))
    times = pd.to_datetime(random.integers(0, 10**15, 500), unit="us")
    frame = pd.DataFrame({"case": cases, "activity": random.choice(["ask", "call", "pay"], 500), "timestamp": times})
    recipe = parse_recipe({"step": [{"do": "set_outcome", "positive": "pay"}]}, "ours")
    there = recipe(open_log(frame, engine="duckdb")).seen.clock
    asked: list[object] = []
    looked_up = engines.Engine._looked_up
    monkeypatch.setattr(engines.Engine, "_looked_up", lambda *given: (asked.append(given), looked_up(*given))[1])
    monkeypatch.setattr(engines, "VALUE", engines.memory_limit())
    assert recipe(open_log(frame, engine="duckdb")).seen.clock == there
    assert len(there.gaps) == 9
    assert len(asked) == 3


@pytest.mark.parametrize(("written", "bytes_"), [("512MB", 512e6), ("1.5 GiB", 1.5 * 2**30), ("64000000", 64e6)])
def test_memory_is_written_as_people_write_it(monkeypatch, written, bytes_):
    monkeypatch.setenv(engines.MEMORY, written)
    assert engines.memory_limit() == bytes_


@pytest.mark.parametrize("written", ["", "much", "-1GB", "0GB", "2 GB; DROP TABLE events"])
def test_memory_that_is_no_size_is_told(monkeypatch, written):
    monkeypatch.setenv(engines.MEMORY, written)
    with pytest.raises(LogError, match="WAYPOST_MEMORY is a size such as 2GB or 512MB"):
        open_log(attributed(), engine="duckdb")


def test_postgresql_gives_the_variants_of_the_log_in_memory(postgres):
    """A table as analysts have it, with a password in the address that no message repeats."""
    import psycopg

    with psycopg.connect(postgres) as con, con.cursor() as cursor:
        kinds = '"case" text, activity text, "timestamp" timestamptz, lifecycle text, channel text, "case:size" text, '
        kinds += (
            "resource text, amount float, price float, sure bool, due timestamptz, day text, code text, nothing text"
        )
        cursor.execute(f"CREATE TABLE events ({kinds})")
        with cursor.copy("COPY events FROM STDIN") as rows:
            for row in attributed().itertuples(index=False):
                rows.write_row([None if value != value else value for value in row])  # noqa: PLR0124  not a number
    same(open_log(f"{postgres}#events"))
    with pytest.raises(LogError) as error:
        open_log(f"{postgres}#nothing")
    assert SECRET not in str(error.value)
    with pytest.raises(LogError) as error:
        open_log(postgres.replace(SECRET, "wrong-one") + "#events")
    assert "wrong-one" not in str(error.value)


def test_no_output_and_no_file_has_the_password(postgres, invoke, tmp_path):
    """Law: whatever is printed or written about a log in a database, its password is not in it."""
    import psycopg

    with psycopg.connect(postgres) as con, con.cursor() as cursor:
        cursor.execute("CREATE TABLE plain (case_id text, activity text)")
        with cursor.copy("COPY plain FROM STDIN") as rows:
            for k in range(60):
                for name in ["ask", "call", "pay"] if k % 3 else ["ask", "leave"]:
                    rows.write_row([str(k), name])
    files = [tmp_path / f"found{ending}" for ending in (".html", ".json", ".csv", ".md", ".xlsx", ".txt")]
    outputs = [argument for file in files for argument in ("-o", file)]
    kept = ["--bootstrap", "2", "--resume", tmp_path / "answers.jsonl"]
    printed = [
        invoke("explain", f"{postgres}#plain", "--positive", "pay", *outputs, *kept),
        invoke("log", f"{postgres}#plain"),
        invoke("learn", f"{postgres}#plain", "-o", tmp_path / "model.drn"),
        invoke("compare", f"{postgres}#plain", f"{postgres}#plain", "--positive", "pay"),
    ]
    assert [code for code, _, _ in printed] == [0] * len(printed), printed
    assert SECRET not in str(printed)
    written = list(tmp_path.iterdir())
    assert len(written) >= len(files) + 2
    assert not [file.name for file in written if SECRET.encode() in file.read_bytes()]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_spark_gives_the_variants_of_the_log_in_memory(spark, tmp_path):
    """A table in Spark's own session."""
    from pyspark.sql import SparkSession

    attributed().to_parquet(tmp_path / "events.parquet", coerce_timestamps="us")
    session = SparkSession.getActiveSession()
    assert session is not None
    session.read.parquet(str(tmp_path / "events.parquet")).createOrReplaceTempView("events")
    same(open_log(f"{spark}#events"))
