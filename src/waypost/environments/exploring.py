"""Small worlds without a table: every action is tried in every state.

A world is put back to where it was before each try: from a copy, or, for Minigrid, by its own attributes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from waypost.arguments import checked
from waypost.environments.blackjack import BLACKJACK, blackjack_state, is_blackjack
from waypost.environments.chance import shared_chance_kept
from waypost.environments.contract import begun, one_environment
from waypost.environments.ends import EpisodeModel
from waypost.environments.minigrid import (
    MinigridMemory,
    MinigridWorlds,
    is_minigrid,
    minigrid_labels,
    minigrid_state,
)
from waypost.environments.replaying import hold_against_play
from waypost.environments.trying import Copies, Frontier, WorldMemory
from waypost.errors import ArgumentError, FormatError
from waypost.model import MDP
from waypost.model.valuations import named_by

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
        What tells two states apart, as text, a number, or a tuple, an array or a dict of these, whose entries become
        variables; known for Minigrid (the agent, its load, the doors) and Blackjack. The first world found with a key
        stands for all that have it, so it must hold what the future depends on: in Blackjack the dealer's hidden card
        too, and a clock or the last action where an environment or a wrapper of it keeps one. Some episodes are
        played: a key that leaves out what a step without chance depends on is mostly found out.
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
    one_environment(env, "explored")
    names = list(actions) if actions is not None else _action_names(env)
    world = _bare(env)
    own = key is None and world is env.unwrapped and is_minigrid(world)
    _, info = begun(env, seed)  # through its wrappers, which may set it up
    memory: WorldMemory = MinigridMemory(world) if own else Copies()
    worlds = MinigridWorlds()
    tell = key or _known_key(world, worlds if starts > 1 else None)
    first = int(getattr(env.action_space, "start", 0))
    with shared_chance_kept(seed), closing(memory):
        walk = Frontier(memory, tell, names, first, samples, limit, np.random.default_rng(seed))
        begin = _begun(walk, world, info, seed, starts)
        walk.walk()
        if not own:
            hold_against_play(walk, world, seed)
    mdp = _briefly_named(_in_order(walk, names, begin).mdp())
    labels = minigrid_labels(mdp, _begins(env, worlds, seed, starts)) if own else {}
    return mdp.with_labels({**mdp.labels, **labels})


def _begins(env: Any, worlds: MinigridWorlds, seed: int | None, starts: int) -> Iterator[tuple[int, Any]]:
    """Every world at its beginning, with its number; the first comes last, in which the environment is left."""
    for k in reversed(range(starts)):
        env.reset(seed=seed if seed is None else seed + k)
        yield worlds.number(env), env.unwrapped


def _in_order(walk: Frontier, actions: Sequence[str], begin: Mapping[int, float]) -> EpisodeModel:
    """All that was found, states in the order in which they were; those that are called by numbers in that order."""
    keys = list(walk.found)
    order = list(range(len(keys)))
    if all(isinstance(where, int | np.integer) and not isinstance(where, bool) for where in keys):
        order.sort(key=lambda state: int(keys[state]))  # type: ignore[call-overload]
    rank = {state: k for k, state in enumerate(order)}
    steps = [step._replace(state=rank[step.state], to=rank[step.to]) for step in walk.steps]
    names = [str(keys[state]) for state in order]
    return EpisodeModel(steps, names, actions, {rank[state]: share for state, share in begin.items()})


def _briefly_named(mdp: MDP) -> MDP:
    """Leave out of the names what is the same in all states."""
    variables = mdp.variables
    if not any(variable.constant for variable in variables.values()):
        return mdp
    names = named_by(variables)
    return mdp if names is None else replace(mdp, states=names, valuations=variables)


def _begun(walk: Frontier, world: Any, info: Any, seed: int | None, starts: int) -> dict[int, float]:
    """How often each state came first in so many resets; the world was reset once already."""
    start = Counter(walk.begin(world, info))
    for k in range(1, starts):
        _, info = begun(world, int(seed or 0) + k)
        start.update(walk.begin(world, info))
    return {state: n / starts for state, n in start.items()}


def _known_key(world: Any, worlds: MinigridWorlds | None) -> Callable[[Any], Hashable]:
    """What tells states of a world we know apart, and several worlds, where there may be several."""
    inner = world.unwrapped
    if is_minigrid(inner):
        return minigrid_state if worlds is None else worlds.state
    if is_blackjack(inner):
        return blackjack_state
    raise FormatError(
        f"what tells two states of {type(inner).__name__} apart is not known; pass a function of the environment that "
        "says so, waypost.explore(env, key=lambda env: env.unwrapped.state), or abstract a world that is too large for "
        "a table (waypost.agents)"
    )


def _bare(env: Any) -> Any:
    """Environment without the wrappers that change no step."""
    while type(env).__name__ in PLAIN and env is not env.unwrapped:
        env = env.env
    return env


def _action_names(env: Any) -> list[str]:
    inner = env.unwrapped
    n = getattr(env.action_space, "n", None)
    kind = type(env.action_space).__name__
    if n is None or kind == "MultiBinary":
        raise FormatError(
            f"the actions of {type(inner).__name__} are {kind}, not Discrete; wrap it so that they are numbers, in a "
            "gymnasium.ActionWrapper whose action() makes the action of a number"
        )
    if is_blackjack(inner):
        return list(BLACKJACK)
    first = int(getattr(env.action_space, "start", 0))
    numbers = range(first, first + int(n))
    given = getattr(inner, "actions", None)
    if isinstance(given, Mapping) and set(given) == set(numbers):
        given = [given[number] for number in numbers]
    if isinstance(given, Iterable) and not isinstance(given, str):
        called = [getattr(action, "name", action) for action in given]  # Minigrid has an enumeration
        named = [str(name) for name in called if isinstance(name, str) and not name.isdecimal()]
        if len(set(named)) == len(named) == n:
            return named
    return [str(number) for number in numbers]
