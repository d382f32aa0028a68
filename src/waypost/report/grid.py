"""Heat map of a gridworld, drawn as in the paper's Fig. 4: the world, and beside it what each field is worth.

A field is the set of states that stand on it. Indispensable fields are white, fields to avoid red and hatched, the
others teal: the paler, the less of the successful runs can pass them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from waypost.arguments import checked
from waypost.importance.reading import kind_of
from waypost.importance.results import Bounds, Explanation, Kind
from waypost.report.canvas import empty_figure
from waypost.report.coordinates import Coordinates, Field, field_name, marks_of, needed_coordinates
from waypost.report.palette import Palette, Theme, matplotlib, palette
from waypost.report.view import explained_scope
from waypost.report.wording import SCOPE_TITLES, printable, span

TEAL, RED, WHITE, GOLD = "#2a9d8f", "#c8102e", "#ffffff", "#f4c430"
FILLS = {"lava": "#ff8c1a", "cliff": "#a5682a", "hole": "#3f6fa8", "goal": "#35a853", "wall": "#8d949b"}
TILE = {"edgecolor": "#4a5057", "linewidth": 0.8}


@checked
def plot_grid(
    explanation: Explanation,
    *,
    coordinates: Mapping[Any, Field] | None = None,
    scope: str | None = None,
    numbers: bool = False,
    theme: Theme = "light",
) -> Any:
    """Gridworld and its heat map, side by side.

    Explained with ``groups=fields_of(mdp)``, a field shows its bounds as a whole; without, the largest bounds among its
    states, which is the least that the field as a whole can have.

    Parameters
    ----------
    explanation
        What to draw.
    coordinates
        Column and row of each state, by name; read off the names when not given.
    scope
        Which bounds to show; the main scope by default.
    numbers
        Write the bounds into the fields.
    theme
        Light or dark paper.

    >>> from waypost.cases import gridworld
    >>> from waypost.importance import explain
    >>> figure = plot_grid(explain(gridworld(), target="goal"))
    >>> [axis.get_title() for axis in figure.axes]
    ['gridworld', "importance for 'goal' (any strategy)"]
    """
    mdp, scope = explanation.mdp, explained_scope(explanation, scope)
    places = needed_coordinates(mdp, coordinates)
    worth = _worth(explanation, places, scope)
    colours = palette(theme)
    xs, ys = zip(*places.values(), strict=True)
    frame = (min(xs), max(xs), min(ys), max(ys))
    wide, high = frame[1] - frame[0] + 1, frame[3] - frame[2] + 1
    tile = min(0.62, 6 / max(wide, high))
    size = (2 * wide * tile + 0.5, high * tile + 0.9)
    figure = empty_figure(figsize=size, facecolor=colours.paper, layout="constrained")
    world, heat = figure.subplots(1, 2)
    _tiles(world, explanation, places, frame)
    target = printable(explanation.target, 30)
    _overlay(heat, worth, places.values(), numbers=numbers)
    for axis, title in ((world, "gridworld"), (heat, f"importance for {target} ({SCOPE_TITLES[scope]})")):
        _dress(axis, title, frame, colours)
    _legend(figure, worth, colours)
    return figure


def _worth(explanation: Explanation, places: Coordinates, scope: str) -> dict[Field, Bounds]:
    groups = {field: explanation.groups.get(field_name(field)) for field in places.values()}
    if all(groups.values()):
        return {field: bounds[scope] for field, bounds in groups.items() if bounds}
    found: dict[Field, Bounds] = {}
    for k, state in enumerate(explanation.asked.tolist()):
        if state in places:
            bounds, known = explanation.scopes[scope].at(k), found.get(places[state], Bounds(0, 0))
            found[places[state]] = Bounds(max(known.lower, bounds.lower), max(known.upper, bounds.upper))
    return found


def _tiles(axis: Any, explanation: Explanation, places: Coordinates, frame: tuple[int, int, int, int]) -> None:
    """Draw the world: dark floor, orange lava, blue holes, the green goal, key, door, and the agent's red triangle."""
    patches = matplotlib("patches")
    floor = set(places.values())
    marks = marks_of(explanation, places)
    for y in range(frame[2], frame[3] + 1):
        for x in range(frame[0], frame[1] + 1):
            mark = marks.get((x, y), "floor" if (x, y) in floor else "wall")
            fill = FILLS.get(mark, "#14171a")
            axis.add_patch(patches.Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=fill, **TILE))
            if mark == "lava":
                across = np.linspace(x - 0.38, x + 0.38, 30)
                for shift in (-0.2, 0.02, 0.24):
                    axis.plot(across, y + shift + 0.05 * np.sin((across - x) * 16), color="#5c2a00", linewidth=1.1)
            elif mark == "key":
                _key(axis, patches, x, y)
            elif mark == "door":
                _door(axis, patches, x, y)
    if explanation.mdp.initial in places:
        x, y = places[explanation.mdp.initial]
        corners = [(x - 0.26, y - 0.3), (x + 0.32, y), (x - 0.26, y + 0.3)]
        axis.add_patch(patches.Polygon(corners, facecolor="#e5243b", edgecolor="#ffffff", linewidth=0.6))


def _key(axis: Any, patches: Any, x: int, y: int) -> None:
    axis.add_patch(patches.Circle((x + 0.05, y - 0.2), 0.15, fill=False, edgecolor=GOLD, linewidth=2.4))
    axis.plot([x + 0.05, x + 0.05], [y - 0.05, y + 0.34], color=GOLD, linewidth=2.4)
    for shift in (0.18, 0.32):
        axis.plot([x - 0.13, x + 0.05], [y + shift, y + shift], color=GOLD, linewidth=2.4)


def _door(axis: Any, patches: Any, x: int, y: int) -> None:
    axis.add_patch(
        patches.Rectangle((x - 0.36, y - 0.4), 0.72, 0.8, facecolor="#5a4300", edgecolor=GOLD, linewidth=1.8)
    )
    axis.add_patch(patches.Circle((x + 0.2, y), 0.07, facecolor=GOLD))


def _overlay(axis: Any, worth: Mapping[Field, Bounds], floor: Iterable[Field], *, numbers: bool) -> None:
    patches = matplotlib("patches")
    for x, y in dict.fromkeys(floor):
        bounds = worth.get((x, y))
        style = {"facecolor": "#8d949b"} if bounds is None else _look(bounds)
        axis.add_patch(patches.Rectangle((x - 0.5, y - 0.5), 1, 1, **TILE, **style))
        if numbers and bounds is not None:
            ink = "#ffffff" if kind_of(bounds) is Kind.DETRIMENTAL else "#101418"
            text = span(bounds).replace(" to ", "\nto ")
            axis.text(x, y, text, ha="center", va="center", color=ink, fontsize=6)


def _look(bounds: Bounds) -> dict[str, Any]:
    colors = matplotlib("colors")
    kind = kind_of(bounds)
    if kind is Kind.INDISPENSABLE:
        return {"facecolor": WHITE}
    if kind is Kind.DETRIMENTAL:
        return {"facecolor": RED, "hatch": "///"}
    pale, full = np.array(colors.to_rgb("#d7e9e6")), np.array(colors.to_rgb(TEAL))
    return {"facecolor": tuple(pale + (full - pale) * float(bounds.upper))}


def _dress(axis: Any, title: str, frame: tuple[int, int, int, int], colours: Palette) -> None:
    axis.set_xlim(frame[0] - 0.5, frame[1] + 0.5)
    axis.set_ylim(frame[3] + 0.5, frame[2] - 0.5)
    axis.set_aspect("equal")
    axis.set_title(title, fontsize=9, color=colours.ink, parse_math=False)
    axis.set_xticks([])
    axis.set_yticks([])
    for side in axis.spines.values():
        side.set_color("#4a5057")


def _legend(figure: Any, worth: Mapping[Field, Bounds], colours: Palette) -> None:
    patches = matplotlib("patches")
    entries = {"indispensable (1)": Bounds(1, 1), "optional (up to 1)": Bounds(0, 1), "to avoid (0)": Bounds(0, 0)}
    handles = [patches.Patch(label=label, **TILE, **_look(bounds)) for label, bounds in entries.items()]
    if any(bounds.upper != 1 and kind_of(bounds) is not Kind.DETRIMENTAL for bounds in worth.values()):
        handles.insert(2, patches.Patch(label="optional (up to 0.3)", edgecolor="#4a5057", **_look(Bounds(0, 0.3))))
    look = {"frameon": False, "fontsize": 8, "labelcolor": colours.ink}
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), **look)
