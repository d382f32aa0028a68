"""Exact rationals: numbers from text to answer, and linear systems without a single rounding.

The scalars are python-flint's when it is installed (much faster once denominators grow), else Python's own fractions;
both obey the same operators, so nothing else needs to know.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.solve.gth import NO_LIMIT, Chain, arrange, blank, eliminate, substitute

try:
    from flint import fmpq
except ImportError:  # pragma: no cover - depends on what is installed
    fmpq = None

Rows = list[dict[int, Any]]


def to_rationals(numbers: Iterable[Fraction | int]) -> NDArray[np.object_]:
    """Array of scalars for exact arithmetic."""
    found = list(numbers)
    array = np.empty(len(found), object)
    for i, number in enumerate(found):
        array[i] = Fraction(number) if fmpq is None else fmpq(number.numerator, number.denominator)
    return array


def to_fraction(number: Any) -> Fraction:
    """Give back Python's own Fraction.

    >>> to_fraction(to_rationals([Fraction(2, 6)])[0])
    Fraction(1, 3)
    """
    if isinstance(number, Fraction | int):
        return Fraction(number)
    return Fraction(int(number.p), int(number.q))


def solve_fixpoint(rows: Rows, *constants: list[Any]) -> tuple[list[Any], ...]:
    """Solve ``x[i] = sum_j rows[i][j] x[j] + constant[i]`` exactly for each of the constants.

    Rows are at least 0 and sum to at most 1, and from everywhere one with less is reached.

    >>> half = to_rationals([Fraction(1, 2)])[0]
    >>> (solution,) = solve_fixpoint([{0: half, 1: half}, {}], [half * 0, half])
    >>> [str(to_fraction(x)) for x in solution]
    ['1/2', '1/2']
    """
    n = len(rows)
    source = np.repeat(np.arange(n), [len(row) for row in rows])
    goal = np.array([j for row in rows for j in row], np.int64)
    away = source != goal
    _, pattern = arrange.sized(100 * n)(n, source[away], goal[away], NO_LIMIT)
    rank = np.argsort(pattern.order)
    ordered = [rows[i] for i in pattern.order]
    chance = np.array([p for row in ordered for p in row.values()], object)
    place = np.array([rank[j] for row in ordered for j in row], np.int64)
    chain = Chain(np.cumsum([0, *(len(row) for row in ordered)]), place, chance)
    one = to_rationals([1])[0]
    leaving = np.array([one - sum(row.values()) for row in ordered], object)
    columns = np.array([[constant[i] for constant in constants] for i in pattern.order], object)
    factors = blank(pattern, leaving)
    if not eliminate(0, len(leaving), pattern, chain, leaving, factors):
        raise ZeroDivisionError("a part of this system is never left")
    substitute(0, n, pattern, factors, columns)
    return tuple(list(column) for column in columns[rank].T)
