"""What is in a stored log: counted in the engine; only counts, and the values that are listed, leave it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from waypost.logs.description import (
    DATE,
    FEW_VARIANTS,
    NUMBER,
    Activity,
    Attribute,
    LogDescription,
    actor_columns,
    attribute_columns,
    frequent,
    listed,
    outcome_candidates,
    told_later,
)
from waypost.logs.headings import resource_column
from waypost.logs.log import ACTIVITY, CASE, LIFECYCLE, TIME
from waypost.logs.stored.engines import Table
from waypost.logs.stored.log import NO_TIME, PLACES, StoredLog, number_of, text_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def describe(log: StoredLog) -> LogDescription:
    """Say what is in a stored log, as `describe_log` says it of one in memory."""
    read_as = {role: log.columns[role] for role in (CASE, ACTIVITY, TIME, LIFECYCLE) if role in log.columns}
    columns = attribute_columns(log.columns, read_as)
    events = _events(log, columns)
    performer = resource_column(columns)
    resource = None if performer is None else columns.index(performer)
    activities = _activities(log, events, resource)
    attributes = _attributes(log, events, columns)
    first, last = _span(log)
    return LogDescription(
        cases=log.n_cases,
        events=len(log),
        first=first,
        last=last,
        activities=activities,
        n_variants=log.n_variants,
        variants=frequent(_variants(log), log.n_cases),
        attributes=attributes,
        resources=() if resource is None else _tally(log, events.select(value=f"c{resource}", met="met")),
        lifecycles=_lifecycles(log),
        classifiers=(),
        outcomes=outcome_candidates(activities, attributes, log.n_cases),
        actors=actor_columns(attributes),
        notes=log.notes,
    )


def _events(log: StoredLog, columns: list[str]) -> Table:
    """(k, met, activity, c0, c1, ...) each event: its case, its place among all, its name and its attributes."""
    import ibis

    cases = log.cases.select("k", "name", "g")
    if not columns:
        joined = log.rows.join(cases, "g")
        return joined.select("k", "activity", met=joined.k * PLACES + joined.pos)
    source = log.source
    order = ibis.window(group_by=source.wp_case, order_by=[source.wp_us, source.wp_r])
    values = {f"c{n}": source[log.columns[name]] for n, name in enumerate(columns)}
    told = {name: value if value.type().is_timestamp() else text_of(value) for name, value in values.items()}
    placed = source.select("wp_case", place=ibis.row_number().over(order), **told)
    known = cases.join(placed, cases.name == placed.wp_case).select("k", "g", "place", *told)
    known = log.engine.keep(known)  # no plan may join rows and places before their groups are known
    joined = known.join(log.rows, ["g", known.place == log.rows["at"]])
    return log.engine.keep(joined.select("k", "activity", *told, met=joined.k * PLACES + joined.pos))


def _activities(log: StoredLog, events: Table, resource: int | None) -> tuple[Activity, ...]:
    """Count in the groups; who performs what is asked of every event."""
    import ibis

    rows = log.weighed
    group = ibis.window(group_by=rows.g)
    named = ibis.window(group_by=[rows.g, rows.activity])
    rows = rows.select(
        "activity",
        "n",
        new=rows.pos == rows.pos.min().over(named),
        begins=rows.pos == rows.pos.min().over(group),
        ends=rows.pos == rows.pos.max().over(group),
    )
    found = rows.group_by("activity").agg(
        cases=rows.new.ifelse(rows.n, 0).sum(),
        first=rows.begins.ifelse(rows.n, 0).sum(),
        last=rows.ends.ifelse(rows.n, 0).sum(),
    )
    counts = {name: tuple(map(int, each)) for name, *each in log.values(found)}
    performers: dict[str, int] | None = None
    if resource is not None:
        told = events.group_by("activity").agg(n=events[f"c{resource}"].nunique())
        performers = {name: int(n) for name, n in log.values(told)}
    return tuple(
        Activity(
            name=name,
            events=n,
            cases=counts[name][0],
            share=counts[name][0] / log.n_cases,
            first=counts[name][1],
            last=counts[name][2],
            resources=None if performers is None else performers[name],
        )
        for name, n in log.activities().items()
    )


def _variants(log: StoredLog) -> dict[tuple[str, ...], int]:
    """Tell the most frequent sequences of activities, each with its cases."""
    import ibis

    names = list(log.activities())
    words = log.words().join(log.groups, "g")
    found = words.group_by("word").agg(cases=words.n.sum(), met=words.met.min())
    most = log.values(found.order_by([ibis.desc("cases"), "met"]).limit(FEW_VARIANTS).select("word", "cases"))
    spelled = number_of([word for word, _ in most])
    return {tuple(names[k] for k in word): int(n) for word, (_, n) in zip(spelled, most, strict=True)}


def _span(log: StoredLog) -> tuple[str | None, str | None]:
    """Times of the first and the last event, UTC."""
    if not log.has(TIME):
        return None, None
    joined = log.rows.join(log.cases, "g")
    times = joined.select(us=joined.us[joined["at"]])
    known = times.filter(times.us != NO_TIME)
    low, high = log.values(known.agg(low=known.us.min(), high=known.us.max()))[0]
    return (None, None) if low is None else (_instant(low), _instant(high))


def _instant(micros: int) -> str:
    return (EPOCH + timedelta(microseconds=int(micros))).isoformat()


def _lifecycles(log: StoredLog) -> tuple[tuple[str, int], ...]:
    rows = log.weighed
    if "lifecycle" not in rows.columns:
        return ()
    there = rows.filter(rows.lifecycle != "")
    met = (there.met * PLACES + there.pos).min()
    found = log.values(there.group_by("lifecycle").agg(n=there.n.sum(), met=met))
    return tuple((kind, int(n)) for kind, n, _ in sorted(found, key=lambda row: (-row[1], row[2])))


def _attributes(log: StoredLog, events: Table, columns: list[str]) -> tuple[Attribute, ...]:
    """Columns beside case, activity and time; one whose value never changes within a case is the case's."""
    if not columns:
        return ()
    import ibis

    own = [f"c{n}" for n in range(len(columns))]
    ends = {f"low_{c}": events[c].min() for c in own} | {f"high_{c}": events[c].max() for c in own}
    cases = log.engine.keep(events.group_by("k").agg(**ends))
    same = cases.agg(**{c: (cases[f"low_{c}"] == cases[f"high_{c}"]).all() for c in own})
    constant = dict(zip(same.columns, log.values(same)[0], strict=True))  # None where no case tells anything
    opening = events.mutate(opening=events.met.min().over(ibis.window(group_by=events.k)))
    opening = opening.filter(opening.met == opening.opening)
    counts = (
        cases.agg(**{f"told_{c}": cases[f"low_{c}"].count() for c in own}),
        opening.agg(**{f"begun_{c}": opening[c].count() for c in own}),
    )
    known = {name: n for table in counts for name, n in zip(table.columns, log.values(table)[0], strict=True)}
    found = []
    for name, c in zip(columns, own, strict=True):
        of_case = name.startswith("case:") or constant[c] is not False
        if name.startswith("case:"):
            values = opening.select(value=c, met="met")
        elif of_case:
            values = cases.select(value=f"low_{c}", met="k")
        else:
            values = events.select(value=c, met="met")
        told = _attribute(log, name, values, "case" if of_case else "event")
        later = of_case and told_later(int(known[f"told_{c}"] - known[f"begun_{c}"]), int(known[f"told_{c}"]))
        found.append(replace(told, later=later))
    return tuple(found)


def _attribute(log: StoredLog, name: str, values: Table, of: str) -> Attribute:
    value = values.value
    textual = value.type().is_string()
    tests = {"numbers": NUMBER, "dates": DATE} if textual else {}
    shapes = {shape: value.re_search(pattern).sum() for shape, pattern in tests.items()}
    asked = values.agg(total=values.count(), known=value.count(), distinct=value.nunique(), **shapes)
    total, known, distinct, *shaped = (int(n or 0) for n in log.values(asked)[0])
    kind, low, high = "text", None, None
    if known and textual and known in shaped:
        kind = "number" if shaped[0] == known else "time"
        told = value.cast("float64") if kind == "number" else value
        low, high = log.values(values.agg(low=told.min(), high=told.max()))[0]
    elif known and not textual:
        kind = "time"
        ends = log.values(values.agg(low=value.min(), high=value.max()))[0]
        low, high = (_moment(log, each).isoformat() for each in ends)
    counts = _tally(log, values, listed(distinct))
    return Attribute(name, of, kind, known / total if total else 0.0, distinct, counts, low, high)


def _tally(log: StoredLog, values: Table, most: int | None = None) -> tuple[tuple[str, int], ...]:
    """Values with their number, the most frequent first, those as frequent in the order in which they are met."""
    import ibis

    there = values.filter(values.value.notnull())
    found: Any = there.group_by("value").agg(n=there.count(), met=there.met.min())
    found = found.order_by([ibis.desc("n"), "met"]).select("value", "n")
    told = log.values(found if most is None else found.limit(most))
    return tuple((str(_moment(log, value)), int(n)) for value, n in told if value != "" or most is not None)


def _moment(log: StoredLog, value: Any) -> Any:
    """Value as it is; Spark tells instants without their zone, which is UTC."""
    naive = log.engine.name == "spark" and isinstance(value, datetime) and value.tzinfo is None
    return value.replace(tzinfo=UTC) if naive else value
