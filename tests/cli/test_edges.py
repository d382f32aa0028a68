"""The edges of the command line: one writer for every way to ask, early refusals, usage errors, examples that run."""

from __future__ import annotations

import gc
import shlex

import pytest

from waypost import cli
from waypost.cli import COMMANDS


def run(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    return left.value.code


@pytest.mark.parametrize(
    ("shortcut", "ending"), [("--html", ".html"), ("--csv", ".csv"), ("--json", ".json"), ("--plot", ".svg")]
)
@pytest.mark.parametrize("more", ["", "--top 3 --exact", "--scope optimal -s Rework -s Error"])
def test_a_shortcut_writes_the_very_file_that_its_ending_writes(tmp_path, monkeypatch, capsys, shortcut, ending, more):
    """``-o x.html`` and ``--html y.html`` are the same bytes, whatever else was asked for."""
    monkeypatch.chdir(tmp_path)
    assert run(["explain", "-o", f"x{ending}", shortcut, f"y{ending}", *more.split()]) == 0
    capsys.readouterr()
    assert (tmp_path / f"x{ending}").read_bytes() == (tmp_path / f"y{ending}").read_bytes()


def test_a_page_by_its_ending_has_cases_and_further_targets_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    log = ["explain", "loan-log:200", "-q", "--compare", "negative"]
    assert run([*log, "-o", "x.html", "--html", "y.html"]) == 0
    capsys.readouterr()
    page = (tmp_path / "x.html").read_text()
    assert page == (tmp_path / "y.html").read_text()
    assert page.count('<section class="summary"') == 2
    assert '"cases":{"0":["' in page


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "x.doc"], "the ending must be one of"),
        (["-o", "x"], "the ending must be one of"),
        (["--plot", "x.csv"], "the ending must be one of .pdf .png .svg"),
        (["--compare", "Rejected", "-o", "x.csv"], "--html FILE"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(tmp_path, monkeypatch, capsys, arguments, says):
    """No model is read, nothing is computed, nothing is written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("waypost.cli.explain.load", lambda *_, **__: pytest.fail("a model was read"))
    assert run(["explain", "no such model", "-o", "y.csv", *arguments]) == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "says", "where"),
    [
        (["bogus"], "No such command 'bogus'", "waypost --help"),
        (["explain", "--bogus"], "--bogus", "waypost explain --help"),
        (["explain", "--scope", "none"], "'none' is not one of", "waypost explain --help"),
        (["explain", "--top", "0"], "--top", "waypost explain --help"),
        (["path", "-t", "x"], "--path", "waypost path --help"),
        (["convert", "loan"], "OUTPUT", "waypost convert --help"),
        (["explain", "a", "b\x1b[2J\nc"], "unexpected extra argument", "waypost explain --help"),
    ],
)
def test_wrong_usage_is_one_line_and_a_hint(capsys, arguments, says, where):
    assert run(arguments) == 2
    printed = capsys.readouterr()
    message, hint = printed.err.removesuffix("\n").split("\n")
    assert printed.out == ""
    assert message.startswith("waypost: ")
    assert says in message
    assert message.isprintable()
    assert hint == f"see {where}"


def example(name: str, capsys) -> list[str]:
    assert run([name, "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    command = text.partition("Example: waypost ")[2].partition(" Options:")[0]
    assert command.startswith(name)
    return shlex.split(command)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_has_an_example_that_runs(tmp_path, monkeypatch, capsys, name):
    """Those of `bench` and `reproduce` take minutes; their options are parsed."""
    monkeypatch.chdir(tmp_path)
    arguments = example(name, capsys)
    if name in ("bench", "reproduce"):
        assert run([*arguments, "--help"]) == 0
        return
    assert run(arguments) == 0
    assert capsys.readouterr().out
    written = [word for word in arguments if word.endswith((".html", ".drn", ".png"))]
    assert [path.name for path in tmp_path.iterdir()] == written


def test_a_command_leaves_the_collection_of_garbage_as_it_was():
    """Who calls `main` from a program of their own goes on with their own settings."""
    before = gc.get_threshold()
    assert run(["--version"]) == 0
    assert gc.get_threshold() == before


def test_cases_that_may_be_running_still_are_told_and_can_be_left_out(tmp_path, invoke):
    """What nothing has ended is not lost yet."""
    ends = [["pay"]] * 60 + [["refuse"]] * 50 + [[]] * 10
    rows = [f"{case},{name},2024-01-0{k + 1}" for case, end in enumerate(ends) for k, name in enumerate(("ask", *end))]
    (tmp_path / "log.csv").write_text("\n".join(["case,activity,time", *rows]))
    asked = ["explain", tmp_path / "log.csv", "--positive", "pay"]
    _, printed, _ = invoke(*asked)
    assert "10 of the 60 bad cases have no 'refuse', with which the others end" in " ".join(printed.split())
    code, _, said = invoke(*asked, "--negative", "refuse")
    assert code == 2
    assert "10 of 120 cases have no outcome" in said
    assert "--others drop leaves them out" in said
    code, printed, said = invoke(*asked, "--negative", "refuse", "--others", "drop")
    assert "outcomes: 60 positive, 50 negative, 10 without were dropped" in said
    assert "running" not in printed
    assert "running" not in invoke(*asked, "--within", "3 days")[1]  # whose time is up is no longer
