"""Parts of a log side by side: cases by an attribute, with the outcome and the contrast of each part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import LogError
from waypost.logs.contrast import Contrasts, certain_sum, contrast, errors_in_any
from waypost.logs.log import EventLog
from waypost.logs.variants import Log, Variants
from waypost.model.traces import POSITIVE

PARTS = 4  # of an attribute with many numbers
MOST = 8  # segments; the rest is one
_QUARTER = re.compile(r"(above )?\S+ to \S+")
MISSING, REST = "(missing)", "(other)"


@dataclass(frozen=True)
class CaseSegment:
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
    segments: tuple[CaseSegment, ...]
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


def segments(log: Log, attribute: str) -> Segments:
    """Outcome and contrast per value of an attribute of the case; many numbers are put into quarters.

    >>> from waypost.logs.steps.outcome import set_outcome
    >>> import pandas
    >>> from waypost.logs import read_log
    >>> rows = [(k, "pay" if k % 4 else "go", "web" if k % 2 else "shop") for k in range(40)]
    >>> log = read_log(pandas.DataFrame(rows, columns=["case", "activity", "channel"]))
    >>> [(s.name, s.cases, s.success) for s in segments(set_outcome(log, positive="pay"), "channel").segments]
    [('shop', 20, 0.5), ('web', 20, 1.0)]
    """
    _ = log.seen.good  # without good and bad cases there is nothing to divide
    found = []
    for name, values in segment_values(log.case_values(attribute)).items():
        part = log.where_value(attribute, values)
        good, cases = int(part.seen.count[_well(part.seen)].sum()), part.n_cases
        found.append(CaseSegment(name, cases, good, contrast(part) if 0 < good < cases else None))
    found.sort(key=lambda segment: _reading_order(segment.name, segment.cases))
    return Segments(attribute, tuple(found), _differing(found))


def segment_values(counts: Mapping[str, int]) -> dict[str, list[str]]:
    """Segments of an attribute, each with the values that belong to it; the values are given with their cases.

    >>> segment_values({"web": 3, "": 2, "shop": 1})
    {'web': ['web'], '(missing)': [''], 'shop': ['shop']}
    """
    numbers = _numbers(np.array(list(counts), object))
    if numbers is not None and len(np.unique(numbers[~np.isnan(numbers)])) > MOST:
        named = _quantiles(numbers, np.array(list(counts.values()))).tolist()
    else:
        ranked = [value for value, _ in Counter(counts).most_common()]
        often = set(ranked[: MOST - 1] if len(ranked) > MOST else ranked)
        named = [MISSING if value == "" else value if value in often else REST for value in counts]
    found: dict[str, list[str]] = {}
    for value, name in zip(counts, named, strict=True):
        found.setdefault(name, []).append(value)
    return found


def segment_names(log: EventLog, attribute: str) -> NDArray[np.object_]:
    """(cases,) the segment of each case."""
    values = log.values_of_cases(attribute)
    name = {value: name for name, members in segment_values(Counter(values)).items() for value in members}
    return np.array([name[value] for value in values], object)


def _well(seen: Variants) -> NDArray[np.bool_]:
    return np.array([outcome == POSITIVE for outcome in seen.outcomes or ()], bool)


def _reading_order(name: str, cases: int) -> tuple[bool, float, int, str]:
    """Quarters as they rise, other segments by their size; what is missing or lumped together last."""
    limit = float(name.rpartition(" to ")[2]) if _QUARTER.fullmatch(name) else 0.0
    return (name in (REST, MISSING), limit, -cases, name)


def _numbers(values: NDArray[np.object_]) -> NDArray[np.float64] | None:
    """The values as numbers, missing ones as nan; None where one is none."""
    try:
        return np.array([float(value) if value != "" else np.nan for value in values.tolist()])
    except ValueError:
        return None


def _quantiles(numbers: NDArray[np.float64], cases: NDArray[np.int64]) -> NDArray[np.object_]:
    """Quarters of the cases, named by their limits."""
    there = ~np.isnan(numbers)
    known = np.repeat(numbers[there], cases[there])
    limits = np.unique(np.quantile(known, np.linspace(0, 1, PARTS + 1), method="inverted_cdf"))
    if len(limits) < 2:
        raise LogError("all cases have the same number there, so it makes no segments")
    part = np.clip(np.searchsorted(limits, numbers, side="left"), 1, len(limits) - 1)
    names = np.array([f"above {low:g} to {high:g}" for low, high in pairwise(limits.tolist())], object)
    names[0] = names[0].removeprefix("above ")
    named = names[part - 1]
    named[np.isnan(numbers)] = MISSING
    return np.asarray(named)


def _differing(found: list[CaseSegment]) -> tuple[Differing, ...]:
    """Steps whose separation is not the same everywhere, by more than chance makes between any two of all segments."""
    told = []
    parts = [(s, {c.name: c for c in s.contrasts.ranked}) for s in found if s.contrasts is not None]
    names = dict.fromkeys(name for _, by_name in parts for name in by_name)
    errors = errors_in_any(len(names) * comb(len(parts), 2))
    for name in names:
        there = [(by_name[name], s) for s, by_name in parts if name in by_name]
        if len(there) < 2:
            continue
        (high, s), (low, r) = (f(there, key=lambda pair: pair[0].separation) for f in (max, min))
        upper = (1, high.good_cases, s.good), (-1, high.bad_cases, s.cases - s.good)
        lower = (-1, low.good_cases, r.good), (1, low.bad_cases, r.cases - r.good)
        if certain_sum((*upper, *lower), errors=errors) > 0:
            told.append(Differing(name, s.name, r.name, high.separation, low.separation))
    return tuple(sorted(told, key=lambda d: -d.difference))
