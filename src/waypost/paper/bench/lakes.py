"""Frozen lakes of any size: grids with holes, in which every field offers four choices, on firm or on slippery ice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from waypost.errors import ModelError
from waypost.model import MDP

HOLES = 0.2  # share of the fields
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))  # left, down, right, up


def lake(size: int, *, slippery: bool, seed: int = 1) -> MDP:
    """Square lake with random holes and a way from the first field to the last, which is the target ``"goal"``.

    On slippery ice a step goes where it should with probability 1/3, and as often to either side of that.

    >>> mdp = lake(8, slippery=True)
    >>> mdp.n_states, int(np.diff(mdp.first_choice).max())
    (64, 4)
    """
    if size < 2:
        raise ModelError(f"a lake has at least 2 fields in a row, not {size}")
    rng = np.random.default_rng([seed, size])
    frozen = rng.random((size, size)) >= HOLES
    frozen[0, 0] = frozen[-1, -1] = True
    while not _connected(frozen):
        frozen |= rng.random((size, size)) < HOLES
    rows, columns = np.divmod(np.arange(size * size), size)
    walks = frozen.ravel() & (np.arange(size * size) < size * size - 1)
    owned = np.where(walks, 4, 1)
    first = np.concatenate([[0], np.cumsum(owned)])
    triplets = [(first[:-1][~walks], np.flatnonzero(~walks), np.ones((~walks).sum()))]
    slips = (-1, 0, 1) if slippery else (0,)
    for action in range(4):
        for slip in slips:
            down, right = MOVES[(action + slip) % 4]
            there = np.clip(rows + down, 0, size - 1) * size + np.clip(columns + right, 0, size - 1)
            triplets.append((first[:-1][walks] + action, there[walks], np.full(walks.sum(), 1 / len(slips))))
    choice, successor, weight = (np.concatenate(column) for column in zip(*triplets, strict=True))
    names = np.array(["left", "down", "right", "up"])
    place = np.arange(first[-1]) - np.repeat(first[:-1], owned)
    return MDP.from_triplets(
        choice,
        successor,
        weight,
        first_choice=first,
        states=[f"{r},{c}" for r, c in zip(rows, columns, strict=True)],
        actions=np.where(np.repeat(walks, owned), names[place], "stay").tolist(),
        initial=0,
        labels={"goal": np.arange(size * size) == size * size - 1},
    )


def _connected(frozen: NDArray[np.bool_]) -> bool:
    """Whether steps over frozen fields lead from the first to the last."""
    seen = np.zeros_like(frozen)
    seen[0, 0] = True
    while True:
        near = seen.copy()
        near[1:] |= seen[:-1]
        near[:-1] |= seen[1:]
        near[:, 1:] |= seen[:, :-1]
        near[:, :-1] |= seen[:, 1:]
        near &= frozen
        if (near == seen).all():
            return bool(seen[-1, -1])
        seen = near
