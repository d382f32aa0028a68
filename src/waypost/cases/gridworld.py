"""The gridworld of the paper's Fig. 4: fetch the key, cross the river of lava by the door, reach the goal.

::

    S . . # . . G       S start, K key, D door, G goal, # lava: a dead end
    . . . # . . .       fields are named column,row from the upper left corner: S is "field 1,1"
    . . . # . . .
    . . . D . . .
    . . . # . . .
    . . . # . . .
    K . . # . . .
"""

from __future__ import annotations

from waypost.model import MDP

MAP = ("S..#..G", "...#...", "...#...", "...D...", "...#...", "...#...", "K..#...")
MOVES = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}

Position = tuple[int, int, bool]  # column, row, has the key


def gridworld() -> MDP:
    """Gridworld of Fig. 4; the goal is ``"goal"``.

    A field is the *set* of its states with and without the key, and the label ``"field 4,4"`` is that set; ``start``,
    ``key``, ``door``, ``lava`` and ``goal`` are labels, too.

    >>> mdp = gridworld()
    >>> mdp
    MDP(states=76, choices=228, transitions=228, initial='1,1')
    >>> [mdp.states[s] for s in mdp.where("field 1,7").nonzero()[0]]
    ['1,7', '1,7 with the key']
    """
    kinds = {(x, y): kind for y, row in enumerate(MAP, 1) for x, kind in enumerate(row, 1)}
    start: Position = next((x, y, False) for (x, y), kind in kinds.items() if kind == "S")
    choices: dict[Position, dict[str, Position]] = {}
    waiting = [start]
    while waiting:
        place = waiting.pop(0)
        if place not in choices:
            choices[place] = _choices(kinds, place)
            waiting += choices[place].values()
    ordered = sorted(choices, key=lambda p: (p[1], p[0], p[2]))
    labels: dict[str, list[str]] = {}
    meaning = {"S": "start", "K": "key", "D": "door", "#": "lava", "G": "goal"}
    for x, y, key in ordered:
        for label in (f"field {x},{y}", meaning.get(kinds[x, y])):
            if label is not None:
                labels.setdefault(label, []).append(_name((x, y, key)))
    return MDP.from_dict(
        {_name(p): {action: _name(q) for action, q in choices[p].items()} for p in ordered},
        initial=_name(start),
        labels=labels,
    )


def _choices(kinds: dict[tuple[int, int], str], place: Position) -> dict[str, Position]:
    x, y, key = place
    if kinds[x, y] in "#G":
        return {}
    taken = {}
    for action, (dx, dy) in MOVES.items():
        kind = kinds.get((x + dx, y + dy))
        if kind is not None and (key or kind != "D"):
            taken[action] = (x + dx, y + dy, key)
    if kinds[x, y] == "K" and not key:
        taken["pickup"] = (x, y, True)
    return taken


def _name(place: Position) -> str:
    x, y, key = place
    return f"{x},{y} with the key" if key else f"{x},{y}"
