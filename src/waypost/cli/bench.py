"""``waypost bench``: Waypost beside Storm on this machine."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from waypost.cli import terminal
from waypost.cli.terminal import say

if TYPE_CHECKING:
    from waypost.paper.bench.report import Benchmark


@click.command("bench")
@click.option("--only", multiple=True, metavar="NAME", help="Run this one (several times: these); see --list.")
@click.option("--quick", is_flag=True, help="A small part, in less than half a minute.")
@click.option("--storm-samples", "samples", type=click.IntRange(1), help="States to ask Storm about in large models.")
@click.option("--limit", type=float, metavar="SECONDS", help="Time for one of Storm's queries [20; quick: 10].")
@click.option("--no-storm", is_flag=True, help="Waypost alone.")
@click.option("--data", metavar="DIR", help="Where models are that are not in the project [WAYPOST_DATA, or here].")
@click.option("--output", "-o", metavar="DIR", help="Write results.md, results.json and times.svg there.")
@click.option("--list", "show_names", is_flag=True, help="Names of the benchmarks.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def command(*, show_names: bool, output: str | None, quiet: bool, **options: Any) -> None:
    """Time Waypost and Storm side by side, on the same models, in one run; print ratios.

    A full run takes some minutes and wants a quiet machine. The exit code is 1 if the tools disagree anywhere.

    Example: waypost bench --quick --no-storm
    """
    from waypost.paper.bench import Plan, data_folder, growth, names, run, storm
    from waypost.paper.bench.machine import machine
    from waypost.paper.bench.report import Benchmark, save

    if show_names:
        say("\n".join(names()))
        return
    facts = machine()
    notes = []
    use_storm = storm.is_there() and not options["no_storm"]
    if not use_storm:
        notes.append("Storm: left out" + ("" if options["no_storm"] else ", stormpy is not installed (waypost[storm])"))
    plan = Plan(
        data=data_folder(options["data"]),
        only=options["only"],
        quick=options["quick"],
        samples=options["samples"],
        limit=options["limit"] or (10.0 if options["quick"] else 20.0),
        use_storm=use_storm,
        tell=(lambda _: None) if quiet else (lambda line: say(line, err=True)),
    )
    result = run(plan)
    notes += [*result.skipped, *result.failed, *["interrupted: this is what was done"] * result.interrupted]
    found = Benchmark(result.rows, growth(result.rows), notes, facts, shlex.join(["waypost", *sys.argv[1:]]))
    _show(found)
    if output is not None and result.rows:
        save(Path(output), found)
        say(f"written: {output}/results.md, results.json, times.svg")
    if not result.holds:
        raise click.exceptions.Exit(130 if result.interrupted else 1)


def _show(found: Benchmark) -> None:
    from rich.text import Text

    from waypost.paper.bench import tally
    from waypost.paper.bench.report import COLUMNS, EXPONENTS, NARROW, WINS, cells, exponent_cells, win_cells
    from waypost.report.table import fitted_table

    console = terminal.console()
    console.print(Text(", ".join(f"{key} {value}" for key, value in found.machine.items())))
    for head, lines, title in (
        ([COLUMNS[k] for k in NARROW], [[cells(row)[k] for k in NARROW] for row in found.rows], "Waypost beside Storm"),
        (WINS, [win_cells(one) for one in tally(found.rows)], "Wins and losses: how many times faster than Storm"),
        (EXPONENTS, [exponent_cells(one) for one in found.growths], "Growth: seconds ~ transitions ^ exponent"),
    ):
        if lines:
            console.print(fitted_table(console, head, lines, words=len(head) - 1, title=title))
    for note in found.skipped:
        console.print(Text(note))
