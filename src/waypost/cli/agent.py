"""``waypost agent``: an agent beside the best, and beside another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from waypost.cli.options import constants_option, target_option, time_limit_option
from waypost.cli.runs import deliver, output_options
from waypost.cli.source import Loaded, load, load_strategy, tell
from waypost.errors import WaypostError
from waypost.formats.writing import write_bytes
from waypost.importance.quickest import quickest_strategy
from waypost.model import Strategy
from waypost.report.files import ending_of
from waypost.report.planning import PICTURES


@click.command("agent")
@click.argument("model")
@click.argument("policy")
@target_option()
@click.option("--against", metavar="POLICY", help="Another agent, to stand beside it.")
@click.option("--within", type=click.IntRange(min=0), metavar="N", help="Reach the target in at most N steps.")
@constants_option
@time_limit_option
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="How many places.")
@click.option("--plot", "plot_file", metavar="FILE", help="Draw a map with arrows: .svg, .png or .pdf")
@output_options
def command(model: str, policy: str, **options: Any) -> None:
    """Explain an agent in MODEL: how often it succeeds beside the best possible, and where it loses the rest.

    MODEL is an environment of Gymnasium such as gym:FrozenLake-v1, a model file, or the name of a case study. POLICY is
    a table of values or probabilities, one row per state, or one action per state (.npy, .csv, .json), a strategy in a
    file, or one of the words: uniform, which tosses, and best, the quickest of those with the greatest probability.

    Example: waypost agent gym:FrozenLake-v1 uniform --against best --within 100 --plot map.png
    """
    from waypost.agents import explain_agent
    from waypost.report.agents import agent_document, print_agent

    if options["plot_file"]:
        ending_of(options["plot_file"], PICTURES)
    loaded = load(model, constants=options["constants"])
    tell(loaded.notes_for(options["within"]))
    target = options["target"] or (() if loaded.target is None else (loaded.target,))
    if not target:
        raise WaypostError("say what to reach: --target LABEL (`waypost check MODEL` lists the labels)")
    other = None if options["against"] is None else _agent(options["against"], loaded, target)
    found = explain_agent(
        loaded.mdp, _agent(policy, loaded, target), target=target, against=other, within=options["within"]
    )
    if options["plot_file"]:
        from waypost.report.agentmap import plot_agent
        from waypost.report.plot import to_bytes

        ending = ending_of(options["plot_file"], PICTURES)
        write_bytes(options["plot_file"], to_bytes(plot_agent(found), ending[1:]))
    deliver(lambda console: print_agent(found, console, top=options["top"]), agent_document(found), options)


def _agent(name: str, loaded: Loaded, target: tuple[str, ...]) -> Strategy:
    """Strategy in a file, or the one a word means."""
    if name == "uniform" and not Path(name).exists():
        return Strategy.uniform(loaded.mdp)
    if name == "best" and not Path(name).exists():
        return quickest_strategy(loaded.mdp, target=target)
    return load_strategy(name, loaded.mdp)
