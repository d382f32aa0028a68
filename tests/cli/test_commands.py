"""What the commands print and write, for people and for programs."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from importlib.metadata import version

import jsonschema
import pytest

import waypost
from waypost.cases import loan
from waypost.formats import drn, jsonfile

NUMBER = {"oneOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "pattern": r"^\d+(/\d+)?$"}]}
BOUNDS = {
    "type": "object",
    "required": ["lower", "upper"],
    "additionalProperties": False,
    "properties": {"lower": NUMBER, "upper": NUMBER},
}
SCHEMA = {
    "type": "object",
    "required": ["format", "target", "initial", "reachability", "states"],
    "additionalProperties": False,
    "properties": {
        "format": {"const": 1},
        "target": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "initial": {"type": "string"},
        "reachability": {
            "type": "object",
            "required": ["min", "max"],
            "additionalProperties": False,
            "properties": {"min": NUMBER, "max": NUMBER},
        },
        "states": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "labels"],
                "additionalProperties": False,
                "properties": {
                    "name": {"type": "string"},
                    "labels": {"type": "array", "items": {"type": "string"}},
                    "all": BOUNDS,
                    "optimal": BOUNDS,
                    "strategy": BOUNDS,
                    "absolute": BOUNDS,
                },
            },
        },
        "decisions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["decision", "state", "action", "worth", "costs", "taken", "met", "lost"],
                "additionalProperties": False,
                "properties": {
                    **{name: {"type": "string"} for name in ("decision", "state", "action")},
                    **{name: {"minimum": 0, "maximum": 1} for name in ("worth", "costs", "taken", "met")},
                    "lost": {"type": "number", "minimum": 0},
                },
            },
        },
    },
}


@pytest.fixture
def run(answered):
    return answered


def test_without_a_model_the_loan_example_is_explained(run):
    """A table for people, most important first; 0 and 1 only where they are meant."""
    out = run("explain")
    rows = [line.split() for line in out.splitlines()]
    states = [row[0] for row in rows if row and row[0] in loan().states]
    assert set(states) == set(loan().states)
    assert states.index("Application+") < states.index("Consultation") < states.index("Rejected")
    assert "Reaching 'Granted' from s0: probability 0 to 0.98" in out
    assert "0.525 to 1" in out


def test_a_target_may_be_asked_for_in_time(run):
    """Granted in three steps, at best, is granted without rework."""
    assert "probability 0 to 0.9" in run("explain", "--steps", "3")
    assert "s0, step=0" in run("explain", "--steps", "3", "--target", "Granted")


def test_json_is_as_promised(run):
    """Validated against the contract; the numbers are those of the library, to the last bit."""
    document = json.loads(run("explain", "-t", "Granted", "--absolute", "--json", "-"))
    jsonschema.validate(document, SCHEMA)
    assert (document["format"], document["target"], document["initial"]) == (1, "Granted", "s0")
    assert document["reachability"] == {"min": 0.0, "max": 0.98}
    found = waypost.explain(loan(), target="Granted", absolute=True)
    for entry in document["states"]:
        assert set(entry) == {"name", "labels", "all", "optimal", "absolute"}
        for part, answer in {**found.scopes, "absolute": found.absolute}.items():
            bounds = answer[entry["name"]]
            assert entry[part] == {"lower": bounds.lower, "upper": bounds.upper}
    assert [entry["name"] for entry in document["states"]] == list(loan().states)


def test_exact_json_holds_fractions(run):
    document = json.loads(run("explain", "-t", "Granted", "--exact", "--json", "-", "--state", "Error", "-s", "Rework"))
    jsonschema.validate(document, SCHEMA)
    assert [entry["name"] for entry in document["states"]] == ["Error", "Rework"]
    assert document["states"][0]["all"] == {"lower": "0", "upper": "98/953"}
    assert document["states"][1]["optimal"] == {"lower": "4/49", "upper": "4/49"}
    assert Fraction(document["reachability"]["max"]) == Fraction(49, 50)


@pytest.mark.parametrize("scope", ["all", "optimal", "both"])
def test_a_scope_gives_its_bounds_only(run, scope):
    document = json.loads(run("explain", "--scope", scope, "--json", "-"))
    jsonschema.validate(document, SCHEMA)
    wanted = {"all", "optimal"} if scope == "both" else {scope}
    assert all(set(entry) & {"all", "optimal"} == wanted for entry in document["states"])


def test_a_strategy_is_explained_beside_the_scopes(run, tmp_path):
    chosen = {"s0": {"Apply": 0.5, "Consult": 0.5}, "Error": "Consult", "Consultation": "Apply", "Rework": "Submit"}
    (tmp_path / "mine.json").write_text(json.dumps(chosen))
    document = json.loads(run("explain", "--strategy", "mine.json", "--json", "-", "--exact"))
    jsonschema.validate(document, SCHEMA)
    consulted = {entry["name"]: entry["strategy"] for entry in document["states"]}["Consultation"]
    assert consulted["lower"] == consulted["upper"]
    right = Fraction(1, 2) + Fraction(1, 2) * (Fraction(95, 100) / 2 + Fraction(5, 100))  # every run ends alike
    assert Fraction(consulted["lower"]) == right


def test_several_targets_mean_any_of_them(run):
    document = json.loads(run("explain", "-t", "Granted", "-t", "Rejected", "--json", "-"))
    jsonschema.validate(document, SCHEMA)
    assert document["target"] == ["Granted", "Rejected"]
    assert document["reachability"] == {"min": 1.0, "max": 1.0}


def test_csv_has_full_precision_one_row_per_state(run, tmp_path):
    out = run("explain", "-t", "Granted", "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["state"] for row in rows} == set(loan().states)
    found = waypost.state_importance(loan(), target="Granted", scope="all")
    assert {row["state"]: float(row["all_upper"]) for row in rows} == {n: found[n].upper for n in found}
    run("explain", "-t", "Granted", "--csv", "table.csv", "--json", "numbers.json")
    assert (tmp_path / "table.csv").read_text() == out
    jsonschema.validate(json.loads((tmp_path / "numbers.json").read_text()), SCHEMA)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["numbers.json", "table.csv"]


def test_a_path_is_explained_in_words_and_in_json(run, tmp_path):
    (tmp_path / "loan.json").write_text(jsonfile.dumps(loan()))
    words = run("path", "loan.json", "--target", "Granted", "--path", "s0,Apply,Application")
    assert "0.897" in words
    assert "0.95" in words
    document = json.loads(
        run("path", "loan.json", "-t", "Granted", "--path", "s0, Apply, Application", "--json", "--exact")
    )
    assert document["path"] == ["s0", "Apply", "Application"]
    assert document["all"] == {"lower": str(1 - Fraction(98, 953)), "upper": "1"}
    assert document["optimal"] == {"lower": "19/20", "upper": "19/20"}


def test_a_path_may_have_names_with_commas(run, tmp_path):
    mdp = waypost.MDP.from_dict({"a,b": {"go, now": {"c": 0.5, "t": 0.5}}, "c": {"on": "t"}, "t": {}}, initial="a,b")
    (tmp_path / "m.drn").write_text(drn.dumps(mdp))
    document = json.loads(run("path", "m.drn", "-t", "t", "--path", '"a,b","go, now",c', "--json"))
    assert document["all"] == {"lower": 0.5, "upper": 0.5}


def test_check_tells_sizes_labels_and_reachability(run, tmp_path):
    mdp = waypost.MDP.from_dict(
        {"s": {"a": {"t": "1/4", "x": "3/4"}, "b": "m"}, "m": {"back": "s"}, "t": {}, "x": {}, "island": {}},
        initial="s",
        labels={"goal": ["t"], "never": []},
    )
    (tmp_path / "m.json").write_text(jsonfile.dumps(mdp))
    out = run("check", "m.json", "--exact")
    assert "5 states, 6 choices, 7 transitions" in out
    assert "initial state 's'" in out
    assert "1 states cannot be reached from the initial state: island" in out
    assert "1 end components of more than one state" in out
    goal = next(line for line in out.splitlines() if " goal " in line)
    assert "1/4" in goal
    assert any(" never " in line for line in out.splitlines())


def test_hostile_names_are_shown_and_do_nothing(run, tmp_path):
    """Terminal codes are spelt out; rich's markup is not obeyed; JSON keeps the very name."""
    evil = "[red]x[/red]\x1b[31m\n<b>"
    mdp = waypost.MDP.from_dict({"s": {"a": evil}, evil: {"b": "t"}, "t": {}}, initial="s", labels={evil: ["t"]})
    (tmp_path / "m.json").write_text(jsonfile.dumps(mdp))
    for arguments in (["check", "m.json"], ["explain", "m.json", "-t", evil]):
        out = run(*arguments)
        assert "\x1b[31m" not in out
        assert "[red]x[/red]" in out
    document = json.loads(run("explain", "m.json", "-t", evil, "--json", "-"))
    assert document["target"] == evil
    assert document["states"][1]["name"] == evil


def test_constants_of_a_prism_model_are_given_by_name(run, tmp_path):
    pytest.importorskip("stormpy")
    text = 'mdp\nconst int N;\nmodule m\n x:[0..N] init 0;\n [go] x<N -> (x\'=x+1);\nendmodule\nlabel "done" = x=N;\n'
    (tmp_path / "m.prism").write_text(text)
    document = json.loads(run("explain", "m.prism", "-t", "done", "--const", "N=3", "--json", "-"))
    assert {entry["name"] for entry in document["states"]} == {f"x={i}" for i in range(4)}


def test_help_and_version_answer(run):
    out = run("--help")
    for command in ("explain", "path", "check"):
        assert f"  {command} " in out
        assert "--target" in run(command, "--help") or command == "check"
    assert version("waypost") in run("--version")
