"""Engine equals brute force over one-bit strategies, in fractions and in floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given

import oracles
import waypost
from strategies import mdps, models_with_paths, path_names
from waypost.importance import Question, facts


def defined(mdp) -> np.ndarray:
    """Target mask of a model in which importance is defined."""
    target = mdp.where("goal")
    assume(
        max(
            oracles.expected(chain, {int(t): Fraction(1) for t in np.flatnonzero(target)})[0]
            for chain in oracles.strategies(mdp)
        )
        > 0
    )
    return target


@given(mdps())
def test_reachability_is_what_enumeration_finds(mdp):
    goal = {int(t): Fraction(1) for t in np.flatnonzero(mdp.where("goal"))}
    found = [oracles.expected(chain, goal) for chain in oracles.strategies(mdp)]
    for optimum, pick in (("max", max), ("min", min)):
        truth = [pick(values) for values in zip(*found, strict=True)]
        assert list(waypost.reachability(mdp, target="goal", optimum=optimum, exact=True)) == truth
        floats = waypost.reachability(mdp, target="goal", optimum=optimum)
        np.testing.assert_allclose(floats, np.array(truth, float), atol=1e-12)
        assert [v in (0, 1) for v in floats] == [v in (0, 1) for v in truth]


@pytest.mark.parametrize("scope", ["all", "optimal"])
@given(mdps())
def test_state_importance_is_what_enumeration_finds(scope, mdp):
    """Every state, both bounds; and 0 and 1 appear in floats exactly where they are true."""
    target = defined(mdp)
    truth = {name: oracles.importance(mdp, target, s, scope) for s, name in enumerate(mdp.states)}
    exact = waypost.state_importance(mdp, target="goal", scope=scope, exact=True)
    assert {name: (b.lower, b.upper) for name, b in exact.to_dict().items()} == truth
    floats = waypost.state_importance(mdp, target="goal", scope=scope)
    for name, bounds in floats.to_dict().items():
        for found, right in zip((bounds.lower, bounds.upper), truth[name], strict=True):
            assert found == pytest.approx(float(right), abs=1e-12)
            assert (found in (0, 1)) == (right in (0, 1))


@given(mdps())
def test_absolute_importance_is_what_enumeration_finds(mdp):
    target = defined(mdp)
    exact = waypost.absolute_importance(mdp, target="goal", exact=True)
    for s, name in enumerate(mdp.states):
        assert (exact[name].lower, exact[name].upper) == oracles.absolute(mdp, target, s)


@pytest.mark.parametrize("scope", ["all", "optimal"])
@given(mdps(max_states=6))
def test_a_witness_attains_its_bound(scope, mdp):
    """P1 of the witness strategy is the bound, exactly, and the strategy is in scope."""
    defined(mdp)
    result = waypost.state_importance(mdp, target="goal", scope=scope, exact=True)
    best = waypost.reachability(mdp, target="goal", optimum="max", exact=True)[mdp.initial]
    for name in mdp.states:
        for side in ("lower", "upper"):
            witness = result.witness(name, side)
            attained = waypost.state_importance(mdp, target="goal", scope=witness, states=name, exact=True)
            assert attained[name].lower == attained[name].upper == getattr(result[name], side)
            if scope == "optimal":
                assert reached_under(mdp, witness) == best


def reached_under(mdp, strategy) -> Fraction:
    return waypost.absolute_importance(mdp, target="goal", scope=strategy, states=mdp.states[mdp.initial], exact=True)[
        mdp.states[mdp.initial]
    ].upper


@given(models_with_paths())
def test_path_importance_is_what_enumeration_finds(drawn):
    """Both bounds over the strategies that follow the path; and their witnesses attain them (P3)."""
    mdp, path, choices = drawn
    target = mdp.where("goal")
    kept = np.ones(mdp.n_choices, bool)
    kept[np.isin(mdp.choice_state, path[:-1])] = False
    kept[choices] = True
    assume(waypost.reachability(mdp.restricted(kept), target="goal", optimum="max")[mdp.initial] > 0)
    names = path_names(mdp, path, choices)
    truth = oracles.path_importance(mdp, target, path, choices)
    exact = waypost.path_importance(mdp, path=names, target="goal", scope="all", exact=True)
    assert (exact.lower, exact.upper) == truth
    floats = waypost.path_importance(mdp, path=names, target="goal", scope="all")
    assert (floats.lower, floats.upper) == pytest.approx([float(x) for x in truth], abs=1e-12)
    for side, right in zip(("lower", "upper"), truth, strict=True):
        followed = waypost.path_importance(mdp, path=names, target="goal", scope=exact.witness(side), exact=True)
        assert followed.lower == right


@given(mdps())
def test_facts_agree_with_exact_numbers(mdp):
    """What the graph says about 0 and 1 is what rationals say."""
    defined(mdp)
    for scope in ("all", "optimal"):
        question = Question.of(mdp, target="goal", scope=scope)
        exact = waypost.state_importance(mdp, target="goal", scope=scope, exact=True)
        for s, name in enumerate(mdp.states):
            only = np.arange(mdp.n_states) == s
            assert facts.can_be_one(question, only) == (exact[name].upper == 1)
            assert facts.can_be_zero(question, only) == (exact[name].lower == 0)
            assert facts.must_pass(question, only) == (exact[name].lower == 1)
            assert (not question.ever[s] and s != mdp.initial) == (exact[name].upper == 0)
