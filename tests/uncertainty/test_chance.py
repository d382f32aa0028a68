"""What chance would do is what counting all ways to deal the cases says."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from waypost.uncertainty.chance import Fourfold, beyond, by_chance, errors_at, limit, standard_errors

SMALL = st.integers(0, 7)


def table(*counts: int) -> Fourfold:
    return Fourfold(*(np.array(float(n)) for n in counts))


def dealt(a: int, b: int, c: int, d: int) -> Fraction:
    """Twice the smaller tail, by all ways to deal the good cases among those with it and those without."""
    good, with_it, cases = a + c, a + b, a + b + c + d

    def ways(x: int) -> int:
        return comb(good, x) * comb(cases - good, with_it - x) if 0 <= x <= with_it else 0

    tails = sum(map(ways, range(a, good + 1))), sum(map(ways, range(a + 1)))
    return min(Fraction(1), Fraction(2 * min(tails), comb(cases, with_it)))


@given(SMALL, SMALL, SMALL, SMALL)
def test_fishers_test_counts_all_ways_to_deal_the_cases(a, b, c, d):
    assert by_chance(table(a, b, c, d)) == pytest.approx(float(dealt(a, b, c, d)), rel=1e-9)


def test_a_difference_of_many_cases_keeps_its_digits():
    """Law: the smallest of probabilities are as exact as the others; they are what corrections ask about."""
    assert by_chance(table(400, 100, 100, 400)) == pytest.approx(float(dealt(400, 100, 100, 400)), rel=1e-9, abs=0)


@given(SMALL, SMALL, SMALL, SMALL)
def test_more_success_with_it_has_a_sign_and_less_the_other(a, b, c, d):
    one, other = standard_errors(table(a, b, c, d)), standard_errors(table(c, d, a, b))
    assert one == pytest.approx(-other)
    if a + b and c + d:
        assert np.sign(np.round(one, 9)) == np.sign(Fraction(a, a + b) - Fraction(c, c + d))


def test_what_another_pattern_explains_tells_nothing_within_its_parts():
    """Two thirds of those that were helped succeed, one third of the others, whether they were called or not."""
    helped, others = table(40, 20, 20, 10), table(10, 20, 20, 40)
    assert beyond(helped, others) == pytest.approx(0, abs=1e-12)
    assert standard_errors(table(50, 40, 40, 50)) > 1
    assert beyond(table(50, 10, 10, 20), others) > 3


def test_whoever_tries_more_must_see_more():
    assert limit(100) == pytest.approx(0.0005)
    assert errors_at(limit(100)) > errors_at(limit(10)) > errors_at(limit(1)) == pytest.approx(1.96, abs=0.001)
