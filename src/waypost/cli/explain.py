"""``waypost explain``: importance of every state for reaching a target."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from waypost.cli.source import load_model, load_strategy
from waypost.errors import WaypostError
from waypost.importance import Explanation, explain


@click.command("explain")
@click.argument("model", required=False)
@click.option("--target", "-t", multiple=True, help="A label or a state's name; several mean any of them.")
@click.option(
    "--scope",
    type=click.Choice(["all", "optimal", "both"]),
    default="both",
    show_default=True,
    help="Bounds over all strategies that can reach the target, over the best ones, or both.",
)
@click.option("--state", "-s", "states", multiple=True, help="Only this state; may be given several times.")
@click.option("--strategy", type=click.Path(), help="Also explain this strategy: JSON, state -> action -> probability.")
@click.option("--const", "constants", multiple=True, metavar="N=3", help="Value of an open PRISM or JANI constant.")
@click.option("--exact", is_flag=True, help="Compute in rationals; print fractions.")
@click.option("--json", "json_file", metavar="FILE|-", help="Write JSON to a file, or - for standard output.")
@click.option("--csv", "csv_file", metavar="FILE|-", help="Write CSV to a file, or - for standard output.")
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="How many states the table shows.")
def command(**options: Any) -> None:
    """Importance of every state of MODEL for reaching a target.

    The importance of a state is the probability of passing it among the runs that reach the target; over all
    strategies it is an interval. Without MODEL the loan example is explained.
    """
    found = explained(**options)
    written = False
    for chosen, render in ((options["json_file"], _json), (options["csv_file"], _csv)):
        if chosen:
            emit(render(found), chosen)
            written = written or chosen == "-"
    if not written:
        from waypost.report.table import print_table

        print_table(found, top=options["top"])


def explained(
    *, model: str | None, target: tuple[str, ...], scope: str, states: tuple[str, ...], strategy: str | None,
    constants: tuple[str, ...], exact: bool, **_: Any,
) -> Explanation:  # fmt: skip
    """Read the model and compute everything asked for."""
    if not target and model is None:
        target = ("Granted",)
    if not target:
        raise WaypostError("say what to reach: --target LABEL (`waypost check MODEL` lists the labels)")
    mdp = load_model(model, constants=constants, exact=exact)
    return explain(
        mdp,
        target=target[0] if len(target) == 1 else list(target),
        scopes=("all", "optimal") if scope == "both" else (scope,),  # type: ignore[arg-type]
        strategy=None if strategy is None else load_strategy(strategy, mdp),
        states=states or None,
        exact=exact,
    )


def emit(text: str, where: str) -> None:
    """Write to a file, whole or not at all, or to standard output."""
    if where == "-":
        sys.stdout.write(text)
        return
    path = Path(where)
    draft = path.with_name(path.name + ".part")
    try:
        draft.write_text(text, encoding="utf-8", newline="")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise WaypostError(f"cannot write {where!r}: {error.strerror}") from None


def _json(found: Explanation) -> str:
    from waypost.report.jsonfile import to_json

    return to_json(found)


def _csv(found: Explanation) -> str:
    from waypost.report.files import to_csv

    return to_csv(found)
