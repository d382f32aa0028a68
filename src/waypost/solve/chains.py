"""Linear systems of Markov chains in floats, with a bound on what rounding may have done.

``x = Q x + c`` for a substochastic ``Q`` from which every state is left. The condition of the system is the expected
number of steps before leaving, ``z = Q z + 1``: a direct solve loses about as many digits as ``z`` has. Where that is
too many, states are cut out one after the other without a single subtraction (Grassmann, Taksar, Heyman 1985): slow,
and accurate however rarely the chain is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, identity
from scipy.sparse.linalg import SuperLU, splu

from waypost.errors import PrecisionError
from waypost.graph.compiled import kernel

Floats = NDArray[np.float64]
Key = tuple[NDArray[np.int64], NDArray[np.int64]]

FINE = 1e-12  # an error of this size needs no second look
TOLERABLE = 1e-9  # a larger one is never returned
SMALL = 100  # so few states are cut out at once: as quick as sparse factors
MOST_DENSE = 1_500  # states that may be cut out one after the other


def factorised(steps: csr_array) -> tuple[SuperLU, float]:
    """Sparse factors of ``I - Q``, and a bound on the relative error of solving with them.

    ``Q`` has no diagonal (an `Arena` has no self-loops), so nothing is subtracted from 1.
    """
    n = steps.shape[0]
    lu = splu(csc_array(identity(n, format="csr") - steps), permc_spec="COLAMD", diag_pivot_thresh=0.0)
    return lu, float(np.abs(lu.solve(np.ones(n))).max() * np.finfo(float).eps)


def solve_chain(
    steps: csr_array, leaving: Floats, constant: Floats, solved: dict[int, Any] | None = None, key: Key | None = None
) -> Floats:
    """Solve ``x = Q x + c``, for one column or several; `leaving` is the probability of leaving each state for good.

    The last factors of each component are kept in `solved`; `key` says what they are of: its states and their choices.

    >>> steps = csr_array(np.array([[0.0, 1 - 1e-12], [1.0, 0.0]]))
    >>> solve_chain(steps, np.array([1e-12, 0.0]), np.array([1e-12, 0.0])).tolist()
    [1.0, 1.0]
    """
    if len(leaving) <= SMALL:
        return _cut_out(steps.toarray(), leaving.copy(), constant.copy())
    solved = {} if solved is None else solved
    where = -1 if key is None else int(key[0][0])
    lu, error, known = solved.get(where, (None, np.inf, None))
    if known is None or key is None or not all(map(np.array_equal, known, key)):
        try:
            lu, error = factorised(steps)
        except RuntimeError:  # singular to working precision
            lu, error = None, np.inf
        solved[where] = (lu, error, key)
    if lu is not None and error <= FINE:
        return np.asarray(lu.solve(constant))
    if len(leaving) <= MOST_DENSE:
        order = np.arange(len(leaving)) if lu is None else np.argsort(lu.perm_c)[::-1]  # keeps most entries 0
        solution = np.empty_like(constant)
        solution[order] = _cut_out(steps[order][:, order].toarray(), leaving[order], constant[order])
        return solution
    if lu is None or not error <= TOLERABLE:
        raise PrecisionError("this model is left so rarely that floats lose all digits; try exact arithmetic")
    return np.asarray(lu.solve(constant))


def _cut_out(steps: Floats, leaving: Floats, constant: Floats) -> Floats:
    """Eliminate one state after the other, adding only; the arguments are used up."""
    columns = constant.reshape(len(leaving), -1)
    if not _eliminate.sized(steps.size)(steps, leaving, columns):
        raise PrecisionError("a part of this model is never left; try exact arithmetic")
    return columns.reshape(constant.shape)


@kernel
def _eliminate(steps, leaving, columns):  # type: ignore[no-untyped-def]
    """Solve in place, from the last state to the first and back; False if some state cannot be left."""
    n = len(leaving)
    for i in range(n - 1, -1, -1):
        total = leaving[i] + steps[i, :i].sum()
        if total <= 0.0:
            return False
        steps[i, :i] /= total
        leaving[i] /= total
        columns[i] /= total
        for r in range(i):
            weight = steps[r, i]
            if weight > 0.0:
                steps[r, :i] += weight * steps[i, :i]
                leaving[r] += weight * leaving[i]
                columns[r] += weight * columns[i]
    for i in range(n):
        columns[i] += steps[i, :i] @ columns[:i]
    return True
