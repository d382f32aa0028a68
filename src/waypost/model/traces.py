"""What is seen of runs from outside: names, the actions between them, and how they ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, cast

Trace = list[str | tuple[str, str]]  # the first output, then (input, output) for every step

POSITIVE, NEGATIVE = "positive", "negative"  # the last output of a run that reached its goal, or did not
ENVIRONMENT = "env"  # the input of a step that nobody chooses

Naming = Literal["plain", "paper"]
_DROPPED = str.maketrans("", "", " :#()")


def steps_of(trace: Trace) -> list[tuple[str, str]]:
    """Steps of a trace, inputs with their outputs, without the first output.

    >>> steps_of(["start of the lake", ("down", "ice"), ("down", "positive")])
    [('down', 'ice'), ('down', 'positive')]
    """
    return cast("list[tuple[str, str]]", trace[1:])


def written(name: str, naming: Naming) -> str:
    """Name of an event as a trace has it.

    >>> written("Call #1 (late)", "paper")
    'Call1late'
    """
    return name.translate(_DROPPED) if naming == "paper" else name


@dataclass(frozen=True)
class Stage:
    """The last step that nearly always comes before an activity, and what the activity changes from there on."""

    name: str
    cases: int  # that pass it
    having: int  # that pass it and have the activity
    good_share: float  # of the good cases that pass it, how many have the activity
    bad_share: float
    success_with: float | None  # of the cases that pass it and have the activity, how many end well
    success_without: float | None


@dataclass(frozen=True)
class Confounded:
    """An attribute by which cases with an activity differ to begin with, and success with it and among cases alike."""

    attribute: str
    success_with: float
    success_without: float  # were the cases without it divided among the attribute's groups like those with it


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Something that cases may have, among those that ended well and among those that did not.

    A share of nothing, such as the success of the cases without a step that all cases have, is None.
    """

    name: str
    cases: int  # that have it
    good_cases: int
    bad_cases: int
    good_share: float  # of the good cases, how many have it
    bad_share: float
    success_after: float | None  # of the cases that have it, how many end well
    success_without: float | None
    certain: float  # the part of the separation, among the cases that came as far, that few cases cannot have made
    stage: Stage | None = None  # how far a case must have come; None where it may come at any time

    @property
    def separation(self) -> float:
        """Good share minus bad share: above 0 for steps of the good cases."""
        return self.good_share - self.bad_share

    @property
    def success_with_as_far(self) -> float | None:
        """Of the cases with it that came as far as it can happen, which nearly all did, how many end well."""
        return self.success_after if self.stage is None else self.stage.success_with

    @property
    def success_without_as_far(self) -> float | None:
        """Of the cases without it that came as far as it can happen, how many end well."""
        return self.success_without if self.stage is None else self.stage.success_without

    @property
    def good_share_as_far(self) -> float:
        """Of the good cases that came as far as it can happen, how many have it."""
        return self.good_share if self.stage is None else self.stage.good_share

    @property
    def bad_share_as_far(self) -> float:
        """Of the bad cases that came as far as it can happen, how many have it."""
        return self.bad_share if self.stage is None else self.stage.bad_share

    @property
    def helps(self) -> bool:
        """Whether cases that came as far end well more often with it than without."""
        return self.good_share_as_far > self.bad_share_as_far


@dataclass(frozen=True, kw_only=True)
class Counted(Compared):
    """One activity among the runs that ended well and among those that did not."""

    events: int
    sure: bool = True  # whether its difference is more than chance would make in any of the activities
    late_cases: int = 0  # that have it only when the outcome is decided; they count as cases without it
    confounded: Confounded | None = None  # by what most of the difference comes, where it was looked for and found
    defines_outcome: str | None = None  # why it says nothing: it decides the outcome, or comes after it


AnyCounted = TypeVar("AnyCounted", bound=Counted)


class Separated(Generic[AnyCounted]):
    """Activities, what separates good runs from bad ones first, with those told apart that are the outcome itself."""

    activities: tuple[AnyCounted, ...]

    @property
    def ranked(self) -> tuple[AnyCounted, ...]:
        """Activities that could explain the outcome, what separates first."""
        return tuple(each for each in self.activities if each.defines_outcome is None)

    @property
    def defining(self) -> tuple[AnyCounted, ...]:
        """Activities that define the outcome, or come only after it."""
        return tuple(each for each in self.activities if each.defines_outcome is not None)
