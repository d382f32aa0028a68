"""Strategies that attain a bound, from the command line: ``waypost explain --witness STATE --side upper``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import click

from waypost.cli.options import together
from waypost.cli.source import Loaded, as_built
from waypost.cli.terminal import give, say
from waypost.errors import WaypostError
from waypost.formats.strategies import write_strategy

witness_options = together(
    click.option(
        "--witness",
        metavar="STATE|LABEL|EXPR",
        help="Print a strategy that attains a bound of this state, or of passing any of these, as JSON, instead.",
    ),
    click.option("--side", type=click.Choice(["lower", "upper"]), help="Which bound --witness attains [upper]."),
    click.option(
        "--value", type=float, metavar="X", help="Have --witness attain this value, between the bounds, instead."
    ),
)


def write_witness(loaded: Loaded, options: dict[str, Any]) -> None:
    """Write the strategy as JSON to the files of ``-o``, or print it; `read_strategy` and ``--strategy`` take it."""
    from waypost.importance import Question, group_witness
    from waypost.report.wording import exactly

    target = options["target"] or ((loaded.target,) if loaded.target else ())
    if not target:
        raise WaypostError("say what to reach: --target LABEL (`waypost check MODEL` lists the labels)")
    if options["side"] and options["value"] is not None:
        raise WaypostError("a witness is of a bound or of a value: give --side or --value, not both")
    for path in options["files"]:
        if Path(path).suffix.lower() != ".json":
            raise WaypostError(f"a strategy is written as .json, not as {path!r}")
    states = options["witness"]
    scope: Literal["all", "optimal"] = "optimal" if options["scope"] == "optimal" else "all"
    question = Question.of(loaded.mdp, target=target, scope=scope, exact=options["exact"])
    side: Literal["lower", "upper"] | None = None
    if options["value"] is None:
        side = "lower" if options["side"] == "lower" else "upper"
    with as_built(loaded):
        both, strategy = group_witness(question, states, side, value=options["value"])
    if not options["files"]:
        give(json.dumps(strategy.to_dict(), indent=1, ensure_ascii=False) + "\n")
        return
    attained = options["value"] if side is None else getattr(both, side)
    for path in options["files"]:
        write_strategy(strategy, path)
        say(f"{path}: a strategy under which the importance of {states!r} is {exactly(attained)}")
