"""What a search over runs found, the first first."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from waypost.errors import require

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Ranked(Sequence[T]):
    """Things found among runs, in the order in which they matter."""

    target: str  # as a person would write it
    reached: float  # probability of the target under the strategy; of a log, the share of its cases
    found: tuple[T, ...]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(for {self.target}, found={len(self)})"

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        return self.found[place]

    def to_frame(self) -> Any:
        """One row for each, as a pandas DataFrame."""
        return require("pandas", "table", "to_frame()").DataFrame([self.row(one) for one in self.found])

    @abstractmethod
    def row(self, one: T) -> dict[str, Any]:
        """One of them by the names of its columns."""
