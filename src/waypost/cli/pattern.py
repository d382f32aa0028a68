"""``waypost pattern``: importance of one pattern for reaching a target."""

from __future__ import annotations

import json
from typing import Any

import click

from waypost.cli.options import scope_option
from waypost.cli.runs import asked, by_option, deliver, exact_option, model_options, output_options
from waypost.cli.source import as_built, load_strategy, scopes_of
from waypost.cli.terminal import give
from waypost.errors import WaypostError
from waypost.formats.writing import write_text
from waypost.patterns import PatternImportance, pattern_importance


@click.command("pattern")
@click.argument("model", required=False)
@click.argument("pattern", required=False)
@model_options
@exact_option
@scope_option("Which strategies.")
@click.option("--strategy", metavar="observed|FILE", help="Use this strategy instead.")
@click.option("--committed", is_flag=True, help="Consider only strategies that take the actions named in the pattern.")
@by_option
@click.option("--witness", type=click.Choice(["lower", "upper"]), help="Print the strategy that attains a bound.")
@output_options
def command(model: str | None, pattern: str | None, **options: Any) -> None:
    """Importance of a PATTERN of steps for reaching a target: the share of the successful runs that match it.

    MODEL is a model file, an event log, or the name of a case study; without it the loan example is used. A pattern
    describes the whole run: "A B" is A directly followed by B, "A ... B" is A and later B, and "... A ..." is any run
    that passes A. You can use | & ! * ? {2,} not(...) and every Declare template, such as response(A, B).

    Example: waypost pattern --target Granted "... Error ... Application+ ..."
    """
    from rich.text import Text

    from waypost.report.patterns import pattern_document, pattern_summary

    if pattern is None:  # one argument is the pattern
        model, pattern = None, model
    if pattern is None:
        raise WaypostError('say which pattern: waypost pattern MODEL "... A ... B ..."')
    witness = options["witness"]
    if witness and options["strategy"] is None and options["scope"] == "both":
        raise WaypostError("a witness belongs to one scope: say --scope all or --scope optimal")
    found = asked(model, options)
    strategy = options["strategy"]
    scopes = scopes_of(options["scope"]) if strategy is None else (load_strategy(strategy, found.mdp),)
    how = {"exact": options["exact"], "by": found.by, "committed": options["committed"]}
    with as_built(found.loaded):
        answers: list[PatternImportance] = [
            pattern_importance(found.mdp, pattern=pattern, target=found.target, scope=scope, **how) for scope in scopes
        ]
    if witness:
        text = json.dumps(answers[0].witness(witness).to_dict(), ensure_ascii=False, indent=1) + "\n"
        if options["output"] is None:
            give(text)
        else:
            write_text(options["output"], text)
        return
    words = Text(pattern_summary(answers))
    deliver(lambda console: console.print(words), pattern_document(answers, found.target), options)
