"""Cases counted by the activities they have at all, and by those they have while their outcome is still open.

An offer is cancelled when the application is, or because the customer wants a better one. The first restates the
outcome, the second may be a reason for it, and both are called alike. `waypost.logs.contrast` counts the second alone
where the two say different things.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from waypost.logs.deciding import deciding_activities, ending_activities
from waypost.logs.log import OVERDUE
from waypost.logs.variants import Log
from waypost.model.arrays import Ints, Mask
from waypost.model.traces import NEGATIVE

HALF = 0.5  # of the bad cases


@dataclass(frozen=True, eq=False)
class CaseTally:
    """Cases with the same activities, the same ones while they are open, and the same outcome, are one row."""

    count: Ints  # (R,) cases
    good: Mask  # (R,)
    having: Mask  # (R, activities) in the order of `Variants.activities`
    early: Mask  # (R, activities) before the deciding event, and not at the same moment either


def tally(log: Log) -> CaseTally:
    """Count the cases of a log whose outcome is set.

    >>> from waypost.logs import EventLog
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> cases = [["ask", "cancel", "pay"]] * 60 + [["ask", "refuse", "cancel"]] * 30 + [["ask", "refuse"]] * 10
    >>> found = tally(set_outcome(EventLog.from_sequences(cases), positive="pay", negative="refuse"))
    >>> [int(found.count @ which[:, 1]) for which in (found.having, found.early)]
    [90, 60]
    """
    seen, closings = log.seen, _closings(log)
    if closings is None:
        return CaseTally(seen.count, seen.good, seen.present, seen.present)
    variant, until, count = closings.T
    having = seen.present[variant]
    return CaseTally(count, seen.good[variant], having, having & (seen.places[variant] < until[:, None]))


def open_until(log: Log) -> Ints | None:
    """(V,) the place in each variant before which all its cases are open; None where nothing is known to decide."""
    closings = _closings(log)
    if closings is None:
        return None
    found = np.full(len(log.seen), np.iinfo(np.int64).max)
    np.minimum.at(found, closings[:, 0], closings[:, 1])
    return found


def still_open(log: Log) -> tuple[int, tuple[str, ...]] | None:
    """How many bad cases nothing has decided, and the activities that end the others; None where no one knows.

    They are known where nobody said which cases are bad, nor that those are that take too long, and at least half of
    these end with what all bad cases end with that are over.

    >>> from waypost.logs import EventLog
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> cases = [["ask", "pay"]] * 60 + [["ask", "refuse"]] * 40 + [["ask"]] * 5
    >>> still_open(set_outcome(EventLog.from_sequences(cases), positive="pay"))
    (5, ('refuse',))
    """
    seen = log.seen
    ends = _ending(log)
    bad = tuple(name for name, outcome in ends.items() if outcome == NEGATIVE)
    if not bad or NEGATIVE in seen.deciding().values() or log.has(OVERDUE):
        return None
    variant, until, count = log.closings(ends).T
    badly = ~seen.good[variant]
    open_cases = int(count[badly & (until >= np.diff(seen.first)[variant])].sum())
    return (open_cases, bad) if 0 < open_cases <= HALF * count[badly].sum() else None


def _ending(log: Log) -> dict[str, str]:
    """Activities that decide cases though no one named them."""
    return ending_activities(log.seen, deciding_activities(log.seen))


def _closings(log: Log) -> Ints | None:
    """Where cases are decided, by the events that were named and by those that give themselves away."""
    seen, ends = log.seen, _ending(log)
    decided = bool(ends) or any(each.settled for each in seen.decided.values())
    return log.closings(ends) if decided else None
