"""What good cases have that bad ones lack: every activity counted among both.

A step that all cases pass is indispensable and explains nothing; a step that 95 % of the bad cases have and 2 % of the
good ones separates them. *Separation* is the difference of the two shares, and activities are ordered by how much of it
is certain: the limit nearest to 0 of its 95 % interval (Agresti and Caffo, The American Statistician 54, 2000), so that
few cases count for little. Only cases that came as far as the step can happen are compared: that failures are over
before a late step is no merit of the step (`waypost.logs.stages`). What is certain among them counts by the share of
the good cases, or of the bad ones if that is more, that came as far: what few cases get to explains little.

Whoever compares a hundred activities finds five whose intervals leave out 0 by chance. So an activity is *sure* only if
its difference is more than chance would make in any of them (the level divided by their number, Bonferroni), and only
of those is anything said in words.

What comes only when the outcome is decided is the outcome itself (`waypost.logs.deciding`). Where an activity sometimes
comes earlier, and then says something else, only the cases that have it earlier count as cases with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from waypost.logs.deciding import LATE, OFTEN, deciding_activities
from waypost.logs.stages import stages_before
from waypost.logs.tally import CaseTally, tally
from waypost.logs.variants import Log, Variants, Waiting
from waypost.model.arrays import Ints, Mask
from waypost.model.traces import Counted, Separated, Stage

ALLOWED = 0.05  # probability that chance alone makes any of the activities `sure`
HALF = 0.5  # of a difference
CONFIDENT = 1.96  # standard errors either side that 95 % of a normal distribution lie within


@dataclass(frozen=True, kw_only=True)
class Contrast(Counted):
    """One activity among good and among bad cases, counted in the log."""

    good_waiting: Waiting | None = None
    bad_waiting: Waiting | None = None

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**asdict(self), "separation": self.separation}


@dataclass(frozen=True)
class Contrasts(Separated[Contrast]):
    """Contrast of every activity of a log, what separates good from bad first, what defines the outcome last.

    >>> from waypost.logs import EventLog
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> cases = [["ask", "help", "pay"]] * 30 + [["ask", "pay"]] * 10
    >>> cases += [["ask", "help", "go"]] * 6 + [["ask", "go"]] * 54
    >>> found = contrast(set_outcome(EventLog.from_sequences(cases), positive="pay"))
    >>> [(c.name, c.good_share, c.bad_share) for c in found.ranked]
    [('help', 0.75, 0.1), ('ask', 1.0, 1.0)]
    >>> [(c.name, c.defines_outcome) for c in found.defining]
    [('go', 'ends negative cases: none that has it is positive'), ('pay', 'decides that a case is positive')]
    """

    good: int  # cases
    bad: int
    activities: tuple[Contrast, ...]

    @property
    def success(self) -> float:
        """Share of the cases that end well."""
        return self.good / (self.good + self.bad)

    def __getitem__(self, name: str) -> Contrast:
        """Contrast of an activity."""
        return next(c for c in self.activities if c.name == name)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {"good": self.good, "bad": self.bad, "activities": [c.as_dict() for c in self.activities]}


def contrast(log: Log) -> Contrasts:
    """Count every activity among the good and the bad cases of a log whose outcome is set."""
    seen = log.seen
    waiting, why = seen.clock.waiting, deciding_activities(seen)
    names, stages, told = list(seen.activities), _stages(seen, why), tally(log)
    everyone = np.ones(len(told.count), bool)
    compared = sum(name not in why and not seen.present[:, k].all() for k, name in enumerate(names))
    strict = errors_in_any(compared)
    found = []
    for k, (name, events) in enumerate(seen.activities.items()):
        early = name not in why and _restates(told, k, stages[k])
        having, came = _compared(told, k, stages[k], early=early)
        among, here = _among(told, having, everyone), _among(told, having, came)
        found.append(
            Contrast(
                name=name,
                cases=among.having,
                events=events,
                good_cases=among.with_good,
                bad_cases=among.with_bad,
                good_share=among.with_good / among.good,
                bad_share=among.with_bad / among.bad,
                success_after=among.success_with,
                success_without=among.success_without,
                certain=here.certain * max(here.good / among.good, here.bad / among.bad),
                stage=None if stages[k] < 0 else here.stage(names[stages[k]]),
                sure=certain_difference(*here, errors=strict) > 0,
                late_cases=int(told.count[told.having[:, k] & ~having].sum()),
                defines_outcome=why.get(name),
                good_waiting=waiting.get((name, True)),
                bad_waiting=waiting.get((name, False)),
            )
        )
    found.sort(key=lambda c: (c.defines_outcome is not None, -c.certain, -abs(c.separation), -c.cases, c.name))
    return Contrasts(int(told.count[told.good].sum()), int(told.count[~told.good].sum()), tuple(found))


class _Among(NamedTuple):
    """Some of the cases: how many are good and bad, and how many of both have an activity."""

    with_good: int
    good: int
    with_bad: int
    bad: int

    @property
    def certain(self) -> float:
        return certain_difference(*self)

    @property
    def helps(self) -> bool:
        return self.with_good * self.bad > self.with_bad * self.good

    @property
    def having(self) -> int:
        return self.with_good + self.with_bad

    @property
    def success_with(self) -> float | None:
        return _share(self.with_good, self.having)

    @property
    def success_without(self) -> float | None:
        return _share(self.good - self.with_good, self.good + self.bad - self.having)

    def stage(self, name: str) -> Stage:
        """What an activity changes from a stage on, which these cases pass."""
        shares = _share(self.with_good, self.good) or 0.0, _share(self.with_bad, self.bad) or 0.0
        return Stage(name, self.good + self.bad, self.having, *shares, self.success_with, self.success_without)


def _among(told: CaseTally, having: Mask, some: Mask) -> _Among:
    """Count some of the cases, those that are good, and those with an activity."""
    well, badly = some & told.good, some & ~told.good
    return _Among(*(int(told.count[part].sum()) for part in (well & having, well, badly & having, badly)))


def _compared(told: CaseTally, activity: int, stage: int, *, early: bool) -> tuple[Mask, Mask]:
    """(R,) which cases have an activity, and which come as far as its stage; if `early`, while the outcome is open."""
    when = told.early if early else told.having
    return when[:, activity], np.ones(len(told.count), bool) if stage < 0 else when[:, stage]


def _restates(told: CaseTally, activity: int, stage: int) -> bool:
    """Whether an activity seems to matter only because it often comes when the outcome is decided.

    In more than a few cases it comes no earlier, and what comes earlier makes less than half of the difference that is
    certain, or the opposite.
    """
    having = told.having[:, activity]
    late, cases = int(told.count[having & ~told.early[:, activity]].sum()), int(told.count[having].sum())
    if late < OFTEN or late <= (1 - LATE) * cases:
        return False
    whole, before = (_among(told, *_compared(told, activity, stage, early=early)) for early in (False, True))
    return before.certain < HALF * whole.certain or (whole.certain > 0 and before.helps != whole.helps)


def _stages(seen: Variants, why: Mapping[str, str]) -> Ints:
    """(activities,) the stage of every activity that could explain the outcome, by its number; -1 where there is none.

    What all good cases pass is not compared: without it, no case succeeds.
    """
    told = np.array([name not in why for name in seen.activities], bool)
    return np.where(told & ~seen.present[seen.good].all(axis=0), stages_before(seen, told), -1)


def certain_difference(with_good: int, good: int, with_bad: int, bad: int, *, errors: float = CONFIDENT) -> float:
    """Difference of two shares that chance alone is unlikely to have made, at least 0.

    The interval of Agresti and Caffo adds a case with and one without to both sides; this is its end nearest to 0. It
    holds 95 % where it extends over as many standard `errors` as by default.

    >>> round(certain_difference(2, 100, 95, 100), 2), certain_difference(1, 20, 0, 40_000)
    (0.86, 0.0)
    """
    return certain_sum(((1, with_good, good), (-1, with_bad, bad)), errors=errors)


def certain_sum(shares: Iterable[tuple[int, int, int]], *, errors: float = CONFIDENT) -> float:
    """Do the same for a sum of shares, each given as its sign, the cases that have something, and all there are."""
    told = [(sign, (having + 1) / (cases + 2), cases + 2) for sign, having, cases in shares]
    error = sqrt(sum(share * (1 - share) / cases for _, share, cases in told))
    return max(0.0, abs(sum(sign * share for sign, share, _ in told)) - errors * error)


def errors_in_any(comparisons: int) -> float:
    """Standard errors that chance alone is unlikely to reach in any of so many comparisons.

    >>> round(errors_in_any(1), 2), round(errors_in_any(20), 2)
    (1.96, 3.02)
    """
    return float(-ndtri(ALLOWED / max(1, comparisons) / 2))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
