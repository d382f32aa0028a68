"""Rows of eight: machine code and plain Python find the same bits, also where rows are the same."""

from __future__ import annotations

import numpy as np
import pytest

from waypost.graph.compiled import kernel
from waypost.graph.eightfold import add_product, any_above


@kernel
def _follow(rows, one, other, places):  # type: ignore[no-untyped-def]
    """Add products as told; a row may be its own factor."""
    for k, i, j in places:
        add_product(rows, k, one, i, other, j)


@kernel
def _found(rows, some):  # type: ignore[no-untyped-def]
    for k in range(len(rows)):
        some[k] = any_above(rows, k)


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("index", [np.int64, np.int32])
def test_products_are_added_to_the_last_bit(same, index):
    draw = np.random.default_rng(3)
    arrays = [draw.standard_normal((20, 8)) * 10.0 ** draw.integers(-200, 200, (20, 8)) for _ in range(3)]
    arrays[0][0] = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e308, -1e308]
    places = draw.integers(0, 20, (300, 3)).astype(index)
    results = []
    for run in (_follow.plain, _follow.compiled):
        rows, one, other = (a.copy() for a in arrays)
        with np.errstate(all="ignore"):
            run(rows, *((rows, rows) if same else (one, other)), places)
        results.append(rows)
    plain, compiled = results
    assert np.array_equal(plain, compiled, equal_nan=True)
    known = ~np.isnan(plain)
    assert np.array_equal(np.signbit(plain[known]), np.signbit(compiled[known]))
    assert not np.array_equal(plain, arrays[0], equal_nan=True)


@pytest.mark.parametrize("rows", [np.zeros((4, 8), np.float32), np.zeros((4, 16))[:, ::2], np.zeros((8, 4)).T])
def test_other_arrays_are_refused(rows):
    """Machine code would take what lies in memory for eight floats."""
    from numba.core.errors import TypingError

    with pytest.raises(TypingError):
        _found.compiled(rows, np.zeros(4, bool))


def test_a_row_is_above_0_where_a_number_is():
    rows = np.zeros((12, 8))
    for k in range(8):
        rows[k, k] = 5e-324
    rows[8], rows[9, 3], rows[10, 0] = -1.0, np.nan, np.inf
    plain, compiled = np.zeros(12, bool), np.zeros(12, bool)
    _found.plain(rows, plain)
    _found.compiled(rows, compiled)
    assert plain.tolist() == compiled.tolist() == [True] * 8 + [False, False, True, False]
