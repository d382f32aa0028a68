"""``waypost check``: what is in a model."""

from __future__ import annotations

import click

from waypost.cli import terminal
from waypost.cli.options import reading_options
from waypost.cli.source import load_model
from waypost.solve.overview import Overview, goals_reached, overview

MOST_GOALS = 40  # rows of the table


@click.command("check")
@click.argument("model", required=False)
@reading_options()
def command(model: str | None, constants: tuple[str, ...], exact: bool) -> None:
    """What is in MODEL: sizes, labels, least and greatest probability of reaching each; problems by name.

    Example: waypost check epidemic:4
    """
    from rich.text import Text

    from waypost.report.table import fitted_table
    from waypost.report.wording import cell

    mdp = load_model(model, constants=constants, exact=exact)
    found, console = overview(mdp), terminal.console()
    for line in _lines(found):
        console.print(Text(terminal.brief(line)))
    lines = [
        [goal.name, str(goal.states), *("" if p is None else cell(p) for p in (goal.least, goal.greatest))]
        for goal in goals_reached(mdp, found.goals[:MOST_GOALS], exact=exact)
    ]
    head = ["label or final state", "states", "least", "greatest"]
    console.print(fitted_table(console, head, lines, words=3, title="Probability of reaching"))
    if len(found.goals) > MOST_GOALS:
        console.print(Text(f"and {len(found.goals) - MOST_GOALS} more"))


def _lines(found: Overview) -> list[str]:
    lines = [
        f"{found.states} states, {found.choices} choices, {found.transitions} transitions",
        f"initial state {found.initial!r}",
        f"{found.deciding} states offer a choice",
    ]
    if found.end_components:
        lines.append(
            f"{found.end_components} end components of more than one state: strategies may stay there for ever"
        )
    if found.unreachable:
        names = ", ".join(found.unreachable[:5]) + (", ..." if len(found.unreachable) > 5 else "")
        lines.append(f"{len(found.unreachable)} states cannot be reached from the initial state: {names}")
    return lines
