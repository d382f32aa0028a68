"""``waypost convert``: a model in another format."""

from __future__ import annotations

import click

from waypost.cli.source import load_model
from waypost.cli.terminal import say
from waypost.formats import write_mdp


@click.command("convert")
@click.argument("model")
@click.argument("output", type=click.Path(dir_okay=False))
@click.option("--const", "constants", multiple=True, metavar="N=3", help="Value of an open PRISM or JANI constant.")
@click.option("--exact", is_flag=True, help="Keep fractions as fractions.")
def command(model: str, output: str, constants: tuple[str, ...], exact: bool) -> None:
    """Write MODEL to OUTPUT, in the format of its ending: .prism .drn .umb .json .tra .dot."""
    mdp = load_model(model, constants=constants, exact=exact)
    write_mdp(mdp, output)
    say(f"{output}: {mdp.n_states} states, {mdp.n_choices} choices, {mdp.transitions.nnz} transitions")
