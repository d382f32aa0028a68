"""``waypost check``: what is in a model."""

from __future__ import annotations

import click
import numpy as np

from waypost.cli import terminal
from waypost.cli.source import load_model
from waypost.graph import Graph, end_components, reachable
from waypost.importance.states import plain
from waypost.model import MDP
from waypost.solve import Reach

MOST_LABELS = 40


@click.command("check")
@click.argument("model", required=False)
@click.option("--const", "constants", multiple=True, metavar="N=3", help="Value of an open PRISM or JANI constant.")
@click.option("--exact", is_flag=True, help="Compute in rationals; print fractions.")
def command(model: str | None, constants: tuple[str, ...], exact: bool) -> None:
    """What is in MODEL: sizes, labels, least and greatest probability of reaching each; problems by name."""
    from rich.table import Table
    from rich.text import Text

    from waypost.report.table import cell as shown
    from waypost.report.wording import printable

    mdp = load_model(model, constants=constants, exact=exact)
    console = terminal.console()
    for line in _sizes(mdp):
        console.print(Text(terminal.brief(line)))
    targets = list(mdp.labels)
    if not targets:
        t, first = mdp.transitions, mdp.first_choice[:-1]
        alone = (np.diff(mdp.first_choice) == 1) & (np.diff(t.indptr)[first] == 1)
        final = np.flatnonzero(alone & (t.indices[t.indptr[first]] == np.arange(mdp.n_states)))
        targets = [mdp.states[s] for s in final]
    table = Table(
        "label or final state", "states", "least", "greatest", title="Probability of reaching", title_justify="left"
    )
    for name in targets[:MOST_LABELS]:
        if name in mdp.labels and not mdp.labels[name].any():
            table.add_row(Text(printable(name)), "0", "", "")
            continue
        reach = Reach.of(mdp, mdp.where(name), exact=exact)
        bounds = [shown(plain(found.values[mdp.initial])) for found in (reach.min, reach.max)]
        table.add_row(Text(printable(name)), str(int(reach.target.sum())), *bounds)
    console.print(table)
    if len(targets) > MOST_LABELS:
        console.print(Text(f"and {len(targets) - MOST_LABELS} more"))


def _sizes(mdp: MDP) -> list[str]:
    graph = Graph.of(mdp)
    start = np.zeros(mdp.n_states, bool)
    start[mdp.initial] = True
    unreachable = np.flatnonzero(~reachable(graph, start))
    component, _ = end_components(graph)
    sizes = np.bincount(component[component >= 0])
    lines = [
        f"{mdp.n_states} states, {mdp.n_choices} choices, {mdp.transitions.nnz} transitions",
        f"initial state {mdp.states[mdp.initial]!r}",
        f"{int((np.diff(mdp.first_choice) > 1).sum())} states offer a choice",
    ]
    large = int((sizes > 1).sum())
    if large:
        lines.append(f"{large} end components of more than one state: strategies may stay there for ever")
    if len(unreachable):
        names = ", ".join(mdp.states[s][:200] for s in unreachable[:5])
        lines.append(
            f"{len(unreachable)} states cannot be reached from the initial state: {names}"
            + (", ..." if len(unreachable) > 5 else "")
        )
    return lines
