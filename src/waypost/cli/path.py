"""``waypost path``: importance of one path for reaching a target, in states or in activities."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from waypost.cli.options import learning_options, reading_options, scope_option, target_option
from waypost.cli.source import load, load_strategy, scopes_of, taken_options, tell
from waypost.cli.terminal import give, say
from waypost.errors import PathError, WaypostError
from waypost.importance import path_importance
from waypost.importance.question import Scope
from waypost.learn import observed_strategy
from waypost.model import MDP


@click.command("path")
@click.argument("model", required=False)
@target_option()
@click.option(
    "--path",
    "steps",
    required=True,
    help='States and actions in turn, "s0,Apply,Application"; of a log its first activities, "ask,offer".',
)
@scope_option("Which strategies.")
@click.option("--strategy", type=click.Path(), help="Use this strategy instead: JSON, state -> action -> probability.")
@reading_options()
@click.option("--data", metavar="FILE", help="Your copy of the data, for a case study that needs one.")
@learning_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--plot",
    "plot_file",
    metavar="FILE",
    help="Draw the path, each state coloured by the importance of the path up to it.",
)
def command(model: str | None, target: tuple[str, ...], steps: str, *, as_json: bool, **options: Any) -> None:
    """Tell how important a path of MODEL is for reaching a target.

    The importance of a path is the share of the successful runs that begin with it, over all strategies that follow it.
    Without MODEL the loan example is used. For a log, name the activities that cases begin with.

    Example: waypost path --target Granted --path s0,Apply,Application
    """
    from waypost.report.jsonfile import paths_to_json
    from waypost.report.text import path_summary
    from waypost.story import activity_path

    learning = taken_options(options)
    reading = {name: options[name] for name in ("constants", "exact", "data")}
    if options["strategy"] is None:
        reading["target"] = target or None
    found = load(model, learning=learning, **reading)
    if not target and (model is None or found.target is None):
        raise WaypostError("say what to reach: --target LABEL, or for a log which cases are good, --positive EVENT")
    goal = target or (str(found.target),)
    names = split_steps(steps)
    observed = found.prepared is not None
    if observed:
        tell(found.notes, quiet=learning["quiet"])
        names = activity_path(found.mdp, names)
    strategy = options["strategy"]
    scopes = list(scopes_of(options["scope"])) if strategy is None else [load_strategy(strategy, found.mdp)]
    if observed and strategy is None:  # as the process was run, then what could be where somebody chooses
        chosen = bool((np.diff(found.mdp.first_choice) > 1).any())
        scopes = [observed_strategy(found.mdp), *(scopes if chosen else [])]
    answers = [path_importance(found.mdp, path=names, target=goal, scope=s, exact=options["exact"]) for s in scopes]
    if options["plot_file"]:
        _draw(found.mdp, names, goal, scopes, options["plot_file"])
    if as_json:
        give(paths_to_json(answers) + "\n")
        return
    as_run = "as the process was run" if observed and strategy in (None, "observed") else None
    say("\n".join(path_summary(answer, as_run) for answer in answers))


def _draw(mdp: MDP, names: Sequence[str], goal: tuple[str, ...], scopes: Sequence[Scope], file: str) -> None:
    """Heat map of the path: the importance of each of its beginnings."""
    from waypost.formats.writing import write_bytes
    from waypost.report.files import ending_of
    from waypost.report.pathplot import plot_path
    from waypost.report.planning import PICTURES
    from waypost.report.plot import to_bytes

    kind = ending_of(file, PICTURES).removeprefix(".")
    beginnings = [names[: n + 1] for n in range(0, len(names), 2)]
    found = [[path_importance(mdp, path=part, target=goal, scope=scope) for part in beginnings] for scope in scopes]
    write_bytes(file, to_bytes(plot_path({answers[0].scope: answers for answers in found}), kind))


def split_steps(steps: str) -> list[str]:
    """Names of a path, as they are separated by commas, or by semicolons where names have commas; both may be quoted.

    >>> split_steps('s0, "Apply, now", Application'), split_steps("x=0, y=0; up; x=0, y=1")
    (['s0', 'Apply, now', 'Application'], ['x=0, y=0', 'up', 'x=0, y=1'])
    """
    sign = ";" if ";" in re.sub(r'"[^"]*"', "", steps) else ","
    try:
        return [name.strip() for name in next(csv.reader([steps], skipinitialspace=True, delimiter=sign), [])]
    except csv.Error as error:
        raise PathError(f"--path is names with commas between, and {steps[:60]!r} cannot be read so: {error}") from None
