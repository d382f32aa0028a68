"""Minigrid worlds: what a state is called, what stands where, and how a world is put back to where it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.environments.chance import Chance
from waypost.errors import FormatError
from waypost.model import MDP

FACING = ("right", "down", "left", "up")
STILL = frozenset({"wall", "floor", "lava", "goal"})  # never changes, so it is no part of a state
MARKED = frozenset({"lava", "key", "door", "ball", "box"})  # gets a label


def is_minigrid(world: Any) -> bool:
    """Whether a world is one of Minigrid's."""
    return hasattr(world, "agent_pos") and hasattr(world, "grid") and hasattr(world, "carrying")


def minigrid_state(env: Any) -> str:
    """Name the state of a Minigrid world: the agent, what it carries, and the doors, keys and boxes that can change.

    The walls are left out; they are the same everywhere.
    """
    world = env.unwrapped
    if not is_minigrid(world):
        raise FormatError(f"{type(world).__name__} is no Minigrid world; pass key=, a function that names its state")
    x, y = world.agent_pos
    parts = [f"x={int(x)}, y={int(y)}, facing={FACING[world.agent_dir]}"]
    if world.carrying is not None:
        parts.append(f"carrying={world.carrying.color}_{world.carrying.type}")
    changing = [
        (place % world.grid.width, place // world.grid.width, cell)
        for place, cell in enumerate(world.grid.grid)
        if cell is not None and cell.type not in STILL
    ]
    for column, row, cell in sorted(changing, key=lambda found: found[:2]):
        kind = cell.type
        if kind == "door":
            kind = "open" if cell.is_open else "locked" if cell.is_locked else "closed"
        parts.append(f"at_{column}_{row}={cell.color}_{kind}")
    return ", ".join(parts)


class MinigridWorlds:
    """Names the states of several Minigrid worlds.

    A reset may put walls, lava and goals elsewhere, or ask for something else. Worlds that differ so are told apart by
    a variable ``world``, numbered in the order in which they are met.
    """

    def __init__(self) -> None:
        self.met: dict[tuple[Any, ...], int] = {}

    def number(self, env: Any) -> int:
        """Number of the world as it is now."""
        world = env.unwrapped
        still = (cell if cell is not None and cell.type in STILL else None for cell in world.grid.grid)
        plan = tuple(None if cell is None else (cell.type, cell.color) for cell in still)
        return self.met.setdefault((world.mission, world.grid.width, plan), len(self.met) + 1)

    def state(self, env: Any) -> str:
        """Name of the state as `minigrid_state` has it, with the number of its world."""
        return f"world={self.number(env)}, {minigrid_state(env)}"


def minigrid_labels(mdp: MDP, worlds: Iterable[tuple[int, Any]]) -> dict[str, NDArray[np.bool_]]:
    """What stands on the fields when an episode begins, as labels of the states whose agent is there.

    `worlds` are given one after the other, with their numbers. A key stands where it lay at the beginning. Walls have
    no states.
    """
    columns = mdp.variables
    if "x" not in columns or "y" not in columns:
        return {}
    x, y = columns["x"], columns["y"]
    labels: dict[str, NDArray[np.bool_]] = {}
    for number, world in worlds:
        inside = x.defined & y.defined
        if "world" in columns:
            inside &= columns["world"].values == number
        for place, cell in enumerate(world.grid.grid):
            if cell is not None and cell.type in MARKED:
                here = inside & (x.values == place % world.grid.width) & (y.values == place // world.grid.width)
                labels[cell.type] = labels.get(cell.type, np.zeros(mdp.n_states, bool)) | here
    return {name: mask for name, mask in labels.items() if mask.any()}


class MinigridMemory:
    """Puts one Minigrid world back to where it was, in place of copying it for every step.

    Saved are the attributes of the world, which of its objects stands on which field, and the attributes of those
    objects that can change. Observations are not made: nobody looks at them while a world is explored.
    """

    trusted = True

    def __init__(self, world: Any) -> None:
        self.world = world
        self.world.gen_obs = dict

    def save(self, world: Any) -> tuple[Any, ...]:
        """What tells this moment from others."""
        cells = list(world.grid.grid)
        return dict(vars(world)), cells, [(thing, dict(vars(thing))) for thing in _things(world.carrying, *cells)]

    def load(self, saved: tuple[Any, ...]) -> tuple[Any, Chance]:
        """The world as it was, which draws from nothing but its own generator."""
        attributes, cells, things = saved
        vars(self.world).update(attributes)
        self.world.grid.grid[:] = cells
        for thing, had in things:
            vars(thing).update(had)
        return self.world, Chance([self.world.np_random])

    def close(self) -> None:
        """Let the world look around again."""
        del self.world.gen_obs


def _things(*cells: Any) -> Iterator[Any]:
    for cell in cells:
        if cell is not None and cell.type not in STILL:
            yield cell
            yield from _things(cell.contains)
