"""Cells: what observations are called the same, by features somebody names or by clusters of rows of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from waypost.agents.networks import Vectors
from waypost.errors import ArgumentError, require

Space = Callable[[Any], Any]
LEAST_MEMBERS = 40  # of a cell that is cut along what tells success
RIDGE = 0.1  # of the mean spread: what a direction must be worth that few members tell


@dataclass(frozen=True, eq=False)
class Cells:
    """A name for every observation: a first name, split in two as often as it was needed.

    Attributes
    ----------
    space
        Rows of numbers in which near observations belong together: what a network computes, or what it sees.
    features
        First name of an observation; without it the nearest of the `centres`.
    splits
        By name, the two points of which the nearer one decides how the name goes on.
    """

    space: Space
    features: Callable[[Any], Any] | None
    centres: Vectors | None
    mean: Vectors
    scale: Vectors
    splits: Mapping[str, Vectors] = field(default_factory=dict)

    @classmethod
    def of(
        cls, observations: Sequence[Any], *, space: Space, features: Callable[[Any], Any] | None, cells: int, seed: int
    ) -> Cells:
        """Cells fitted to observations."""
        rows = _rows(space, observations)
        mean, scale = rows.mean(axis=0), rows.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        centres = None if features is not None else clustered((rows - mean) / scale, cells, seed)
        return cls(space, features, centres, mean, scale)

    def vectors(self, observations: Sequence[Any]) -> Vectors:
        """Rows of numbers, each column of spread 1."""
        return (_rows(self.space, observations) - self.mean) / self.scale

    def names(self, observations: Sequence[Any], vectors: Vectors | None = None) -> list[str]:
        """Name of each observation."""
        rows = self.vectors(observations) if vectors is None else vectors
        if self.features is not None:
            names = [str(self.features(seen)) for seen in observations]
        else:
            names = [f"cell=c{k + 1}" for k in _nearest(rows, self.centres).tolist()]
        cut = np.array(names, object)
        for name, points in self.splits.items():  # a cell is cut before its parts are
            within = np.flatnonzero(cut == name)
            if len(within):
                cut[within] = [f"{name}.{k + 1}" for k in _nearest(rows[within], points).tolist()]
        return [str(name) for name in cut.tolist()]

    def refined(self, name: str, members: Vectors, missed: Vectors, seed: int) -> Cells:
        """The same with one cell cut in two, along what tells its members' success; as it is if they are all alike.

        `missed` is by how much the success of each member is above what the cell promises.
        """
        if len(np.unique(members, axis=0)) < 2:
            return self
        points = telling_points(members, missed)
        cut = clustered(members, 2, seed) if points is None else points
        return Cells(self.space, self.features, self.centres, self.mean, self.scale, {**self.splits, name: cut})


def telling_points(rows: Vectors, missed: Vectors) -> Vectors | None:
    """(2, d) points of which the nearer one tells best whether success is above what was expected; None if none does.

    They lie on both sides of the middle, along the direction of a ridge regression of what was missed.

    >>> rows = np.array([[0.0, 3], [0, -3], [1, 3], [1, -3]] * 10)
    >>> low, high = telling_points(rows, rows[:, 0] - 0.5)  # the first column tells, the second does not
    >>> bool(high[0] > low[0]), bool(abs(high[1] - low[1]) < 1e-9)
    (True, True)
    """
    if len(rows) < LEAST_MEMBERS:
        return None
    middle = rows.mean(axis=0)
    centred = rows - middle
    spread = centred.T @ centred / len(rows)
    ridge = RIDGE * np.trace(spread) / len(middle) * np.eye(len(middle))
    way = np.linalg.solve(spread + ridge, centred.T @ (missed - missed.mean()) / len(rows))
    side = centred @ way > 0
    if min(side.sum(), (~side).sum()) < LEAST_MEMBERS // 4:
        return None
    return np.stack([middle - way, middle + way])


def clustered(rows: Vectors, cells: int, seed: int) -> Vectors:
    """(k, d) centres of at most `cells` clusters (k-means)."""
    if cells < 1:
        raise ArgumentError(f"cells is a number of clusters, not {cells}")
    library = require("sklearn.cluster", "agents", "clustering what a network computes")
    different = len(np.unique(rows[:10_000], axis=0))
    chosen = np.random.default_rng(seed).permutation(len(rows))[:20_000]
    found = library.KMeans(min(cells, different), n_init=4, random_state=seed).fit(rows[chosen])
    return np.asarray(found.cluster_centers_, float)


def _rows(space: Space, observations: Sequence[Any]) -> Vectors:
    rows = np.asarray(space(np.stack([np.asarray(seen, float) for seen in observations])), float)
    return rows.reshape(len(rows), -1)


def _nearest(rows: Vectors, centres: Any) -> Any:
    return np.argmin(((rows[:, None, :] - centres[None]) ** 2).sum(axis=2), axis=1)
