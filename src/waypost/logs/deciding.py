"""Which activities are the outcome rather than a reason for it.

Four kinds say nothing about *why* a case ended as it did:

* the events that the outcome was defined by, under whatever name;
* what never comes before the case is decided: after the deciding event, or at the same moment;
* where no event was named as deciding, what ends the cases of one outcome: all cases that have it end alike, and
  nothing new happens after it. So a deciding event gives itself away when the outcome comes from an attribute;
* what *all* cases of one outcome have and no other, and after which mostly nothing is open.

A step in the middle of the process is none of them, however well it separates good from bad.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from waypost.logs.variants import Variants
from waypost.model.traces import NEGATIVE, POSITIVE

ALIKE = 0.999  # share of the cases with an activity that must have the same outcome
LATE = 0.95  # share of the cases with an activity in which it must come when nothing is open any more
MOSTLY = 0.5  # the same for an activity that all cases of one outcome have and no other
CHANCE = 0.05  # that all cases with any of the activities have one outcome: with more it may be a coincidence
OFTEN = 30  # cases that tell that an activity ends them; with fewer it may be a coincidence
MOMENT = np.timedelta64(1, "s")  # what one click writes into a log within this time happens at once


ENDS = {
    POSITIVE: f"ends {POSITIVE} cases: none that has it is {NEGATIVE}",
    NEGATIVE: f"ends {NEGATIVE} cases: none that has it is {POSITIVE}",
}


def ending_activities(seen: Variants, why: Mapping[str, str]) -> dict[str, str]:
    """Activities that decide cases though no one named them, each with the outcome.

    These are the ones that end the cases of one outcome, as `deciding_activities` says in `why`, often enough to be no
    coincidence, and after which nothing new happens.
    """
    ends = {name: outcome for name, reason in why.items() for outcome in ENDS if reason == ENDS[outcome]}
    cases = dict(zip(seen.activities, (seen.count @ seen.present).tolist(), strict=True))
    return {k: end for k, end in ends.items() if cases[k] >= OFTEN and seen.decided[k].late >= LATE * cases[k]}


def deciding_activities(seen: Variants) -> dict[str, str]:
    """Activities that define the outcome, each with the reason in words."""
    good = seen.good
    why = {name: f"decides that a case is {outcome}" for name, outcome in seen.deciding().items()}
    n_good, n_bad = int(seen.count[good].sum()), int(seen.count[~good].sum())
    for k, name in enumerate(seen.activities):
        if name in why:
            continue
        having = seen.present[:, k]
        cases, well = int(seen.count[having].sum()), int(seen.count[having & good].sum())
        alone = well in (0, cases) and cases == (n_good if well else n_bad)
        late, by_event = seen.decided[name].late / cases, seen.decided[name].by_event / cases
        if late < (MOSTLY if alone else LATE):
            continue
        if by_event >= LATE and late >= LATE:
            why[name] = "comes only when the outcome is decided"
        elif alone or (max(well / cases, 1 - well / cases) >= ALIKE and by_event < LATE):
            share = (n_good if well else n_bad) / (n_good + n_bad)
            if alone or share**cases * len(seen.activities) < CHANCE:
                why[name] = ENDS[POSITIVE if well else NEGATIVE]
    return why
