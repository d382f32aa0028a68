"""What was explored, held against play: an episode is played step by step, and must go where the model says.

Exploring takes the first world found with a name for all that have it. Where the name leaves something out that the
future depends on, a clock, a counter, or an object that all copies share, the model is wrong without a sign. Play
comes to the same states in other ways, and shows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.environments.contract import begun, stepped
from waypost.environments.trying import Frontier, possible_actions, without_clock
from waypost.errors import FormatError

STEPS = 1_000  # played in all
EPISODE = 200  # steps of an episode, at most


def hold_against_play(walk: Frontier, world: Any, seed: int | None) -> None:
    """Refuse a model if a step without chance goes elsewhere at play.

    Steps with chance are passed over: what was rare may not have come up.
    """
    draw = np.random.default_rng(seed)
    told = {(step.state, step.action): step for step in walk.steps if (step.state, step.action) in walk.sure}
    left = STEPS
    while left > 0:
        _, info = begun(world, seed)
        state = walk.found.get(walk.called(world))
        for _ in range(min(left, EPISODE)):
            possible = possible_actions(world, info, len(walk.actions)) if state is not None else ()
            if state is None or not len(possible):
                break
            action = int(draw.choice(possible))
            without_clock(world)
            _, reward, ended, cut, info = stepped(world, walk.first_action + action)
            left -= 1
            name, was = walk.called(world), state
            state = walk.found.get(name)
            step = told.get((was, action))
            paid = step is not None and ended and not np.isclose(step.reward, reward, rtol=1e-9)
            if step is not None and (step.to != state or step.ended != ended or paid):
                names = list(walk.found)
                tried = _outcome(names[step.to], step.reward, ended=step.ended)
                raise FormatError(
                    f"{walk.told(was, action)} {tried} when it was tried, but {_outcome(name, reward, ended=ended)} at "
                    "play: what happens hangs on more than key= tells, such as a clock, or on something that all "
                    "copies of the environment share; let key= tell it, or keep it in the environment (self.)"
                )
            if ended or cut:
                break
        left -= 1


def _outcome(name: Any, reward: float, *, ended: bool) -> str:
    return f"ended in {str(name)!r} with reward {reward:g}" if ended else f"led to {str(name)!r}"
