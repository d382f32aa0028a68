"""What an explanation may say beside its bounds: where they lie on other data, and how its states were chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waypost.importance.results import Bounds


@dataclass(frozen=True)
class Intervals:
    """Where the bounds of states lie when the cases of a log are drawn again."""

    level: float  # share of the draws inside an interval
    resamples: int
    states: Mapping[str, Mapping[str, tuple[Bounds, Bounds]]]  # by scope and name: of the lower and the upper bound


@dataclass(frozen=True)
class Top:
    """How the most important states were told from the others."""

    among: int  # states asked for
    computed: int  # of which numbers were computed; the bounds of the others are below
    tied: bool  # whether the last one may share its rank with others, and comes first in the model

    @property
    def left(self) -> int:
        """States without numbers."""
        return self.among - self.computed
