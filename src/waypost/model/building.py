"""Models written by people, as nested dictionaries, on their way to arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from waypost.errors import ModelError, unknown_name
from waypost.model.checking import is_number, place_of

Probability = int | float | Fraction | str


def triplets_of(
    choices: Mapping[str, Mapping[str, Mapping[str, Probability] | str]],
    initial: str,
    labels: Mapping[str, Iterable[str]],
) -> dict[str, Any]:
    """Give the arguments of `MDP.from_triplets` for ``{state: {action: {successor: probability}}}``."""
    states = tuple(choices)
    position = {name: i for i, name in enumerate(states)}
    if not states:
        raise ModelError("the model has no states")
    if initial not in position:
        raise unknown_name("state", str(initial), states)
    rows: list[int] = []
    successors: list[int] = []
    given: list[Probability] = []
    actions: list[str] = []
    counts = np.zeros(len(states), np.int64)
    for s, (state, enabled) in enumerate(choices.items()):
        counts[s] = len(enabled)
        for action, distribution in enabled.items():
            if isinstance(distribution, str):
                distribution = {distribution: 1}  # noqa: PLW2901
            for successor, probability in distribution.items():
                if successor not in position:
                    raise ModelError(
                        f"action {action!r} in state {state!r} leads to {successor!r}, which is not a state; "
                        f'add it (a final state is "{successor}": {{}})'
                    )
                rows.append(len(actions))
                successors.append(position[successor])
                given.append(probability)
            actions.append(action)
    textual = any(isinstance(p, str | Fraction) for p in given)
    try:
        exact = (
            [Fraction(p if isinstance(p, str | Fraction | int) else repr(float(p))) for p in given] if textual else None
        )
        probabilities = np.array(exact if exact is not None else given, dtype=float)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        k = next(k for k, p in enumerate(given) if not is_number(p))
        where = place_of(rows[k], np.concatenate([[0], np.cumsum(counts)]), states, actions)
        to = states[successors[k]]
        raise ModelError(f"{where} has probability {given[k]!r} of going to {to!r}, which is no number") from None
    masks = {}
    for label, members in labels.items():
        masks[label] = np.zeros(len(states), bool)
        for member in [members] if isinstance(members, str) else members:
            if member not in position:
                raise unknown_name("state", str(member), states, f"label {label!r}")
            masks[label][position[member]] = True
    return {
        "choice": rows,
        "successor": successors,
        "probability": probabilities,
        "first_choice": np.concatenate([[0], np.cumsum(counts)]),
        "states": states,
        "actions": actions,
        "initial": position[initial],
        "labels": masks,
        "exact": exact,
    }
