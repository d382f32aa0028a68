"""Floats equal rationals on medium models with rare events, slow loops and end components: every state, both scopes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import waypost
from waypost.model import MDP


def stiff(rng: np.random.Generator) -> MDP:
    """Up to 40 states; some distributions are a million to one."""
    n = int(rng.integers(8, 40))
    names = [f"q{i}" for i in range(n)]
    choices: dict[str, dict[str, dict[str, Fraction]]] = {name: {} for name in names}
    for i, name in enumerate(names):
        for a in range(int(rng.choice([0, 1, 1, 1, 2, 3]))):
            size = int(rng.integers(1, 4))
            far = rng.random() < 0.5
            support = rng.choice(n, size, replace=False) if far else np.clip(i + rng.integers(-3, 4, size), 0, n - 1)
            support = list(dict.fromkeys(support.tolist()))
            weights = rng.integers(1, 5, len(support)).tolist()
            if rng.random() < 0.1:
                weights[0] = 10**6
            choices[name][f"a{a}"] = {
                names[y]: Fraction(w, sum(weights)) for y, w in zip(support, weights, strict=True)
            }
    return MDP.from_dict(choices, initial="q0", labels={"goal": [names[-1], names[n // 2]]})


@pytest.mark.parametrize("seed", range(8))
def test_floats_equal_rationals(seed):
    rng = np.random.default_rng(seed)
    compared = 0
    for _ in range(12):
        mdp = stiff(rng)
        for scope in ("all", "optimal"):
            try:
                exact = waypost.state_importance(mdp, target="goal", scope=scope, exact=True)
            except waypost.WaypostError:
                continue
            floats = waypost.state_importance(mdp, target="goal", scope=scope)
            for right, found in ((exact.lower, floats.lower), (exact.upper, floats.upper)):
                np.testing.assert_allclose(found, right.astype(float), rtol=0, atol=1e-11)
                assert ((found == 0) == (right == 0)).all()
                assert ((found == 1) == (right == 1)).all()
                compared += len(found)
    assert compared > 100


def test_a_share_near_one_is_improved_to_the_end():
    """With a share of 1 - 3e-7 a difference from 1 has lost half its digits; the optimum must not stop there."""
    mdp = MDP.from_dict(
        {
            "q0": {"a0": "q5"},
            "q1": {"a0": {"q0": "1/5", "t": "4/5"}},
            "q3": {"a0": {"q7": "3/7", "q1": "4/7"}, "a1": {"t": "4/9", "q5": "1/9", "dead": "4/9"}},
            "q5": {"a0": {"q3": "1/3", "q7": "1/3", "t": "1/3"}, "a1": "q5"},
            "q7": {"a0": {"q0": "250000/250001", "q3": "1/1000004", "q5": "3/1000004"}},
            "t": {},
            "dead": {},
        },
        initial="q0",
    )
    found = waypost.state_importance(mdp, target="t", scope="all")["q7"]
    assert found.lower == pytest.approx(float(Fraction(1, 3250014)), rel=1e-9)
