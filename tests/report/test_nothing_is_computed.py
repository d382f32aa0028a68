"""A report turns an explanation into bytes: whatever it shows was computed before."""

from __future__ import annotations

import ast
import importlib
import inspect
from dataclasses import replace
from pathlib import Path

import pytest

from waypost import report
from waypost.cases import gridworld, loan
from waypost.errors import ArgumentError
from waypost.importance import Explanation, Question, explain
from waypost.report import needs, plot_agent, render_report
from waypost.solve.reachability import Reach

SOURCES = sorted(Path(report.__file__).parent.glob("*.py"))
CHECKS = {"waypost.arguments", "waypost.errors"}  # below everything: they check, and say what is wrong
LOOKED_UP = {  # names, words and classes of numbers that are there already
    "kind_of", "written", "told_action", "told_choice", "told_path", "natural", "silent_states", "few_decisions",
    "step", "steps_in_words", "template", "write_bytes", "write_text",
}  # fmt: skip


def numb(explanation: Explanation) -> Explanation:
    """The same numbers, from which nothing more can be asked."""
    parts = {scope: replace(part, question=None) for scope, part in explanation.scopes.items()}
    absolute = None if explanation.absolute is None else replace(explanation.absolute, question=None)
    insight = explanation.insight
    if insight is not None:
        choices = {scope: replace(found, question=None) for scope, found in insight.choices.items()}
        insight = replace(insight, choices=choices)
    return replace(explanation, scopes=parts, absolute=absolute, insight=insight)


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("a report asked for something to be computed")


@pytest.fixture
def nobody_computes(monkeypatch):
    """Whoever asks a question, or solves a model, fails."""
    monkeypatch.setattr(Question, "of", refuse)
    monkeypatch.setattr(Question, "within", refuse)
    monkeypatch.setattr(Reach, "of", refuse)


@pytest.mark.parametrize("ending", [".html", ".json", ".csv", ".md", ".txt", ".xlsx", ".parquet", ".svg"])
@pytest.mark.parametrize("mdp", [loan(), gridworld()], ids=["loan", "gridworld"])
def test_every_file_is_written_from_numbers_that_are_there(ending, mdp, monkeypatch):
    """Law: an explanation that can be asked nothing more gives the same file as one that can."""
    whole = explain(mdp, target="Granted" if "Granted" in mdp.index else "goal", **needs(mdp, ending))
    pytest.importorskip({".xlsx": "openpyxl", ".parquet": "pyarrow", ".svg": "matplotlib"}.get(ending, "waypost"))
    free = render_report(whole, ending)
    for owner, name in ((Question, "of"), (Question, "within"), (Reach, "of")):
        monkeypatch.setattr(owner, name, refuse)
    bound = render_report(numb(whole), ending)
    if ending != ".xlsx":  # whose archive knows the time
        assert bound == free


@pytest.mark.usefixtures("nobody_computes")
@pytest.mark.parametrize("picture", ["bars", "graph", "grid"])
def test_every_picture_is_drawn_from_numbers_that_are_there(picture, world_whole):
    pytest.importorskip("matplotlib")
    assert b"<svg" in render_report(numb(world_whole), ".svg", picture=picture)


@pytest.fixture(scope="module")
def world_whole() -> Explanation:
    return explain(gridworld(), target="goal", **needs(gridworld(), ".svg"))


@pytest.mark.usefixtures("nobody_computes")
def test_a_log_is_reported_from_numbers_that_are_there(loan_log):
    for ending in (".html", ".json", ".csv", ".md", ".txt"):
        assert render_report(loan_log, ending)


def test_numbers_without_their_question_can_be_asked_nothing(granted):
    """The explanation of these tests is as numb as it is said to be."""
    with pytest.raises(ArgumentError, match="made without its model"):
        numb(granted).scopes["all"].witness("Consultation", "upper")


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_report_takes_kinds_of_results_from_other_rooms_and_no_algorithm(source):
    """Law: what is imported from elsewhere is a class, a constant, or one of a few functions that look something up."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        if not node.module.startswith("waypost.") or node.module.startswith("waypost.report") or node.module in CHECKS:
            continue
        home = importlib.import_module(node.module)
        taken = {name.name for name in node.names if inspect.isfunction(getattr(home, name.name))}
        assert taken <= LOOKED_UP, (node.module, taken - LOOKED_UP)


def test_the_map_of_an_agent_is_drawn_from_numbers_that_are_there(monkeypatch):
    pytest.importorskip("gymnasium")
    pytest.importorskip("matplotlib")
    import gymnasium

    from waypost import Strategy, explain_agent, read_mdp

    mdp = read_mdp(gymnasium.make("FrozenLake-v1"))
    found = explain_agent(mdp, Strategy.uniform(mdp), target="goal")
    for owner, name in ((Question, "of"), (Question, "within"), (Reach, "of")):
        monkeypatch.setattr(owner, name, refuse)
    assert plot_agent(found).axes
