"""Two logs side by side: did the outcome change, which steps changed with it, and is it more than noise?

Cases are drawn again, from each log by itself, and every difference gets the interval that 95 % of the draws lie in.
Nothing is learned: all numbers are counted, so a thousand draws take a moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from waypost.logs import Log
from waypost.logs.contrast import Contrasts, contrast
from waypost.model.arrays import Floats
from waypost.uncertainty.shares import LEVEL, drawn_shares, measured_shares

DRAWS = 1000


@dataclass(frozen=True)
class Change:
    """A share before and after, and the difference with its interval; None where a share is one of nothing."""

    before: float | None
    after: float | None
    low: float | None = None
    high: float | None = None

    @property
    def difference(self) -> float | None:
        """After minus before."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def real(self) -> bool:
        """Whether the interval of the difference lies on one side of 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**asdict(self), "difference": self.difference, "real": self.real}


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
    measured = [measured_shares(log, names) for log in logs]
    rows = []
    for k, name in enumerate(names):
        changes = {
            part: _change(measured[0][part][k], measured[1][part][k], drawn[0][part][:, k], drawn[1][part][:, k])
            for part in ("share", "good_share", "bad_share", "separation", "success_after")
        }
        had = [next((c.cases + c.late_cases for c in found.activities if c.name == name), 0) for found in counted]
        rows.append(ActivityChange(name, had[0], had[1], defines_outcome=_why(counted, name), **changes))
    rows.sort(key=lambda a: (a.defines_outcome is not None, not a.share.real, -abs(a.share.difference or 0), a.name))
    success = _change(*(m["success"][0] for m in measured), *(d["success"][:, 0] for d in drawn))
    return Comparison(before.n_cases, after.n_cases, success, tuple(rows))


def _why(counted: tuple[Contrasts, ...], name: str) -> str | None:
    return next((c.defines_outcome for found in counted for c in found.defining if c.name == name), None)


def _change(before: float, after: float, drawn_before: Floats, drawn_after: Floats) -> Change:
    differences = drawn_after - drawn_before
    known = differences[np.isfinite(differences)]
    was, now = (float(v) if np.isfinite(v) else None for v in (before, after))
    if was is None or now is None or not len(known):
        return Change(was, now)
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Change(was, now, float(low), float(high))


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
