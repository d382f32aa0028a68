"""Large components that sweeps do not settle: policy iteration with sparse factors.

Sweeps (see `settle`) are slow where runs linger in a component, as in a long corridor walked back and forth; there,
factors are sparse and quick. They are kept in the arena for the next question about the same component.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from waypost.errors import PrecisionError
from waypost.graph import Ints
from waypost.solve.arena import Arena
from waypost.solve.chains import solve_chain
from waypost.solve.settle import STOP, Payoff, Problem


def settle_directly(arena: Arena, problem: Problem, earned: Payoff, block: Ints, place: Ints) -> None:
    """Policy iteration on a component, touching nothing else; `place` is -1 everywhere, before and after."""
    choices = _ranges(problem.first_choice[block], problem.first_choice[block + 1])
    choices = choices[problem.enabled[choices]]
    part = arena.gathered.get(int(block[0]))
    if part is None or not (np.array_equal(part.block, block) and np.array_equal(part.choices, choices)):
        part = _Part.of(arena, block, choices, place)
        arena.gathered[int(block[0])] = part
    outside: NDArray[np.float64] = np.column_stack([
        np.bincount(part.out_row, part.out_chance * column[part.out_to], minlength=len(choices))
        for column in (earned.gain, earned.loss)
    ])  # fmt: skip
    weights = np.array([problem.gain_weight, -problem.loss_weight])
    n = len(block)
    for _ in range(10_000):
        current = earned.choice[block]
        moving = current >= 0
        row = np.searchsorted(choices, current[moving])
        if len(row) == len(choices) == n:  # no choice at all
            steps, ways_out, paid = part.inside, part.leaving, outside
        else:
            steps, ways_out, paid = part.taken(row, moving, outside)
        solution = solve_chain(steps, ways_out, paid, arena.solved, (block, current))
        earned.gain[block], earned.loss[block] = solution.T
        rates = part.inside @ solution + outside
        own, options = solution @ weights, rates @ weights
        at_stake, tied = solution @ abs(weights), rates @ abs(weights)
        gap = options - own[part.owner] - problem.tie * (tied + at_stake[part.owner])
        better = np.flatnonzero(gap > 0)
        stop = problem.may_stop[block] & (own + problem.tie * at_stake < 0)
        if not len(better) and not stop.any():
            return
        top = np.where(stop, 0.0, -np.inf)
        np.maximum.at(top, part.owner[better], options[better])
        earned.choice[block[stop]] = STOP
        winners = better[options[better] >= top[part.owner[better]]][::-1]
        earned.choice[block[part.owner[winners]]] = choices[winners]  # of equals the first is written last
    raise PrecisionError("policy iteration did not settle; try exact arithmetic")


class _Part(NamedTuple):
    """Some choices of a component, apart from the rest of the model."""

    block: Ints  # (n,)
    choices: Ints  # (c,)
    owner: Ints  # (c,) position in the block
    inside: csr_array  # (c, n)
    leaving: NDArray[Any]  # (c,) chance of leaving the component
    out_row: Ints  # the arrows that leave it
    out_to: Ints
    out_chance: NDArray[Any]

    def taken(self, row: Ints, moving: NDArray[np.bool_], outside: NDArray[Any]) -> tuple[csr_array, Any, Any]:
        """The chain of a strategy that takes some rows where it moves, and stops elsewhere."""
        if moving.all():
            return csr_array(self.inside[row]), self.leaving[row], outside[row]
        n = len(moving)
        pick = csr_array((np.ones(len(row)), (np.flatnonzero(moving), row)), shape=(n, len(self.choices)))
        return csr_array(pick @ self.inside), np.where(moving, pick @ self.leaving, 1.0), pick @ outside

    @classmethod
    def of(cls, arena: Arena, block: Ints, choices: Ints, place: Ints) -> _Part:
        """Gather a component; `place` is -1 everywhere, before and after."""
        graph = arena.graph
        place[block] = np.arange(len(block))
        low, high = graph.indptr[choices], graph.indptr[choices + 1]
        entries = _ranges(low, high)
        row = np.repeat(np.arange(len(choices)), high - low)
        to, chance = graph.indices[entries], arena.data[entries]
        out = place[to] < 0
        inside = csr_array((chance[~out], (row[~out], place[to[~out]])), shape=(len(choices), len(block)))
        owner = place[graph.choice_state[choices]]
        place[block] = -1
        return cls(
            block=block,
            choices=choices,
            owner=owner,
            inside=inside,
            leaving=np.bincount(row[out], weights=chance[out], minlength=len(choices)),
            out_row=row[out],
            out_to=to[out],
            out_chance=chance[out],
        )


def _ranges(low: Ints, high: Ints) -> Ints:
    """``low[0], ..., high[0] - 1, low[1], ..., high[1] - 1, ...``"""
    sizes = high - low
    return np.repeat(low - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())
