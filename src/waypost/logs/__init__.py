"""Event logs: reading, cleaning, actors, input/output traces."""

from waypost.logs.actors import EVERY_EVENT_A_CHOICE, EVERY_EVENT_CHANCE, Actors, read_actors
from waypost.logs.contrast import Contrast, Contrasts, contrast
from waypost.logs.description import LogDescription, describe_log
from waypost.logs.log import EventLog
from waypost.logs.process_map import ProcessMap, process_map
from waypost.logs.read import looks_like_log, looks_like_traces, open_log, read_log
from waypost.logs.recipe import Recipe, RecipeStep, parse_recipe, read_recipe
from waypost.logs.segments import Segments, segments
from waypost.logs.traces import Traces, io_traces, read_traces
from waypost.logs.variants import Log, Variants
from waypost.logs.write import write_log
from waypost.model.traces import Trace

__all__ = [
    "EVERY_EVENT_A_CHOICE",
    "EVERY_EVENT_CHANCE",
    "Actors",
    "Contrast",
    "Contrasts",
    "EventLog",
    "Log",
    "LogDescription",
    "ProcessMap",
    "Recipe",
    "RecipeStep",
    "Segments",
    "Trace",
    "Traces",
    "Variants",
    "contrast",
    "describe_log",
    "io_traces",
    "looks_like_log",
    "looks_like_traces",
    "open_log",
    "parse_recipe",
    "process_map",
    "read_actors",
    "read_log",
    "read_recipe",
    "read_traces",
    "segments",
    "write_log",
]
