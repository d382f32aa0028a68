"""``waypost verify``: a strategy's claim, checked by Storm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from waypost.cli import terminal
from waypost.cli.options import reading_options, target_option
from waypost.cli.source import load, load_strategy, tell
from waypost.errors import WaypostError
from waypost.importance import Bounds, group_importance
from waypost.importance.deciding import best_strategy
from waypost.model import MDP

SAME = 1e-6  # how far two answers in floating point may be apart


@click.command("verify")
@click.argument("model")
@click.argument("strategy", type=click.Path())
@target_option()
@click.option(
    "--state",
    "-s",
    "states",
    multiple=True,
    metavar="STATE|LABEL|EXPR",
    help="Whose importance is claimed; of a label or an expression, passing any of its states.",
)
@click.option(
    "--side", type=click.Choice(["lower", "upper"]), help="Also that the strategy attains this bound over --scope."
)
@click.option("--scope", type=click.Choice(["all", "optimal"]), default="all", show_default=True, help="See --side.")
@reading_options("Compare fractions, both tools in rational arithmetic.")
def command(model: str, strategy: str, **options: Any) -> None:
    """Check with Storm what STRATEGY does in MODEL: how probable the target is, and how important states are.

    STRATEGY is a file as `waypost explain --witness` and `write_strategy` write it, or Storm's or PRISM's export. Storm
    is given the product of the model with the strategy's memory, and the strategy as a scheduler of its own; it
    computes the conditional probability of passing the states, given the target. Exit code 1 tells of a difference.

    STRATEGY may also be `best`, a best strategy.

    Example: waypost verify loan best --target Granted --state Consultation
    """
    from waypost.formats.verification import second_opinion
    from waypost.report.table import fitted_table

    reading = {name: options[name] for name in ("constants", "exact")}
    loaded = load(model, target=options["target"] or None, **reading)  # as `explain` reads it, whose witness it may be
    tell(loaded.notes)
    mdp = loaded.mdp
    goal = options["target"] or (() if loaded.target is None else (loaded.target,))
    if not goal:
        raise WaypostError("say what to reach: --target LABEL (`waypost check MODEL` lists the labels)")
    if options["side"] and not options["states"]:
        raise WaypostError("--side is about the importance of a state; say which with --state")
    best = strategy == "best" and not Path(strategy).exists()
    given = best_strategy(mdp, target=goal) if best else load_strategy(strategy, mdp)
    groups = {name: name for name in options["states"]}
    ours = group_importance(mdp, target=goal, scope=given, groups=groups, exact=options["exact"])
    storm = second_opinion(given, target=goal, groups=groups, exact=options["exact"])
    bounds = _bounds(mdp, goal, groups, options)
    lines, wrong = [], 0
    for name in groups:
        values = [ours[name].lower, storm.importance[name], *([bounds[name]] if bounds else [])]
        agree = _same(values, exact=options["exact"])
        wrong += not agree
        lines.append([name, *map(_told, values), "yes" if agree else "NO"])
    console = terminal.console()
    terminal.say(f"Under the strategy the target is reached with probability {_told(storm.reachability)} (Storm).")
    head = ["importance of", "Waypost", "Storm", *([f"{options['side']} bound"] if bounds else []), "equal"]
    if lines:
        console.print(fitted_table(console, head, lines))
    if wrong:
        raise click.exceptions.Exit(1)


def _bounds(mdp: MDP, goal: tuple[str, ...], groups: dict[str, str], options: dict[str, Any]) -> dict[str, Any]:
    """Bound that the strategy is said to attain, of each set; none where no side is given."""
    if options["side"] is None:
        return {}
    found = group_importance(mdp, target=goal, scope=options["scope"], groups=groups, exact=options["exact"])
    return {name: getattr(Bounds(*both), options["side"]) for name, both in found.items()}


def _same(values: list[Any], *, exact: bool) -> bool:
    return len(set(values)) == 1 if exact else max(values) - min(values) <= SAME * max(1e-3, *map(abs, values))


def _told(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)
