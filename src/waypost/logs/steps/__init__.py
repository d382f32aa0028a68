"""Cleaning a log: small steps, each a pure function from log to log; a recipe is a list of them."""

from waypost.logs.steps.attributes import attribute_as_event
from waypost.logs.steps.cases import cut_cases, keep_cases, keep_periods, keep_variants
from waypost.logs.steps.durations import classify_durations, pair_lifecycle, rename_by_gap
from waypost.logs.steps.events import (
    drop_events,
    keep_events,
    keep_lifecycle,
    merge_repeats,
    number_events,
    rename_events,
)
from waypost.logs.steps.outcome import set_outcome

STEPS = {
    step.__name__: step
    for step in (
        keep_events,
        drop_events,
        rename_events,
        keep_lifecycle,
        pair_lifecycle,
        merge_repeats,
        number_events,
        classify_durations,
        rename_by_gap,
        keep_cases,
        keep_periods,
        keep_variants,
        cut_cases,
        attribute_as_event,
        set_outcome,
    )
}

__all__ = ["STEPS", *STEPS]  # noqa: PLE0604  the names of the functions above
