"""Chains that are cut out in an order of their own."""

from __future__ import annotations

import numpy as np
import pytest

from waypost.solve.gth import Chain, blank, eliminate, substitute
from waypost.solve.markowitz import arrange_chain

NO_LIMIT = 2**62


def random_chain(seed: int, n: int) -> np.ndarray:
    """(n, n) steps between states, most of them to one state only; any state may be left."""
    rng = np.random.default_rng(seed)
    steps = np.zeros((n, n))
    for x in range(n):
        goals = rng.choice(n, size=rng.choice([1, 1, 1, 2, 4]), replace=False)
        steps[x, goals] = rng.dirichlet(np.ones(len(goals))) * rng.choice([0.5, 0.999])
    return steps


@pytest.mark.parametrize("twin", ["plain", "compiled"])
@pytest.mark.parametrize("seed", range(12))
def test_what_a_chain_earns_is_what_the_dense_system_says(seed, twin):
    """``x = Q x + c``, whatever the order; it holds every state once and what leads on to what."""
    steps = random_chain(seed, 5 + 3 * seed)
    n = len(steps)
    leaving = 1 - steps.sum(axis=1)
    source, goal = np.nonzero(steps * (1 - np.eye(n)))
    arranged, pattern = getattr(arrange_chain, twin)(n, source, goal, NO_LIMIT)
    assert arranged
    assert sorted(pattern.order) == list(range(n))
    order = pattern.order
    inner = steps[np.ix_(order, order)]
    rows, columns = np.nonzero(inner)
    pointer = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    factors = blank(pattern, steps)
    assert eliminate(0, n, pattern, Chain(pointer, columns, inner[rows, columns]), leaving[order].copy(), factors)
    paid = np.random.default_rng(seed).random((n, 2))
    found = paid[order].copy()
    substitute(0, n, pattern, factors, found)
    right = np.linalg.solve(np.eye(n) - steps, paid)
    np.testing.assert_allclose(found, right[order], rtol=1e-9)


def test_a_state_that_leads_to_one_other_costs_nothing_however_many_lead_to_it():
    """A hundred states lead to one and on to another: an arrow each. A symmetric pattern would make thousands."""
    n = 102
    source = np.concatenate([np.arange(100), [100], np.full(100, 101)])
    goal = np.concatenate([np.full(100, 100), [101], np.arange(100)])
    arranged, pattern = arrange_chain(n, source, goal, NO_LIMIT)
    assert arranged
    assert len(pattern.later) + len(pattern.earlier) <= 3 * n


def test_a_chain_that_fills_in_is_given_up():
    """Where everything leads to everything the steps are cubic, and the limit is met."""
    source, goal = np.nonzero(1 - np.eye(60))
    assert not arrange_chain(60, source, goal, 1_000)[0]
    assert arrange_chain(60, source, goal, NO_LIMIT)[0]
