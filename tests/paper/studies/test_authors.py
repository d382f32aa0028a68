"""The authors' results files: read as they are written, and held against the truth."""

from __future__ import annotations

import shutil

import pytest
from click.testing import CliRunner

from waypost.cases import epidemic
from waypost.cli.reproduce import command
from waypost.errors import FormatError
from waypost.paper.studies.authors import judged, listing, read_results, state_of, summary

EACH = (
    ",name,states,transitions,encoding,sense,time,reachability_value,importance_value,start_state,via_state,"
    "target_state,timeout,status"
)
BOTH = (
    ",name,states,transitions,encoding,time,lower_reachability_value,lower_importance_value,upper_reachability_value,"
    "upper_importance_value,start_state,via_state,target_state,timeout,status"
)


def each(model, encoding, sense, value, state, status=2):
    return f"0,out/models/{model},1,1,{encoding},{sense},0.5,1.0,{value},q0: start,{state},q9: positive,3600,{status}"


@pytest.fixture
def artifact(shared_data, tmp_path):
    """A clone of the artifact: two learned models, and results of four bounds and of an epidemic."""
    (tmp_path / "out/models").mkdir(parents=True)
    for ours, theirs in (("greps", "model_greps_model-it_4.prism"), ("bpic12", "model_bpic12_model-it_2.prism")):
        shutil.copy(shared_data / f"models/paper/{ours}.prism", tmp_path / "out/models" / theirs)
    greps, bpic12 = "model_greps_model-it_0.pickle", "model_bpic12_model-it_0.pickle"
    lines = [
        EACH,
        each(greps, "QP", 1, 0.029411764705882353, "q21: companyTaskevent0"),
        each(greps, "LP", -1, 0.02, "q21: companyTaskevent0"),  # some strategy does better
        each(greps, "GQP", 1, 0.0, "q21: companyTaskevent0"),
        each(greps, "GQP", 1, 0.0, "q21: companyTaskevent0"),  # the same run, written twice
        each(bpic12, "LP", -1, 1.0, "q26: customerO_SENT_BACK"),  # no strategy does so well
        each(bpic12, "GQP", -1, 0.0, "q26: customerO_SENT_BACK", status=9),
    ]
    (tmp_path / "out/results_greps_bpic.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    name = "out/models/model_epidemic4_model-it_0.pickle"
    row = f'0,{name},227,898,linear,0.02,1.0,0.0,1.0,1.0,q0: start,"(4, 1, 6)",positive,500,2'
    (tmp_path / "out/results_epidemic.csv").write_text(f"{BOTH}\n{row}\n", encoding="utf-8")
    return tmp_path


def test_every_published_bound_is_judged(artifact):
    """Right, unattainable (BPIC12's upper bound of 1), missed and unsolved, in the scope of its encoding."""
    found = judged(read_results(artifact / "out/results_greps_bpic.csv"), artifact)
    verdicts = {(j.bound.model, j.bound.encoding, j.bound.sense): j.verdict for j in found}
    assert verdicts == {
        ("GrepS", "QP*", "min"): "right",
        ("GrepS", "LP*", "max"): "missed",
        ("GrepS", "QP", "min"): "right",
        ("BPIC12", "LP*", "max"): "unattainable",
        ("BPIC12", "QP", "max"): "unsolved",
    }
    wrong = listing(found).rows
    assert [row[:5] for row in wrong] == [
        ("BPIC12", "LP*", "max", "q26: customerO_SENT_BACK", "1"),
        ("GrepS", "LP*", "max", "q21: companyTaskevent0", "0.02"),
    ]
    assert wrong[0][6] == "0.560545309"
    assert len(summary(found).rows) == 5


def test_both_bounds_in_one_row_are_two(artifact):
    found = judged(read_results(artifact / "out/results_epidemic.csv"), artifact)
    assert [(j.bound.model, j.bound.sense, j.verdict) for j in found] == [
        ("E4", "min", "right"),
        ("E4", "max", "right"),
    ]


def test_one_command_writes_the_count(artifact, tmp_path):
    done = CliRunner().invoke(command, ["published", "--data", str(artifact), "-o", str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "new/published.md").read_text(encoding="utf-8")
    assert "7 bounds of results_greps_bpic.csv, results_epidemic.csv; 6 solved, 4 right to 1e-6, 1 that no" in text
    assert "| BPIC12 | LP* | max | 1 | 1 | 0 | 1 | 0 | 4.4e-01 | q26: customerO_SENT_BACK |" in text


def test_a_clone_with_results_of_epidemics_needs_no_data(tmp_path):
    """Epidemics are generated, so that reading, verdicts and count can be seen without the artifact."""
    name, late, early = "model_epidemic4_model-it_0.pickle", '"(4, 1, 6)"', '"(4, 1, 4)"'
    lines = [
        EACH,
        each(name, "linear", 1, 0.0, late),
        each(name, "linear", -1, 1.0, late),
        each(name, "quadratic", -1, 0.75, late),  # some best strategy does better: 1
        each(name, "quadratic", -1, 0.5, early),  # none does so well: 0
        each(name, "quadratic", 1, 0.0, early, status=9),  # out of time
    ]
    (tmp_path / "out").mkdir()
    (tmp_path / "out/results_epidemic.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = CliRunner().invoke(command, ["published", "--data", str(tmp_path), "-o", str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "new/published.md").read_text(encoding="utf-8")
    counted = "5 bounds of results_epidemic.csv; 4 solved, 2 right to 1e-6, 1 that no strategy attains, 1 that some"
    assert counted in text
    assert "| E4 | LP* | max | 1 | 1 | 1 | 0 | 0 |" in text
    assert "| E4 | QP* | max | 2 | 2 | 0 | 1 | 1 | 5.0e-01 | (4, 1, 4) |" in text
    assert "| E4 | QP* | max | (4, 1, 6) | 0.75 | 0 | 1 | 2.5e-01 | missed |" in text


def test_other_files_and_states_are_refused(tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n", encoding="utf-8")
    with pytest.raises(FormatError, match="columns of the authors' results"):
        read_results(bad)
    bad.write_text(f"{EACH}\n{each('model_greps_model-it_0.pickle', 'XP', 1, 0, 'q1: a')}\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 2"):
        read_results(bad)
    with pytest.raises(FormatError, match="which the model has not"):
        state_of(epidemic(4), "q1: other")
    done = CliRunner().invoke(command, ["published", "--data", str(tmp_path / "nowhere"), "-o", str(tmp_path)])
    assert "git clone https://github.com/explainableMDPs/mdp_attributive" in str(done.exception)
