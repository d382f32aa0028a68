"""One state that cannot be answered never discards the others."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from rich.console import Console

import waypost
from stress.models import KINDS
from waypost.errors import PrecisionError
from waypost.importance import sweeps
from waypost.importance.question import Question
from waypost.report.files import to_csv
from waypost.report.jsonfile import to_json
from waypost.report.table import print_table

WHY = "no digits are left"


@pytest.fixture
def asked(monkeypatch):
    """A model, and the one of its states that is refused when it is asked about by itself."""
    mdp = KINDS["ordinary"](np.random.default_rng(7))
    right = waypost.state_importance(mdp, target="goal", scope="all")
    name = next(name for name in mdp.states if 0 < right[name].upper < 1)
    together, alone = sweeps._Sweep._together, sweeps.bound

    def nobody(self, states, kind, *, absolute):
        found = together(self, states, kind, absolute=absolute)
        return np.where(states == mdp.state(name), np.nan, found)

    def refuse(question, states, *rest, **options):
        if states[mdp.state(name)]:
            raise PrecisionError(WHY)
        return alone(question, states, *rest, **options)

    monkeypatch.setattr(sweeps._Sweep, "_together", nobody)
    monkeypatch.setattr(sweeps, "bound", refuse)
    return mdp, name, right


def test_the_others_keep_their_bounds(asked):
    """What is refused has the widest bounds there are, and a reason; everything else is as it was."""
    mdp, name, right = asked
    found = waypost.state_importance(mdp, target="goal", scope="all")
    assert found.refused == {name: WHY}
    assert found[name].lower in (0, right[name].lower)
    assert found[name].upper == 1
    assert {other: found[other] for other in mdp.states if other != name} == {
        other: right[other] for other in mdp.states if other != name
    }


def test_every_report_says_what_was_refused_and_why(asked):
    mdp, name, _ = asked
    explanation = waypost.explain(mdp, target="goal", scope="all")
    told = {state["name"]: state.get("refused") for state in json.loads(to_json(explanation))["states"]}
    assert {state for state, why in told.items() if why == WHY} == {name}
    lines = list(csv.DictReader(io.StringIO(to_csv(explanation))))
    assert [line["state"] for line in lines if line["refused"] == WHY] == [name]
    out = io.StringIO()
    print_table(explanation, top=3, console=Console(file=out, width=200))
    assert f"{name}: not every bound could be certified" in out.getvalue()


def test_where_nothing_is_left_to_answer_it_is_an_error(asked):
    mdp, name, _ = asked
    question = Question.of(mdp, target="goal", scope="all")
    with pytest.raises(PrecisionError, match=WHY):
        sweeps.bounds_of_states(question, np.array([mdp.state(name)]))
