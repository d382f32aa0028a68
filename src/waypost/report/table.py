"""The table for people, in the terminal: most important states first."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from waypost.importance.results import Bounds, Explanation, Kind, Number
from waypost.report.reading import labels_by_state
from waypost.report.text import SCOPE_TITLES
from waypost.report.wording import count, number, printable

_STYLES = {Kind.INDISPENSABLE: "bold blue", Kind.IMPORTANT: "blue", Kind.DETRIMENTAL: "yellow", Kind.MARGINAL: "dim"}


def print_table(explanation: Explanation, *, top: int, console: Console | None = None) -> None:
    """Print the most important states with their bounds."""
    console = Console() if console is None else console
    mdp, reached = explanation.mdp, explanation.reachability
    console.print(
        Text(
            f"Reaching {printable(explanation.target)} from {printable(mdp.states[mdp.initial])}: "
            f"probability {interval(reached)}, depending on the strategy."
        )
    )
    bare = replace(explanation, absolute=None)
    for told, compact in ((explanation, False), (bare, False), (bare, True)):
        made = table(told, top=top, compact=compact)
        if _least_width(made, console) <= console.width:
            break  # a narrow terminal: the bounds asked for come first
    console.print(made)
    left = len(explanation.asked) - top
    if left > 0:
        console.print(Text(f"and {count(left, 'more state')}; --top {len(explanation.asked)} shows all"))
    ties = {tie for part in explanation.scopes.values() for tie in part.ties}
    if ties:
        console.print(
            Text(f"{count(len(ties), 'choice')} equally good as another up to rounding; --exact decides for certain")
        )


def _least_width(made: Table, console: Console) -> int:
    """Width at which no bound is cut off; columns that fold may be folded to their least width."""
    for column in made.columns:
        column.max_width = column.min_width
    width = console.measure(made, options=console.options.update(max_width=1000)).maximum
    for column in made.columns:
        column.max_width = None
    return width


def table(explanation: Explanation, *, top: int, compact: bool = False) -> Table:
    """Build a rich table: state, labels that its name does not tell, kind, and the bounds of every scope.

    A compact one has only the states and their bounds.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> made = table(explain(loan(), target="Granted"), top=5)
    >>> made.row_count, [column.header for column in made.columns]
    (5, ['state', 'kind', 'any strategy', 'best strategies', 'of all runs'])
    """
    mdp = explanation.mdp
    parts = [*explanation.scopes, *(["absolute"] if explanation.absolute is not None else [])]
    made = Table(box=box.SIMPLE_HEAD, header_style="dim")
    read, order = explanation.kinds, explanation.ranking[:top].tolist()
    labels = [[name for name in found if name not in mdp.states[s]] for s, found in enumerate(labels_by_state(mdp))]
    labelled = not compact and any(labels[explanation.asked[k]] for k in order)
    made.add_column("state", overflow="fold", min_width=12)
    if labelled:
        made.add_column("labels", overflow="fold", style="dim", min_width=12)
    if not compact:
        made.add_column("kind", no_wrap=True)
    for part in parts:
        title = SCOPE_TITLES.get(part, "of all runs")
        made.add_column(title.split()[0] if compact else title, justify="right", no_wrap=True)
    for k in order:
        state = int(explanation.asked[k])
        style = _STYLES.get(read[k], "")
        cells = [Text(printable(mdp.states[state]), style=style)]
        if labelled:
            cells.append(Text(printable(", ".join(labels[state]))))
        if not compact:
            cells.append(Text("to avoid" if read[k] is Kind.DETRIMENTAL else read[k].value, style=style))
        made.add_row(*cells, *(interval(explanation.parts[part].at(k)) for part in parts))
    return made


def interval(bounds: Bounds) -> str:
    """Write bounds for a table; one number where both print alike."""
    low, high = cell(bounds.lower), cell(bounds.upper)
    return low if low == high else f"{low} to {high}"


def cell(value: Number) -> str:
    """Write a number for a table: a short fraction in exact mode, else as `number` does."""
    if isinstance(value, Fraction) and len(str(value)) <= 15:
        return str(value)
    return number(value)
