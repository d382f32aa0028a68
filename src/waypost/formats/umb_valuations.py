"""Variable values in UMB archives: every state is a small record of bits, lowest bits first.

A record of the variables ``s1`` (3 bits) and ``up`` (1 bit), padded to a whole byte::

    bit     0 1 2 | 3  | 4 5 6 7
            s1    | up | padding
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.errors import FormatError
from waypost.model import Variable

Wrong = Callable[[str], FormatError]
Bytes = NDArray[np.uint8]


class UmbField(NamedTuple):
    """An entry of a record; padding has no name."""

    name: str
    kind: str
    bits: int
    offset: int
    optional: bool  # a bit before it says whether it is there


def unpack_valuations(
    classes: Any,
    content: bytes | memoryview,
    kinds: NDArray[np.uint32] | None,
    n_states: int,
    *,
    strings: list[str],
    wrong: Wrong,
) -> dict[str, Variable]:
    """Read the variables of all states.

    `kinds` says which of the `classes` each state belongs to; without, all belong to the first.
    """
    if not isinstance(classes, list) or not classes:
        raise wrong("its state valuations have no classes")
    layouts = [_layout(given, wrong) for given in classes]
    widths = np.array([sum(field.bits + field.optional for field in layout) for layout in layouts])
    if (widths % 8).any():
        raise wrong("a state valuation does not fill whole bytes")
    kind = np.zeros(n_states, np.int64) if kinds is None else kinds.astype(np.int64)
    if (kind >= len(layouts)).any():
        raise wrong("a state has a valuation of a class that is not described")
    sizes = widths[kind] // 8
    if int(sizes.sum()) != len(content):
        raise wrong(f"its state valuations have {len(content)} bytes, not {int(sizes.sum())}")
    starts = np.cumsum(sizes) - sizes
    raw = np.frombuffer(content, np.uint8)
    if len(layouts) == 1:
        return _columns(raw.reshape(n_states, -1), layouts[0], strings, wrong)
    found: dict[str, tuple[NDArray[Any], NDArray[np.bool_], tuple[str, ...] | None]] = {}
    for number, layout in enumerate(layouts):
        members = np.flatnonzero(kind == number)
        records = raw[starts[members, None] + np.arange(widths[number] // 8)]
        for name, variable in _columns(records, layout, strings, wrong).items():
            if name not in found:
                wide = variable.values.dtype if variable.values.dtype.kind in "bf" else np.dtype(np.int64)
                found[name] = np.zeros(n_states, wide), np.zeros(n_states, bool), variable.words
            values, defined, words = found[name]
            if words != variable.words or values.dtype.kind != variable.values.dtype.kind:
                raise wrong(f"variable {name[:40]!r} has two types")
            values[members], defined[members] = variable.values, variable.defined
    return {name: Variable.of(*parts) for name, parts in found.items()}


def describe_valuations(variables: Mapping[str, Variable]) -> dict[str, Any]:
    """Describe the records that `pack_valuations` writes, for the index."""
    entries: list[dict[str, Any]] = []
    total = 0
    for name, variable in variables.items():
        kind, bits, low = _shape(variable)
        optional = not variable.defined.all()
        total += bits + optional
        entry: dict[str, Any] = {"name": name, "type": {"type": kind, "size": bits}}
        if kind == "uint":
            entry["offset"] = low
        if optional:
            entry["is-optional"] = True
        entries.append(entry)
    if total % 8:
        entries.append({"padding": 8 - total % 8})
    return {"unique": True, "classes": [{"variables": entries}]}


def pack_valuations(variables: Mapping[str, Variable]) -> tuple[bytes, list[str]]:
    """Write the records, one per state, and the texts that they name."""
    columns, strings = [], list(dict.fromkeys(word for v in variables.values() for word in v.words or ()))
    number = {word: k for k, word in enumerate(strings)}
    for variable in variables.values():
        kind, bits, low = _shape(variable)
        if not variable.defined.all():
            columns.append(variable.defined[:, None])
        values = variable.values
        if variable.words is not None:
            coded = np.array([number[word] for word in variable.words], np.uint64)[values]
        elif kind == "double":
            coded = values.astype("<f8").view(np.uint64)
        else:
            coded = (np.where(variable.defined, values, low).astype(np.int64) - low).astype(np.uint64)
        columns.append(coded[:, None] >> np.arange(bits, dtype=np.uint64) & np.uint64(1))
    table = np.concatenate(columns, axis=1).astype(np.uint8)
    return np.packbits(table, axis=1, bitorder="little").tobytes(), strings


def _shape(variable: Variable) -> tuple[str, int, int]:
    """Type, bits and least value of a variable."""
    if variable.words is not None:
        return "string", 64, 0
    if variable.values.dtype == bool:
        return "bool", 1, 0
    if variable.values.dtype.kind == "f":
        return "double", 64, 0
    known = variable.values[variable.defined]
    low, high = (int(known.min()), int(known.max())) if len(known) else (0, 0)
    return "uint", max((high - low).bit_length(), 1), low


def _layout(given: Any, wrong: Wrong) -> list[UmbField]:
    layout = []
    for entry in given.get("variables", []) if isinstance(given, dict) else [None]:
        if not isinstance(entry, dict):
            raise wrong("a state valuation is not described as a list of variables")
        if "padding" in entry:
            layout.append(UmbField("", "padding", _positive(entry["padding"], wrong), 0, optional=False))
            continue
        kind = entry.get("type")
        name, kind_name = entry.get("name"), kind.get("type") if isinstance(kind, dict) else kind
        if not isinstance(name, str) or kind_name not in ("bool", "int", "uint", "double", "string"):
            raise wrong(f"variable {str(name)[:40]!r} has type {str(kind_name)[:40]!r}, which we do not read")
        size = kind.get("size") if isinstance(kind, dict) else entry.get("size")
        bits = _positive(size if size is not None else (1 if kind_name == "bool" else 64), wrong)
        offset = entry.get("offset", 0)
        if bits > 64 or (kind_name in ("double", "string") and bits != 64) or not isinstance(offset, int):
            raise wrong(f"variable {name[:40]!r} has {bits} bits, which we do not read")
        layout.append(UmbField(name, str(kind_name), bits, offset, optional=bool(entry.get("is-optional"))))
    return layout


def _positive(value: Any, wrong: Wrong) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 2**20:
        raise wrong(f"a state valuation has an entry of {str(value)[:20]} bits")
    return value


def _columns(records: Bytes, layout: Sequence[UmbField], strings: list[str], wrong: Wrong) -> dict[str, Variable]:
    found: dict[str, Variable] = {}
    at = 0
    for field in layout:
        defined = None
        if field.optional:
            defined = _bits(records, at, 1).astype(bool)
            at += 1
        if field.kind != "padding":
            found[field.name] = _variable(_bits(records, at, field.bits), field, defined, strings, wrong)
        at += field.bits
    return found


def _bits(records: Bytes, at: int, width: int) -> NDArray[Any]:
    """Give `width` bits from bit `at` on of every record, as a number."""
    first, shift = divmod(at, 8)
    last = (at + width - 1) // 8
    if first == last:  # small numbers stay small
        return records[:, first] >> np.uint8(shift) & np.uint8(2**width - 1)
    value = np.zeros(len(records), np.uint64)
    for k in range(first, min(last, first + 7) + 1):
        value |= records[:, k].astype(np.uint64) << np.uint64(8 * (k - first))
    value >>= np.uint64(shift)
    if last - first == 8:
        value |= records[:, last].astype(np.uint64) << np.uint64(64 - shift)
    return value & np.uint64(2**width - 1)


def _variable(
    number: NDArray[Any], field: UmbField, defined: NDArray[np.bool_] | None, strings: list[str], wrong: Wrong
) -> Variable:
    if field.kind == "bool":
        return Variable.of(number > 0, defined)
    if field.kind == "double":
        return Variable.of(number.view(np.float64), defined)
    if defined is not None:
        number = np.where(defined, number, number.dtype.type(0))
    if field.kind == "string":
        if len(number) and int(number.max()) >= max(len(strings), 1):
            raise wrong("a state valuation names a text that is not there")
        used, codes = np.unique(number, return_inverse=True)
        return Variable.of(codes, defined, [strings[k] for k in used.tolist()] if strings else [""])
    if number.dtype == np.uint8 and field.kind == "uint" and abs(field.offset) < 2**14:
        small = number.astype(np.int16) + np.int16(field.offset)
        return Variable.of(small if defined is None else np.where(defined, small, np.int16(0)), defined)
    number = number.astype(np.uint64, copy=False)
    if field.kind == "int":
        sign = np.uint64(64 - field.bits)
        values = (number << sign).view(np.int64) >> sign.astype(np.int64)
    else:
        values = number
    if len(values) and not -(2**63) <= int(values.min()) + field.offset <= int(values.max()) + field.offset < 2**63:
        raise wrong(f"variable {field.name[:40]!r} has values beyond 63 bits")
    shifted = (values.view(np.uint64) + np.uint64(field.offset % 2**64)).view(np.int64)  # round the clock, and back
    return Variable.of(shifted if defined is None else np.where(defined, shifted, 0), defined)
