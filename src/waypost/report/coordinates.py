"""Where states stand on a grid: given, or read off names such as ``x=3, y=1``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from waypost.errors import unknown_name
from waypost.model import MDP

Coordinates = Mapping[int, tuple[int, int]]  # state -> (column, row); rows grow downwards

_PAIRS = (("x", "y"), ("col", "row"), ("column", "row"))


def coordinates_of(mdp: MDP, given: Mapping[str, tuple[int, int]] | Coordinates | None = None) -> Coordinates | None:
    """Coordinates of the states, by position; None where the model has none.

    `given` may name the states. Without it, a state whose name or label assigns ``x`` and ``y`` (or ``col`` and
    ``row``) stands there; at least half of the states must.

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
        if 2 * len(found) >= mdp.n_states:
            return found
    return None


def _read(name: str, across: str, down: str) -> tuple[int, int] | None:
    x = re.search(rf"(?<![\w.]){across}\s*=\s*(-?\d{{1,6}})(?!\w)", name)
    y = re.search(rf"(?<![\w.]){down}\s*=\s*(-?\d{{1,6}})(?!\w)", name)
    return (int(x[1]), int(y[1])) if x and y else None
