"""How far off a chain's odds are from a cell: an effect, told beside the verdict whether the chain remembers enough.

With many episodes every chain is refused, for no chain is quite right; what matters then is by how much. From a cell
the chain says success has the probability ``q``. Of the episodes that pass the cell, counted once each, a share
succeeds; of those held out it is ``x`` of ``n``. Which cell to ask about is decided by the episodes that were counted:
the one at which they are furthest from the chain, less one standard error. So the episodes held out know nothing of the
choice, ``x`` is a binomial number, and the interval of Clopper and Pearson,

    I^-1(x, n - x + 1; 0.025)  to  I^-1(x + 1, n - x; 0.975),    I the regularised incomplete beta function,

misses the agent's own share at most once in twenty times. It is about this cell alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from waypost.agents.memory import CellVisits
from waypost.agents.passing import Passages

LEAST_EPISODES = 20  # that were counted and pass a cell, and that were held out and do
MISSED = 0.05  # how often an interval may miss the truth


class CellOdds(NamedTuple):
    """The odds of success from the cell at which the chain is furthest off, and those of the episodes held out.

    Examples
    --------
    >>> found = CellOdds("cell=c4", 0.62, 0.5, 80, *share_between(40, 80))
    >>> found, round(found.at_most, 3)
    (CellOdds(0.120 off at cell=c4, 0.234 at most, episodes=80), 0.234)
    """

    cell: str
    said: float  # by the chain, on average over where these episodes first pass the cell
    counted: float  # share of the episodes held out that pass the cell and succeed
    episodes: int  # held out that pass it
    low: float  # the agent's own share is between these, 95 times in 100
    high: float

    @property
    def error(self) -> float:
        """How far the chain is from the share that was counted."""
        return abs(self.said - self.counted)

    @property
    def at_most(self) -> float:
        """How far it is from the agent's own share, 95 times in 100."""
        return max(abs(self.said - self.low), abs(self.said - self.high))

    def __repr__(self) -> str:
        return f"CellOdds({self.error:.3f} off at {self.cell}, {self.at_most:.3f} at most, episodes={self.episodes})"


def share_between(successes: int, episodes: int) -> tuple[float, float]:
    """Between what a share lies, 95 times in 100, of which some episodes are seen.

    >>> [round(bound, 3) for bound in share_between(0, 10)], [round(bound, 3) for bound in share_between(5, 10)]
    ([0.0, 0.308], [0.187, 0.813])
    """
    n, x = episodes, successes
    low = 0.0 if x == 0 else float(betaincinv(x, n - x + 1, MISSED / 2))
    return low, 1.0 if x == n else float(betaincinv(x + 1, n - x, 1 - MISSED / 2))


def cell_odds(visits: CellVisits, passed: Passages, said: NDArray[np.float64], wanted: str) -> CellOdds | None:
    """The odds from the cell at which the chain is furthest off; None where no cell is passed often enough.

    Parameters
    ----------
    visits, passed
        Of all episodes.
    said
        (n,) what the chain says at each visit of how likely success is.
    wanted
        What success is called.
    """
    won, there = passed.outcomes == wanted, visits.first < len(visits.here)
    sides = [there & held[:, None] for held in (~passed.held_out, passed.held_out)]
    often = [side.sum(axis=0) for side in sides]
    asked = np.flatnonzero((often[0] >= LEAST_EPISODES) & (often[1] >= LEAST_EPISODES))
    if not len(asked):
        return None
    far = np.zeros(len(asked))
    for k, cell in enumerate(asked.tolist()):
        counted = sides[0][:, cell]
        missed = won[counted] - said[visits.first[counted, cell]]
        far[k] = abs(missed.mean()) - missed.std() / np.sqrt(len(missed))
    cell = int(asked[far.argmax()])
    held_out = sides[1][:, cell]
    n, x = int(often[1][cell]), int(won[held_out].sum())
    predicted = float(said[visits.first[held_out, cell]].mean())
    return CellOdds(visits.cells[cell], predicted, x / n, n, *share_between(x, n))
