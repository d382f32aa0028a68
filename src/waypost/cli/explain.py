"""``waypost explain``: importance of every state for reaching a target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from waypost.cli.progress import bounds_progress
from waypost.cli.resampling import bootstrap_options, show_bootstrap
from waypost.cli.source import Loaded, learning_options, load, load_strategy, taken_options, tell
from waypost.cli.terminal import console, give
from waypost.errors import WaypostError
from waypost.importance import Bounds, Explanation, explain, group_importance
from waypost.learn import Prepared


@click.command("explain")
@click.argument("model", required=False)
@click.option("--target", "-t", multiple=True, help="A label or a state's name; several mean any of them.")
@click.option(
    "--scope",
    type=click.Choice(["all", "optimal", "both"]),
    default="both",
    show_default=True,
    help="Bounds over all strategies that can reach the target, over the best ones, or both.",
)
@click.option("--state", "-s", "states", multiple=True, help="Only this state; may be given several times.")
@click.option("--strategy", type=click.Path(), help="Also explain this strategy: JSON, state -> action -> probability.")
@click.option("--const", "constants", multiple=True, metavar="N=3", help="Value of an open PRISM or JANI constant.")
@click.option("--exact", is_flag=True, help="Compute in rationals; print fractions.")
@click.option("--data", metavar="FILE", help="Your copy of the data, for a case study that needs one.")
@learning_options
@bootstrap_options
@click.option(
    "--format",
    "shape",
    type=click.Choice(["table", "text", "markdown", "csv", "json"]),
    default="table",
    show_default=True,
    help="What to print.",
)
@click.option(
    "--top", type=click.IntRange(1), help="How many states the table shows (20), or lines a section of the text (5)."
)
@click.option("--json", "json_file", metavar="FILE|-", help="Write JSON to a file, or - for standard output.")
@click.option("--csv", "csv_file", metavar="FILE|-", help="Write CSV to a file, or - for standard output.")
@click.option("--html", "html_file", metavar="FILE", help="Write one page to explore offline.")
@click.option("--compare", multiple=True, metavar="TARGET", help="A further target for the page, to compare with.")
@click.option(
    "--output",
    "-o",
    "files",
    multiple=True,
    metavar="FILE",
    help="Write a file, by its ending: .json .csv .xlsx .parquet .md .txt .html .svg .png .pdf",
)
@click.option("--plot", "plot_file", metavar="FILE", help="Draw a picture: .svg, .png or .pdf")
@click.option(
    "--picture",
    type=click.Choice(["auto", "graph", "bars", "grid"]),
    default="auto",
    show_default=True,
    help="What --plot draws: the process graph, intervals of the top states, or a grid where states have coordinates.",
)
@click.option(
    "--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True, help="Colours of pictures."
)
def command(**options: Any) -> None:
    """Explain how important every state of MODEL is for reaching a target.

    MODEL is a model file, an event log to learn a model from, or the name of a case study; without it the loan example
    is explained. The importance of a state is the probability of passing it among the runs that reach the target; over
    all strategies it is an interval.
    """
    learning = taken_options(options)
    options["quiet"] = learning["quiet"]
    loaded = load(
        options["model"],
        constants=options["constants"],
        exact=options["exact"],
        data=options["data"],
        learning=learning,
    )
    tell(loaded.notes, quiet=learning["quiet"])
    found = explained(loaded, options["target"], options)
    others = [explained(loaded, (name,), options) for name in options["compare"]]
    if others and not options["html_file"]:
        raise WaypostError("--compare puts a further target into the page; say where to write it with --html FILE")
    printed = write_files(found, others, loaded.prepared, options)
    if not printed:
        show(found, options["shape"], options["top"])
    if options["bootstrap"]:
        show_bootstrap(loaded, found.targets, options)


def explained(loaded: Loaded, target: tuple[str, ...], options: dict[str, Any]) -> Explanation:
    """Compute everything asked for."""
    if not target and loaded.target is not None:
        target = (loaded.target,)
    if not target:
        raise WaypostError("say what to reach: --target LABEL (`waypost check MODEL` lists the labels)")
    mdp, scope, strategy = loaded.mdp, options["scope"], options["strategy"]
    scopes: tuple[Any, ...] = ("all", "optimal") if scope == "both" else (scope,)
    asked = len(options["states"]) or mdp.n_states
    parts = len(scopes) + (strategy is not None) + 1  # and the absolute importance
    with bounds_progress(2 * asked * parts, quiet=options["quiet"]) as progress:
        return explain(
            mdp,
            target=target[0] if len(target) == 1 else list(target),
            scopes=scopes,
            strategy=None if strategy is None else load_strategy(strategy, mdp),
            states=options["states"] or None,
            exact=options["exact"],
            progress=progress,
        )


def write_files(
    found: Explanation, others: list[Explanation], prepared: Prepared | None, options: dict[str, Any]
) -> bool:
    """Write every file asked for; whether one of them was standard output."""
    from waypost.report import files
    from waypost.report.jsonfile import to_json

    top = options["top"]
    for path in options["files"]:
        if Path(path).suffix.lower() in files.PICTURES:
            files.save(path, draw(found, path, options))
        else:
            files.write_report(found, path, top=top, groups=shared_labels(found))
    if options["plot_file"]:
        files.save(options["plot_file"], draw(found, options["plot_file"], options))
    if options["html_file"]:
        from waypost.report.examples import example_cases
        from waypost.report.html import render_html

        several = [found, *others]
        page = render_html(
            several,
            groups=[shared_labels(e) for e in several],
            cases=example_cases(found.mdp, prepared) if prepared is not None else None,
            top=top or 5,
        )
        files.save(options["html_file"], page)
    printed = False
    for chosen, render in ((options["json_file"], to_json), (options["csv_file"], files.to_csv)):
        if chosen == "-":
            give(render(found))
            printed = True
        elif chosen:
            files.save(chosen, render(found))
    return printed


def show(found: Explanation, shape: str, top: int | None) -> None:
    """Print the explanation."""
    from waypost.report import files
    from waypost.report.jsonfile import to_json
    from waypost.report.table import print_table
    from waypost.report.text import as_text, summarise

    if shape == "table":
        print_table(found, top=top or 20, console=console())
        return
    write = {
        "text": lambda: as_text(summarise(found, top or 5, shared_labels(found))),
        "markdown": lambda: files.to_markdown(found, top, shared_labels(found)),
        "csv": lambda: files.to_csv(found, top),
        "json": lambda: to_json(found),
    }
    give(write[shape]())


def draw(found: Explanation, path: str, options: dict[str, Any]) -> bytes:
    """Picture for a file: the grid where states have coordinates, else the process graph, unless one was asked for."""
    from waypost.report.coordinates import coordinates_of
    from waypost.report.files import picture_kind
    from waypost.report.grid import fields_of, plot_grid
    from waypost.report.plot import plot_bars, plot_graph, to_bytes

    kind, theme, what = picture_kind(path), options["theme"], options["picture"]
    if what == "auto":
        what = "grid" if coordinates_of(found.mdp) else "graph"
    if what == "bars":
        return to_bytes(plot_bars(found, top=options["top"] or 20, theme=theme), kind)
    if what == "graph":
        return to_bytes(plot_graph(found, top=options["top"] or 40, theme=theme), kind)
    scope: Any = next(iter(found.scopes))
    worth = None
    if scope != "strategy":
        named = {repr(field): names for field, names in fields_of(found.mdp).items()}
        bounds = group_importance(found.mdp, target=found.targets, scope=scope, groups=named)
        worth = {field: bounds[repr(field)] for field in fields_of(found.mdp)}
    return to_bytes(plot_grid(found, fields=worth, scope=scope, theme=theme), kind)


def shared_labels(found: Explanation) -> dict[str, dict[str, Bounds]]:
    """Bounds of passing any state of a label, for the labels that several states share and that name them."""
    from collections import Counter

    from waypost.report.reading import captions

    scopes: list[Any] = [scope for scope in found.scopes if scope != "strategy"]
    shared = {name for name, n in Counter(captions(found.mdp)).items() if n > 1 and name in found.mdp.labels}
    if len(scopes) < len(found.scopes) or not 0 < len(shared) <= 60 or found.mdp.n_states > 2_000:
        return {}
    groups = {name: np.flatnonzero([called == name for called in captions(found.mdp)]) for name in sorted(shared)}
    named = {name: [found.mdp.states[s] for s in members] for name, members in groups.items()}
    answers = {
        scope: group_importance(
            found.mdp, target=found.targets, scope=scope, groups=named, exact=found.scopes[scope].exact
        )
        for scope in scopes
    }
    return {name: {scope: answers[scope][name] for scope in scopes} for name in named}
