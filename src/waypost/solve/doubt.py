"""Which components floats may have settled with a strategy that is not the best one.

What a given strategy earns is right to nearly all digits of a float (`gth`). What may go wrong is the choice: an
advantage ``A(c) = sum_y P(c, y) (w(y) - w(x))`` that looks like rounding counts as often as it is met. A choice is
*open* when its advantage is not clearly below 0. By adding up advantages along the runs of the best strategy,

    w*(x) - w(x)  <=  (greatest advantage that is open)  x  (steps by open choices, at most)

and the steps are found by giving every one of them a small chance to end in *tiredness*: how likely is that, at most?
End components of open choices are merged first: wandering in them changes nothing. Where the product is too large, the
component is in doubt.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Graph, Ints, Mask
from waypost.graph.components import end_components
from waypost.solve.arena import Arena
from waypost.solve.policy import Payoff, Rewards

OPEN = 1e-9  # relative: a choice that is worse by more is worse
TIRING = 1e-6  # chance to tire per step
TIRED = 1e-2  # more than that: runs may be too long for any bound
ROUNDING = 5e-15  # relative error of an advantage
HARMLESS = 2e-10  # relative error of what a strategy earns


def doubtful(arena: Arena, rewards: Rewards, earned: Payoff, suspect: Mask) -> Ints:
    """Components among the suspect ones in which the strategy found may not be the best, ascending."""
    graph = arena.graph
    states = arena.several & ~rewards.terminal & suspect[arena.components.component]
    rows = rewards.enabled & states[graph.choice_state]
    if not rows.any() or np.bincount(graph.choice_state[rows]).max() < 2:
        return np.zeros(0, np.int64)
    taken = np.zeros(graph.n_choices, bool)
    taken[earned.choice[states & (earned.choice >= 0)]] = True
    undecided, excess = _open(arena, rewards, earned, rows & ~taken)
    if not undecided.any():
        return np.zeros(0, np.int64)
    component = arena.components.component
    error = np.zeros(len(arena.components))
    np.maximum.at(error, component[graph.choice_state[undecided]], excess[undecided] + ROUNDING)
    there = states & (error[component] > 0)
    tired, _ = tiredness(graph, arena.data, there, (undecided | taken) & there[graph.choice_state])
    steps = np.zeros(len(arena.components))
    np.maximum.at(steps, component[there], tired[there])
    return np.flatnonzero((steps > TIRED) | (error * 1.2 * steps / TIRING > HARMLESS))


def _open(arena: Arena, rewards: Rewards, earned: Payoff, rows: Mask) -> tuple[Mask, NDArray[np.float64]]:
    """(C,) choices among `rows` that may be as good as what is taken, and (C,) the share by which they seem better."""
    graph = arena.graph
    up, down = rewards.gain_weight * earned.gain, rewards.loss_weight * earned.loss
    worth, stake = up - down, up + down
    own = np.repeat(graph.choice_state, np.diff(graph.indptr))
    starts = graph.indptr[:-1]
    better = np.add.reduceat(arena.data * (worth[graph.indices] - worth[own]), starts)
    size = np.add.reduceat(arena.data * (stake[graph.indices] + stake[own]), starts)
    undecided = rows & (better > -OPEN * size) & (size > 0)
    excess = np.zeros(graph.n_choices)
    mine = stake[graph.choice_state]
    excess[undecided] = np.maximum(better[undecided], 0) / np.where(mine > 0, mine, size)[undecided]
    return undecided, excess


def tiredness(graph: Graph, data: NDArray[Any], inside: Mask, enabled: Mask) -> tuple[NDArray[np.float64], Mask]:
    """(S,) greatest probability of tiring while `inside`, by the `enabled` choices, and (S,) who can stay for ever."""
    from waypost.solve.rewards import best_rewards

    number, inner = end_components(graph, inside=inside, enabled=enabled)
    choices = np.flatnonzero(enabled & ~inner & inside[graph.choice_state])
    merged = int(number.max(initial=-1)) + 1
    place = np.where(number >= 0, number, 0)
    alone = inside & (number < 0)
    place[alone] = merged + np.arange(alone.sum())
    n = merged + int(alone.sum())  # then: away, and tired
    place[~inside] = n
    owner = place[graph.choice_state[choices]]
    choices, owner = choices[np.argsort(owner, kind="stable")], np.sort(owner)
    sizes = np.diff(graph.indptr)[choices]
    ends = np.cumsum(sizes)
    entries = np.repeat(graph.indptr[choices] - (ends - sizes), sizes) + np.arange(sizes.sum())
    indices = np.insert(place[graph.indices[entries]], ends, n + 1)
    chances = np.insert(data[entries] * (1 - TIRING), ends, TIRING)
    first = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n + 2))])
    runs = Graph(first, np.concatenate([[0], ends + np.arange(1, len(ends) + 1)]), indices)
    stopping = np.arange(n + 2) >= n
    arena = Arena.over(runs, chances, stopping)
    gain = (np.arange(n + 2) == n + 1).astype(float)
    found = best_rewards(arena, terminal=stopping, may_stop=~stopping, gain=gain, certified=False).gain
    return np.where(inside, found[place], 0.0), number >= 0
