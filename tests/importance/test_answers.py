"""Answers are plain data: they copy, cross process borders, and read like mappings."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array

import waypost
from strategies import mdps
from waypost.cases import loan
from waypost.importance import Bounds, Kind, Question
from waypost.model import MDP, Strategy

PATH = ["s0", "Apply", "Application"]


def everything(*, exact: bool = False) -> list:
    """One of each thing that people hold."""
    mdp = loan()
    asked = {"target": "Granted", "exact": exact}
    return [
        mdp,
        Strategy.uniform(mdp),
        Question.of(mdp, scope="all", **asked),
        waypost.state_importance(mdp, scope="optimal", **asked),
        waypost.absolute_importance(mdp, **asked),
        waypost.path_importance(mdp, path=PATH, scope="all", **asked),
        waypost.explain(mdp, scope=["all", Strategy.uniform(mdp)], groups="labels", witnesses=2, **asked),
    ]


def same(one, other) -> bool:
    """Whether two things hold the same data, field by field; of questions what was asked, not what is known."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, csr_array):
        return all(same(getattr(one, part), getattr(other, part)) for part in ("data", "indices", "indptr"))
    if isinstance(one, Mapping) and not hasattr(one, "__dataclass_fields__"):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, part.name), getattr(other, part.name)) for part in fields(one) if part.compare)
    return bool(one == other)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("travel", [lambda thing: pickle.loads(pickle.dumps(thing)), copy.deepcopy])  # noqa: S301
def test_what_people_hold_pickles_and_copies(travel, exact):
    """Every field arrives as it left; what is read-only stays so."""
    for thing in everything(exact=exact):
        arrived = travel(thing)
        assert same(arrived, thing), thing
        assert repr(arrived) == repr(thing)
    mdp = travel(loan())
    for array in (mdp.first_choice, mdp.transitions.data, *mdp.labels.values()):
        assert not array.flags.writeable


def upper_witness(result) -> tuple:
    """What another process makes of an answer, and what it sends back."""
    if isinstance(result, waypost.PathImportance):
        return result, result.witness("upper")
    return result, result.witness("Application", "upper")


def test_answers_cross_process_borders():
    """A result finds the same witnesses in another process, and comes back as it went."""
    _, _, question, states, absolute, path, explanation = everything()
    results = [states, absolute, path, question.states(), explanation.scopes["all"]]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for result, (back, strategy) in zip(results, pool.map(upper_witness, results), strict=True):
            assert same(back, result)
            assert same(strategy.modes, upper_witness(result)[1].modes)
        assert same(pool.submit(copy.copy, explanation).result(), explanation)


def test_an_explanation_has_no_code_in_it():
    """Reports only read: there is no function, no closure and nothing lazy in what they are made from."""
    plain = (str, int, float, bool, Fraction, np.ndarray, Enum, MDP, Strategy, Question, type(None))

    def look(thing) -> None:
        if isinstance(thing, Mapping) and not hasattr(thing, "__dataclass_fields__"):
            for key, value in thing.items():
                look(key)
                look(value)
        elif isinstance(thing, tuple):
            for value in thing:
                look(value)
        elif hasattr(thing, "__dataclass_fields__") and not isinstance(thing, plain):
            for part in fields(thing):
                look(getattr(thing, part.name))
        else:
            assert isinstance(thing, plain), thing

    look(everything()[-1])


def test_a_result_is_a_mapping():
    result = waypost.state_importance(loan(), target="Granted", scope="all", states=["Rework", "Error", "Rework"])
    assert list(result) == list(result.keys()) == ["Rework", "Error"]
    assert len(result) == 2
    assert dict(result.items()) == {"Rework": result["Rework"], "Error": result["Error"]} == result.to_dict()
    assert list(result.values()) == [result["Rework"], result["Error"]]
    assert "Rework" in result
    assert "s0" not in result
    assert "nobody" not in result
    assert 5 not in result
    assert result.get("s0") is None
    assert result.get("nobody", 7) == 7
    assert result == waypost.state_importance(loan(), target="Granted", scope="all", states=["Rework", "Error"])
    for absent in ("s0", "nobody"):
        with pytest.raises(KeyError, match=absent) as caught:
            result[absent]
        assert isinstance(caught.value, waypost.WaypostError)
        assert not str(caught.value).startswith(("'", '"'))  # a sentence, not its repr


def test_an_explanation_is_a_mapping_to_the_bounds_by_scope():
    found = waypost.explain(loan(), target="Granted", absolute=True)
    assert list(found) == list(loan().states)
    assert found["Rework"] == {
        "all": found.scopes["all"]["Rework"],
        "optimal": found.scopes["optimal"]["Rework"],
        "absolute": found.absolute["Rework"],
    }
    assert dict(found.items())["Error"]["all"] == found.at(loan().index["Error"])["all"]
    assert len(found) == 10
    assert "Angry" in found


def test_bounds_unpack():
    low, high = waypost.state_importance(loan(), target="Granted", scope="optimal")["Application"]
    assert (low, high) == (0.0, 0.95)
    assert Bounds(low, high) == (0.0, 0.95)


def test_what_nobody_can_reach_is_not_to_be_avoided():
    """All have importance 0: one may be visited and leads nowhere, the others no run enters before the target."""
    mdp = MDP.from_dict(
        {"s": {"go": "t", "stray": "lost"}, "t": {"on": "later"}, "lost": {}, "later": {}, "island": {"go": "t"}},
        initial="s",
    )
    for scope in ("all", "optimal", Strategy.from_dict(mdp, {"s": "go"})):
        found = waypost.explain(mdp, target="t", scope=scope)
        kinds = dict(zip(found, found.kinds, strict=True))
        strays = not isinstance(scope, Strategy)  # the one strategy never does
        assert kinds["lost"] is (Kind.DETRIMENTAL if strays else Kind.UNREACHABLE)
        assert kinds["later"] is kinds["island"] is Kind.UNREACHABLE


@settings(max_examples=30)
@given(mdps())
def test_unreachable_means_that_no_strategy_visits_it_before_the_target(mdp):
    """The state is then not reached in the model in which the target is absorbing."""
    best = waypost.reachability(mdp, target="goal", optimum="max")[mdp.initial]
    if best == 0:
        return
    goal, seen, queue = mdp.where("goal"), {mdp.initial}, [mdp.initial]
    while queue:
        s = queue.pop()
        rows = mdp.transitions[mdp.first_choice[s] : mdp.first_choice[s + 1]]
        fresh = set() if goal[s] else set(rows.indices.tolist()) - seen
        seen |= fresh
        queue += fresh
    found = waypost.explain(mdp, target="goal", scope="all")
    told = {s for s, kind in enumerate(found.kinds) if kind is Kind.UNREACHABLE}
    assert told == {s for s in range(mdp.n_states) if s not in seen and not goal[s]}


def test_groups_and_witnesses_are_carried_as_asked():
    mdp = loan().with_labels({"talk": [s in ("Consultation", "Angry") for s in loan().states], "one": np.eye(10)[0]})
    strategy = Strategy.uniform(mdp)
    found = waypost.explain(mdp, target="Granted", scope=["all", "optimal", strategy], groups="labels", witnesses=4)
    assert list(found.groups) == ["talk"]  # a label of one state is that state
    for scope, given_scope in (("all", "all"), ("optimal", "optimal"), ("strategy", strategy)):
        groups = {"talk": ["Consultation", "Angry"]}
        right = waypost.group_importance(mdp, target="Granted", scope=given_scope, groups=groups)
        assert found.groups["talk"][scope] == right["talk"]
        top = [found.names[k] for k in found.ranking[:4]]
        assert list(found.witnesses[scope]) == top
        for name, pair in found.witnesses[scope].items():
            assert same(pair.upper.modes, found.scopes[scope].witness(name, "upper").modes)
    assert waypost.explain(mdp, target="Granted", groups={"both": ["Error", "Rework"]}).groups.keys() == {"both"}


def test_a_question_computes_reachability_once_for_all_scopes():
    question = Question.of(loan(), target="Granted", scope="all")
    optimal = question.within("optimal")
    under = optimal.within(Strategy.uniform(loan()))
    assert question.model is optimal.model is under.model
    assert question.states()["Rework"] == waypost.state_importance(loan(), target="Granted", scope="all")["Rework"]
    assert question.groups({"x": "Rework"})["x"] == question.states("Rework")["Rework"]
    assert optimal.path(PATH).lower == 0.95


def test_short_words_for_notebooks_and_prompts():
    """The meaning comes first, then the most important states."""
    found = waypost.explain(loan(), target="Granted")
    assert repr(found) == "Explanation('Granted', scopes=['all', 'optimal'], states=10)"
    result = waypost.state_importance(loan(), target="Granted", scope="all")
    assert max(len(repr(thing)) for thing in everything()) < 120
    for html in (found._repr_html_(), result._repr_html_()):
        order = [html.index(f"<td>{name}</td>") for name in ("Application+", "Application", "Rework", "Rejected")]
        assert order == sorted(order)
        assert html.startswith("<p>Reaching ")
        assert "share of the runs" in html[: html.index("<table>")]
    assert "<td>0 to 49/" not in result._repr_html_()
    absolute = waypost.absolute_importance(loan(), target="Granted", scope="optimal", exact=True)
    assert "best strategies" in absolute._repr_html_()
    assert "4/49" in waypost.state_importance(loan(), target="Granted", scope="all", exact=True)._repr_html_()


def test_answers_reach_their_reports():
    pytest.importorskip("matplotlib")
    found = waypost.explain(loan(), target="Granted", absolute=True)
    result = found.scopes["optimal"]
    assert found.summary().lead == waypost.report.summarise(found).lead
    assert "best strateg" in str(result.summary())
    assert found.to_html() == waypost.report.render_html(found)
    assert result.to_html().startswith("<!doctype html>")
    assert found.plot(top=3)._repr_png_().startswith(b"\x89PNG")
    assert result.plot("graph").axes
    assert found.to_frame().shape == (10, 6)
    path = waypost.path_importance(loan(), path=PATH, target="Granted", scope="all")
    assert path.summary() == waypost.report.path_summary(path)
    with pytest.raises(waypost.WaypostError, match="about importance"):
        found.absolute.summary()
