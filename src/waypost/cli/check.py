"""``waypost check``: what is in a model, and what its properties are worth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from waypost.cli import terminal
from waypost.cli.options import reading_options
from waypost.cli.source import load, model_constants, parse_constants, tell
from waypost.errors import WaypostError
from waypost.formats.properties import (
    Property,
    Unsupported,
    answer,
    asked,
    holds,
    listed_properties,
    properties_files,
    timed,
)
from waypost.importance import group_importance
from waypost.model import MDP
from waypost.solve.overview import Overview, goals_reached, overview

MOST_GOALS = 40  # rows of the table
FEW_GOALS = 5  # of final states without a label, where there are more of them than that
MOST_VARIABLES = 12


@click.command("check")
@click.argument("model", required=False)
@click.option(
    "--prop",
    "props",
    multiple=True,
    metavar="NAME|FILE[:NAME]",
    help="A property of the model by its name, those of a file, one of them, or one as text [all those of the model "
    "and of a .props file beside it].",
)
@reading_options()
def command(model: str | None, props: tuple[str, ...], constants: tuple[str, ...], exact: bool) -> None:
    """Describe MODEL: its size, its labels and properties with their probabilities, and its problems.

    Example: waypost check epidemic:4
    """
    from rich.text import Text

    given = parse_constants(constants)
    files = properties_files(model) if model is not None and not props and Path(model).is_file() else ()
    sources = [str(source) for source in (*props, *files)]
    properties = [p for source in sources for p in listed_properties(source, constants=given, model=model)]
    loaded = load(model, constants=model_constants(model, given, sources), exact=exact)
    if loaded.jumps:
        properties = [timed(p) if isinstance(p, Property) and p.within is not None else p for p in properties]
    tell(loaded.notes)
    mdp, console = loaded.mdp, terminal.console()
    found = overview(mdp)
    for line in _lines(found, mdp):
        console.print(Text(terminal.brief(line)))
    _print_goals(mdp, found, exact)
    if properties:
        _print_properties(mdp, properties, exact)


def _print_goals(mdp: MDP, found: Overview, exact: bool) -> None:
    """How probable the labels are; without any, the final states, of which there may be thousands."""
    from waypost.report.names import SHORT_NAMES, are_short, differing
    from waypost.report.table import fitted_table
    from waypost.report.wording import chance

    console, start = terminal.console(), mdp.states[mdp.initial]
    most = MOST_GOALS if mdp.labels or len(found.goals) <= MOST_GOALS else FEW_GOALS
    lines = []
    for goal in goals_reached(mdp, found.goals[:most], exact=exact):
        told = ("" if p is None else chance(p) for p in (goal.least, goal.greatest))
        lines.append([differing(start, goal.name) or goal.name, str(goal.states), *told])
    head = ["label or final state", "states", "least", "greatest"]
    console.print(fitted_table(console, head, lines, words=3, title="Probability of reaching"))
    if len(found.goals) > most:
        terminal.say(f"and {len(found.goals) - most:,} more")
    if lines and not mdp.labels and are_short(mdp):
        terminal.say(SHORT_NAMES)


def _print_properties(mdp: MDP, properties: list[Property | Unsupported], exact: bool) -> None:
    """What each property asks for, and its value; one that was given as text has no other name."""
    from waypost.report.table import fitted_table

    told = zip(properties, values(mdp, properties, exact), strict=True)
    head = ["property", "asks for", "value"]
    rows = [[p.name, "" if p.text == p.name else p.text, value] for p, value in told]
    if not any(asks for _, asks, _ in rows):
        head, rows = ["property", "value"], [[name, value] for name, _, value in rows]
    console = terminal.console()
    console.print(fitted_table(console, head, rows, names=len(head), title="Properties"))


def values(mdp: MDP, properties: Iterable[Property | Unsupported], exact: bool) -> Iterator[str]:
    """Value of each property in words: a probability, whether a threshold is kept, or why there is none."""
    for question in properties:
        if isinstance(question, Unsupported):
            yield f"not answered: {question.reason}"
            continue
        both = question.either and mdp.n_choices > mdp.n_states
        try:
            asks = [replace(question, optimum=o) for o in ("min", "max")] if both else [question]
            found = [_value(mdp, one, exact) for one in asks]
        except WaypostError as error:
            yield f"not answered: {error}"
            continue
        told, kept = " to ".join(_told(value, exact) for value in found), holds(question, found[0])
        yield told if kept is None else f"{str(kept).lower()} ({told})"


def _told(value: Any, exact: bool) -> str:
    """Number with nine digits; 0 and 1 only where they are exact."""
    told = str(int(value)) if value in (0, 1) else str(value) if exact else f"{value:.9g}"
    return told if told not in ("0", "1") or value in (0, 1) else repr(value)


def _value(mdp: MDP, question: Property, exact: bool) -> Any:
    if question.given is None:
        return answer(mdp, question, exact=exact)
    model, target, states = asked(mdp, question)
    (found,) = group_importance(model, target=target, scope="all", groups={"": states or ()}, exact=exact).values()
    return found.upper if question.optimum == "max" else found.lower


def _lines(found: Overview, mdp: MDP) -> list[str]:
    lines = [
        f"{found.states} states, {found.choices} choices, {found.transitions} transitions",
        f"initial state {found.initial!r}",
        f"{found.deciding} {'state offers' if found.deciding == 1 else 'states offer'} a choice"
        + (f", of up to {found.most_choices}" if found.deciding else ""),
        f"at most {found.leaving:,} transitions leave a state, at most {found.touching:,} leave or enter one",
    ]
    if variables := _variables(mdp):
        lines.append(f"variables: {variables}")
    if found.cycles:
        several = f"{found.cycles} components are cyclic, the largest"
        cyclic = "1 component is cyclic, it" if found.cycles == 1 else several
        lines.append(f"{cyclic} has {found.largest_cycle} states")
    if found.end_components:
        lines.append(
            f"{found.end_components} end components of more than one state: strategies may stay there for ever"
        )
    if found.unreachable:
        names = ", ".join(found.unreachable[:5]) + (", ..." if len(found.unreachable) > 5 else "")
        lines.append(f"{len(found.unreachable)} states cannot be reached from the initial state: {names}")
    return lines


def _variables(mdp: MDP) -> str:
    """Variables and their values, those that change first."""
    known = sorted(mdp.variables.items(), key=lambda item: item[1].constant)
    parts = [f"{name} {variable.values_told()}" for name, variable in known[:MOST_VARIABLES]]
    more = len(known) - MOST_VARIABLES
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")
