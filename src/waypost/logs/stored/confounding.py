"""Attributes of the cases of a stored log, tallied in the engine: only counts leave it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from waypost.logs.confounding import VALUES, AttributeTally
from waypost.logs.description import attribute_columns, told_later
from waypost.logs.log import ACTIVITY, CASE, LIFECYCLE, TIME
from waypost.logs.stored.engines import Column, Table
from waypost.logs.stored.log import StoredLog, text_of
from waypost.model.traces import POSITIVE


def stored_tallies(log: StoredLog, activities: Sequence[str]) -> Iterator[AttributeTally]:
    """Tally every attribute whose value never changes within a case."""
    read_as = {role: log.columns[role] for role in (CASE, ACTIVITY, TIME, LIFECYCLE) if role in log.columns}
    columns = attribute_columns(log.columns, read_as)
    if not columns:
        return
    import ibis

    source = log.source
    told = {f"c{k}": _told(log, source, name) for k, name in enumerate(columns)}
    ends = {f"{end}_{c}": getattr(text, end)() for c, text in told.items() for end in ("min", "max")}
    order = ibis.window(group_by=source.wp_case, order_by=[source.wp_us, source.wp_r])
    opening = source.mutate(wp_n=ibis.row_number().over(order)).filter(ibis._.wp_n == 0)
    opening = opening.select(
        name="wp_case", **{f"at_{c}": _told(log, opening, name) for c, name in zip(told, columns, strict=True)}
    )
    cases = log.engine.keep(source.group_by(name="wp_case").agg(**ends).join(opening, "name"))
    asked = {c: (cases[f"min_{c}"] != cases[f"max_{c}"]).any() for c in told}
    sizes = {f"n_{c}": cases[f"min_{c}"].nunique() for c in told}
    later = {f"later_{c}": (cases[f"min_{c}"].notnull() & cases[f"at_{c}"].isnull()).sum() for c in told}
    told_by = {f"having_{c}": cases[f"min_{c}"].count() for c in told}
    facts = cases.agg(**asked, **sizes, **later, **told_by)
    known = dict(zip(facts.columns, log.values(facts)[0], strict=True))
    rows = log.rows
    flags = {f"h{k}": (rows.activity == name).any() for k, name in enumerate(activities)}
    groups = rows.group_by("g").agg(good=rows.outcome.max() == POSITIVE, **flags)
    joined = log.engine.keep(cases.join(log.cases, "name").join(groups, "g"))
    for column, c in zip(columns, told, strict=True):
        if known[c] or not 0 < known[f"n_{c}"] < VALUES or told_later(known[f"later_{c}"], known[f"having_{c}"]):
            continue
        by = joined.group_by(value=joined[f"min_{c}"], good=joined.good, **{flag: joined[flag] for flag in flags})
        value, good, *having, n = zip(*log.values(by.agg(n=joined.count())), strict=True)
        yield AttributeTally(
            column,
            tuple("" if each is None else each for each in value),
            np.array(good, bool),
            np.array(having, bool).T,
            np.array(n, np.int64),
        )


def _told(log: StoredLog, table: Table, attribute: str) -> Column:
    """Values of an attribute as text, null where there is none."""
    return text_of(table[log.columns[attribute]]).nullif("")
