"""Two logs side by side: did the outcome change, which steps changed with it, and is it more than noise?

Cases are drawn again, from each log by itself, and every difference gets the interval that 95 % of the draws lie in.
Nothing is learned: all numbers are counted, so a thousand draws take a moment. Of many such intervals some leave out 0
by chance, so a change is *real* only if chance would not make it in any of the activities (`waypost.logs.contrast`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from waypost.logs import Log
from waypost.logs.contrast import CONFIDENT, Contrasts, certain_sum, contrast, errors_in_any
from waypost.model.arrays import Floats
from waypost.uncertainty.shares import counted_shares, drawn_shares, interval

DRAWS = 1000
CHANGING = ("share", "good_share", "bad_share", "separation", "success_after")
QUESTIONS = 2  # for each activity: whether it became more or less frequent, and whether it separates otherwise
SignedShares = tuple[
    tuple[int, int, int], ...
]  # shares with their signs: the cases that have something, and all there are


@dataclass(frozen=True)
class Change:
    """A share before and after, and the difference with its interval; None where a share is one of nothing."""

    before: float | None
    after: float | None
    low: float | None = None
    high: float | None = None
    real: bool = False  # whether chance would not do that in any of the activities that are compared

    @property
    def difference(self) -> float | None:
        """After minus before."""
        return None if self.before is None or self.after is None else self.after - self.before

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**asdict(self), "difference": self.difference}


@dataclass(frozen=True)
class ActivityChange:
    """One activity in two logs."""

    name: str
    before_cases: int
    after_cases: int
    share: Change  # of all cases
    good_share: Change
    bad_share: Change
    separation: Change
    success_after: Change
    defines_outcome: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        changes = ("share", "good_share", "bad_share", "separation", "success_after")
        plain = {name: getattr(self, name) for name in ("name", "before_cases", "after_cases", "defines_outcome")}
        return {**plain, **{name: getattr(self, name).as_dict() for name in changes}}


@dataclass(frozen=True)
class Comparison:
    """Two logs: the outcome, and every activity, those first whose share changed most beyond noise."""

    before_cases: int
    after_cases: int
    success: Change
    activities: tuple[ActivityChange, ...]

    def sentences(self, top: int = 5) -> tuple[str, ...]:
        """What changed, in words; activities that the same shares of cases have, together."""
        alike: dict[Any, list[ActivityChange]] = {}
        for activity in self.activities:
            if activity.defines_outcome is None:
                alike.setdefault((activity.share, activity.good_share, activity.bad_share), []).append(activity)
        told = [_spoken("the share of good cases", self.success)]
        for group in alike.values():
            if group[0].share.real and len(told) <= top:
                told.append(_spoken(f"the share of cases with {_named(group)}", group[0].share))
        shifted = [group for group in alike.values() if group[0].separation.real]
        for group in sorted(shifted, key=lambda g: -abs(g[0].separation.difference or 0))[:top]:
            good, bad = group[0].good_share, group[0].bad_share
            told.append(
                f"{_named(group)} separates differently: {_percent(good.before)} of the good and "
                f"{_percent(bad.before)} of the bad cases had it before, {_percent(good.after)} and "
                f"{_percent(bad.after)} after"
            )
        if len(told) == 1:
            told.append("no activity changed by more than chance would do")
        return tuple(told)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "before_cases": self.before_cases,
            "after_cases": self.after_cases,
            "success": self.success.as_dict(),
            "activities": [a.as_dict() for a in self.activities],
        }


def _named(group: Sequence[ActivityChange]) -> str:
    also = f" (and, as many, {', '.join(repr(each.name) for each in group[1:])})" if len(group) > 1 else ""
    return f"{group[0].name!r}{also}"


def compare_logs(before: Log, after: Log, *, seed: int = 1, draws: int = DRAWS) -> Comparison:
    """Compare two logs whose outcomes are set.

    >>> from waypost.logs import EventLog
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> one = EventLog.from_sequences([["ask", "pay"]] * 50 + [["ask", "call", "go"]] * 50)
    >>> two = EventLog.from_sequences([["ask", "pay"]] * 80 + [["ask", "go"]] * 20)
    >>> found = compare_logs(*(set_outcome(log, positive="pay") for log in (one, two)))
    >>> found.sentences()[0]
    'the share of good cases rose from 50.0% to 80.0% (by 30.0 points, 95% interval 17.0 to 43.0)'
    >>> found.activities[0].name, found.activities[0].share.after
    ('call', 0.0)
    """
    logs = before, after
    counted = tuple(contrast(log) for log in logs)
    names = tuple(dict.fromkeys(name for log in logs for name in log.activities()))
    random = np.random.default_rng(seed)
    drawn = [drawn_shares(log, names, random, draws) for log in logs]
    shares = [counted_shares(log, names) for log in logs]

    def change(part: str, k: int, errors: float) -> Change:
        before, after = (_terms(found, part, k) for found in shares)
        return _change(before, after, drawn[0][part][:, k], drawn[1][part][:, k], errors)

    compared = sum(_why(counted, name) is None for name in names)
    strict = errors_in_any(QUESTIONS * compared)
    rows = []
    for k, name in enumerate(names):
        changes = {part: change(part, k, strict) for part in CHANGING}
        had = [next((c.cases + c.late_cases for c in found.activities if c.name == name), 0) for found in counted]
        rows.append(ActivityChange(name, had[0], had[1], defines_outcome=_why(counted, name), **changes))
    rows.sort(key=lambda a: (a.defines_outcome is not None, not a.share.real, -abs(a.share.difference or 0), a.name))
    success = change("success", 0, CONFIDENT)
    return Comparison(before.n_cases, after.n_cases, success, tuple(rows))


def _why(counted: tuple[Contrasts, ...], name: str) -> str | None:
    return next((c.defines_outcome for found in counted for c in found.defining if c.name == name), None)


def _terms(shares: Mapping[str, tuple[Floats, Floats]], part: str, activity: int) -> SignedShares:
    """Shares that something is the sum of, for one activity: each with its sign, the cases that have it, and all."""
    parts = ((1, "good_share"), (-1, "bad_share")) if part == "separation" else ((1, part),)
    return tuple((sign, int(shares[name][0][activity]), int(shares[name][1][activity])) for sign, name in parts)


def _change(
    before: SignedShares, after: SignedShares, drawn_before: Floats, drawn_after: Floats, errors: float
) -> Change:
    was, now = _sum(before), _sum(after)
    differences = drawn_after - drawn_before
    known = differences[np.isfinite(differences)]
    if was is None or now is None or not len(known):
        return Change(was, now)
    apart = (*((-sign, having, cases) for sign, having, cases in before), *after)
    return Change(was, now, *interval(known), real=certain_sum(apart, errors=errors) > 0)


def _sum(terms: SignedShares) -> float | None:
    if not all(cases for _, _, cases in terms):
        return None
    return sum(sign * having / cases for sign, having, cases in terms)


def _spoken(what: str, change: Change) -> str:
    if change.difference is None or change.low is None or change.high is None:
        return f"{what} cannot be compared"
    if not change.real:
        return f"{what} is {_percent(change.before)} before and {_percent(change.after)} after: no more than chance"
    way, points = ("rose", 1) if change.difference > 0 else ("fell", -1)
    low, high = sorted((100 * points * change.low, 100 * points * change.high))
    return (
        f"{what} {way} from {_percent(change.before)} to {_percent(change.after)} (by "
        f"{100 * abs(change.difference):.1f} points, 95% interval {low:.1f} to {high:.1f})"
    )


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.1f}%"
