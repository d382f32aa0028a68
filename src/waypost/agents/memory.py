"""Whether what comes after a cell depends on how it was come by, which no chain between cells can tell.

A chain forgets: whatever happened before, the next step out of a cell has the same odds. So let ``y`` be what a step
leads to, by its worth for success in the chain, and ``h`` something about the past: that a certain cell was passed,
that the way here was straight from one, that it is late, that the stay is long. In every cell and stage, in which both
have their means taken off,

    z = sum h y / sqrt(sum h^2 var(y))

is then a sum of steps none of which can be foretold, divided by its spread. If the agent remembers, it is large.
There are many such ``h``. In the episodes that were counted each has a ``z`` of its own; the episodes held out are
asked once, about all of them together, each with the cube of that ``z`` for its weight: one that tells much outweighs
thousands that tell nothing, and many that tell a little add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.agents.fitting import standard_errors

LEAST_STEPS = 20  # that were counted with a past, and without it
NOTHING = 1e-12  # variance that is rounding

Worth = NDArray[np.float64]  # (N,) of each place, for an outcome


class MemoryFit(NamedTuple):
    """How surely what comes after cells depends on the past, and where that makes the greatest difference.

    Examples
    --------
    >>> MemoryFit("cell=c4", "came by cell=c1", 4.2, 0.8, 0.3)
    MemoryFit(does not fit: 4.2 standard errors, chance=2.1; most at cell=c4 of runs that came by cell=c1)
    """

    cell: str
    past: str  # of some of the runs that are there
    surely: float  # standard errors from what a chain would show, in the episodes held out
    after: float  # probability of success, by the chain, where the next step leads: of those held out with this past
    otherwise: float  # of the others there

    @property
    def chance(self) -> float:
        """Standard errors that chance exceeds once in sixty times."""
        return standard_errors()

    @property
    def fits(self) -> bool:
        """Whether it may be chance."""
        return self.surely <= self.chance

    def __repr__(self) -> str:
        said = "fits" if self.fits else "does not fit"
        where = f"most at {self.cell} of runs that {self.past}"
        return f"MemoryFit({said}: {self.surely:.1f} standard errors, chance={self.chance:.1f}; {where})"


@dataclass(frozen=True, eq=False)
class CellVisits:
    """Visits to cells, one entry for every step, episode by episode, and where the step led.

    Attributes
    ----------
    cells
        (k,) names.
    episode, time, stage
        (n,) when it was: episodes follow one another.
    here, there
        (n,) the cell, and the place the step led to: a cell, or ``k`` and more for an outcome; below 0 where there is
        no such place in the chain.
    counted
        (n,) whether the episode was counted.
    """

    cells: tuple[str, ...]
    episode: NDArray[np.int64]
    time: NDArray[np.int64]
    stage: NDArray[np.int64]
    here: NDArray[np.int64]
    there: NDArray[np.int64]
    counted: NDArray[np.bool_]

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """(e, k) the first visit of each episode to each cell; n where there is none."""
        n = len(self.here)
        found = np.full((int(self.episode.max()) + 1, len(self.cells)), n)
        known = np.flatnonzero(self.here >= 0)
        np.minimum.at(found, (self.episode[known], self.here[known]), known)
        return found

    @cached_property
    def entered(self) -> NDArray[np.int64]:
        """(n,) the visit with which the stay in the cell began."""
        n = np.arange(len(self.here))
        moved = np.ones(len(n), bool)
        moved[1:] = (self.here[1:] != self.here[:-1]) | (self.episode[1:] != self.episode[:-1])
        found: NDArray[np.int64] = np.maximum.accumulate(np.where(moved, n, 0))
        return found

    @cached_property
    def stay(self) -> NDArray[np.int64]:
        """(n,) the steps since then."""
        return self.time - self.time[self.entered]

    def members(self, cell: int, *, counted: bool) -> NDArray[np.int64]:
        """The visits to a cell whose step led to a place of the chain."""
        return np.flatnonzero((self.here == cell) & (self.there >= 0) & (self.counted == counted))

    def past(self, cell: int, visits: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(m, 2 k + 2) what is asked about the past of visits to a cell, as `said` names it."""
        middle = self.members(cell, counted=True)
        before = self.entered[visits] - 1
        inside = (before >= 0) & (self.episode[before] == self.episode[visits])
        came_from = np.where(inside, self.here[before], -1)
        return np.column_stack(
            [
                self.first[self.episode[visits]] < visits[:, None],
                came_from[:, None] == np.arange(len(self.cells)),
                self.time[visits] > np.median(self.time[middle]),
                self.stay[visits] > np.median(self.stay[middle]),
            ]
        )

    def said(self, cell: int, which: int) -> str:
        """What runs with this past did."""
        k, middle = len(self.cells), self.members(cell, counted=True)
        if which < k:
            return "came back to it" if which == cell else f"came by {self.cells[which]}"
        if which < 2 * k:
            return f"came straight from {self.cells[which - k]}"
        if which == 2 * k:
            return f"are there after step {int(np.median(self.time[middle]))}"
        steps = int(np.median(self.stay[middle])) + 1
        return f"have been there for more than {steps} step{'s' * (steps > 1)}"


class _Cell(NamedTuple):
    """Steps out of a cell, with the means of their stages taken off."""

    past: NDArray[np.float64]  # (m, q)
    led: NDArray[np.float64]  # (m,) to what worth
    variance: NDArray[np.float64]  # (m,) of that, in its stage

    @classmethod
    def of(cls, visits: CellVisits, cell: int, worth: Worth, *, counted: bool) -> _Cell:
        at = visits.members(cell, counted=counted)
        stage = visits.stage[at]
        led = _centred(worth[visits.there[at]][:, None], stage)[:, 0]
        _, group, size = np.unique(stage, return_inverse=True, return_counts=True)
        variance = np.bincount(group, weights=led**2, minlength=len(size)) / np.maximum(size - 1, 1)
        return cls(_centred(visits.past(cell, at).astype(float), stage), led, variance[group])

    def asked(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of what was led to, by a past or by weighted ones (q, w), and their variances."""
        weighed = self.past @ weights
        return self.led @ weighed, self.variance @ weighed**2


def memory_fit(visits: CellVisits, worth: Worth) -> MemoryFit | None:
    """How surely the steps of the episodes held out depend on pasts that tell in those counted; None where none can.

    Parameters
    ----------
    visits
        Of all episodes.
    worth
        (N,) of every place.

    Examples
    --------
    Runs come by cell a or b to cell c, and who came by a wins:

    >>> here, there = np.tile([0, 2, 1, 2], 50), np.tile([2, 3, 2, 4], 50)
    >>> episode, time, counted = np.repeat(np.arange(100), 2), np.tile([0, 1], 100), np.arange(200) % 16 < 12
    >>> visits = CellVisits(("a", "b", "c"), episode, time, 0 * time, here, there, counted)
    >>> memory_fit(visits, np.array([0.5, 0.5, 0.5, 1, 0]))
    MemoryFit(does not fit: 4.8 standard errors, chance=2.1; most at c of runs that came by a)
    """
    k = len(visits.cells)
    told = np.zeros((k, 2 * k + 2))  # standard errors, in the episodes that were counted
    spread, difference = np.ones_like(told), np.zeros_like(told)
    for cell in range(k):
        steps = _Cell.of(visits, cell, worth, counted=True)
        if len(steps.led) < 2 * LEAST_STEPS:
            continue
        with_it = visits.past(cell, visits.members(cell, counted=True)).sum(axis=0)
        total, variance = steps.asked(np.eye(2 * k + 2))
        enough = (np.minimum(with_it, len(steps.led) - with_it) >= LEAST_STEPS) & (variance > NOTHING)
        spread[cell] = np.sqrt(np.where(enough, variance, 1.0))
        told[cell] = np.where(enough, total / spread[cell], 0.0)
        difference[cell] = np.where(enough, total, 0.0) / np.maximum((steps.past**2).sum(axis=0), NOTHING)
    if not told.any():
        return None
    weights = told**3 / spread
    asked = np.array(
        [
            _Cell.of(visits, cell, worth, counted=False).asked(weights[cell])
            for cell in np.flatnonzero(weights.any(axis=1)).tolist()
        ]
    )
    total, variance = asked.sum(axis=0).tolist()
    surely = float(total / np.sqrt(variance)) if variance > NOTHING else 0.0
    plain = np.abs(told) >= np.abs(told).max() / 2
    cell, which = divmod(int(np.where(plain, np.abs(difference), 0.0).argmax()), 2 * k + 2)
    return MemoryFit(visits.cells[cell], visits.said(cell, which), surely, *_odds(visits, cell, which, worth))


def _odds(visits: CellVisits, cell: int, which: int, worth: Worth) -> tuple[float, float]:
    """Worth of what steps out of a cell lead to, in the episodes held out: with a past, and without, stage by stage."""
    at, steps = visits.members(cell, counted=False), _Cell.of(visits, cell, worth, counted=False)
    past = steps.past[:, which]
    if not (past**2).sum() > NOTHING:
        return np.nan, np.nan
    difference, share = past @ steps.led / (past @ past), visits.past(cell, at)[:, which].mean()
    mean = worth[visits.there[at]].mean()
    after, otherwise = np.clip([mean + (1 - share) * difference, mean - share * difference], 0, 1).tolist()
    return after, otherwise


def _centred(values: NDArray[np.float64], stage: NDArray[np.int64]) -> NDArray[np.float64]:
    """(m, q) with the mean of each column, over the visits of the same stage, taken off."""
    _, group, size = np.unique(stage, return_inverse=True, return_counts=True)
    total = np.zeros((len(size), values.shape[1]))
    np.add.at(total, group, values)
    return values - (total / size[:, None])[group]
