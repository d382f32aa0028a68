"""The paper's MSSD figure, and drawings of the smallest counterexamples."""

from __future__ import annotations

import html
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from waypost.errors import require
from waypost.model import MDP
from waypost.paper.studies.records import EngineRun, Record
from waypost.paper.studies.studies import family


def box_plot(records: Sequence[Record], engine: Sequence[EngineRun], models: Sequence[str], path: Path) -> None:
    """Draw seconds per bound on the left axis (logarithmic), timeouts on the right one.

    A box per size of model is the solver's, a diamond the engine's mean.
    """
    figure_module = require("matplotlib.figure", "plot", "drawing the MSSD figure")
    figure = figure_module.Figure(figsize=(9, 3.6), layout="constrained")
    left = figure.add_subplot()
    models = tuple(dict.fromkeys(map(family, models)))
    places = range(1, len(models) + 1)
    data = [[max(r.counted, 1e-4) for r in records if family(r.model) == m] for m in models]
    ours = [[e.seconds / (2 * e.states) for e in engine if family(e.model) == m] for m in models]
    cut = [sum(r.status in ("timeout", "memory") for r in records if family(r.model) == m) for m in models]
    labels = [f"{m}\n({len(d)} bounds)" for m, d in zip(models, data, strict=True)]
    solved = {place: times for place, times in zip(places, data, strict=True) if times}
    left.boxplot(list(solved.values()), positions=list(solved), widths=0.5)
    left.set_xticks(places, labels)
    means = {place: statistics.fmean(times) for place, times in zip(places, ours, strict=True) if times}
    left.plot(list(means), list(means.values()), "D", color="#2a7f62", label="exact engine")
    left.tick_params(axis="x", labelsize=7)
    left.set_yscale("log")
    left.set_ylabel("seconds per bound")
    left.legend(loc="center left", fontsize=8)
    right = left.twinx()
    right.plot(places, cut, "o", color="#b03a2e")
    right.set_ylabel("bounds cut off by a limit", color="#b03a2e")
    right.set_ylim(-0.5, max([*cut, 1]) + 1)
    right.yaxis.get_major_locator().set_params(integer=True)
    part = path.with_name(path.name + ".part")
    figure.savefig(part, format=path.suffix.lstrip("."), metadata={"Date": None} if path.suffix == ".svg" else None)
    part.replace(path)


def drawing(mdp: MDP, places: Mapping[str, tuple[float, float]], *, subject: str, target: str) -> str:
    """Draw a small model as SVG: states at their places (in units), an arrow per transition named by its action.

    >>> from waypost.paper.encodings.counterexamples import waiting
    >>> text = drawing(waiting(), {"s0": (0, 0), "s": (1, 0), "t": (2, 0)}, subject="s", target="t")
    >>> text.count("<circle"), text.startswith("<svg")
    (3, True)
    """
    unit, margin = 130.0, 62.0
    where = {name: (margin + unit * x, margin + unit * y) for name, (x, y) in places.items()}
    width = max(x for x, _ in where.values()) + margin
    height = max(y for _, y in where.values()) + margin
    arrows, heads = [], []
    for choice in range(mdp.n_choices):
        name = mdp.states[int(mdp.choice_state[choice])]
        row = mdp.transitions[[choice]].tocoo()
        for y, p in zip(row.coords[1].tolist(), row.data.tolist(), strict=True):
            if mdp.actions[choice] == "(final)":
                continue
            text = mdp.actions[choice] + ("" if p == 1 else f" {p:.6g}")
            arrows.append(_arrow(where[name], where[mdp.states[y]], text))
    for name, (x, y) in where.items():
        fill = "#d5e8d4" if name == target else "#ffe6a7" if name == subject else "#ffffff"
        heads.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="19" fill="{fill}" stroke="#333"/>')
        heads.append(f'<text x="{x:.0f}" y="{y + 5:.0f}" text-anchor="middle">{html.escape(name)}</text>')
    style = 'font-family="sans-serif" font-size="13"'
    marker = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#333"/></marker></defs>'
    )
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    body = "\n".join([marker, *arrows, *heads])
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n{paper}\n{body}\n</svg>\n'


def _arrow(start: tuple[float, float], end: tuple[float, float], text: str) -> str:
    (x0, y0), (x1, y1) = start, end
    label = html.escape(text)
    if start == end:
        top = y0 - 62
        path = (
            f"M{x0 - 8:.0f},{y0 - 18:.0f} C{x0 - 40:.0f},{top:.0f} {x0 + 40:.0f},{top:.0f} {x0 + 8:.0f},{y0 - 18:.0f}"
        )
        return _stroke(path) + _label(x0, y0 - 54, label)
    length = math.hypot(x1 - x0, y1 - y0)
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    bend = 16.0 + 0.12 * max(0.0, length - 140)  # long arrows swing around what lies between
    mx, my = (x0 + x1) / 2 + uy * bend * 1.6, (y0 + y1) / 2 - ux * bend * 1.6
    path = f"M{x0 + 19 * ux:.0f},{y0 + 19 * uy:.0f} Q{mx:.0f},{my:.0f} {x1 - 19 * ux:.0f},{y1 - 19 * uy:.0f}"
    return _stroke(path) + _label((x0 + x1) / 2 + uy * bend, (y0 + y1) / 2 - ux * bend + 3, label)


def _label(x: float, y: float, text: str) -> str:
    halo = 'paint-order="stroke" stroke="#fff" stroke-width="4"'  # so that no arrow crosses out its own name
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" fill="#555" {halo}>{text}</text>'


def _stroke(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="#333" marker-end="url(#tip)"/>'
