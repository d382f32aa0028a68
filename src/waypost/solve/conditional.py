"""Greatest conditional probability: one event given another, as a ratio of terminal rewards.

Maximise ``gain / (gain + loss)`` over all strategies, both expected terminal rewards. Dinkelbach: for a guess ``lam``
maximise the expected reward ``gain - lam (gain + loss)``; the ratio of the strategy that does is the next guess. The
guesses rise, each is the ratio of a real strategy, and when no strategy has a positive reward the guess is the
maximum. There are finitely many strategies, so it ends; in practice after 2 to 5 rounds, each warm-started by the
last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import PrecisionError
from waypost.graph import Ints, Mask
from waypost.solve.arena import Arena
from waypost.solve.rewards import STOP, best_rewards


@dataclass(frozen=True, eq=False)
class Ratio:
    """The greatest ratio and a strategy with it: ``gain / (gain + loss)``, both at the start state."""

    gain: Any
    loss: Any
    choice: Ints  # (S,) or STOP

    @property
    def value(self) -> Any:
        """The ratio."""
        return self.gain / (self.gain + self.loss)

    @property
    def complement(self) -> Any:
        """One minus the ratio, without cancellation."""
        return self.loss / (self.gain + self.loss)


def best_ratio(
    arena: Arena,
    *,
    start: int,
    terminal: Mask,
    gain: NDArray[Any],
    loss: NDArray[Any],
    may_stop: Mask,
    scale: NDArray[Any] | None = None,
    enabled: Mask | None = None,
) -> Ratio:
    """Greatest ratio of terminal rewards from `start`; some strategy must have a positive gain.

    `gain` and `loss` are at least 0 and matter on `terminal` states only; their sum is at most `scale` in expectation
    from each state, by default at most the greatest of them.
    """
    if scale is None:
        scale = np.full(len(terminal), max(gain + loss))
    found = best_rewards(arena, terminal=terminal, reward=gain, may_stop=may_stop, enabled=enabled)
    best = _ratio_of(arena, start, terminal, gain, loss, found.choice)
    for _ in range(200):
        reward = best.complement * gain - best.value * loss  # gain - value (gain + loss), without cancellation
        found = best_rewards(
            arena,
            terminal=terminal,
            reward=reward,
            may_stop=may_stop,
            enabled=enabled,
            initial=best.choice,
            scale=scale,
        )
        if found.values[start] <= arena.zero:
            return best
        better = _ratio_of(arena, start, terminal, gain, loss, found.choice)
        if better.gain <= arena.zero or better.value <= best.value:  # floats: the gain was rounding
            return best
        best = better
    raise PrecisionError("a conditional probability did not settle; try exact arithmetic")  # pragma: no cover


def _ratio_of(arena: Arena, start: int, terminal: Mask, gain: NDArray[Any], loss: NDArray[Any], choice: Ints) -> Ratio:
    """Evaluate one strategy."""
    at_end = terminal | (choice == STOP)
    enabled = np.zeros(arena.graph.n_choices, bool)
    enabled[choice[~at_end]] = True
    nowhere = np.zeros(len(terminal), bool)
    paid = []
    for reward in (gain, loss):
        payment = np.where(terminal, reward, arena.zero)
        found = best_rewards(arena, terminal=at_end, reward=payment, may_stop=nowhere, enabled=enabled, initial=choice)
        paid.append(found.values[start])
    return Ratio(paid[0], paid[1], choice)
