"""Transition tensors ``P[a, s, s']``: a numpy array, or one (sparse) matrix per action."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, issparse

from waypost.errors import FormatError
from waypost.model import MDP


def from_tensor(
    tensor: Any,
    *,
    initial: int = 0,
    states: Sequence[str] | None = None,
    actions: Sequence[str] | None = None,
    labels: Mapping[str, ArrayLike] | None = None,
) -> MDP:
    """Build an MDP from the probabilities ``tensor[a][s, s']``.

    An action with an empty row is not enabled in that state. Labels are masks over states or lists of state numbers.

    >>> from_tensor([[[0.1, 0.9], [0, 1]], [[1, 0], [0, 0]]], labels={"goal": [1]})
    MDP(states=2, choices=3, transitions=4, initial='0')
    """
    matrices = [_matrix(given, a) for a, given in enumerate(_per_action(tensor))]
    if not matrices:
        raise FormatError("the transition tensor has no actions")
    n_states = matrices[0].shape[0]
    for a, matrix in enumerate(matrices):
        if matrix.shape != (n_states, n_states):
            raise FormatError(f"the matrix of action {a} is {matrix.shape}, not ({n_states}, {n_states})")
    names = list(actions) if actions is not None else [str(a) for a in range(len(matrices))]
    if len(names) != len(matrices):
        raise FormatError(f"{len(names)} action names for {len(matrices)} actions")
    state = np.concatenate([m.coords[0] for m in matrices]).astype(np.int64)
    action = np.concatenate([np.full(m.nnz, a) for a, m in enumerate(matrices)])
    rows, choice = np.unique(state * len(matrices) + action, return_inverse=True)
    return MDP.from_triplets(
        choice,
        np.concatenate([m.coords[1] for m in matrices]),
        np.concatenate([m.data for m in matrices]),
        first_choice=np.searchsorted(rows // len(matrices), np.arange(n_states + 1)),
        states=[str(s) for s in range(n_states)] if states is None else states,
        actions=[names[a] for a in (rows % len(matrices)).tolist()],
        initial=initial,
        labels={name: _mask(given, n_states, name) for name, given in (labels or {}).items()},
    )


def _per_action(tensor: Any) -> Iterable[Any]:
    if issparse(tensor):
        raise FormatError("P[a, s, s'] needs one matrix per action; this is a single sparse matrix")
    if isinstance(tensor, np.ndarray) and tensor.ndim != 3:
        raise FormatError(f"P[a, s, s'] has three dimensions, this array has {tensor.ndim}")
    return list(tensor)


def _matrix(given: Any, action: int) -> Any:
    try:
        matrix = coo_array(given if issparse(given) else np.asarray(given, float))
    except (ValueError, TypeError) as error:
        raise FormatError(f"the matrix of action {action} is no table of numbers: {error}") from None
    if matrix.ndim != 2:
        raise FormatError(f"the matrix of action {action} has {matrix.ndim} dimensions, not two")
    matrix.eliminate_zeros()
    return matrix


def _mask(given: ArrayLike, n_states: int, name: str) -> ArrayLike:
    array = np.asarray(given)
    if array.dtype == bool:
        return array
    mask = np.zeros(n_states, bool)
    if array.size and not (np.issubdtype(array.dtype, np.integer) and array.min() >= 0 and array.max() < n_states):
        raise FormatError(f"label {name!r} is neither a mask over the states nor a list of state numbers")
    mask[array.astype(np.int64)] = True
    return mask
