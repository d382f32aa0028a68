"""Eight numbers in one register: the type that numba is taught for the rows of `eightfold`, and what it can do.

Needs numba, and is imported where something is compiled, no sooner.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

WIDTH = 8
_KINDS = {types.float64: ir.DoubleType(), types.int64: ir.IntType(64), types.boolean: ir.IntType(1)}


class Eight(types.Type):  # type: ignore[misc]
    """Eight numbers of one kind."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(f"eight({dtype})")


@register_model(Eight)
class _Register(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Eight) -> None:
        super().__init__(manager, kind, _vector(kind.dtype))


def _vector(dtype: Any) -> Any:
    return ir.VectorType(_KINDS[dtype], WIDTH)


def _spread(context: Any, builder: Any, value: Any, given: Any, dtype: Any) -> Any:
    """Eight numbers of a kind; the same one eight times, where only one is given."""
    if isinstance(given, Eight):
        return value
    number = context.cast(builder, value, given, dtype)
    nothing = ir.Constant(_vector(dtype), ir.Undefined)
    first = builder.insert_element(nothing, number, ir.IntType(32)(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))


def _teach(operation: Any, arity: int, result: Any, emit: Callable[..., Any]) -> None:
    """Let numba know an operation on rows of one kind, or on a row and a number; `result` is its kind, if another."""

    def typed(_context: Any) -> Callable[..., Any]:
        def typer(*given: Any) -> Any:
            kinds = {one.dtype for one in given if isinstance(one, Eight)}
            return Eight(result or kinds.pop()) if len(kinds) == 1 and len(given) == arity else None

        return typer

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        dtype = next(one.dtype for one in signature.args if isinstance(one, Eight))
        values = [_spread(context, builder, *one, dtype) for one in zip(arguments, signature.args, strict=True)]
        return emit(builder, dtype, *values)

    type_callable(operation)(typed)
    ways = [(Eight,)] if arity == 1 else [(Eight, Eight), (Eight, types.Number), (types.Number, Eight)]
    for way in ways:
        lower_builtin(operation, *way)(lower)


def _reckon(name: str) -> Callable[..., Any]:
    return lambda builder, _dtype, *values: getattr(builder, name)(*values)


def _compare(sign: str) -> Callable[..., Any]:
    def emit(builder: Any, dtype: Any, one: Any, other: Any) -> Any:
        if dtype != types.float64:
            return builder.icmp_signed(sign, one, other)
        return (builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered)(sign, one, other)

    return emit


for _operation, _name in {"add": "fadd", "sub": "fsub", "mul": "fmul", "truediv": "fdiv"}.items():
    _teach(getattr(operator, _operation), 2, None, _reckon(_name))
for _operation, _name in {"and_": "and_", "or_": "or_"}.items():
    _teach(getattr(operator, _operation), 2, None, _reckon(_name))
_teach(operator.invert, 1, None, _reckon("not_"))
for _operation, _sign in {"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="}.items():
    _teach(getattr(operator, _operation), 2, types.boolean, _compare(_sign))


def _is_of_rows(array: Any) -> bool:
    """Whether an array has its rows one after the other, of a kind that is known."""
    return isinstance(array, types.Array) and (array.ndim, array.layout) == (2, "C") and array.dtype in _KINDS


def _align(rows: Any) -> int:
    return 1 if rows.dtype == types.boolean else 8


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> tuple[Any, Any]:
    """Where a row lies, and as what: the first argument is an array, the second its number."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    index = context.cast(builder, arguments[1], signature.args[1], types.intp)
    kept = ir.VectorType(context.get_data_type(signature.args[0].dtype), WIDTH)  # truth values take a byte each
    return builder.gep(builder.bitcast(array.data, kept.as_pointer()), [index]), kept


@intrinsic  # type: ignore[untyped-decorator]
def row(_typing, rows, k) -> Any:  # type: ignore[no-untyped-def]
    """Read eight numbers."""

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place, _ = _place(context, builder, signature, arguments)
        found = builder.load(place, align=_align(rows))
        return found if rows.dtype != types.boolean else builder.trunc(found, _vector(types.boolean))

    return (Eight(rows.dtype)(rows, k), emit) if _is_of_rows(rows) else None


@intrinsic  # type: ignore[untyped-decorator]
def eight(_typing, number) -> Any:  # type: ignore[no-untyped-def]
    """Spread a number."""
    dtype = types.float64 if isinstance(number, types.Float) else types.int64

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _spread(context, builder, arguments[0], signature.args[0], dtype)

    return (Eight(dtype)(number), emit) if isinstance(number, types.Number) else None


@intrinsic  # type: ignore[untyped-decorator]
def put(_typing, rows, k, values) -> Any:  # type: ignore[no-untyped-def]
    """Write eight numbers, or one eight times."""

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place, kept = _place(context, builder, signature, arguments)
        found = _spread(context, builder, arguments[2], values, rows.dtype)
        if rows.dtype == types.boolean:
            found = builder.zext(found, kept)
        builder.store(found, place, align=_align(rows))
        return context.get_dummy_value()

    fits = _is_of_rows(rows) and (not isinstance(values, Eight) or values.dtype == rows.dtype)
    return (types.void(rows, k, values), emit) if fits else None


@intrinsic  # type: ignore[untyped-decorator]
def where(_typing, chosen, one, other) -> Any:  # type: ignore[no-untyped-def]
    """Choose one of two, eight times."""
    kinds = {given.dtype for given in (one, other) if isinstance(given, Eight)}
    if chosen != Eight(types.boolean) or len(kinds) != 1:
        return None
    (dtype,) = kinds

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        ways = [_spread(context, builder, arguments[k], signature.args[k], dtype) for k in (1, 2)]
        return builder.select(arguments[0], *ways)

    return Eight(dtype)(chosen, one, other), emit


@intrinsic  # type: ignore[untyped-decorator]
def any_of(_typing, chosen) -> Any:  # type: ignore[no-untyped-def]
    """Whether any of eight is."""

    def emit(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        return builder.icmp_unsigned("!=", builder.bitcast(arguments[0], ir.IntType(WIDTH)), ir.IntType(WIDTH)(0))

    return (types.boolean(chosen), emit) if chosen == Eight(types.boolean) else None
