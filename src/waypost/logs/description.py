"""What is in a log, before anything is learned from it: the first thing to look at."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.logs.headings import resource_column
from waypost.logs.log import ACTIVITY, CASE, LIFECYCLE, OFFSET, TIME, EventLog, plain_text
from waypost.logs.variants import Log

FEW_VALUES = 12  # an attribute with so many values has them listed
LISTED = 5  # of one with more, so many
UNIQUE = 0.5  # of the cases: a number with more values is rather a name
FEW_VARIANTS = 10
LATER = 0.05  # of the cases; an attribute that more of them tell after their first event is a result, no beginning
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"  # in the words of every engine
DATE = r"^\d{4}-\d\d-\d\d"
OWN = "waypost:"  # columns that reading and cleaning add
ACTORS = ("org:role", "org:group", "org:resource", "role", "group", "resource", "user", "department", "team", "actor")


GOOD_END = re.compile(
    r"\b(accept(ed)?|approved|granted|paid|sign(ed)?|sold|won|resolved|success\w*|positive|true|yes)\b"
)
BAD_END = re.compile(
    r"\b(cancel\w*|declin\w*|reject\w*|den(y|ied)|refus\w*|withdr[ae]w\w*|fail\w*|abort\w*|lost|negative)\b"
)


@dataclass(frozen=True)
class Activity:
    """An activity: how often it happens, in how many cases, and where in them."""

    name: str
    events: int
    cases: int
    share: float  # of all cases
    first: int  # cases that start with it
    last: int  # cases that end with it
    resources: int | None  # how many different ones perform it, where the log says


@dataclass(frozen=True)
class Variant:
    """A sequence of activities, and how many cases run like that."""

    activities: tuple[str, ...]
    cases: int
    share: float
    coverage: float  # of this one and all more frequent ones


@dataclass(frozen=True)
class Attribute:
    """A column of the log: of what it speaks, and its values, the most frequent first."""

    name: str
    of: str  # "case" or "event"
    kind: str  # "number", "time" or "text"
    filled: float  # share of the cases, or events, that have it
    distinct: int
    counts: tuple[tuple[str, int], ...]  # of few values all with their number, of many the first ones
    low: float | str | None = None  # of numbers and times
    high: float | str | None = None
    later: bool = False  # of a case: whether it is often told only after the first event, as a result is


@dataclass(frozen=True)
class OutcomeCandidate:
    """An event, or the value of an attribute, that some cases have and others lack."""

    option: str  # what to write on the command line
    cases: int
    share: float
    why: str


@dataclass(frozen=True)
class LogDescription:
    """Everything one asks of a log before one asks why."""

    cases: int
    events: int
    first: str | None  # time of the first event, UTC
    last: str | None
    activities: tuple[Activity, ...]
    n_variants: int
    variants: tuple[Variant, ...]  # the most frequent ones
    attributes: tuple[Attribute, ...]
    resources: tuple[tuple[str, int], ...]  # who performs events, the most frequent first
    lifecycles: tuple[tuple[str, int], ...]
    classifiers: tuple[tuple[str, tuple[str, ...]], ...]  # of an XES file: a name, and the columns it combines
    outcomes: tuple[OutcomeCandidate, ...]
    actors: tuple[str, ...]  # columns that may say who acts
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return asdict(self)


def describe_log(log: Log) -> LogDescription:
    """Say what is in a log, wherever it lives.

    >>> found = describe_log(EventLog.from_sequences([["ask", "pay"]] * 3 + [["ask", "go"]]))
    >>> found.cases, [(a.name, a.cases, a.share) for a in found.activities]
    (4, [('ask', 4, 1.0), ('pay', 3, 0.75), ('go', 1, 0.25)])
    >>> [(c.option, c.cases) for c in found.outcomes]
    [("--positive 'pay'", 3), ("--positive 'go'", 1)]
    """
    if not isinstance(log, EventLog):
        from waypost.logs.stored.description import describe
        from waypost.logs.stored.log import StoredLog

        assert isinstance(log, StoredLog)  # noqa: S101  logs are in memory or in an engine
        return describe(log)
    first_row, case = log.first_event, log.case_of
    names = log.names()
    resource = resource_column(log.events)
    activities = _activities(log, names, resource)
    span: tuple[str | None, str | None] = (None, None)
    if TIME in log.events and log.events[TIME].notna().any():
        span = log.events[TIME].min().isoformat(), log.events[TIME].max().isoformat()
    variants = log.variants()
    attributes = _attributes(log, first_row, case)
    return LogDescription(
        cases=log.n_cases,
        events=len(log),
        first=span[0],
        last=span[1],
        activities=activities,
        n_variants=len(variants),
        variants=frequent(variants, log.n_cases),
        attributes=attributes,
        resources=_counted(log, resource),
        lifecycles=_counted(log, LIFECYCLE),
        classifiers=tuple((name, keys) for name, keys in log.classifiers.items()),
        outcomes=outcome_candidates(activities, attributes, log.n_cases),
        actors=actor_columns(attributes),
        notes=log.notes,
    )


def _activities(log: EventLog, names: NDArray[np.object_], resource: str | None) -> tuple[Activity, ...]:
    from pandas import DataFrame

    first = log.first_event
    begin, end = Counter(names[first[:-1]].tolist()), Counter(names[first[1:] - 1].tolist())
    frame = DataFrame({"name": names, "case": log.case_of})
    cases = frame.drop_duplicates().groupby("name").size()
    performers = None if resource is None else log.events.groupby(names)[resource].nunique()
    return tuple(
        Activity(
            name=name,
            events=count,
            cases=int(cases[name]),
            share=float(cases[name]) / log.n_cases,
            first=begin[name],
            last=end[name],
            resources=None if performers is None else int(performers[name]),
        )
        for name, count in log.activities().items()
    )


def frequent(variants: Mapping[tuple[str, ...], int], cases: int) -> tuple[Variant, ...]:
    """Tell of the first few variants, which are the most frequent ones."""
    found, covered = [], 0
    for activities, count in list(variants.items())[:FEW_VARIANTS]:
        covered += count
        found.append(Variant(activities, count, count / cases, covered / cases))
    return tuple(found)


def _attributes(log: EventLog, first: NDArray[np.int64], case: NDArray[np.int64]) -> tuple[Attribute, ...]:
    """Columns beside case, activity and time; one whose value never changes within a case is the case's."""
    found = []
    for column in attribute_columns(map(str, log.events.columns), log.read_as):
        values = log.events[column]
        of_case = column.startswith("case:") or _constant(values, case)
        begun = values.iloc[first[:-1]]
        if of_case:
            values = begun if column.startswith("case:") else values.groupby(case).first()
        told = _attribute(column, values, "case" if of_case else "event")
        later = of_case and told_later(int(values.notna().sum() - begun.notna().sum()), int(values.notna().sum()))
        found.append(replace(told, later=later))
    return tuple(found)


def attribute_columns(columns: Iterable[str], read_as: Mapping[str, str]) -> list[str]:
    """Columns that are neither case, activity, time or lifecycle, under whatever name, nor added by us."""
    known = {CASE, ACTIVITY, TIME, OFFSET, LIFECYCLE, *read_as.values()}
    return [column for column in columns if column not in known and OWN not in column]


def told_later(later: int, cases: int) -> bool:
    """Whether so many of the cases that tell an attribute do so only after their first event: it is no beginning.

    >>> told_later(0, 100), told_later(60, 100)
    (False, True)
    """
    return later > LATER * cases


def _constant(values: Any, case: NDArray[np.int64]) -> bool:
    """Whether no case has two different values."""
    return int(values.groupby(case).nunique().max()) <= 1


def _attribute(column: str, values: Any, of: str) -> Attribute:
    known = values.dropna()
    text = known.map(plain_text).astype(str)
    counts = Counter(text.tolist()).most_common()
    kind: str = "text"
    low: float | str | None = None
    high: float | str | None = None
    if len(known) and getattr(known.dtype, "kind", "") == "M":
        kind, low, high = "time", known.min().isoformat(), known.max().isoformat()
    elif len(known):
        if text.str.match(NUMBER).all():
            numbers = text.astype(float)
            kind, low, high = "number", float(numbers.min()), float(numbers.max())
        elif text.str.match(DATE).all():
            kind, low, high = "time", text.min(), text.max()
    return Attribute(
        name=column,
        of=of,
        kind=kind,
        filled=len(known) / len(values) if len(values) else 0.0,
        distinct=len(counts),
        counts=tuple(counts[: listed(len(counts))]),
        low=low,
        high=high,
    )


def listed(distinct: int) -> int:
    """Give how many of an attribute's values are listed.

    >>> listed(12), listed(13)
    (12, 5)
    """
    return distinct if distinct <= FEW_VALUES else LISTED


def _counted(log: EventLog, column: str | None) -> tuple[tuple[str, int], ...]:
    if column is None or column not in log.events:
        return ()
    counts = Counter(log.events[column].dropna().map(plain_text).tolist())
    return tuple((value, count) for value, count in counts.most_common() if value != "")


def outcome_candidates(
    activities: tuple[Activity, ...], attributes: tuple[Attribute, ...], cases: int
) -> tuple[OutcomeCandidate, ...]:
    """Events that end cases, but not all of them, or are called as good ends are; attributes of cases with two values.

    Of the events, those that always end a case come first, then those that are called as good ends are; last come those
    that are called as bad ends are.

    >>> log = EventLog.from_sequences([["ask", "rejected"]] * 3 + [["ask", "signed", "file"], ["ask", "wait"]])
    >>> [candidate.option for candidate in describe_log(log).outcomes]
    ["--positive 'file'", "--positive 'wait'", "--positive 'signed'", "--positive 'rejected'"]
    """
    found, told = [], []
    dividing = [a for a in activities if 0.01 < a.share < 0.99]
    for activity in sorted(dividing, key=lambda a: (-a.last, a.cases)):
        if 2 * activity.last >= activity.cases:
            found.append((activity, f"ends {activity.last:,} of the {activity.cases:,} cases that have it"))
        elif _sounds(activity.name, GOOD_END):
            found.append((activity, "called as good ends are"))
    for attribute in attributes:
        if attribute.of == "case" and attribute.distinct == 2 and attribute.filled > 0.99:
            value, count = max(attribute.counts[::-1], key=lambda pair: _sounds(pair[0], GOOD_END))
            option = f"--positive {value!r} --attribute {attribute.name!r}"
            told.append(OutcomeCandidate(option, count, count / cases, "an attribute of the case with two values"))
    if not found and not told:
        nearest = sorted(dividing, key=lambda a: abs(a.share - 0.5))[:3]
        found = [(activity, "some cases have it, others lack it") for activity in nearest]
    found.sort(key=lambda pair: _doubt(pair[0]))
    events = [OutcomeCandidate(f"--positive {a.name!r}", a.cases, a.share, why) for a, why in found]
    return (*events, *told)[:8]


def event_candidates(log: Log) -> tuple[OutcomeCandidate, ...]:
    """Events that may be the outcome, from what the variants of a log say alone.

    >>> [one.option for one in event_candidates(EventLog.from_sequences([["ask", "pay"]] * 3 + [["ask", "go"]]))]
    ["--positive 'pay'", "--positive 'go'"]
    """
    seen = log.seen
    cases = seen.count @ seen.present
    ends = (np.bincount(seen.code[place], seen.count, len(cases)) for place in (seen.first[:-1], seen.first[1:] - 1))
    counts = zip(seen.activities.items(), cases.tolist(), *ends, strict=True)
    found = [
        Activity(name, events, n, n / seen.n_cases, int(first), int(last), None)
        for (name, events), n, first, last in counts
    ]
    return outcome_candidates(tuple(found), (), seen.n_cases)


def _doubt(activity: Activity) -> int:
    """How far an event is from being what people mean by success."""
    if _sounds(activity.name, BAD_END):
        return 3
    if activity.last >= 0.95 * activity.cases and 0.1 < activity.share < 0.9:
        return 0
    return 1 if _sounds(activity.name, GOOD_END) else 2


def _sounds(name: str, like: re.Pattern[str]) -> bool:
    return like.search(name.casefold().replace("_", " ")) is not None


def actor_columns(attributes: tuple[Attribute, ...]) -> tuple[str, ...]:
    """Columns whose name says that they name people, roles before persons."""
    named = {attribute.name.casefold(): attribute.name for attribute in attributes if attribute.of == "event"}
    return tuple(named[name] for name in ACTORS if name in named)
