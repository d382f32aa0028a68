"""A log that stays where it is: a handful of tables in an engine, each step one relational expression.

Cases that look alike are one *group*. `rows` are the events of the groups, so a step that looks at names costs what
the variants cost, however many cases there are; `cases` tells each case's group and its times, as a list to be looked
up by an event's place in the source. A step that needs times or attributes makes each case a group of its own first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from waypost.errors import LogError
from waypost.logs.log import ACTIVITY, BASE, CASE, DECIDES, DURATION, LIFECYCLE, OUTCOME, OVERDUE, TIME
from waypost.logs.log import listing as listed_columns
from waypost.logs.stored.engines import Column, Engine, Table
from waypost.logs.variants import Variants
from waypost.model.arrays import Ints

NO_TIME = -(2**62)  # in place of a time that is missing
KNOWN = ("seen", "sizes", "_kinds", "weighed")  # whatever the notes are
PLACES = 2**24  # events of a case, at most
OWN = {
    BASE: "base",
    LIFECYCLE: "lifecycle",
    OUTCOME: "outcome",
    DECIDES: "decides",
    DURATION: "duration",
    OVERDUE: "overdue",
}


@dataclass(frozen=True, eq=False)
class StoredLog:
    """An event log in an engine; steps make a new one of it and never change it."""

    engine: Engine
    source: Table  # the events as they came, with `wp_case`, and `wp_us` and `wp_r` to order the events of a case by
    cases: Table  # (k, name, g, us) each case: its number, its name, its group, its times in order
    groups: Table  # (g, n, met) each group: its cases, and the number of the first
    rows: Table  # (g, pos, at, activity, ...) events in the order of `pos`; `at` is their place in the source's order
    columns: Mapping[str, str]  # as a log in memory has them, each with its name in the source
    timed: bool  # whether every event has a time; NO_TIME stands for those that have none
    notes: tuple[str, ...] = ()
    alone: bool = False  # whether each case is a group of its own

    def __repr__(self) -> str:
        return f"StoredLog({self.engine.name}, cases={self.n_cases}, events={len(self)})"

    # what a log is asked

    @cached_property
    def seen(self) -> Variants:
        """The log as its variants: all that leaves the engine."""
        from waypost.logs.stored.seeing import see

        return see(self)

    def closings(self, also: Mapping[str, str]) -> Ints:
        """Where the cases of each variant are decided: see `waypost.logs.variants.Log.closings`."""
        from waypost.logs.stored.seeing import closings

        return closings(self, also)

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        """Events, cases and variants."""
        per_group = self.rows.group_by("g").agg(events=self.rows.count())
        joined = per_group.join(self.groups, "g")
        found = joined.agg(events=(joined.events * joined.n).sum(), cases=joined.n.sum())
        events, cases = (int(v or 0) for v in self.values(found)[0])
        words = self.words()
        variants = self.values(words.agg(n=words.word.nunique()))[0][0]
        return events, cases, int(variants)

    def __len__(self) -> int:
        return self.sizes[0]

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return self.sizes[1]

    @property
    def n_variants(self) -> int:
        """Number of different sequences of activities."""
        return self.sizes[2]

    @cached_property
    def weighed(self) -> Table:
        """Rows, each with the cases of its group and the number of the first."""
        return self.rows.join(self.groups, "g")

    @cached_property
    def _kinds(self) -> list[tuple[str, str, int]]:
        """Name, base and number of the events of each kind, in the order in which they are met."""
        rows = self.weighed
        base = rows.base if "base" in rows.columns else rows.activity
        found = rows.group_by(name=rows.activity, base=base).agg(
            events=rows.n.sum(), met=(rows.met * PLACES + rows.pos).min()
        )
        return [(name, base, int(n)) for name, base, n, _ in sorted(self.values(found), key=lambda row: row[3])]

    def kinds(self) -> list[tuple[str, str]]:
        """Names of events, each with the one it had before it was numbered, in the order in which they are met."""
        return [(name, base) for name, base, _ in self._kinds]

    def activities(self) -> Mapping[str, int]:
        """How often each activity happens, the most frequent first."""
        tally: dict[str, int] = {}
        for name, _, n in self._kinds:
            tally[name] = tally.get(name, 0) + n
        return dict(sorted(tally.items(), key=lambda item: -item[1]))

    def has(self, column: str) -> bool:
        """Whether there is such a column."""
        return column in (CASE, ACTIVITY) or OWN.get(column) in self.rows.columns or column in self.columns

    def transitions(self) -> Mapping[str, Sequence[str]]:
        """Lifecycle transitions of each activity; nothing where the log does not tell of any."""
        if "lifecycle" not in self.rows.columns:
            return {}
        found: dict[str, list[str]] = {}
        there = self.rows.filter(self.rows.lifecycle != "").select("activity", "lifecycle").distinct()
        for name, kind in self.values(there):
            found.setdefault(name, []).append(kind)
        return found

    # what steps are made of

    def values(self, table: Table) -> list[tuple[Any, ...]]:
        """Rows of a small table."""
        fetched = self.engine.fetch(table)
        return list(zip(*(column.to_pylist() for column in fetched.columns), strict=True)) if len(fetched) else []

    def counted(self, rows: Table) -> int:
        """Events that these rows stand for."""
        joined = rows.join(self.groups, "g")
        return int(self.values(joined.agg(n=joined.n.sum()))[0][0] or 0)

    def words(self) -> Table:
        """(g, word) the activities of each group as one text; a letter stands for an activity."""
        import pyarrow as pa

        names = list(self.activities())
        letters = pa.array([letter(k) for k in range(len(names))], pa.string())
        known = self.engine.put(pa.table({"activity": pa.array(names, pa.string()), "letter": letters}))
        return self.engine.words(self.rows.join(known, "activity"), "g", "pos", "letter")

    def by_case(self, *attributes: str, times: str | None = None) -> StoredLog:
        """Return the same log with each case a group of its own, and times (`us`) or attributes beside its events.

        `times` names the purpose, for the error where the log has none.
        """
        if times is not None:
            self.check_times(times)
        cases = self.cases
        for number, attribute in enumerate(attributes):
            told = self.told(attribute).rename({f"a{number}": "told"})
            cases = cases.join(told, "k")
        joined = self.rows.join(cases, "g")
        extra: dict[str, Column] = {"us": joined.us[joined["at"]]} if times is not None else {}
        extra |= {f"a{n}": joined[f"a{n}"][joined["at"]] for n in range(len(attributes))}
        own = [c for c in self.rows.columns if c != "g"]
        rows = self.engine.keep(joined.select(*own, g=joined.k, **extra))
        if self.alone:
            return replace(self, rows=rows)
        alone = self.cases.mutate(g=self.cases.k)
        groups = self.engine.keep(self.cases.select(g=self.cases.k, n=self.cases.k * 0 + 1, met=self.cases.k))
        return replace(self, rows=rows, cases=alone, groups=groups, alone=True)

    def told(self, attribute: str) -> Table:
        """(k, told) the values of an attribute of each case, in order of its events, missing ones as ''."""
        if attribute not in self.columns:
            raise LogError(f"this log has no column {attribute!r} ({listed_columns(self.columns)})")
        source = self.source.mutate(told=text_of(self.source[self.columns[attribute]]).fill_null(""))
        lists = self.engine.ordered(source, "wp_case", ["wp_us", "wp_r"], ["told"])
        return self.engine.keep(lists.join(self.cases, lists.wp_case == self.cases.name).select("k", "told"))

    def check_times(self, purpose: str) -> None:
        """Say what is missing where a step needs times."""
        if not self.has(TIME):
            raise LogError(f"{purpose} needs timestamps, and this log has none ({listed_columns(self.columns)})")
        if not self.timed:
            joined = self.rows.join(self.cases, "g")
            lacking = joined.us[joined["at"]] == NO_TIME
            missing = int(self.values(joined.agg(n=lacking.sum()))[0][0] or 0)
            if missing:
                raise LogError(f"{purpose} needs a time for every event, and {missing:,} of {len(self):,} have none")

    def case_values(self, attribute: str) -> Mapping[str, int]:
        """Values of an attribute of the case, each with its cases, in the order in which they are met."""
        per_case = self._told_first(attribute)
        found = per_case.group_by("told").agg(cases=per_case.count(), met=per_case.g.min())
        return {value: int(n) for value, n, _ in sorted(self.values(found), key=lambda row: row[2])}

    def where_value(self, attribute: str, values: Sequence[str]) -> StoredLog:
        """Return a log of the cases with one of these values."""
        per_case = self._told_first(attribute)
        return self._of_cases(
            self.cases.semi_join(per_case.filter(per_case.told.isin(list(values))).select(k="g"), "k")
        )

    def divided_at(self, moment: np.datetime64) -> tuple[StoredLog | None, StoredLog | None]:
        """Cases that begin before a moment (UTC), and the others; None where there are none."""
        import ibis

        self.check_times("comparing two periods")
        rows = self.rows.mutate(edge=self.rows.pos.min().over(ibis.window(group_by=self.rows.g)))
        first = rows.filter(rows.pos == rows.edge).select("g", begun="at")
        joined = self.cases.join(first, "g")
        early = joined.us[joined.begun] < int(moment.astype("datetime64[us]").astype(np.int64))
        told = self.engine.keep(joined.select(*self.cases.columns, early=early))
        parts = (self._of_cases(told.filter(which).drop("early")) for which in (told.early, ~told.early))
        one, other = (part if part.n_cases else None for part in parts)
        return one, other

    def _of_cases(self, wanted: Table) -> StoredLog:
        """Return a log of these rows of `cases`."""
        cases = self.engine.keep(wanted)
        groups = self.engine.keep(cases.group_by("g").agg(n=cases.count(), met=cases.k.min()))
        return replace(self, cases=cases, groups=groups, rows=self.rows.semi_join(groups, "g"))

    def performers(self, column: str) -> Mapping[str, Mapping[str, int]]:
        """How often each value of a column goes with each activity, in the order in which they are met."""
        rows = self.by_case(column).rows
        met = (rows.g * PLACES + rows.pos).min()
        found: dict[str, dict[str, int]] = {}
        pairs = self.values(rows.group_by("activity", "a0").agg(n=rows.count(), met=met))
        for name, who, n, _ in sorted(pairs, key=lambda row: row[3]):
            found.setdefault(name, {})[who] = int(n)
        return found

    def _told_first(self, attribute: str) -> Table:
        """(g, told) the first value that each case tells of an attribute; here `g` is a case."""
        import ibis

        there = next((c for c in (attribute, f"case:{attribute}") if c in self.columns), attribute)
        rows = self.by_case(there).rows
        told = rows.filter(rows.a0 != "")
        first = told.group_by("g").agg(pos=told.pos.min())
        first = first.join(told.select("g", "pos", "a0"), ["g", "pos"]).select("g", told="a0")
        every = rows.select("g").distinct()
        return self.engine.keep(every.left_join(first, "g").select("g", told=ibis.coalesce(first.told, "")))

    # what steps make

    def with_rows(self, rows: Table, note: str | None = None) -> StoredLog:
        """Return a log of these rows, with one more note; an empty log is an error, never a result."""
        after = replace(
            self,
            rows=self.engine.keep(rows.drop(*(c for c in ("us", "a0", "a1", "n", "met") if c in rows.columns))),
            notes=(*self.notes, note) if note else self.notes,
        )
        if not len(after):
            why = f": {note}" if note else ""
            raise LogError(f"no event is left of {len(self):,}{why}; let this step keep more")
        return after

    def spoken_as(self, names: Mapping[str, str], note: str) -> StoredLog:
        """Return the same log with other names for some events, which stay what they are to a map of actors."""
        base = self.rows.base if "base" in self.rows.columns else self.rows.activity
        return self.with_rows(self.rows.mutate(base=base, activity=self.rows.activity.substitute(dict(names))), note)

    def with_notes(self, notes: tuple[str, ...]) -> StoredLog:
        """Return the same log with other notes; what is known about it stays known."""
        after = replace(self, notes=notes)
        after.__dict__.update({name: self.__dict__[name] for name in KNOWN if name in self.__dict__})
        return after


def text_of(column: Column) -> Column:
    """Values of a column as the same log has them in memory: True and False, 7.0 as 7, what is no number missing."""
    import ibis

    kind = column.type()
    if kind.is_boolean():
        return ibis.cases((column, "True"), (~column, "False"))
    text = column.cast("string")
    return ibis.cases((~column.isnan(), text.re_replace(r"\.0$", ""))) if kind.is_floating() else text


def letter(number: int) -> str:
    """Character that stands for a number; the code points of half characters are left out.

    >>> len({letter(k) for k in range(60_000)})
    60000
    """
    point = 0x100 + number
    return chr(point if point < 0xD800 else point + 0x800)


def number_of(words: Sequence[str]) -> list[list[int]]:
    """Numbers that the letters of words stand for."""
    return [[p - 0x100 if p < 0xD800 else p - 0x900 for p in map(ord, word)] for word in words]
