"""``waypost reproduce``: the paper's tables and figure on this machine, beside the exact values."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from waypost.cli.options import place_options
from waypost.cli.terminal import say
from waypost.errors import WaypostError
from waypost.paper.encodings import Limits
from waypost.paper.encodings.linear import BIG_M
from waypost.paper.encodings.quadratic import EPSILON
from waypost.paper.studies.excerpt import excerpt
from waypost.paper.studies.models import find_model
from waypost.paper.studies.reports import write_published, write_reports
from waypost.paper.studies.running import Settings, run
from waypost.paper.studies.sensitivity import run_grid
from waypost.paper.studies.studies import CONFIGURATIONS, STUDIES, TARGET, with_constants
from waypost.processes.places import working


@click.command("reproduce")
@click.argument("study", type=click.Choice([*STUDIES, "published", "excerpt"]))
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True,
              help="Seconds per bound; the paper allowed 3600.")  # fmt: skip
@click.option(
    "--memory-limit", type=click.IntRange(min=1), default=4096, show_default=True, help="Megabytes per bound."
)
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads per solve.")
@click.option("--tolerance", type=float, default=1e-9, show_default=True,
              help="Tolerance of the solvers; 0 leaves them their own, as the paper did.")  # fmt: skip
@click.option("--sample", type=click.IntRange(min=1), help="States per model; all of the paper's without.")
@click.option("--state", "states", multiple=True, help="Only these states.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Bounds solved at a time.")
@click.option("--budget", type=click.FloatRange(min=0, min_open=True),
              help="Seconds for the encodings together; run again to go on where it stopped.")  # fmt: skip
@click.option("--model", "models", multiple=True, help="Only these models, or model files and cases of your own.")
@click.option(
    "--encoding", "configurations", multiple=True, type=click.Choice(list(CONFIGURATIONS)), help="Only these encodings."
)
@click.option("--M", "big_m", type=click.FloatRange(min=0, min_open=True),
              help=f"Big M of LP* to the letter [{BIG_M:g}, the paper's].")  # fmt: skip
@click.option("--eps", "epsilon", type=click.FloatRange(0, 1),
              help=f"Least probability of the target in QP [{EPSILON:g}, the paper's].")  # fmt: skip
@click.option("--solver", type=click.Choice(["highs", "scip", "gurobi"]),
              help="This solver for everything; say gurobi if you have a licence.")  # fmt: skip
@click.option("--target", default=TARGET, show_default=True, help="Label of the target.")
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), default=Path(),
              envvar="WAYPOST_DATA", help="Where the authors' artifact, or the data, is [here].")  # fmt: skip
@click.option("--generated", is_flag=True, help="Where the paper's models are not to be had, take generated ones.")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), default=Path("reproduced"),
              show_default=True, help="Directory for the measurements (CSV) and tables (Markdown, LaTeX).")  # fmt: skip
@click.option("--quiet", is_flag=True, help="No progress.")
@place_options
def command(study: str, *, output: Path, quiet: bool, **options: Any) -> None:
    """Reproduce a table or figure of the paper, next to the exact values.

    STUDY is table1, table2, appendix, differences or mssd, as in the paper; accuracy, how often each encoding is right
    and why not; ordering, what keeps LP* from claiming too much and what that costs; or sensitivity, what M, eps and
    the tolerance do to the answers. All studies with the same
    output directory share their measurements. And published: every bound the
    authors published against the truth; excerpt: the paper's explanation in words, of BPIC17.

    The paper's models are in the authors' artifact, https://github.com/explainableMDPs/mdp_attributive: --data is a
    clone of it, or a folder with the logs to learn them from again. Pickles are never opened.

    Example: waypost reproduce table1 --sample 2 --time-limit 10
    """
    if study == "published":
        for path in write_published(options["data"], output):
            say(str(path))
        return
    if study == "excerpt":
        for name in options["models"] or ("BPIC17",):
            source = find_model(name, options["data"], generated=options["generated"])
            say(f"{name}, {source.origin}; best strategies.\n{excerpt(source.mdp, target=options['target'])}")
        return
    constants = {name: options[name] for name in ("big_m", "epsilon") if options[name] is not None}
    if study == "sensitivity" and constants:
        raise WaypostError("sensitivity goes through many M and eps by itself; leave out --M and --eps")
    asked = STUDIES[study]
    asked = replace(
        asked,
        models=options["models"] or asked.models,
        configurations=options["configurations"] or asked.configurations,
    )
    if constants:
        asked = replace(asked, configurations=tuple(with_constants(name, **constants) for name in asked.configurations))
    limits = Limits(options["time_limit"], options["memory_limit"], options["threads"], options["tolerance"] or None)
    names = ("sample", "states", "jobs", "budget", "data", "generated", "target", "solver")
    settings = Settings(limits, **{name: options[name] for name in names})
    show = sys.stderr.isatty() and not quiet

    def progress(done: int, of: int) -> None:
        if show:
            click.echo(f"\r{done} of {of} bounds", nl=done == of, err=True)

    measured = run_grid if study == "sensitivity" else run
    with working(cluster=options["cluster"], resume=options["resume"]):
        outcome = measured(asked, settings, output, progress)
    for path in write_reports(outcome, output):
        say(str(path))
    if outcome.left:
        say(f"{outcome.left} bounds did not fit into the budget; run the same command to go on", err=True)
