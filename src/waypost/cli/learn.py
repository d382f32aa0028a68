"""``waypost learn``: a model from an event log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from waypost.cli.options import learning_options
from waypost.cli.source import find_prepared, learned, load, taken_options, tell
from waypost.cli.terminal import say
from waypost.errors import WaypostError
from waypost.formats import write_mdp
from waypost.logs.log import give_back
from waypost.model import FINAL, MDP


@click.command("learn")
@click.argument("log")
@learning_options
@click.option("--output", "-o", metavar="FILE", help="Write the model, in the format of the ending: .drn, .json, ...")
def command(log: str, output: str | None, **options: Any) -> None:
    """Learn a model from LOG: XES, XES.gz, CSV, or input/output traces as JSON.

    Without a recipe the log is taken as it is, and without a map of actors all events are chance.

    Example: waypost learn loan-log:300 --output loan.drn
    """
    learning = taken_options(options)
    prepared = find_prepared(log, learning=learning)
    if prepared is None:
        load(log, learning=learning)  # what is no log and no model either says so
        raise WaypostError(f"{log} is a model already; `waypost check` tells what is in it")
    prepared = replace(prepared, log=None)  # nothing below asks for it
    give_back()
    found = learned(prepared)
    tell(found.notes, quiet=learning["quiet"])
    if output is not None:
        write_mdp(found.mdp, output)
    say(f"{len(prepared.traces):,} cases gave {sizes(found.mdp)}" + (f": {output}" if output else ""))


def sizes(mdp: MDP) -> str:
    """Numbers of states and transitions, the self-loops of final states apart."""
    final = sum(action == FINAL for action in mdp.actions)
    ends = "1 final state" if final == 1 else f"{final} final states"
    return f"{mdp.n_states:,} states and {mdp.transitions.nnz - final:,} transitions ({ends})"
