"""Attributes of the cases of a stored log, tallied in the engine: only counts leave it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from waypost.logs.confounding import VALUES, AttributeTally
from waypost.logs.description import attribute_columns
from waypost.logs.log import ACTIVITY, CASE, LIFECYCLE, TIME
from waypost.logs.stored.log import StoredLog, text_of
from waypost.model.traces import POSITIVE


def stored_tallies(log: StoredLog, activities: Sequence[str]) -> Iterator[AttributeTally]:
    """Tally every attribute whose value never changes within a case."""
    read_as = {role: log.columns[role] for role in (CASE, ACTIVITY, TIME, LIFECYCLE) if role in log.columns}
    columns = attribute_columns(log.columns, read_as)
    if not columns:
        return
    source = log.source
    told = {f"c{k}": text_of(source[log.columns[name]]).nullif("") for k, name in enumerate(columns)}
    ends = {f"{end}_{c}": getattr(text, end)() for c, text in told.items() for end in ("min", "max")}
    cases = log.engine.keep(source.group_by(name="wp_case").agg(**ends))
    asked = {c: (cases[f"min_{c}"] != cases[f"max_{c}"]).any() for c in told}
    sizes = {f"n_{c}": cases[f"min_{c}"].nunique() for c in told}
    facts = cases.agg(**asked, **sizes)
    known = dict(zip(facts.columns, log.values(facts)[0], strict=True))
    rows = log.rows
    flags = {f"h{k}": (rows.activity == name).any() for k, name in enumerate(activities)}
    groups = rows.group_by("g").agg(good=rows.outcome.max() == POSITIVE, **flags)
    joined = log.engine.keep(cases.join(log.cases, "name").join(groups, "g"))
    for column, c in zip(columns, told, strict=True):
        if known[c] or not 0 < known[f"n_{c}"] < VALUES:
            continue
        by = joined.group_by(value=joined[f"min_{c}"], good=joined.good, **{flag: joined[flag] for flag in flags})
        found = log.values(by.agg(n=joined.count()))
        value, good, *having, n = zip(*found, strict=True)
        yield AttributeTally(
            column,
            tuple("" if each is None else each for each in value),
            np.array(good, bool),
            np.array(having, bool).T,
            np.array(n, np.int64),
        )
