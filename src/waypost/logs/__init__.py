"""Event logs: reading, cleaning, actors, input/output traces."""

from waypost.logs.log import EventLog
from waypost.logs.read import read_log

__all__ = ["EventLog", "read_log"]
