"""Protocols of our own: several processes that run the same program."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from waypost.model import MDP


def coin(processes: int, far: int, bias: Fraction = Fraction(1, 2)) -> MDP:
    """A coin that processes share: each tosses, and then moves the counter up or down; whose turn it is, is chosen.

    Whoever sees the counter as far out as can be ends the run: heads up there, tails down there.
    """
    steps: dict[str, dict[str, dict[str, Fraction]]] = {"heads": {}, "tails": {}}
    for counter, *at in product(range(-far, far + 1), *["tud"] * processes):
        choices = {}
        for i, step in enumerate(at):

            def then(new: str, moved: int = 0, i: int = i, at: list[str] = at, counter: int = counter) -> str:
                return named(counter + moved, [*at[:i], new, *at[i + 1 :]], far)

            if step == "t":
                choices[f"toss{i}"] = {then("u"): bias, then("d"): 1 - bias}
            else:
                choices[f"move{i}"] = {then("t", 1 if step == "u" else -1): Fraction(1)}
        steps[f"{counter}{''.join(at)}"] = choices
    return MDP.from_dict(steps, initial=named(0, ["t"] * processes, far))


def named(counter: int, at: list[str], far: int) -> str:
    """Name of a state."""
    return "heads" if counter > far else "tails" if counter < -far else f"{counter}{''.join(at)}"
