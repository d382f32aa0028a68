"""Visits of chains that are hardly ever left, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from waypost import MDP, Strategy, decisions
from waypost.solve.visits import Visits

CHANCE = st.sampled_from([Fraction(1, 10**k) for k in (0, 3, 9, 14)] + [Fraction(3, 7), Fraction(0), Fraction(0)])


@st.composite
def chains(draw):
    """Rows of a chain of up to six states, left from everywhere, some of them once in 10^14 steps."""
    n = draw(st.integers(1, 6))
    rows = []
    for i in range(n):
        weights = [draw(CHANCE) for _ in range(n)]
        weights.append(draw(st.sampled_from([Fraction(1, 10**12), Fraction(1, 5)])) if i == 0 else draw(CHANCE))
        if not any(weights[j] for j in (*range(i), n)):
            weights[n] = Fraction(1, 10**6)  # towards the first state, or out
        total = sum(weights)
        rows.append([w / total for w in weights])
    return rows


def inverse(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    """Gauss and Jordan, with fractions."""
    n = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(matrix)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[n:] for row in rows]


@given(chains())
def test_visits_keep_their_digits_however_rarely_a_chain_is_left(rows):
    """``N c`` and ``s N`` to 1e-13 of each entry."""
    n = len(rows)
    steps = csr_array(np.array([[float(p) for p in row[:n]] for row in rows]))
    found = Visits.of(steps, np.array([float(row[n]) for row in rows]))
    truth = inverse([[Fraction(int(i == j)) - p for j, p in enumerate(row[:n])] for i, row in enumerate(rows)])
    exact = np.array([[float(x) for x in row] for row in truth])
    assert found.after(np.eye(n)) == pytest.approx(exact, rel=1e-13)
    for i in range(n):
        assert found.before(np.eye(n)[i]) == pytest.approx(exact[i], rel=1e-13)


@pytest.mark.parametrize("heads", [10, 55, 300])
def test_decisions_of_a_long_game_keep_their_digits(heads):
    """Three heads in ten, so many in a row: quitting half of the time before the first one, one wins nearly never."""
    game = {f"h{k}": {"toss": {f"h{k + 1}": "3/10", "h0": "7/10"}} for k in range(heads)}
    game["h0"]["quit"] = {"lost": 1}
    mdp = MDP.from_dict(game | {f"h{heads}": {}, "lost": {}}, initial="h0", labels={"won": [f"h{heads}"]})
    found = decisions(mdp, target="won", strategy=Strategy.uniform(mdp))
    row = Fraction(3, 10) ** heads / 2
    assert found.reached == pytest.approx(float(row / (row + Fraction(1, 2))), rel=1e-12)
    assert found["h0"].met == 1
