"""A benchmark on paper: cells for any table, Markdown, JSON, and a doubly logarithmic plot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from waypost.errors import require
from waypost.formats.writing import write_files
from waypost.paper.bench.rows import FIT_FROM, TOLERANCE, Cost, Growth, Row, Tally, tally
from waypost.report.plot import to_bytes

COLUMNS = (
    "model", "work", "states", "transitions", "Waypost s", "Storm s", "Storm did", "ratio", "peak MB (W / S)",
    "numbers compared", "greatest difference",
)  # fmt: skip
NARROW = (0, 1, 4, 5, 7, 8, 10)  # columns for a terminal
WINS = ("benchmark", "as fast or faster", "slower", "median", "least", "of", "states refused", "no answer in time")
EXPONENTS = ("series", "tool", "points", "transitions", "exponent", "standard error")
LEGEND = f"""Storm's loop is its conditional query for every state and both bounds. Models are loaded and kernels warm
in both; each tool has a process of its own, whose peak memory is shown; Waypost uses all cores, Storm one. The best of
several runs counts for work of less than a few seconds. *extrapolated*: Storm did a seeded sample of the states and
its time is scaled to all of them (± standard error). ≥: queries, or work of ours, that met the time limit count as the
limit. *refused*: states whose importance we could not certify.
Differences up to {TOLERANCE:g} are Storm's bisection."""
FITTED = f"""`seconds ~ transitions ^ exponent`, fitted by least squares to the rows of a series that have at least
{FIT_FROM:,} transitions. Rows of a series differ in more than their size, so an exponent is known to about
twice its standard error."""
COLOURS = ("#0b6e6e", "#c2571a", "#5b4b9a", "#8a7a1f", "#a3325c", "#3b6ea5", "#4d4d4d")


def cells(row: Row) -> list[str]:
    """Cells of a row, under `COLUMNS`."""
    return [
        row.name,
        row.work,
        f"{row.states:,}",
        f"{row.transitions:,}",
        ("≥ " if row.given_up else "") + seconds(row.ours.seconds),
        "" if row.storm is None else ("≥ " if row.unanswered else "") + seconds(row.storm.seconds) + _spread(row),
        _storm_did(row),
        ratio(row),
        f"{_megabytes(row.ours)} / {_megabytes(row.storm)}",
        str(row.compared or ""),
        _said(row),
    ]


def _said(row: Row) -> str:
    """The greatest difference, or what else there is to say, and how many states were refused."""
    said = row.note if row.difference is None else f"{row.difference:.1e}{'' if row.agrees else ' TOO LARGE'}"
    return said + (f" ({row.refused} states refused)" if row.refused else "")


def ratio(row: Row) -> str:
    """How Waypost compares, in words.

    >>> from waypost.paper.bench import Cost
    >>> ratio(Row("m", "w", 3, 4, 3, Cost(0.5, 0, 1), Cost(800, 0, 1), storm_did="loop"))
    '1,600 times faster'
    >>> ratio(Row("m", "w", 3, 4, 3, Cost(0.5, 0, 1), Cost(0.05, 0, 1), one_query=True))
    '10 times one query'
    """
    if row.storm is None or row.ratio is None:
        return ""
    if row.one_query:
        return f"{_significant(row.ratio)} times one query"
    if row.given_up:
        return "no answer in time"
    if row.ratio >= 1:
        return f"{'at least ' * bool(row.unanswered)}{_significant(row.ratio)} times faster"
    return f"{_significant(1 / row.ratio)} times slower"


def seconds(value: float) -> str:
    """Three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


@dataclass(frozen=True)
class Benchmark:
    """What one run of the benchmark found."""

    rows: Sequence[Row]
    growths: Sequence[Growth]
    skipped: Sequence[str]  # what was left out, and why
    machine: Mapping[str, str]
    command: str


def markdown(found: Benchmark) -> str:
    """The whole result as a page."""
    parts = [
        "# Waypost beside Storm",
        f"Written by `{found.command}`. Every number is from that one run on one machine.",
        _table(("machine", ""), [[key, value] for key, value in found.machine.items()], right=0),
        LEGEND,
        _table(COLUMNS, [cells(row) for row in found.rows], right=2),
    ]
    if tallies := tally(found.rows):
        parts += ["## Wins and losses", _table(WINS, [win_cells(one) for one in tallies], right=1)]
    if found.growths:
        parts += [
            "## Growth",
            FITTED,
            _table(EXPONENTS, [exponent_cells(one) for one in found.growths], right=2),
        ]
    if found.skipped:
        parts += ["## Left out", "\n".join(f"- {why}" for why in found.skipped)]
    return "\n\n".join(parts) + "\n"


def win_cells(found: Tally) -> list[str]:
    """Cells of the wins and losses of a benchmark, under `WINS`."""
    ratios = [_significant(found.median), _significant(found.least)]
    return [
        found.suite,
        str(found.faster),
        str(found.slower),
        *ratios,
        found.where,
        str(found.refused),
        str(found.given_up),
    ]


def exponent_cells(found: Growth) -> list[str]:
    """Cells of a fitted exponent, under `EXPONENTS`."""
    sizes = f"{found.smallest:,} to {found.largest:,}"
    error = "" if found.error is None else f"{found.error:.2f}"
    return [found.series, found.tool, str(found.points), sizes, f"{found.exponent:.2f}", error]


def as_json(found: Benchmark) -> str:
    """The whole result for programs."""
    content = {
        "version": 1,
        "command": found.command,
        "machine": dict(found.machine),
        "rows": [{**asdict(row), "ratio": row.ratio, "agrees": row.agrees} for row in found.rows],
        "wins": [asdict(one) for one in tally(found.rows)],
        "growth": [asdict(one) for one in found.growths],
        "skipped": list(found.skipped),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def plot(rows: Sequence[Row], growths: Sequence[Growth]) -> Any:
    """Times against transitions, doubly logarithmic: case studies left, growth right; a matplotlib figure."""
    figures = require("matplotlib.figure", "plot", "drawing")
    figure = figures.Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axis, title in ((left, "All states: Waypost and Storm"), (right, "Growth with size")):
        axis.set(xscale="log", yscale="log", xlabel="transitions", ylabel="seconds", title=title)
        axis.grid(visible=True, alpha=0.25)
    _plot_cases(left, [row for row in rows if row.series is None])
    series: dict[str, list[Row]] = {}
    for row in rows:
        if row.series is not None:
            series.setdefault(row.series, []).append(row)
    slopes = {one.series: one.exponent for one in growths if one.tool == "Waypost"}
    for k, (name, members) in enumerate(series.items()):
        colour = COLOURS[k % len(COLOURS)]
        slope = f", exponent {slopes[name]:.2f}" if name in slopes else ""
        sizes = [row.transitions for row in members]
        right.plot(sizes, [row.ours.seconds for row in members], "o-", color=colour, markersize=4, label=name + slope)
        theirs = [(row.transitions, row.storm.seconds) for row in members if row.storm is not None]
        if theirs:
            right.plot(*zip(*theirs, strict=True), "x--", color=colour, markersize=5, label=f"{name}: Storm")
    if series:
        right.legend(fontsize=7)
    return figure


def save(folder: Path, found: Benchmark) -> None:
    """Write ``results.md``, ``results.json`` and ``times.svg``, all of them or none."""
    folder.mkdir(parents=True, exist_ok=True)
    write_files(
        {
            folder / "times.svg": to_bytes(plot(found.rows, found.growths)),
            folder / "results.json": as_json(found).encode(),
            folder / "results.md": (markdown(found) + "\n![times](times.svg)\n").encode(),
        }
    )


def _plot_cases(axis: Any, rows: Sequence[Row]) -> None:
    for k, row in enumerate(rows):
        named = {} if k else {"label": "Waypost"}
        axis.plot([row.transitions], [row.ours.seconds], "o", color=COLOURS[0], **named)
        caption = row.name + (" (optimal)" if row.one_query or "optimal" in row.work else "")
        axis.annotate(caption, (row.transitions, row.ours.seconds), (4, -11), textcoords="offset points", fontsize=7)
        if row.storm is None:
            continue
        hollow = {"markerfacecolor": "none"} if row.extrapolated else {}
        axis.plot([row.transitions], [row.storm.seconds], "s", color=COLOURS[1], **hollow)
        axis.plot([row.transitions] * 2, [row.ours.seconds, row.storm.seconds], ":", color="#999999", linewidth=1)
        middle = (row.ours.seconds * row.storm.seconds) ** 0.5
        axis.annotate(ratio(row), (row.transitions, middle), (4, 0), textcoords="offset points", fontsize=7)
    if any(row.storm is not None for row in rows):
        axis.plot([], [], "s", color=COLOURS[1], label="Storm")
        axis.plot([], [], "s", color=COLOURS[1], markerfacecolor="none", label="Storm, extrapolated")
    if rows:
        axis.legend(fontsize=7)
        axis.margins(x=0.25)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: int) -> str:
    """Markdown table; columns from number `right` on are numbers, 0 for none."""
    rule = ["---:" if right and k >= right else "---" for k in range(len(head))]
    lines = [head, rule, *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _spread(row: Row) -> str:
    return f" ± {100 * row.spread:.0f} %" if row.spread is not None else ""


def _storm_did(row: Row) -> str:
    if row.storm is None:
        return ""
    return row.storm_did + (f"; {row.unanswered} unanswered" if row.unanswered else "")


def _megabytes(cost: Cost | None) -> str:
    return "–" if cost is None or cost.megabytes is None else f"{cost.megabytes:,.0f}"


def _significant(value: float) -> str:
    return f"{float(f'{value:.2g}'):,.10g}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"
