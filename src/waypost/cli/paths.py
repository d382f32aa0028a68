"""``waypost paths``: the usual ways to a target."""

from __future__ import annotations

from typing import Any

import click

from waypost.cli.runs import (
    Subject,
    asked,
    by_option,
    deliver,
    exact_option,
    model_options,
    output_options,
    strategy_option,
)
from waypost.formats.writing import write_bytes
from waypost.importance import explain
from waypost.model import Strategy
from waypost.patterns import Way, usual_ways

DRAWN = 40  # of a larger model only the states of the way are drawn


@click.command("paths")
@click.argument("model", required=False)
@model_options
@exact_option
@strategy_option
@by_option
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="How many ways.")
@click.option("--whole", is_flag=True, help="Write long ways out in full, including what they share with the first.")
@click.option("--plot", "plot_file", metavar="FILE", help="Draw the most usual way in its model: .svg, .png or .pdf")
@output_options
def command(model: str | None, **options: Any) -> None:
    """Show the usual ways to the target: the most probable runs of a strategy, loops folded.

    MODEL is a model file, an event log, or the name of a case study; without it the loan example is used. The share of
    a way is that among the runs that reach the target.

    Example: waypost paths loan-log --top 5
    """
    from waypost.report.files import ending_of
    from waypost.report.planning import PICTURES
    from waypost.report.plot import to_bytes
    from waypost.report.ways import print_ways, ways_document

    ending = ending_of(options["plot_file"], PICTURES) if options["plot_file"] else ""
    question = asked(model, options)
    strategy, called = question.strategy(options["strategy"])
    found = usual_ways(question.mdp, target=question.target, strategy=strategy, top=options["top"], by=question.by)
    bounds = [way.importance("all", exact=options["exact"]).bounds if way.simple else None for way in found]
    if ending:
        write_bytes(options["plot_file"], to_bytes(_drawn(question, strategy, found[0]), ending[1:]))
    deliver(
        lambda console: print_ways(found, bounds, called, console, whole=options["whole"]),
        ways_document(found, bounds, called),
        options,
    )


def _drawn(question: Subject, strategy: Strategy, way: Way) -> Any:
    """Draw a way in its model, coloured by importance under the strategy."""
    from waypost.report.plot import plot_graph

    states = None if question.mdp.n_states <= DRAWN else list(dict.fromkeys(way.run[::2]))
    return plot_graph(explain(question.mdp, target=question.target, scope=strategy, states=states), run=way.run)
