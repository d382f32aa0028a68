"""The epidemic of the paper's Table 2: how many vaccines there must be at the start.

A state ``(S,I,V)`` counts the susceptible, the infected and the vaccines left. `NIL` lets a day pass, `V_I` vaccinates
an infected, `V_S` a susceptible; how many are infected that day is hypergeometric. Nobody susceptible and nobody
infected is `positive`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from waypost.errors import ModelError
from waypost.model import MDP


def epidemic(n: int, *, exact: bool = False) -> MDP:
    """``E_n``: at most `n` people, up to ``2 n`` vaccines; the goal is ``"positive"``.

    The states asked for, ``(n,1,V)`` for every number `V` of vaccines, carry the label ``"first day"``. Infection
    probabilities are ratios of whole numbers, rounded once; `exact` keeps them as Fractions.

    >>> epidemic(4)
    MDP(states=227, choices=555, transitions=898, initial='start')
    >>> int(epidemic(4).where("first day").sum())
    9
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ModelError(f"an epidemic needs a population of at least 1, not {n!r}")
    levels = 2 * n + 1  # numbers of vaccines
    size = (n + 1) ** 2 * levels
    susceptible, infected, vaccines = (a.ravel() for a in np.indices((n + 1, n + 1, levels)))
    over = (susceptible == 0) & (infected == 0)
    enabled = np.where(over, 1, 1 + ((vaccines > 0) & (infected > 0)) + ((vaccines > 0) & (susceptible > 0)))
    first = np.concatenate([[0, levels], levels + np.cumsum(enabled), [levels + enabled.sum()]])
    start = np.arange(levels)
    parts = [(start, 1 + _index(n, n, 1, start), np.ones(levels), [Fraction(1)] * levels if exact else [])]
    won = 1 + np.flatnonzero(over)
    parts.append((first[won], np.full(levels, size + 1), np.ones(levels), [Fraction(1)] * levels if exact else []))
    parts += _infections(n, first, exact=exact)
    grid = list(zip(susceptible.tolist(), infected.tolist(), vaccines.tolist(), strict=True))
    asked = np.zeros(size + 2, bool)
    asked[1 + _index(n, n, 1, start)] = True
    return MDP.from_triplets(
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
        first_choice=first,
        states=["start", *(f"({s},{i},{v})" for s, i, v in grid), "positive"],
        actions=_actions(levels, grid),
        initial=0,
        labels={"positive": np.arange(size + 2) == size + 1, "first day": asked},
        exact=[p for part in parts for p in part[3]] if exact else None,
    )


def _index(n: int, s: int, i: int, v: NDArray[np.int64]) -> NDArray[np.int64]:
    return (s * (n + 1) + i) * (2 * n + 1) + v


def _infections(
    n: int, first: NDArray[np.int64], *, exact: bool
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], list[Fraction]]]:
    """Yield choice, successor and probability of the three actions, for all numbers of vaccines at once."""
    for s in range(n + 1):
        for i in range(n + 1):
            if s == i == 0:
                continue
            # (place among the choices, susceptible and infected after the vaccination, vaccines used)
            moves = [(0, s, i, 0)]
            if i > 0:
                moves.append((1, s, i - 1, 1))
            if s > 0:
                moves.append((1 + (i > 0), s - 1, i, 1))
            for place, left, ill, used in moves:
                vaccines = np.arange(used, 2 * n + 1)
                choice = first[1 + _index(n, s, i, vaccines)] + place
                weights = _weights(left, ill, n)
                total = sum(weights.values())
                for k, weight in weights.items():
                    successor = 1 + _index(n, left - k, ill + k, vaccines - used)
                    probability = np.full(len(vaccines), weight / total)  # whole numbers: rounded once
                    yield choice, successor, probability, [Fraction(weight, total)] * len(vaccines) if exact else []


def _weights(susceptible: int, infected: int, n: int) -> dict[int, int]:
    """Hypergeometric weight of `k` new infections, for every `k` that keeps to the population of `n`.

    ``pmf(k; M, m, N)`` with ``M`` people, ``m = min(S, I)`` of them dangerous to meet, and ``N = S`` meetings.
    """
    people, dangerous = susceptible + infected, min(susceptible, infected)
    weights = {}
    for k in range(min(dangerous, n - infected) + 1):
        weight = comb(dangerous, k) * comb(people - dangerous, susceptible - k)
        if weight:
            weights[k] = weight
    return weights


def _actions(levels: int, grid: list[tuple[int, int, int]]) -> list[str]:
    actions = [f"vaccination_{v}" for v in range(levels)]
    for s, i, v in grid:
        if s == i == 0:
            actions.append("won")
            continue
        actions.append("NIL")
        if v and i:
            actions.append("V_I")
        if v and s:
            actions.append("V_S")
    return actions
