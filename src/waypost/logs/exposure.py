"""Whether cases of one outcome are simply longer: long cases have more of everything, whatever helps.

Who listens longer hears more songs, and every song seems to keep people listening. It shows in many steps that may come
at any time, nearly all of which are in more of the cases of one outcome, and in these cases being longer.
"""

from __future__ import annotations

import numpy as np

from waypost.logs.contrast import Contrasts
from waypost.logs.variants import Variants

STEPS = 10  # that may come at any time; a process with fewer has an order, by which its steps are compared
OFTEN = 0.05  # of the cases have a step that counts
NEARLY_ALL = 0.8  # of the steps point the same way
LONGER = 1.2  # times


def longer_cases(seen: Variants, counted: Contrasts) -> tuple[float, float] | None:
    """Median number of events of good and of bad cases, where that alone may be why steps seem to matter.

    >>> from waypost.logs import EventLog, contrast
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> songs = [f"song {k}" for k in range(20)]
    >>> cases = [[*songs[k % 8 : k % 8 + 12], "like"] for k in range(40)]
    >>> cases += [songs[k % 16 : k % 16 + 4] for k in range(40)]
    >>> log = set_outcome(EventLog.from_sequences(cases), positive="like")
    >>> longer_cases(log.seen, contrast(log))
    (13.0, 4.0)
    """
    cases = seen.n_cases
    some = (c for c in counted.ranked if OFTEN * cases <= c.cases < cases and c.separation)
    free = [
        c for c in some if c.stage is None and c.good_share < 1
    ]  # what all good cases pass has its place in an order
    if len(free) < STEPS:
        return None
    length, good = np.diff(seen.first), seen.good
    most, least = (float(np.median(np.repeat(length[which], seen.count[which]))) for which in (good, ~good))
    helping = sum(c.helps for c in free) / len(free)
    well = most >= LONGER * least and helping >= NEARLY_ALL
    badly = least >= LONGER * most and helping <= 1 - NEARLY_ALL
    return (most, least) if well or badly else None
