"""Large sparse systems of integers, solved exactly: p-adic lifting (Dixon, 1982) on sparse factors.

Elimination in fractions pays with numbers that grow from state to state. Here nothing is eliminated but remainders
modulo a prime ``p``, once; then the solution of ``A x = b`` comes digit by digit in base ``p``,

    x_k = A^-1 c_k  mod p,        c_(k+1) = (c_k - A x_k) / p

each digit for the price of one substitution in machine words. When there are enough of them, one component is turned
into a fraction (rational reconstruction), and its denominator, with little more, serves all. A candidate ``N / d`` is
right when ``A N`` and ``d b`` are both smaller than the modulus, for they agree modulo it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Ints
from waypost.graph.compiled import kernel
from waypost.solve.gth import Fill
from waypost.solve.rational import from_digits, integer

LARGEST = 1 << 60  # sums of a row's entries: beyond, machine words do not suffice
_BELOW = 1 << 30  # primes are smaller
_FIRST, _MORE = 16, 1.4  # digits before the first attempt, and the growth of their number from one to the next
_SPARE = 64  # bits by which a component must be smaller than the modulus, not to be so by chance


class IntegerMatrix(NamedTuple):
    """An integer matrix, by rows, in the order of elimination."""

    pointer: Ints  # (n + 1,)
    place: Ints
    entry: Ints  # sums of their sizes in a row are below `LARGEST`


class Remainders(NamedTuple):
    """Factors modulo a prime, where a `Fill` says; those beside the diagonal with the other sign."""

    onward: Ints
    passed: Ints
    inverse: Ints  # (n,)


def lifted(matrix: IntegerMatrix, pattern: Fill, columns: Sequence[Sequence[Any]]) -> tuple[list[list[Any]], Any]:
    """Solve ``A x = b`` for some columns of integers: numerators, and the denominator they have in common.

    The matrix needs no pivoting, as those of Markov chains do not.

    >>> from waypost.solve.gth import dense_fill
    >>> matrix = IntegerMatrix(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.array([2, -1, -1, 3]))
    >>> [column], denominator = lifted(matrix, dense_fill(2), [[1, 4]])
    >>> [int(x) for x in column], int(denominator)
    ([7, 9], 5)
    """
    n = len(matrix.pointer) - 1
    used = [k for k, column in enumerate(columns) if any(column)]
    answer: list[list[Any]] = [[integer(0)] * n for _ in columns]
    if not used:
        return answer, integer(1)
    work = 8 * (len(pattern.later) + len(matrix.entry) + n)
    prime, factors = _factorised(matrix, pattern)
    p = integer(prime)
    high, low = matrix.entry // prime, matrix.entry % prime
    left = [[integer(x) for x in columns[k]] for k in used]  # of the right-hand sides, whose digits are taken
    carry = np.zeros((n, len(used)), np.int64)
    digits = np.zeros((n, len(used), 0), np.int64)
    total = _FIRST
    while True:
        more = total - digits.shape[2]
        given = np.zeros((n, len(used), more), np.int64)
        for k, column in enumerate(left):
            for i in range(n):
                if column[i]:
                    column[i], rest = divmod(column[i], p**more)
                    _into_digits(rest, p, given[i, k])
        found = np.zeros_like(given)
        run = _lift.sized(work * more * len(used))
        run(matrix.pointer, matrix.place, high, low, pattern, factors, given, carry, found, prime)
        digits = np.concatenate([digits, found], axis=2)
        solved = _reconstructed(matrix, [columns[k] for k in used], digits, p)
        if solved is not None:
            for k, numerators in zip(used, solved[0], strict=True):
                answer[k] = numerators
            return answer, solved[1]
        total = int(total * _MORE)


def _factorised(matrix: IntegerMatrix, pattern: Fill) -> tuple[int, Remainders]:
    """Factors modulo the first prime that allows for them."""
    n = len(matrix.pointer) - 1
    flops = int((np.diff(pattern.after) ** 2).sum()) + n
    for prime in _primes():
        factors = Remainders(
            np.zeros(len(pattern.later), np.int64), np.zeros(len(pattern.earlier), np.int64), np.zeros(n, np.int64)
        )
        if _factorise.sized(4 * flops)(matrix.pointer, matrix.place, matrix.entry, pattern, factors, prime):
            return prime, factors
    raise ZeroDivisionError("a singular system")  # pragma: no cover - there are fifty million primes


def _primes() -> Iterator[int]:
    """Primes below 2^30, from the greatest on."""
    for candidate in range(_BELOW - 1, 2, -2):
        if all(candidate % divisor for divisor in range(3, isqrt(candidate) + 1, 2)):
            yield candidate


@kernel
def _factorise(pointer, place, entry, pattern, factors, prime) -> bool:  # type: ignore[no-untyped-def]
    """Eliminate modulo a prime; False if it divides a pivot. Sums are reduced when they get long."""
    n = len(pointer) - 1
    cap = (1 << 61) // prime * prime
    row = np.zeros(n, np.int64)
    for i in range(n):
        for e in range(pointer[i], pointer[i + 1]):
            row[place[e]] = entry[e] % prime
        for e in range(pattern.before[i], pattern.before[i + 1]):
            k = pattern.earlier[e]
            weight = row[k] % prime
            row[k] = 0
            factors.passed[e] = (prime - weight) % prime
            if weight > 0:
                for f in range(pattern.after[k], pattern.after[k + 1]):
                    row[pattern.later[f]] += weight * factors.onward[f]
                    if row[pattern.later[f]] >= cap:
                        row[pattern.later[f]] -= cap
        pivot = row[i] % prime
        row[i] = 0
        if pivot == 0:
            return False
        inverse, power, exponent = 1, pivot, prime - 2  # Fermat
        while exponent > 0:
            if exponent & 1:
                inverse = inverse * power % prime
            power = power * power % prime
            exponent >>= 1
        factors.inverse[i] = inverse
        for f in range(pattern.after[i], pattern.after[i + 1]):
            y = pattern.later[f]
            factors.onward[f] = (prime - row[y] % prime) * inverse % prime
            row[y] = 0
    return True


@kernel
def _lift(pointer, place, high, low, pattern, factors, given, carry, found, prime) -> None:  # type: ignore[no-untyped-def]
    """Find further digits of the solution; `carry` is what remains of the digits given so far, divided by p."""
    n, width, more = given.shape
    cap = (1 << 61) // prime * prime
    x = np.zeros(n, np.int64)
    for t in range(more):
        for k in range(width):
            for i in range(n):
                total = (given[i, k, t] + carry[i, k]) % prime
                for e in range(pattern.before[i], pattern.before[i + 1]):
                    total += factors.passed[e] * x[pattern.earlier[e]]
                    if total >= cap:
                        total -= cap
                x[i] = total % prime * factors.inverse[i] % prime
            for i in range(n - 1, -1, -1):
                total = x[i]
                for f in range(pattern.after[i], pattern.after[i + 1]):
                    total += factors.onward[f] * x[pattern.later[f]]
                    if total >= cap:
                        total -= cap
                x[i] = total % prime
                found[i, k, t] = x[i]
            for i in range(n):
                rest = given[i, k, t] + carry[i, k]
                whole = 0
                for e in range(pointer[i], pointer[i + 1]):
                    product = low[e] * x[place[e]]
                    rest -= product % prime
                    whole += product // prime + high[e] * x[place[e]]
                carry[i, k] = rest // prime - whole


def _into_digits(number: Any, p: Any, digits: Ints) -> None:
    """Write the digits of a number in base p, the least first."""
    if len(digits) == 1:
        digits[0] = int(number)
    elif number:
        half = len(digits) // 2
        upper, lower = divmod(number, p**half)
        _into_digits(lower, p, digits[:half])
        _into_digits(upper, p, digits[half:])


def _reconstructed(
    matrix: IntegerMatrix, columns: Sequence[Sequence[Any]], digits: NDArray[np.int64], p: Any
) -> tuple[list[list[Any]], Any] | None:
    """Numerators and their denominator, if these digits are enough."""
    modulus = p ** digits.shape[2]
    small = modulus >> _SPARE
    denominator = integer(1)
    solution: list[list[Any]] = [[None] * len(digits) for _ in columns]
    for k in range(len(columns)):
        for i in range(len(digits)):  # one that takes many steps to leave has the most of the denominator
            x = _signed(from_digits(digits[i, k], p) * denominator, modulus)
            if not -small < x < small:
                fraction = rational(x % modulus, modulus)
                if fraction is None or fraction[1] * denominator > small:
                    return None
                x, factor = fraction
                denominator *= factor
                for earlier in solution[: k + 1]:
                    earlier[:] = [number if number is None else number * factor for number in earlier]
            solution[k][i] = x
    sums = np.add.reduceat(np.abs(matrix.entry), matrix.pointer[:-1])
    for numerators, column in zip(solution, columns, strict=True):
        largest = max(map(abs, numerators)) * int(sums.max()) + denominator * max(column)
        if 2 * largest >= modulus:
            return None
    return solution, denominator


def _signed(x: Any, modulus: Any) -> Any:
    x = x % modulus
    return x - modulus if 2 * x > modulus else x


def rational(x: Any, modulus: Any) -> tuple[Any, Any] | None:
    """Numerator and positive denominator of a fraction by its remainder, if there is one with both below the root.

    >>> rational(integer(5) * pow(7, -1, 10007) % 10007, integer(10007)) == (5, 7)
    True
    """
    bound = 1 << ((modulus.bit_length() - 2) // 2)
    a, b, u, v = modulus, x, 0, 1
    while b > bound:
        q, rest = divmod(a, b)
        a, b = b, rest
        u, v = v, u - q * v
    if abs(v) > bound or v == 0:
        return None
    return (b, v) if v > 0 else (-b, -v)
