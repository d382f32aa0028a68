"""Writing a log as CSV, times in the zone they came in."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from waypost.formats.writing import write_text
from waypost.logs.log import OFFSET, TIME, EventLog
from waypost.logs.times import local_text


def write_log(log: EventLog, path: str | PathLike[str]) -> None:
    """Write a log as CSV with the usual column names, whole or not at all; reading it again gives the same log."""
    frame = log.events
    if TIME in frame:
        frame = frame.assign(**{TIME: local_text(frame[TIME], frame.get(OFFSET))})
    write_text(Path(path), frame.drop(columns=[OFFSET], errors="ignore").to_csv(index=False))
