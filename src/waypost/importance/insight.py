"""What follows from importance for whoever acts: decisions, the usual ways to the target, and telling segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waypost.importance.choices import ChoiceImportance
    from waypost.importance.deciding import Decisions
    from waypost.importance.whatifs import WhatIfs

BEST, GIVEN, OBSERVED = "a best strategy", "the given strategy", "the observed strategy"


@dataclass(frozen=True)
class Block:
    """Some steps in a row, repeated from `least` to `most` times."""

    steps: tuple[str, ...]
    least: int = 1
    most: int = 1


@dataclass(frozen=True)
class Route:
    """A usual way to the target, loops folded, and its share of the successful runs."""

    blocks: tuple[Block, ...]
    share: float
    cases: int | None = None  # of a log, that go this way


@dataclass(frozen=True)
class Segment:
    """Steps that come one after the other, and how many of the successful and of the other runs have them so."""

    pattern: str  # as `waypost pattern` reads it
    steps: tuple[str, ...]
    good: float
    bad: float | None  # None where every run succeeds
    bits: float  # that having it tells about success
    cases: int | None = None  # of a log, that have it


@dataclass(frozen=True, eq=False)
class Insight:
    """What follows for whoever acts; plain data, each part only where it says something."""

    called: str  # whose decisions and ways these are: "the observed strategy"
    decisions: Decisions | None = None
    choices: Mapping[str, ChoiceImportance] = field(default_factory=dict)  # by scope
    whatifs: WhatIfs | None = None  # in the order of the explanation's states
    routes: tuple[Route, ...] = ()
    segments: tuple[Segment, ...] = ()
