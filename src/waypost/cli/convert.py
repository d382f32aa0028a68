"""``waypost convert``: a model in another format, or what a strategy makes of it."""

from __future__ import annotations

import click

from waypost.cli.options import reading_options
from waypost.cli.source import load, load_strategy
from waypost.cli.terminal import say
from waypost.errors import WaypostError
from waypost.formats import write_mdp
from waypost.formats.strategies import storm_scheduler
from waypost.formats.writing import write_text
from waypost.model import MDP, induced_mdp, on_product


@click.command("convert")
@click.argument("model")
@click.argument("output", type=click.Path(dir_okay=False))
@click.option("--target", "-t", multiple=True, help="Build a PRISM or JANI model no further than to this.")
@click.option("--strategy", type=click.Path(), help="Write the Markov chain that this strategy leaves.")
@click.option(
    "--scheduler",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the product with the strategy's memory to OUTPUT, and the strategy on it here, as Storm writes one.",
)
@reading_options("Keep fractions exact.")
def command(
    model: str,
    output: str,
    target: tuple[str, ...],
    strategy: str | None,
    scheduler: str | None,
    constants: tuple[str, ...],
    exact: bool,
) -> None:
    """Write MODEL to OUTPUT, in the format of its ending: .prism .drn .umb .json .tra .dot.

    With a strategy, what it makes of the model: its chain, or the product on which it needs no memory.

    Example: waypost convert loan loan.drn
    """
    if scheduler and not strategy:
        raise WaypostError("--scheduler writes a strategy in Storm's format; say which with --strategy FILE")
    mdp = load(model, constants=constants, exact=exact, target=target or None).mdp
    if strategy:
        mdp = _under(mdp, strategy, scheduler)
    write_mdp(mdp, output)
    say(f"{output}: {mdp.n_states} states, {mdp.n_choices} choices, {mdp.transitions.nnz} transitions")


def _under(mdp: MDP, strategy: str, scheduler: str | None) -> MDP:
    """Chain of a strategy, or the product on which it needs no memory."""
    given = load_strategy(strategy, mdp)
    if scheduler is None:
        return induced_mdp(given)
    plain = on_product(given)
    write_text(scheduler, storm_scheduler(plain))
    return plain.mdp
