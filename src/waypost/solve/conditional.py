"""Greatest conditional probability: one event given another, as a ratio of terminal rewards.

Maximise ``gain / (gain + loss)`` over all strategies, both expected terminal rewards. Dinkelbach: for a guess ``lam``
maximise the expected reward ``gain - lam (gain + loss)``; the ratio of the strategy that does is the next guess. The
guesses rise, each is the ratio of a real strategy, and when no strategy has a positive reward the guess is the
maximum. There are finitely many strategies, so it ends; in practice after 2 to 5 rounds, each warm-started by the
last.

In floats a strategy that hardly ever earns anything could hide behind the rounding of one that does, for at the maximum
both are worth 0. So the guess is taken a little higher (`ABOVE`): what was found is then worth clearly less than 0, and
where no other strategy is worth more, no ratio is greater by more than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import PrecisionError
from waypost.graph import Ints, Mask
from waypost.solve.arena import Arena
from waypost.solve.digits import in_digits, to_digits
from waypost.solve.rewards import FEW, Payoff, best_rewards, in_floats, in_haste, rewards_of

ABOVE = 4e-10  # the share by which the odds of a guess exceed those that were found
ROUNDING = 1e-14  # relative: a smaller gain of the ratio is none
SMALLEST = 1e-250  # what is rarer leaves floats no digits


@dataclass(frozen=True, eq=False)
class Ratio:
    """The greatest ratio and a strategy with it: ``gain / (gain + loss)``, both at the start state."""

    gain: Any
    loss: Any
    choice: Ints  # (S,) or STOP

    @classmethod
    def at(cls, start: int, earned: Payoff) -> Ratio:
        """Ratio of a strategy."""
        return cls(earned.gain[start], earned.loss[start], earned.choice)

    @property
    def value(self) -> Any:
        """The ratio."""
        return self.gain / (self.gain + self.loss)

    @property
    def complement(self) -> Any:
        """One minus the ratio, without cancellation."""
        return self.loss / (self.gain + self.loss)

    def above(self, other: Ratio, enough: Any) -> bool:
        """Whether the odds exceed those of the other by a factor; not if it stops before anything happens."""
        if self.gain + self.loss == 0:
            return False
        return bool(self.value * other.complement > other.value * self.complement * enough)


def best_ratio(
    arena: Arena,
    *,
    start: int,
    terminal: Mask,
    gain: NDArray[Any],
    loss: NDArray[Any],
    may_stop: Mask,
    enabled: Mask | None = None,
) -> Ratio:
    """Greatest ratio of terminal rewards from `start`; some strategy must have a positive gain.

    `gain` and `loss` are at least 0 and matter on `terminal` states only.
    """
    enough, above = (arena.one, arena.one) if arena.exact else (1 + ROUNDING, 1 + ABOVE)
    weights = arena.one, arena.zero
    certified = arena.exact  # floats are certified in the end: what leads there need not be the best
    earned: Payoff | None = None
    best: Ratio | None = None
    if arena.rational:
        earned = _found_in_floats(arena, gain, loss, start=start, terminal=terminal, may_stop=may_stop, enabled=enabled)
    if earned is not None:
        best = Ratio.at(start, earned)
        weights = best.complement, best.value
    for _ in range(200):
        earned = best_rewards(
            arena,
            terminal=terminal,
            may_stop=may_stop,
            gain=gain,
            loss=loss,
            weights=weights,  # gain - value (gain + loss), without cancellation
            enabled=enabled,
            initial=earned,
            certified=certified,
        )
        found = Ratio.at(start, earned)
        if best is not None and not found.above(best, enough):
            if certified:
                return best
            certified = True
            continue
        if not arena.exact and found.gain + found.loss < SMALLEST:
            return _in_digits(arena, gain, loss, start=start, terminal=terminal, may_stop=may_stop, enabled=enabled)
        best = found
        weights = best.complement, best.value * above
    raise PrecisionError("a conditional probability did not settle; try exact arithmetic")  # pragma: no cover


def _found_in_floats(
    arena: Arena, gain: NDArray[Any], loss: NDArray[Any], *, terminal: Mask, start: int, **asked: Any
) -> Payoff | None:
    """What the strategy earns, exactly, that floats find to be best; None if they do not."""
    if (~terminal).sum() < FEW:
        return None
    try:
        rough = (in_floats(np.where(terminal, paid, arena.zero)) for paid in (gain, loss))
        with in_haste(arena):
            found = best_ratio(arena.rough, gain=next(rough), loss=next(rough), start=start, terminal=terminal, **asked)
    except (PrecisionError, ArithmeticError):
        return None
    earned = rewards_of(arena, found.choice, terminal=terminal, gain=gain, loss=loss, **asked)
    return earned if earned is not None and earned.gain[start] > 0 else None


def _in_digits(arena: Arena, gain: NDArray[Any], loss: NDArray[Any], **asked: Any) -> Ratio:
    """The same in a hundred digits, which no rarity exhausts; gain and loss by their shares of the sum."""
    with in_digits():
        finer = arena.careful(arena.graph.everything)
        found = best_ratio(finer, gain=to_digits(gain), loss=to_digits(loss), **asked)
        return Ratio(float(found.value), float(found.complement), found.choice)
