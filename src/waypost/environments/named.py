"""Environments by name, for people at a command line: ``gym:FrozenLake-v1``.

What Gymnasium calls the environment comes behind the colon; one of another package is ``gym:package:Name-v0``. Options
of the environment and of `explore` come as constants do: ``is_slippery=false``, ``starts=50``.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from waypost.environments.exploring import explore
from waypost.environments.gymnasium import from_gymnasium
from waypost.errors import FormatError, require
from waypost.model import MDP

PREFIX = "gym:"
EXPLORING = ("seed", "starts", "samples", "limit")  # options of `explore`, where the environment has no table


def names_environment(source: Any) -> bool:
    """Whether a source is an environment by its name.

    >>> names_environment("gym:Taxi-v4"), names_environment("model.drn")
    (True, False)
    """
    return isinstance(source, str) and source.startswith(PREFIX)


def named_environment(source: str, options: Mapping[str, Any]) -> tuple[MDP, int | None]:
    """Model of an environment, and the limit it sets to the length of an episode, if it sets one.

    >>> named_environment("gym:FrozenLake-v1", {"is_slippery": "false"})
    (MDP(states=16, choices=49, transitions=49, initial='row=0, col=0'), 100)
    """
    library = require("gymnasium", "gym", "an environment by its name")
    name = source.removeprefix(PREFIX)
    if name.startswith("MiniGrid-"):
        require("minigrid", "gym", "a world of Minigrid")  # which registers its worlds
    given = {key: _value(text) for key, text in options.items()}
    exploring = {key: given.pop(key) for key in EXPLORING if key in given}
    try:
        env = library.make(name, **given)
    except Exception as error:  # whatever an environment raises for options it does not know
        raise FormatError(f"Gymnasium cannot make {name!r}: {str(error)[:300]}") from error
    try:
        if not getattr(env.unwrapped, "P", None):
            return explore(env, **exploring), _limit(env)
        if exploring:
            raise FormatError(f"{name} has a table, so nothing is explored; leave out {' and '.join(exploring)}")
        return from_gymnasium(env), _limit(env)
    finally:
        with suppress(Exception):
            env.close()


def _limit(env: Any) -> int | None:
    limit = getattr(getattr(env, "spec", None), "max_episode_steps", None) or getattr(env.unwrapped, "max_steps", None)
    return None if limit is None else int(limit)


def _value(text: Any) -> Any:
    """Value that a text means: true, false, a number, or itself.

    >>> [_value(text) for text in ("true", "8x8", "0.5", "3")]
    [True, '8x8', 0.5, 3]
    """
    words = {"true": True, "false": False, "none": None}
    if not isinstance(text, str) or text.lower() in words:
        return words.get(text.lower()) if isinstance(text, str) else text
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text
