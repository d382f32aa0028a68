"""How the cases of a stored log ended."""

from __future__ import annotations

from dataclasses import replace

from waypost.logs.steps.events import Patterns
from waypost.logs.steps.outcome import Others, check_others, outcome_note, seconds_of, wanted_values
from waypost.logs.stored.engines import Column, Table
from waypost.logs.stored.log import StoredLog
from waypost.logs.stored.steps import among, told_attribute
from waypost.model.traces import NEGATIVE, POSITIVE


def set_outcome(
    log: StoredLog,
    *,
    positive: Patterns,
    negative: Patterns,
    attribute: str | None,
    last: bool,
    within: str | float | None,
    others: Others | None,
) -> StoredLog:
    """Say which cases ended well: by an event, by their `last` event, or by the values of an `attribute`."""
    import ibis

    cases = log.n_cases
    if attribute is not None:
        log = told_attribute(log, attribute, "set_outcome")
    log, good, bad = _told(log, positive, negative, attribute)
    if last:
        final = log.rows.pos == log.rows.pos.max().over(ibis.window(group_by=log.rows.g))
        good, bad = good & final, bad & final
    log = _marked(log, good=good, bad=bad, named=good | bad)
    open_cases = 0
    if within is not None:
        log, open_cases = _in_time(log, seconds_of(within))
    rows = log.rows
    latest = rows.pos.max(where=rows.good | rows.bad).over(ibis.window(group_by=rows.g))
    rows = log.engine.keep(rows.mutate(latest=latest))
    # where events of both kinds happen, the later one decides
    well = (rows.good & (rows.pos == rows.latest)).any().over(ibis.window(group_by=rows.g))
    ended = well.ifelse(POSITIVE, rows.latest.isnull().ifelse("", NEGATIVE))
    rows = log.engine.keep(rows.mutate(outcome=ended).drop("latest"))
    counts = _counts(log, rows)
    without = counts.get("", (0, 0))
    others = others or ("error" if negative else "negative")
    check_others(others, without[0], cases, _name(log, without[1]) if without[0] else "")
    if others in (POSITIVE, NEGATIVE):
        rows = rows.mutate(outcome=(rows.outcome == "").ifelse(others, rows.outcome))
        counts[others] = (counts.get(others, (0, 0))[0] + without[0], 0)
    note = outcome_note(
        counts.get(POSITIVE, (0, 0))[0],
        counts.get(NEGATIVE, (0, 0))[0],
        positive,
        open_cases,
        without[0] if others == "drop" else 0,
    )
    if "overdue" in rows.columns:
        rows = rows.mutate(overdue=rows.overdue & (rows.outcome == NEGATIVE))
    if attribute is None:
        rows = rows.mutate(decides=rows.good.ifelse(POSITIVE, rows.named.ifelse(NEGATIVE, "")))
    return log.with_rows(rows.filter(rows.outcome != "").drop("good", "bad", "named"), note)


def _told(
    log: StoredLog, positive: Patterns, negative: Patterns, attribute: str | None
) -> tuple[StoredLog, Column, Column]:
    """Rows that speak for a good and for a bad end."""
    rows = log.rows
    if attribute is None:
        told, known = rows.activity, log.activities()
        values = {name: name for name in known}
    else:  # True, true and TRUE say the same
        told = rows.a0
        values = {value: value.casefold() for (value,) in log.values(rows.select("a0").distinct())}
        known = dict.fromkeys(sorted(set(values.values())), 1)
    marks = []
    for which in (positive, negative):
        wanted = set(wanted_values(which, known, attribute))
        marks.append(among(told, [value for value, plain in values.items() if plain in wanted]))
    return log, marks[0], marks[1]


def _marked(log: StoredLog, **marks: Column) -> StoredLog:
    return replace(log, rows=log.engine.keep(log.rows.mutate(**marks)))


def _in_time(log: StoredLog, seconds: float) -> tuple[StoredLog, int]:
    """Which of the good rows come within so many seconds, and how many cases without one may still get one."""
    import ibis

    log = log.by_case(times="an outcome by deadline")
    rows = log.rows
    group = ibis.window(group_by=rows.g)
    begun = rows.mutate(
        begun=rows.us.first().over(ibis.window(group_by=rows.g, order_by=rows.pos)),
        lacking=~rows.good.any().over(group),
    )
    begun = log.engine.keep(begun)
    per_case = begun.select("g", "begun", "lacking").distinct()
    latest = log.values(begun.agg(us=begun.us.max()))[0][0]
    early = per_case.filter(per_case.lacking & ((latest - per_case.begun).cast("float64") / 1e6 < seconds))
    open_cases = int(log.values(early.agg(n=early.count()))[0][0] or 0)
    timely = (begun.us - begun.begun).cast("float64") / 1e6 <= seconds
    marked = begun.mutate(good=begun.good & timely, overdue=~timely).drop("begun", "lacking")
    return replace(log, rows=log.engine.keep(marked)), open_cases


def _counts(log: StoredLog, rows: Table) -> dict[str, tuple[int, int]]:
    """Cases of each outcome, and the number of the first."""
    groups = rows.select("g", "outcome").distinct().join(log.groups, "g")
    found = groups.group_by("outcome").agg(n=groups.n.sum(), met=groups.met.min())
    return {outcome: (int(n), int(met)) for outcome, n, met in log.values(found)}


def _name(log: StoredLog, number: int) -> str:
    return str(log.values(log.cases.filter(log.cases.k == number).select("name"))[0][0])
