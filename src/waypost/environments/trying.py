"""Every action tried in every state of a world, which is put back to where it was before each try."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from waypost.environments.chance import Chance, copied
from waypost.environments.contract import name_of, stepped
from waypost.environments.ends import EnvironmentStep
from waypost.environments.minigrid import is_minigrid
from waypost.errors import FormatError, ModelError, WaypostError

StepOutcome = tuple[int, float, bool]  # where a try led, its reward, and whether the episode ended


class WorldMemory(Protocol):
    """Puts a world back to where it was."""

    trusted: bool  # whether all that it draws from is known

    def save(self, world: Any) -> Any:
        """What tells this moment of a world from others."""

    def load(self, saved: Any) -> tuple[Any, Chance]:
        """World as it was saved, free to be changed, and what it draws random numbers from."""

    def close(self) -> None:
        """Leave no trace."""


class Copies:
    """Puts any world back by copying all of it."""

    trusted = False

    def save(self, world: Any) -> Any:
        """Copy of the world."""
        try:
            return copied(world)[0]
        except Exception as error:
            what = f"{type(world.unwrapped).__name__} cannot be copied ({type(error).__name__}: {str(error)[:200]})"
            raise FormatError(
                f"{what}, as it takes to try every action; make it without a window (render_mode=None), or give it "
                "__deepcopy__"
            ) from error

    def load(self, saved: Any) -> tuple[Any, Chance]:
        """Copy of the copy."""
        _ = saved.unwrapped.np_random  # made, where it was not
        return copied(saved)

    def close(self) -> None:
        """Nothing is left behind."""


@dataclass
class Frontier:
    """States found so far, in the order found, and the steps between them."""

    memory: WorldMemory
    tell: Callable[[Any], Hashable]
    actions: Sequence[str]
    first_action: int  # number of the first one
    samples: int
    limit: int
    seeds: np.random.Generator
    found: dict[Hashable, int] = field(default_factory=dict)
    waiting: deque[tuple[int, Any, Sequence[int]]] = field(default_factory=deque)  # with their worlds, and what to try
    alive: set[int] = field(default_factory=set)  # from which an episode goes on
    steps: list[EnvironmentStep] = field(default_factory=list)
    sure: set[tuple[int, int]] = field(default_factory=set)  # states and actions that left nothing to chance

    def begin(self, world: Any, info: Any) -> list[int]:
        """Begin an episode here too."""
        return [self._at(world, info, ended=False)]

    def walk(self) -> None:
        """Try everything everywhere."""
        while self.waiting:
            state, saved, possible = self.waiting.popleft()
            for action in possible:
                outcomes = Counter(self._tries(state, saved, action))
                total = sum(outcomes.values())
                self.steps += [
                    EnvironmentStep(state, action, to, n / total, reward, ended)
                    for (to, reward, ended), n in outcomes.items()
                ]

    def _tries(self, state: int, saved: Any, action: int) -> Iterator[StepOutcome]:
        """Once if no random number is drawn, else `samples` times with fresh seeds."""
        world, chance = self.memory.load(saved)
        before = chance.drawn
        first = self._stepped(state, world, action)
        yield first
        if before == chance.drawn:
            if not self.memory.trusted and (other := self._tried_again(state, saved, action)) != first:
                raise FormatError(self._unsure(state, action, first, other))
            self.sure.add((state, action))
            return
        for _ in range(1, self.samples):
            yield self._tried_again(state, saved, action)

    def _tried_again(self, state: int, saved: Any, action: int) -> StepOutcome:
        """Where an action leads with other random numbers."""
        world, chance = self.memory.load(saved)
        chance.seed(self.seeds)
        return self._stepped(state, world, action)

    def _stepped(self, state: int, world: Any, action: int) -> StepOutcome:
        without_clock(world)
        try:
            _, reward, ended, _, info = stepped(world, self.first_action + action)
        except Exception as error:
            if isinstance(error, WaypostError):
                raise
            raise FormatError(
                f"{self.told(state, action)} fails ({type(error).__name__}: {str(error)[:200]}); where an action is "
                "not possible, the environment has to say so: by action_masks(), or by 'action_mask' in its info"
            ) from error
        return self._at(world, info, ended=ended), reward, ended

    def _at(self, world: Any, info: Any, *, ended: bool) -> int:
        where = self.called(world)
        state = self.found.setdefault(where, len(self.found))
        if len(self.found) > self.limit:
            raise ModelError(
                f"the environment has more than {self.limit} states; allow more (limit=, --const limit=100000), or "
                "pass a coarser key="
            )
        if not ended and state not in self.alive:
            self.alive.add(state)
            self.waiting.append((state, self.memory.save(world), possible_actions(world, info, len(self.actions))))
        return state

    def called(self, world: Any) -> Hashable:
        """What tells the state that a world is in from others."""
        try:
            found: Hashable = name_of(self.tell(world))
            hash(found)
        except Exception as error:
            raise FormatError(
                f"key= does not tell the state of {type(world.unwrapped).__name__} ({type(error).__name__}: "
                f"{str(error)[:200]}); it is given the environment, whose own attributes are those of env.unwrapped, "
                "and gives text, numbers, or a tuple, array or dict of them"
            ) from error
        return found

    def told(self, state: int, action: int) -> str:
        """Name an action in a state."""
        return f"action {self.actions[action]!r} in state {str(list(self.found)[state])!r}"

    def _unsure(self, state: int, action: int, one: StepOutcome, other: StepOutcome) -> str:
        """Say that the same step had two outcomes, though it drew no number that could be seen."""
        names = [str(list(self.found)[to]) for to, _, _ in (one, other)]
        led = f"led to {names[0]!r} and to {names[1]!r}" if names[0] != names[1] else "ended in two ways"
        return (
            f"{self.told(state, action)} {led}, but drew no random number that could be seen; let the environment "
            "draw them from self.np_random"
        )


def without_clock(world: Any) -> None:
    """Put back the clock of a Minigrid world, which is no part of its state; that of another world may well be."""
    if is_minigrid(world.unwrapped):
        world.unwrapped.step_count = 0


def possible_actions(world: Any, info: Any, n: int) -> Sequence[int]:
    """Positions of the actions that a world allows now: all, unless ``action_masks()`` or its info says otherwise.

    >>> possible_actions(object(), {"action_mask": np.array([1, 0, 1], np.int8)}, 3), possible_actions(object(), {}, 2)
    ([0, 2], range(0, 2))
    """
    layer = world
    while not callable(getattr(layer, "action_masks", None)) and getattr(layer, "env", None) is not None:
        layer = layer.env
    masks = getattr(layer, "action_masks", None)
    mask = masks() if callable(masks) else None
    if mask is None and isinstance(info, Mapping):
        mask = info.get("action_mask")
    if mask is None:
        return range(n)
    allowed = np.asarray(mask).reshape(-1)
    return [action for action in range(n) if action < len(allowed) and allowed[action]]
