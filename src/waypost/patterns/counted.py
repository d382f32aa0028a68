"""What is told of patterns that were counted in the cases of a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from waypost.importance import Bounds
from waypost.importance.answer import report
from waypost.model.traces import Compared
from waypost.patterns.ranked import Ranked
from waypost.patterns.tree import Pattern


@dataclass(frozen=True, kw_only=True)
class CountedPattern(Compared):
    """A pattern among the good cases of a log and among the bad ones; its name is the pattern as text."""

    pattern: Pattern
    kind: str
    steps: tuple[str, ...]  # the activities it speaks of, in their order
    times: int = 1  # of "repeated": at least so often
    directly: tuple[bool, ...] = ()  # of a segment: whether each step comes directly after the one before it
    support: float  # share of all cases that have it
    information: float  # bits that having it tells about the outcome
    sure: bool  # whether it is more than chance among all that was tried, and tells more than its parts
    bounds: Mapping[str, Bounds] = field(default_factory=dict)  # over strategies, by scope, where somebody chooses


@dataclass(frozen=True, eq=False, repr=False)
class CountedPatterns(Ranked[CountedPattern]):
    """The most telling patterns of a log, what surely differs most first: a sequence of `CountedPattern`."""

    cases: int
    good: int
    tried: int  # patterns that were counted
    activities: int  # that patterns were made of
    left_out: int  # activities that were too many
    defining: tuple[str, ...]  # activities that are the outcome, or come after it
    notes: tuple[str, ...]

    def row(self, one: CountedPattern) -> dict[str, Any]:
        """One pattern by the names of its columns."""
        told = {name: getattr(one, name) for name in ("kind", "good_share", "bad_share", "success_after")}
        rest = {name: getattr(one, name) for name in ("success_without_as_far", "cases", "certain", "sure")}
        return {"pattern": one.name, **told, **rest}

    def summary(self, top: int = 5) -> str:
        """The `top` most telling patterns in words, one line each."""
        return str(report("counted_summary")(self, top))
