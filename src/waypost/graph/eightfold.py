"""Rows of eight numbers as one value: one instruction, or a few, in the place of eight where there is machine code.

A kernel takes a row out of an array of eight columns (`row`), reckons with it as with one number, chooses (`where`),
and puts the result back (`put`). In plain Python a row is an array of numpy. Machine code has a type of eight numbers
for it (`registers`): numba makes no such instructions out of loops over eight by itself. Every number is rounded as it
would be alone, so that both find the same bits.

>>> rows = np.arange(16.0).reshape(2, 8)
>>> put(rows, 0, where(row(rows, 0) > 4.0, 2.0 * row(rows, 1), 0.0))
>>> rows[0].tolist()
[0.0, 0.0, 0.0, 0.0, 0.0, 26.0, 28.0, 30.0]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from waypost.graph.compiled import Kernel, kernel


class Eightfold(Kernel):
    """A kernel whose machine code is written by hand, for numba to put into that of its callers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, leaf=True)

    @cached_property
    def inner(self) -> Callable[..., Any]:
        """What other kernels call."""
        registers = import_module("waypost.graph.registers")  # it imports numba
        found: Callable[..., Any] = getattr(registers, self.plain.__name__)
        return found


@Eightfold
def row(rows, k) -> Any:  # type: ignore[no-untyped-def]
    """Row `k` of an array of eight columns: floats, integers or truth values."""
    return rows[k].copy()


@Eightfold
def eight(number) -> Any:  # type: ignore[no-untyped-def]
    """A row of one number, eight times."""
    return np.full(8, number)


@Eightfold
def put(rows, k, values) -> None:  # type: ignore[no-untyped-def]
    """Make row `k` of an array what is given."""
    rows[k] = values


@Eightfold
def where(chosen, one, other) -> Any:  # type: ignore[no-untyped-def]
    """Numbers of `one` where chosen, and of the `other` elsewhere; either may be a single number."""
    return np.where(chosen, one, other)


@Eightfold
def any_of(chosen) -> bool:  # type: ignore[no-untyped-def]
    """Whether any of eight truth values is."""
    return bool(chosen.any())


@kernel
def rows_of_eight(n) -> Any:  # type: ignore[no-untyped-def]
    """An array of `n` rows of zeros, none of which lies across two lines of a processor's cache."""
    room = np.zeros(8 * n + 7)
    first = -(room.ctypes.data // 8) % 8
    return room[first : first + 8 * n].reshape(n, 8)
