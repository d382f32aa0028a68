"""``waypost patterns``: the most telling segments of the runs of a strategy."""

from __future__ import annotations

from typing import Any

import click

from waypost.cli.options import place_options
from waypost.cli.runs import (
    asked,
    by_option,
    deliver,
    model_options,
    output_options,
    search_progress,
    strategy_option,
)
from waypost.patterns import find_patterns
from waypost.processes.places import working


@click.command("patterns")
@click.argument("model", required=False)
@model_options
@strategy_option
@by_option
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="How many segments.")
@click.option(
    "--effort", type=click.IntRange(1), default=20_000, show_default=True, help="Try at most this many segments."
)
@place_options
@output_options
def command(model: str | None, **options: Any) -> None:
    """Find the segments that tell most about success, in the runs of a strategy.

    MODEL is a model file, an event log, or the name of a case study; without it the loan example is used. Pairs that
    follow directly or eventually, longer segments and Declare templates are ranked by how much matching tells about
    reaching the target, in bits; none restates another.

    Example: waypost patterns loan-log --top 5
    """
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
