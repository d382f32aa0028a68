"""Which activities are the outcome rather than a reason for it.

Three kinds say nothing about *why* a case ended as it did:

* the events that the outcome was defined by, under whatever name;
* what never comes before the case is decided: after the deciding event, or at the same moment;
* where no event was named as deciding, what ends the cases of one outcome: all cases that have it end alike, and
  nothing new happens after it. So a deciding event gives itself away when the outcome comes from an attribute. Of an
  event that *all* cases of one outcome have and no other, it is enough that mostly nothing new happens after it.

A step in the middle of the process is none of them, however well it separates good from bad.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from waypost.logs.log import DECIDES, NEGATIVE, POSITIVE, TIME, EventLog

ALIKE = 0.999  # share of the cases with an activity that must have the same outcome
LATE = 0.95  # share of the cases with an activity in which it must come when nothing is open any more
MOSTLY = 0.5  # the same for an activity that all cases of one outcome have and no other
MOMENT = np.timedelta64(1, "s")  # what one click writes into a log within this time happens at once
Ints = NDArray[np.int64]


def deciding_activities(log: EventLog, good: NDArray[np.bool_]) -> dict[str, str]:
    """Activities that define the outcome, each with the reason in words."""
    why: dict[str, str] = {}
    names, activity, case = tuple(log.activities()), log.names(), log.case_of
    decides = log.column(DECIDES, "contrast") if DECIDES in log.events else np.full(len(log), "", object)
    for outcome in (POSITIVE, NEGATIVE):
        for name in dict.fromkeys(activity[decides == outcome].tolist()):
            why.setdefault(name, f"decides that a case is {outcome}")
    position = {name: k for k, name in enumerate(names)}
    code = np.array([position[name] for name in activity.tolist()])
    row, kept = _first_rows(case, code, len(names))
    decided = _decisions(log, decides, good)
    closed = _last_new(row, case, log.n_cases)
    by_event = decided >= 0
    moment = np.where(by_event, decided, closed)  # (cases,) the row from which on nothing is open
    late = _not_before(log, row, moment[case[row]])
    for k, name in enumerate(names):
        if name in why:
            continue
        mine = kept == k
        cases = case[row[mine]]
        well = float(good[cases].mean())
        alone = well in (0.0, 1.0) and len(cases) == int((good == bool(well)).sum())
        if late[mine].mean() < (MOSTLY if alone else LATE):
            continue
        if by_event[cases].mean() >= LATE and late[mine].mean() >= LATE:
            why[name] = "comes only when the outcome is decided"
        elif max(well, 1 - well) >= ALIKE and by_event[cases].mean() < LATE:
            one, other = (POSITIVE, NEGATIVE) if well > 0.5 else (NEGATIVE, POSITIVE)
            why[name] = f"ends {one} cases: none that has it is {other}"
    return why


def _first_rows(case: Ints, code: Ints, n: int) -> tuple[Ints, Ints]:
    """Rows at which an activity is new to its case, and the activity of each."""
    _, first = np.unique(case * n + code, return_index=True)
    first = np.sort(first)
    return first, code[first]


def _decisions(log: EventLog, decides: NDArray[np.object_], good: NDArray[np.bool_]) -> Ints:
    """(cases,) the row that decided the case: the first that spoke for its outcome unrevoked; -1 where none did."""
    decided = np.full(log.n_cases, -1, np.int64)
    case = log.case_of
    for row in np.flatnonzero(decides != "").tolist():
        k = case[row]
        speaks_for_it = (decides[row] == POSITIVE) == good[k]
        if not speaks_for_it:
            decided[k] = -1
        elif decided[k] < 0:
            decided[k] = row
    return decided


def _last_new(row: Ints, case: Ints, n_cases: int) -> Ints:
    """(cases,) the last row at which something happens that the case had not seen before."""
    last = np.zeros(n_cases, np.int64)
    np.maximum.at(last, case[row], row)
    return last


def _not_before(log: EventLog, row: Ints, moment: Ints) -> NDArray[np.bool_]:
    """Whether rows come at or after a moment, by their order or by the clock."""
    late = row >= moment
    if TIME in log.events and not log.events[TIME].isna().any():
        times = log.times("contrast")
        late |= times[row] + MOMENT >= times[moment]
    return np.asarray(late)
