"""Where states stand on a grid: given, or read off names such as ``x=3, y=1``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.arguments import checked
from waypost.errors import ModelError, unknown_name
from waypost.importance.results import Explanation
from waypost.model import MDP

Field = tuple[int, int]
Coordinates = Mapping[int, Field]  # state -> (column, row); rows grow downwards

_WORDS = {
    "lava": ("lava", "trap"),
    "hole": ("hole", "pit"),
    "cliff": ("cliff",),
    "goal": ("goal", "target", "exit"),
    "key": ("key",),
    "door": ("door",),
    "wall": ("wall",),
}
_BARE = re.compile(r"\(?\s*(-?\d{1,6})\s*,\s*(-?\d{1,6})\s*\)?(?![\w,.])")
SPARSE = 3  # fields to one on which a state stands, at most
_PAIRS = (("x", "y"), ("col", "row"), ("column", "row"))


def coordinates_of(mdp: MDP, given: Mapping[Any, tuple[int, int]] | None = None) -> Coordinates | None:
    """Coordinates of the states, by position; None where the model has none.

    `given` may name the states. Without it, a state whose name assigns ``x`` and ``y`` (or ``col`` and ``row``) stands
    there, where at least half of the states do; so does one whose name starts like ``3,1``, where nearly all do. Where
    names do not begin with the two, ``x`` and ``y`` may be clocks: places fill a third of their grid.

    >>> mdp = MDP.from_dict({"x=0, y=0": {"go": "x=1, y=0"}, "x=1, y=0": {}}, initial="x=0, y=0")
    >>> coordinates_of(mdp)
    {0: (0, 0), 1: (1, 0)}
    """
    if given is not None:
        found = {}
        for state, (x, y) in given.items():
            if isinstance(state, str) and state not in mdp.index:
                raise unknown_name("state", state, mdp.states)
            found[mdp.index[state] if isinstance(state, str) else int(state)] = (int(x), int(y))
        return found or None
    for across, down in _PAIRS:
        found = {s: place for s, name in enumerate(mdp.states) if (place := _read(name, across, down))}
        if 2 * len(found) >= mdp.n_states and (across != "x" or _begin(mdp, across, down) or _fills(found)):
            return found
    found = {s: (int(pair[1]), int(pair[2])) for s, name in enumerate(mdp.states) if (pair := _BARE.match(name))}
    return found if 10 * len(found) >= 9 * mdp.n_states else None


@checked
def fields_of(mdp: MDP, coordinates: Mapping[Any, Field] | None = None) -> dict[str, list[str]]:
    """Names of the states on each field of a grid, as groups for `waypost.explain`.

    >>> from waypost.cases import gridworld
    >>> fields_of(gridworld())["column 1, row 7"]
    ['1,7', '1,7 with the key']
    """
    found: dict[str, list[str]] = {}
    for state, field in needed_coordinates(mdp, coordinates).items():
        found.setdefault(field_name(field), []).append(mdp.states[state])
    return found


@checked
def unknown_fields(explanation: Explanation, coordinates: Mapping[Any, Field] | None = None) -> dict[str, list[str]]:
    """Names of the states on each field whose bounds an explanation does not carry, as groups to ask for.

    >>> from waypost.cases import gridworld
    >>> from waypost.importance import explain
    >>> unknown_fields(explain(gridworld(), target="goal"))["column 1, row 7"]
    ['1,7', '1,7 with the key']
    """
    return {
        name: states
        for name, states in fields_of(explanation.mdp, coordinates).items()
        if name not in explanation.groups and not (len(states) == 1 and states[0] in explanation)
    }


def field_name(field: Field) -> str:
    """Name of a field as a group of states; models name labels otherwise."""
    return f"column {field[0]}, row {field[1]}"


def needed_coordinates(mdp: MDP, given: Mapping[Any, Field] | None = None) -> Coordinates:
    """Coordinates of the states, or an error that says how to give them."""
    places = coordinates_of(mdp, given)
    if places is None:
        raise ModelError(
            "the states of this model carry no coordinates; name them like 'x=3, y=1', "
            "or give coordinates={state: (x, y)}"
        )
    return places


def _begin(mdp: MDP, across: str, down: str) -> bool:
    """Whether the names of states begin with where they stand."""
    first = [part.partition("=")[0].strip() for part in mdp.states[mdp.initial].split(",")[:2]]
    return sorted(first) == sorted((across, down))


def _fills(found: Coordinates) -> bool:
    """Whether states stand on a fair part of the fields between the outermost ones."""
    fields = np.array(list(found.values()))
    width, height = np.ptp(fields, axis=0) + 1
    return bool(SPARSE * len(np.unique(fields, axis=0)) >= width * height)


def _read(name: str, across: str, down: str) -> tuple[int, int] | None:
    if "=" not in name:
        return None
    x = re.search(rf"(?<![\w.]){across}\s*=\s*(-?\d{{1,6}})(?!\w)", name)
    y = re.search(rf"(?<![\w.]){down}\s*=\s*(-?\d{{1,6}})(?!\w)", name)
    return (int(x[1]), int(y[1])) if x and y else None


def marks_of(explanation: Explanation, places: Coordinates) -> dict[Field, str]:
    """Find what stands on each field, from the labels of its states and the target."""
    return marks_on(explanation.mdp, explanation.target_states, places)


def marks_on(mdp: MDP, target: NDArray[np.bool_], places: Coordinates) -> dict[Field, str]:
    """Find what stands on each field, from labels, and the states of the target."""
    found: dict[Field, str] = {}
    for label, holds in mdp.labels.items():
        for mark in _said(label):
            found |= {places[s]: mark for s in np.flatnonzero(holds).tolist() if s in places}
    found |= {places[s]: "goal" for s in np.flatnonzero(target).tolist() if s in places}
    return found


def open_fields(mdp: MDP, places: Coordinates, marks: Mapping[Field, str]) -> set[Field]:
    """Fields on which something stands in some states only, such as lava in one world of several: others go on there.

    >>> steps = {"x=0, y=0": {"go": "x=1, y=0", "hop": "x=1, y=0, dry=true"}, "x=1, y=0": {}}
    >>> steps |= {"x=1, y=0, dry=true": {"go": "x=2, y=0"}, "x=2, y=0": {}}
    >>> mdp = MDP.from_dict(steps, initial="x=0, y=0", labels={"hole": ["x=1, y=0"]})
    >>> places = coordinates_of(mdp)
    >>> open_fields(mdp, places, marks_on(mdp, mdp.where("x=2"), places))
    {(1, 0)}
    """
    lacking: dict[str, NDArray[np.bool_]] = {}  # by mark: states that go on without it
    for label, holds in mdp.labels.items():
        for mark in _said(label):
            lacking[mark] = lacking.get(mark, ~mdp.is_final) & ~holds
    there = ((at, s, marks.get(at, "goal")) for s, at in places.items())
    return {at for at, s, mark in there if mark != "goal" and mark in lacking and lacking[mark][s]}


def _said(label: str) -> list[str]:
    """Marks that a label means."""
    words = label.lower().replace("_", " ").split()
    return [mark for mark, names in _WORDS.items() if any(name in words for name in names)]
