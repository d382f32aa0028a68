"""What an event log is: one table of events, cases together, each case in the order things happened.

The columns carry the names of the XES standard, as process miners know them: `CASE`, `ACTIVITY`, `TIME`, `LIFECYCLE`
and whatever else the log says, attributes of a case with the prefix ``case:``. Waypost adds six of its own: `OFFSET`
(the time zone each timestamp was written in), `BASE` (an activity before it was numbered or classified), `DURATION`,
`OUTCOME`, `DECIDES` and `OVERDUE`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import LogError, require

if TYPE_CHECKING:
    from pandas import DataFrame

    from waypost.logs.variants import Variants
    from waypost.model.arrays import Ints

CASE = "case:concept:name"
ACTIVITY = "concept:name"
TIME = "time:timestamp"  # the instant, in UTC
LIFECYCLE = "lifecycle:transition"

OFFSET = "time:offset"  # minutes east of UTC that the source wrote; missing where it wrote none
BASE = "waypost:base"
DURATION = "waypost:duration"  # seconds
OUTCOME = "case:waypost:outcome"
DECIDES = "waypost:decides"  # the outcome that an event decides, '' for most of them
OVERDUE = "waypost:overdue"  # as above, of events that come when the time for a good end is over; with a deadline alone


def is_text(column: Any) -> bool:
    """Whether a column of a table is text and nothing else, as pandas keeps it."""
    from pandas import StringDtype

    return isinstance(column.dtype, StringDtype)


def plain_text(value: Any) -> str:
    """Value of an attribute as text; 7.0, which a 7 becomes in a column with gaps, is 7.

    >>> plain_text(7.0), plain_text(7.5), plain_text(True)
    ('7', '7.5', 'True')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def each_once(column: Any) -> NDArray[np.object_]:
    """(N,) the values of a column as Python's own; rows with the same text share it, so that millions take little room.

    >>> from pandas import Series
    >>> one, other = each_once(Series(["ask the bank", "ask the bank"]))
    >>> one is other
    True
    """
    if not is_text(column):
        return np.asarray(column.to_numpy(dtype=object))
    codes, kinds = column.factorize(use_na_sentinel=False)
    return np.asarray(kinds.to_numpy(dtype=object)[codes])


def give_back() -> None:
    """Give the memory of logs that nobody holds any more back to the system; the text in them is Arrow's."""
    if "pyarrow" in sys.modules:
        import pyarrow as pa

        pa.default_memory_pool().release_unused()


@dataclass(frozen=True, eq=False)
class EventLog:
    """An event log; steps make a new one of it and never change it.

    >>> log = EventLog.from_sequences([["apply", "grant"], ["apply", "reject"], ["apply", "grant"]])
    >>> log
    EventLog(cases=3, events=6, activities=3)
    >>> log.variants()
    {('apply', 'grant'): 2, ('apply', 'reject'): 1}
    """

    events: DataFrame  # (N,) rows, one per event; the rows of a case are together and in order
    notes: tuple[str, ...] = ()  # what reading and cleaning did, in a person's words
    classifiers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of XES: columns that name an activity
    read_as: Mapping[str, str] = field(default_factory=dict)  # of a table: case, activity, ..., and the column of each

    def __repr__(self) -> str:
        return f"EventLog(cases={self.n_cases}, events={len(self.events)}, activities={len(self.activities())})"

    def __len__(self) -> int:
        return len(self.events)

    @classmethod
    def from_sequences(cls, sequences: Iterable[Sequence[str]]) -> EventLog:
        """Log of cases given as sequences of activities, for small examples."""
        pandas = require("pandas", "logs", "an event log")
        rows = [(f"case {i}", name) for i, names in enumerate(sequences, 1) for name in names]
        if not rows:
            raise LogError("there are no events in these sequences")
        return cls(pandas.DataFrame(rows, columns=[CASE, ACTIVITY]))

    @property
    def first_event(self) -> NDArray[np.int64]:
        """(cases + 1,) case `k` owns the rows ``first_event[k] : first_event[k + 1]``."""
        case = self.events[CASE].factorize()[0]
        starts = np.flatnonzero(np.concatenate([[True], case[1:] != case[:-1]])) if len(case) else np.zeros(0, int)
        return np.append(starts, len(case)).astype(np.int64)

    @property
    def case_of(self) -> NDArray[np.int64]:
        """(N,) the position of each event's case."""
        first = self.first_event
        return np.repeat(np.arange(len(first) - 1), np.diff(first))

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(self.first_event) - 1

    @property
    def n_variants(self) -> int:
        """Number of different sequences of activities."""
        return len(self.variants())

    @cached_property
    def seen(self) -> Variants:
        """The log as its variants: what everything counted is counted in."""
        from waypost.logs.seeing import see

        return see(self)

    def closings(self, also: Mapping[str, str]) -> Ints:
        """Where the cases of each variant are decided: see `waypost.logs.variants.Log.closings`."""
        from waypost.logs.seeing import closings

        return closings(self, also)

    def has(self, column: str) -> bool:
        """Whether there is such a column."""
        return column in self.events

    def names(self) -> NDArray[np.object_]:
        """(N,) the activity of each event."""
        return each_once(self.events[ACTIVITY])

    def kinds(self) -> list[tuple[str, str]]:
        """Names of events, each with the one it had before it was numbered, in the order in which they are met."""
        base = each_once(self.events[BASE if BASE in self.events else ACTIVITY])
        return list(dict.fromkeys(zip(self.names().tolist(), base.tolist(), strict=True)))

    def activities(self) -> Mapping[str, int]:
        """How often each activity happens, the most frequent first."""
        return dict(Counter(self.names().tolist()).most_common())

    def sequences(self) -> list[tuple[str, ...]]:
        """Activities of each case, in order."""
        names, first = self.names().tolist(), self.first_event.tolist()
        return [tuple(names[low:high]) for low, high in pairwise(first)]

    def variants(self) -> dict[tuple[str, ...], int]:
        """How often each sequence of activities happens, the most frequent first."""
        return dict(Counter(self.sequences()).most_common())

    def times(self, purpose: str) -> NDArray[Any]:
        """(N,) the instants; an error that names the `purpose` where the log has none."""
        if TIME not in self.events:
            raise LogError(f"{purpose} needs timestamps, and this log has none ({listing(self.events.columns)})")
        missing = int(self.events[TIME].isna().sum())
        if missing:
            raise LogError(f"{purpose} needs a time for every event, and {missing:,} of {len(self):,} have none")
        return np.asarray(self.events[TIME].dt.tz_convert("UTC").dt.tz_localize(None).to_numpy("datetime64[us]"))

    def column(self, name: str, purpose: str) -> NDArray[np.object_]:
        """(N,) an attribute as text, missing values as ''; an error with the columns there are."""
        if name not in self.events:
            raise LogError(
                f"{purpose} needs the column {name!r}, which this log has not ({listing(self.events.columns)})"
            )
        values = self.events[name]
        if is_text(values):
            return each_once(values.fillna(""))
        return np.asarray(values.astype(object).where(values.notna(), "").map(plain_text).to_numpy(dtype=object))

    def values_of_cases(self, attribute: str) -> list[str]:
        """(cases,) the first value that a case tells of an attribute, '' where it tells none."""
        there = next((c for c in (attribute, f"case:{attribute}") if c in self.events), attribute)
        told = self.column(there, "segment")
        return [next((v for v in told[low:high] if v != ""), "") for low, high in pairwise(self.first_event.tolist())]

    def case_values(self, attribute: str) -> Mapping[str, int]:
        """Values of an attribute of the case, each with its cases, in the order in which they are met."""
        return Counter(self.values_of_cases(attribute))

    def where_value(self, attribute: str, values: Sequence[str]) -> EventLog:
        """Return a log of the cases with one of these values."""
        wanted = set(values)
        return self.where_cases(np.array([value in wanted for value in self.values_of_cases(attribute)], bool))

    def divided_at(self, moment: np.datetime64) -> tuple[EventLog | None, EventLog | None]:
        """Cases that begin before a moment (UTC), and the others; None where there are none."""
        early = self.times("comparing two periods")[self.first_event[:-1]] < moment
        one, other = (self.where_cases(part) if part.any() else None for part in (early, ~early))
        return one, other

    def transitions(self) -> Mapping[str, Sequence[str]]:
        """Lifecycle transitions of each activity; nothing where the log does not tell of any."""
        if LIFECYCLE not in self.events:
            return {}
        there = self.events[LIFECYCLE].notna().to_numpy()
        pairs = zip(self.names()[there].tolist(), self.events[LIFECYCLE][there].map(str).tolist(), strict=True)
        found: dict[str, list[str]] = {}
        for name, kind in dict.fromkeys(pairs):
            found.setdefault(name, []).append(kind)
        return found

    def performers(self, column: str) -> Mapping[str, Mapping[str, int]]:
        """How often each value of a column goes with each activity, in the order in which they are met."""
        found: dict[str, Counter[str]] = {}
        for name, who in zip(self.names().tolist(), self.column(column, "a map of actors").tolist(), strict=True):
            found.setdefault(name, Counter())[who] += 1
        return found

    def spoken_as(self, names: Mapping[str, str], note: str) -> EventLog:
        """Return the same log with other names for some events, which stay what they are to a map of actors."""
        base = self.events[BASE if BASE in self.events else ACTIVITY]
        called = [names.get(name, name) for name in self.names().tolist()]
        return self.with_events(self.events.assign(**{ACTIVITY: np.array(called, object), BASE: base}), note)

    def with_notes(self, notes: tuple[str, ...]) -> EventLog:
        """Return the same log with other notes; what is known about it stays known."""
        after = replace(self, notes=notes)
        after.__dict__.update({name: self.__dict__[name] for name in ("seen",) if name in self.__dict__})
        return after

    def with_events(self, events: DataFrame, note: str | None = None) -> EventLog:
        """Return a log of these events, with one more note; an empty log is an error, never a result."""
        if not len(events):
            why = f": {note}" if note else ""
            raise LogError(f"no event is left of {len(self):,}{why}; let this step keep more")
        return replace(self, events=events.reset_index(drop=True), notes=(*self.notes, note) if note else self.notes)

    def where(self, rows: NDArray[np.bool_], note: str | None = None) -> EventLog:
        """Return a log of the events that `rows` marks."""
        return self.with_events(self.events[rows], note)

    def where_cases(self, cases: NDArray[np.bool_], note: str | None = None) -> EventLog:
        """Return a log of the cases that `cases` marks."""
        return self.with_events(self.events, note) if cases.all() else self.where(cases[self.case_of], note)


def matches(names: NDArray[np.object_], patterns: str | Iterable[str]) -> NDArray[np.bool_]:
    """(N,) which names one of the patterns fits: ``*`` stands for anything, ``?`` for one character.

    >>> matches(np.array(["O_SENT", "O_SENT_BACK", "A_SENT"], dtype=object), ["O_*"]).tolist()
    [True, True, False]
    """
    wanted = [patterns] if isinstance(patterns, str) else list(patterns)
    fits = {name: any(name == p or fnmatchcase(name, p) for p in wanted) for name in set(names.tolist())}
    return np.array([fits[name] for name in names.tolist()], bool)


def listing(columns: Iterable[Any]) -> str:
    """Columns there are, in words."""
    return "its columns are: " + ", ".join(repr(str(c)) for c in columns)
