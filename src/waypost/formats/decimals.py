"""Lines such as ``3 : 0.25`` by the million, in machine code; every number is the float nearest to what is written.

A decimal number is ``w 10^q``, `w` a whole number of at most 19 digits. Lemire (Number parsing at a gigabyte per
second, Software: Practice and Experience 51, 2021) multiplies `w` by the first 128 bits of ``5^q``, which `FIVES` has,
and rounds: nearly always that many bits settle the last one of the float. What they do not settle, subnormal numbers
and those of more digits are left to a reader that takes its time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.graph.compiled import kernel

LEAST, GREATEST = -342, 308  # powers of ten: below and above, any `w` is zero or infinite
BLANK, DOT, ZERO, NINE, SMALL_E, BIG_E, MINUS, PLUS = 32, 46, 48, 57, 101, 69, 45, 43
DIGITS = 19  # of a whole number that fits into 64 bits


def _fives() -> Any:
    """(powers, 2) the first 128 bits of ``5^q``, high and low, rounded up where `q` is negative and down elsewhere."""
    bits = []
    for q in range(LEAST, GREATEST + 1):
        power = 5 ** abs(q)
        if q < 0:
            shift = power.bit_length() + 127
            power = (1 << shift) // power + 1
        power = power << 128 >> power.bit_length()
        bits.append((power >> 64, power & (2**64 - 1)))
    return np.array(bits, np.uint64)


FIVES = _fives()


@kernel
def _product(one: Any, other: Any) -> Any:
    """High and low 64 bits of a product of two numbers of 64."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a, b, c, d = one >> half, one & low, other >> half, other & low
    middle = (b * d >> half) + (a * d & low) + b * c
    return a * c + (a * d >> half) + (middle >> half), one * other


@kernel
def _nearest(number: Any, q: Any) -> Any:
    """Bits of the float nearest to ``number 10^q``, and whether they are settled."""
    one, none = np.uint64(1), np.uint64(0)
    if number == none:
        return none, True
    if q < LEAST or q > GREATEST:
        return none, False
    shifted, zeros = number, 0
    while shifted >> np.uint64(63) == none:
        shifted, zeros = shifted << one, zeros + 1
    high, low = _product(shifted, FIVES[q - LEAST, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = _product(shifted, FIVES[q - LEAST, 1])
        low = low + more
        if low < more:
            high = high + one
    if low == np.uint64(0xFFFFFFFFFFFFFFFF):
        return none, False
    upper = np.int64(high >> np.uint64(63))
    down = np.uint64(upper + 9)
    mantissa = high >> down
    exponent = ((217706 * q) >> 16) + 63 + upper - zeros + 1023
    if exponent <= 0:  # subnormal
        return none, False
    if low <= one and -4 <= q <= 23 and mantissa & np.uint64(3) == one and mantissa << down == high:
        mantissa = mantissa - one  # half way: to the even one
    mantissa = (mantissa + (mantissa & one)) >> one
    if mantissa >> np.uint64(53) != none:
        mantissa, exponent = mantissa >> one, exponent + 1
    if exponent >= 2047:
        return none, False
    return (np.uint64(exponent) << np.uint64(52)) | (mantissa & np.uint64(2**52 - 1)), True


@kernel
def _digits(text: Any, at: Any, end: Any) -> Any:
    """Read digits, perhaps with a point: number, how many, how many behind the point, whether there is one, the end."""
    number, digits, behind, seen = np.uint64(0), 0, 0, False
    while at < end and (ZERO <= text[at] <= NINE or (text[at] == DOT and not seen)):
        if text[at] == DOT:
            seen = True
        else:
            number = number * np.uint64(10) + np.uint64(text[at] - ZERO)
            digits += 1 if digits > 0 or number > np.uint64(0) else 0
            behind += 1 if seen else 0
        at += 1
    return number, digits, behind, seen, at


@kernel
def decimal(text: Any, at: Any, end: Any) -> Any:
    """Bits of a decimal number, and whether that is what stands there and they are settled."""
    if at == end or not ZERO <= text[at] <= NINE:
        return np.uint64(0), False
    number, digits, behind, _, at = _digits(text, at, end)
    power = -behind
    if at < end and (text[at] == SMALL_E or text[at] == BIG_E):
        at += 1
        sign = 1
        if at < end and (text[at] == MINUS or text[at] == PLUS):
            sign = -1 if text[at] == MINUS else 1
            at += 1
        more, long, _, broken, last = _digits(text, at, end)
        if last == at or long > 3 or broken:
            return np.uint64(0), False
        at, power = last, power + sign * np.int64(more)
    if at != end or digits > DIGITS:
        return np.uint64(0), False
    return _nearest(number, power)


@kernel
def read_entries(text: Any, colon: Any, until: Any, goals: Any, bits: Any, slow: Any) -> None:
    """Read successor and probability of every line, which ends before `until`; the latter as the bits of a float.

    Where one of them is not settled here, the line is marked `slow`.
    """
    begin = 0
    for k in range(len(until)):
        goal, digits, _, broken, at = _digits(text, begin + 2, colon[k] - 1)
        goals[k] = np.int64(goal)
        bits[k], settled = decimal(text, colon[k] + 2, until[k] - 1)
        slow[k] = not settled or broken or at != colon[k] - 1 or digits > 15
        begin = until[k]
