"""Cells: what observations are called the same, by features somebody names or by clusters of rows of numbers.

A cell is cut in two only where its own members refute it. A direction is sought in which the later success of members
differs from what the cell promises; it is found in one half of the episodes and put to the test in the other:

    z = sum_e g_e / sqrt(sum_e g_e^2),    g_e = sum over members i of episode e of (side_i - mean)(missed_i - mean)

Members of one episode share their fate, so that episodes are what is counted, not members. Of ``k`` cells those are cut
whose ``z`` chance would reach once in ``20 k`` times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.agents.networks import Vectors
from waypost.agents.observations import as_rows, stacked
from waypost.errors import ArgumentError, require

Space = Callable[[Any], Any]
LEAST_MEMBERS = 40  # of a cell that is cut
RIDGE = 0.1  # of the mean spread: what a direction must be worth that few members tell
CHANCE = 0.05  # of a cut, in any of the cells, that tells nothing


@dataclass(frozen=True, eq=False)
class Cells:
    """A name for every observation: a first name, split in two as often as it was needed.

    Attributes
    ----------
    space
        Rows of numbers in which near observations belong together: what a network computes. Without it, what is seen.
    features
        First name of an observation; without it the nearest of the `centres`.
    splits
        By name, the two points of which the nearer one decides how the name goes on.
    """

    space: Space | None
    features: Callable[[Any], Any] | None
    centres: Vectors | None
    mean: Vectors
    scale: Vectors
    splits: Mapping[str, Vectors] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        observations: Sequence[Any],
        *,
        space: Space | None,
        features: Callable[[Any], Any] | None,
        cells: int,
        seed: int,
    ) -> Cells:
        """Cells fitted to observations."""
        rows = in_space(space, observations)
        if features is None and not rows.shape[1]:
            raise ArgumentError("no part of these observations is a number: name them, features=, or pass space=")
        mean, scale = rows.mean(axis=0), rows.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        centres = None if features is not None else clustered((rows - mean) / scale, cells, seed)
        return cls(space, features, centres, mean, scale)

    def vectors(self, observations: Sequence[Any]) -> Vectors:
        """Rows of numbers, each column of spread 1."""
        return (in_space(self.space, observations) - self.mean) / self.scale

    def names(self, observations: Sequence[Any], vectors: Vectors | None = None) -> NDArray[np.object_]:
        """(n,) name of each observation."""
        rows = self.vectors(observations) if vectors is None else vectors
        if self.features is not None:
            names = np.array([str(self.features(seen)) for seen in observations], object)
        else:
            names = np.array([f"cell=c{k + 1}" for k in nearest(rows, self.centres).tolist()], object)
        for name, points in self.splits.items():  # a cell is cut before its parts are
            within = np.flatnonzero(names == name)
            names[within] = [f"{name}.{k + 1}" for k in nearest(rows[within], points).tolist()]
        return names

    def cut(self, name: str, points: Vectors) -> Cells:
        """The same with one cell cut in two."""
        return replace(self, splits={**self.splits, name: points})


def surely_told(rows: Vectors, missed: Vectors, episode: NDArray[np.int64], second: NDArray[np.bool_]) -> float:
    """How many standard errors what is missed differs along the direction that the other half of the episodes tells.

    Parameters
    ----------
    rows, missed
        The members of a cell, and by how much the success of each is above what the cell promises.
    episode
        The episode of each member.
    second
        By episode, whether it is in the second half.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> rows, episode = draw.normal(size=(400, 2)), np.arange(400)
    >>> told = surely_told(rows, rows[:, 0] + draw.normal(size=400), episode, episode % 2 == 0)
    >>> idle = surely_told(rows, draw.normal(size=400), episode, episode % 2 == 0)
    >>> told > 5, abs(idle) < 2
    (True, True)
    """
    scores = np.zeros(len(second))
    for half in (False, True):
        here = second[episode] == half
        points = telling_points(rows[~here], missed[~here])
        if points is None or not here.any():
            return 0.0
        side = nearest(rows[here], points)
        product = (side - side.mean()) * (missed[here] - missed[here].mean())
        scores += np.bincount(episode[here], weights=product, minlength=len(second))
    spread = float(np.sqrt((scores**2).sum()))
    return float(scores.sum()) / spread if spread > 0 else 0.0


def sure(cells: int) -> float:
    """Standard errors that chance exceeds in any of so many cells once in twenty times.

    >>> round(sure(1), 3), round(sure(10), 3)
    (1.645, 2.576)
    """
    return NormalDist().inv_cdf(1 - CHANCE / cells)


def telling_points(rows: Vectors, missed: Vectors) -> Vectors | None:
    """(2, d) points of which the nearer one tells best whether success is above what was expected; None if none does.

    They lie on both sides of the middle, along the direction of a ridge regression of what was missed.

    >>> rows = np.array([[0.0, 3], [0, -3], [1, 3], [1, -3]] * 10)
    >>> low, high = telling_points(rows, rows[:, 0] - 0.5)  # the first column tells, the second does not
    >>> bool(high[0] > low[0]), bool(abs(high[1] - low[1]) < 1e-9)
    (True, True)
    """
    if len(rows) < LEAST_MEMBERS // 2:
        return None
    middle = rows.mean(axis=0)
    centred = rows - middle
    spread = centred.T @ centred / len(rows)
    if not np.trace(spread) > 0:
        return None
    ridge = RIDGE * np.trace(spread) / len(middle) * np.eye(len(middle))
    way = np.linalg.solve(spread + ridge, centred.T @ (missed - missed.mean()) / len(rows))
    side = centred @ way > 0
    if min(side.sum(), (~side).sum()) < LEAST_MEMBERS // 8:
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


def nearest(rows: Vectors, centres: Any) -> NDArray[np.int64]:
    """(n,) number of the centre nearest to each row: the least ``|c|^2 - 2 x c``."""
    found: NDArray[np.int64] = np.argmin((centres**2).sum(axis=1) - 2 * (rows @ centres.T), axis=1)
    return found


def in_space(space: Space | None, observations: Sequence[Any]) -> Vectors:
    """(n, d) rows of numbers of observations, in a space of their own or as they are."""
    if space is None:
        return as_rows(observations)
    rows = np.asarray(space(stacked(observations)), float)
    if len(np.atleast_1d(rows)) != len(observations):
        raise ArgumentError(
            f"space= gives {len(np.atleast_1d(rows))} rows for {len(observations)} observations; it is given all of "
            "them at once and answers with a row of numbers for each"
        )
    return rows.reshape(len(rows), -1)
