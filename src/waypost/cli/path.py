"""``waypost path``: importance of one path for reaching a target."""

from __future__ import annotations

import csv
import json
from typing import Any

import click

from waypost.cli.source import load_model, load_strategy
from waypost.cli.terminal import give, say
from waypost.errors import PathError
from waypost.importance import PathImportance, path_importance
from waypost.importance.results import Scope


@click.command("path")
@click.argument("model", required=False)
@click.option(
    "--target", "-t", multiple=True, required=True, help="A label or a state's name; several mean any of them."
)
@click.option(
    "--path",
    "steps",
    required=True,
    help='States and actions in turn: "s0,Apply,Application"; quote "names, with commas".',
)
@click.option(
    "--scope",
    type=click.Choice(["all", "optimal", "both"]),
    default="both",
    show_default=True,
    help="Which strategies.",
)
@click.option(
    "--strategy", type=click.Path(), help="Under this strategy instead: JSON, state -> action -> probability."
)
@click.option("--const", "constants", multiple=True, metavar="N=3", help="Value of an open PRISM or JANI constant.")
@click.option("--exact", is_flag=True, help="Compute in rationals; print fractions.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    model: str | None, target: tuple[str, ...], steps: str, scope: str, strategy: str | None, constants: tuple[str,
    ...], exact: bool, as_json: bool,
) -> None:  # fmt: skip
    """Importance of one path of MODEL for reaching a target.

    Among the runs that reach the target, the share that begins with this path; over all strategies that follow it.
    Without MODEL the loan example is used.
    """
    mdp = load_model(model, constants=constants, exact=exact)
    names = split_steps(steps)
    goal: Any = target[0] if len(target) == 1 else list(target)
    scopes: list[Scope] = ["all", "optimal"] if scope == "both" else [scope]  # type: ignore[list-item]
    if strategy is not None:
        scopes = [load_strategy(strategy, mdp)]
    found = [path_importance(mdp, path=names, target=goal, scope=wanted, exact=exact) for wanted in scopes]
    if as_json:
        give(_as_json(found) + "\n")
        return
    from waypost.report.text import path_summary

    for answer in found:
        say(path_summary(answer))


def split_steps(steps: str) -> list[str]:
    """Names of a path, as they are separated by commas; ``"quoted, names"`` may have commas of their own.

    >>> split_steps('s0, "Apply, now", Application')
    ['s0', 'Apply, now', 'Application']
    """
    try:
        return [name.strip() for name in next(csv.reader([steps], skipinitialspace=True), [])]
    except csv.Error as error:
        raise PathError(f"--path is names with commas between, and {steps[:60]!r} cannot be read so: {error}") from None


def _as_json(found: list[PathImportance]) -> str:
    from waypost.report.jsonfile import json_number

    document: dict[str, Any] = {"format": 1, "target": found[0].target, "path": list(found[0].path)}
    for answer in found:
        document[answer.scope] = {"lower": json_number(answer.lower), "upper": json_number(answer.upper)}
    document["reachability"] = {
        "max": json_number(found[0].reachability),
        "following": json_number(found[0].reachability_following),
    }
    return json.dumps(document, ensure_ascii=False, indent=1)
