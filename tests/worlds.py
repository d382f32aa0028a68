"""Made-up worlds, each drawn anew: in the right ones cells are all that matters, in the wrong ones they are not.

A world takes a generator and a number of episodes; what is seen is the number of a cell, and nothing else.
"""

from __future__ import annotations

import numpy as np

from waypost.environments.playing import Episode, Recording


def episode(cells: list[int], *, won: bool | None) -> Recording:
    """An episode through cells; one that neither wins nor loses was cut off in the last of them."""
    cut = won is None
    seen = cells[:-1] if cut else cells
    reward = float(bool(won))
    end = Episode(len(seen), reward, reward, terminated=not cut, truncated=cut)
    return Recording(tuple(seen), (0,) * len(seen), end, cells[-1] if cut else None)


def ended(end: Episode) -> str:
    """Call an episode by how it ended."""
    return "late" if end.truncated else "positive" if end.total_reward > 0 else "negative"


def chain(draw: np.random.Generator, episodes: int, *, most: int = 30, leave: float = 0.7, limit: int = 0) -> list:
    """Right: steps between cells, with odds of their own."""
    k = int(draw.integers(5, most))
    odds = draw.dirichlet(np.full(k + 2, 0.5), size=k)
    odds[:, k:] = leave * odds[:, k:] + 0.02
    odds = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
    first, played = draw.dirichlet(np.full(k, 0.5)), []
    for _ in range(episodes):
        cells = [int(draw.choice(k, p=first))]
        while not limit or len(cells) <= limit:
            there = min(int(np.searchsorted(odds[cells[-1]], draw.random())), k + 1)
            if there >= k:
                played.append(episode(cells, won=there == k))
                break
            cells.append(there)
        else:
            played.append(episode(cells, won=None))
    return played


def limited(draw: np.random.Generator, episodes: int) -> list:
    """Right: the same, for thirty steps."""
    return chain(draw, episodes, most=10, leave=0.1, limit=30)


def forks(draw: np.random.Generator, episodes: int) -> list:
    """Right: a road that forks and meets again; the side decides who falls, the last side who wins."""
    n = int(draw.integers(1, 4))
    fall, left, good = draw.uniform(0, 0.2, size=n), draw.uniform(0.3, 0.7, size=n + 1), draw.uniform(0.2, 0.8, size=2)
    played = []
    for _ in range(episodes):
        cells, fell = [0], False
        for fork in range(n):
            side = int(draw.random() < left[fork])
            cells.append(10 + 2 * fork + side)
            fell = draw.random() < fall[fork] * (1 + side)
            if fell:
                break
            cells.append(1 + fork)
        side = int(draw.random() < left[n])
        played.append(episode(cells if fell else [*cells, 50 + side], won=not fell and draw.random() < good[side]))
    return played


def walk(draw: np.random.Generator, episodes: int) -> list:
    """Right: up and down between two ends, with odds of each cell's own."""
    k = int(draw.integers(5, 10))
    up = draw.uniform(0.3, 0.7, size=k)
    return [_walked(draw, k, lambda at: up[at]) for _ in range(episodes)]


def phase(draw: np.random.Generator, episodes: int) -> list:
    """Wrong: up and down, but which of them is more likely changes now and then, unseen."""
    k = int(draw.integers(5, 8))
    lean, change = draw.uniform(0.15, 0.3), draw.uniform(0.02, 0.15)
    played = []
    for _ in range(episodes):
        now = [1 if draw.random() < 0.5 else -1]

        def up(_: int, now: list[int] = now) -> float:
            now[0] = -now[0] if draw.random() < change else now[0]
            return 0.5 + now[0] * lean

        played.append(_walked(draw, k, up))
    return played


def _walked(draw, k, up):
    cells = [k // 2]
    while 0 <= (there := cells[-1] + (1 if draw.random() < up(cells[-1]) else -1)) < k:
        cells.append(there)
    return episode(cells, won=there == k)


def coin(draw: np.random.Generator, episodes: int) -> list:
    """Wrong: a coin says which side is more likely wherever the road forks, and how it ends where all have met."""
    n, middle = int(draw.integers(1, 4)), int(draw.integers(1, 4))
    lean, good = draw.uniform(0.65, 0.9, size=n), draw.uniform(0.5, 0.95)
    bad = good - draw.uniform(0.25, 0.5)
    played = []
    for _ in range(episodes):
        heads, cells = draw.random() < 0.5, [0]
        for fork in range(n):
            cells += [10 + 2 * fork + int((draw.random() < lean[fork]) == heads), 1 + fork]
        played.append(episode([*cells, *range(100, 100 + middle)], won=draw.random() < (good if heads else bad)))
    return played


def clock(draw: np.random.Generator, episodes: int) -> list:
    """Wrong: whoever leaves late has worse odds, from wherever it is."""
    k, turn, leave = int(draw.integers(4, 7)), int(draw.integers(4, 9)), draw.uniform(0.1, 0.2)
    early = draw.uniform(0.5, 0.9)
    late, odds = early - draw.uniform(0.3, 0.5), draw.dirichlet(np.ones(k), size=k)
    played = []
    for _ in range(episodes):
        cells = [0]
        while draw.random() >= leave:
            cells.append(int(draw.choice(k, p=odds[cells[-1]])))
        played.append(episode(cells, won=draw.random() < (early if len(cells) <= turn else late)))
    return played


def rooms(draw: np.random.Generator, episodes: int) -> list:
    """Wrong: two rooms go by one name, and the door one came by says which exit is near."""
    first, stay = draw.uniform(0.3, 0.7), draw.uniform(0, 0.5)
    near = draw.uniform(0.55, 0.9)
    exits, good = (near, near - draw.uniform(0.3, 0.5)), (draw.uniform(0.6, 0.95), draw.uniform(0.05, 0.4))
    played = []
    for _ in range(episodes):
        room = int(draw.random() >= first)
        cells = [0, 10 + room, *[20] * int(draw.geometric(1 - stay))]
        out = int(draw.random() >= exits[room])
        played.append(episode([*cells, 30 + out], won=draw.random() < good[out]))
    return played


RIGHT = {world.__name__: world for world in (chain, limited, forks, walk)}
WRONG = {world.__name__: world for world in (coin, phase, clock, rooms)}
