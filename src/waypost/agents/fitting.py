"""How well a chain predicts episodes, step by step, and how far off it may really be.

A chain is checked in three ways: by its odds (here), by where runs pass (`waypost.agents.passing`), and for what the
agent remembers (`waypost.agents.memory`). Each check refuses a right chain once in sixty times, so that all of them
together do so once in twenty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

CHANCE = 0.05  # that a right chain is refused, by any of the checks
CHECKS = 3


def standard_errors() -> float:
    """Standard errors that chance exceeds in one of the checks, on one side.

    >>> round(standard_errors(), 2)
    2.13
    """
    return NormalDist().inv_cdf(1 - CHANCE / CHECKS)


@dataclass(frozen=True, eq=False)
class ChainFit:
    """How well a chain predicts episodes, step by step.

    Examples
    --------
    >>> fit = ChainFit(200, 600, {"won": np.array([0, 0.5])}, {"won": np.array([0, 0.45])})
    >>> fit
    ChainFit(fits: error=0.050, chance=0.126, episodes=200)
    >>> round(fit.at_most, 3)
    0.146
    """

    episodes: int
    counted: int  # episodes from which the chain was counted
    predicted: Mapping[str, NDArray[np.float64]]  # by outcome (T + 1,): probability of it within t steps
    observed: Mapping[str, NDArray[np.float64]]  # the share of the episodes

    @property
    def gaps(self) -> dict[str, NDArray[np.float64]]:
        """By outcome (T + 1,): prediction minus what was observed, step by step."""
        return {o: self.predicted[o] - self.observed[o] for o in self.observed}

    @property
    def error(self) -> float:
        """Greatest distance of a prediction from what was observed."""
        return max(float(np.abs(gap).max()) for gap in self.gaps.values())

    @property
    def worst(self) -> int:
        """Step at which the error is greatest."""
        return int(np.max([np.abs(gap) for gap in self.gaps.values()], axis=0).argmax())

    @property
    def chance(self) -> float:
        """Distance between these episodes and a right chain that was counted from others, exceeded once in sixty times.

        The bound of Dvoretzky, Kiefer, Wolfowitz and Massart, for two samples: the chain is taken to be as far from the
        truth as the shares of the episodes it was counted from.
        """
        return float(np.sqrt(np.log(2 * CHECKS / CHANCE) / 2 * (1 / self.episodes + 1 / self.counted)))

    @property
    def blur(self) -> float:
        """Distance of these episodes from the truth that is exceeded 5 times in 100 at most."""
        return float(np.sqrt(np.log(2 / 0.05) / (2 * self.episodes)))

    @property
    def at_most(self) -> float:
        """Distance of the predictions from the truth that is exceeded 5 times in 100 at most, whatever the chain."""
        return min(1.0, self.error + self.blur)

    @property
    def unevenness(self) -> float:
        """Mean square of the gaps, over outcomes and steps."""
        return float(np.mean([gap**2 for gap in self.gaps.values()]))

    @property
    def fits(self) -> bool:
        """Whether the error may be chance."""
        return self.error <= self.chance

    def __repr__(self) -> str:
        said = "fits" if self.fits else "does not fit"
        return f"ChainFit({said}: error={self.error:.3f}, chance={self.chance:.3f}, episodes={self.episodes})"
