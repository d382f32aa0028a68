"""Seeded models of any size, mixed as real ones are: long ways without return, small cycles, end components.

The states lie in a row, cut into segments of very different lengths. Every state leads on, to its neighbour and by a
jump; in a *cyclic* segment it may also fall back, so that the segment is a strong component; in a *waiting* segment
there is an action that stays, so that it contains an end component. Now and then a run ends, won or lost.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from waypost.errors import ModelError
from waypost.model import MDP
from waypost.model.arrays import Ints

Shape = Literal["few", "many"]

CYCLIC = 0.4  # share of the segments
WAITING: dict[Shape, float] = {"few": 5e-4, "many": 0.05}  # likewise
CHOOSING: dict[Shape, float] = {"few": 5e-5, "many": 0.5}  # shares of the states with a choice of where to go
START_OVER = 0.1  # share of the falls that go back to where the segment began
WIN, LOSE = 1e-3, 1e-3  # probabilities of an end, in every step


def synthetic(n: int, shape: Shape, seed: int = 1) -> MDP:
    """Model with `n` states, `few` or `many` of which offer a choice; target ``"goal"``, all states reachable.

    >>> mdp = synthetic(1000, "many")
    >>> mdp.n_states, int(mdp.where("goal").sum())
    (1000, 1)
    >>> mdp.transitions.nnz == synthetic(1000, "many").transitions.nnz
    True
    """
    if n < 10 or shape not in CHOOSING:
        raise ModelError(f"a synthetic model has at least 10 states, and few or many choices; not {n} and {shape!r}")
    rng = np.random.default_rng([seed, n])
    inner = n - 2  # the last two states are the goal and the loss
    start, stop, kind = _segments(inner, rng)
    choosing = rng.random(inner) < CHOOSING[shape]
    extra = np.where(choosing, rng.integers(1, 3, inner), 0)
    waiting = kind < WAITING[shape]
    cyclic = ~waiting & (kind < WAITING[shape] + CYCLIC)
    owned = 1 + extra + waiting
    first = np.concatenate([[0], np.cumsum(owned), [owned.sum()] * 2])
    owner = np.repeat(np.arange(inner), owned)
    place = np.arange(len(owner)) - first[owner]
    stays = waiting[owner] & (place == owned[owner] - 1)
    choice, successor, weight = _steps(owner, stays, cyclic[owner], start, stop, n, rng)
    names = np.array(["go", "left", "right"])
    return MDP.from_triplets(
        choice,
        successor,
        weight,
        first_choice=first,
        states=[f"s{i}" for i in range(inner)] + ["won", "lost"],
        actions=np.where(stays, "wait", names[np.minimum(place, 2)]).tolist(),
        initial=0,
        labels={"goal": np.arange(n) == inner},
    )


def _segments(n: int, rng: np.random.Generator) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """First state and end of each state's segment, and a number in 0..1 that says what kind it is of."""
    longest = max(4, n // 100)
    lengths = np.minimum(2 + rng.pareto(1.2, n) * 3, longest).astype(np.int64)
    ends = np.cumsum(lengths)
    ends = np.append(ends[ends < n], n)
    sizes = np.diff(np.concatenate([[0], ends]))
    start = np.repeat(ends - sizes, sizes)
    return start, np.repeat(ends, sizes), np.repeat(rng.random(len(ends)), sizes)


def _steps(
    owner: Ints, stays: NDArray[np.bool_], falls_back: NDArray[np.bool_], start: Ints, stop: Ints, n: int,
    rng: np.random.Generator,
) -> tuple[Ints, Ints, NDArray[np.float64]]:  # fmt: skip
    """Transitions of all choices, as triplets; where two lead to the same state they are added up later."""
    inner = n - 2
    moves = np.flatnonzero(~stays)
    x = owner[moves]
    reach = max(4, n // 400)
    share = rng.uniform(0.2, 0.6, len(moves))
    back = np.where(falls_back[moves], rng.uniform(0.1, 0.5, len(moves)), 0.0)
    onward = (1 - WIN - LOSE) * (1 - back)
    lucky = WIN * rng.uniform(0.2, 1.8, len(moves))
    parts = [
        (moves, np.minimum(x + 1, inner), onward * share),
        (moves, np.minimum(x + rng.integers(1, reach, len(moves)), inner), onward * (1 - share)),
        (moves, np.full(len(moves), inner), lucky),
        (moves, np.full(len(moves), inner + 1), WIN + LOSE - lucky),
        (moves, _fallen(x, start, rng), (1 - WIN - LOSE) * back),
    ]
    waits = np.flatnonzero(stays)
    parts.append((waits, rng.integers(start[owner[waits]], stop[owner[waits]]), np.ones(len(waits))))
    choice, successor, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    used = weight > 0
    return choice[used], successor[used], weight[used]


def _fallen(x: Ints, start: Ints, rng: np.random.Generator) -> Ints:
    """Where a run falls back to: some steps, as when something is tried again, or to where its segment began."""
    some_steps = np.maximum(x - rng.integers(0, 30, len(x)), start[x])
    return np.where(rng.random(len(x)) < START_OVER, start[x], some_steps)
