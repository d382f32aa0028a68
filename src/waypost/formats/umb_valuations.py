"""Variable values in UMB archives: every state is a small record of bits, lowest bits first.

A record of the variables ``s1`` (3 bits) and ``up`` (1 bit), padded to a whole byte::

    bit     0 1 2 | 3  | 4 5 6 7
            s1    | up | padding
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import FormatError
from waypost.model.expressions import Variable

Wrong = Callable[[str], FormatError]


def unpack_valuations(
    classes: Any, content: bytes, kinds: NDArray[np.uint32], *, strings: list[str] | None, wrong: Wrong
) -> list[str]:
    """Read one name such as ``x=1, y=2`` per state.

    `kinds` says which of the `classes` each state belongs to.
    """
    if not isinstance(classes, list) or not classes:
        raise wrong("its state valuations have no classes")
    layouts = [_layout(given, wrong) for given in classes]
    widths = np.array([sum(bits for _, _, bits, _ in layout) for layout in layouts])
    if (widths % 8).any():
        raise wrong("a state valuation does not fill whole bytes")
    kind = kinds.astype(np.int64)
    if (kind >= len(layouts)).any():
        raise wrong("a state has a valuation of a class that is not described")
    sizes = widths[kind] // 8
    if int(sizes.sum()) != len(content):
        raise wrong(f"its state valuations have {len(content)} bytes, not {int(sizes.sum())}")
    starts = np.cumsum(sizes) - sizes
    names = [""] * len(kind)
    for number, layout in enumerate(layouts):
        members = np.flatnonzero(kind == number)
        if not len(members):
            continue
        positions = starts[members, None] + np.arange(widths[number] // 8)
        records = np.frombuffer(content, np.uint8)[positions]
        bits = np.unpackbits(records, axis=1, bitorder="little")
        for state, name in zip(members.tolist(), _names(bits, layout, strings, wrong), strict=True):
            names[state] = name
    return names


def describe_valuations(variables: Mapping[str, Variable]) -> dict[str, Any]:
    """Describe the records that `pack_valuations` writes, for the index."""
    entries: list[dict[str, Any]] = []
    total = 0
    for name, variable in variables.items():
        bits, low = _bits_and_offset(variable.values)
        total += bits
        if variable.values.dtype == bool:
            entries.append({"name": name, "type": {"type": "bool", "size": bits}})
        else:
            entries.append({"name": name, "type": {"type": "uint", "size": bits}, "offset": low})
    if total % 8:
        entries.append({"padding": 8 - total % 8})
    return {"unique": True, "classes": [{"variables": entries}]}


def pack_valuations(variables: Mapping[str, Variable]) -> bytes:
    """Write the records, one per state."""
    columns = []
    for variable in variables.values():
        bits, low = _bits_and_offset(variable.values)
        shifted = (variable.values.astype(np.int64) - low).astype(np.uint64)
        columns.append(shifted[:, None] >> np.arange(bits, dtype=np.uint64) & np.uint64(1))
    table = np.concatenate(columns, axis=1).astype(np.uint8)
    return np.packbits(table, axis=1, bitorder="little").tobytes()


def _bits_and_offset(values: NDArray[Any]) -> tuple[int, int]:
    if values.dtype == bool:
        return 1, 0
    low, high = int(values.min()), int(values.max())
    return max((high - low).bit_length(), 1), low


def _layout(given: Any, wrong: Wrong) -> list[tuple[str, str, int, int]]:
    """Give (name, type, bits, offset) of every entry of a class; padding and flags have no name."""
    layout = []
    for entry in given.get("variables", []) if isinstance(given, dict) else [None]:
        if not isinstance(entry, dict):
            raise wrong("a state valuation is not described as a list of variables")
        if "padding" in entry:
            layout.append(("", "padding", _positive(entry["padding"], wrong), 0))
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
        if entry.get("is-optional"):
            layout.append((name, "present", 1, 0))
        layout.append((name, kind_name, bits, offset))
    return layout


def _positive(value: Any, wrong: Wrong) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 2**20:
        raise wrong(f"a state valuation has an entry of {str(value)[:20]} bits")
    return value


def _names(
    bits: NDArray[np.uint8], layout: Sequence[tuple[str, str, int, int]], strings: list[str] | None, wrong: Wrong
) -> list[str]:
    parts: list[list[str]] = []
    present: list[bool] | None = None
    at = 0
    for name, kind, width, offset in layout:
        field = bits[:, at : at + width]
        at += width
        if kind == "padding":
            continue
        if kind == "present":
            present = field[:, 0].astype(bool).tolist()
            continue
        texts = [f"{name}={value}" for value in _values(field, kind, offset, strings, wrong)]
        parts.append(texts if present is None else [t if p else "" for t, p in zip(texts, present, strict=True)])
        present = None
    return [", ".join(filter(None, row)) for row in zip(*parts, strict=True)] if parts else [""] * len(bits)


def _values(
    field: NDArray[np.uint8], kind: str, offset: int, strings: list[str] | None, wrong: Wrong
) -> Sequence[str | int | float]:
    if kind == "bool":
        return ["true" if value else "false" for value in field.max(axis=1).tolist()]
    width = field.shape[1]
    number = (field.astype(np.uint64) << np.arange(width, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    if kind == "double":
        return [float(value) for value in number.view(np.float64)]
    if kind == "string":
        if strings is None or (len(number) and int(number.max()) >= len(strings)):
            raise wrong("a state valuation names a text that is not there")
        return [strings[k] for k in number.tolist()]
    values = number.tolist()
    if kind == "int":
        values = [value - (1 << width) if value >> (width - 1) else value for value in values]
    return [value + offset for value in values]
