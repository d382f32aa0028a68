"""Measurements as lines of CSV: written one by one, and taken up again after an interruption."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Generic, TypeVar, get_type_hints

from waypost.errors import FormatError


@dataclass(frozen=True)
class Record:
    """One bound of one state by one encoding."""

    model: str
    configuration: str
    sense: str
    state: str
    limit: float  # seconds allowed
    tolerance: float | None
    solver: str
    ordering: str
    status: str
    seconds: float  # inside the solver
    preparation: float  # building product and program
    claimed: float | None
    attained: float | None  # importance under the strategy read off; None where it does not reach the target
    reachability: float | None  # probability of the target under that strategy
    exact: float | None
    verdict: str
    message: str

    @property
    def key(self) -> tuple[str, str, str, str, float, float | None]:
        """What makes it a different measurement."""
        return self.model, self.configuration, self.sense, self.state, self.limit, self.tolerance

    @property
    def counted(self) -> float:
        """Seconds as tables count them: what was cut off counts with its limit, however late it was stopped."""
        return min(self.seconds, self.limit)


@dataclass(frozen=True)
class EngineRun:
    """One sweep of the exact engine: every state asked for, both bounds."""

    model: str
    scope: str
    states: int
    seconds: float
    right: int | None  # bounds within 1e-6 of exact arithmetic; None where that was not computed


@dataclass(frozen=True)
class Truth:
    """The bounds of one state, rounded from exact arithmetic."""

    model: str
    size: int  # transitions, so that another model of the same name is not taken for this one
    scope: str
    state: str
    lower: float
    upper: float


Measured = TypeVar("Measured", Record, EngineRun, Truth)


def read_rows(kind: type[Measured], path: Path) -> list[Measured]:
    """Rows of a file, none if there is no file; a last line that was cut off is left out."""
    if not path.exists():
        return []
    names = [f.name for f in fields(kind)]
    with path.open(newline="", encoding="utf-8") as lines:
        reader = csv.reader(lines)
        if next(reader, names) != names:
            raise FormatError(f"{path} has other columns than this version writes; move it away or use another -o DIR")
        return [_row(kind, cells) for cells in reader if len(cells) == len(names)]


def _row(kind: type[Measured], cells: list[str]) -> Measured:
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for f, cell in zip(fields(kind), cells, strict=True):
        wanted = hints[f.name]
        if wanted is str:
            values[f.name] = cell
        elif wanted is int:
            values[f.name] = int(cell)
        elif wanted == int | None:
            values[f.name] = int(cell) if cell else None
        else:
            values[f.name] = float(cell) if cell else None
    return kind(**values)


class Journal(Generic[Measured]):
    """A file that grows by a line per measurement; what it held before is kept and not measured again."""

    def __init__(self, kind: type[Measured], path: Path) -> None:
        self.rows: list[Measured] = read_rows(kind, path)
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(path.name + ".part")  # without the line that may have been cut off
        with fresh.open("w", newline="", encoding="utf-8") as lines:
            writer = csv.writer(lines, lineterminator="\n")
            writer.writerow([f.name for f in fields(kind)])
            writer.writerows(_cells(row) for row in self.rows)
        fresh.replace(path)

    def add(self, row: Measured) -> None:
        """Keep a measurement, on disk before anything else happens."""
        self.rows.append(row)
        with self._path.open("a", newline="", encoding="utf-8") as lines:
            csv.writer(lines, lineterminator="\n").writerow(_cells(row))

    def __iter__(self) -> Iterator[Measured]:
        return iter(self.rows)


def _cells(row: Record | EngineRun | Truth) -> list[object]:
    return ["" if value is None else value for value in asdict(row).values()]
