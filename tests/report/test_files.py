"""Files: the right numbers, nothing that runs, nothing half-written."""

from __future__ import annotations

import csv
import io
import json
import pickle

import pytest

from waypost.cases import loan
from waypost.errors import FormatError
from waypost.importance import Question, StateImportance, decisions, explain
from waypost.report import (
    files,
    needs,
    render_report,
    to_csv,
    to_excel,
    to_frame,
    to_json,
    to_markdown,
    to_parquet,
    write_report,
)
from waypost.solve import Reach
from waypost.story import with_insight

ENDINGS = ("json", "csv", "md", "txt", "xlsx", "parquet", "html", "svg", "png", "pdf")


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_ending_says_the_format(tmp_path, granted, ending):
    path = tmp_path / f"report.{ending}"
    write_report(granted, path)
    start = {"xlsx": b"PK", "parquet": b"PAR1", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!doctype html>"}
    assert path.read_bytes().startswith(start.get(ending, b""))
    assert path.stat().st_size > 200
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", [e for e in ENDINGS if e != "xlsx"])  # Excel files hold the time of day
def test_a_report_is_made_from_the_explanation_alone(monkeypatch, granted, ending):
    """A copy that crossed a process border gives the same bytes, and nothing is computed for it."""
    copy = pickle.loads(pickle.dumps(granted))  # noqa: S301

    def computed(*_, **__):
        raise AssertionError("a report computes something")

    for where, name in ((Reach, "of"), (Question, "of"), (StateImportance, "witness")):
        monkeypatch.setattr(where, name, computed)
    assert render_report(copy, f".{ending}") == render_report(granted, f".{ending}")


def test_an_unknown_ending_is_refused_and_nothing_written(tmp_path, granted):
    with pytest.raises(FormatError, match=r"ending must be one of .*\.csv"):
        write_report(granted, tmp_path / "report.doc")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_what_was_there(tmp_path, granted):
    with pytest.raises(FormatError, match="cannot write"):
        write_report(granted, tmp_path / "nowhere" / "report.csv")
    folder = tmp_path / "report.csv"
    folder.mkdir()
    with pytest.raises(FormatError, match="cannot write"):
        write_report(granted, folder)
    assert list(tmp_path.iterdir()) == [folder]


def test_several_targets_go_into_a_page_only(tmp_path):
    mdp = loan()
    both = [explain(mdp, target="Granted"), explain(mdp, target="Rejected")]
    write_report(both, tmp_path / "both.html")
    with pytest.raises(FormatError, match="only"):
        write_report(both, tmp_path / "both.csv")


def test_numbers_in_every_format_are_the_numbers_of_the_explanation(granted):
    want = granted.scopes["all"]["Error"].upper
    table = {row["state"]: row for row in csv.DictReader(io.StringIO(to_csv(granted)))}
    assert float(table["Error"]["all_upper"]) == want
    document = {state["name"]: state for state in json.loads(to_json(granted))["states"]}
    assert document["Error"]["all"]["upper"] == want
    assert to_frame(granted).loc["Error", "all_upper"] == want
    parquet = pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(to_parquet(granted))).to_pylist()
    assert {row["state"]: row["all_upper"] for row in parquet}["Error"] == want
    sheet = pytest.importorskip("openpyxl").load_workbook(io.BytesIO(to_excel(granted)))["importance"]
    rows = list(sheet.values)
    assert dict(zip(rows[0], next(row for row in rows if row[0] == "Error"), strict=True))[
        "all_upper"
    ] == pytest.approx(want, rel=1e-15)


def test_exact_numbers_stay_fractions():
    exact = explain(loan(), target="Granted", exact=True)
    assert "98/953" in to_csv(exact)
    assert "98/953" in to_json(exact)
    parquet = pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(to_parquet(exact))).to_pylist()
    assert {row["state"]: row["all_upper"] for row in parquet}["Error"] == "98/953"


def test_formula_like_names_do_not_run_in_spreadsheets(hostile):
    for row in csv.reader(io.StringIO(to_csv(hostile))):
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in row)
        assert not any(cell.startswith("-") for cell in row[:3])
    sheet = pytest.importorskip("openpyxl").load_workbook(io.BytesIO(to_excel(hostile)))["importance"]
    for cells in sheet.iter_rows():
        assert all(cell.data_type != "f" for cell in cells)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\r=1", "|cmd", "＝1"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert files.neutral(text) == "'" + text


@pytest.mark.parametrize("text", ["Application+", "a=b", "loc=26", "", "x-y", "'=1"])
def test_ordinary_names_are_left_alone(text):
    assert files.neutral(text) == text


def test_a_markdown_table_has_as_many_cells_as_columns(hostile):
    table = [line for line in to_markdown(hostile).splitlines() if line.startswith("|")]
    cells = {len(line.replace("\\|", "").split("|")) for line in table}
    assert len(table) == hostile.mdp.n_states + 2
    assert len(cells) == 1


def test_excel_has_decisions_what_ifs_ways_and_segments_on_sheets_of_their_own(granted):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(to_excel(with_insight(granted))))
    assert book.sheetnames == ["importance", "decisions", "what if", "ways", "segments"]
    rows = [tuple(cell.value for cell in row) for row in book["decisions"].iter_rows()]
    assert rows[0][:5] == ("decision", "state", "action", "worth", "costs")
    assert rows[1][:5] == ("in Consultation", "Consultation", "Apply", pytest.approx(0.98), 0)
    without = {row[0].value: row[3].value for row in list(book["what if"].iter_rows())[1:]}
    assert without["Consultation"] == pytest.approx(0.4655)
    assert len(list(book["ways"].iter_rows())) == 7


def test_json_has_the_decisions_of_a_model(granted):
    """What each action is worth, how often one is asked, and what the wrong one costs; none where none is asked for."""
    found = json.loads(to_json(explain(granted.mdp, target="Granted", **needs(granted.mdp, ".json"))))
    known = decisions(granted.mdp, target="Granted")
    rows = {(row["state"], row["action"]): row for row in found["decisions"]}
    assert set(rows) == {(d.state, action) for d in known for action in d.values}
    for d in known:
        for action, worth in d.values.items():
            row = rows[d.state, action]
            assert [row["worth"], row["costs"], row["met"]] == [worth, max(d.values.values()) - worth, d.met]
    assert "decisions" not in json.loads(to_json(explain(granted.mdp, target="Granted")))


def test_what_ifs_are_columns_of_a_table_where_they_were_asked_for(granted):
    mdp = granted.mdp
    head, row = to_csv(explain(mdp, target="Granted", states="Rework", whatifs=True)).splitlines()
    assert head.endswith("after_lower,after_upper,without")
    assert [float(x) for x in row.split(",")[-3:]] == pytest.approx([0, 0.8, 0.9])
