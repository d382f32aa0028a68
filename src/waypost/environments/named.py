"""Environments by name, for people at a command line: ``gym:FrozenLake-v1``.

What Gymnasium calls the environment comes behind the colon; one of another package is ``gym:package:Name-v0``. Options
of the environment and of `explore` come as constants do: ``is_slippery=false``, ``starts=50``.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from waypost.environments.blackjack import is_blackjack
from waypost.environments.ends import GOAL
from waypost.environments.exploring import SAMPLES, explore
from waypost.environments.gymnasium import from_gymnasium, has_table
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


def named_environment(source: str, options: Mapping[str, Any]) -> tuple[MDP, tuple[str, ...]]:
    """Model of an environment, and sentences on what it leaves out.

    >>> mdp, notes = named_environment("gym:FrozenLake-v1", {"is_slippery": "false"})
    >>> mdp, len(notes)
    (MDP(states=16, choices=49, transitions=49, initial='row=0, col=0'), 1)
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
        if not has_table(env.unwrapped):
            found = explore(env, **exploring)
            return found, (*_limit(env), *_explored(env, exploring, found))
        if exploring:
            raise FormatError(f"{name} has a table, so nothing is explored; leave out {' and '.join(exploring)}")
        found = from_gymnasium(env)
        return found, (*_limit(env), *_alike(found))
    finally:
        with suppress(Exception):
            env.close()


def _limit(env: Any) -> tuple[str, ...]:
    """Say that a limit on the length of episodes does not count."""
    limit = getattr(getattr(env, "spec", None), "max_episode_steps", None) or getattr(env.unwrapped, "max_steps", None)
    if limit is None:
        return ()
    note = f"episodes of the environment end after {limit} steps; here they take as long as they like, unless it is "
    return (f"{note}asked what is reached within {limit} steps (--within {limit})",)


def _alike(mdp: MDP) -> tuple[str, ...]:
    """Say that rewards do not tell the goal from other ends."""
    ends = mdp.labels.get("terminal")
    if ends is None or ends.sum() < 2 or (ends != mdp.labels.get(GOAL)).any():
        return ()
    names = " and ".join(repr(mdp.states[s]) for s in np.flatnonzero(ends)[:2].tolist())
    told = f"all {ends.sum()} ends bring the same reward, so that the goal is any of them, such as {names}"
    return (f"{told}; --target names another goal",)


def _explored(env: Any, exploring: Mapping[str, Any], mdp: MDP) -> tuple[str, ...]:
    """Say which worlds were explored, which numbers are frequencies, and what a strategy sees that no player does."""
    seed = exploring.get("seed", 0)
    once = exploring.get("starts", 1) == 1
    notes = [f"explored from one start, the one with seed {seed}; --const starts=50 begins in as many"] if once else []
    first = slice(mdp.initial, mdp.initial + 1)
    constant = [f"{name}={value.texts(first)[0]}" for name, value in mdp.variables.items() if value.constant]
    if constant and once:
        notes.append(f"the same in all states, and no part of their names: {', '.join(constant)}")
    if mdp.transitions.nnz > mdp.n_choices:
        tries = exploring.get("samples", SAMPLES)
        notes.append(f"what is left to chance was tried {tries} times: its probabilities are frequencies")
    if is_blackjack(env.unwrapped):
        notes.append("strategies see the dealer's hidden card here, so that the best of them beat every player")
    return tuple(notes)


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
