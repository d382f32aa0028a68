"""Observations as rows of numbers: arrays, numbers, and the dicts and tuples of them that Gymnasium knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from waypost.agents.networks import Vectors


def stacked(observations: Sequence[Any]) -> Any:
    """All observations at once, as a network takes them: an array, or by key an array where they are dicts.

    >>> stacked([{"at": [1, 2], "fuel": 5}, {"at": [3, 4], "fuel": 4}])["fuel"].tolist()
    [5, 4]
    """
    if isinstance(observations[0], Mapping):
        return {key: stacked([seen[key] for seen in observations]) for key in observations[0]}
    return np.stack([np.asarray(seen) for seen in observations])


def as_rows(observations: Sequence[Any]) -> Vectors:
    """(n, d) the numbers in each observation; text in a dict is left out.

    >>> as_rows([{"at": [1, 2], "fuel": 5, "task": "land"}, {"at": [3, 4], "fuel": 4, "task": "land"}]).tolist()
    [[1.0, 2.0, 5.0], [3.0, 4.0, 4.0]]
    """
    return np.hstack(_columns_of(observations))


def _columns_of(observations: Sequence[Any]) -> list[Vectors]:
    first = observations[0]
    if isinstance(first, Mapping):
        return [part for key in first for part in _columns_of([seen[key] for seen in observations])]
    if isinstance(first, tuple):
        return [part for k in range(len(first)) for part in _columns_of([seen[k] for seen in observations])]
    found = np.stack([np.asarray(seen) for seen in observations])
    numbers = found.dtype.kind in "biuf"
    return [found.reshape(len(found), -1).astype(float) if numbers else np.zeros((len(found), 0))]


def column_names(observation: Any, called: str = "") -> list[str]:
    """Names for the numbers in an observation: the keys of a dict, and the place where a key has several.

    >>> column_names({"at": [1, 2], "fuel": 5, "task": "land"}), column_names([0.5, 0.1])
    (['at 0', 'at 1', 'fuel'], ['0', '1'])
    """
    if isinstance(observation, Mapping):
        return [name for key, part in observation.items() for name in column_names(part, f"{called} {key}".strip())]
    if isinstance(observation, tuple):
        parts = enumerate(observation)
        return [name for k, part in parts for name in column_names(part, f"{called} {k}".strip())]
    found = np.asarray(observation)
    if found.dtype.kind not in "biuf":
        return []
    return [called or "0"] if found.size == 1 else [f"{called} {k}".strip() for k in range(found.size)]
