"""Pictures of an explanation: the process graph, and the intervals of the top states, each returned as a figure."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from waypost.arguments import Positive, checked, shown, told
from waypost.errors import ArgumentError, require
from waypost.importance.results import Explanation, Kind
from waypost.model import MDP, Strategy
from waypost.model.effects import told_choice
from waypost.report.canvas import empty_figure
from waypost.report.layout import Direction, Layout, LayoutEngine, Point, place
from waypost.report.names import addition, captions
from waypost.report.palette import Palette, Theme, matplotlib, palette
from waypost.report.view import Edge, explained_scope, important_part
from waypost.report.wording import SCOPE_TITLES, number, printable

Colour = Literal["lower", "upper", "width"]
KINDS = ("svg", "png", "pdf")
Curve = tuple[Point, ...]


@checked
def to_bytes(figure: Any, kind: str = "svg") -> bytes:
    """Figure as SVG, PNG or PDF; the same figure always gives the same SVG."""
    if kind not in KINDS:
        raise ArgumentError(f"kind is {told(Literal[KINDS])}, not {shown(kind)}")
    if not hasattr(figure, "savefig"):
        raise ArgumentError(f"figure is a matplotlib figure, as `plot_graph` gives it, not {shown(figure)}")
    settings, out = {"svg.hashsalt": "waypost", "svg.fonttype": "none"}, io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with warnings.catch_warnings(), require("matplotlib", "plot", "drawing").rc_context(settings):
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # a name's emoji becomes a box, not a warning
        figure.savefig(
            out, format=kind, metadata=undated, dpi=160, bbox_inches="tight", facecolor=figure.get_facecolor()
        )
    return out.getvalue()


@checked
def plot_graph(
    explanation: Explanation,
    *,
    scope: str | None = None,
    colour: Colour = "upper",
    strategy: Strategy | None = None,
    run: Sequence[str] = (),
    top: Positive = 40,
    theme: Theme = "light",
    direction: Direction = "wide",
    engine: LayoutEngine = "auto",
) -> Any:
    """Process graph coloured by importance; arrows as wide as they are likely under a strategy.

    Parameters
    ----------
    explanation
        What to draw.
    scope
        Which bounds colour the states; the main scope by default.
    colour
        The "lower" or "upper" bound, or their distance, "width".
    strategy
        Arrows are drawn by their probability under it: a witness, say, or what was observed.
    run
        State, action, state, ...: instead, the arrows of this run stand out.
    top
        States to show, most important first.
    theme, direction, engine
        Colours; which way the process runs; "graphviz", "layers" (needs nothing), or the better one that is there.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> explanation = explain(loan(), target="Granted")
    >>> witness = explanation.scopes["optimal"].witness("Consultation", "lower")
    >>> figure = plot_graph(explanation, scope="optimal", strategy=witness)
    >>> [axis.get_label() for axis in figure.axes]
    ['graph', '<colorbar>']
    """
    scope = explained_scope(explanation, scope)
    if strategy is not None:
        strategy.of(explanation.mdp)
    view = important_part(explanation, top)
    edges, arrows = view.drawn
    called = captions(explanation.mdp)
    sizes = [(26.0 + 7.6 * min(len(printable(called[s])), 22), 34.0) for s in view.states]
    layout = place(sizes, arrows, direction=direction, engine=engine)
    colours = palette(theme)
    figure, axis = _canvas(layout, colours)
    sheet = _Sheet(axis, explanation, scope, colour, colours)
    followed = {(explanation.mdp.state(s), explanation.mdp.state(y)) for s, y in pairwise(run[::2])}
    for edge, curve in zip(edges, layout.curves, strict=True):
        weight = _taken(strategy, edge) if strategy and not edge.hidden else None
        weight = float((edge.source, edge.target) in followed) if followed else weight
        sheet.edge(edge, curve, weight, len(edges) <= 40)
    for state, size, centre in zip(view.states, sizes, layout.centres, strict=True):
        sheet.node(state, size, centre)
    sheet.legend(figure)
    return figure


def _canvas(layout: Layout, colours: Palette) -> tuple[Any, Any]:
    margin = 26.0
    width, height = layout.width + 2 * margin, layout.height + 2 * margin
    figure = empty_figure(figsize=(max(width / 90, 4.5), max(height / 90, 1.6)), facecolor=colours.paper)
    axis = figure.add_axes((0, 0.0, 1, 1), label="graph")
    axis.set_xlim(-margin, layout.width + margin)
    axis.set_ylim(layout.height + margin, -margin)
    axis.set_aspect("equal")
    axis.axis("off")
    return figure, axis


@dataclass(frozen=True, eq=False)
class _Sheet:
    """Where the graph is drawn, and by what it is coloured."""

    axis: Any
    explanation: Explanation
    scope: str
    colour: Colour
    colours: Palette

    @cached_property
    def position(self) -> dict[int, int]:
        return {int(s): k for k, s in enumerate(self.explanation.asked)}

    @cached_property
    def called(self) -> list[str]:
        return captions(self.explanation.mdp)

    def edge(self, edge: Edge, curve: Curve, weight: float | None, labelled: bool) -> None:
        """Draw an arrow; with a weight, as wide as it is likely."""
        patches, paths = matplotlib("patches"), matplotlib("path")
        mdp, colours = self.explanation.mdp, self.colours
        faint = 0.35 if weight == 0 else 1.0
        path = paths.Path(curve, [paths.Path.MOVETO, *[paths.Path.CURVE4] * (len(curve) - 1)])
        look: dict[str, Any] = {"linestyle": (0, (1, 3)) if edge.hidden else "-", "shrinkA": 0, "shrinkB": 0}
        look |= {"color": colours.ramp[-1], "linewidth": 0.8 + 3.2 * weight} if weight else {"color": colours.line}
        arrow = "-|>,head_width=2.6,head_length=5"
        self.axis.add_patch(
            patches.FancyArrowPatch(path=path, arrowstyle=arrow, alpha=faint, zorder=1, **({"linewidth": 1.0} | look))
        )
        text = _edge_text(mdp, bool(np.diff(mdp.first_choice)[edge.source] > 1), edge)
        if labelled and text:
            x, y = _middle(curve)
            box = {"facecolor": colours.paper, "edgecolor": "none", "pad": 0.6}
            style = {"fontsize": 7, "color": colours.soft, "ha": "center", "va": "center", "bbox": box}
            self.axis.text(x, y, text, parse_math=False, zorder=2, alpha=faint, **style)

    def node(self, state: int, size: Point, centre: Point) -> None:
        """Draw a state: filled by its number, framed by its kind."""
        colours, k = self.colours, self.position.get(state)
        value = None if k is None else self._value(k)
        kind = None if k is None else self.explanation.kinds[k]
        if kind in {Kind.INDISPENSABLE, Kind.START, Kind.TARGET}:
            ring = colours.ramp[-1] if kind is Kind.INDISPENSABLE else colours.good
            self._box(size, centre, 4, facecolor="none", edgecolor=ring, linewidth=1.2)
        fill = colours.paper if value is None else colours.colours()(value)
        avoid = {"edgecolor": colours.warn, "linewidth": 1.2, "linestyle": "--"}
        plain = {"edgecolor": colours.line, "linewidth": 0.8, "linestyle": "-"}
        self._box(size, centre, 0, facecolor=fill, **(avoid if kind is Kind.DETRIMENTAL else plain))
        ink = colours.on_high if value is not None and value > 0.6 else colours.ink
        style = {"ha": "center", "va": "center", "fontsize": 8.5, "zorder": 4, "color": ink}
        self.axis.text(*centre, printable(self.called[state], 22), parse_math=False, **style)

    def _value(self, position: int) -> float:
        """Return the number that colours a state."""
        lower, upper = map(float, self.explanation.scopes[self.scope].at(position))
        return {"lower": lower, "upper": upper, "width": upper - lower}[self.colour]

    def _box(self, size: Point, centre: Point, grow: float, **style: Any) -> None:
        patches = matplotlib("patches")
        (w, h), (x, y) = size, centre
        corner, shape = (x - w / 2 - grow, y - h / 2 - grow), f"round,pad=0,rounding_size={7 + grow}"
        self.axis.add_patch(
            patches.FancyBboxPatch(corner, w + 2 * grow, h + 2 * grow, boxstyle=shape, zorder=3, **style)
        )

    def legend(self, figure: Any) -> None:
        """Draw the scale, with its unit, and say what the frames mean."""
        colors, cm = matplotlib("colors"), matplotlib("cm")
        colours = self.colours
        scale = cm.ScalarMappable(colors.Normalize(0, 1), colours.colours())
        place_of_bar = {"orientation": "horizontal", "fraction": 0.03, "pad": 0.04, "aspect": 38, "shrink": 0.5}
        bar = figure.colorbar(scale, ax=self.axis, **place_of_bar)
        bar.set_ticks([0, 0.5, 1], labels=["0", "0.5", "1"])
        what = "width of the bounds" if self.colour == "width" else f"importance, {self.colour} bound"
        what = "importance" if self.scope == "observed" else what
        target = printable(self.explanation.target, 40)
        said = f"{what} ({SCOPE_TITLES[self.scope]}): share of the runs that reach {target}\n"
        said += "double line: indispensable, start or target; dashed: to avoid"
        bar.set_label(said, color=colours.soft, fontsize=8, parse_math=False)
        bar.ax.tick_params(colors=colours.soft, labelsize=8)
        bar.outline.set_edgecolor(colours.line)


def _taken(strategy: Strategy, edge: Edge) -> float:
    """Probability of an arrow under a strategy, in the memory mode that takes it most often."""
    return max(
        sum(float(mode[c]) * p for c, p in zip(edge.choices, edge.probabilities, strict=True))
        for mode in strategy.modes
    )


def _edge_text(mdp: MDP, chosen: bool, edge: Edge) -> str:
    parts = []
    for choice, probability in list(zip(edge.choices, edge.probabilities, strict=True))[:2]:
        action = printable(told_choice(mdp, choice), 18) if chosen else ""
        words = f"{action} {number(probability)}" if probability != 1 else action
        parts += [words.strip()] if words else []
    more = [f"+{len(edge.choices) - 2}"] if len(edge.choices) > 2 else []
    return ", ".join(parts + more)


def _middle(curve: Curve) -> tuple[float, float]:
    k = (len(curve) - 1) // 6 * 3
    a, b, c, d = np.array(curve[k : k + 4])
    x, y = (a + 3 * b + 3 * c + d) / 8
    return float(x), float(y)


@checked
def plot_bars(explanation: Explanation, *, top: Positive = 20, theme: Theme = "light") -> Any:
    """Intervals of the most important states, one row each, one mark per scope.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> figure = plot_bars(explain(loan(), target="Granted"), top=5)
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['s0', 'Application+', 'Granted', 'Consultation', 'Application']
    """
    colours = palette(theme)
    order = explanation.ranking[:top].tolist()
    called = captions(explanation.mdp)
    names = []
    for k in order:
        state = int(explanation.asked[k])
        own = addition(called[state], explanation.mdp.states[state])
        names.append(printable(f"{called[state]} ({own})" if own else called[state], 40))
    figure = empty_figure(figsize=(7.5, 1.1 + 0.3 * len(order)), facecolor=colours.paper, layout="constrained")
    axis = figure.add_subplot()
    _draw_bars(axis, explanation, order, colours)
    axis.set_yticks(range(len(order)), names)
    for tick in axis.get_yticklabels():
        tick.set_parse_math(False)
    axis.set_ylim(len(order) - 0.4, -0.6)
    axis.set_xlim(-0.02, 1.02)
    axis.set_facecolor(colours.paper)
    axis.tick_params(colors=colours.soft, labelsize=8.5, length=0)
    axis.tick_params(axis="y", colors=colours.ink)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    axis.grid(axis="x", color=colours.line, linewidth=0.5, alpha=0.6)
    axis.set_axisbelow(True)
    for side in axis.spines.values():
        side.set_visible(False)
    label = f"importance: share of the runs that reach {printable(explanation.target, 50)}"
    if explanation.log is not None:
        label = "share of the good and of the bad cases that pass each activity"
    axis.set_xlabel(label, color=colours.soft, fontsize=8.5, parse_math=False)
    look = {"frameon": False, "fontsize": 8.5, "labelcolor": colours.ink, "borderpad": 0}
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, **look)
    return figure


def _draw_bars(axis: Any, explanation: Explanation, order: list[int], colours: Palette) -> None:
    looks = {
        "all": {"color": colours.ramp[1], "linewidth": 9, "alpha": 0.75},
        "optimal": {"color": colours.ramp[-1], "linewidth": 4},
        "strategy": {"color": colours.warn, "linewidth": 4},
        "observed": {"color": colours.good, "linewidth": 4},
        "contrast": {"color": colours.warn, "linewidth": 4},
    }
    rows = np.arange(len(order))
    for scope, result in explanation.scopes.items():
        lower, upper = result.lower[order].astype(float), result.upper[order].astype(float)
        look = looks[scope]
        axis.hlines(rows, lower, upper, label=SCOPE_TITLES[scope], capstyle="butt", **look)
        points = upper - lower < 0.004
        size = 5 if scope == "all" else 6
        marker = {"all": "|", "strategy": "D", "contrast": "X"}.get(scope, "o")
        style = {"linestyle": "none", "marker": marker, "markersize": size if marker != "|" else 9}
        axis.plot(upper[points], rows[points], color=look["color"], markeredgewidth=2 if marker == "|" else 0, **style)
