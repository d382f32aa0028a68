"""A log that stays in an engine: the same steps, notes, variants, model and words as in memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from small_logs import attributed, everyday, table, told
from waypost import explain_log, read_mdp
from waypost.errors import LogError, WaypostError
from waypost.learn import prepare
from waypost.logs import Recipe, RecipeStep, contrast, describe_log, open_log, process_map, read_log, segments
from waypost.logs.actors import actors_of_column
from waypost.logs.stored import StoredLog
from waypost.logs.stored.engines import said, shown

pytest.importorskip("ibis")

ROWS = st.lists(
    st.tuples(
        st.integers(0, 5),  # case
        st.sampled_from(["ask", "call", "pay", "go", "Call"]),
        st.one_of(st.none(), st.integers(0, 3 * 24 * 60)) | st.integers(0, 3 * 24 * 60),  # minutes
        st.sampled_from(["start", "COMPLETE", "complete", ""]),
        st.sampled_from(["web", "shop", ""]),
    ),
    min_size=1,
    max_size=40,
)


def agree(frame: pd.DataFrame, steps: list[RecipeStep]) -> None:
    """Both ways in give the same, or the same error."""
    answers = []
    for engine in ("memory", "duckdb"):
        try:
            log = Recipe(steps=tuple(steps))(open_log(frame, engine=engine))
        except LogError as error:
            answers.append(str(error).partition(" (its columns are")[0])  # an engine keeps its own columns apart
            continue
        answers.append((log.notes, *told(log.seen)[0], told(log.seen)[1][engine == "duckdb"]))
        answers[-1] += (describe_log(log),)
    assert answers[0] == answers[1]


QUIET = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


@QUIET
@given(ROWS, st.booleans())
def test_a_log_read_by_an_engine_is_the_log_read_in_memory(rows, times):
    """Order of cases and events, ties, gaps in time, notes, variants, waiting times."""
    agree(table(rows, times=times), [])


STEPS = [
    RecipeStep("keep_events", {"names": ["ask", "call", "pay"]}),
    RecipeStep("drop_events", {"names": "*all", "unless": "call", "in_cases_with": "pay"}),
    RecipeStep("rename_events", {"names": {"ask": "call"}}),
    RecipeStep("keep_lifecycle", {}),
    RecipeStep("merge_repeats", {}),
    RecipeStep("number_events", {"names": "call", "first": 1}),
    RecipeStep("keep_cases", {"having": "ask", "lacking": "go"}),
    RecipeStep("keep_cases", {"attribute": "channel", "values": "web"}),
    RecipeStep("keep_periods", {"periods": [{"from": "1970-01-01T06:00:00"}, {"until": "1970-01-02"}]}),
    RecipeStep("keep_variants", {"at_least": 2}),
    RecipeStep("cut_cases", {"after": "pay"}),
    RecipeStep("cut_cases", {"after": "pay", "missing": "keep"}),
    RecipeStep("rename_by_gap", {"names": "call", "days": 0.5, "late": "late call", "soon": "soon call"}),
    RecipeStep("pair_lifecycle", {}),
    RecipeStep("classify_durations", {"classes": {"SHORT": 3600.0, "LONG": float("inf")}}),
    RecipeStep("attribute_as_event", {"attribute": "channel"}),
    RecipeStep("attribute_as_event", {"attribute": "channel", "first": False}),
    RecipeStep("set_outcome", {"positive": "pay"}),
    RecipeStep("set_outcome", {"positive": "pay", "negative": "go", "others": "drop"}),
    RecipeStep("set_outcome", {"positive": "pay", "negative": "go"}),
    RecipeStep("set_outcome", {"positive": "pay", "last": True}),
    RecipeStep("set_outcome", {"positive": "pay", "within": "8 hours"}),
    RecipeStep("set_outcome", {"positive": "WEB", "attribute": "channel"}),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.do)
def test_every_step_works_where_a_column_is_always_empty(step):
    """A log may have a column for the lifecycle that says nothing of any event, or name no channel."""
    agree(table([(0, "ask", 1, "", ""), (0, "call", 2, "", ""), (1, "ask", 3, "", ""), (1, "pay", 5, "", "")]), [step])


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(ROWS, st.lists(st.sampled_from(STEPS), min_size=1, max_size=3))
def test_steps_do_the_same_in_an_engine_and_in_memory(rows, steps):
    """Any few steps, one after another: the same log, the same notes, or the same error."""
    agree(table(rows), steps)


RECIPE = Recipe(steps=(RecipeStep("merge_repeats", {}), RecipeStep("set_outcome", {"positive": "pay"})))


def test_a_stored_log_is_explained_in_one_call():
    """As the same log in memory, also where events are called as outcomes are."""
    rows = [(k, name) for k in range(60) for name in (["ask", "call", "positive"] if k % 3 else ["ask", "negative"])]
    frame = pd.DataFrame(rows, columns=["case", "activity"]).assign(seen=1)
    stored, here = (explain_log(open_log(frame, engine=e), positive="positive") for e in ("duckdb", "memory"))
    assert stored.log.activities == here.log.activities
    assert stored.log.notes == here.log.notes
    assert {a.name for a in stored.log.defining} >= {"positive (event)", "negative (event)"}


def test_models_are_the_same_by_every_way_in(tmp_path):
    """CSV, Parquet, a DuckDB file, pandas: equal notes, models, fits, contrasts, maps and segments."""
    import duckdb

    frame = everyday()
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    with duckdb.connect(tmp_path / "events.db") as con:
        con.execute("CREATE TABLE applications AS SELECT * FROM frame")
    expected = prepare(read_log(frame), RECIPE, actors=None)
    model = expected.learn_fitting()
    for source in ("log.csv", "log.parquet", "duckdb"):
        address = f"duckdb:///{tmp_path}/events.db#applications" if source == "duckdb" else tmp_path / source
        log = open_log(address, engine="duckdb")
        assert isinstance(log, StoredLog)
        found = prepare(log, RECIPE)
        assert found.notes == expected.notes
        learned = found.learn_fitting()
        assert learned.mdp.states == model.mdp.states
        assert learned.mdp.counts.tolist() == model.mdp.counts.tolist()
        assert (learned.eps, learned.held_out, learned.fit.worst) == (model.eps, model.held_out, model.fit.worst)
        assert process_map(found.log) == process_map(expected.log)
        assert [c.name for c in contrast(found.log).activities] == [c.name for c in contrast(expected.log).activities]
        assert [(s.name, s.cases, s.good) for s in segments(found.log, "channel").segments] == [
            (s.name, s.cases, s.good) for s in segments(expected.log, "channel").segments
        ]
        by_channel = actors_of_column(found.log, "channel", frozenset({"web"}))
        assert by_channel == actors_of_column(expected.log, "channel", frozenset({"web"}))


def test_attributes_of_every_type_are_told_as_in_memory(tmp_path):
    """Numbers with gaps, truth values, times, dates and codes, in a frame and in files of both kinds."""
    frame = attributed()
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    for source in (frame, tmp_path / "log.csv", tmp_path / "log.parquet"):
        stored = open_log(source, engine="duckdb")
        assert isinstance(stored, StoredLog)
        assert describe_log(stored) == describe_log(read_log(source))
    found = {a.name: a for a in describe_log(stored).attributes}
    assert [name for name, a in found.items() if a.of == "case"] == ["channel", "case:size", "nothing"]
    assert {a.kind for a in found.values()} == {"text", "number", "time"}
    assert found["amount"].distinct == 20
    assert dict(found["sure"].counts).keys() == {"True", "False"}


@pytest.mark.parametrize("moment", ["1970-01-03", "1969-01-01", "2000-01-01"])
def test_a_log_is_divided_by_a_day_as_in_memory(moment):
    day = np.datetime64(moment, "us")
    steps = Recipe(steps=(RecipeStep("drop_events", {"names": "ask"}), *RECIPE.steps))
    parts = [steps(open_log(everyday(), engine=engine)).divided_at(day) for engine in ("memory", "duckdb")]
    for here, stored in zip(*parts, strict=True):
        assert (here is None) == (stored is None)
        if here is not None:
            assert told(here.seen)[0] == told(stored.seen)[0]
            assert describe_log(here) == describe_log(stored)


def test_a_large_csv_file_goes_to_the_engine_by_itself(tmp_path, monkeypatch):
    """What is large is not read into memory; what is odd about it is told as for a small one."""
    monkeypatch.setattr("waypost.logs.read.LARGE_FILE", 10)
    everyday().to_csv(tmp_path / "log.csv", index=False)
    assert isinstance(open_log(tmp_path / "log.csv"), StoredLog)
    (tmp_path / "odd.csv").write_text("case,activity,time\n1,ask,2020-01-01\n1,pay,soon\n")
    with pytest.raises(LogError, match=r"has 'soon' in row 2, which is no timestamp"):
        open_log(tmp_path / "odd.csv")


@pytest.mark.parametrize(
    "address",
    [
        "postgres://me:TOPsecret@127.0.0.1:9/db#events",
        "postgres://me:TOP@secret@127.0.0.1:9/db#events",
        "postgres://me:TOP/secret@127.0.0.1:9/db#events",
        "postgres://me:TOP#secret@127.0.0.1:9/db#events",
        "postgres://127.0.0.1:9/db?user=me&password=TOPsecret#events",
        "postgres://me:TOPsecret@127.0.0.1:9/db",
        "mysql://me:TOPsecret@127.0.0.1:9/db#events",
    ],
)
@pytest.mark.parametrize("read", [open_log, read_log, read_mdp], ids=lambda read: read.__name__)
def test_passwords_are_never_told(read, address):
    """Law: no part of one is in an error, however the address is written and whoever is given it."""
    with pytest.raises(WaypostError) as told_error:
        read(address)
    assert "TOP" not in str(told_error.value)
    assert "secret" not in str(told_error.value)


def test_what_an_engine_says_is_told_without_passwords():
    assert shown("postgres://me:se%40cret@host/db#events") == "postgres://host/db#events"
    assert "secret" not in said("dsn postgres://me:secret@h/d and password=secret user=me x")


def test_a_table_that_is_not_there_is_named(tmp_path):
    with pytest.raises(LogError, match="there is no DuckDB file"):
        open_log(f"duckdb:///{tmp_path}/none.db#events")
    with pytest.raises(LogError, match="say which table"):
        open_log("duckdb:///events.db")


def test_numbers_of_a_mixture_are_fetched_and_nothing_else():
    """Classes of a Gaussian mixture are the same in an engine."""
    rows = [
        (k, "call", 60 * k + add, life, "")
        for k in range(30)
        for add, life in ((0, "start"), (5 if k % 2 else 50, "complete"))
    ]
    agree(table(rows), [RecipeStep("pair_lifecycle", {}), RecipeStep("classify_durations", {"mixture": 2})])


def test_temporary_tables_are_gone_with_the_log():
    """The file that DuckDB works in is removed with the last log that needs it."""
    import gc
    from pathlib import Path

    log = open_log(everyday(), engine="duckdb")
    place = Path(log.engine.con.raw_sql("SELECT path FROM duckdb_databases() WHERE path IS NOT NULL").fetchall()[0][0])
    assert place.exists()
    del log
    gc.collect()
    assert not place.parent.exists()


@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGKILL"])
def test_temporary_tables_are_gone_with_a_process_that_is_killed(tmp_path, signal_name):
    """Gigabytes may lie there; nobody would look for them."""
    everyday().to_parquet(tmp_path / "log.parquet")
    program = f"""
import sys, time
from waypost.logs import open_log
log = open_log({str(tmp_path / "log.parquet")!r})
print(len(log), flush=True)
time.sleep(60)
"""
    place = tmp_path / "places"
    place.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(place)}
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline().strip()
        assert len(list(place.iterdir())) == 1
        child.send_signal(getattr(signal, signal_name))
        child.wait(10)
        until = time.monotonic() + 10
        while list(place.iterdir()) and time.monotonic() < until:
            time.sleep(0.05)
        assert not list(place.iterdir())
    finally:
        child.kill()
        child.communicate()


class TestFolders:
    """Warehouses write one log as many Parquet files."""

    @pytest.fixture
    def folder(self, tmp_path):
        frame = attributed()
        for name, low, high in (("day=1/b.parquet", 0, 7), ("day=1/c.PARQUET", 7, 8), ("day=2/a.parquet", 8, None)):
            path = tmp_path / "log" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            frame.iloc[low:high].to_parquet(path)
        (tmp_path / "log" / "_SUCCESS").write_text("")
        (tmp_path / "log" / "_metadata.parquet").write_text("no data")
        return tmp_path / "log"

    @pytest.mark.parametrize("way", [open_log, read_log])
    def test_a_folder_is_the_log_of_its_files_one_after_another(self, folder, way):
        """Law: order, ties, notes, variants and examples are those of one table, in the order of the files' names."""
        found, wanted = way(folder), read_log(attributed())
        assert tuple(note for note in found.notes if "files" not in note) == wanted.notes
        assert found.notes[0] == "read 3 files as one log"
        assert told(found.seen)[0] == told(wanted.seen)[0]

    @settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(
            st.tuples(st.sampled_from("xy"), st.sampled_from("ab"), st.sampled_from([None, 1, 2]), st.integers(0, 2)),
            min_size=3,
        ),
        st.sampled_from(["2024-01-0{} 10:10", "2024-01-0{}"]),
    )
    def test_what_files_have_in_common_is_found_as_in_memory(self, tmp_path, rows, form):
        """Law: cases in several files, events that count once, and what is said of both."""
        frame = pd.DataFrame(rows, columns=["case", "activity", "time", "file"])
        frame["time"] = pd.to_datetime(frame["time"].map(lambda day: None if pd.isna(day) else form.format(int(day))))
        files = [part for _, part in frame.groupby("file")]
        for k in range(3):
            path = tmp_path / f"{k}.parquet"
            path.unlink(missing_ok=True)
            if k < len(files):
                files[k].to_parquet(path)
        found, wanted = open_log(tmp_path), read_log(tmp_path)
        assert isinstance(found, StoredLog)
        assert found.notes == wanted.notes
        assert told(found.seen)[0] == told(wanted.seen)[0]

    def test_what_is_missing_is_told_by_its_row_in_all_of_them(self, folder):
        frame = pd.read_parquet(folder / "day=2" / "a.parquet", partitioning=None)
        frame.loc[frame.index[2], "activity"] = None
        frame.to_parquet(folder / "day=2" / "a.parquet")
        with pytest.raises(LogError, match=r"log, row 11: no activity \(1 rows in all are without\)"):
            open_log(folder)

    def test_the_command_line_takes_a_folder(self, folder, invoke):
        code, printed, _ = invoke("log", str(folder))
        assert code == 0
        assert "events" in printed

    def test_a_folder_without_any_is_told(self, tmp_path):
        with pytest.raises(LogError, match="is a folder without event logs"):
            open_log(tmp_path)


@pytest.mark.parametrize(
    ("table_name", "written"),
    [("my events", "my events"), ('qu"ote', 'qu"ote'), ("party 🎉", "party%20🎉"), ("a.b", "a%2Eb"), ("case", "case")],
)
def test_a_table_may_have_any_name(tmp_path, table_name, written):
    """A dot divides a schema from its table, so one in a name is written as an address writes it."""
    import duckdb

    given = attributed()
    quoted = table_name.replace('"', '""')
    with duckdb.connect(tmp_path / "events.db") as con:
        con.register("given", given)
        con.execute("CREATE SCHEMA crm")
        for schema in ("main", "crm"):
            con.execute(f'CREATE TABLE {schema}."{quoted}" AS FROM given')
    for schema in ("", "crm."):
        found = open_log(f"duckdb:///{tmp_path}/events.db#{schema}{written}")
        assert told(found.seen)[0] == told(read_log(given).seen)[0]
