"""Where a world draws its random numbers from: whether a step drew any, and how to let it draw others.

Gymnasium's own generator is ``env.np_random``, but worlds also have generators of their own, or draw from those that
all of Python shares. A copy of a world draws the same numbers again, so that a step with chance in it would look
certain if its generator were overlooked.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


class Chance:
    """Generators of random numbers, to look at and to seed together.

    >>> mine = np.random.default_rng(0)
    >>> chance = Chance([mine])
    >>> before = chance.drawn
    >>> _ = mine.random()
    >>> chance.drawn == before
    False
    """

    def __init__(self, own: Iterable[Any], shared: Iterable[Any] = ()) -> None:
        self.own, self.shared = list(own), list(shared)

    @property
    def drawn(self) -> list[Any]:
        """What changes when any of them is drawn from."""
        return [_state(each) for each in (*self.own, *self.shared)]

    def seed(self, seeds: np.random.Generator) -> None:
        """Let the world's own draw other numbers from now on; what is shared does so anyway."""
        for each in self.own:
            seed = int(seeds.integers(2**63))
            if isinstance(each, np.random.Generator):
                each.bit_generator.state = type(each.bit_generator)(seed).state
            else:
                each.seed(seed % 2**32)


def _state(generator: Any) -> Any:
    """State of a generator, to be compared."""
    if isinstance(generator, random.Random):
        return generator.getstate()
    if isinstance(generator, np.random.Generator):
        return pickle.dumps(generator.bit_generator.state)
    kind, key, *rest = generator.get_state()
    return kind, key.tobytes(), *rest


def copied(world: Any) -> tuple[Any, Chance]:
    """Copy of a world, and all that it may draw from: every generator inside it, and those that all of Python shares.

    >>> world, chance = copied({"own": np.random.default_rng(0)})
    >>> [type(each).__name__ for each in chance.own], [type(each).__name__ for each in chance.shared]
    (['Generator'], ['RandomState', 'Random'])
    """
    memo: dict[int, Any] = {}
    world = copy.deepcopy(world, memo)
    inside = {id(each): each for each in memo.values() if isinstance(each, GENERATORS)}
    return world, Chance(inside.values(), _shared())


def _shared() -> tuple[Any, Any]:
    """Generators behind ``np.random.random()`` and ``random.random()``."""
    return np.random.mtrand._rand, random._inst  # noqa: SLF001


@contextmanager
def shared_chance_kept(seed: int | None) -> Iterator[None]:
    """Seed the generators that all of Python shares, and leave them as they were."""
    numbers, other = _shared()
    kept = numbers.get_state(), other.getstate()
    numbers.seed(None if seed is None else seed % 2**32)
    other.seed(seed)
    try:
        yield
    finally:
        numbers.set_state(kept[0])
        other.setstate(kept[1])
