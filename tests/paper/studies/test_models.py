"""The paper's models by their own names, and where each comes from."""

from __future__ import annotations

import shutil

import pytest

from waypost.cases import listening_sessions, loan
from waypost.errors import FormatError
from waypost.formats import write_mdp
from waypost.paper.encodings import Limits
from waypost.paper.studies.models import find_model
from waypost.paper.studies.reports import write_reports
from waypost.paper.studies.running import Settings, run
from waypost.paper.studies.studies import STUDIES, Study


@pytest.mark.parametrize(
    ("name", "theirs", "ours", "states"),
    [
        ("GrepS", "model_greps_model-it_4.prism", "greps.prism", 64),
        ("BPIC12", "model_bpic12_model-it_2.prism", "bpic12.prism", 129),
        ("BPIC17", "model_bpic17-both_model-it_5.prism", "bpic17.prism", 158),
    ],
)
def test_the_authors_artifact_is_taken_as_it_is(shared_data, tmp_path, name, theirs, ours, states):
    (tmp_path / "out/models").mkdir(parents=True)
    shutil.copy(shared_data / "models/paper" / ours, tmp_path / "out/models" / theirs)
    (tmp_path / "out/models/model_greps_model-it_0.pickle").write_bytes(b"never opened")
    found = find_model(name, tmp_path)
    assert found.mdp.n_states == states
    assert found.origin == f"the authors' {theirs}"


def test_all_sessions_are_one_model_whatever_its_iteration(tmp_path):
    """MSSD100.0 is there when any iteration is; MSSD10.0 is the first, and no other stands in for it."""
    folder = tmp_path / "out/models"
    folder.mkdir(parents=True)
    for name in ("model_spotify10000_model-it_1.prism", "model_spotify1000_model-it_1.prism"):
        write_mdp(loan(), folder / name)
    assert find_model("MSSD100.0", tmp_path).origin == "the authors' model_spotify10000_model-it_1.prism"
    assert find_model("MSSD10.1", tmp_path).origin == "the authors' model_spotify1000_model-it_1.prism"
    with pytest.raises(FormatError, match=r"model_spotify1000_model-it_0\.prism"):
        find_model("MSSD10.0", tmp_path)


def test_a_pickle_alone_is_no_model(tmp_path):
    (tmp_path / "model_greps_model-it_0.pickle").write_bytes(b"never opened")
    with pytest.raises(FormatError, match=r"mdp_attributive, folder out/models.*--data DIR.*--generated"):
        find_model("GrepS", tmp_path)


def test_greps_is_learned_again_from_its_traces(shared_data):
    found = find_model("GrepS", shared_data / "logs/greps")
    assert found.mdp.n_states == 64
    assert found.origin == "learned again from greps_io_traces_mdp_ce_encoding.json"


def test_mssd_is_learned_from_a_share_of_the_users_copy(tmp_path):
    sessions, tracks = listening_sessions(60, songs=200)
    sessions.to_csv(tmp_path / "log_mini.csv", index=False)
    tracks.to_csv(tmp_path / "tf_mini.csv", index=False)
    one, other = (find_model(f"MSSD50.{copy}", tmp_path) for copy in (0, 1))
    assert one.origin == "learned again from 50 % of log_mini.csv, seed 0"
    assert one.mdp.states != other.mdp.states
    with pytest.raises(FormatError, match="MSSD1 to MSSD100"):
        find_model("MSSD101", tmp_path)


def test_a_generated_model_is_kept_and_labelled(tmp_path):
    study = Study("table1", "One", ("MSSD1.0",), ("LP-optimal",), ("min",), sample=1, in_turn=True)
    settings = Settings(Limits(seconds=5), generated=True, data=tmp_path / "empty")
    first = run(study, settings, tmp_path)
    assert first.origins == {"MSSD1.0": "generated: 100 made-up sessions, seed 1"}
    assert (tmp_path / "models/MSSD1.0.drn").is_file()
    again = run(study, settings, tmp_path)
    assert again.origins == first.origins
    assert len(again.records) == 1
    text = write_reports(again, tmp_path)[0].read_text(encoding="utf-8")
    assert "MSSD1: generated: 100 made-up sessions, seed 1." in text
    assert "| MSSD1 (generated) | LP-optimal |" in text


def test_a_budget_that_is_used_up_leaves_whole_models_for_the_next_run(tmp_path):
    for name in ("a", "b"):
        write_mdp(loan(), tmp_path / f"{name}.drn")
    models = (str(tmp_path / "a.drn"), str(tmp_path / "b.drn"))
    study = Study("table1", "Two", models, ("LP-all",), ("min",), sample=2, in_turn=True)
    settings = Settings(Limits(seconds=5), target="Granted", budget=1e-9)
    assert run(study, settings, tmp_path).left == 4


def test_the_mssd_figure_has_ten_sizes_and_ten_models_of_each():
    assert len(STUDIES["mssd"].models) == 100
    assert STUDIES["mssd"].models[:3] == ("MSSD10.0", "MSSD20.0", "MSSD30.0")
