"""Slippery lakes, on which runs take very long: every state is answered, and a sample equals fractions."""

from __future__ import annotations

import numpy as np
import pytest

import waypost
from waypost.paper.bench.lakes import lake

pytest.importorskip("flint")


@pytest.mark.slow
@pytest.mark.parametrize("size", [45, 60, 100])
def test_every_field_of_a_slippery_lake_is_answered_and_a_sample_equals_fractions(size):
    mdp = lake(size, slippery=True)
    checked = 0
    for scope in ("all", "optimal"):
        found = waypost.state_importance(mdp, target="goal", scope=scope)
        assert not found.refused
        between = [name for name, bounds in found.items() if any(0 < bound < 1 for bound in bounds)]
        some = np.random.default_rng(size).permutation(between)[:4].tolist()
        for name in some:
            truth = waypost.state_importance(mdp, target="goal", scope=scope, states=name, exact=True)[name]
            np.testing.assert_allclose(list(found[name]), [float(bound) for bound in truth], rtol=1e-9)
            checked += 1
    assert checked >= 4
