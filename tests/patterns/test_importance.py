"""Importance of patterns equals brute force, states, paths and what its witnesses attain."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import pattern_oracles
import waypost
from pattern_oracles import patterns
from strategies import mdps, models_with_paths, path_names
from waypost.errors import NameUnknownError, PatternError, UndefinedImportanceError, WaypostError
from waypost.patterns import ANYTHING, step
from waypost.patterns.importance import pattern_importance
from waypost.patterns.letters import spelled


@st.composite
def asked(draw, with_actions=None):
    """A model that can reach its goal, and a pattern over its states and actions."""
    mdp = draw(mdps(max_states=4, max_choices=2, max_strategies=16))
    assume(waypost.reachability(mdp, target="goal", optimum="max")[mdp.initial] > 0)
    with_actions = draw(st.booleans()) if with_actions is None else with_actions
    actions = sorted(set(mdp.actions)) if with_actions else ()
    pattern = draw(patterns(["q0", "q1", "goal"][: 2 + draw(st.booleans())], actions))
    try:
        spelled(mdp, pattern, mdp.where("goal"), "state")
    except PatternError:
        assume(False)  # its automaton is refused
    return mdp, pattern


@pytest.mark.parametrize("scope", ["all", "optimal"])
@given(asked())
def test_the_importance_of_a_pattern_is_what_enumeration_finds(scope, drawn):
    """Both bounds over every strategy that remembers the automaton's state; 0 and 1 in floats where they are true."""
    mdp, pattern = drawn
    target = mdp.where("goal")
    automaton, letters = spelled(mdp, pattern, target, "state")
    options, goal, accepted = pattern_oracles.product_chains(mdp, target, automaton, letters)
    assume(pattern_oracles.n_strategies(options) <= 600)
    truth = pattern_oracles.importance(options, goal, accepted, scope)
    exact = pattern_importance(mdp, pattern=pattern, target="goal", scope=scope, exact=True)
    assert tuple(exact) == truth
    floats = pattern_importance(mdp, pattern=pattern, target="goal", scope=scope)
    for found, right in zip(floats, truth, strict=True):
        assert found == pytest.approx(float(right), abs=1e-12)
        assert (found in (0, 1)) == (right in (0, 1))
    if exact.matches == "always":
        assert truth == (1, 1)
    if exact.matches == "never":
        assert truth == (0, 0)


@pytest.mark.parametrize("scope", ["all", "optimal"])
@given(asked())
def test_the_witness_of_a_pattern_attains_its_bound(scope, drawn):
    """P1 of the witness is the bound, exactly; also where letters are actions."""
    mdp, pattern = drawn
    result = pattern_importance(mdp, pattern=pattern, target="goal", scope=scope, exact=True)
    for side in ("lower", "upper"):
        found = pattern_importance(mdp, pattern=pattern, target="goal", scope=result.witness(side), exact=True)
        assert found.lower == found.upper == getattr(result, side)


@given(asked(), st.fractions(0, 1, max_denominator=8))
def test_every_value_between_the_bounds_of_a_pattern_has_a_witness(drawn, share):
    """One toss at the start between the witnesses; the share of runs, the ways and the decisions agree on it."""
    mdp, pattern = drawn
    result = pattern_importance(mdp, pattern=pattern, target="goal", scope="all", exact=True)
    value = result.lower + share * (result.upper - result.lower)
    strategy = result.witness(value=value)
    found = pattern_importance(mdp, pattern=pattern, target="goal", scope=strategy, exact=True)
    assert found.lower == found.upper == value
    reached = float(waypost.Question.of(mdp, target="goal", scope=strategy).best)
    assert waypost.decisions(mdp, target="goal", strategy=strategy).reached == pytest.approx(reached, abs=1e-9)
    ways = waypost.usual_ways(mdp, target="goal", strategy=strategy, top=3)
    assert ways.reached == pytest.approx(reached, abs=1e-9)
    assert all(way.likely <= reached + 1e-9 for way in ways)


@given(mdps(), st.sampled_from(["all", "optimal"]))
def test_passing_a_state_is_a_pattern(mdp, scope):
    assume(waypost.reachability(mdp, target="goal", optimum="max")[mdp.initial] > 0)
    states = waypost.state_importance(mdp, target="goal", scope=scope, exact=True)
    for name in mdp.states:
        found = pattern_importance(mdp, pattern=f"... {name} ...", target="goal", scope=scope, exact=True)
        assert (found.lower, found.upper) == (states[name].lower, states[name].upper)


@pytest.mark.parametrize("scope", ["all", "optimal"])
@pytest.mark.parametrize("model", ["greps", "bpic12", "bpic17"])
def test_passing_a_state_is_a_pattern_in_the_papers_models(shared_data, model, scope):
    """Every state, both bounds, to 1e-12."""
    pytest.importorskip("stormpy")
    mdp = waypost.read_mdp(shared_data / f"models/paper/{model}.prism")
    states = waypost.state_importance(mdp, target="positive", scope=scope)
    for name in mdp.states:
        found = pattern_importance(mdp, pattern=ANYTHING + step(name) + ANYTHING, target="positive", scope=scope)
        assert tuple(found) == pytest.approx((states[name].lower, states[name].upper), abs=1e-12)


@pytest.mark.parametrize("scope", ["all", "optimal"])
@given(models_with_paths())
def test_a_committed_segment_from_the_start_is_a_path(scope, drawn):
    """The paper's P4: the same bounds, and witnesses that attain them and follow the path."""
    mdp, states, choices = drawn
    names = path_names(*drawn)
    pattern = step(names[-1]) + ANYTHING
    for s, c in reversed(list(zip(states, choices, strict=False))):
        pattern = step(mdp.states[s], mdp.actions[c]) + pattern
    try:
        path = waypost.path_importance(mdp, path=names, target="goal", scope=scope, exact=True)
    except UndefinedImportanceError:
        with pytest.raises(UndefinedImportanceError):
            pattern_importance(mdp, pattern=pattern, target="goal", scope=scope, committed=True, exact=True)
        return
    found = pattern_importance(mdp, pattern=pattern, target="goal", scope=scope, committed=True, exact=True)
    assert tuple(found) == (path.lower, path.upper)
    for side in ("lower", "upper"):
        followed = waypost.path_importance(mdp, path=names, target="goal", scope=found.witness(side), exact=True)
        assert followed.lower == getattr(path, side)


@given(asked())
def test_under_one_strategy_both_bounds_are_the_share_of_its_runs(drawn):
    """With memory, too: the oracle's product with the automaton, for a strategy that alternates between two."""
    mdp, pattern = drawn
    strategy = waypost.Strategy.uniform(mdp)
    assume(waypost.absolute_importance(mdp, target="goal", scope=strategy, states="q0")["q0"].upper > 0)
    found = pattern_importance(mdp, pattern=pattern, target="goal", scope=strategy, exact=True)
    inverse = pattern_importance(mdp, pattern=~pattern, target="goal", scope=strategy, exact=True)
    assert found.lower == found.upper
    assert found.lower + inverse.lower == 1


@given(asked(with_actions=True))
def test_a_pattern_and_every_run_but_its_own_share_all_runs(drawn):
    """The bounds of the complement are the complement of the bounds, other way round."""
    mdp, pattern = drawn
    found = pattern_importance(mdp, pattern=pattern, target="goal", scope="all", exact=True)
    inverse = pattern_importance(mdp, pattern=~pattern, target="goal", scope="all", exact=True)
    assert tuple(inverse) == (1 - found.upper, 1 - found.lower)


def test_what_a_pattern_cannot_mean_is_said(loan_model):
    ask = {"target": "Granted", "scope": "all"}
    with pytest.raises(NameUnknownError, match="did you mean 'Application'"):
        pattern_importance(loan_model, pattern="... Aplication ...", **ask)
    with pytest.raises(NameUnknownError, match="no action 'Aply'"):
        pattern_importance(loan_model, pattern="... /Aply ...", **ask)
    with pytest.raises(PatternError, match="is taken in no state 'Rejected'"):
        pattern_importance(loan_model, pattern="... Rejected/Apply ...", **ask)
    with pytest.raises(PatternError, match="several actions in state 's0'"):
        pattern_importance(loan_model, pattern="s0/Apply ... | s0/Consult ...", committed=True, **ask)
    with pytest.raises(WaypostError, match="by is 'state' or 'activity'"):
        pattern_importance(loan_model, pattern="...", by="event", **ask)
    with pytest.raises(UndefinedImportanceError, match="no strategy that follows"):
        pattern_importance(loan_model, pattern="s0/Consult Consultation/Angry ...", committed=True, **ask)


def test_never_and_always_are_said_to_be_so(loan_model):
    ask = {"target": "Granted", "scope": "all"}
    assert pattern_importance(loan_model, pattern="... Rejected ...", **ask).matches == "never"
    assert pattern_importance(loan_model, pattern="... Angry ... Error ...", **ask).matches == "never"
    assert pattern_importance(loan_model, pattern="s0 ... Granted", **ask).matches == "always"
    assert pattern_importance(loan_model, pattern="... Error ...", **ask).matches == "sometimes"


def test_an_action_is_meant_where_nothing_else_has_the_name(loan_model):
    ask = {"target": "Granted", "scope": "all"}
    assert tuple(pattern_importance(loan_model, pattern="Consult ...", **ask)) == (0, 1)
    named = pattern_importance(loan_model, pattern="s0/Consult ...", **ask)
    assert tuple(pattern_importance(loan_model, pattern="/Consult ...", **ask)) == tuple(named)


def test_by_activity_who_moves_next_is_no_step():
    log = [["ask", "pay"]] * 30 + [["ask", "call", "pay"]] * 10
    mdp = waypost.learn_mdp(
        [["start", *(step for e in case for step in (("env", f"p after {e}"), (e, e)))] for case in log]
    )
    observed = waypost.observed_strategy(mdp)
    ask = {"target": "pay", "scope": observed, "exact": True}
    assert pattern_importance(mdp, pattern="... ask pay ...", by="state", **ask).upper == 0
    assert pattern_importance(mdp, pattern="start ask pay", by="activity", **ask).upper == pytest.approx(0.75)
    assert np.isclose(float(pattern_importance(mdp, pattern="... call pay", by="activity", **ask).upper), 0.25)


@pytest.fixture
def loan_model():
    return waypost.case("loan")


def test_results_pickle_and_still_find_their_witnesses():
    mdp = waypost.case("loan")
    found = pickle.loads(pickle.dumps(pattern_importance(mdp, pattern="... Error ...", target="Granted", scope="all")))  # noqa: S301
    again = pattern_importance(found.mdp, pattern="... Error ...", target="Granted", scope=found.witness("upper"))
    assert again.upper == pytest.approx(found.upper, abs=1e-12)
    choices = pickle.loads(pickle.dumps(waypost.choice_importance(mdp, target="Granted", scope="all")))  # noqa: S301
    assert choices.witness(("s0", "Apply"), "upper").memory == 2
