"""A log seen as its variants: each kind of case once, with how many cases run like that.

Cases of the same outcome with the same events are told apart by nothing but their times, so everything that is counted
is counted here, and what the clock says comes beside it as statistics. A log in memory and one that stays in a database
are seen the same way: what was made of variants cannot know where the log lives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import log, sqrt
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from waypost.errors import LogError
from waypost.model.arrays import Ints
from waypost.model.traces import NEGATIVE, POSITIVE

SPREAD = 1.2533 / 1.2816  # errors of a median, for the logarithm of how far the 90 % point lies above it
SURE = 4.0  # errors
EXAMPLES = 5  # cases that are named for a variant


@dataclass(frozen=True)
class EventKind:
    """What an event of a variant is: its name, the one it had before it was numbered, the outcome it decides."""

    name: str
    base: str
    decides: str = ""


@dataclass(frozen=True)
class Waiting:
    """Seconds since the event before a step, and until the event after it: median and the 90 % point.

    None where nothing comes before in any case, or nothing after.
    """

    before: float | None
    before_90: float | None
    after: float | None
    after_90: float | None


def waits_apart(good: Waiting | None, bad: Waiting | None, cases: tuple[int, int]) -> tuple[float, float] | None:
    """Median waits before a step in so many good and bad cases, where they differ by more than chance is likely to do.

    Waits are spread like a lognormal: between the median and the 90 % point lie 1.28 standard deviations of their
    logarithm. That of a median of `n` is off by 1.25 such deviations over the root of `n`, of cases rather than events,
    for those of a case are alike. Four of these errors are asked for: all steps are tried, and some waits are spread
    otherwise.

    >>> long, short = Waiting(2.0, 8.0, None, None), Waiting(1.0, 4.0, None, None)
    >>> waits_apart(long, short, (400, 400)), waits_apart(long, short, (30, 30))
    ((2.0, 1.0), None)
    """
    if good is None or bad is None or not (good.before and good.before_90 and bad.before and bad.before_90):
        return None
    spreads = log(good.before_90 / good.before), log(bad.before_90 / bad.before)
    error = SPREAD * sqrt(sum(spread**2 / max(1, n) for spread, n in zip(spreads, cases, strict=True)))
    return (good.before, bad.before) if abs(log(good.before / bad.before)) > SURE * error else None


@dataclass(frozen=True)
class Clock:
    """What the times of a log say about its activities; all of it is empty where there are none."""

    waiting: Mapping[tuple[str, bool], Waiting] = field(default_factory=dict)  # by activity, among good or bad cases
    gaps: Mapping[tuple[str, str], float] = field(default_factory=dict)  # median seconds from one activity to the next


@dataclass(frozen=True)
class Decided:
    """Of the cases that have an activity: in how many it comes when nothing is open, how many an event decided.

    In those that are `settled`, the event had decided the case by then, or does so at the same moment.
    """

    late: int
    by_event: int
    settled: int


@dataclass(frozen=True, eq=False)
class Variants:
    """Variants of a log, in the order in which each is first met.

    >>> from waypost.logs import EventLog
    >>> seen = EventLog.from_sequences([["ask", "pay"], ["ask"], ["ask", "pay"]]).seen
    >>> seen.n_cases, seen.n_events, dict(seen.activities)
    (3, 5, {'ask': 3, 'pay': 2})
    """

    kinds: tuple[EventKind, ...]
    kind: Ints  # (E,) of every event of every variant
    first: Ints  # (V + 1,) variant `v` owns the events ``first[v] : first[v + 1]``
    count: Ints  # (V,) cases
    outcomes: tuple[str, ...] | None  # (V,) how its cases ended, where that was set
    examples: tuple[tuple[str, ...], ...]  # (V,) names of its first cases
    met: tuple[Ints, ...]  # (V,) the positions of these cases in the log
    clock: Clock
    decided: Mapping[str, Decided]  # by activity; empty where no outcome was set

    def __len__(self) -> int:
        return len(self.count)

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return int(self.count.sum())

    @property
    def n_events(self) -> int:
        """Number of events, in all cases."""
        return int((np.diff(self.first) * self.count).sum())

    @cached_property
    def variant(self) -> Ints:
        """(E,) the variant of each event."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    @cached_property
    def activities(self) -> Mapping[str, int]:
        """How often each activity happens, the most frequent first, of equally frequent ones the one first met."""
        tally: Counter[str] = Counter()
        weight = self.count[self.variant].tolist()
        for name, n in zip(self.named(), weight, strict=True):
            tally[name] += n
        return dict(tally.most_common())

    @cached_property
    def code(self) -> Ints:
        """(E,) the activity of each event: its position in `activities`."""
        position = {name: k for k, name in enumerate(self.activities)}
        return np.array([position[kind.name] for kind in self.kinds], np.int64)[self.kind]

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """(V, activities) which variant has which activity."""
        found = np.zeros((len(self), len(self.activities)), bool)
        found[self.variant, self.code] = True
        return found

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """(V, activities) the place in each variant at which each activity first comes, -1 where it does not."""
        found = np.full((len(self), len(self.activities)), -1, np.int32)
        many = len(self.activities)
        key, event = np.unique(self.variant * many + self.code, return_index=True)  # the first event of each
        found[key // many, key % many] = event - self.first[key // many]
        return found

    @property
    def good(self) -> NDArray[np.bool_]:
        """(V,) whose cases ended well; an error where no outcome was set, or all have the same."""
        if self.outcomes is None:
            raise LogError(
                "no outcome is set, so there are no good and bad cases; name an event that good cases have "
                "(--positive EVENT; `waypost log FILE` lists candidates)"
            )
        good: NDArray[np.bool_] = np.array([outcome == POSITIVE for outcome in self.outcomes], bool)
        if good.all() or not good.any():
            same = POSITIVE if good.all() else NEGATIVE
            raise LogError(f"all {self.n_cases:,} cases are {same}; there is nothing to contrast")
        return good

    def named(self) -> Iterator[str]:
        """(E,) the name of each event."""
        names = [kind.name for kind in self.kinds]
        return (names[k] for k in self.kind.tolist())

    def sequences(self) -> list[tuple[EventKind, ...]]:
        """(V,) the events of each variant."""
        kinds = [self.kinds[k] for k in self.kind.tolist()]
        return [tuple(kinds[low:high]) for low, high in pairwise(self.first.tolist())]

    def deciding(self) -> dict[str, str]:
        """Activities with an event that decides, each with the outcome; positive ones first."""
        there = [self.kinds[k] for k in dict.fromkeys(self.kind.tolist())]
        found: dict[str, str] = {}
        for outcome in (POSITIVE, NEGATIVE):
            for kind in there:
                if kind.decides == outcome:
                    found.setdefault(kind.name, outcome)
        return found

    def example_cases(self, most: int = EXAMPLES) -> dict[str, list[str]]:
        """First cases that have each activity, by the names they have in the log."""
        names = tuple(self.activities)
        found: dict[str, list[str]] = {}
        for k, name in enumerate(names):
            having = np.flatnonzero(self.present[:, k]).tolist()
            told = sorted((at, case) for v in having for at, case in zip(self.met[v], self.examples[v], strict=True))
            found[name] = [case for _, case in told[:most]]
        return found


AnyLog = TypeVar("AnyLog", bound="Log")


class Log(Protocol):
    """A log, wherever it lives: what it says is said by its variants."""

    @property
    def seen(self) -> Variants:
        """The log as variants."""

    def closings(self, also: Mapping[str, str]) -> Ints:
        """Where cases are decided: (R, 3) variants, each with a place and the number of its cases that it holds for.

        From that place on, the events of these cases come when an event had decided them, or at the same moment; a
        place behind the last event says that none does. `also` are activities that decide, each with the outcome,
        beside those that are marked.
        """

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading and cleaning did."""

    @property
    def n_cases(self) -> int:
        """Number of cases."""

    @property
    def n_variants(self) -> int:
        """Number of different sequences of activities."""

    def __len__(self) -> int:
        """Return the number of events."""

    def activities(self) -> Mapping[str, int]:
        """How often each activity happens, the most frequent first."""

    def has(self, column: str) -> bool:
        """Whether the log has such a column."""

    def transitions(self) -> Mapping[str, Sequence[str]]:
        """Lifecycle transitions of each activity; nothing where the log does not tell of any."""

    def spoken_as(self, names: Mapping[str, str], note: str) -> Self:
        """Return the same log with other names for some events, which stay what they are to a map of actors."""

    def with_notes(self, notes: tuple[str, ...]) -> Self:
        """Return the same log with other notes."""

    def case_values(self, attribute: str) -> Mapping[str, int]:
        """Values of an attribute of the case, each with its cases, in the order in which they are met."""

    def where_value(self, attribute: str, values: Sequence[str]) -> Self:
        """Return the cases with one of these values."""

    def divided_at(self, moment: np.datetime64) -> tuple[Self | None, Self | None]:
        """Cases that begin before a moment (UTC), and the others; None where there are none."""

    def performers(self, column: str) -> Mapping[str, Mapping[str, int]]:
        """How often each value of a column goes with each activity, in the order in which they are met."""

    def kinds(self) -> Iterable[tuple[str, str]]:
        """Names of events, each with the one it had before it was numbered, in the order in which they are met."""


def packed(sequences: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Give sequences as one array and the places where each begins."""
    first = np.cumsum([0, *map(len, sequences)])
    flat = [k for sequence in sequences for k in sequence]
    return np.array(flat, np.int64), np.asarray(first, np.int64)
