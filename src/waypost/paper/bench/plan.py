"""What a benchmark runs, how much of it, and where things are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SAMPLES = {"spotify1000": 10, "spotify10000": 6}  # states that Storm is asked about
ENOUGH = 10.0  # seconds of Storm's, from which a loop over random states is extrapolated
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What to run, how much of it, and where things are."""

    data: Path
    only: tuple[str, ...] = ()  # names of benchmarks; all of them by default
    quick: bool = False
    samples: int | None = None  # states that Storm is asked about where it cannot do all
    limit: float = 20.0  # seconds for one of Storm's queries
    use_storm: bool = True
    tell: Tell = lambda _: None  # progress, one line at a time

    @property
    def enough(self) -> float:
        """Seconds for repeating a piece of our work."""
        return 0.3 if self.quick else 3.0

    def sample_of(self, name: str) -> int:
        """Storm's sample of a model."""
        return self.samples or (1 if self.quick else SAMPLES.get(name, 3))
