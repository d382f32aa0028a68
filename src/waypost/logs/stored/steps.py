"""The steps of a recipe as relational expressions, with the same parameters and the same notes as in memory.

What a parameter is by default is said once, in memory; a recipe hands all of them on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from waypost.errors import LogError
from waypost.logs.log import LIFECYCLE, listing, matches
from waypost.logs.segments import segment_values
from waypost.logs.steps.cases import Moment, checked_period, instant
from waypost.logs.steps.durations import by_mixture, checked_limits, lowered, told_class
from waypost.logs.steps.events import Patterns, counted, missing_name, spoken
from waypost.logs.stored.engines import Column, Table
from waypost.logs.stored.log import StoredLog

DAY = 86_400e6  # microseconds


def fitting(known: Any, patterns: Patterns) -> list[str]:
    """Those of the known names that one of the patterns fits."""
    names = np.array(list(known), object)
    return names[matches(names, patterns)].tolist() if len(names) else []


def called(log: StoredLog, patterns: Patterns, rows: Table | None = None) -> Column:
    """Whether each row's event has one of these names."""
    rows = log.rows if rows is None else rows
    return among(rows.activity, fitting(log.activities(), patterns))


def among(column: Column, values: Sequence[str]) -> Column:
    """Whether each row has one of these values."""
    return column.isin(list(values)) if values else column != column  # noqa: PLR0124  a column of no


def in_group(flag: Column, rows: Table) -> Column:
    """Whether any row of the same group is so."""
    import ibis

    return flag.any().over(ibis.window(group_by=rows.g))


def bases(rows: Table) -> Column:
    """Name of each event before it was numbered or classified."""
    return rows.base if "base" in rows.columns else rows.activity


def keep_events(log: StoredLog, *, names: Patterns) -> StoredLog:
    """Keep the events with one of these names."""
    kept = log.rows.filter(called(log, names))
    return log.with_rows(kept, f"kept {counted(log.counted(kept), 'event')} called {spoken(names)}")


def drop_events(log: StoredLog, *, names: Patterns, unless: Patterns, in_cases_with: Patterns) -> StoredLog:
    """Drop the events with one of these names, `unless` they have one of those; only in cases with a certain event."""
    rows = log.rows
    dropped = called(log, names) & ~called(log, unless)
    if in_cases_with != "*":
        dropped &= in_group(called(log, in_cases_with), rows)
    rows = rows.mutate(dropped=dropped)
    kept = rows.filter(~rows.dropped).drop("dropped")
    gone = len(log) - log.counted(kept)
    where = "" if in_cases_with == "*" else f" in cases with {spoken(in_cases_with)}"
    return log.with_rows(kept, f"dropped {counted(gone, 'event')} called {spoken(names)}{where}")


def rename_events(log: StoredLog, *, names: Mapping[str, str]) -> StoredLog:
    """Give events other names, each as a whole."""
    known = log.activities()
    missing_name(names, known)
    changes = {old: new for old, new in names.items() if old != new}
    if not changes:
        return log.with_rows(log.rows.mutate(base=bases(log.rows)), "renamed 0 events")
    renamed = log.rows.activity.substitute(changes)
    changed = log.rows.activity.isin(list(changes))
    rows = log.rows.mutate(activity=renamed, base=changed.ifelse(renamed, bases(log.rows)))
    return log.with_rows(rows, f"renamed {counted(sum(known[old] for old in changes), 'event')}")


def keep_lifecycle(log: StoredLog, *, transitions: Patterns) -> StoredLog:
    """Keep the events of these lifecycle transitions, upper and lower case alike; events without one stay."""
    kept = log.rows.filter(_transition(log, transitions, "keep_lifecycle") | (log.rows.lifecycle == ""))
    return log.with_rows(kept, f"kept {counted(log.counted(kept), 'event')} that are {spoken(transitions)}")


def _transition(log: StoredLog, wanted: Patterns, purpose: str) -> Column:
    """Whether each row's transition is one of those wanted, upper and lower case alike."""
    if "lifecycle" not in log.rows.columns:
        raise LogError(f"{purpose} needs the column {LIFECYCLE!r}, which this log has not ({listing(log.columns)})")
    known = [kind for (kind,) in log.values(log.rows.select("lifecycle").distinct())]
    fits = [kind for kind in known if fitting([kind.casefold()], lowered(wanted))]
    return among(log.rows.lifecycle, fits)


def merge_repeats(log: StoredLog, *, names: Patterns) -> StoredLog:
    """Make one event of several with the same name in a row; their durations are added."""
    import ibis

    rows = log.rows
    order = ibis.window(group_by=rows.g, order_by=rows.pos)
    again = called(log, names) & (rows.activity.lag().over(order) == rows.activity).fill_null(False)
    rows = log.engine.keep(rows.mutate(again=again))
    if "duration" in rows.columns:
        running = ibis.window(group_by=rows.g, order_by=rows.pos, preceding=None, following=0)
        rows = rows.mutate(run=(~rows.again).sum().over(running))
        rows = rows.mutate(duration=rows.duration.sum().over(ibis.window(group_by=[rows.g, rows.run]))).drop("run")
    kept = rows.filter(~rows.again).drop("again")
    return log.with_rows(kept, f"merged {counted(len(log) - log.counted(kept), 'repeated event')}")


def number_events(log: StoredLog, *, names: Patterns, first: int) -> StoredLog:
    """Append to each of these events how often its case has seen it before."""
    import ibis

    rows = log.rows.mutate(base=bases(log.rows))
    order = ibis.window(group_by=[rows.g, rows.activity], order_by=rows.pos)
    number = (ibis.row_number().over(order) + first).cast("string")
    numbered = called(log, names, rows).ifelse(rows.activity + number, rows.activity)
    known = log.activities()
    n = sum(known[name] for name in fitting(known, names))
    return log.with_rows(rows.mutate(activity=numbered), f"numbered {counted(n, 'event')} called {spoken(names)}")


def pair_lifecycle(
    log: StoredLog, *, names: Patterns, start: Patterns, complete: Patterns, longer_than: float
) -> StoredLog:
    """Make one event, with a duration, of a start and the next completion of the same activity in the same case."""
    import ibis

    starts = _transition(log, start, "pair_lifecycle")
    ends = _transition(log, complete, "pair_lifecycle")
    marked = replace(log, rows=log.rows.mutate(starts=starts, ends=ends, concerned=called(log, names)))
    log = marked.by_case(times="pair_lifecycle")
    rows = log.rows
    told = rows.filter(rows.concerned & (rows.starts | rows.ends))
    order = ibis.window(group_by=[told.g, told.activity], order_by=told.pos)
    told = told.mutate(next_us=told.us.lead().over(order), next_starts=told.starts.lead().over(order))
    paired = told.filter(told.starts & told.next_us.notnull() & ~told.next_starts)
    paired = paired.select("g", "pos", spent=(paired.next_us - paired.us).cast("float64") / 1e6)
    joined = rows.left_join(paired, ["g", "pos"]).drop("g_right", "pos_right")
    rows = log.engine.keep(joined.rename(duration="spent").drop("starts", "ends"))
    found, long = (
        int(v or 0)
        for v in log.values(rows.agg(n=(rows.duration >= 0).sum(), long=(rows.duration > longer_than).sum()))[0]
    )
    if not found:
        raise LogError(f"pair_lifecycle: no event called {names!r} has a {start!r} followed by a {complete!r}")
    kept = rows.filter(~rows.concerned | (rows.duration > longer_than).fill_null(False)).drop("concerned")
    short = f", of which {found - long:,} lasted {longer_than:g} s or less and were dropped" if long < found else ""
    return log.with_rows(kept, f"paired {found:,} starts with their ends{short}")


def classify_durations(
    log: StoredLog,
    *,
    names: Patterns,
    classes: Mapping[str, float] | None,
    mixture: int | None,
    seed: int,
    separator: str,
) -> StoredLog:
    """Append the class of its duration to the name of each event that has one; a mixture fetches the durations."""
    import pyarrow as pa

    if (classes is None) == (mixture is None):
        raise LogError("classify_durations: give either classes or mixture")
    if "duration" not in log.rows.columns:
        raise LogError("classify_durations: no event has a duration yet; run pair_lifecycle before it")
    rows = log.rows.mutate(base=bases(log.rows))
    chosen = called(log, names, rows) & rows.duration.notnull()
    parts = []
    for (activity,) in sorted(log.values(rows.filter(chosen).select("activity").distinct())):
        those = rows.filter(chosen & (rows.activity == activity)).order_by("g", "pos")
        fetched = log.engine.fetch(those.select("g", "pos", "duration"))
        seconds = fetched["duration"].to_numpy()
        found = (
            checked_limits(seconds, classes, activity)
            if classes is not None
            else by_mixture(seconds, mixture or 0, seed, activity)
        )
        name = [f"{activity}{separator}{c}" for c in found]
        parts.append(pa.table({"g": fetched["g"], "pos": fetched["pos"], "named": name}))
        sizes = [(f"{activity}{separator}{c}", seconds[found == c]) for c in dict.fromkeys(sorted(found))]
        parts[-1] = parts[-1].replace_schema_metadata({"told": "; ".join(told_class(*each) for each in sizes)})
    told = "; ".join(part.schema.metadata[b"told"].decode() for part in parts)
    total = sum(map(len, parts))
    if total:
        named = log.engine.put(pa.concat_tables([part.replace_schema_metadata(None) for part in parts]))
        joined = rows.left_join(named, ["g", "pos"])
        renamed = joined.named.isnull().ifelse(joined.activity, joined.named)
        rows = joined.mutate(activity=renamed).drop("g_right", "pos_right", "named")
    return log.with_rows(rows, f"classified {total:,} durations: {told}")


def rename_by_gap(log: StoredLog, *, names: Patterns, days: float, late: str, soon: str) -> StoredLog:
    """Call these events `late` when that many days or more have passed since the event before, and `soon` otherwise."""
    import ibis

    known = log.activities()
    log = log.by_case(times="rename_by_gap")
    rows = log.rows.mutate(base=bases(log.rows))
    order = ibis.window(group_by=rows.g, order_by=rows.pos)
    gap = ((rows.us - rows.us.lag().over(order)).cast("float64") / DAY).fill_null(0.0)
    rows = log.engine.keep(rows.mutate(chosen=called(log, names, rows), waited=gap >= days))
    new = rows.waited.ifelse(ibis.literal(late), ibis.literal(soon))
    both = rows.filter(rows.chosen & rows.waited)
    waited = log.counted(both)
    total = sum(known[name] for name in fitting(known, names))
    rows = rows.mutate(activity=rows.chosen.ifelse(new, rows.activity), base=rows.chosen.ifelse(new, rows.base))
    return log.with_rows(
        rows.drop("chosen", "waited"), f"{waited:,} events became {late!r}, {total - waited:,} {soon!r}"
    )


def keep_cases(
    log: StoredLog, *, having: Patterns, lacking: Patterns, attribute: str | None, values: Patterns
) -> StoredLog:
    """Keep the cases that have one event and lack another, or an `attribute` with certain `values`."""
    cases = log.n_cases
    if attribute is not None:
        log = told_attribute(log, attribute, "keep_cases")
    rows = log.rows
    flags = in_group(called(log, having), rows) & ~in_group(called(log, lacking), rows)
    if attribute is not None:
        known = [value for (value,) in log.values(rows.select("a0").distinct())]
        flags &= in_group(among(rows.a0, fitting(known, values)), rows)
    flagged = rows.mutate(flag=flags)
    kept = log.engine.keep(flagged.filter(flagged.flag).drop("flag"))
    left = _cases_in(log, kept)
    return log.with_rows(kept, f"kept {left:,} of {cases:,} cases")


def _cases_in(log: StoredLog, rows: Table) -> int:
    groups = log.groups.semi_join(rows, "g")
    return int(log.values(groups.agg(n=groups.n.sum()))[0][0] or 0)


def told_attribute(log: StoredLog, attribute: str, purpose: str) -> StoredLog:
    """Return the log by case with an attribute beside its events, as `a0`."""
    if attribute not in log.columns:
        raise LogError(f"{purpose} needs the column {attribute!r}, which this log has not ({listing(log.columns)})")
    return log.by_case(attribute)


def keep_periods(log: StoredLog, *, periods: list[Mapping[str, Moment]]) -> StoredLog:
    """Keep the cases that lie wholly within one of the periods ``{"from": moment, "until": moment}``, or half of it."""
    import ibis

    cases = log.n_cases
    log = log.by_case(times="keep_periods")
    group = ibis.window(group_by=log.rows.g)
    rows = log.rows.mutate(begin=log.rows.us.min().over(group), end=log.rows.us.max().over(group))
    keep: Column = ibis.literal(False)
    for period in periods:
        checked_period(period)
        inside: Column = ibis.literal(True)
        if "from" in period:
            inside &= rows.begin >= _micros(period["from"])
        if "until" in period:
            inside &= rows.end <= _micros(period["until"])
        keep |= inside
    kept = log.engine.keep(rows.filter(keep).drop("begin", "end"))
    return log.with_rows(kept, f"kept {_cases_in(log, kept):,} of {cases:,} cases, by time")


def _micros(moment: Moment) -> int:
    return int(instant(moment).astype(np.int64))


def keep_variants(log: StoredLog, *, at_least: int) -> StoredLog:
    """Keep the cases whose sequence of events happened at least that often."""
    words = log.engine.keep(log.words().join(log.groups, "g"))
    counts = words.group_by("word").agg(cases=words.n.sum())
    often = log.engine.keep(counts.filter(counts.cases >= at_least))
    kept = log.rows.semi_join(words.semi_join(often, "word"), "g")
    n, cases = (int(v or 0) for v in log.values(often.agg(n=often.count(), cases=often.cases.sum()))[0])
    return log.with_rows(kept, f"kept {n:,} of {log.n_variants:,} variants, {cases:,} of {log.n_cases:,} cases")


def cut_cases(log: StoredLog, *, after: Patterns, missing: Literal["drop", "keep"]) -> StoredLog:
    """End each case with the first of these events; a case without one is dropped, or kept as it is."""
    import ibis

    if missing not in ("drop", "keep"):
        raise LogError(f"cut_cases: missing is 'drop' or 'keep', not {missing!r}")
    rows = log.rows
    end = rows.pos.min(where=called(log, after)).over(ibis.window(group_by=rows.g))
    rows = log.engine.keep(rows.mutate(end=end))
    kept = rows.filter((rows.pos <= rows.end) | (rows.end.isnull() if missing == "keep" else False))
    ends = _cases_in(log, rows.filter(rows.end.notnull()))
    gone = 0 if missing == "keep" else log.n_cases - ends
    return log.with_rows(
        kept.drop("end"),
        f"cut {ends:,} cases at their first {after!r}" + (f", dropped {gone:,} without" if gone else ""),
    )


def attribute_as_event(log: StoredLog, *, attribute: str, first: bool) -> StoredLog:
    """Put an attribute of the case into it as an event, at its start or its end."""
    import ibis
    import pyarrow as pa

    spoken_name = attribute.removeprefix("case:")
    segments = segment_values(log.case_values(attribute))
    pairs = [(value, f"{spoken_name} {name}") for name, values in segments.items() for value in values]
    named = log.engine.put(pa.table({"told": [v for v, _ in pairs], "named": [n for _, n in pairs]}))
    told = log.engine.keep(log._told_first(attribute).join(named, "told").select("g", "named"))  # noqa: SLF001
    cases = log.n_cases
    log = log.by_case()
    rows = log.rows
    edge = (rows.pos.min() if first else rows.pos.max()).over(ibis.window(group_by=rows.g))
    at_edge = rows.mutate(edge=edge)
    at_edge = at_edge.filter(at_edge.pos == at_edge.edge).drop("edge").join(told, "g")
    blanks = (("lifecycle", "complete"), ("decides", ""))
    blank = {name: ibis.literal(value) for name, value in blanks if name in rows.columns}
    if "base" in rows.columns:
        blank |= {"base": at_edge.named}
    extra = at_edge.mutate(activity=at_edge.named, pos=at_edge.pos + (-1 if first else 1), **blank).drop("named")
    # positions are counted from 0 for the event met first, so everything moves up by one
    both = rows.union(extra.select(*rows.columns))
    both = both.mutate(pos=both.pos + 1)
    return log.with_rows(both, f"put {attribute!r} into {cases:,} cases as an event")
