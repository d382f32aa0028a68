"""``waypost paths``: the usual ways to a target."""

from __future__ import annotations

from typing import Any

import click

from waypost.cli.runs import asked, by_option, deliver, model_options, output_options, strategy_option
from waypost.patterns import usual_ways


@click.command("paths")
@click.argument("model", required=False)
@model_options
@strategy_option
@by_option
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="How many ways.")
@output_options
def command(model: str | None, **options: Any) -> None:
    """Show the usual ways to the target: the most probable runs of a strategy, loops folded.

    MODEL is a model file, an event log, or the name of a case study; without it the loan example is used. The share of
    a way is that among the runs that reach the target.

    Example: waypost paths loan-log --top 5
    """
    from waypost.report.ways import print_ways, ways_document

    question = asked(model, options)
    strategy, called = question.strategy(options["strategy"])
    found = usual_ways(question.mdp, target=question.target, strategy=strategy, top=options["top"], by=question.by)
    bounds = [way.importance("all", exact=options["exact"]).bounds if way.simple else None for way in found]
    deliver(lambda console: print_ways(found, bounds, called, console), ways_document(found, bounds, called), options)
