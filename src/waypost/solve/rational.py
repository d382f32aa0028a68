"""Exact rationals: numbers from text to answer, and linear systems without a single rounding.

The scalars are python-flint's when it is installed (much faster once denominators grow), else Python's own fractions;
both obey the same operators, so nothing else needs to know.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

    State elimination: the unknown with the fewest neighbours goes first, so that sparse systems stay sparse. `rows` and
    `constants` are used up.

    >>> half = to_rationals([Fraction(1, 2)])[0]
    >>> (solution,) = solve_fixpoint([{0: half, 1: half}, {}], [half * 0, half])
    >>> [str(to_fraction(x)) for x in solution]
    ['1/2', '1/2']
    """
    n = len(rows)
    users: list[set[int]] = [set() for _ in range(n)]  # who needs x[j]
    for i, row in enumerate(rows):
        for j in row:
            users[j].add(i)
    queue = [(len(rows[i]) * len(users[i]), i) for i in range(n)]
    heapq.heapify(queue)
    done = [False] * n
    order = []
    while queue:
        cost, i = heapq.heappop(queue)
        if done[i]:
            continue
        now = len(rows[i]) * len(users[i])
        if now > cost:  # grew since it was queued
            heapq.heappush(queue, (now, i))
            continue
        done[i] = True
        order.append(i)
        row = rows[i]
        loop = row.pop(i, None)
        users[i].discard(i)
        if loop is not None:
            scale = 1 - loop
            for j in row:
                row[j] = row[j] / scale
            for constant in constants:
                constant[i] = constant[i] / scale
        for k in users[i]:
            if done[k]:
                continue
            other = rows[k]
            weight = other.pop(i)
            for j, p in row.items():
                if j in other:
                    other[j] = other[j] + weight * p
                else:
                    other[j] = weight * p
                    users[j].add(k)
            for constant in constants:
                constant[k] = constant[k] + weight * constant[i]
    for i in reversed(order):  # a row holds only unknowns eliminated later
        for constant in constants:
            total = constant[i]
            for j, p in rows[i].items():
                total = total + p * constant[j]
            constant[i] = total
    return constants
