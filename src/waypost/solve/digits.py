"""A hundred digits: numbers for the few places where floats cannot tell which of two choices is better.

Elimination adds, multiplies and divides only (`gth`), so a hundred digits going in are nearly a hundred coming out.
Two numbers that agree to sixty are equal: an advantage smaller than that, however often it is met, moves no bound that
anybody can see. It is the one place where *equal* means sixty digits.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

EQUAL = Decimal("1e-60")  # relative: a smaller difference is none

_CONTEXT = Context(prec=100, Emax=MAX_EMAX, Emin=MIN_EMIN)


def in_digits() -> AbstractContextManager[Any]:
    """Where numbers of a hundred digits are computed with."""
    return localcontext(_CONTEXT)


def to_digits(numbers: Iterable[Any]) -> NDArray[np.object_]:
    """Array of numbers with a hundred digits, of floats as they are or of fractions.

    >>> str(to_digits([Fraction(1, 3)])[0])[:8]
    '0.333333'
    """
    found = list(numbers)
    array = np.empty(len(found), object)
    with in_digits():
        for i, number in enumerate(found):
            if isinstance(number, Fraction):
                array[i] = Decimal(number.numerator) / Decimal(number.denominator)
            else:
                array[i] = Decimal(float(number))
    return array
