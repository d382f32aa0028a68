"""Rows of eight numbers, taken at once where there is machine code: one instruction, or a few, in place of eight.

numba leaves it to loops to be made into such instructions, and those over eight numbers are not: it would have to be
sure that no two rows overlap. Here nothing is written before all is read, and every number is rounded as it would be by
itself, so that plain Python finds the same bits. All arrays are of eight columns, one row after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from waypost.graph.compiled import Kernel

WIDTH = 8


class Eightfold(Kernel):
    """A kernel whose machine code is written by hand, for numba to put into that of its callers."""

    def __init__(self, function: Callable[..., Any], emitted: Callable[[], Callable[..., Any]]) -> None:
        super().__init__(function, leaf=True)
        self._emitted = emitted

    @cached_property
    def inner(self) -> Callable[..., Any]:
        """What other kernels call."""
        return self._emitted()


def _add_product(rows, k, one, i, other, j) -> None:  # type: ignore[no-untyped-def]
    """Add to row `k` the product of row `i` of one array and row `j` of another, number by number."""
    rows[k] += one[i] * other[j]


def _any_above(rows, k):  # type: ignore[no-untyped-def]
    """Whether a number of row `k` is above 0."""
    return (rows[k] > 0.0).any()


def _are_rows(*arrays: Any) -> bool:
    """Whether arrays are of floats, one row after the other: numba refuses to compile for any others."""
    from numba import types

    return all(isinstance(a, types.Array) and (a.dtype, a.ndim, a.layout) == (types.float64, 2, "C") for a in arrays)


def _row(context: Any, builder: Any, signature: Any, arguments: Any, at: int) -> Any:
    """Where the row begins that an argument and the next one name."""
    from llvmlite import ir
    from numba import types

    array = context.make_array(signature.args[at])(context, builder, arguments[at])
    index = context.cast(builder, arguments[at + 1], signature.args[at + 1], types.intp)
    numbers = ir.VectorType(ir.DoubleType(), WIDTH)
    return builder.gep(builder.bitcast(array.data, numbers.as_pointer()), [index])


def _adding() -> Callable[..., Any]:
    from numba import types
    from numba.extending import intrinsic

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        target, *factors = (_row(context, builder, signature, arguments, at) for at in (0, 2, 4))
        before, one, other = (builder.load(place, align=8) for place in (target, *factors))
        builder.store(builder.fadd(before, builder.fmul(one, other)), target, align=8)
        return context.get_dummy_value()

    @intrinsic
    def add_product(typing, rows, k, one, i, other, j):  # type: ignore[no-untyped-def]
        return (types.void(rows, k, one, i, other, j), emit) if _are_rows(rows, one, other) else None

    return add_product  # type: ignore[no-any-return]


def _finding() -> Callable[..., Any]:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        numbers = builder.load(_row(context, builder, signature, arguments, 0), align=8)
        above = builder.fcmp_ordered(">", numbers, ir.Constant(numbers.type, [0.0] * WIDTH))
        return builder.icmp_unsigned("!=", builder.bitcast(above, ir.IntType(WIDTH)), ir.IntType(WIDTH)(0))

    @intrinsic
    def any_above(typing, rows, k):  # type: ignore[no-untyped-def]
        return (types.boolean(rows, k), emit) if _are_rows(rows) else None

    return any_above  # type: ignore[no-any-return]


add_product = Eightfold(_add_product, _adding)
any_above = Eightfold(_any_above, _finding)
