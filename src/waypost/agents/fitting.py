"""How well a chain predicts episodes it was not made from, step by step, and where time is to be cut if it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ChainFit:
    """How well a chain predicts episodes it was not made from, step by step."""

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
    def fits(self) -> bool:
        """Whether the error may be chance."""
        return self.error <= self.chance

    def __repr__(self) -> str:
        said = "fits" if self.fits else "does not fit"
        return f"ChainFit({said}: error={self.error:.3f}, chance={self.chance:.3f}, episodes={self.episodes})"


def bend(fit: ChainFit, begins: Sequence[int]) -> int | None:
    """Step at which a stage is to be cut: in the stage where the chain is furthest off, the bend of what was observed.

    That is the step at which the curve is furthest from a straight line through the stage; None where it has none.

    >>> observed = {"lost": np.array([0, 0, 0, 0, 0.2, 0.4, 0.6])}
    >>> bend(ChainFit(50, {"lost": np.linspace(0, 0.6, 7)}, observed), [])
    3
    """
    found: tuple[int | None, float] = None, 0.0
    for outcome, gap in fit.gaps.items():
        curve, last = fit.observed[outcome], len(gap) - 1
        worst = int(np.abs(gap[:last]).argmax())  # at the limit itself an outcome may come all at once
        low = max((t for t in begins if t <= worst), default=0)
        high = min((t for t in begins if t > worst), default=last - 1)
        if high - low < 2 or abs(gap[worst]) <= found[1]:
            continue
        line = np.interp(np.arange(low, high + 1), [low, high], curve[[low, high]])
        away = np.abs(curve[low : high + 1] - line)
        if away.max() > 0:
            found = low + int(away.argmax()), float(abs(gap[worst]))
    return found[0]
