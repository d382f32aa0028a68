"""The table for people, in the terminal: most important states first."""

from __future__ import annotations

from fractions import Fraction

from rich.console import Console
from rich.table import Table
from rich.text import Text

from waypost.importance.results import Explanation, Number
from waypost.report.reading import bounds_at, ranking
from waypost.report.wording import number, printable

HEADINGS = {"all": "all strategies", "optimal": "best strategies", "strategy": "this strategy", "absolute": "absolute"}


def print_table(explanation: Explanation, *, top: int, console: Console | None = None) -> None:
    """Print the most important states with their bounds."""
    console = Console() if console is None else console
    mdp, reached = explanation.mdp, explanation.reachability
    console.print(
        Text(
            f"Reaching {printable(explanation.target)} from {printable(mdp.states[mdp.initial])}: "
            f"probability {cell(reached.lower)} to {cell(reached.upper)}, depending on the strategy."
        )
    )
    parts = [*explanation.scopes, *(["absolute"] if explanation.absolute is not None else [])]
    table = Table(title="Importance of each state: least and greatest", title_justify="left")
    table.add_column("state", overflow="fold")
    for part in parts:
        table.add_column(HEADINGS[part], justify="right")
    order = ranking(explanation)
    for k in order[:top]:
        cells = [bounds_at(explanation, part, int(k)) for part in parts]
        table.add_row(
            Text(printable(mdp.states[explanation.asked[k]])), *(f"{cell(b.lower)}  {cell(b.upper)}" for b in cells)
        )
    console.print(table)
    if len(order) > top:
        console.print(Text(f"and {len(order) - top} more states; --top {len(order)} shows all"))
    ties = {tie for part in explanation.scopes.values() for tie in part.ties}
    if ties:
        console.print(Text(f"{len(ties)} choices are equally good up to rounding; --exact decides them for certain"))


def cell(value: Number) -> str:
    """Number for a table: a short fraction in exact mode, else as `number` writes it."""
    if isinstance(value, Fraction) and len(str(value)) <= 15:
        return str(value)
    return number(value)
