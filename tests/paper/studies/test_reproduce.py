"""Studies run, stop, go on and report; every number in a table comes from a measurement or from the paper."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from waypost.cli.reproduce import command
from waypost.errors import FormatError, WaypostError
from waypost.model import MDP
from waypost.paper.encodings import Limits
from waypost.paper.encodings.counterexamples import COUNTEREXAMPLES
from waypost.paper.studies.accuracy import accuracy, cause, claims, counterexamples, drawings, worst
from waypost.paper.studies.figures import box_plot, drawing
from waypost.paper.studies.models import find_model
from waypost.paper.studies.records import EngineRun, Journal, Record, read_rows
from waypost.paper.studies.reports import write_reports
from waypost.paper.studies.running import Settings, run, without_gurobi
from waypost.paper.studies.studies import CONFIGURATIONS, STUDIES, Study, configuration_of, published, states_of
from waypost.paper.studies.tables import StudyTable, differences, overall, speed_up, times

SMALL = Study("table1", "A loan", ("loan",), ("LP* ours", "LP-optimal", "LP-all"))
SETTINGS = Settings(Limits(seconds=10, tolerance=1e-9), target="Granted")


def record(**changed) -> Record:
    given = Record(
        "GrepS",
        "QP* letter",
        "max",
        "loc=1",
        3.0,
        None,
        "scip",
        "",
        "optimal",
        0.5,
        0.1,
        1.0,
        None,
        0.0,
        0.5,
        "unattainable",
        "ok",
    )
    return replace(given, **changed)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return run(SMALL, SETTINGS, tmp_path_factory.mktemp("study"))


def test_other_constants_are_measured_and_told_apart(tmp_path):
    """Rows with M or eps of one's own stand beside the paper's in the same files, under names that say so."""
    common = ["table1", "--model", "loan", "--target", "Granted", "--state", "Error", "-o", str(tmp_path), "--quiet"]
    chosen = ["--encoding", "QP ours", "--encoding", "LP* letter", "--encoding", "LP* ours"]
    for constants in ([], ["--M", "5e6", "--eps", "0.001"]):
        done = CliRunner().invoke(command, [*common, *chosen, *constants], catch_exceptions=False)
        assert done.exit_code == 0
    names = {row["configuration"] for row in csv.DictReader((tmp_path / "measurements.csv").read_text().splitlines())}
    assert names == {"QP ours", "LP* letter", "LP* ours", "QP ours, eps = 0.001", "LP* letter, M = 5e+06"}
    page = (tmp_path / "table1.md").read_text(encoding="utf-8")
    assert "LP* letter, M = 5e+06" in page
    assert "| LP* letter |" not in page
    assert configuration_of("LP* letter, M = 5e+06").options == replace(CONFIGURATIONS["LP* letter"].options, big_m=5e6)


def test_the_grid_of_constants_takes_no_constant(tmp_path):
    with pytest.raises(WaypostError, match="leave out --M and --eps"):
        CliRunner().invoke(command, ["sensitivity", "--M", "10", "-o", str(tmp_path)], catch_exceptions=False)


def test_every_bound_of_the_study_is_measured_and_judged(outcome):
    assert len(outcome.records) == 10 * 2 * 3
    assert outcome.left == 0
    assert {r.status for r in outcome.records} == {"optimal"}
    assert {r.verdict for r in outcome.records} == {"right"}
    assert all(r.attained == pytest.approx(r.exact, abs=1e-9) for r in outcome.records)


def test_the_engine_is_measured_in_the_same_run(outcome):
    assert {(e.model, e.scope, e.states) for e in outcome.engine} == {("loan", "all", 10), ("loan", "optimal", 10)}
    assert all(e.seconds > 0 and e.right == 20 for e in outcome.engine)
    part = [r for r in outcome.records if r.configuration == "LP-all"]
    ours = [e.seconds / 20 for e in outcome.engine if e.scope == "all"]
    mean = sum(r.seconds for r in part) / len(part)
    assert speed_up(part, outcome.engine) == pytest.approx(mean / (sum(ours) / len(ours)))


def test_a_run_goes_on_where_it_stopped(tmp_path):
    """A budget of nothing measures nothing; a second run measures the rest; a third one has nothing left to do."""
    study = replace(SMALL, configurations=("LP-all",))
    settings = replace(SETTINGS, sample=2)
    assert run(study, replace(settings, budget=1e-9), tmp_path).left == 4
    first = run(study, settings, tmp_path)
    assert first.left == 0
    assert len(first.records) == 4
    lines = (tmp_path / "measurements.csv").read_text(encoding="utf-8")
    again = run(study, settings, tmp_path)
    assert again.records == first.records
    assert (tmp_path / "measurements.csv").read_text(encoding="utf-8") == lines


def test_jobs_measure_the_same(tmp_path):
    study = replace(SMALL, configurations=("LP-all",))
    together = run(study, replace(SETTINGS, sample=3, jobs=2), tmp_path)
    assert {r.verdict for r in together.records} == {"right"}
    assert len({r.key for r in together.records}) == len(together.records) == 6


def test_a_line_that_was_cut_off_is_measured_again(tmp_path):
    path = tmp_path / "rows.csv"
    journal = Journal(Record, path)
    journal.add(record(state='a "quoted, state"\nin two lines'))
    journal.add(record(state="second", tolerance=1e-9, claimed=None))
    with path.open("a", encoding="utf-8") as lines:
        lines.write("GrepS,QP*,max,lo")
    assert read_rows(Record, path) == journal.rows
    assert Journal(Record, path).rows == journal.rows
    assert path.read_text(encoding="utf-8").endswith("ok\n")


def test_a_file_of_other_columns_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(FormatError, match="other columns"):
        Journal(Record, path)


def test_a_table_has_the_papers_columns_and_figures():
    given = [
        record(model="BPIC12", configuration="QP letter", status="timeout", verdict="unsolved", seconds=3.1),
        record(model="BPIC12"),
    ]
    from waypost.paper.studies.running import Outcome

    study = replace(STUDIES["table1"], models=("BPIC12",))
    table = times(Outcome(study, Settings(Limits(seconds=3)), given, [], 0), by_sense=False)
    rows = {row[1]: dict(zip(table.header[:16], row, strict=False)) for row in table.rows}
    assert rows["QP letter"]["Max(t)"] == "T.O."
    assert rows["QP letter"]["Mean(t)"] == "3.00"
    assert rows["QP letter"]["T.O."] == "1"
    assert rows["QP* letter"]["Wrong"] == "1"
    assert table.rows[0][-6:] == ("1616.91", "1419.14", "0.02", "T.O.", "192", "66")


def test_a_table_keeps_hostile_cells_apart():
    table = StudyTable(("a", "b", "c"), (("x|y", "50% & $_{", "~^\\"),))
    assert "x\\|y" in table.markdown()
    assert r"50\% \& \$\_\{ & \~{}\^{}\textbackslash{} \\" in table.latex()


def test_differences_are_taken_over_bounds_both_solved(outcome):
    from waypost.paper.studies.running import Outcome

    given = [
        record(configuration="LP* letter", claimed=0.6), record(claimed=0.5),
        record(configuration="LP* letter", state="loc=2"), record(state="loc=2", status="timeout", claimed=0.1),
    ]  # fmt: skip
    table = differences(Outcome(replace(STUDIES["differences"], models=("GrepS",)), SETTINGS, given, [], 0))
    row = next(row for row in table.rows if row[2] == "LP* letter - QP* letter")
    assert row[:5] == ("GrepS", "max", "LP* letter - QP* letter", "1", "1.00e-01")
    assert row[8:] == ("1.10e-16", "3.05e-16", "0", "1.67e-15")
    assert overall(outcome).rows


def test_the_papers_figures_add_up():
    """Solved and cut off together are two bounds per state, and the two senses together are the whole."""
    rows = published()
    for model, states in (("GrepS", 64), ("BPIC12", 129), ("BPIC17", 158), ("E4", 9), ("E19", 39)):
        for encoding in ("QP", "QP*", "LP*"):
            parts = [rows.get((model, encoding, sense)) for sense in ("both", "min", "max")]
            if parts[0] is None:
                assert encoding == "QP"
                assert model.startswith("E")
                continue
            counts = [int(part.optimal) + int(part.timeout) for part in parts]
            assert counts == [2 * states, states, states]


def test_causes_are_told_from_the_strategy():
    assert cause(record(), 1.0) == "end component"
    assert cause(record(reachability=1.0, attained=0.5), 1.0) == "tolerance"
    assert cause(record(configuration="QP letter", verdict="missed", reachability=0.01), 1.0) == "eps or order"
    table = accuracy([record(), record(state="b", verdict="right", claimed=0.5, reachability=1.0)])
    assert table.rows == (("GrepS", "QP* letter", "2", "2", "1", "1", "1", "0", "5.0e-01", "end component 1"),)
    assert worst([record()]).rows[0][:5] == ("GrepS", "QP* letter", "loc=1", "max", "1")


def test_the_box_plot_is_drawn(tmp_path):
    given = [
        record(model="MSSD10", seconds=s, status=e) for s, e in ((0.1, "optimal"), (2.0, "optimal"), (3.0, "timeout"))
    ]
    box_plot(given, [EngineRun("MSSD10.3", "optimal", 5910, 0.1, None)], ("MSSD10", "MSSD100"), tmp_path / "mssd.svg")
    text = (tmp_path / "mssd.svg").read_text(encoding="utf-8")
    assert text.startswith("<?xml")
    assert "exact engine" in text
    assert not list(tmp_path.glob("*.part"))


def test_a_drawing_escapes_names():
    mdp = MDP.from_dict({"<s>": {"a&b": {"t": "1/3", "<s>": "2/3"}}, "t": {}}, initial="<s>")
    text = drawing(mdp, {"<s>": (0, 0), "t": (1, 0)}, subject="<s>", target="t")
    assert "&lt;s&gt;" in text
    assert "a&amp;b 0.333333" in text
    assert "<s>" not in text


def test_every_counterexample_has_one_initial_state_one_target_and_one_subject():
    for build in COUNTEREXAMPLES.values():
        assert {"s0", "s", "t"} <= set(build().states)
        assert build().n_states <= 5


def test_studies_name_known_variants_and_models():
    assert {"table1", "table2", "appendix", "differences", "mssd"} <= set(STUDIES)
    for study in STUDIES.values():
        assert set(study.configurations) <= set(CONFIGURATIONS)
    mdp = find_model("E4", Path()).mdp
    assert states_of("E4", mdp, None) == [f"(4,1,{v})" for v in range(9)]
    assert len(states_of("E4", mdp, 3)) == 3


def test_the_command_line_reproduces(tmp_path):
    arguments = ["appendix", "--model", "loan", "--target", "Granted", "--encoding", "LP-optimal", "--sample", "2"]
    done = CliRunner().invoke(command, [*arguments, "-o", str(tmp_path), "--time-limit", "5"])
    assert done.exit_code == 0, done.output
    names = {Path(line).name for line in done.output.split()}
    assert names == {"appendix.md", "appendix.tex"}
    assert "| loan | LP-optimal | min | highs |" in (tmp_path / "appendix.md").read_text(encoding="utf-8")
    with (tmp_path / "measurements.csv").open(encoding="utf-8") as lines:
        assert len(list(csv.DictReader(lines))) == 4


def test_missing_data_is_one_sentence(tmp_path):
    done = CliRunner().invoke(command, ["table1", "--data", str(tmp_path), "-o", str(tmp_path / "out")])
    assert isinstance(done.exception, FormatError)
    assert "model_greps_model-it_*.prism" in str(done.exception)
    assert "--data" in str(done.exception)


def test_reports_say_under_which_limits(outcome, tmp_path):
    text = write_reports(outcome, tmp_path)[0].read_text(encoding="utf-8")
    assert "10 s and 4096 MB per bound" in text
    assert "| loan | LP-all | highs |" in text


def test_named_states_alone_are_asked(tmp_path):
    study = replace(SMALL, name="ordering", configurations=("LP-all",))
    found = run(study, replace(SETTINGS, states=("Error",)), tmp_path)
    assert {r.state for r in found.records} == {"Error"}
    assert [row[1] for row in claims(found.records).rows] == ["Error", "Error"]
    text = write_reports(found, tmp_path)[0].read_text(encoding="utf-8")
    assert "0.102833158" in text


def test_the_smallest_counterexamples_show_what_they_are_for():
    """Each defect shows in the row it is meant for, and the sound programs are right in theirs."""
    verdicts = {(row[0], row[1], row[2]): (row[4], row[9]) for row in counterexamples().rows}
    assert verdicts["waiting", "QP* letter", "max"] == ("optimal", "unattainable")
    assert verdicts["waiting", "LP* letter, M = 1e16", "max"] == ("optimal", "unattainable")
    assert verdicts["resting", "QP ours", "max"] == ("optimal", "missed")
    assert verdicts["resting", "QP letter", "max"] == ("optimal", "right")
    assert verdicts["circling", "QP letter, order in all states", "max"] == ("infeasible", "unsolved")
    assert verdicts["rare", "QP letter, eps = 1e-4", "max"] == ("optimal", "missed")
    repaired = [v for (_, encoding, _), v in verdicts.items() if encoding.startswith("LP-") or "tight" in encoding]
    assert len(repaired) == 10
    assert set(repaired) == {("optimal", "right")}
    assert set(drawings()) == set(COUNTEREXAMPLES)


def test_without_gurobi_free_solvers_take_over(tmp_path, monkeypatch):
    """A reader without a licence gets the same tables, and the row says which solver it was."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    study = replace(SMALL, configurations=("LP* letter", "LP* ours", "LP* indicators"))
    found = run(study, replace(SETTINGS, states=("Error",)), tmp_path)
    assert {(r.configuration, r.solver, r.ordering) for r in found.records} == {
        ("LP* letter", "scip", "paper"),
        ("LP* ours", "highs", "tight"),
        ("LP* indicators", "scip", "indicator"),
    }
    assert {r.verdict for r in found.records} == {"right"}
    assert without_gurobi(CONFIGURATIONS["QP* letter"]).solver == "scip"
