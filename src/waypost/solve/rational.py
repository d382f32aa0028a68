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
    from flint import fmpq, fmpz, fmpz_poly
except ImportError:  # pragma: no cover - depends on what is installed
    fmpq = fmpz = fmpz_poly = None


def to_rationals(numbers: Iterable[Fraction | int]) -> NDArray[np.object_]:
    """Array of scalars for exact arithmetic."""
    found = list(numbers)
    array = np.empty(len(found), object)
    for i, number in enumerate(found):
        array[i] = Fraction(number) if fmpq is None else fmpq(number.numerator, number.denominator)
    return array


def integer(number: Any) -> Any:
    """Whole number for exact arithmetic."""
    return int(number) if fmpz is None else fmpz(number)


def fraction(numerator: Any, denominator: Any) -> Any:
    """Scalar for exact arithmetic, of two whole numbers."""
    return Fraction(numerator, denominator) if fmpq is None else fmpq(numerator, denominator)


def from_digits(digits: NDArray[np.int64], base: Any) -> Any:
    """Whole number by its digits, the least first.

    >>> int(from_digits(np.array([1, 2, 3]), integer(10)))
    321
    """
    if fmpz_poly is not None:
        return fmpz_poly(digits.tolist())(base)
    numbers, power = digits.tolist(), base
    while len(numbers) > 1:  # halves as many, twice as long
        numbers.append(0)
        numbers = [low + high * power for low, high in zip(numbers[::2], numbers[1::2], strict=False)]
        power *= power
    return numbers[0] if numbers else 0


class Unreduced:
    """A rational that is brought to lowest terms when somebody computes with it; many share a long denominator.

    Comparing with 0 or 1 asks for no greatest common divisor, nor does `exactly`, which computes with numerators.

    >>> half = Unreduced(integer(3), integer(6))
    >>> half > 0, half == 1, str(half + half), str(half)
    (True, False, '1', '1/2')
    """

    __slots__ = ("_lowest", "denominator", "numerator")

    def __init__(self, numerator: Any, denominator: Any) -> None:
        self.numerator, self.denominator = numerator, denominator  # not in lowest terms; the denominator is positive
        self._lowest: Any = None

    @property
    def lowest(self) -> Any:
        """The number as any other, in lowest terms."""
        if self._lowest is None:
            self._lowest = fraction(self.numerator, self.denominator)
        return self._lowest

    def __repr__(self) -> str:
        return repr(self.lowest)

    __str__ = __repr__

    def __float__(self) -> float:
        return int(self.numerator) / int(self.denominator)

    def __hash__(self) -> int:
        return hash(self.lowest)

    def __bool__(self) -> bool:
        return bool(self.numerator)

    def _minus(self, other: Any) -> Any:
        """A number with the sign of the difference to another one."""
        if isinstance(other, Unreduced):
            if other.denominator is self.denominator:
                return self.numerator - other.numerator
            return self.numerator * other.denominator - other.numerator * self.denominator
        if other == 0:
            return self.numerator
        if other == 1:
            return self.numerator - self.denominator
        return self.lowest - other

    def __eq__(self, other: object) -> bool:
        return bool(self._minus(other) == 0)

    def __lt__(self, other: Any) -> bool:
        return bool(self._minus(other) < 0)

    def __le__(self, other: Any) -> bool:
        return bool(self._minus(other) <= 0)

    def __gt__(self, other: Any) -> bool:
        return bool(self._minus(other) > 0)

    def __ge__(self, other: Any) -> bool:
        return bool(self._minus(other) >= 0)

    def __add__(self, other: Any) -> Any:
        return self.lowest + lowest(other)

    def __radd__(self, other: Any) -> Any:
        return other + self.lowest

    def __sub__(self, other: Any) -> Any:
        return self.lowest - lowest(other)

    def __rsub__(self, other: Any) -> Any:
        return other - self.lowest

    def __mul__(self, other: Any) -> Any:
        return self.lowest * lowest(other)

    def __rmul__(self, other: Any) -> Any:
        return other * self.lowest

    def __truediv__(self, other: Any) -> Any:
        return self.lowest / lowest(other)

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.lowest

    def __neg__(self) -> Any:
        return -self.lowest

    def __abs__(self) -> Any:
        return abs(self.lowest)


def lowest(number: Any) -> Any:
    """A rational in lowest terms."""
    return number.lowest if isinstance(number, Unreduced) else number


def to_fraction(number: Any) -> Fraction:
    """Give back Python's own Fraction.

    >>> to_fraction(to_rationals([Fraction(2, 6)])[0])
    Fraction(1, 3)
    """
    number = lowest(number)
    if isinstance(number, Fraction | int):
        return Fraction(number)
    return Fraction(int(number.p), int(number.q))


def solve_fixpoint(rows: list[dict[int, Any]], *constants: list[Any]) -> tuple[list[Any], ...]:
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
