"""``waypost convert``: a model in another format."""

from __future__ import annotations

import click

from waypost.cli.options import reading_options
from waypost.cli.source import load_model
from waypost.cli.terminal import say
from waypost.formats import write_mdp


@click.command("convert")
@click.argument("model")
@click.argument("output", type=click.Path(dir_okay=False))
@reading_options("Keep fractions as fractions.")
def command(model: str, output: str, constants: tuple[str, ...], exact: bool) -> None:
    """Write MODEL to OUTPUT, in the format of its ending: .prism .drn .umb .json .tra .dot.

    Example: waypost convert loan loan.drn
    """
    mdp = load_model(model, constants=constants, exact=exact)
    write_mdp(mdp, output)
    say(f"{output}: {mdp.n_states} states, {mdp.n_choices} choices, {mdp.transitions.nnz} transitions")
