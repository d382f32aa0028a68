"""Whatever is given to a public function, what comes back is an answer or one sentence in the user's words."""

from __future__ import annotations

import contextlib
import inspect
import io
import math

import numpy as np
import pytest

import waypost
from waypost import report
from waypost.arguments import checked, fits, told
from waypost.cases import gridworld, loan
from waypost.errors import ArgumentError, WaypostError
from waypost.learn import prepare
from waypost.logs import EVERY_EVENT_A_CHOICE, EventLog

pytest.importorskip("pandas")

WRONG = [
    *(None, 5, -1, 0, 2.5, math.nan, True, "nobody", "", b"x", [], (), {}, [None], [1], [["a"]], {"a": 1}, {"a": None}),
    *(object(), np.array([1.0])),
]
LOAN = {"mdp": loan(), "target": "Granted"}
LOG = EventLog.from_sequences([["ask", "help", "pay"]] * 30 + [["ask", "pay"]] * 10 + [["ask", "go"]] * 60)
TRACES = prepare(LOG, actors=EVERY_EVENT_A_CHOICE).traces
FOUND = waypost.explain(loan(), target="Granted", witnesses=1, whatifs=True)
STATES = waypost.state_importance(loan(), target="Granted", scope="all")
CHOICES = waypost.choice_importance(loan(), target="Granted", scope="all")
PATH = waypost.path_importance(loan(), path=["s0", "Apply", "Application"], target="Granted", scope="all")
QUESTION = waypost.Question.of(loan(), target="Granted", scope="all")
UNIFORM = waypost.Strategy.uniform(loan())
GRID = waypost.explain(gridworld(), target="goal", scope="optimal", groups=report.fields_of(gridworld()))

ASKED = {
    waypost.state_importance: {**LOAN, "scope": "all", "states": "Error", "exact": False, "progress": None},
    waypost.absolute_importance: {**LOAN, "scope": "all", "states": "Error", "exact": False, "progress": None},
    waypost.group_importance: {**LOAN, "scope": "all", "groups": {"x": "Error"}, "exact": False},
    waypost.path_importance: {**LOAN, "scope": "all", "path": ["s0", "Apply", "Application"], "exact": False},
    waypost.pattern_importance: {
        **LOAN,
        "scope": "all",
        "pattern": "... Error ...",
        "exact": False,
        "by": "state",
        "committed": False,
    },
    waypost.choice_importance: {**LOAN, "scope": "all", "exact": False, "progress": None},
    waypost.explain: {
        **LOAN,
        "scope": "all",
        "states": "Error",
        "groups": {"x": "Error"},
        "witnesses": 1,
        "whatifs": False,
        "top": None,
        "decisions": False,
        "choices": False,
        "exact": False,
        "progress": None,
    },
    waypost.explain_log: {
        "source": LOG,
        "positive": "pay",
        "actors": None,
        "eps": None,
        "scope": "all",
        "min_seen": None,
        "activities": None,
        "by_state": False,
        "choices": False,
        "without": (),
        "learned": None,
        "resamples": 0,
        "seed": 1,
        "progress": None,
    },
    waypost.success_after: {**LOAN, "strategy": None, "exact": False},
    waypost.success_without: {**LOAN, "groups": None, "strategy": None, "exact": False},
    waypost.without: {"mdp": loan(), "names": "Error"},
    waypost.decisions: {**LOAN, "strategy": None},
    waypost.find_patterns: {
        **LOAN,
        "strategy": None,
        "top": 5,
        "by": "state",
        "effort": 50,
        "progress": None,
        "telling": None,
    },
    waypost.find_log_patterns: {
        "source": LOG,
        "positive": "pay",
        "actors": None,
        "eps": None,
        "scope": "all",
        "min_seen": None,
        "top": 5,
        "effort": 50,
        "learned": None,
        "progress": None,
    },
    waypost.usual_ways: {**LOAN, "strategy": None, "top": 5, "by": "state"},
    waypost.bootstrap: {
        "traces": TRACES,
        "target": "pay",
        "resamples": 2,
        "seed": 1,
        "eps": 0.9,
        "scope": "all",
        "match": "label",
        "level": 0.95,
        "min_seen": 1,
        "workers": 1,
        "progress": None,
    },
    waypost.learn_mdp: {"source": TRACES, "actors": None, "eps": 0.9, "naming": "plain", "progress": None},
    waypost.case: {"name": "loan", "data": None},
    waypost.Question.of: {**LOAN, "scope": "all", "exact": False},
    QUESTION.states: {"states": "Error"},
    QUESTION.groups: {"groups": {"x": "Error"}},
    QUESTION.path: {"path": ["s0"]},
    QUESTION.within: {"scope": "optimal"},
    STATES.witness: {"state": "Error", "side": "upper"},
    STATES.position: {"name": "Error"},
    STATES.plot: {"picture": "bars"},
    STATES.summary: {"top": 3},
    CHOICES.witness: {"name": ("s0", "Apply"), "side": "upper"},
    PATH.witness: {"side": "upper"},
    loan().where: {"target": "Granted"},
    loan().state: {"name": "Error"},
    loan().choices: {"state": 0},
    loan().successors: {"state": 0},
    loan().with_labels: {"labels": {"x": np.ones(10, bool)}},
    loan().restricted: {"kept": np.ones(14, bool)},
    loan().absorbing: {"ends": np.zeros(10, bool)},
    waypost.MDP.from_dict: {"choices": {"a": {"go": {"b": 1}}, "b": {}}, "initial": "a", "labels": None},
    waypost.MDP.from_triplets: {
        "choice": [0, 1],
        "successor": [1, 1],
        "probability": [1.0, 1.0],
        "first_choice": [0, 1, 2],
        "states": ["a", "b"],
        "actions": ["go", "stay"],
        "initial": 0,
        "labels": None,
    },
    waypost.Strategy.from_dict: {"mdp": loan(), "given": {}},
    waypost.Strategy.memoryless: {"mdp": loan(), "probabilities": UNIFORM.modes[0]},
    waypost.Strategy.mixed: {"first": UNIFORM, "second": UNIFORM, "probability": 0.5},
    waypost.Strategy.uniform: {"mdp": loan()},
    report.plot_bars: {"explanation": FOUND, "top": 5, "theme": "light"},
    report.plot_graph: {
        "explanation": FOUND,
        "scope": None,
        "colour": "upper",
        "strategy": None,
        "run": (),
        "top": 5,
        "theme": "light",
        "direction": "wide",
        "engine": "layers",
    },
    report.plot_grid: {"explanation": GRID, "coordinates": None, "scope": None, "numbers": False, "theme": "light"},
    report.render_html: {"explanations": FOUND, "coordinates": None, "cases": None, "names": None, "top": 5},
    report.render_report: {
        "explanation": FOUND,
        "ending": ".csv",
        "top": None,
        "cases": None,
        "picture": "auto",
        "theme": "light",
    },
    report.rows: {"explanation": FOUND, "top": 3},
    report.summarise: {"explanation": FOUND, "top": 3},
    report.to_json: {"explanation": FOUND},
    report.print_table: {"explanation": FOUND, "top": 3, "console": None},
    report.path_summary: {"result": PATH, "as_run": None},
    report.needs: {"mdp": loan(), "picture": "auto"},
    report.fields_of: {"mdp": gridworld(), "coordinates": None},
    report.unknown_fields: {"explanation": GRID, "coordinates": None},
    report.to_bytes: {"figure": None, "kind": "svg"},
}
SLOW = {waypost.bootstrap: {"match", "workers"}}  # learning anew for every wrong value of these tells nothing more


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", ASKED, ids=lambda function: function.__qualname__)
def test_no_wrong_argument_is_told_in_pythons_words(function, tmp_path, monkeypatch):
    """An answer, or an error of ours in one line: never a TypeError from somewhere inside."""
    monkeypatch.chdir(tmp_path)
    assert set(ASKED[function]) <= set(inspect.signature(function).parameters)
    said = []
    for word in set(ASKED[function]) - SLOW.get(function, set()):
        for value in WRONG:
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    function(**{**ASKED[function], word: value})
                except WaypostError as error:
                    said.append(str(error))
    assert said
    assert all(len(sentence) > 10 and "\n" not in sentence for sentence in said)


@pytest.mark.parametrize("function", [*(f for f in ASKED if "mdp" in ASKED[f]), waypost.observed_strategy])
def test_what_is_no_model_is_the_same_error_everywhere(function):
    for value in (None, "model.drn", {}):
        with pytest.raises(ArgumentError, match="an MDP"):
            function(**{**ASKED.get(function, {}), "mdp": value})


def test_a_number_too_small_is_refused_rather_than_counted_from_the_end():
    """Slices take negative numbers, people who ask for the top -1 have made a mistake."""
    for function in (report.rows, report.summarise, report.plot_bars):
        with pytest.raises(ArgumentError, match="at least 1"):
            function(FOUND, top=-1)
    with pytest.raises(ArgumentError, match="0 to 9"):
        loan().choices(-1)


def test_what_is_no_name_is_the_name_of_no_state():
    assert not any(loan().find(value) for value in WRONG)


def test_a_result_may_say_which_states_are_asked_for():
    """Anything that goes through names is a list of names: a set, an array, another answer."""
    for names in (STATES, {"Error", "Angry"}, np.array(["Error", "Angry"]), iter(["Error"])):
        assert "Error" in waypost.state_importance(loan(), target="Granted", scope="optimal", states=names)


@checked
def _variadic(*endings: str, **how: int) -> tuple[int, int]:
    return len(endings), len(how)


def test_what_comes_in_any_number_is_checked_one_by_one():
    assert _variadic(".svg", ".csv", top=3) == (2, 1)
    with pytest.raises(ArgumentError, match="endings is text, not 3"):
        _variadic(".svg", 3)


def test_a_missing_argument_is_pythons_own_error():
    with pytest.raises(TypeError, match="missing 1 required"):
        waypost.state_importance(loan(), target="Granted")


def test_kinds_are_told_in_words():
    assert told(tuple[str, str]) == "a tuple of text, text"
    assert told(list[str] | None) == "a list of text or None"
    assert fits(("a", "b"), tuple[str, str])
    assert not fits(("a",), tuple[str, str])
    assert not fits("ab", list[int])
