"""``waypost compare``: two logs, two periods or two segments side by side."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, cast

import click
import numpy as np

from waypost.cli.options import log_options
from waypost.cli.source import load_recipe, log_in_memory, tell, with_outcome
from waypost.cli.terminal import give
from waypost.errors import LogError, WaypostError
from waypost.logs import EventLog
from waypost.logs.segments import segment_names
from waypost.logs.stored.engines import shown

Pair = tuple[EventLog, EventLog]


@click.command("compare")
@click.argument("before")
@click.argument("after", required=False)
@log_options
@click.option("--at", metavar="DATE", help="Instead of AFTER: cases of one log that begin before, and from, this day.")
@click.option("--segment", metavar="ATTRIBUTE", help="Instead of AFTER: two segments of one log, by an attribute.")
@click.option("--value", "values", multiple=True, help="Which two values of the attribute [the largest two].")
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="How many activities to show.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", "-q", is_flag=True, help="No notes on what was done to the logs.")
def command(before: str, after: str | None, **options: Any) -> None:
    """Compare two logs: did the outcome change, which steps changed with it, and is it more than noise?

    BEFORE and AFTER are two logs; one log is divided by a day (--at) or by an attribute of its cases (--segment).

    Example: waypost compare loan-log:300 --at 2024-01-10
    """
    from waypost.report.segments import print_comparison
    from waypost.uncertainty import compare_logs

    given = {name: value for name, value in options.items() if value}
    ways = [way for way in (after, options["at"], options["segment"]) if way is not None]
    if len(ways) != 1:
        raise WaypostError("say what to compare with: a second log, or one of --at DATE and --segment ATTRIBUTE")
    logs = [_cleaned(source, given) for source in (before, after) if source is not None]
    for log in logs:
        tell(log.notes, quiet=options["quiet"])
    names = (shown(before), shown(str(after)))
    if options["at"] is not None:
        names, pair = _by_day(logs[0], options["at"])
    elif options["segment"] is not None:
        names, pair = _by_segment(logs[0], options["segment"], options["values"])
    else:
        pair = (logs[0], logs[1])
    found = compare_logs(*pair, seed=options["seed"])
    if options["as_json"]:
        give(json.dumps({"format": 1, "before": names[0], "after": names[1], **found.as_dict()}, indent=1) + "\n")
        return
    print_comparison(found, names, top=options["top"])


def _cleaned(source: str, given: dict[str, Any]) -> EventLog:
    """Log of a file or case study, with its outcome set."""
    from waypost.cli.source import find_prepared, names_case

    if names_case(source):
        prepared = find_prepared(source)
        if prepared is None or prepared.log is None:
            raise WaypostError(f"{source} is a model of its own, not a log")
        return cast("EventLog", prepared.log)
    recipe = load_recipe(given.get("recipe"))
    return with_outcome(recipe, given)(log_in_memory(source, recipe, given))


def _by_day(log: EventLog, day: str) -> tuple[tuple[str, str], Pair]:
    try:
        moment = np.datetime64(datetime.fromisoformat(day).replace(tzinfo=None), "us")
    except ValueError:
        raise WaypostError(f"--at is a day such as 2024-07-01, not {day!r}") from None
    early = log.times("comparing two periods")[log.first_event[:-1]] < moment
    if early.all() or not early.any():
        raise LogError(f"all cases begin {'before' if early.all() else 'after'} {day}, so there is nothing to compare")
    return (f"cases that begin before {day}", f"from {day} on"), (log.where_cases(early), log.where_cases(~early))


def _by_segment(log: EventLog, attribute: str, values: tuple[str, ...]) -> tuple[tuple[str, str], Pair]:
    named = segment_names(log, attribute)
    known, counts = np.unique(named.astype(str), return_counts=True)
    if not values:
        values = tuple(known[np.argsort(-counts, kind="stable")][:2].tolist())
    if len(values) != 2 or len(known) < 2:
        raise WaypostError(f"--value is given twice: which two segments of {attribute!r}; there are {', '.join(known)}")
    for value in values:
        if value not in known:
            raise WaypostError(f"no case has {value!r} in {attribute!r}; there are {', '.join(known)}")
    one, other = (log.where_cases(named == value) for value in values)
    return (f"{attribute} {values[0]}", f"{attribute} {values[1]}"), (one, other)
