"""Which cells episodes pass, counted, and whether a chain says the same.

Under one strategy the importance of a cell for success is the share of the good runs that pass it. A chain between
cells may predict how many runs succeed and still be wrong about where they pass: an agent that drifts to one side
remembers it, cells do not. So the shares are counted in episodes that were held out, and those of the chain are checked
by them: the episodes that were counted say which cell speaks most against the chain, for good runs or for bad ones, and
in which direction. There the ``n`` episodes of the same kind that were held out are asked. With ``m`` that were
counted, a share ``p`` is off by

    z sqrt(p (1 - p) (1 / n + 1 / m))

in that direction once in sixty times, for ``z = 2.13``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.agents.fitting import standard_errors

Shares = NDArray[np.float64]  # (k,) by cell


class PassingFit(NamedTuple):
    """How far a chain is off in what runs pass, where the episodes it was counted from speak most against it.

    Examples
    --------
    >>> PassingFit("cell=c4", "positive", 0.31, 0.2)
    PassingFit(does not fit: error=0.310, chance=0.200, at cell=c4 of runs that end positive)
    """

    cell: str
    outcome: str  # of the episodes whose share it is
    error: float  # distance of the chain's share from that of the episodes held out; 0 on the other side
    chance: float  # distance that chance exceeds once in sixty times

    @property
    def fits(self) -> bool:
        """Whether the error may be chance."""
        return self.error <= self.chance

    def __repr__(self) -> str:
        said = "fits" if self.fits else "does not fit"
        where = f"at {self.cell} of runs that end {self.outcome}"
        return f"PassingFit({said}: error={self.error:.3f}, chance={self.chance:.3f}, {where})"


@dataclass(frozen=True, eq=False)
class Passages:
    """Which episodes pass which cells, and how they end.

    Attributes
    ----------
    cells
        (k,) names.
    through
        (e, k) whether an episode passes a cell.
    outcomes
        (e,) how each episode ends.
    held_out
        (e,) whether it had no say in the chain.

    Examples
    --------
    >>> through = np.array([[True, False], [True, True], [True, True]])
    >>> found = Passages(("a", "b"), through, np.array(["won", "lost", "won"]), np.array([False, True, True]))
    >>> found.shares(["won"], held_out=True).tolist(), found.shares(["won"], held_out=False).tolist()
    ([1.0, 1.0], [1.0, 0.0])
    """

    cells: tuple[str, ...]
    through: NDArray[np.bool_]
    outcomes: NDArray[np.str_]
    held_out: NDArray[np.bool_]

    def among(self, outcomes: Collection[str], *, held_out: bool) -> NDArray[np.bool_]:
        """(e,) the episodes that end so, of those that were held out or of the others."""
        found: NDArray[np.bool_] = np.isin(self.outcomes, list(outcomes)) & (self.held_out == held_out)
        return found

    def shares(self, outcomes: Collection[str], *, held_out: bool) -> Shares:
        """(k,) the share of these episodes that passes each cell."""
        found: Shares = self.through[self.among(outcomes, held_out=held_out)].mean(axis=0)
        return found

    def checked(self, outcomes: Collection[str], said: Shares) -> tuple[float, PassingFit]:
        """What runs that end so pass, as it is said and in the episodes held out, at the cell most spoken against.

        Returns
        -------
        tuple
            How much, in standard errors, the episodes that were counted speak against the cell, and the check of it.

        Examples
        --------
        >>> through = np.tile([[True, True], [True, False], [True, True], [True, True]], (25, 1))
        >>> passed = Passages(("a", "b"), through, np.full(100, "won"), np.arange(100) % 3 == 0)
        >>> passed.checked(["won"], np.array([1.0, 0.5]))[1]
        PassingFit(does not fit: error=0.265, chance=0.221, at b of runs that end won)
        """
        counted, held_out = (self.shares(outcomes, held_out=held) for held in (False, True))
        m, n = (int(self.among(outcomes, held_out=held).sum()) for held in (False, True))
        middle = (counted + said) / 2
        against = (counted - said) / np.sqrt(np.maximum(middle * (1 - middle), 1 / m) / m)
        k = int(np.abs(against).argmax())
        pooled = (m * said[k] + n * held_out[k]) / (m + n)
        chance = standard_errors() * np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
        error = max(0.0, (held_out[k] - said[k]) * np.sign(against[k]))
        fit = PassingFit(self.cells[k], " or ".join(outcomes), float(error), float(chance))
        return float(np.abs(against[k])), fit
