"""``waypost verify``: a strategy's claim, checked by Storm."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from waypost.cli import terminal
from waypost.cli.options import reading_options, target_option
from waypost.cli.source import Loaded, load, load_strategy, tell
from waypost.errors import StrategyError, WaypostError
from waypost.importance import Bounds, group_importance
from waypost.importance.deciding import best_strategy
from waypost.model import MDP, Strategy
from waypost.solve import reachability

SAME = 1e-6  # how far two answers in floating point may be apart, as a share of the greater one
NOISE = 1e-14  # how far off a probability in floating point may be
UNTOLD = "?"
LONGEST = 25  # characters of a fraction


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
    computes the conditional probability of passing the states, given the target. Exit code 1 tells of a difference, and
    of a bound over the best strategies that one that is not among them is said to attain.

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
    given = best_strategy(mdp, target=goal) if best else _read(strategy, loaded)
    groups = {name: name for name in options["states"]}
    ours = group_importance(mdp, target=goal, scope=given, groups=groups, exact=options["exact"])
    storm = second_opinion(given, target=goal, groups=groups, exact=options["exact"])
    bounds = _bounds(mdp, goal, groups, options)
    lines, verdicts = [], []
    for name in groups:
        values = [ours[name].lower, storm.importance[name], *([bounds[name]] if bounds else [])]
        verdicts.append(_verdict(values, storm.reachability, exact=options["exact"]))
        lines.append([name, *map(_told, values), verdicts[-1]])
    console = terminal.console()
    terminal.say(f"Under the strategy the target is reached with probability {_told(storm.reachability)} (Storm).")
    head = ["importance of", "Waypost", "Storm", *([f"{options['side']} bound"] if bounds else []), "equal"]
    if lines:
        console.print(fitted_table(console, head, lines))
    if UNTOLD in verdicts:
        terminal.say("So rare an event is beyond Storm's floating-point numbers; --exact compares fractions.")
    if bounds and options["scope"] == "optimal":
        greatest = reachability(mdp, target=goal, optimum="max", exact=options["exact"])[mdp.initial]
        if not _same([storm.reachability, greatest], exact=options["exact"]):
            verdicts.append("NO")
            terminal.say(f"It is no best strategy, so it attains no bound over these: {_told(greatest)} is possible.")
    if any(verdict != "yes" for verdict in verdicts):
        raise click.exceptions.Exit(1)


def _read(strategy: str, loaded: Loaded) -> Strategy:
    """Strategy in a file; one that does not fit a model built to its target may be made for another target."""
    try:
        return load_strategy(strategy, loaded.mdp)
    except WaypostError as error:
        if not loaded.built_to:
            raise
        target = " or ".join(map(repr, loaded.built_to))
        raise StrategyError(f"{error} (the model is built to {target}; is the strategy for that target?)") from None


def _bounds(mdp: MDP, goal: tuple[str, ...], groups: dict[str, str], options: dict[str, Any]) -> dict[str, Any]:
    """Bound that the strategy is said to attain, of each set; none where no side is given."""
    if options["side"] is None:
        return {}
    found = group_importance(mdp, target=goal, scope=options["scope"], groups=groups, exact=options["exact"])
    return {name: getattr(Bounds(*both), options["side"]) for name, both in found.items()}


def _verdict(values: list[Any], reached: Any, *, exact: bool) -> str:
    """Whether Waypost's value, Storm's, and the bound are the same.

    Storm divides probabilities that are right up to `NOISE`, so that of an importance it may know nothing but noise.
    """
    ours, storm, *bound = values
    if not _same([ours, *bound], exact=exact):
        return "NO"
    if _same([ours, storm], exact=exact):
        return "yes"
    return UNTOLD if not exact and abs(ours - storm) <= NOISE / reached else "NO"


def _same(values: list[Any], *, exact: bool) -> bool:
    return len(set(values)) == 1 if exact else max(values) - min(values) <= SAME * max(values)


def _told(value: Any) -> str:
    """Number of a table: a fraction as it is, unless it is too long to be read."""
    if isinstance(value, Fraction) and len(str(value)) <= LONGEST:
        return str(value)
    return f"{'≈' if isinstance(value, Fraction) else ''}{float(value):.12g}"
