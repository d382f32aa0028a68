"""What an environment has to be and to give, as Gymnasium has it, and errors that say what it gave instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from waypost.errors import FormatError


class Stepped(NamedTuple):
    """What a step of an environment gave."""

    seen: Any
    reward: float
    ended: bool  # by the rules
    cut: bool  # by a limit on the length of an episode
    info: Any


def one_environment(env: Any, what: str) -> None:
    """Refuse what is not one environment of Gymnasium."""
    if hasattr(env, "num_envs"):
        sees = ""
        if hasattr(env, "normalize_obs"):
            seen = "lambda seen: agent.predict(env.normalize_obs(seen), deterministic=True)[0]"
            sees = f", and an agent that sees what it saw in training: {seen}"
        raise FormatError(f"several environments at once cannot be {what}; pass one, as gymnasium.make gives it{sees}")
    if isinstance(env, type):
        raise FormatError(
            f"{env.__name__} is a class and cannot be {what}; pass an environment of it: {env.__name__}()"
        )
    if not all(hasattr(env, name) for name in ("action_space", "reset", "step", "unwrapped")):
        raise FormatError(
            f"a {type(env).__name__} cannot be {what}; pass one environment, as gymnasium.make gives it, or one of "
            "your own that is a gymnasium.Env"
        )


def begun(env: Any, seed: int | None) -> tuple[Any, Any]:
    """What is seen first, and more about it."""
    try:
        said = env.reset(seed=seed)
    except TypeError as error:
        if "seed" not in str(error):
            raise
        raise FormatError(
            f"{_called(env)} cannot be reset with a seed ({error}); let it be reset(self, *, seed=None, options=None), "
            "with super().reset(seed=seed) in it"
        ) from error
    if not isinstance(said, tuple) or len(said) != 2 or not isinstance(said[1], Mapping):
        raise FormatError(
            f"reset() of {_called(env)} gives {str(said)[:60]!r}, not (observation, info) as Gymnasium has it"
        )
    return said


def stepped(env: Any, action: Any) -> Stepped:
    """What a step gives, checked."""
    said = env.step(action)
    if not isinstance(said, tuple) or len(said) != 5:
        raise FormatError(
            f"step() of {_called(env)} gives {len(said) if isinstance(said, tuple) else 1} things, not the five of "
            "Gymnasium: observation, reward, terminated, truncated, info"
        )
    seen, given, ended, cut, info = said
    reward = np.asarray(given, object).reshape(-1)
    try:
        number = float(reward[0]) if reward.size == 1 else float("nan")
    except (TypeError, ValueError):
        number = float("nan")
    if np.isnan(number):
        raise FormatError(f"step() of {_called(env)} gives the reward {given!r}, which is no number")
    return Stepped(seen, number, bool(ended), bool(cut), info)


def _called(env: Any) -> str:
    return type(env.unwrapped).__name__


def name_of(found: Any) -> Any:
    """What a state is called that is told by numbers in arrays or by name: a tuple, or text that assigns variables.

    >>> name_of(np.array([1, 2])), name_of((np.int64(3), np.True_)), name_of({"at": np.array([1, 2]), "wet": True})
    ((1, 2), (3, True), 'at_0=1, at_1=2, wet=true')
    """
    if isinstance(found, Mapping):
        return ", ".join(f"{name}={value}" for name, value in _values("", found))
    if isinstance(found, np.ndarray | np.generic):
        found = found.tolist()
    return tuple(name_of(part) for part in found) if isinstance(found, list | tuple) else found


def _values(name: str, found: Any) -> list[tuple[str, str]]:
    """Every value in a mapping, called by its keys and places."""
    if isinstance(found, Mapping):
        pairs = [(str(key), part) for key, part in found.items()]
    else:
        found = name_of(found)
        if not isinstance(found, tuple):
            return [(name, str(found).lower() if isinstance(found, bool) else str(found))]
        pairs = [(str(k), part) for k, part in enumerate(found)]
    return [value for key, part in pairs for value in _values(f"{name}_{key}" if name else key, part)]
