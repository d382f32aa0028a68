"""Every value between the bounds has a strategy: one toss at the start between the witnesses."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import waypost
from strategies import mdps
from waypost.cases import loan
from waypost.errors import ArgumentError, StrategyError
from waypost.model import Strategy

shares = st.fractions(0, 1, max_denominator=7)


@st.composite
def defined(draw):
    mdp = draw(mdps(max_states=6))
    assume(waypost.reachability(mdp, target="goal", optimum="max")[mdp.initial] > 0)
    return mdp


@pytest.mark.parametrize("scope", ["all", "optimal"])
@settings(max_examples=40)
@given(defined(), shares)
def test_every_value_between_the_bounds_has_a_strategy_in_scope(scope, mdp, share):
    """P1 of the mixture is the value: exactly in rationals, to 1e-9 in floats; it is as good as the scope asks."""
    best = waypost.reachability(mdp, target="goal", optimum="max", exact=True)[mdp.initial]
    for exact in (True, False):
        result = waypost.state_importance(mdp, target="goal", scope=scope, exact=exact)
        for name, (low, high) in result.items():
            value = low + (high - low) * (share if exact else float(share))
            strategy = result.witness(name, value=min(value, high))
            under = waypost.Question.of(mdp, target="goal", scope=strategy, exact=exact)
            attained, again = under.states(name)[name]
            assert attained == again
            assert attained == value if exact else attained == pytest.approx(value, abs=1e-9)
            if exact and scope == "optimal":
                assert under.states(mdp.states[mdp.initial], absolute=True)[mdp.states[mdp.initial]].upper == best


@settings(max_examples=40)
@given(defined(), shares)
def test_so_has_every_absolute_value(mdp, share):
    result = waypost.absolute_importance(mdp, target="goal", exact=True)
    for name, (low, high) in result.items():
        value = low + (high - low) * share
        strategy = result.witness(name, value=value)
        if value > 0:  # a strategy that never reaches the target has no scores
            attained = waypost.absolute_importance(mdp, target="goal", scope=strategy, states=name, exact=True)[name]
            assert attained == (value, value)


@given(shares)
def test_so_has_every_value_of_a_path(share):
    path = ["s0", "Apply", "Application"]
    for exact in (True, False):
        asked = {"path": path, "target": "Granted", "exact": exact}
        found = waypost.path_importance(loan(), scope="all", **asked)
        low, high = found.bounds
        value = min(low + (high - low) * (share if exact else float(share)), high)
        attained = waypost.path_importance(loan(), scope=found.witness(value=value), **asked)
        assert attained.lower == attained.upper
        assert attained.lower == value if exact else attained.lower == pytest.approx(value, abs=1e-9)


def test_a_strategy_that_tosses_is_written_and_read():
    """Write then read is the identity, for exact and for rounded probabilities."""
    mdp = loan()
    careful = Strategy.from_dict(mdp, {"s0": "Consult", "Consultation": "Apply", "Rework": "Submit"})
    for probability in (Fraction(1, 3), 0.1):
        mixed = Strategy.mixed(careful, Strategy.uniform(mdp), probability)
        again = Strategy.from_dict(mdp, mixed.to_dict())
        assert (again.toss, again.start, again.memory) == (mixed.toss, mixed.start, mixed.memory)
        assert again.to_dict() == mixed.to_dict()
        assert not mixed.deterministic
        assert mixed.reached()[0].sum() < mixed.reached()[1].sum()
    rounded = waypost.state_importance(mdp, target="Granted", scope=mixed, exact=True)["Consultation"].lower
    exact = Strategy.mixed(careful, Strategy.uniform(mdp), Fraction(1, 10))
    assert rounded == waypost.state_importance(mdp, target="Granted", scope=exact, exact=True)["Consultation"].lower


@pytest.mark.parametrize("toss", [5, [0], [9, "1/2"], [0, "2"], [0, "x"], [0, "1/0"], ["0", "1/2"], [0, 0.5]])
def test_a_toss_that_is_none_is_refused(toss):
    mdp = loan()
    mixed = Strategy.mixed(Strategy.uniform(mdp), Strategy.uniform(mdp), 0.5)
    with pytest.raises(StrategyError, match="toss"):
        Strategy.from_dict(mdp, mixed.to_dict() | {"toss": toss})
    for again in (lambda: Strategy.mixed(mixed, mixed, 0.5), lambda: Strategy.mixed(*[Strategy.uniform(mdp)] * 2, 1)):
        with pytest.raises(StrategyError, match="toss"):
            again()


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), "0.5", True, [0.5]])
def test_a_value_that_is_not_between_the_bounds_is_refused(value):
    result = waypost.state_importance(loan(), target="Granted", scope="all")
    with pytest.raises(ArgumentError, match="between the bounds"):
        result.witness("Error", value=value)
