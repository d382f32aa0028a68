"""Which cells episodes pass, counted, and whether a chain says the same.

Under one strategy the importance of a cell for success is the share of the good runs that pass it. A chain between
cells may predict how many runs succeed and still be wrong about where they pass: an agent that drifts to one side
remembers it, cells do not. So the shares are counted in episodes that were held out, and those of the chain are checked
by them.
With ``n`` episodes of one kind held out and ``k`` cells, chance moves a share of theirs by more than

    sqrt(log(4 k / 0.05) / (2 n))

in any cell, for the good or for the bad, 5 times in 100 at most (Hoeffding).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Shares = NDArray[np.float64]  # (k,) by cell


class PassingFit(NamedTuple):
    """How far a chain is off in what runs pass, where that is most beyond chance.

    Examples
    --------
    >>> PassingFit("cell=c4", "positive", 0.31, 0.2)
    PassingFit(does not fit: error=0.310, chance=0.200, at cell=c4 of runs that end positive)
    """

    cell: str
    outcome: str  # of the episodes whose share it is
    error: float  # distance of the chain's share from that of the episodes held out
    chance: float  # distance that chance exceeds, anywhere, 5 times in 100 at most

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

    def chance(self, outcomes: Collection[str]) -> float:
        """Distance of a share from the truth that chance exceeds, anywhere, 5 times in 100 at most."""
        episodes = int(self.among(outcomes, held_out=True).sum())
        return float(np.sqrt(np.log(4 * len(self.cells) / 0.05) / (2 * episodes)))
