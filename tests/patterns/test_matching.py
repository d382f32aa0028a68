"""The search for patterns finds the same wherever it is done, and does nothing twice."""

from __future__ import annotations

import json

from click.testing import CliRunner

from waypost.cases import loan
from waypost.cli import cli
from waypost.model import Strategy
from waypost.patterns import find_patterns, matching
from waypost.patterns.search import _whole
from waypost.processes.places import working


def found(**where):
    mdp = loan()
    with working(**where):
        result = find_patterns(mdp, target="Granted", strategy=Strategy.uniform(mdp), top=5)
    return result.tried, [(str(t.pattern), t.kind, t.importance, t.contrast, t.information) for t in result]


def test_a_search_that_is_resumed_finds_the_same_and_asks_nothing_again(tmp_path, monkeypatch):
    right = found()
    kept = tmp_path / "answers.jsonl"
    assert found(resume=kept, workers=1) == right
    known = kept.read_text()
    assert len(known.splitlines()) > 3

    def never(*_):
        raise AssertionError

    monkeypatch.setattr(matching.Matching, "answer", never)
    assert found(resume=kept, workers=1) == right
    assert kept.read_text() == known


def test_the_command_keeps_its_answers(tmp_path):
    kept = tmp_path / "answers.jsonl"
    run = ["patterns", "-t", "Granted", "--top", "3", "--json"]
    plain, resumed = (CliRunner().invoke(cli, [*run, *more]).output for more in ((), ("--resume", str(kept))))
    assert json.loads(plain) == json.loads(resumed)
    assert kept.exists()


def test_the_templates_of_a_pair_are_tried_together():
    asked = [((0, 1), "a"), ((0, 1), "b"), ((1, 0), "a")]
    assert [_whole(asked, most) for most in (-1, 0, 1, 2, 3, 9)] == [0, 0, 2, 2, 3, 3]
