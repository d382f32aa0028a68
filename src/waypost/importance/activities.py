"""What a log tells beside its model: every activity among good and bad cases, and how far the model is off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from waypost.model.traces import Counted, Separated

if TYPE_CHECKING:
    from waypost.importance.results import Bounds, Explanation


@dataclass(frozen=True, kw_only=True)
class ActivityScore(Counted):
    """One activity: counted among the good and the bad cases, and in the model."""

    observed: float | None  # of the good runs of the model, as the process was run, how many pass it
    bounds: Mapping[str, Bounds] = field(default_factory=dict)  # by scope, where somebody chooses
    on_few: frozenset[str] = frozenset()  # scopes in which a bound hangs on choices that few cases took
    waiting: tuple[float, float] | None = None  # median seconds before it in good and in bad cases, if sure to differ
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # of shares, when cases are drawn again


@dataclass(frozen=True)
class Performer:
    """Who performs an activity, and whether by choice."""

    actor: str
    chooses: bool


@dataclass(frozen=True)
class ModelFit:
    """How far a learned model is off its log, under the observed strategy."""

    worst: float  # largest gap of an activity that at least 1 % of the cases have
    activity: str | None
    sentence: str  # the same in words, with what to do where it is large
    states: int
    merging: str  # "without merging", or how much
    learned: float  # probability per step of cases that a model was learned from
    held_out: float  # and of cases that it was not
    far: bool = False  # more than five points off somewhere


@dataclass(frozen=True, eq=False)
class Story(Separated[ActivityScore]):
    """What a log tells: the outcome, its activities (what separates good from bad first), the fit, and notes."""

    cases: int
    good: int
    positive: str  # the outcome in words
    activities: tuple[ActivityScore, ...]
    fit: ModelFit
    notes: tuple[str, ...] = ()  # what was left out, and what the numbers hang on
    process_map: Any = None  # `waypost.logs.ProcessMap`: what follows what, how often
    by_state: Explanation | None = None  # the same by state, where it was asked for
    performers: Mapping[str, Performer] = field(default_factory=dict)  # of activities, where actors are known

    @property
    def bad(self) -> int:
        """Number of bad cases."""
        return self.cases - self.good

    @property
    def success(self) -> float:
        """Share of the cases that end well."""
        return self.good / self.cases

    @property
    def scopes(self) -> tuple[str, ...]:
        """Scopes of the bounds; none where nobody chooses."""
        return tuple(self.activities[0].bounds) if self.activities else ()

    def of(self, name: str) -> ActivityScore:
        """Score of an activity."""
        return next(a for a in self.activities if a.name == name)
