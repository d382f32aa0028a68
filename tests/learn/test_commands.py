"""`waypost learn`, `waypost case`, and logs given to `waypost explain`."""

from __future__ import annotations

import json

import pytest

from waypost import read_mdp
from waypost.cases import case, loan_log
from waypost.logs import EventLog, write_log


@pytest.fixture
def run(invoke):
    return invoke


@pytest.fixture(scope="module")
def log_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "applications <b>.csv"
    write_log(loan_log(200), path)
    return path


def test_learn_writes_a_model_that_can_be_read_again(run, log_file, tmp_path):
    model = tmp_path / "model.drn"
    code, out, err = run("learn", log_file, "--recipe", "loan-log", "-o", model)
    assert code == 0
    assert "200 cases gave" in out
    assert "note: outcomes: " in err
    assert read_mdp(model).labels["positive"].sum() == 1


def test_hostile_names_survive_from_log_to_model(run, tmp_path):
    names = ['a "b"', "<b>", "=1+1", "\U0001f389", "x\ny", "//[s]", "\\", "(final)", "[0]", "start", "{}", "q0: start"]
    write_log(EventLog.from_sequences([names, names[::-1]] * 20), tmp_path / "log.csv")
    code, _, err = run("learn", tmp_path / "log.csv", "--actors", "choice", "-q", "-o", tmp_path / "model.drn")
    assert (code, err) == (0, "")
    mdp = read_mdp(tmp_path / "model.drn")
    assert set(names) <= set(mdp.labels)
    assert set(names) <= set(mdp.actions)
    code, out, _ = run("explain", tmp_path / "model.drn", "--target", "<b>", "--format", "csv")
    assert code == 0
    assert len(out.splitlines()) >= mdp.n_states


def test_learn_takes_a_recipe_a_map_and_columns(run, tmp_path):
    log, recipe, actors = (tmp_path / name for name in ("log.csv", "recipe.toml", "actors.json"))
    log.write_text("id;what\n" + "".join(f"{k};ask\n{k};{'pay' if k % 3 else 'go'}\n" for k in range(60)))
    recipe.write_text('[[step]]\ndo = "set_outcome"\npositive = "pay"\n')
    actors.write_text(json.dumps({"ask": "user", "*": "shop"}))
    arguments = (
        "learn",
        log,
        "--recipe",
        recipe,
        "--actors",
        actors,
        "--column",
        "case=id",
        "--column",
        "activity=what",
    )
    code, _, err = run(*arguments)
    assert code == 2
    assert "no actor 'customer'" in err
    code, out, _ = run(*arguments, "--choosing", "user", "-q", "--eps", "0.5")
    assert code == 0
    assert out.startswith("60 cases gave ")


def test_explain_takes_a_log_in_one_step(run, log_file):
    code, out, err = run("explain", log_file, "--positive", "Pay out", "--actors", "chance", "--format", "csv")
    assert code == 0
    assert "note: outcomes: " in err
    assert any("Accept offer" in line for line in out.splitlines())
    code, _, err = run("explain", log_file, "--positive", "Pay out", "-q", "--format", "json")
    assert (code, err) == (0, "")


def test_without_a_map_it_is_said_that_all_events_are_chance(run, log_file):
    _, _, err = run("explain", log_file, "--positive", "Pay out", "--format", "csv", "--strategy", "observed")
    assert "no actor map: all events are chance, so each step has one number" in err


def test_events_that_start_and_are_completed_are_told_of(run, log_file):
    _, _, err = run("learn", log_file)
    assert "note: events are there once for each of complete, start; the steps keep_lifecycle and" in err
    _, _, err = run("learn", log_file, "--recipe", "loan-log")
    assert "once for each" not in err


def test_explain_with_a_bootstrap_is_reproducible(run, log_file, tmp_path):
    tables = []
    for name in ("one.csv", "two.csv"):
        code, out, _ = run(
            *("explain", log_file, "--recipe", "loan-log", "-q", "--bootstrap", 4, "--match", "label"),
            *("--scope", "optimal", "--intervals", tmp_path / name),
        )
        assert code == 0
        assert "95 % intervals when cases are drawn again" in out
        tables.append((tmp_path / name).read_text())
    assert tables[0] == tables[1]
    assert tables[0].startswith("activity,number,from,to\n")


def test_cases_are_listed_built_and_explained(run, tmp_path):
    code, out, _ = run("case")
    assert code == 0
    assert "epidemic:N" in out
    assert "bpic12" in out
    code, out, _ = run("case", "epidemic:4", "-o", tmp_path / "e4.drn")
    assert code == 0
    assert out.startswith("epidemic:4: 227 states and 897 transitions (1 final state), target 'positive'")
    assert read_mdp(tmp_path / "e4.drn").states == case("epidemic:4").states
    code, out, _ = run("case", "loan-log:60", "-q", "--log", tmp_path / "log.csv")
    assert code == 0
    assert (tmp_path / "log.csv").read_text().startswith("case:concept:name,")
    code, out, _ = run("case", "bpic12", "--recipe")
    assert "mixture = 3" in out
    code, out, _ = run("explain", "gridworld", "--format", "csv")
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("case", "bpic"), "no case 'bpic' in Waypost; did you mean"),
        (("case", "bpic12"), "bpic12 needs your copy of the data: the file BPI_Challenge_2012.xes.gz"),
        (("case", "loan", "--log", "x.csv"), "loan was not learned from a log"),
        (("learn", "loan"), "loan is a model already"),
        (("learn", "nowhere.xes"), "there is no file 'nowhere.xes'"),
        (("explain", "loan", "--recipe", "bpic12"), "loan is a model of its own, so --recipe means nothing here"),
        (("explain", "loan", "--bootstrap", "5"), "this model was not learned from one"),
        (("explain", "loan", "--strategy", "observed"), "this model was not learned from a log"),
        (("explain", "loan-log:40", "-q", "--actors", "a.json"), "loan-log:40 brings its own recipe, so --actors"),
        (("explain", "nowhere.drn", "--data", "x"), "--data is for case studies"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_2(run, arguments, message):
    code, out, err = run(*arguments)
    assert code == 2
    assert message in err
    assert err.strip().splitlines()[-1].startswith("waypost: ")
    assert out == "" or arguments[0] == "explain"


def test_nothing_half_written_is_left_behind(run, log_file, tmp_path):
    code, _, err = run("learn", log_file, "-q", "-o", tmp_path / "missing" / "model.drn")
    assert code == 2
    assert "cannot write" in err
    code, _, err = run("learn", log_file, "-q", "-o", tmp_path / "model.xyz")
    assert code == 2
    assert "'.xyz'" in err
    assert list(tmp_path.iterdir()) == []
