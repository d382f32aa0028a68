"""Small worlds without a table: every action is tried in every state.

A world is put back to where it was before each try: from a copy, or, for Minigrid, by its own attributes.
"""

from __future__ import annotations

import copy
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from waypost.arguments import checked
from waypost.environments.blackjack import BLACKJACK, blackjack_state, is_blackjack
from waypost.environments.ends import EnvironmentStep, EpisodeModel
from waypost.environments.minigrid import (
    MinigridMemory,
    MinigridWorlds,
    is_minigrid,
    minigrid_labels,
    minigrid_state,
)
from waypost.errors import ArgumentError, FormatError, ModelError
from waypost.model import MDP
from waypost.model.valuations import named_by

StepOutcome = tuple[int, float, bool]  # where a try led, its reward, and whether the episode ended
SAMPLES = 200  # of a step that draws random numbers
PLAIN = frozenset({"OrderEnforcing", "PassiveEnvChecker", "TimeLimit"})  # wrappers that change no step


@checked
def explore(
    env: Any,
    *,
    key: Callable[[Any], Hashable] | None = None,
    actions: Sequence[str] | None = None,
    seed: int | None = 0,
    starts: int = 1,
    samples: int = SAMPLES,
    limit: int = 20_000,
) -> MDP:
    """Build an MDP by trying every action in every state of a small world, such as Minigrid's.

    A step that draws no random number is taken once and is exact. One that does is tried `samples` times, and its
    probabilities are the frequencies. How an episode ends is a state of its own, told apart by its reward; those with
    the greatest one are the ``goal``. Limits on the length of an episode do not count.

    Parameters
    ----------
    env
        A Gymnasium environment that can be copied.
    key
        What tells two states apart, as text or any hashable value; known for Minigrid (the agent, its load, the doors)
        and Blackjack. The first world found with a key stands for all that have it, so it must hold what the future
        depends on: in Blackjack the dealer's hidden card too.
    actions
        Names of the actions; fewer than there are leave out the last ones.
    seed
        Of the reset, which also fixes the world.
    starts
        How many resets to begin from, with seeds from `seed` on: a state ``start`` leads to them as often as they came.
        Where they put the walls of a Minigrid elsewhere, a variable ``world`` tells them apart.
    samples
        How often a step that draws random numbers is tried.
    limit
        Give up beyond this many states.

    Returns
    -------
    MDP
        With the label ``goal``.

    Raises
    ------
    ArgumentError
        If several starts are asked for without a seed.
    ModelError
        If there are more states than the limit.

    Examples
    --------
    >>> import gymnasium, minigrid
    >>> explore(gymnasium.make("MiniGrid-Empty-5x5-v0"), actions=["left", "right", "forward"])
    MDP(states=34, choices=98, transitions=98, initial='x=1, y=1, facing=right')
    """
    if starts < 1 or (starts > 1 and seed is None):
        raise ArgumentError("starts is a number of resets, from 1 on; more than one need a seed to count from")
    names = list(actions) if actions is not None else _action_names(env)
    world = _bare(env)
    own = key is None and world is env.unwrapped and is_minigrid(world)
    env.reset(seed=seed)  # through its wrappers, which may set it up
    memory: _Memory = MinigridMemory(world) if own else _Copies()
    worlds = MinigridWorlds()
    tell = key or _known_key(world, worlds if starts > 1 else None)
    try:
        walk = _Frontier(memory, tell, len(names), samples, limit, np.random.default_rng(seed))
        begin = _begun(walk, world, seed, starts)
        walk.walk()
    finally:
        memory.close()
    mdp = EpisodeModel(walk.steps, [str(where) for where in walk.found], names, begin).mdp()
    mdp = _briefly_named(mdp)
    if not own:
        return mdp
    return mdp.with_labels({**mdp.labels, **minigrid_labels(mdp, _begins(env, worlds, seed, starts))})


def _begins(env: Any, worlds: MinigridWorlds, seed: int | None, starts: int) -> Iterator[tuple[int, Any]]:
    """Every world at its beginning, with its number; the first comes last, in which the environment is left."""
    for k in reversed(range(starts)):
        env.reset(seed=seed if seed is None else seed + k)
        yield worlds.number(env), env.unwrapped


def _briefly_named(mdp: MDP) -> MDP:
    """Leave out of the names what is the same in all states."""
    variables = mdp.variables
    if not any(variable.constant for variable in variables.values()):
        return mdp
    names = named_by(variables)
    return mdp if names is None else replace(mdp, states=names, valuations=variables)


def _begun(walk: _Frontier, world: Any, seed: int | None, starts: int) -> dict[int, float]:
    """How often each state came first in so many resets; the world was reset once already."""
    start = Counter(walk.begin(world))
    for k in range(1, starts):
        world.reset(seed=int(seed or 0) + k)
        start.update(walk.begin(world))
    return {state: n / starts for state, n in start.items()}


class _Memory(Protocol):
    def save(self, world: Any) -> Any:
        """What tells this moment of a world from others."""

    def load(self, saved: Any) -> Any:
        """World as it was saved, free to be changed."""

    def close(self) -> None:
        """Leave no trace."""


class _Copies:
    """Puts any world back by copying all of it."""

    def save(self, world: Any) -> Any:
        return copy.deepcopy(world)

    def load(self, saved: Any) -> Any:
        return copy.deepcopy(saved)

    def close(self) -> None:
        pass


@dataclass
class _Frontier:
    """States found so far, in the order found, and the steps between them."""

    memory: _Memory
    tell: Callable[[Any], Hashable]
    n_actions: int
    samples: int
    limit: int
    seeds: np.random.Generator
    found: dict[Hashable, int] = field(default_factory=dict)
    waiting: deque[tuple[int, Any]] = field(default_factory=deque)  # from which an episode goes on, with their worlds
    alive: set[int] = field(default_factory=set)
    steps: list[EnvironmentStep] = field(default_factory=list)

    def begin(self, world: Any) -> list[int]:
        """Begin an episode here too."""
        return [self._at(world, ended=False)]

    def walk(self) -> None:
        """Try everything everywhere."""
        while self.waiting:
            state, saved = self.waiting.popleft()
            for action in range(self.n_actions):
                outcomes = Counter(self._tries(saved, action))
                total = sum(outcomes.values())
                self.steps += [
                    EnvironmentStep(state, action, to, n / total, reward, ended)
                    for (to, reward, ended), n in outcomes.items()
                ]

    def _tries(self, saved: Any, action: int) -> Iterator[StepOutcome]:
        """Once if no random number is drawn, else `samples` times with fresh seeds."""
        for attempt in range(self.samples):
            world = self.memory.load(saved)
            inner = world.unwrapped
            random = inner.np_random.bit_generator
            if attempt:
                random.state = np.random.default_rng(self.seeds.integers(2**63)).bit_generator.state
            if hasattr(inner, "step_count"):
                inner.step_count = 0  # the clock is no part of the state
            before = copy.deepcopy(random.state)
            _, reward, ended, _, _ = world.step(action)
            sure = before == random.state
            yield self._at(world, ended=bool(ended)), float(reward), bool(ended)
            if sure:
                return

    def _at(self, world: Any, *, ended: bool) -> int:
        where = self.tell(world)
        state = self.found.setdefault(where, len(self.found))
        if len(self.found) > self.limit:
            raise ModelError(
                f"the environment has more than {self.limit} states; allow more (limit=, --const limit=100000), or "
                "pass a coarser key="
            )
        if not ended and state not in self.alive:
            self.alive.add(state)
            self.waiting.append((state, self.memory.save(world)))
        return state


def _known_key(world: Any, worlds: MinigridWorlds | None) -> Callable[[Any], Hashable]:
    """What tells states of a world we know apart, and several worlds, where there may be several."""
    inner = world.unwrapped
    if is_minigrid(inner):
        return minigrid_state if worlds is None else worlds.state
    if is_blackjack(inner):
        return blackjack_state
    raise FormatError(
        f"what tells two states of {type(inner).__name__} apart is not known; pass a function that says so, "
        "waypost.explore(env, key=...), or abstract a world that is too large for a table (waypost.agents)"
    )


def _bare(env: Any) -> Any:
    """Environment without the wrappers that change no step."""
    while type(env).__name__ in PLAIN and env is not env.unwrapped:
        env = env.env
    return env


def _action_names(env: Any) -> list[str]:
    inner = env.unwrapped
    n = getattr(env.action_space, "n", None)
    if n is None:
        raise FormatError("only environments with finitely many actions can be explored")
    if is_blackjack(inner):
        return list(BLACKJACK)
    named = [action.name for action in getattr(inner, "actions", None) or ()]  # Minigrid has an enumeration
    return named if len(named) == n else [str(a) for a in range(n)]
