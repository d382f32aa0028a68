"""Writing a log as CSV, times in the zone they came in."""

from __future__ import annotations

import os
import tempfile
from os import PathLike
from pathlib import Path

from waypost.logs.log import OFFSET, TIME, EventLog
from waypost.logs.times import local_text


def write_log(log: EventLog, path: str | PathLike[str]) -> None:
    """Write a log as CSV with the usual column names; reading it again gives the same log."""
    path = Path(path)
    frame = log.events
    if TIME in frame:
        frame = frame.assign(**{TIME: local_text(frame[TIME], frame.get(OFFSET))})
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            frame.drop(columns=[OFFSET], errors="ignore").to_csv(stream, index=False)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
