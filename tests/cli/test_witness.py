"""Witnesses and fractions from the command line."""

from __future__ import annotations

from fractions import Fraction

import pytest
from click.testing import CliRunner

import waypost
from waypost.cases import loan
from waypost.cli import cli
from waypost.formats.strategies import read_strategy


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
    best = waypost.explain(loan(), target="Granted", scope="optimal", exact=True)
    every = waypost.explain(loan(), target="Granted", exact=True)
    assert best.absolute["Consultation"] == (Fraction(21, 40) * Fraction(49, 50), Fraction(49, 50))
    assert every.absolute["Consultation"] == (0, Fraction(49, 50))
