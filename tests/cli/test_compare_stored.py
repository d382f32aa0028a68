"""Two tables in a database, or two segments of one, are compared where they live, and told as from files."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from waypost.cli import cli
from waypost.errors import LogError

CASES = {
    "early": [("ask", "help", "pay")] * 30 + [("ask", "pay")] * 20 + [("ask", "go")] * 50,
    "late": [("ask", "help", "pay")] * 50 + [("ask", "pay")] * 20 + [("ask", "help", "go")] * 30,
}


@pytest.fixture
def places(tmp_path):
    """The same two logs as CSV files and as tables of a database."""
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    found = {}
    with duckdb.connect(str(tmp_path / "logs.db")) as engine:
        for name, cases in CASES.items():
            named = [(f"{name}{k}", "web" if k % 3 else "shop", case) for k, case in enumerate(cases)]
            rows = [
                (case, activity, channel, f"2024-01-{1 + k % 28:02} 10:0{n}:00")
                for k, (case, channel, steps) in enumerate(named)
                for n, activity in enumerate(steps)
            ]
            table = pandas.DataFrame(rows, columns=["case", "activity", "case:channel", "time"])
            table["time"] = pandas.to_datetime(table["time"], utc=True)
            table.to_csv(tmp_path / f"{name}.csv", index=False)
            engine.register("made", table)
            engine.table("made").create(name)
            found[name] = str(tmp_path / f"{name}.csv"), f"duckdb:///{tmp_path}/logs.db#{name}"
    return found


def nothing_is_read(monkeypatch) -> None:
    """Let whoever reads a table into memory fail."""
    monkeypatch.delattr("waypost.logs.read.fetched")


def told(*words: str) -> dict:
    run = CliRunner().invoke(cli, ["compare", *words, "--positive", "pay", "--json", "-q"], catch_exceptions=False)
    document = json.loads(run.stdout)
    return {name: value for name, value in document.items() if name not in ("before", "after")}


def test_two_tables_are_compared_as_two_files_are(places, monkeypatch):
    files, tables = zip(*places.values(), strict=True)
    right = told(*files)
    nothing_is_read(monkeypatch)
    assert told(*tables) == right
    assert right["success"]["after"] == 0.7


def test_two_segments_of_a_table_are_those_of_a_file(places, monkeypatch):
    file, table = places["late"]
    right = told(file, "--segment", "case:channel")
    assert right["before_cases"] > right["after_cases"]
    nothing_is_read(monkeypatch)
    assert told(table, "--segment", "case:channel") == right


def test_two_periods_of_a_table_are_those_of_a_file(places, monkeypatch):
    file, table = places["late"]
    right = told(file, "--at", "2024-01-10")
    assert right["before_cases"] < right["after_cases"]
    nothing_is_read(monkeypatch)
    assert told(table, "--at", "2024-01-10") == right


def test_a_day_that_divides_nothing_is_told(places):
    words = ["compare", places["late"][1], "--positive", "pay", "--at", "2030-01-01"]
    with pytest.raises(LogError, match="all cases begin before 2030-01-01, so there is nothing to compare"):
        CliRunner().invoke(cli, words, catch_exceptions=False)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_is_in_a_table_is_what_is_in_a_file(places, monkeypatch, form):
    file, table = places["early"]
    wide = {"COLUMNS": "400"}  # so that no name is broken
    right = CliRunner().invoke(cli, ["log", file, *form], env=wide, catch_exceptions=False).stdout
    nothing_is_read(monkeypatch)
    found = CliRunner().invoke(cli, ["log", table, *form], env=wide, catch_exceptions=False).stdout
    assert found.replace(table, file) == right
    assert "channel" in found
