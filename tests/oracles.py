"""Slow and obviously right: enumerate every deterministic strategy with one bit of memory, in fractions.

Memoryless strategies alone would be the wrong oracle: the optima need to know whether the state was seen.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from waypost.model import MDP


def rows(mdp: MDP) -> list[list[dict[int, Fraction]]]:
    """rows[s][k]: the successor distribution of the k-th choice of state s."""
    exact, t = mdp.rationals(), mdp.transitions
    return [
        [
            {int(t.indices[e]): exact[e] for e in range(t.indptr[c], t.indptr[c + 1])}
            for c in range(mdp.first_choice[s], mdp.first_choice[s + 1])
        ]
        for s in range(mdp.n_states)
    ]


def expected(chain: list[dict[int, Fraction]], reward: dict[int, Fraction]) -> list[Fraction]:
    """Expected reward on first entering a key of `reward`; 0 for runs that never do."""
    n = len(chain)
    live = {s for s, r in reward.items()}
    grown = True
    while grown:  # who gets to a rewarded state at all
        more = {s for s in range(n) if s not in live and any(y in live for y in chain[s])}
        grown = bool(more)
        live |= more
    unknown = sorted(live - set(reward))
    place = {s: i for i, s in enumerate(unknown)}
    matrix = [[Fraction(0)] * (len(unknown) + 1) for _ in unknown]
    for s in unknown:
        row = matrix[place[s]]
        row[place[s]] += 1
        for y, p in chain[s].items():
            if y in place:
                row[place[y]] -= p
            elif y in reward:
                row[-1] += p * reward[y]
    for i in range(len(unknown)):
        pivot = next(r for r in range(i, len(unknown)) if matrix[r][i] != 0)
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        lead = matrix[i][i]
        matrix[i] = [x / lead for x in matrix[i]]
        for r in range(len(unknown)):
            if r != i and matrix[r][i] != 0:
                factor = matrix[r][i]
                matrix[r] = [x - factor * z for x, z in zip(matrix[r], matrix[i], strict=True)]
    values = [Fraction(0)] * n
    for s, r in reward.items():
        values[s] = r
    for s in unknown:
        values[s] = matrix[place[s]][-1]
    return values


def strategies(mdp: MDP):
    """Every deterministic memoryless strategy, as the chain it induces."""
    return [list(pick) for pick in product(*rows(mdp))]


def all_pairs(mdp: MDP, target: np.ndarray, s: int) -> list[tuple[Fraction, Fraction]]:
    """(probability of reaching the target, of doing so via s) for every deterministic one-bit strategy."""
    goal = {int(x): Fraction(1) for x in np.flatnonzero(target)}
    everywhere = strategies(mdp)
    after = {Fraction(1)} if target[s] else {expected(chain, goal)[s] for chain in everywhere}
    found = set()
    for chain in everywhere:
        rest = {x: r for x, r in goal.items() if x != s}
        to_s = expected(chain, {**dict.fromkeys(rest, Fraction(0)), s: Fraction(1)})[mdp.initial]
        to_t = expected(chain, {**rest, s: Fraction(0)})[mdp.initial]
        found |= {(to_t + to_s * v, to_s * v) for v in after}
    return list(found)


def importance(mdp: MDP, target: np.ndarray, s: int, scope: str) -> tuple[Fraction, Fraction]:
    """Least and greatest importance by enumeration."""
    pairs = [(reached, via) for reached, via in all_pairs(mdp, target, s) if reached > 0]
    if scope == "optimal":
        best = max(reached for reached, _ in pairs)
        pairs = [(reached, via) for reached, via in pairs if reached == best]
    ratios = [via / reached for reached, via in pairs]
    return min(ratios), max(ratios)


def absolute(mdp: MDP, target: np.ndarray, s: int) -> tuple[Fraction, Fraction]:
    """Least and greatest probability of reaching the target via s."""
    via = [via for _, via in all_pairs(mdp, target, s)]
    return min(via), max(via)


def path_importance(mdp: MDP, target: np.ndarray, path: list[int], choices: list[int]) -> tuple[Fraction, Fraction]:
    """Least and greatest importance of a path, over strategies that follow it and then do as they like."""
    goal = {int(x): Fraction(1) for x in np.flatnonzero(target)}
    table = rows(mdp)
    for s, c in zip(path[:-1], choices, strict=True):
        table[s] = [table[s][c - int(mdp.first_choice[s])]]
    values = [expected(list(pick), goal) for pick in product(*table)]
    likely, aside = Fraction(1), []
    for s, y in pairwise(path):
        aside += [(likely * p, z) for z, p in table[s][0].items() if z != y]
        likely *= table[s][0][y]
    ratios = []
    for end in values:
        for off in values:
            along, rest = likely * end[path[-1]], sum((p * off[z] for p, z in aside), Fraction(0))
            if along + rest > 0:
                ratios.append(along / (along + rest))
    return min(ratios), max(ratios)
