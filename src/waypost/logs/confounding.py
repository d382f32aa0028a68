"""Whether a step only seems to matter: cases that have it may differ from the others to begin with.

What is known of a case from its start on, such as the amount it is about, may decide both whether a step is taken and
how the case ends. Let ``f1`` and ``f0`` be how cases with and without the step are divided among the groups of such an
attribute, and ``p0`` how many of those without it end well in each group. Were they divided like the cases with the
step, ``sum f1 p0`` of them would end well instead of ``sum f0 p0`` (direct standardisation). An attribute *confounds*
the step if this takes away at least half of the difference, or turns it round, by more than chance would do.

The difference of the two sums has the variance ``(sum f1 p0^2 - (sum f1 p0)^2) / n1``, the same with ``f0`` and ``n0``,
and ``sum (f1 - f0)^2 p0 (1 - p0) / n0`` of each group. An attribute that is the outcome under another name, or that
cases with and without the step do not share, says nothing. Nor does one that is written down later than at the first
event: the step may have made it what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from waypost.logs.description import FEW_VALUES, NUMBER, UNIQUE, attribute_columns, told_later
from waypost.logs.log import ACTIVITY, OUTCOME, EventLog, plain_text
from waypost.logs.segments import segment_values
from waypost.logs.stages import FEWEST
from waypost.logs.variants import Log
from waypost.model.arrays import Floats, Ints, Mask
from waypost.model.traces import POSITIVE, Confounded, Counted

SURE = 3.0  # standard errors: many attributes are tried
HALF = 0.5  # of a difference
SHARED = 0.9  # of the cases with a step that must be in groups that have cases without it
SAME = 0.05  # of the cases of the rarer outcome: an attribute that leaves fewer in doubt is the outcome itself
VALUES = 10_000  # of a number


@dataclass(frozen=True, eq=False)
class AttributeTally:
    """Cases by the value of an attribute, by whether they end well, and by which of some activities they have."""

    attribute: str
    values: tuple[str, ...]  # (R,)
    good: Mask  # (R,)
    having: Mask  # (R, activities)
    cases: Ints  # (R,)


def confounding(log: Log, counted: Sequence[Counted]) -> dict[str, Confounded]:
    """Attributes that confound some activities, the one that takes most away for each.

    >>> import pandas
    >>> from waypost.logs import contrast, read_log
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> rich = [("web", "call pay")] * 80 + [("web", "call go")] * 20 + [("web", "pay")] * 16 + [("web", "go")] * 4
    >>> poor = [("shop", "call pay")] * 4 + [("shop", "call go")] * 16 + [("shop", "pay")] * 20 + [("shop", "go")] * 80
    >>> rows = [(k, act, channel) for k, (channel, case) in enumerate(rich + poor) for act in case.split()]
    >>> log = set_outcome(read_log(pandas.DataFrame(rows, columns=["case", "activity", "channel"])), positive="pay")
    >>> call = contrast(log)["call"]
    >>> found = confounding(log, [call])["call"]
    >>> call.success_after, call.success_without, found.attribute, round(found.success_without, 9)
    (0.7, 0.3, 'channel', 0.7)
    """
    names = list(dict.fromkeys(name for c in counted for name in (c.name, *([c.stage.name] if c.stage else []))))
    found: dict[str, Confounded] = {}
    for tally in tallies(log, names) if counted else ():
        group = _groups(tally)
        if group is None:
            continue
        for c in counted:
            passing = tally.having[:, names.index(c.stage.name)] if c.stage else np.ones(len(tally.cases), bool)
            one = _confounded(tally, group, passing, tally.having[:, names.index(c.name)])
            if one is not None and (c.name not in found or _left(one) < _left(found[c.name])):
                found[c.name] = one
    return found


def _left(one: Confounded) -> float:
    return abs(one.success_with - one.success_without)


def _groups(tally: AttributeTally) -> Ints | None:
    """(R,) the group of each value; None where the attribute has no few groups, or they are the outcome."""
    total = int(tally.cases.sum())
    counts: dict[str, int] = {}
    for value, n in zip(tally.values, tally.cases.tolist(), strict=True):
        counts[value] = counts.get(value, 0) + n
    known = [value for value in counts if value != ""]
    numbers = all(re.match(NUMBER, value) for value in known)
    if len(known) > FEW_VALUES and not (numbers and len(known) < UNIQUE * total):
        return None
    if len(counts) < 2:
        return None
    name = {value: name for name, values in segment_values(counts).items() for value in values}
    number = {name: k for k, name in enumerate(dict.fromkeys(name.values()))}
    group = np.array([number[name[value]] for value in tally.values], np.int64)
    good, bad = (np.bincount(group, tally.cases * which, len(number)) for which in (tally.good, ~tally.good))
    doubtful = np.minimum(good, bad).sum()
    return None if doubtful <= SAME * min(good.sum(), bad.sum()) else group


def _confounded(tally: AttributeTally, group: Ints, passing: Mask, having: Mask) -> Confounded | None:
    """What is left of the difference that a step makes among the cases that pass its stage, where little is."""

    def counted(some: Mask) -> Floats:
        return np.asarray(np.bincount(group, tally.cases * (passing & some), group.max() + 1), np.float64)

    with_it, without = counted(having), counted(~having)
    shared = (with_it >= FEWEST) & (without >= FEWEST)
    if shared.sum() < 2 or with_it[shared].sum() < SHARED * with_it.sum():
        return None
    well_with, well = (counted(part & tally.good)[shared] for part in (having, ~having))
    n1, n0 = with_it[shared], without[shared]
    f1, f0 = n1 / n1.sum(), n0 / n0.sum()
    p0, careful = well / n0, (well + 1) / (n0 + 2)
    success, plain, alike = float(well_with.sum() / n1.sum()), float(f0 @ p0), float(f1 @ p0)
    spread = (f1 @ p0**2 - alike**2) / n1.sum() + (f0 @ p0**2 - plain**2) / n0.sum()
    error = np.sqrt(spread + ((f1 - f0) ** 2 * careful * (1 - careful) / n0).sum())
    taken = (alike - plain) * np.sign(success - plain)
    if taken < HALF * abs(success - plain) or taken <= SURE * error:
        return None
    return Confounded(tally.attribute, success, alike)


def tallies(log: Log, activities: Sequence[str]) -> Iterator[AttributeTally]:
    """Tally every attribute whose value never changes within a case, wherever the log lives."""
    if isinstance(log, EventLog):
        return _in_memory(log, activities)
    from waypost.logs.stored.confounding import stored_tallies
    from waypost.logs.stored.log import StoredLog

    assert isinstance(log, StoredLog)  # noqa: S101  logs are in memory or in an engine
    return stored_tallies(log, activities)


def _in_memory(log: EventLog, activities: Sequence[str]) -> Iterator[AttributeTally]:
    from pandas import factorize

    first = log.first_event[:-1]
    code, known = factorize(log.events[ACTIVITY])
    there = [code == known.get_loc(name) for name in activities]
    having = np.stack([np.logical_or.reduceat(each, first) for each in there], axis=1)
    good = log.column(OUTCOME, "contrast")[first] == POSITIVE
    kind = having @ (1 << np.arange(1, len(activities) + 1)) + good
    for column in attribute_columns(map(str, log.events.columns), log.read_as):
        told = _of_cases(log, column)
        if told is None or not any(told[1]):
            continue
        number, values = told
        rows, cases = np.unique(number * (2 << len(activities)) + kind, return_counts=True)
        value, rest = np.divmod(rows, 2 << len(activities))
        bits = rest[:, None] >> np.arange(1, len(activities) + 1) & 1
        yield AttributeTally(column, tuple(values[k] for k in value.tolist()), rest % 2 == 1, bits == 1, cases)


def _of_cases(log: EventLog, column: str, sample: int = 1000) -> tuple[Ints, list[str]] | None:
    """(cases,) the number of each case's value, and the values, '' where a case tells none.

    None where the value changes within a case, is not there from its first event on, or there are too many.
    """
    few = log.first_event[: sample + 1]
    if few[-1] < len(log) and _codes(log.events[column].iloc[: few[-1]], few[:-1]) is None:
        return None
    return _codes(log.events[column], log.first_event[:-1])


def _codes(values: Any, first: Ints) -> tuple[Ints, list[str]] | None:
    from pandas import factorize

    code, known = factorize(values)
    texts = [*map(plain_text, known.tolist()), ""]
    if len(texts) > VALUES:
        return None
    blank = texts.index("")
    missing = (code < 0) | (code == blank)
    low = np.minimum.reduceat(np.where(missing, len(texts), code), first)
    high = np.maximum.reduceat(np.where(missing, -1, code), first)
    if (low < high).any() or told_later(int((missing[first] & (high >= 0)).sum()), int((high >= 0).sum())):
        return None
    return np.asarray(np.where(high < 0, blank, high), np.int64), texts
