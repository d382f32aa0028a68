"""Maps of agents that stand inside a page: SVG without title and legend, for which the page has words of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from waypost.report.agentmap import Seen, draw, legend, seen_by
from waypost.report.canvas import empty_figure
from waypost.report.coordinates import Coordinates
from waypost.report.palette import palette
from waypost.report.plot import to_bytes
from waypost.report.tiles import Frame, dress, frame_of, tile_size

if TYPE_CHECKING:
    from waypost.agents import AgentExplanation

SIZE = 0.78  # of a field's: what is written on it is larger
WIDEST = 9  # rem of a field
SIDE = 30  # fields; of a larger world, the part in which most is lost is shown


class PageMaps(NamedTuple):
    """Maps of the same part of the world, one for each agent."""

    drawings: list[str]  # SVG; the group of a field is called ``field-0-3-2``: agent, column, row
    legend: list[tuple[str, str, str]]  # "arrow" or "tile", its colour, what it means
    shown: Frame
    whole: Frame


def page_maps(explanation: AgentExplanation, places: Coordinates) -> PageMaps:
    """Map of each agent, as SVG that may stand inside HTML: it refers to nothing, and styles nothing around it.

    >>> from waypost import MDP, explain_agent
    >>> steps = {"x=0, y=0": {"right": "x=1, y=0", "stay": "x=0, y=0"}, "x=1, y=0": {}}
    >>> found = explain_agent(MDP.from_dict(steps, initial="x=0, y=0"), {"x=0, y=0": "right"}, target="x=1, y=0")
    >>> maps = page_maps(found, {0: (0, 0), 1: (1, 0)})
    >>> maps.drawings[0][:13], 'id="field-0-1-0"' in maps.drawings[0], maps.legend[0]
    ('<svg viewBox=', True, ('arrow', '#1d2329', 'taken'))
    """
    world, whole = seen_by(explanation, places), frame_of(places)
    shown = _window(world, whole)
    size = SIZE * tile_size(shown)
    drawings = []
    for k, agent in enumerate(world.agents):
        figure = empty_figure(figsize=(shown.wide * size, shown.high * size), facecolor="none")
        axis = figure.add_axes((0, 0, 1, 1))
        draw(axis, world, agent, places, shown, called=f"field-{k}")
        dress(axis, "", shown, palette("light"))
        look = f'style="max-width: {WIDEST * shown.wide}rem"'
        drawings.append(_bare(to_bytes(figure, "svg").decode(), f"map{k}-", look))
    return PageMaps(drawings, legend(world), shown, whole)


def _window(world: Seen, whole: Frame) -> Frame:
    """Part of the world of at most so many fields a side in which most is lost, or most visits are."""
    wide, high = min(SIDE, whole.wide), min(SIDE, whole.high)
    lost = np.zeros((whole.high + 1, whole.wide + 1))
    for spots in world.agents.values():
        for (x, y), spot in spots.items():
            lost[y - whole.top + 1, x - whole.left + 1] += spot.cost if world.worst else spot.visits
    sums = lost.cumsum(axis=0).cumsum(axis=1)
    inside = sums[high:, wide:] - sums[:-high, wide:] - sums[high:, :-wide] + sums[:-high, :-wide]
    down, right = np.unravel_index(int(inside.argmax()), inside.shape)
    left, top = whole.left + int(right), whole.top + int(down)
    return Frame(left, left + wide - 1, top, top + high - 1)


def _bare(svg: str, own: str, look: str) -> str:
    """SVG without what would reach beyond it: its prolog, its style sheet, addresses, and common names."""
    text = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    text = re.sub(r'id="(?!field-)|(?<=url\(#)|(?<=xlink:href="#)', lambda found: found[0] + own, text)
    return re.sub(r'^.*?<svg[^>]*?(viewBox="[^"]*")[^>]*>', rf"<svg \1 {look}>", text, count=1, flags=re.DOTALL)
