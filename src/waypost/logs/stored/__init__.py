"""Logs that stay where they live: in DuckDB by default, in PostgreSQL and Spark through the same expressions."""

from waypost.logs.stored import steps
from waypost.logs.stored.engines import Engine, is_stored, shown
from waypost.logs.stored.loading import csv_log, frame_log, load, parquet_log, stored_log
from waypost.logs.stored.log import StoredLog
from waypost.logs.stored.outcome import set_outcome

STORED_STEPS = {
    step.__name__: step
    for step in (
        steps.keep_events,
        steps.drop_events,
        steps.rename_events,
        steps.keep_lifecycle,
        steps.pair_lifecycle,
        steps.merge_repeats,
        steps.number_events,
        steps.classify_durations,
        steps.rename_by_gap,
        steps.keep_cases,
        steps.keep_periods,
        steps.keep_variants,
        steps.cut_cases,
        steps.attribute_as_event,
        set_outcome,
    )
}

__all__ = [
    "STORED_STEPS",
    "Engine",
    "StoredLog",
    "csv_log",
    "frame_log",
    "is_stored",
    "load",
    "parquet_log",
    "shown",
    "stored_log",
]
