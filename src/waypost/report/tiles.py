"""What the pictures of a gridworld share: fields, walls, what stands on a field, and the frame around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from waypost.model import MDP
from waypost.report.coordinates import Coordinates, Field
from waypost.report.palette import Palette, matplotlib

GOLD = "#f4c430"
FILLS = {"lava": "#ff8c1a", "cliff": "#a5682a", "hole": "#3f6fa8", "goal": "#35a853", "wall": "#8d949b"}
NO_FLOOR = frozenset({"lava", "cliff", "hole", "wall"})
CALLED = {"wall": "wall or out of reach"}  # in legends: a field that no state is on
TILE = {"edgecolor": "#4a5057", "linewidth": 0.8}


class Frame(NamedTuple):
    """Columns and rows that a picture shows, the last ones included."""

    left: int
    right: int
    top: int
    bottom: int

    @property
    def wide(self) -> int:
        """Number of columns."""
        return self.right - self.left + 1

    @property
    def high(self) -> int:
        """Number of rows."""
        return self.bottom - self.top + 1

    def fields(self) -> Iterator[Field]:
        """Every field, row by row."""
        return ((x, y) for y in range(self.top, self.bottom + 1) for x in range(self.left, self.right + 1))


def frame_of(places: Coordinates) -> Frame:
    """Frame around all states.

    >>> frame_of({0: (1, 1), 1: (3, 2)})
    Frame(left=1, right=3, top=1, bottom=2)
    """
    xs, ys = zip(*places.values(), strict=True)
    return Frame(min(xs), max(xs), min(ys), max(ys))


def tile_size(frame: Frame) -> float:
    """Inches of a field."""
    return min(0.75, 7 / max(frame.wide, frame.high))


def thing(axis: Any, at: Field, mark: str, *, floor: str = "#5a4300") -> None:
    """Draw a key or a door, its leaf as dark as the floor asks."""
    patches, (x, y) = matplotlib("patches"), at
    if mark == "door":
        axis.add_patch(
            patches.Rectangle((x - 0.36, y - 0.4), 0.72, 0.8, facecolor=floor, edgecolor=GOLD, linewidth=1.8)
        )
        axis.add_patch(patches.Circle((x + 0.2, y), 0.07, facecolor=GOLD))
        return
    axis.add_patch(patches.Circle((x + 0.05, y - 0.2), 0.15, fill=False, edgecolor=GOLD, linewidth=2.4))
    axis.plot([x + 0.05, x + 0.05], [y - 0.05, y + 0.34], color=GOLD, linewidth=2.4)
    for shift in (0.18, 0.32):
        axis.plot([x - 0.13, x + 0.05], [y + shift, y + shift], color=GOLD, linewidth=2.4)


def walls_between(axis: Any, mdp: MDP, places: Coordinates, marks: Mapping[Field, str], *, ink: str) -> None:
    """Draw a thick line between neighbours that no step joins, in a world of steps between neighbours.

    Fields in which runs end, or that are no floor, have no walls of their own.
    """
    joined = set(_joined(mdp, places))
    fields = set(places.values())
    left = {places[s] for s in places if not mdp.is_final[s]} - {at for at, mark in marks.items() if mark in NO_FLOOR}
    near = [(a, b) for a in fields for b in ((a[0] + 1, a[1]), (a[0], a[1] + 1)) if b in fields]
    closed = [pair for pair in near if pair not in joined and set(pair) <= left]
    if 2 * len(closed) > len(near):  # no world of steps between neighbours
        return
    for (x, y), (u, v) in closed:
        across = u > x
        ends = ([x + 0.5] * 2, [y - 0.5, y + 0.5]) if across else ([x - 0.5, x + 0.5], [v - 0.5] * 2)
        axis.plot(*ends, color=ink, linewidth=3, solid_capstyle="round", zorder=5)


def _joined(mdp: MDP, places: Coordinates) -> Iterator[tuple[Field, Field]]:
    matrix = mdp.transitions.tocoo()
    source = mdp.choice_state[matrix.row]
    for s, t in set(zip(source.tolist(), matrix.col.tolist(), strict=True)):
        if s in places and t in places and places[s] != places[t]:
            a, b = sorted((places[s], places[t]))
            yield a, b


def dress(axis: Any, title: str, frame: Frame, colours: Palette) -> None:
    """Frame, title and no ticks."""
    axis.set_xlim(frame.left - 0.5, frame.right + 0.5)
    axis.set_ylim(frame.bottom + 0.5, frame.top - 0.5)
    axis.set_aspect("equal")
    axis.set_title(title, fontsize=9, color=colours.ink, parse_math=False)
    axis.set_xticks([])
    axis.set_yticks([])
    for side in axis.spines.values():
        side.set_color("#4a5057")
