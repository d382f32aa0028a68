"""``waypost agent``: an agent beside the best, and beside another one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from waypost.cli.options import constants_option, target_option, time_limit_option
from waypost.cli.runs import deliver, output_options
from waypost.cli.source import Loaded, load, load_strategy, tell
from waypost.cli.terminal import give
from waypost.errors import WaypostError
from waypost.formats.writing import write_bytes, write_text
from waypost.importance.quickest import quickest_strategy
from waypost.model import Strategy
from waypost.report.files import ending_of
from waypost.report.planning import PAGES, PICTURES

if TYPE_CHECKING:
    from waypost.agents import AgentExplanation

WRITTEN = PAGES | PICTURES | {".txt", ".md", ".json"}  # endings of --output


@click.command("agent")
@click.argument("model")
@click.argument("policy")
@target_option()
@click.option("--against", metavar="POLICY", help="Another agent, to stand beside it.")
@click.option("--within", type=click.IntRange(min=0), metavar="N", help="Reach the target in at most N steps.")
@constants_option
@time_limit_option
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="How many places.")
@click.option(
    "--html", "html_file", metavar="FILE", help="Write one page to explore offline, or - for standard output."
)
@click.option("--plot", "plot_file", metavar="FILE", help="Draw a map with arrows: .svg, .png or .pdf")
@output_options
def command(model: str, policy: str, **options: Any) -> None:
    """Explain an agent in MODEL: how often it succeeds beside the best possible, and where it loses the rest.

    MODEL is an environment of Gymnasium such as gym:FrozenLake-v1, a model file, or the name of a case study. POLICY is
    a table of values or probabilities, one row per state, or one action per state (.npy, .csv, .json; FILE:values or
    FILE:probabilities where a table may be either), a strategy in a file, or one of the words: uniform, which tosses,
    and best, the quickest of those with the greatest probability.

    Example: waypost agent gym:FrozenLake-v1 uniform --against best --within 100 --html lake.html
    """
    from waypost.agents import explain_agent

    if options["plot_file"]:
        ending_of(options["plot_file"], PICTURES)
    if options["output"] and Path(options["output"]).suffix:
        ending_of(options["output"], WRITTEN)
    loaded = load(model, constants=options["constants"])
    notes = loaded.notes_for(options["within"])
    tell(notes)
    target = options["target"] or (() if loaded.target is None else (loaded.target,))
    if not target:
        raise WaypostError("say what to reach: --target LABEL (`waypost check MODEL` lists the labels)")
    other = None if options["against"] is None else _agent(options["against"], loaded, target)
    found = explain_agent(
        loaded.mdp, _agent(policy, loaded, target), target=target, against=other, within=options["within"]
    )
    called = [Path(name).name for name in (policy, options["against"]) if name is not None]
    _deliver(found, called, notes, options)


def _deliver(found: AgentExplanation, called: list[str], notes: Sequence[str], options: dict[str, Any]) -> None:
    """Write the files asked for, and print the explanation where none of them stands for it."""
    from waypost.report.agents import agent_document, print_agent

    output = options["output"] or ""
    instead = Path(output).suffix.lower() in PAGES | PICTURES
    pictures = [path for path in (options["plot_file"], output) if path and Path(path).suffix.lower() in PICTURES]
    if pictures:
        from waypost.report.agentmap import plot_agent
        from waypost.report.plot import to_bytes

        for path in pictures:
            write_bytes(path, to_bytes(plot_agent(found), ending_of(path, PICTURES)[1:]))
    pages = [path for path in (options["html_file"], output if instead and output not in pictures else None) if path]
    if pages:
        page = found.to_html(names=called, notes=notes)
        for path in pages:
            give(page) if path == "-" else write_text(path, page)
    if not instead and "-" not in pages:
        deliver(lambda console: print_agent(found, console, top=options["top"]), agent_document(found), options)


def _agent(name: str, loaded: Loaded, target: tuple[str, ...]) -> Strategy:
    """Strategy in a file, or the one a word means."""
    if name == "uniform" and not Path(name).exists():
        return Strategy.uniform(loaded.mdp)
    if name == "best" and not Path(name).exists():
        return quickest_strategy(loaded.mdp, target=target)
    return load_strategy(name, loaded.mdp)
