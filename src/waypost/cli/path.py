"""``waypost path``: importance of one path for reaching a target."""

from __future__ import annotations

import csv
from typing import Any

import click

from waypost.cli.options import reading_options, scope_option, target_option
from waypost.cli.source import load_model, load_strategy, scopes_of
from waypost.cli.terminal import give, say
from waypost.errors import PathError
from waypost.importance import path_importance


@click.command("path")
@click.argument("model", required=False)
@target_option(required=True)
@click.option(
    "--path",
    "steps",
    required=True,
    help='States and actions in turn: "s0,Apply,Application"; quote "names, with commas".',
)
@scope_option("Which strategies.")
@click.option(
    "--strategy", type=click.Path(), help="Under this strategy instead: JSON, state -> action -> probability."
)
@reading_options()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(model: str | None, target: tuple[str, ...], steps: str, *, as_json: bool, **options: Any) -> None:
    """Importance of one path of MODEL for reaching a target.

    Among the runs that reach the target, the share that begins with this path; over all strategies that follow it.
    Without MODEL the loan example is used.

    Example: waypost path --target Granted --path s0,Apply,Application
    """
    from waypost.report.jsonfile import paths_to_json
    from waypost.report.text import path_summary

    mdp = load_model(model, constants=options["constants"], exact=options["exact"])
    names = split_steps(steps)
    strategy = options["strategy"]
    scopes = scopes_of(options["scope"]) if strategy is None else (load_strategy(strategy, mdp),)
    answers = [path_importance(mdp, path=names, target=target, scope=scope, exact=options["exact"]) for scope in scopes]
    if as_json:
        give(paths_to_json(answers) + "\n")
    else:
        say("\n".join(map(path_summary, answers)))


def split_steps(steps: str) -> list[str]:
    """Names of a path, as they are separated by commas; ``"quoted, names"`` may have commas of their own.

    >>> split_steps('s0, "Apply, now", Application')
    ['s0', 'Apply, now', 'Application']
    """
    try:
        return [name.strip() for name in next(csv.reader([steps], skipinitialspace=True), [])]
    except csv.Error as error:
        raise PathError(f"--path is names with commas between, and {steps[:60]!r} cannot be read so: {error}") from None
