"""Kinds of models other than MDPs: which of them can be explained all the same, and what to say of the others."""

from __future__ import annotations

import warnings

from waypost.errors import ModelError
from waypost.formats.registry import JumpsNote

JUMPS = {"CTMC", "MA", "CTMDP"}  # whose runs are those of an MDP or DTMC, but for the time they take
PLAIN = {"MDP", "DTMC"}


def game(name: str) -> str:
    """Say why a game is refused."""
    return f"{name} is a stochastic game (SMG), and importance is defined for one player; fix what the others do"


def partially_observable(name: str) -> str:
    """Say why a partially observable model is refused."""
    return (
        f"{name} is partially observable (POMDP), and importance is defined for strategies that see the state; "
        "write mdp in place of pomdp to explain what these could do"
    )


def timed(name: str) -> str:
    """Say why a timed automaton is refused."""
    return f"{name} is a timed automaton (PTA), whose states are uncountable; translate its clocks to digital ones"


def with_intervals(name: str) -> str:
    """Say why a model with intervals for probabilities is refused."""
    return (
        f"{name} has intervals for probabilities, so it stands for many models, and a strategy that remembers is no "
        "strategy of one of them; give each transition one probability"
    )


def note_jumps(name: str, kind: str) -> None:
    """Say that a continuous-time model is read by the jumps it makes."""
    warnings.warn(
        f"{name} is a {kind}; it is read by its jumps, so that only the probabilities of reaching something count, "
        "not the time it takes",
        JumpsNote,
        stacklevel=2,
    )


def check_kind(kind: str, name: str) -> None:
    """Refuse what cannot be explained, in one sentence that says why.

    >>> check_kind("MDP", "coin.prism")
    >>> check_kind("SMG", "coin.prism")
    Traceback (most recent call last):
    ...
    waypost.errors.ModelError: coin.prism is a stochastic game (SMG), and importance is defined for one player; ...
    """
    if kind in PLAIN | JUMPS:
        return
    said = {"SMG": game, "CSG": game, "POMDP": partially_observable, "PTA": timed, "POPTA": timed, "STA": timed}
    if kind in said:
        raise ModelError(said[kind](name))
    raise ModelError(f"{name} is of the kind {kind}; MDPs and Markov chains can be explained")
