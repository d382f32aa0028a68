"""Two tables in a database, or two segments of one, are compared where they live, and told as from files."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from waypost.cli import cli, source

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
            rows = [(case, activity, channel) for case, channel, steps in named for activity in steps]
            table = pandas.DataFrame(rows, columns=["case", "activity", "case:channel"])
            table.to_csv(tmp_path / f"{name}.csv", index=False)
            engine.register("made", table)
            engine.table("made").create(name)
            found[name] = str(tmp_path / f"{name}.csv"), f"duckdb:///{tmp_path}/logs.db#{name}"
    return found


def told(*words: str) -> dict:
    run = CliRunner().invoke(cli, ["compare", *words, "--positive", "pay", "--json", "-q"], catch_exceptions=False)
    document = json.loads(run.stdout)
    return {name: value for name, value in document.items() if name not in ("before", "after")}


def test_two_tables_are_compared_as_two_files_are(places, monkeypatch):
    files, tables = zip(*places.values(), strict=True)
    right = told(*files)
    monkeypatch.delattr(source, "read_log")
    assert told(*tables) == right
    assert right["success"]["after"] == 0.7


def test_two_segments_of_a_table_are_those_of_a_file(places, monkeypatch):
    file, table = places["late"]
    right = told(file, "--segment", "case:channel")
    assert right["before_cases"] > right["after_cases"]
    monkeypatch.delattr(source, "read_log")
    assert told(table, "--segment", "case:channel") == right
