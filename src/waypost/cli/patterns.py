"""``waypost patterns``: what good cases of a log have that bad ones lack, or the most telling segments of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from waypost.cli.options import LEARNING, place_options
from waypost.cli.runs import (
    asked,
    by_option,
    deliver,
    model_options,
    output_options,
    search_progress,
    strategy_option,
)
from waypost.cli.source import find_prepared, tell
from waypost.errors import WaypostError
from waypost.model.traces import POSITIVE
from waypost.patterns import find_patterns
from waypost.processes.places import working

if TYPE_CHECKING:
    from waypost.learn import Prepared


@click.command("patterns")
@click.argument("model", required=False)
@model_options
@strategy_option
@by_option
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="How many patterns.")
@click.option(
    "--effort", type=click.IntRange(1), default=20_000, show_default=True, help="Try at most this many patterns."
)
@place_options
@output_options
def command(model: str | None, **options: Any) -> None:
    """Find what good cases of a log have that bad ones lack, or the segments of a model's runs that tell success.

    MODEL is a model file, an event log, or the name of a case study; without it the loan example is used. Of a log,
    steps, repetitions, orders of steps and missing steps are counted in its cases; what is shown is more than chance
    would do, and tells more than its parts. Of a model, or with --by state or --strategy, segments and Declare
    templates are ranked by how much they tell about reaching the target, in bits. None restates another.

    Example: waypost patterns loan-log --top 5
    """
    prepared = _log_to_count(model, options)
    if prepared is not None:
        from waypost.cli.prepared import names_case

        _count(prepared, options, 1 if names_case(model) else None)
        return
    from waypost.report.patterns import found_document, print_found

    question = asked(model, options)
    strategy, called = question.strategy(options["strategy"])
    place = working(cluster=options["cluster"], resume=options["resume"])
    with place, search_progress(quiet=options["quiet"]) as told:
        found = find_patterns(
            question.mdp,
            target=question.target,
            strategy=strategy,
            top=options["top"],
            by=question.by,
            effort=options["effort"],
            **told,
        )
    deliver(lambda console: print_found(found, called, console), found_document(found, called), options)


def _log_to_count(model: str | None, options: dict[str, Any]) -> Prepared | None:
    """Log whose patterns are counted: where it has good and bad cases, and nothing speaks of states or strategies."""
    if model is None or options["by"] == "state" or options["strategy"] not in (None, "observed"):
        return None
    from waypost.cli.stories import has_outcome, say_which_are_good, take_for_good

    learning = {name: options[name] for name in LEARNING}
    wanted = {**options, "model": model, "states": (), "witness": None, "without": ()}
    log = take_for_good(wanted, learning) if options["target"] and options["target"] != (POSITIVE,) else None
    if wanted["target"] not in ((), (POSITIVE,)):
        return None
    prepared = find_prepared(model, data=options["data"], learning=learning, log=log)
    if prepared is not None and not has_outcome(prepared):
        raise say_which_are_good(prepared, model)
    return prepared


def _count(prepared: Prepared, options: dict[str, Any], min_seen: int | None) -> None:
    """Count the patterns of a log, and tell of those that say something."""
    from waypost.cli.prepared import learning_progress
    from waypost.report.counted import counted_document, print_counted
    from waypost.story import find_log_patterns

    for name in ("cluster", "resume"):
        if options[name] is not None:
            raise WaypostError(f"patterns of a log are counted here, in seconds: leave out --{name}")
    tell(prepared.notes, quiet=options["quiet"])
    with learning_progress() as progress:
        found = find_log_patterns(
            prepared, top=options["top"], effort=options["effort"], min_seen=min_seen, progress=progress
        )
    if options["eps"] is not None and not found.notes and not any(one.bounds for one in found):
        tell(["patterns are counted in the cases of the log, and nobody chooses: --eps changes nothing"])
    document = counted_document(found, "the observed strategy")
    deliver(lambda console: print_counted(found, console), document, options)
