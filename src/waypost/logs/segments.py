"""Parts of a log side by side: cases by an attribute, with the outcome and the contrast of each part."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import LogError
from waypost.logs.contrast import Contrasts, certain_difference, contrast, good_cases
from waypost.logs.log import EventLog

PARTS = 4  # of an attribute with many numbers
MOST = 8  # segments; the rest is one
_QUARTER = re.compile(r"(above )?\S+ to \S+")
MISSING, REST = "(missing)", "(other)"


@dataclass(frozen=True)
class Segment:
    """Cases that have something in common, and what separates good from bad among them."""

    name: str
    cases: int
    good: int
    contrasts: Contrasts | None  # None where all its cases end alike

    @property
    def success(self) -> float:
        """Share of its cases that end well."""
        return self.good / self.cases


@dataclass(frozen=True)
class Differing:
    """A step whose separation differs between two segments."""

    activity: str
    high: str  # segment in which it speaks most for a good end
    low: str  # and most for a bad one
    high_separation: float
    low_separation: float

    @property
    def difference(self) -> float:
        """By how much."""
        return self.high_separation - self.low_separation


@dataclass(frozen=True)
class Segments:
    """A log in segments, the largest first, and the steps that matter differently in them."""

    attribute: str
    segments: tuple[Segment, ...]
    differing: tuple[Differing, ...]

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "attribute": self.attribute,
            "segments": [
                {
                    "name": s.name,
                    "cases": s.cases,
                    "good": s.good,
                    "success": s.success,
                    "activities": [] if s.contrasts is None else [c.as_dict() for c in s.contrasts.activities],
                }
                for s in self.segments
            ],
            "differing": [{**vars(d), "difference": d.difference} for d in self.differing],
        }


def segments(log: EventLog, attribute: str) -> Segments:
    """Outcome and contrast per value of an attribute of the case; many numbers are put into quarters.

    >>> from waypost.logs.steps.outcome import set_outcome
    >>> import pandas
    >>> from waypost.logs import read_log
    >>> rows = [(k, "pay" if k % 4 else "go", "web" if k % 2 else "shop") for k in range(40)]
    >>> log = read_log(pandas.DataFrame(rows, columns=["case", "activity", "channel"]))
    >>> [(s.name, s.cases, s.success) for s in segments(set_outcome(log, positive="pay"), "channel").segments]
    [('shop', 20, 0.5), ('web', 20, 1.0)]
    """
    good = good_cases(log)
    named = segment_names(log, attribute)
    found = []
    for name in _reading_order(named):
        rows = named == name
        both = bool(good[rows].any() and not good[rows].all())
        part = contrast(log.where_cases(rows)) if both else None
        found.append(Segment(name, int(rows.sum()), int(good[rows].sum()), part))
    return Segments(attribute, tuple(found), _differing(found))


def segment_names(log: EventLog, attribute: str) -> NDArray[np.object_]:
    """(cases,) the segment of each case."""
    from pandas import Series

    column = _column(log, attribute)
    values = Series(column).groupby(log.case_of).agg(_first_told).to_numpy(dtype=object)
    numbers = _numbers(values)
    if numbers is not None and len(np.unique(numbers[~np.isnan(numbers)])) > MOST:
        return _quantiles(numbers)
    counts = Series(values).value_counts()
    often = set(counts.index[: MOST - 1] if len(counts) > MOST else counts.index)
    named = np.array([value if value in often else REST for value in values], object)
    named[values == ""] = MISSING
    return named


def _reading_order(named: NDArray[np.object_]) -> list[str]:
    """Quarters as they rise, other segments by their size; what is missing or lumped together last."""
    sizes = Counter(named.tolist())
    limits = {name: float(name.rpartition(" to ")[2]) for name in sizes if _QUARTER.fullmatch(name)}
    return sorted(sizes, key=lambda name: (name in (REST, MISSING), limits.get(name, 0.0), -sizes[name], name))


def _column(log: EventLog, attribute: str) -> NDArray[np.object_]:
    for column in (attribute, f"case:{attribute}"):
        if column in log.events:
            return log.column(column, "segment")
    return log.column(attribute, "segment")


def _first_told(values: Any) -> str:
    return next((value for value in values if value != ""), "")


def _numbers(values: NDArray[np.object_]) -> NDArray[np.float64] | None:
    """The values as numbers, missing ones as nan; None where one is none."""
    try:
        return np.array([float(value) if value != "" else np.nan for value in values.tolist()])
    except ValueError:
        return None


def _quantiles(numbers: NDArray[np.float64]) -> NDArray[np.object_]:
    """Quarters of the cases, named by their limits."""
    known = numbers[~np.isnan(numbers)]
    limits = np.unique(np.quantile(known, np.linspace(0, 1, PARTS + 1), method="inverted_cdf"))
    if len(limits) < 2:
        raise LogError("all cases have the same number there, so it makes no segments")
    part = np.clip(np.searchsorted(limits, numbers, side="left"), 1, len(limits) - 1)
    names = np.array([f"above {low:g} to {high:g}" for low, high in pairwise(limits.tolist())], object)
    names[0] = names[0].removeprefix("above ")
    named = names[part - 1]
    named[np.isnan(numbers)] = MISSING
    return np.asarray(named)


def _differing(found: list[Segment]) -> tuple[Differing, ...]:
    """Steps whose separation is not the same everywhere, by more than few cases explain."""
    told = []
    parts = [(s, {c.name: c for c in s.contrasts.ranked}) for s in found if s.contrasts is not None]
    for name in dict.fromkeys(name for _, by_name in parts for name in by_name):
        there = [(by_name[name], s) for s, by_name in parts if name in by_name]
        if len(there) < 2:
            continue
        (high, s), (low, r) = (f(there, key=lambda pair: pair[0].separation) for f in (max, min))
        sure = max(
            certain_difference(high.good_cases, s.good, low.good_cases, r.good),
            certain_difference(high.bad_cases, s.cases - s.good, low.bad_cases, r.cases - r.good),
        )
        if sure > 0:
            told.append(Differing(name, s.name, r.name, high.separation, low.separation))
    return tuple(sorted(told, key=lambda d: -d.difference))
