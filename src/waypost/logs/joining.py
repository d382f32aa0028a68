"""Several files that are one log: which cases and which events are in more than one of them.

A case may be in several files, as in exports of one month after another; it is known by its name. Exports may also
overlap, or one file may be the other with less in it: an event of the same case with the same name at the same time
happened once, however many files tell of it. How often one file tells of it is how often it happened. Where times are
dates, or there are none, an event again may as well be another one, and so it stays one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from waypost.errors import require
from waypost.logs.log import ACTIVITY, CASE, LIFECYCLE, TIME
from waypost.logs.times import only_dates

EVENT = (CASE, ACTIVITY, TIME, LIFECYCLE)  # what tells events apart


@dataclass(frozen=True)
class Overlap:
    """What several files of one log have in common."""

    files: int
    cases: int = 0  # that are in several files
    first: str = ""  # name of the first of them
    events: int = 0  # that a file before has, too
    timed: bool = True  # whether times tell that these are the same

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever reads the log should know.

        >>> for note in Overlap(2, 1, "a7", 3).notes[1:]: print(note)
        1 case has events in several files, put together by its name ('a7'); where files number their cases each on \
its own, read one file at a time
        3 events are in several files, with the same case, activity and time: each counts once
        """
        told = [f"read {self.files} files as one log"]
        if self.cases:
            has, whose = ("case has", "its name (") if self.cases == 1 else ("cases have", "their names (the first is ")
            told.append(
                f"{self.cases:,} {has} events in several files, put together by {whose}{self.first!r}); where files "
                "number their cases each on its own, read one file at a time"
            )
        if self.events:
            many = "1 event is" if self.events == 1 else f"{self.events:,} events are"
            once = "with the same case, activity and time: each counts once"
            every = (
                "with the same case and activity, and no time of day tells whether they are the same: all count; where "
                "one file repeats another, read one of them"
            )
            told.append(f"{many} in several files, {once if self.timed else every}")
        return tuple(told)


def one_log(frame: Any, lengths: Sequence[int], told: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    """Rows of files with so many rows each, without those that a file before has, too; and notes on that.

    `told` are the columns that all files have, of those that tell events apart.
    """
    file = np.repeat(np.arange(len(lengths)), lengths)
    code, names = frame[CASE].factorize()
    low, high = np.full(len(names), len(lengths)), np.zeros(len(names), np.int64)
    np.minimum.at(low, code, file)
    np.maximum.at(high, code, file)
    spread = low < high
    if not spread.any():
        return frame, Overlap(len(lengths)).notes
    rows = np.flatnonzero(spread[code])
    again = rows[_again(frame[list(told)].iloc[rows], file[rows])]
    timed = TIME in told and not only_dates(frame[TIME].iloc[rows].to_numpy("datetime64[us]"))
    found = Overlap(len(lengths), int(spread.sum()), str(names[int(spread.argmax())]), len(again), timed)
    kept = np.ones(len(frame), bool)
    kept[again] = not timed
    return frame[kept].reset_index(drop=True), found.notes


def _again(events: Any, file: Any) -> Any:
    """(N,) whether a file before has the event as often as its own file had it until then."""
    pandas = require("pandas", "logs", "reading event logs")
    event = events.groupby(list(events.columns), sort=False, dropna=False).ngroup().to_numpy()
    time = pandas.DataFrame({"event": event, "file": file}).groupby(["event", "file"]).cumcount()
    return pandas.DataFrame({"event": event, "time": time}).duplicated().to_numpy()
