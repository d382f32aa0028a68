"""Heat map of a gridworld, drawn as in the paper's Fig. 4: the world, and beside it what each field is worth.

A field is the set of states that stand on it. It is as teal as the share of the successful runs that can pass it, its
upper bound, and a white square in its middle is as large as the share that must, its lower bound: an indispensable
field is all white. Fields to avoid are red and hatched, fields that no run enters dotted, walls are walls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from waypost.arguments import checked
from waypost.errors import ArgumentError
from waypost.importance.reading import kind_of
from waypost.importance.results import Bounds, Explanation, Kind
from waypost.report.canvas import empty_figure
from waypost.report.coordinates import (
    Coordinates,
    Field,
    field_name,
    marks_of,
    needed_coordinates,
    open_fields,
    unknown_fields,
)
from waypost.report.palette import Palette, Theme, matplotlib, palette
from waypost.report.tiles import CALLED, FILLS, TILE, Frame, dress, frame_of, thing, tile_size, walls_between
from waypost.report.view import explained_scope
from waypost.report.wording import SCOPE_TITLES, printable, span

TEAL, RED, WHITE, FLOOR = "#2a9d8f", "#c8102e", "#ffffff", "#14171a"
FACING = {"right": (1, 0), "down": (0, 1), "left": (-1, 0), "up": (0, -1)}
NEVER: dict[str, Any] = {"facecolor": "#eceff1", "hatch": "..."}
NUMBERED = 150  # fields of a picture that has numbers by itself


@checked
def plot_grid(
    explanation: Explanation,
    *,
    coordinates: Mapping[Any, Field] | None = None,
    scope: str | None = None,
    numbers: bool | None = None,
    theme: Theme = "light",
) -> Any:
    """Gridworld and its heat map, side by side.

    A field shows the bounds of passing any of its states. Where it has one, they are those of the state; where it has
    several, the explanation has to carry them: ``explain(..., groups=fields_of(mdp))``. ``explanation.plot("grid")``
    asks for what is missing.

    Parameters
    ----------
    explanation
        What to draw.
    coordinates
        Column and row of each state, by name; read off the names when not given.
    scope
        Which bounds to show; by default those of the scope that tells most fields apart.
    numbers
        Write the bounds into the fields; by default where some lie between 0 and 1 and there is room.
    theme
        Light or dark paper.

    >>> from waypost.cases import gridworld
    >>> from waypost.importance import explain
    >>> from waypost.report import fields_of
    >>> figure = plot_grid(explain(gridworld(), target="goal", groups=fields_of(gridworld())))
    >>> [axis.get_title() for axis in figure.axes]
    ['the world', "importance for 'goal' (any strategy)"]
    """
    mdp = explanation.mdp
    if scope is not None:
        scope = explained_scope(explanation, scope)
    places = needed_coordinates(mdp, coordinates)
    shares = _shares(explanation, coordinates, places)
    scope = scope or _telling(explanation, shares)
    worth = {at: bounds[scope] for at, bounds in shares.items()}
    never = _never_entered(explanation, places, scope)
    colours, frame = palette(theme), frame_of(places)
    size = tile_size(frame)
    figure = empty_figure(
        figsize=(2 * max(2.6, frame.wide * size) + 0.5, frame.high * size + 1.1),
        facecolor=colours.paper,
        layout="constrained",
    )
    world, heat = figure.subplots(1, 2)
    marks = marks_of(explanation, places)
    _tiles(world, explanation, places, marks, frame)
    if numbers is None:
        numbers = len(worth) <= NUMBERED and any(0 < bound < 1 for bounds in worth.values() for bound in bounds)
    _overlay(heat, worth, never, frame, numbers=numbers)
    for axis, ink in ((world, "#d9dde1"), (heat, "#1d2329")):
        walls_between(axis, mdp, places, marks, ink=ink)
    target = printable(explanation.target, 30)
    dress(world, "the world", frame, colours)
    dress(heat, f"importance for {target} ({SCOPE_TITLES[scope]})", frame, colours)
    walls = any(at not in worth for at in frame.fields())
    shown = sorted({*marks.values(), *(["wall"] if walls else [])} & {*FILLS})
    _legend(figure, worth, never, colours, scope=scope, marks=shown)
    return figure


def _shares(
    explanation: Explanation, coordinates: Mapping[Any, Field] | None, places: Coordinates
) -> dict[Field, Mapping[str, Bounds]]:
    """Bounds of each field by scope, as a whole: those of its one state, or of the group that it is."""
    missing = unknown_fields(explanation, coordinates)
    if missing:
        field, states = next(iter(missing.items()))
        raise ArgumentError(
            f"this explanation does not say how important it is to pass {field}, which is {len(states)} of its states; "
            'draw it with explanation.plot("grid"), or explain with groups=waypost.report.fields_of(mdp)'
        )
    asked = {int(state): k for k, state in enumerate(explanation.asked.tolist())}
    groups = explanation.groups
    return {
        at: groups[name] if (name := field_name(at)) in groups else explanation.at(asked[state])
        for state, at in places.items()
    }


def _telling(explanation: Explanation, shares: Mapping[Field, Mapping[str, Bounds]]) -> str:
    """Scope that tells most fields apart; the main one where several do."""
    different = {scope: len({bounds[scope] for bounds in shares.values()}) for scope in explanation.scopes}
    main = explanation.main_scope
    return max(different, key=lambda scope: (different[scope], scope == main)) if different else main


def _never_entered(explanation: Explanation, places: Coordinates, scope: str) -> set[Field]:
    """Fields that no run enters, as far as was asked."""
    if scope != explanation.main_scope and scope == "strategy":
        return set()
    entered: dict[Field, bool] = {}
    for k, state in enumerate(explanation.asked.tolist()):
        if state in places:
            reached = explanation.kinds[k] is not Kind.UNREACHABLE
            entered[places[state]] = entered.get(places[state], False) or reached
    return {at for at, reached in entered.items() if not reached}


def _tiles(axis: Any, explanation: Explanation, places: Coordinates, marks: Mapping[Field, str], frame: Frame) -> None:
    """Draw the world: dark floor, orange lava, blue holes, the green goal, key, door, and the agent's red triangle."""
    patches = matplotlib("patches")
    floor, parted = set(places.values()), open_fields(explanation.mdp, places, marks)
    for x, y in frame.fields():
        mark = marks.get((x, y), "floor" if (x, y) in floor else "wall")
        fill = FLOOR if (x, y) in parted else FILLS.get(mark, FLOOR)
        axis.add_patch(patches.Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=fill, **TILE))
        if (x, y) in parted:  # it stands there in some states
            inner = {"fill": False, "edgecolor": FILLS.get(mark, "none"), "linewidth": 3}
            axis.add_patch(patches.Rectangle((x - 0.45, y - 0.45), 0.9, 0.9, **inner))
        elif mark == "lava":
            across = np.linspace(x - 0.38, x + 0.38, 30)
            for shift in (-0.2, 0.02, 0.24):
                axis.plot(across, y + shift + 0.05 * np.sin((across - x) * 16), color="#5c2a00", linewidth=1.1)
        if mark in {"key", "door"}:
            thing(axis, (x, y), mark)
    if explanation.mdp.initial in places:
        _agent(axis, explanation, *places[explanation.mdp.initial])


def _agent(axis: Any, explanation: Explanation, x: int, y: int) -> None:
    """Draw the agent where it begins, as it looks where the model says so."""
    facing = explanation.mdp.variables.get("facing")
    looks = str(facing.at(explanation.mdp.initial)) if facing is not None else "right"
    a, b = FACING.get(looks, (1, 0))
    corners = [(-0.26, -0.3), (0.32, 0.0), (-0.26, 0.3)]
    turned = [(x + u * a - v * b, y + u * b + v * a) for u, v in corners]
    patch = matplotlib("patches").Polygon(turned, facecolor="#e5243b", edgecolor="#ffffff", linewidth=0.6)
    axis.add_patch(patch)


def _overlay(axis: Any, worth: Mapping[Field, Bounds], never: set[Field], frame: Frame, *, numbers: bool) -> None:
    patches = matplotlib("patches")
    for x, y in frame.fields():
        bounds = worth.get((x, y))
        style = NEVER if (x, y) in never else {"facecolor": FILLS["wall"]} if bounds is None else _look(bounds)
        axis.add_patch(patches.Rectangle((x - 0.5, y - 0.5), 1, 1, **TILE, **style))
        if bounds is None or (x, y) in never:
            continue
        if 0 < bounds.lower < 1:
            side = float(np.sqrt(float(bounds.lower)))
            axis.add_patch(patches.Rectangle((x - side / 2, y - side / 2), side, side, facecolor=WHITE, linewidth=0))
        if numbers:
            ink = "#ffffff" if kind_of(bounds) is Kind.DETRIMENTAL else "#101418"
            text = span(bounds).replace(" to ", "\nto ")
            axis.text(x, y, text, ha="center", va="center", color=ink, fontsize=6.5)


def _look(bounds: Bounds) -> dict[str, Any]:
    colors = matplotlib("colors")
    kind = kind_of(bounds)
    if kind is Kind.INDISPENSABLE:
        return {"facecolor": WHITE}
    if kind is Kind.DETRIMENTAL:
        return {"facecolor": RED, "hatch": "///"}
    pale, full = np.array(colors.to_rgb("#d7e9e6")), np.array(colors.to_rgb(TEAL))
    return {"facecolor": tuple(pale + (full - pale) * float(bounds.upper))}


def _legend(
    figure: Any, worth: Mapping[Field, Bounds], never: set[Field], colours: Palette, *, scope: str, marks: list[str]
) -> None:
    """Explain the looks that occur."""
    patches = matplotlib("patches")
    seen = [bounds for at, bounds in worth.items() if at not in never]
    kinds = {kind_of(bounds) for bounds in seen}
    entries: dict[str, dict[str, Any]] = {}
    if Kind.INDISPENSABLE in kinds:
        entries["indispensable (1)"] = _look(Bounds(1, 1))
    between = {float(bounds.upper) for bounds in seen if bounds.upper > 0 and bounds.lower < 1}
    if 1.0 in between:
        entries["can be passed by all (up to 1)"] = _look(Bounds(0, 1))
    if between - {1.0}:
        entries["by some (up to 0.3)"] = _look(Bounds(0, 0.3))
    if Kind.DETRIMENTAL in kinds:
        entries["to avoid (0)" if scope == "all" else "not passed (0)"] = _look(Bounds(0, 0))
    if never:
        entries["never reached"] = NEVER
    entries |= {CALLED.get(mark, mark): {"facecolor": FILLS[mark]} for mark in marks}
    handles = [patches.Patch(label=label, **TILE, **style) for label, style in entries.items()]
    title = "white square: the share that must pass" if any(0 < bounds.lower < 1 for bounds in seen) else None
    look = {"frameon": False, "fontsize": 7.5, "labelcolor": colours.ink, "title": title, "title_fontsize": 7.5}
    made = figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)), **look)
    made.get_title().set_color(colours.ink)
