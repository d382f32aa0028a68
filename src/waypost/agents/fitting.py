"""How well a chain predicts episodes, step by step, and how far off it may really be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ChainFit:
    """How well a chain predicts episodes, step by step.

    Examples
    --------
    >>> fit = ChainFit(200, {"won": np.array([0, 0.5])}, {"won": np.array([0, 0.45])})
    >>> fit
    ChainFit(fits: error=0.050, chance=0.096, episodes=200)
    >>> round(fit.at_most, 3)
    0.146
    """

    episodes: int
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
        """Distance that as many episodes of the chain itself would stay below, 95 times in 100."""
        return float(np.sqrt(np.log(2 / 0.05) / (2 * self.episodes)))

    @property
    def at_most(self) -> float:
        """Distance of the predictions from the truth that is exceeded 5 times in 100 at most, whatever the chain."""
        return min(1.0, self.error + self.chance)

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
