"""``--bootstrap``: how far the bounds move when the cases are drawn again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
import numpy as np

from waypost.cli.source import Loaded
from waypost.errors import WaypostError
from waypost.uncertainty import Resampled, bootstrap


def bootstrap_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of resampling."""
    options = (
        click.option("--bootstrap", type=click.IntRange(2), metavar="B", help="Draw the cases of a log again B times."),
        click.option(
            "--match",
            type=click.Choice(["history", "label"]),
            default="history",
            show_default=True,
            help="How --bootstrap finds states again: by the history that leads there, or all of a label as one.",
        ),
        click.option("--seed", type=int, default=1, show_default=True, help="Seed of --bootstrap."),
        click.option("--intervals", metavar="CSV", help="Write what --bootstrap found."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def show_bootstrap(loaded: Loaded, target: tuple[str, ...], options: dict[str, Any]) -> None:
    """Resample, print the intervals of the most important states, and write all of them if a file was named."""
    from waypost.cli import terminal

    if loaded.prepared is None:
        raise WaypostError("--bootstrap draws the cases of a log again, and this model was not learned from one")
    scopes: tuple[Any, ...] = ("all", "optimal") if options["scope"] == "both" else (options["scope"],)
    console = terminal.console()
    with _progress(options["bootstrap"], quiet=options["quiet"]) as progress:
        found = bootstrap(
            loaded.prepared.traces,
            target=target[0] if len(target) == 1 else target,
            resamples=options["bootstrap"],
            seed=options["seed"],
            eps=loaded.prepared.eps,
            scopes=scopes,
            match=options["match"],
            progress=progress,
        )
    if options["intervals"]:
        _write(found, options["intervals"])
    for resampled in found.values():
        _print(resampled, options, console)


@contextmanager
def _progress(resamples: int, *, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Count the resamples on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"resample 0 of {resamples}") as status:
        yield lambda done: status.update(f"resample {done} of {resamples}")


def _print(found: Resampled, options: dict[str, Any], console: Any) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from waypost.report.table import cell
    from waypost.report.text import SCOPE_TITLES
    from waypost.report.wording import printable

    title = f"{SCOPE_TITLES[found.scope]}: {found.level:.0%} intervals of {found.resamples} resamples"
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", title=title, title_justify="left")
    table.add_column("state" if found.match == "history" else "label", overflow="fold", min_width=12)
    for heading in ("lower bound", "interval", "upper bound", "interval", "in resamples"):
        table.add_column(heading, justify="right")

    def span(ends: Any) -> str:
        return "" if np.isnan(ends[0]) else f"{cell(float(ends[0]))} to {cell(float(ends[1]))}"

    wanted = set(options["states"]) or set(found.names)
    order = [k for k in np.lexsort((-found.bounds[:, 1], -found.bounds[:, 0])).tolist() if found.names[k] in wanted]
    moved = [k for k in order if not _settled(found, k)]
    top = options["top"] or 20
    for k in moved[:top]:
        low, high = (cell(float(bound)) for bound in found.bounds[k])
        name = Text(printable(found.names[k]))
        table.add_row(name, low, span(found.lower[k]), high, span(found.upper[k]), f"{found.present[k]:.0%}")
    if moved:
        console.print(table)
    left, still = max(0, len(moved) - top), len(order) - len(moved)
    more = f"{left} more have moved (--top {len(moved)} shows them); " if left else ""
    console.print(Text(f"{title}: {more}{still} have the same bounds in every resample"))


def _settled(found: Resampled, k: int) -> bool:
    """Whether a state was there in every resample, with the same bounds."""
    ends = np.stack([found.lower[k], found.upper[k]], axis=1)  # (2, 2) from and to, of both bounds
    return bool(found.present[k] == 1 and (ends == found.bounds[k]).all())


def _write(found: dict[str, Resampled], path: str) -> None:
    from waypost.errors import require
    from waypost.formats.writing import write_text

    pandas = require("pandas", "table", "writing intervals")
    parts = [resampled.to_frame().assign(scope=scope) for scope, resampled in found.items()]
    write_text(path, pandas.concat(parts).to_csv())
