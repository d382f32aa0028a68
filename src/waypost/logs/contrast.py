"""What good cases have that bad ones lack: every activity counted among both.

A step that all cases pass is indispensable and explains nothing; a step that 95 % of the bad cases have and 2 % of the
good ones separates them. *Separation* is the difference of the two shares, and activities are ordered by how much of it
is certain: the limit nearest to 0 of its 95 % interval (Agresti and Caffo, The American Statistician 54, 2000), so that
few cases count for little. Only bad cases that came as far as the step can happen are compared with the good ones: that
failures are over before a late step is no merit of the step (`waypost.logs.stages`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np

from waypost.logs.deciding import deciding_activities
from waypost.logs.stages import stages_before
from waypost.logs.variants import Log, Variants, Waiting
from waypost.model.traces import Counted, Separated, Stage

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
    good, count, waiting = seen.good, seen.count, seen.clock.waiting
    why = deciding_activities(seen)
    stages = _stages(seen, why)
    n_good, n_bad = int(count[good].sum()), int(count[~good].sum())
    found = []
    for k, (name, events) in enumerate(seen.activities.items()):
        having = seen.present[:, k]
        with_good, with_bad = int(count[having & good].sum()), int(count[having & ~good].sum())
        stage = stages.get(name)
        here, bad_here = (with_bad, n_bad) if stage is None else (stage.having - with_good, stage.cases - n_good)
        found.append(
            Contrast(
                name=name,
                cases=with_good + with_bad,
                events=events,
                good_cases=with_good,
                bad_cases=with_bad,
                good_share=with_good / n_good,
                bad_share=with_bad / n_bad,
                success_after=_share(with_good, with_good + with_bad),
                success_without=_share(n_good - with_good, n_good + n_bad - with_good - with_bad),
                certain=certain_difference(with_good, n_good, here, bad_here),
                stage=stage,
                defines_outcome=why.get(name),
                good_waiting=waiting.get((name, True)),
                bad_waiting=waiting.get((name, False)),
            )
        )
    found.sort(key=lambda c: (c.defines_outcome is not None, -c.certain, -abs(c.separation), -c.cases, c.name))
    return Contrasts(n_good, n_bad, tuple(found))


def _stages(seen: Variants, why: Mapping[str, str]) -> dict[str, Stage]:
    """Stage of every activity that some good cases do without, and how it fares among the cases that pass the stage."""
    names, good, count = list(seen.activities), seen.good, seen.count
    everywhere = seen.present[good].all(axis=0)
    told = np.array([name not in why for name in names], bool)
    passed = np.flatnonzero(everywhere & told & ~seen.present.all(axis=0)).tolist()
    before = stages_before(seen, sorted(passed, key=names.__getitem__))
    found = {}
    for k in np.flatnonzero(told & ~everywhere & (before >= 0)).tolist():
        here, having = seen.present[:, before[k]], seen.present[:, k]
        cases, with_it = int(count[here].sum()), int(count[here & having].sum())
        well, well_with = int(count[good].sum()), int(count[good & having].sum())
        found[names[k]] = Stage(
            names[before[k]],
            cases,
            with_it,
            bad_share=_share(with_it - well_with, cases - well) or 0.0,
            success_with=_share(well_with, with_it),
            success_without=_share(well - well_with, cases - with_it),
        )
    return found


def certain_difference(with_good: int, good: int, with_bad: int, bad: int) -> float:
    """Difference of two shares that chance alone is unlikely to have made, at least 0.

    The 95 % interval of Agresti and Caffo adds a case with and one without to both sides; this is its end nearest to 0.

    >>> round(certain_difference(2, 100, 95, 100), 2), certain_difference(1, 20, 0, 40_000)
    (0.86, 0.0)
    """
    one, other = (with_good + 1) / (good + 2), (with_bad + 1) / (bad + 2)
    error = sqrt(one * (1 - one) / (good + 2) + other * (1 - other) / (bad + 2))
    return max(0.0, abs(one - other) - CONFIDENT * error)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
