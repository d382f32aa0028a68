"""Cells of episodes that end alike: levels of how likely success is, foreseen from what is seen.

Where a cell is entered tells where it will be left, if it is wide and steps are small: that is what a chain forgets.
Two things make it matter less. Surfaces on which success is equally likely are the ones between which a chain is right
about success, whatever happens in between (milestones along a committor, as molecular dynamics has them); and a chain
that looks up every ten steps forgets less, for a run has long left the border over which it came (the lag time of a
Markov state model). Both are learned or chosen beforehand, on episodes of their own, so that the checks of
`waypost.agents.abstract_agent` stay what they are.

How likely success is, is a ridge regression on the numbers that are seen and on waves in random directions over them
(Rahimi and Recht's features of a Gaussian kernel).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.agents.cells import Space, in_space
from waypost.environments.playing import Episode, Recording, rewarded
from waypost.errors import ArgumentError
from waypost.model.traces import POSITIVE

WAVES = 300
LENGTH = 1.5  # of a wave, in spreads of what is seen
RIDGE = 1e-4  # by observation

Vectors = NDArray[np.float64]  # (n, d)


def looks(played: Sequence[Recording], *, every: int) -> list[Recording]:
    """Episodes at every tenth step or so: what was seen and done there, with the step, ``{"seen": ..., "step": 10}``.

    >>> import gymnasium
    >>> from waypost.environments import record
    >>> lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    >>> looks(record(lake, lambda seen: 2, episodes=1, max_steps=5), every=2)[0].observations
    ({'seen': 0, 'step': 0}, {'seen': 2, 'step': 2}, {'seen': 3, 'step': 4})
    """
    if every < 1:
        raise ArgumentError(f"every is a number of steps, from 1 on, not {every}")
    return [
        replace(
            recording,
            observations=tuple(
                {"seen": seen, "step": k * every} for k, seen in enumerate(recording.observations[::every])
            ),
            actions=recording.actions[::every],
            last={"seen": recording.last, "step": len(recording.actions)},
        )
        for recording in played
    ]


def foreseen(
    practice: Sequence[Recording],
    *,
    outcome: Callable[[Episode], str] = rewarded,
    wanted: str = POSITIVE,
    space: Space | None = None,
    levels: int = 16,
    seed: int = 0,
) -> Foreseen:
    """Levels of how likely an outcome is, learned from episodes: `features` for `abstract_agent`.

    Parameters
    ----------
    practice
        Episodes of the agent, others than those that are to be explained: else the checks would know the answer. With
        `looks`, ``every=1`` has the most to learn from.
    outcome
        What the end of an episode is called, as in `abstract_agent`.
    wanted
        The outcome that is foreseen.
    space
        Rows of numbers from all observations at once; without it, the numbers of the observations themselves.
    levels
        How many, with as many observations in each.
    seed
        Of the directions of the waves.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> ends = [(odds, float(draw.random() < odds)) for odds in draw.random(400)]
    >>> played = [Recording((np.array([odds]),), (0,), Episode(1, won, won, True, False)) for odds, won in ends]
    >>> level = foreseen(played, levels=4)
    >>> level(np.array([0.05])), level(np.array([0.95]))
    ('foreseen=0', 'foreseen=3')
    """
    won = np.array([outcome(recording.episode) == wanted for recording in practice], float)
    if not 0 < won.sum() < len(won):
        raise ArgumentError(f"{won.sum():.0f} of {len(won)} episodes end {wanted}: nothing can be foreseen from these")
    rows = in_space(space, [seen for recording in practice for seen in recording.observations])
    then = np.repeat(won, [len(recording.observations) for recording in practice]) - won.mean()
    draw = np.random.default_rng(seed)
    directions = draw.normal(size=(rows.shape[1], WAVES)) / LENGTH
    spread = rows.std(axis=0)
    waves = _Waves(rows.mean(axis=0), np.where(spread > 0, spread, 1.0), directions, draw.uniform(0, 2 * np.pi, WAVES))
    columns = waves.of(rows)
    ridge = RIDGE * len(columns) * np.eye(columns.shape[1])
    weights = np.linalg.solve(columns.T @ columns + ridge, columns.T @ then)
    edges = np.unique(np.quantile(columns @ weights, np.arange(1, levels) / levels))
    return Foreseen(space, waves, weights, edges)


@dataclass(frozen=True, eq=False)
class _Waves:
    """Columns of a regression: the numbers, in spreads from their means, and waves over them."""

    mean: Vectors
    spread: Vectors
    directions: Vectors
    phases: Vectors

    def of(self, rows: Vectors) -> Vectors:
        """(n, p) the columns of rows."""
        scaled = (rows - self.mean) / self.spread
        return np.column_stack([np.cos(scaled @ self.directions + self.phases), scaled, np.ones(len(rows))])


@dataclass(frozen=True, eq=False)
class Foreseen:
    """Names an observation by how likely success is from there: ``foreseen=0`` is the least likely level."""

    space: Space | None
    waves: _Waves
    weights: Vectors
    edges: Vectors  # (levels - 1,) between them

    def __call__(self, seen: Any) -> str:
        """Level of an observation."""
        value = self.waves.of(in_space(self.space, [seen])) @ self.weights
        return f"foreseen={int(np.searchsorted(self.edges, value[0]))}"
