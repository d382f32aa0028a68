"""``waypost encode``: one bound, claimed, attained and exact."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from waypost.cli import cli


def run(*words):
    return CliRunner().invoke(cli, ["encode", *words])


@pytest.mark.parametrize("encoding", ["QP", "LP-all"])
def test_a_bound_is_told_with_what_its_strategy_attains_and_what_is_true(encoding):
    done = run("-t", "Granted", "--state", "Error", "--encoding", encoding, "--sense", "max")
    assert done.exit_code == 0, done.output
    assert "claimed   0.102833158" in done.output
    assert "exact     0.102833158 = 98/953" in done.output
    assert "verdict   right" in done.output


def test_a_claim_that_no_strategy_attains_is_told_as_such(tmp_path):
    """Waiting for ever, to the letter of LP*: claimed 1, exactly 1/2, by a strategy that never arrives."""
    from waypost.formats import write_mdp
    from waypost.paper.encodings.counterexamples import waiting

    write_mdp(waiting(), tmp_path / "waiting.json")
    asked = (str(tmp_path / "waiting.json"), "-t", "t", "--state", "s", "--encoding", "LP*", "--sense", "max")
    letter, ours = run(*asked, "--solver", "gurobi"), run(*asked, "--form", "ours")
    assert "LP*, to the letter, M = 1e+16, order paper: upper bound of 's' for 't'" in letter.output
    assert "verdict   unattainable" in letter.output
    assert "reaches the target with 0" in letter.output
    assert "verdict   right" in ours.output


@pytest.mark.parametrize("ending", ["lp", "mps"])
def test_a_program_is_written_instead_of_solved(tmp_path, ending):
    file = tmp_path / f"program.{ending}"
    done = run("--target", "Granted", "--path", "s0,Apply,Application", "--sense", "min", "--write", str(file))
    assert done.exit_code == 0, done.output
    assert "take Apply" in file.read_text(encoding="utf-8")
    assert "claimed" not in done.output


def test_the_constants_are_in_the_program(tmp_path):
    file = tmp_path / "program.lp"
    run("-t", "Granted", "--state", "Error", "--encoding", "QP", "--eps", "0.125", "--write", str(file))
    assert "0.125 <= x" in file.read_text(encoding="utf-8")
    run("-t", "Granted", "--state", "Error", "--encoding", "LP*", "--M", "12345", "--write", str(file))
    assert "12345.0 x" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [["--state", "Error", "--path", "s0"], []])
def test_either_a_state_or_a_path_is_asked(words):
    done = run("-t", "Granted", *words)
    assert done.exit_code != 0
    assert "--state NAME or --path NAMES" in str(done.exception)
