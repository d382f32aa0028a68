"""Slippery grids: runs wander for a long time, yet every number is a third; all of them are answered."""

from __future__ import annotations

from fractions import Fraction

import pytest

import waypost
from waypost.model import MDP

MOVES = [(0, -1), (1, 0), (0, 1), (-1, 0)]
THIRD = Fraction(1, 3)


def lake(size: int, seed: int) -> MDP:
    """A random map of FrozenLake, as Gymnasium makes it, in fractions."""
    frozen_lake = pytest.importorskip("gymnasium.envs.toy_text.frozen_lake")
    rows = frozen_lake.generate_random_map(size=size, p=0.8, seed=seed)
    steps: dict[str, dict[str, dict[str, Fraction]]] = {}
    for r in range(size):
        for c in range(size):
            steps[f"{r},{c}"] = {}
            if rows[r][c] in "HG":
                continue
            for action in range(4):
                ends: dict[str, Fraction] = {}
                for slip in (-1, 0, 1):
                    down, right = MOVES[(action + slip) % 4]
                    end = f"{min(max(r + down, 0), size - 1)},{min(max(c + right, 0), size - 1)}"
                    ends[end] = ends.get(end, Fraction(0)) + THIRD
                steps[f"{r},{c}"][str(action)] = ends
    return MDP.from_dict(steps, initial="0,0", labels={"goal": [f"{size - 1},{size - 1}"]})


@pytest.mark.parametrize("scope", ["all", "optimal"])
def test_a_small_grid_equals_fractions(scope):
    """Both bounds of every field that is asked about, all at once and one by one."""
    mdp = lake(7, 1)
    together = waypost.state_importance(mdp, target="goal", scope=scope)
    for name in mdp.states[2::9]:
        exact = waypost.state_importance(mdp, target="goal", scope=scope, states=name, exact=True)[name]
        alone = waypost.state_importance(mdp, target="goal", scope=scope, states=name)[name]
        for found in (together[name], alone):
            assert found.lower == pytest.approx(float(exact.lower), rel=1e-9, abs=0)
            assert found.upper == pytest.approx(float(exact.upper), rel=1e-9, abs=0)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "seed"), [(45, 1), (45, 2), (60, 3), (60, 4), (100, 1)])
@pytest.mark.parametrize("scope", ["all", "optimal"])
def test_a_large_grid_is_answered_and_its_bounds_are_attained(size, seed, scope):
    """The strategy that comes with a bound has that importance."""
    mdp = lake(size, seed)
    for name in ("3,4", f"{size // 2},{size // 3}", f"{size - 3},{size - 1}"):
        result = waypost.state_importance(mdp, target="goal", scope=scope, states=name)
        for side in ("lower", "upper"):
            witness = result.witness(name, side)
            attained = waypost.state_importance(mdp, target="goal", scope=witness, states=name)[name].lower
            assert attained == pytest.approx(getattr(result[name], side), rel=1e-9, abs=1e-300)
