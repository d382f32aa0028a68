"""The most important states are those of a full run, in its order; the bounds that prove it are above every value."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import waypost
from strategies import mdps, question
from waypost.cli import cli
from waypost.cli import explain as cli_explain
from waypost.errors import ArgumentError
from waypost.formats import write_mdp
from waypost.importance import Question, sweeps, top
from waypost.importance.sweeps import bounds_of_states
from waypost.model import MDP, Strategy
from waypost.paper.bench.lakes import lake
from waypost.paper.bench.synthetic import synthetic
from waypost.solve import elimination, flow
from waypost.solve.flow import MARGIN
from waypost.solve.wandering import least_met

SCOPES = ["all", "optimal", ["all", "optimal"]]


@pytest.fixture(autouse=True)
def one_by_one(monkeypatch):
    """Small models are asked in small chunks, so that something is left to bounds."""
    monkeypatch.setattr(top, "AT_ONCE", 1)


def never_below(asked: Question) -> None:
    exact = asked.states()
    assert (top.caps(asked) >= exact.lower + exact.upper - 1e-12).all()


@pytest.mark.parametrize("scope", ["all", "optimal"])
@settings(max_examples=300)
@given(mdps(max_states=9, max_strategies=10**6))
def test_no_state_is_above_its_bound(scope, mdp):
    never_below(question(mdp, scope))


@settings(max_examples=50)
@given(mdps(max_states=6))
def test_no_state_is_above_its_bound_under_a_strategy_with_memory(mdp):
    base = question(mdp, "all")
    never_below(base.within(base.states().witness(mdp.states[-1], "upper")))
    never_below(question(mdp, Strategy.uniform(mdp)))


@pytest.mark.parametrize("shape", ["few", "many"])
@pytest.mark.parametrize("seed", range(20))
def test_no_state_of_a_larger_model_is_above_its_bound(shape, seed):
    for scope in ("all", "optimal"):
        never_below(Question.of(synthetic(60, shape, seed), target="goal", scope=scope))


def test_components_too_large_to_eliminate_have_looser_bounds(monkeypatch):
    monkeypatch.setattr(flow, "MOST_STEPS", -1)
    for seed in range(10):
        never_below(Question.of(synthetic(60, "many", seed), target="goal", scope="optimal"))


@pytest.mark.parametrize("n", [30, 300])
def test_in_a_chain_the_bound_is_the_importance(n):
    mdp = synthetic(n, "few", 3)
    asked = Question.of(mdp, target="goal", scope=Strategy.uniform(mdp))
    found = asked.flow.bound
    np.testing.assert_allclose(found[:n], asked.states().upper, rtol=5 * MARGIN)


@pytest.mark.parametrize("scope", SCOPES, ids=str)
@settings(max_examples=150)
@given(mdp=mdps(max_states=9, max_strategies=10**6), wanted=st.integers(1, 5))
def test_the_first_of_a_full_run(scope, mdp, wanted):
    question(mdp, "all")
    same_as_full(mdp, "goal", scope, wanted)


@pytest.mark.parametrize("wanted", [1, 7, 30])
@pytest.mark.parametrize("scope", SCOPES, ids=str)
@pytest.mark.parametrize("shape", ["few", "many"])
def test_the_first_of_a_full_run_of_a_larger_model(shape, scope, wanted):
    left = same_as_full(synthetic(150, shape, wanted), "goal", scope, wanted)
    assert left > 0 or "all" in scope


@settings(max_examples=100)
@given(mdps(max_states=9, max_strategies=10**6))
def test_where_no_choice_lies_before_a_state_one_pass_tells_its_importance(mdp):
    asked = question(mdp, "optimal")
    exact = asked.states()
    told, attained = asked.flow.exact, asked.flow.attained
    np.testing.assert_allclose(asked.flow.most[attained], exact.upper[attained], rtol=1e-12)
    np.testing.assert_allclose(asked.flow.most[told], exact.lower[told], rtol=1e-12)
    with pytest.MonkeyPatch.context() as large:
        large.setattr(sweeps, "LARGE", 0)
        large.setattr(elimination, "MOST_KEPT", -1)
        again = bounds_of_states(question(mdp, "optimal"), np.arange(mdp.n_states), workers=2)
    np.testing.assert_allclose(again, [exact.lower, exact.upper], rtol=1e-12)


def least_by_flow(asked: Question) -> np.ndarray:
    states = np.arange(asked.mdp.n_states)
    return least_met(asked.reach, asked.start, asked.flow, states, enabled=asked.enabled)


@settings(max_examples=300)
@given(mdps(max_states=9, max_strategies=10**6))
def test_how_rarely_a_state_of_an_end_component_is_met_is_told_there(mdp):
    asked = question(mdp, "optimal")
    found = least_by_flow(asked)
    told = ~np.isnan(found)
    np.testing.assert_allclose(found[told], asked.states().lower[told], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_end_components_of_a_larger_model_are_small_questions(seed):
    asked = Question.of(synthetic(400, "many", seed), target="goal", scope="optimal")
    found, exact = least_by_flow(asked), asked.states()
    told = ~np.isnan(found)
    assert (told == (asked.flow.attained & ~asked.flow.exact)).all()
    np.testing.assert_allclose(found[told], exact.lower[told], rtol=1e-10)


@pytest.mark.parametrize("shape", ["few", "many"])
def test_one_pass_tells_most_states_of_a_larger_model(shape):
    asked = Question.of(synthetic(400, shape), target="goal", scope="optimal")
    told, exact = asked.flow.exact, asked.states()
    assert told.mean() > 0.5
    np.testing.assert_allclose(asked.flow.most[told], exact.upper[told], rtol=1e-11)


def test_equal_states_come_in_the_order_of_the_model():
    mdp = lake(12, slippery=False)
    assert same_as_full(mdp, "goal", "optimal", 10) > 0
    assert waypost.explain(mdp, target="goal", scope="optimal", top=10).top.tied


def same_as_full(mdp: MDP, target: str, scope, wanted: int) -> int:
    """Compare with the full run; return how many states were left out."""
    full = waypost.explain(mdp, target=target, scope=scope)
    found = waypost.explain(mdp, target=target, scope=scope, top=wanted)
    first = [full.names[k] for k in full.ranking[:wanted]]
    assert [found.names[k] for k in found.ranking] == first
    for name in first:
        assert list(found[name]) == list(full[name])
        np.testing.assert_allclose(list(found[name].values()), list(full[name].values()), rtol=1e-12)
    assert found.top.among == mdp.n_states
    return found.top.left


def test_rationals_and_few_states_are_told_apart_too():
    mdp = synthetic(30, "many")
    full = waypost.explain(mdp, target="goal", scope="optimal", states=mdp.states[:8], exact=True)
    found = waypost.explain(mdp, target="goal", scope="optimal", states=mdp.states[:8], exact=True, top=3)
    assert [found.names[k] for k in found.ranking] == [full.names[k] for k in full.ranking[:3]]
    assert found["s1"] == full["s1"]


@pytest.mark.parametrize("wrong", [0, True, 1.5, "3"])
def test_a_number_of_states_is_a_number(wrong):
    with pytest.raises(ArgumentError, match="top is a whole number"):
        waypost.explain(synthetic(10, "few"), target="goal", top=wrong)


def test_the_command_stops_where_there_are_many_states(tmp_path, monkeypatch):
    monkeypatch.setattr(cli_explain, "MANY", 100)
    write_mdp(synthetic(300, "few"), tmp_path / "model.drn")
    run = ["explain", str(tmp_path / "model.drn"), "-t", "goal", "--scope", "optimal", "--top", "5", "-q"]
    said = CliRunner().invoke(cli, run).output
    assert "proved to be the most important of 300 states" in said.replace("\n", " ")
    document = json.loads(CliRunner().invoke(cli, [*run, "--json", "-"]).output)
    assert len(document["states"]) == 5
    assert document["top"]["among"] == 300
    assert "proved to be" in CliRunner().invoke(cli, [*run, "--format", "text"]).output
