"""Rows of eight: machine code and plain Python find the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from waypost.graph.compiled import kernel
from waypost.graph.eightfold import any_of, eight, put, row, rows_of_eight, where


@kernel
def _reckon(floats, integers, truths, places):  # type: ignore[no-untyped-def]
    """All that can be done with rows, one after the other; a row may be its own operand."""
    for k, i, j in places:
        one, other = row(floats, i), row(floats, j)
        result = one + other * 3.0 - 0.5 / other
        larger = (one > other) & ~(one <= 0.25) | (row(integers, i) == row(integers, j)) & row(truths, j)
        larger = larger & (other >= one - 1e300) | (one < 0.0) & (one != other) & (row(integers, j) >= -3)
        put(floats, k, where(larger, result, eight(2.0)))
        put(integers, k, where(one == other, k, row(integers, j)))
        put(truths, k, larger)
        if any_of(row(truths, i)):
            put(floats, j, -1.0)
            put(truths, j, False)


@kernel
def _taken(rows):  # type: ignore[no-untyped-def]
    return any_of(row(rows, 0) > 0.0)


@kernel
def _mixed(floats, integers):  # type: ignore[no-untyped-def]
    put(floats, 0, row(floats, 0) + row(integers, 0))


@pytest.mark.parametrize("index", [np.int64, np.int32])
def test_rows_are_reckoned_with_to_the_last_bit(index):
    draw = np.random.default_rng(3)
    floats = draw.standard_normal((20, 8)) * 10.0 ** draw.integers(-200, 200, (20, 8))
    floats[0] = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e308, -1e308]
    before = floats, draw.integers(-5, 5, (20, 8)), draw.random((20, 8)) < 0.4
    places = draw.integers(0, 20, (300, 3)).astype(index)
    results = []
    for run in (_reckon.plain, _reckon.compiled):
        arrays = tuple(a.copy() for a in before)
        with np.errstate(all="ignore"):
            run(*arrays, places)
        results.append(arrays)
    for plain, compiled, old in zip(*results, before, strict=True):
        assert plain.tobytes() == compiled.tobytes() or np.array_equal(plain, compiled, equal_nan=True)
        assert not np.array_equal(plain, old, equal_nan=True)


@pytest.mark.parametrize("rows", [np.zeros((4, 8), np.float32), np.zeros((4, 16))[:, ::2], np.zeros((8, 4)).T])
def test_other_arrays_are_refused(rows):
    """Machine code would take what lies in memory for eight floats."""
    from numba.core.errors import TypingError

    with pytest.raises(TypingError):
        _taken.compiled(rows)


def test_rows_of_different_kinds_are_refused():
    """There is no instruction for them, and a number that is no float would be taken for one."""
    from numba.core.errors import TypingError

    with pytest.raises(TypingError):
        _mixed.compiled(np.zeros((1, 8)), np.zeros((1, 8), np.int64))


@pytest.mark.parametrize("number", [5e-324, np.inf, -1.0, np.nan, 0.0])
@pytest.mark.parametrize("place", range(8))
def test_any_of_eight_is_seen(number, place):
    rows = np.zeros((1, 8))
    rows[0, place] = number
    assert _taken.plain(rows) is _taken.compiled(rows) is (number > 0.0)


@pytest.mark.parametrize("run", [rows_of_eight.plain, rows_of_eight.compiled])
def test_rows_lie_on_lines_of_the_cache(run):
    for n in range(1, 40):
        rows = run(n)
        assert rows.shape == (n, 8)
        assert rows.ctypes.data % 64 == 0
        assert not rows.any()
