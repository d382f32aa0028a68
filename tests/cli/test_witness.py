"""Witnesses and fractions from the command line."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner

import waypost
from waypost.cases import loan
from waypost.cli import cli
from waypost.formats import write_mdp
from waypost.formats.strategies import read_strategy
from waypost.model import MDP


def run(*words):
    return CliRunner().invoke(cli, list(words))


@pytest.mark.parametrize("scope", ["all", "optimal"])
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_witness_attains_the_bound_it_is_for(tmp_path, scope, side):
    """The file is read back as a strategy, and the importance under it is the bound."""
    path = tmp_path / "strategy.json"
    done = run(
        "explain", "-t", "Granted", "--scope", scope, "--witness", "Consultation", "--side", side, "-o", str(path)
    )
    assert done.exit_code == 0, done.output
    mdp = loan()
    strategy = read_strategy(mdp, path)
    found = waypost.state_importance(mdp, target="Granted", scope=strategy, exact=True)["Consultation"]
    wanted = waypost.state_importance(mdp, target="Granted", scope=scope, exact=True)["Consultation"]
    assert found.lower == getattr(wanted, side)


def test_a_witness_of_a_value_between_is_printed(tmp_path):
    done = run("explain", "-t", "Granted", "--witness", "Consultation", "--value", "0.5")
    (tmp_path / "printed.json").write_text(done.output, encoding="utf-8")
    strategy = read_strategy(loan(), tmp_path / "printed.json")
    found = waypost.state_importance(loan(), target="Granted", scope=strategy)["Consultation"]
    assert found.lower == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--side", "lower", "--value", "0.5"), "--side or --value"),
        (("-o", "strategy.csv"), "written as .json"),
    ],
)
def test_what_a_witness_cannot_be_is_said(words, said):
    done = run("explain", "-t", "Granted", "--witness", "Consultation", *words)
    assert said in str(done.exception)


def test_exact_answers_are_fractions_in_words_too():
    path = run("path", "-t", "Granted", "--path", "s0,Apply,Application", "--scope", "all", "--exact").output
    assert "has importance 855/953 to 1" in path
    assert "with probability 49/50" in path
    text = run("explain", "-t", "Granted", "--exact", "--format", "text").output
    assert "21/40 to 1" in text
    assert "probability 49/50 at best" in text
    assert "0.525" not in text


def test_absolute_importance_follows_the_one_scope_asked_for():
    """Over best strategies it is the importance times the greatest probability of the target."""
    best = waypost.explain(loan(), target="Granted", scope="optimal", absolute=True, exact=True)
    every = waypost.explain(loan(), target="Granted", absolute=True, exact=True)
    assert waypost.explain(loan(), target="Granted").absolute is None
    assert best.absolute["Consultation"] == (Fraction(21, 40) * Fraction(49, 50), Fraction(49, 50))
    assert every.absolute["Consultation"] == (0, Fraction(49, 50))


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_path_is_drawn_with_the_importance_of_its_beginnings(tmp_path, ending):
    file = tmp_path / f"path.{ending}"
    done = run("path", "-t", "Granted", "--path", "s0,Apply,Application", "--scope", "all", "--plot", str(file))
    assert done.exit_code == 0, done.output
    assert file.read_bytes()
    if ending == "svg":
        text = file.read_text(encoding="utf-8")
        assert "Application" in text
        assert "0.897 to 1" in text


def test_a_witness_of_a_label_or_an_expression_is_one_of_passing_any_of_its_states(tmp_path):
    """Law: under it the importance of the set is the bound that the set has."""
    steps = {
        "x=0": {"left": "x=1", "right": {"x=2": 0.5, "x=3": 0.5}},
        "x=1": {"go": "x=4"},
        "x=2": {"go": "x=4"},
        "x=3": {"go": "x=4"},
        "x=4": {},
    }
    write_mdp(MDP.from_dict(steps, initial="x=0", labels={"won": ["x=4"], "right": ["x=2", "x=3"]}), tmp_path / "m.drn")
    words, file = ("explain", str(tmp_path / "m.drn"), "--target", "won"), str(tmp_path / "w.json")
    for states, value in (("right", "1"), ("x>1 & x<4", "1"), ("x=2", "0.5")):
        said = run(*words, "--scope", "all", "--witness", states, "-o", file).output
        assert said == f"{file}: a strategy under which the importance of {states!r} is {value}\n"
        told = json.loads(run(*words, "--strategy", file, "-s", states, "--format", "json").stdout)
        (found,) = [*told["states"], *told.get("groups", [])]
        assert found["strategy"]["lower"] == found["strategy"]["upper"] == pytest.approx(float(value))
