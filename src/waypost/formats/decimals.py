"""Decimal numbers by whole arrays, eight digits at a time; every one is the float nearest to what is written.

Eight bytes from some place on are one number of 64 bits (`model.names.windows`), and so are eight digits: three
multiplications add them up (Lemire, Number parsing at a gigabyte per second, Software: Practice and Experience 51,
2021). ``0.0125`` is ``w / 10^n`` with whole numbers `w` = 125 and `n` = 4. Where `w` is a float, so is ``10^n``, and
their quotient is rounded once (Clinger 1990). Otherwise `w` times the first 64 bits of ``5^-n`` nearly always tells the
last bit of the result. What it does not tell, exponents, and numbers of more digits are left to a reader that takes
its time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Places = NDArray[np.int64]

MOST = 24  # digits behind the point
DOT = ord(".")

_ZEROS, _NO_DIGIT, _SIGNS = (np.uint64(0x0101010101010101 * byte) for byte in (ord("0"), 0x7F - 9, 0x80))
_TENS = np.array([10**n for n in range(20)], np.uint64)
_FLOAT_TENS = 10.0 ** np.arange(23)  # each of them exactly a float
_WHOLE, _LIMIT = 18, 19  # digits behind the point with any digit before it, and with zero before it, that 64 bits hold
_BEGIN = np.array([10 ** min(8, 8 + _LIMIT - n) for n in range(MOST + 1)], np.uint64)  # the first eight are less
_HALF, _LOW = np.uint64(32), np.uint64(2**32 - 1)


def _fives() -> tuple[Words, NDArray[np.int64]]:
    """(n,) the first 64 bits of ``5^-n`` as a whole number, and the power of two by which it is too large."""
    shift = [63 + (5**n).bit_length() if n else 63 for n in range(MOST + 1)]
    return np.array([(1 << s) // 5**n for n, s in enumerate(shift)], np.uint64), np.array(shift)


_FIVES, _SHIFTS = _fives()


def leading_digits(words: Words) -> Places:
    """How many of the eight bytes of each word are digits, before the first that is none.

    >>> leading_digits(np.frombuffer(b"42 : 0.512345678", "<u8"))
    array([2, 8])
    """
    strange = _strange(words ^ _ZEROS)
    lowest = (strange & (~strange + np.uint64(1))).astype(np.float64).view(np.int64)  # a power of two
    return np.where(strange == 0, 8, ((lowest >> 52) - 1023) >> 3)


def digits(words: Words, length: Places) -> tuple[Words, NDArray[np.bool_]]:
    """Value of the first bytes of each word, and whether they are all digits; no bytes are zero.

    >>> digits(np.frombuffer(b"42 : 0.5", "<u8"), np.array([2]))
    (array([42], dtype=uint64), array([ True]))
    """
    beyond = (64 - 8 * length).astype(np.uint64)  # zeros come before the digits; all bits: nothing is left
    values = (words ^ _ZEROS) << beyond
    fine = _strange(values) == 0
    values = values * np.uint64(2561) >> np.uint64(8) & np.uint64(0x00FF00FF00FF00FF)
    values = values * np.uint64(6553601) >> np.uint64(16) & np.uint64(0x0000FFFF0000FFFF)
    return values * np.uint64(42949672960001) >> np.uint64(32), fine


def _strange(values: Words) -> Words:
    """Highest bit of every byte that is more than nine; of the lowest such byte surely, a carry may set higher ones."""
    return ((values + _NO_DIGIT) | values) & _SIGNS


def decimals(words: Words, begin: Places, end: Places) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Numbers from `begin` to `end`, each with a digit first, and which of them are settled.

    >>> from waypost.model.names import windows
    >>> decimals(windows(b"0.0125 1e-3 1"), np.array([0, 7, 12]), np.array([6, 11, 13]))
    (array([0.0125, 1.    , 1.    ]), array([ True, False,  True]))
    """
    first = words[begin]
    whole = first & np.uint64(0xFF) ^ np.uint64(ord("0"))
    alone = end - begin == 1
    behind = np.where(alone, 0, end - begin - 2)
    settled = (behind >= 0) & (behind <= MOST) & (alone | (first >> np.uint64(8) & np.uint64(0xFF) == DOT))
    behind = np.where(settled, behind, 0)
    number, parts = np.zeros(len(begin), np.uint64), []
    for at in range(0, MOST, 8):
        length = np.minimum(np.maximum(behind - at, 0), 8)
        part, fine = digits(words[np.minimum(begin + 2 + at, end)], length)
        number = number * _TENS[length] + part
        settled &= fine
        parts.append(part)
    settled &= (whole == 0) | (behind <= _WHOLE)
    settled &= (behind <= _LIMIT) | (parts[0] < _BEGIN[behind])
    number += whole * _TENS[np.minimum(behind, _LIMIT)]
    short = (number <= np.uint64(2**53)) & (behind < len(_FLOAT_TENS))
    found = number.astype(np.float64) / _FLOAT_TENS[np.minimum(behind, len(_FLOAT_TENS) - 1)]
    long = np.flatnonzero(settled & ~short)
    found[long], settled[long] = _nearest(number[long], behind[long])
    return found, settled


def _nearest(number: Words, behind: Places) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Float nearest to ``number / 10^behind``, for numbers from 2^53 on, and whether its last bit is settled.

    `_FIVES` is less than one too small, so the high 64 bits of the product are at most one too small: where those
    behind the rounded ones are neither all zeros nor all ones, the exact product rounds to the same float.
    """
    top = ((number >> np.uint64(11)).astype(np.float64).view(np.int64) >> 52) - 1023  # of 53 bits, which are a float
    large = top >= 42
    zeros = np.where(large, 52 - top, 0)
    high = _high(number << zeros.astype(np.uint64), _FIVES[behind])
    upper = high >> np.uint64(63)
    cut = upper + np.uint64(9)
    kept, rest = high >> cut, high & ((np.uint64(1) << cut) - np.uint64(1))
    settled = large & (rest > 0) & (rest < (np.uint64(1) << cut) - np.uint64(1))
    rounded = (kept + (kept & np.uint64(1)) >> np.uint64(1)).astype(np.float64)
    power = 74 + upper.astype(np.int64) - zeros - _SHIFTS[behind] - behind
    return np.ldexp(rounded, power.astype(np.int32)), settled


def _high(one: Words, other: Words) -> Any:
    """High 64 bits of a product of two numbers of 64."""
    a, b, c, d = one >> _HALF, one & _LOW, other >> _HALF, other & _LOW
    outer = a * d
    middle = (b * d >> _HALF) + (outer & _LOW) + b * c
    return a * c + (outer >> _HALF) + (middle >> _HALF)
