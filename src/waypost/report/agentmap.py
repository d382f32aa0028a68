"""An agent on the map of its world: what it does on each field, where that costs success, and where its runs end.

A field is redder the more success is lost on it. Dark arrows are what the agent does there, the longer the more often;
a green arrow is the best in the state of the field in which most is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from waypost.model import MDP
from waypost.report.canvas import empty_figure
from waypost.report.coordinates import Coordinates, Field, marks_on, needed_coordinates, open_fields
from waypost.report.palette import Palette, Theme, matplotlib, palette
from waypost.report.tiles import CALLED, FILLS, TILE, Frame, dress, frame_of, thing, tile_size, walls_between
from waypost.report.wording import chance, count, number, percent, printable

if TYPE_CHECKING:
    from waypost.agents import AgentExplanation

HEADINGS = {
    "left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1),
    "west": (-1, 0), "east": (1, 0), "north": (0, -1), "south": (0, 1),
}  # fmt: skip
TURNING = "facing"  # a variable; where there is one, left and right are turns
SHOWN = 0.05  # actions taken less often are not drawn
TOLD = 0.1  # of actions that lead nowhere
SEEN = 0.0005  # of success, or of the runs; less is written as 0
WRITTEN = 0.4  # inches of a field, in which a number can be read
CALLED_AGENTS = ("agent", "other")
TAKEN, BEST, MET, NEVER, LOST = "#1d2329", "#0f7b3f", "#fdfdfb", "#d9dde1", "#d7301f"


@dataclass
class _Spot:
    """What happens on one field."""

    met: bool = False
    visits: float = 0.0  # where it does anything
    cost: float = 0.0
    moves: dict[Field, float] = field(default_factory=dict)  # by direction, how often
    words: dict[str, float] = field(default_factory=dict)  # actions that lead nowhere, how often
    best: tuple[Field, ...] = ()  # where most is lost
    advice: str = ""  # the best there, where it leads nowhere
    ends: float = 0.0  # share of the runs that end here without the target
    round: bool = False  # some of them go round

    @property
    def stays(self) -> bool:
        """Whether it is said above the arrows how many end here, or go round for ever."""
        return self.ends >= SEEN and bool(self.moves)


def plot_agent(
    explanation: AgentExplanation, *, coordinates: Mapping[Any, Field] | None = None, theme: Theme = "light"
) -> Any:
    r"""Map of an agent with arrows; of two agents, one beside the other.

    >>> from waypost import MDP, explain_agent
    >>> mdp = MDP.from_dict(
    ...     {"x=0, y=0": {"right": "x=1, y=0", "stay": "x=0, y=0"}, "x=1, y=0": {}}, initial="x=0, y=0"
    ... )
    >>> figure = plot_agent(explain_agent(mdp, {"x=0, y=0": "right"}, target="x=1, y=0"))
    >>> figure.axes[0].get_title()
    "the agent reaches 'x=1, y=0'\nwith 1; 1 is possible"
    """
    places = needed_coordinates(explanation.mdp, coordinates)
    frame, colours = frame_of(places), palette(theme)
    world = seen_by(explanation, places)
    wide, high = frame.wide, frame.high
    size = tile_size(frame)
    least = 4.2 if len(world.agents) == 1 else 3.4
    shape = (len(world.agents) * max(least, wide * size) + 0.3, high * size + 1.15)
    figure = empty_figure(figsize=shape, facecolor=colours.paper, layout="constrained")
    axes = figure.subplots(1, len(world.agents), squeeze=False)[0]
    for axis, agent, called in zip(axes, world.agents, CALLED_AGENTS, strict=False):
        draw(axis, world, agent, places, frame)
        dress(axis, _title(agent, f"the {called} "), frame, colours)
    _legend(figure, legend(world), colours)
    return figure


class Seen(NamedTuple):
    """What the maps of an agent, or of two, have to show."""

    agents: dict[AgentExplanation, dict[Field, _Spot]]  # what happens to each on every field
    worst: float  # what is lost on the field on which most is
    marks: tuple[str, ...]  # what stands on fields
    never: bool  # whether some field is never met


def seen_by(explanation: AgentExplanation, places: Coordinates) -> Seen:
    """What happens to the agent, and to the other one, on every field."""
    agents = {agent: _spots(agent, places) for agent in (explanation, explanation.against) if agent is not None}
    spots = list(agents.values())
    marks = _marks(explanation, places)
    shown = {mark for mark in marks.values() if mark in FILLS}
    walls = {"wall"} if any(at not in spots[0] for at in frame_of(places).fields()) else set()
    plain = [spot for found in spots for at, spot in found.items() if marks.get(at) not in FILLS]
    return Seen(
        agents,
        worst=max((spot.cost for found in spots for spot in found.values()), default=0.0),
        marks=tuple(sorted(shown | walls)),
        never=any(not spot.met for spot in plain),
    )


def _marks(explanation: AgentExplanation, places: Coordinates) -> dict[Field, str]:
    return marks_on(explanation.mdp, explanation.mdp.where(explanation.names), places)


def _title(agent: AgentExplanation, called: str) -> str:
    within = "" if agent.within is None else f" within {count(agent.within, 'step')}"
    late = f", {percent(agent.late)} are late" if agent.late >= SEEN else ""
    told = f"with {chance(agent.success)}; {chance(agent.best)} is possible{late}"
    return f"{called}reaches {printable(agent.target, 24)}{within}\n{told}"


def _spots(explanation: AgentExplanation, places: Coordinates) -> dict[Field, _Spot]:
    """What happens on each field, over all its states."""
    mdp = explanation.mdp
    spots = {at: _Spot() for at in set(places.values())}
    costliest: dict[Field, float] = {}
    for place in explanation.places:
        state = mdp.state(place.state)
        if state not in places or place.visits <= 0:
            continue
        at = places[state]
        spot = spots[at]
        weight = place.visits if np.isfinite(place.visits) else 1.0
        spot.visits += weight
        spot.cost += place.cost
        for action, share in place.taken.items():
            way = heading(mdp, places, state, action)
            kept: dict[Any, float] = spot.words if way is None else spot.moves
            key = action if way is None else way
            kept[key] = kept.get(key, 0.0) + weight * share
        if place.cost > max(costliest.get(at, 0.0), 1e-9):
            costliest[at] = place.cost
            ways = (heading(mdp, places, state, action) for action in place.best)
            spot.best = tuple(dict.fromkeys(way for way in ways if way is not None))[:2]
            spot.advice = "" if spot.best else _advice(mdp, place.best)
    _led(explanation, places, spots)
    for spot in spots.values():
        if spot.cost < SEEN:
            spot.best, spot.advice = (), ""
    for fate in explanation.fates:
        if fate.late:
            continue
        states = (mdp.state(state) for state in fate.states)
        standing = [places[s] for s in states if s in places]
        if standing:
            spots[standing[0]].ends += fate.probability
            spots[standing[0]].round |= not mdp.is_final[mdp.state(fate.states[0])]
    for state in np.flatnonzero(explanation.conduct.met).tolist():
        if state in places:
            spots[places[state]].met = True
    return spots


def _led(explanation: AgentExplanation, places: Coordinates, spots: Mapping[Field, _Spot]) -> None:
    """Add where the agent is led in states that leave it no choice."""
    mdp, visits = explanation.mdp, explanation.conduct.visits
    going = (np.diff(mdp.first_choice) == 1) & ~mdp.is_final & ~mdp.where(explanation.names) & (visits > 0)
    for state in np.flatnonzero(going).tolist():
        way = heading(mdp, places, state, mdp.actions_of(state)[0]) if state in places else None
        if way is not None:
            spot, weight = spots[places[state]], float(visits[state]) if np.isfinite(visits[state]) else 1.0
            spot.visits += weight
            spot.moves[way] = spot.moves.get(way, 0.0) + weight


def heading(mdp: MDP, places: Coordinates, state: int, action: str) -> Field | None:
    """Direction of an action on the grid: what its name says, or where it leads; None for one that leads nowhere.

    In a world with a heading of its own (``facing``), left and right are turns.
    """
    if TURNING not in mdp.variables and action.lower() in HEADINGS:
        return HEADINGS[action.lower()]
    if action not in mdp.actions_of(state):
        return None
    row = mdp.transitions[[mdp.choice(state, action)]].tocoo()
    x, y = places[state]
    moved = np.zeros(2)
    for to, p in zip(row.col.tolist(), row.data.tolist(), strict=True):
        if to in places:
            moved += p * (np.array(places[to]) - (x, y))
    if np.abs(moved).max() < 0.2 or np.abs(moved).max() > 1.5:  # it stays, or is put somewhere else
        return None
    return int(np.sign(round(moved[0], 1))), int(np.sign(round(moved[1], 1)))


def _advice(mdp: MDP, actions: Sequence[str]) -> str:
    """What to do by actions that lead nowhere: left and right are turns in a world with a heading."""
    if TURNING not in mdp.variables or not {*actions} & {"left", "right"}:
        return " or ".join(actions[:2])
    return "turn" if {*actions} >= {"left", "right"} else f"turn {'left' if 'left' in actions else 'right'}"


def draw(
    axis: Any, seen: Seen, agent: AgentExplanation, places: Coordinates, frame: Frame, called: str = "field"
) -> None:
    """Draw the fields of a frame; the group of each is called by its column and row, ``field-3-2``."""
    patches = matplotlib("patches")
    spots, world = seen.agents[agent], agent.mdp
    marks = _marks(agent, places)
    parted, readable = open_fields(world, places, marks), tile_size(frame) >= WRITTEN
    for at in frame.fields():
        spot, mark = spots.get(at), marks.get(at, "")
        passed = at in parted or (mark == "goal" and spot is not None and spot.visits > 0)  # it stands there for some
        fill = FILLS["wall"] if spot is None else FILLS.get("" if passed else mark) or _fill(spot, seen.worst)
        tile = patches.Rectangle((at[0] - 0.5, at[1] - 0.5), 1, 1, facecolor=fill, **TILE)
        tile.set_gid(f"{called}-{at[0]}-{at[1]}")
        axis.add_patch(tile)
        if passed:
            inner = {"fill": False, "edgecolor": FILLS.get(mark, "none"), "linewidth": 3}
            axis.add_patch(patches.Rectangle((at[0] - 0.45, at[1] - 0.45), 0.9, 0.9, **inner))
        if spot is None:
            continue
        if mark in {"key", "door"}:
            thing(axis, at, mark, floor="none")
        _arrows(axis, at, spot)
        if spot.ends >= SEEN and readable:
            _ends(axis, at, spot, "#ffffff" if FILLS.get(mark) and not passed else TAKEN)
        if spot.cost >= SEEN and readable:
            axis.text(at[0], at[1] + 0.47, f"-{number(spot.cost)}", ha="center", va="bottom", fontsize=6.5, color=TAKEN)
    walls_between(axis, world, places, marks, ink=TAKEN)
    if world.initial in places:
        x, y = places[world.initial]
        written = spots[x, y].words or spots[x, y].advice or spots[x, y].stays  # above the arrows
        above = {"y": y - 0.46, "va": "top"}
        beside = {"y": y + 0.46, "va": "bottom", "rotation": 90}  # the cost, which stands below
        axis.text(x - 0.46, s="start", ha="left", fontsize=6, color="#5d6670", **(beside if written else above))


def _ends(axis: Any, at: Field, spot: _Spot, ink: str) -> None:
    """Say how many runs end on a field, beside the arrows of those that go round for ever."""
    share = percent(1.0 if spot.ends > 1 - 1e-9 else spot.ends)
    if spot.stays:
        told = f"{share} {'stay' if spot.round else 'end'}"
        axis.text(at[0], at[1] - 0.46, told, ha="center", va="top", fontsize=6.5, color=ink)
    else:
        axis.text(*at, f"{share}\nend", ha="center", va="center", fontsize=7, color=ink)


def _fill(spot: _Spot, worst: float) -> Any:
    if not spot.met:
        return NEVER
    colors = matplotlib("colors")
    pale, full = np.array(colors.to_rgb(MET)), np.array(colors.to_rgb(LOST))
    return tuple(pale + (full - pale) * 0.75 * (spot.cost / worst if worst else 0.0))


def _arrows(axis: Any, at: Field, spot: _Spot) -> None:
    moving = sum(spot.moves.values())
    drawn = {way: often / moving for way, often in spot.moves.items() if often >= SHOWN * moving}
    for way in spot.best:
        if spot.moves.get(way, 0.0) < (1 - SHOWN) * spot.visits:
            wide = {"width": 0.13, "head": 0.3} if way in drawn else {"width": 0.03}  # a rim around what is taken
            _arrow(axis, at, way, 0.46 if way in drawn else 0.4, color=BEST, zorder=3, **wide)
    for way, share in drawn.items():
        ahead = 0.16 if len(drawn) > 1 else 0.0
        _arrow(axis, at, way, 0.15 + 0.27 * share, ahead=ahead, color=TAKEN, width=0.045, zorder=4)
    told = [name for name, often in spot.words.items() if name not in HEADINGS and often >= TOLD * spot.visits]
    words, ink = (spot.advice, BEST) if spot.advice else (", ".join(told[:2]), TAKEN)
    if words and not spot.stays:
        axis.text(
            at[0], at[1] - 0.47, printable(words, 24), ha="center", va="top", fontsize=5.5, color=ink, parse_math=False
        )


def _arrow(
    axis: Any,
    at: Field,
    way: Field,
    length: float,
    *,
    color: str,
    zorder: int,
    width: float,
    head: float = 0.17,
    ahead: float = 0.0,
) -> None:
    patches = matplotlib("patches")
    x, y = at
    axis.add_patch(
        patches.FancyArrow(
            x + (ahead - 0.08) * way[0],
            y + (ahead - 0.08) * way[1],
            length * way[0],
            length * way[1],
            width=width,
            head_width=head,
            head_length=0.76 * head,
            length_includes_head=True,
            facecolor=color,
            edgecolor="none",
            zorder=zorder,
        )
    )


def legend(seen: Seen) -> list[tuple[str, str, str]]:
    """What is on the maps: "arrow" or "tile", its colour, and what it means."""
    found = [("arrow", TAKEN, "taken")]
    if any(spot.best or spot.advice for spots in seen.agents.values() for spot in spots.values()):
        found.append(("arrow", BEST, "best, where most is lost"))
    if seen.worst > 0:
        full = matplotlib("colors").to_hex(_fill(_Spot(met=True, cost=seen.worst), seen.worst))
        found.append(("tile", full, f"loses {number(seen.worst)} of success"))
    if seen.never:
        found.append(("tile", NEVER, "never met"))
    return found + [("tile", FILLS[mark], CALLED.get(mark, mark)) for mark in seen.marks]


def _legend(figure: Any, meanings: Sequence[tuple[str, str, str]], colours: Palette) -> None:
    lines, patches = matplotlib("lines"), matplotlib("patches")
    arrow = {"linestyle": "none", "markersize": 9, "marker": r"$\rightarrow$"}
    handles = [
        lines.Line2D([], [], color=colours.ink if colour == TAKEN else colour, label=meaning, **arrow)
        if shape == "arrow"
        else patches.Patch(facecolor=colour, label=meaning, **TILE)
        for shape, colour, meaning in meanings
    ]
    look = {"frameon": False, "fontsize": 7.5, "labelcolor": colours.ink}
    figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)), **look)
