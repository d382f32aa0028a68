"""Rare targets and slow loops: floats keep their digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import waypost
from waypost.model import MDP


def drift(n: int) -> MDP:
    """Against the wind to s<n>; one state may jump ahead or fall back."""
    steps = {f"s{i}": {"a": {f"s{i + 1}": "1/10", f"s{i - 1}": "9/10"}} for i in range(1, n)}
    steps["s5"]["b"] = {"s4": "1/2", "s7": "1/2"}
    first = {"start": {"go": "s3"}, "s0": {"a": {"s1": "1/10", "sink": "9/10"}}}
    return MDP.from_dict({**first, **steps, f"s{n}": {}, "sink": {}}, initial="start")


@pytest.mark.parametrize("n", [10, 16, 20, 30])
@pytest.mark.parametrize("scope", ["all", "optimal"])
def test_a_rare_target_loses_no_digits(n, scope):
    """p* goes down to 1e-24; importance is a ratio and does not care, all states at once or one by one."""
    mdp = drift(n)
    exact = waypost.state_importance(mdp, target=f"s{n}", scope=scope, exact=True)
    together = waypost.state_importance(mdp, target=f"s{n}", scope=scope)
    for name in mdp.states:
        alone = waypost.state_importance(mdp, target=f"s{n}", scope=scope, states=name)[name]
        for found in (together[name], alone):
            assert found.lower == pytest.approx(float(exact[name].lower), abs=1e-12)
            assert found.upper == pytest.approx(float(exact[name].upper), abs=1e-12)


@pytest.mark.parametrize("digits", [3, 6, 9, 12])
def test_a_slow_loop_loses_no_digits(digits):
    eps = Fraction(1, 10**digits)
    mdp = MDP.from_dict(
        {
            "s0": {"a": {"s0": 1 - eps, "s1": eps / 2, "f": eps / 2}, "b": {"s1": "1/3", "s0": "2/3"}},
            "s1": {"a": {"s0": "1/2", "t": "1/2"}, "b": {"s1": 1 - eps, "t": eps}},
            "f": {},
            "t": {},
        },
        initial="s0",
    )
    for optimum in ("min", "max"):
        exact = waypost.reachability(mdp, target="t", optimum=optimum, exact=True).astype(float)
        np.testing.assert_allclose(waypost.reachability(mdp, target="t", optimum=optimum), exact, rtol=0, atol=1e-12)
