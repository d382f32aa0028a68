"""``waypost decisions``: what each decision is worth, and what a strategy loses by it."""

from __future__ import annotations

from typing import Any

import click

from waypost.cli.runs import BEST, asked, deliver, model_options, output_options, strategy_option
from waypost.importance import choice_importance, decisions


@click.command("decisions")
@click.argument("model", required=False)
@model_options
@strategy_option
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="How many decisions.")
@click.option(
    "--importance",
    type=click.Choice(["all", "optimal"]),
    help="Also show the importance of each choice, over these strategies.",
)
@output_options
def command(model: str | None, **options: Any) -> None:
    """Show the decisions that matter in MODEL: what each action is worth, and what the wrong one costs.

    MODEL is a model file, an event log, or the name of a case study; without it the loan example is used. An action is
    worth the probability of reaching the target if it is taken and everything after it is done as well as possible.

    Example: waypost decisions --target Granted
    """
    from waypost.report.decisions import decisions_document, print_decisions

    question = asked(model, options)
    strategy, called = question.strategy(options["strategy"])
    found = decisions(question.mdp, target=question.target, strategy=None if called == BEST else strategy)
    scope = options["importance"]
    scores = choice_importance(question.mdp, target=question.target, scope=scope) if scope else None
    deliver(
        lambda console: print_decisions(found, called, console, top=options["top"], scores=scores),
        decisions_document(found, called, scores),
        options,
    )
