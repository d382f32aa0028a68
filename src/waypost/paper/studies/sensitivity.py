"""What M, eps and the solver's tolerance do to the answers: the paper's main threat to validity, measured.

The paper names numerical instability, "related to the chosen constants for M and epsilon", as its main threat
(Sect. 6). Here LP* to the letter runs over a grid of M, QP to the letter over a grid of eps, both with several
tolerances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from waypost.errors import require
from waypost.paper.studies.accuracy import error
from waypost.paper.studies.records import Record
from waypost.paper.studies.running import Outcome, Settings, StudyProgress, run
from waypost.paper.studies.studies import EPSILONS, MS, TOLERANCES, Study
from waypost.paper.studies.tables import StudyTable

COLOURS = {"right": "#2a7f62", "wrong": "#b03a2e", "unsolved": "#b9b9b9"}


def run_grid(study: Study, settings: Settings, directory: Path, progress: StudyProgress) -> Outcome:
    """Measure the study once per tolerance; a budget is for each of them."""
    parts = [
        run(study, replace(settings, limits=replace(settings.limits, tolerance=tolerance)), directory, progress)
        for tolerance in TOLERANCES
    ]
    records = [record for part in parts for record in part.records]
    return replace(parts[-1], records=records, left=sum(part.left for part in parts))


def judgement(record: Record) -> str:
    """*right*, *wrong* or *unsolved*."""
    return "right" if record.verdict == "right" else "unsolved" if record.verdict == "unsolved" else "wrong"


def grid(records: Sequence[Record]) -> StudyTable:
    """Bounds solved, right and wrong for every model, constant and tolerance."""
    rows = []
    for key in sorted({_place(r) for r in records}):
        part = [r for r in records if _place(r) == key]
        tally = {name: sum(judgement(r) == name for r in part) for name in ("right", "wrong", "unsolved")}
        infeasible = sum(r.status == "infeasible" for r in part)
        worst = max((error(r) for r in part if judgement(r) != "unsolved"), default=0.0)
        rows.append((
            part[0].model, part[0].configuration, _tolerance(part[0]), str(len(part)), str(tally["right"]),
            str(tally["wrong"]), str(tally["unsolved"]), str(infeasible), f"{worst:.1e}",
        ))  # fmt: skip
    header = (
        "Model", "Enc.", "Tolerance", "Bounds", "Right", "Wrong", "Unsolved", "of these infeasible", "Largest error",
    )  # fmt: skip
    return StudyTable(header, tuple(rows))


def _place(record: Record) -> tuple[str, bool, float, float]:
    constant = float(record.configuration.rpartition("= ")[2])
    return record.model, record.configuration.startswith("QP"), constant, -(record.tolerance or 1.0)


def _tolerance(record: Record) -> str:
    return "own" if record.tolerance is None else f"{record.tolerance:g}"


def draw_grid(records: Sequence[Record], models: Sequence[str], path: Path) -> None:
    """Draw shares of right, wrong and unsolved bounds: a row per model, LP* over M beside QP over eps."""
    figure_module = require("matplotlib.figure", "plot", "drawing the sensitivity figure")
    figure = figure_module.Figure(figsize=(9, 2.3 * len(models)), layout="constrained")
    axes = figure.subplots(len(models), 2, squeeze=False, gridspec_kw={"width_ratios": [len(MS), len(EPSILONS)]})
    for row, model in zip(axes, models, strict=True):
        for axis, (name, values) in zip(row, (("LP*, M", MS), ("QP, eps", EPSILONS)), strict=True):
            _bars(
                axis,
                [r for r in records if r.model == model and r.configuration.startswith(name[:3].strip(","))],
                values,
            )
            axis.set_title(f"{model}: {name}", fontsize=9)
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8)
    part = path.with_name(path.name + ".part")
    figure.savefig(part, format=path.suffix.lstrip("."), metadata={"Date": None} if path.suffix == ".svg" else None)
    part.replace(path)


def _bars(axis: Any, records: Sequence[Record], values: Sequence[float]) -> None:
    """Stacked shares, for every value one bar per tolerance, the solver's own first."""
    width = 0.8 / len(TOLERANCES)
    for t, tolerance in enumerate(TOLERANCES):
        places = [k + (t - 1) * width for k in range(len(values))]
        floor = [0.0] * len(values)
        for name, colour in COLOURS.items():
            heights = []
            for value in values:
                part = [r for r in records if r.tolerance == tolerance and r.configuration.endswith(f"= {value:g}")]
                heights.append(sum(judgement(r) == name for r in part) / len(part) if part else 0.0)
            label = {"label": name} if t == 0 else {}
            axis.bar(places, heights, width * 0.92, bottom=floor, color=colour, **label)
            floor = [low + high for low, high in zip(floor, heights, strict=True)]
    axis.set_xticks(range(len(values)), [f"{v:g}" for v in values], fontsize=7)
    axis.set_ylim(0, 1)
    axis.tick_params(axis="y", labelsize=7)
