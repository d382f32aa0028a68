"""Heat map of a path: its states in a row, each as dark as following the path so far is important."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from waypost.importance.results import Bounds
from waypost.importance.single import PathImportance
from waypost.report.canvas import empty_figure
from waypost.report.palette import Theme, matplotlib, palette
from waypost.report.wording import SCOPE_TITLES, printable, span

WIDE = 1.9  # inches per state


def plot_path(prefixes: Mapping[str, Sequence[PathImportance]], *, theme: Theme = "light") -> Any:
    r"""Draw a path as a row of states per scope; `prefixes` are the answers for its beginnings, shortest first.

    >>> from waypost import path_importance
    >>> from waypost.cases import loan
    >>> steps = ["s0", "Apply", "Application"]
    >>> found = [path_importance(loan(), path=steps[:n], target="Granted", scope="all") for n in (1, 3)]
    >>> [text.get_text() for text in plot_path({"all": found}).axes[0].texts][:2]
    ['s0\n1', 'Application\n0.897 to 1']
    """
    colours = palette(theme)
    longest = max(map(len, prefixes.values()))
    figure = empty_figure(figsize=(WIDE * longest, 1.3 * len(prefixes)), layout="constrained", facecolor=colours.paper)
    for axis, (scope, answers) in zip(
        figure.subplots(len(prefixes), 1, squeeze=False)[:, 0], prefixes.items(), strict=True
    ):
        _row(axis, answers, colours)
        axis.set_title(SCOPE_TITLES[scope], loc="left", fontsize=9, color=colours.soft)
        axis.set_xlim(-0.6, longest - 0.4)
        axis.set_ylim(-0.5, 0.5)
        axis.set_axis_off()
    return figure


def _row(axis: Any, answers: Sequence[PathImportance], colours: Any) -> None:
    ramp, patches = colours.colours(), matplotlib("patches")
    for k, answer in enumerate(answers):
        middle = (float(answer.lower) + float(answer.upper)) / 2
        axis.add_patch(
            patches.FancyBboxPatch(
                (k - 0.36, -0.2), 0.72, 0.4, boxstyle="round,pad=0.02", facecolor=ramp(middle), edgecolor=colours.line
            )
        )
        name = printable(answer.path[-1], 18)
        ink = colours.on_high if middle > 0.6 else colours.ink
        axis.text(
            k, 0, f"{name}\n{span(Bounds(answer.lower, answer.upper))}", ha="center", va="center", fontsize=8, color=ink
        )
        if k:
            axis.annotate(
                "", xy=(k - 0.38, 0), xytext=(k - 0.62, 0), arrowprops={"arrowstyle": "->", "color": colours.soft}
            )
            axis.text(
                k - 0.5, 0.24, printable(answer.path[-2], 18), ha="center", va="bottom", fontsize=7, color=colours.soft
            )
