"""A stored log, seen as its variants: the only tables that leave the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from waypost.logs.stored.engines import Column, Table
from waypost.logs.stored.log import StoredLog, letter, number_of
from waypost.logs.times import HOUR
from waypost.logs.variants import EXAMPLES, Clock, Decided, EventKind, Variants, Waiting, packed
from waypost.model.arrays import Ints
from waypost.model.traces import POSITIVE

SECOND = 1_000_000
UNKNOWN = (None, None)  # two quantiles of nothing


def see(log: StoredLog) -> Variants:
    """Variants of a stored log, with what its clock says."""
    rows = _complete(log)
    kinds = sorted(log.values(rows.select("activity", "base", "decides").distinct()))
    words = _words(log, rows, kinds)
    ended = rows.group_by("g").agg(outcome=rows.outcome.max())
    groups = log.engine.keep(words.join(ended, "g").join(log.groups, "g"))
    found = groups.group_by("word", "outcome").agg(n=groups.n.sum(), met=groups.met.min())
    variants = sorted(log.values(found.select("met", "word", "outcome", "n")))
    kind, first = packed(number_of([word for _, word, _, _ in variants]))
    examples = _examples(log, groups)
    told = [examples[word, outcome] for _, word, outcome, _ in variants]
    has_outcome = "outcome" in log.rows.columns
    return Variants(
        kinds=tuple(EventKind(*each) for each in kinds),
        kind=kind,
        first=first,
        count=np.array([n for *_, n in variants], np.int64),
        outcomes=tuple(outcome for _, _, outcome, _ in variants) if has_outcome else None,
        examples=tuple(tuple(name for _, name in cases) for cases in told),
        met=tuple(np.array([k for k, _ in cases], np.int64) for cases in told),
        clock=_clock(log, rows),
        decided=_decided(log, rows) if has_outcome else {},
    )


def _complete(log: StoredLog) -> Table:
    """Rows with all columns that make a kind of event, empty where the log has none of them."""
    import ibis

    rows = log.rows
    blank = {name: ibis.literal("") for name in ("decides", "outcome") if name not in rows.columns}
    if "overdue" not in rows.columns:
        blank["overdue"] = ibis.literal(False)
    if "base" not in rows.columns:
        blank["base"] = rows.activity
    columns = ("g", "pos", "at", "activity", "base", "decides", "outcome", "overdue")
    return log.engine.keep(rows.mutate(**blank).select(*columns))


def _examples(log: StoredLog, groups: Table) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """First cases of each variant, in order: number and name."""
    import ibis

    cases = log.cases.select("k", "name", "g").join(groups.select("g", "word", "outcome"), "g")
    order = ibis.window(group_by=[cases.word, cases.outcome], order_by=cases.k)
    ranked = cases.select("k", "name", "word", "outcome", rank=ibis.row_number().over(order))
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    first = ranked.filter(ranked["rank"] < EXAMPLES).select("k", "name", "word", "outcome")
    for k, name, word, outcome in sorted(log.values(first)):
        found.setdefault((word, outcome), []).append((k, name))
    return found


def _timed(log: StoredLog, rows: Table) -> bool:
    if log.timed:
        return True
    from waypost.errors import LogError

    try:
        log.check_times("waiting")
    except LogError:
        return False
    return bool(rows.columns)


def _at_once(log: StoredLog, rows: Table) -> bool:
    """Whether times tell what happens at the same moment; dates do not."""
    if not _timed(log, rows):
        return False
    times = rows.join(log.cases, "g")
    times = times.select(odd=times.us[times["at"]] % HOUR != 0)
    return bool(log.values(times.agg(odd=times.odd.any()))[0][0])


def _clock(log: StoredLog, rows: Table) -> Clock:
    """Waiting times by activity and outcome, and from each activity to the next.

    Which event goes before which is a matter of the group; only the difference of two times is taken for every case.
    """
    import ibis

    if not _timed(log, rows):
        return Clock()
    within = ibis.window(group_by=rows.g, order_by=rows.pos)
    steps = rows.mutate(
        before=rows["at"].lag().over(within),
        after=rows["at"].lead().over(within),
        previous=rows.activity.lag().over(within),
        good=rows.outcome == POSITIVE,
    )
    gaps = log.engine.keep(steps).join(log.cases, "g")
    gaps = gaps.select(
        "activity",
        "good",
        "previous",
        waited=_seconds(gaps.us[gaps["at"]] - gaps.us[gaps.before]),
        waits=_seconds(gaps.us[gaps.after] - gaps.us[gaps["at"]]),
    )
    gaps = log.engine.keep(gaps)
    kinds = ("activity", "good")
    before, after = (log.engine.quantiles(gaps, kinds, column, (0.5, 0.9)) for column in ("waited", "waits"))
    waiting = {
        (name, good): Waiting(*before.get((name, good), UNKNOWN), *after.get((name, good), UNKNOWN))
        for name in log.activities()
        for good in (True, False)
    }
    later = gaps.filter(gaps.previous.notnull())
    medians = log.engine.quantiles(later, ("previous", "activity"), "waited", (0.5,))
    return Clock(waiting, {(a, b): gap for (a, b), (gap,) in medians.items()})


def _seconds(micros: Column) -> Column:
    return micros.cast("float64") / SECOND


def closings(log: StoredLog, also: Mapping[str, str]) -> Ints:
    """Where the cases of each variant of a stored log are decided (see `waypost.logs.variants.Log`)."""
    import ibis

    rows, seen = _complete(log), log.seen
    kinds = sorted({(kind.name, kind.base, kind.decides) for kind in seen.kinds})
    words = _words(log, rows, kinds)
    ended = rows.group_by("g").agg(outcome=rows.outcome.max())
    named = [(rows.activity == name, outcome) for name, outcome in also.items()]
    told = _with_decisions(rows.mutate(decides=ibis.cases((rows.decides != "", rows.decides), *named, else_="")))
    told = told.mutate(decided_at=told["at"].max(where=told.pos == told.decided).over(ibis.window(group_by=told.g)))
    told = log.engine.keep(told)
    if _at_once(log, rows):
        joined = told.join(log.cases, "g")
        soon = joined.us[joined["at"]] + SECOND >= joined.us[joined.decided_at]
        settled = joined.decided.notnull() & ((joined.pos >= joined.decided) | soon)
        until = joined.select("k", "g", open=ibis.ifelse(settled, ibis.literal(0, "int64"), 1)).group_by("k", "g")
        until = until.agg(until=lambda each: each.open.sum()).mutate(n=ibis.literal(1, "int64"))
    else:
        settled = told.decided.notnull() & (told.pos >= told.decided)
        until = told.select("g", open=ibis.ifelse(settled, ibis.literal(0, "int64"), 1)).group_by("g")
        until = until.agg(until=lambda each: each.open.sum()).join(log.groups.select("g", "n"), "g")
    cases = until.select("g", "until", "n").join(words, "g").join(ended, "g")
    found = cases.group_by("word", "outcome", "until").agg(n=cases.n.sum())
    letters = {kind: letter(k) for k, kind in enumerate(kinds)}
    spelt = ["".join(letters[kind.name, kind.base, kind.decides] for kind in one) for one in seen.sequences()]
    number = {key: v for v, key in enumerate(zip(spelt, seen.outcomes or (), strict=True))}
    told_of = sorted((number[word, end], int(until), int(n)) for word, end, until, n in log.values(found))
    return np.array(told_of, np.int64).reshape(-1, 3)


def _words(log: StoredLog, rows: Table, kinds: Sequence[tuple[str, str, str]]) -> Table:
    """(g, word) the events of each group as one text; a letter stands for a kind of event."""
    import pyarrow as pa

    names, base, decides = (list(part) for part in zip(*kinds, strict=True))
    letters = [letter(k) for k in range(len(kinds))]
    known = log.engine.put(pa.table({"activity": names, "base": base, "decides": decides, "letter": letters}))
    return log.engine.words(rows.join(known, ["activity", "base", "decides"]), "g", "pos", "letter")


def _with_decisions(rows: Table) -> Table:
    """Rows with the position of the event that `decided` the case: see `waypost.logs.seeing`."""
    import ibis

    group = ibis.window(group_by=rows.g)
    speaks = rows.decides != ""
    against = speaks & ((rows.decides == POSITIVE) != (rows.outcome == POSITIVE))
    rows = rows.mutate(revoked=rows.pos.max(where=against).over(group), speaks=speaks & ~against)
    counts = (rows.speaks & (rows.revoked.isnull() | (rows.pos > rows.revoked))) | rows.overdue
    return rows.mutate(decided=rows.pos.min(where=counts).over(group))


def _decided(log: StoredLog, rows: Table) -> dict[str, Decided]:
    """Count the cases in which an activity comes late, and those that an event decided."""
    import ibis

    rows = _with_decisions(
        rows.mutate(new=rows.pos == rows.pos.min().over(ibis.window(group_by=[rows.g, rows.activity])))
    )
    group = ibis.window(group_by=rows.g)
    rows = rows.mutate(closed=rows.pos.max(where=rows.new).over(group))
    rows = rows.mutate(moment=ibis.coalesce(rows.decided, rows.closed))
    rows = rows.mutate(moment_at=rows["at"].max(where=rows.pos == rows.moment).over(group))
    first = log.engine.keep(rows.filter(rows.new))
    if _at_once(log, rows):
        joined = first.join(log.cases, "g")
        soon = joined.us[joined["at"]] + SECOND >= joined.us[joined.moment_at]
        n: Column = ibis.literal(1, "int64")
    else:
        joined = first.join(log.groups, "g")
        soon = ibis.literal(False)
        n = joined.n
    late = (joined.pos >= joined.moment) | soon
    by_event = joined.decided.notnull()
    parts = {"late": late, "by_event": by_event, "settled": late & by_event}
    counted = joined.select("activity", **{name: part.ifelse(n, 0) for name, part in parts.items()})
    found = counted.group_by("activity").agg(**{name: counted[name].sum() for name in parts})
    return {name: Decided(*map(int, counts)) for name, *counts in log.values(found)}
