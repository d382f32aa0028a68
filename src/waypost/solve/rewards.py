"""The one optimisation everything else is: the greatest expected terminal reward.

Some states are *terminal* and pay a reward; in some others one *may stop* with reward 0; elsewhere a strategy picks
choices until it gets to one of those. The value is the greatest fixpoint-free solution of

    w(x) = reward(x)                                     x terminal
    w(x) = max( [0 if x may stop],  max_c  sum_y P(c, y) w(y) )   otherwise

Components are settled in reverse topological order. A single state is a division (its self-loop aside). A larger
component is settled by policy iteration: evaluate by a direct solve, switch only where it strictly helps. Started
from a strategy that leaves with probability 1, strict improvement can never close a cycle (on a closed cycle the
average of ``P w - w`` is zero, yet a switched state would make it positive), so no system is singular and the result
is the value of a real strategy that satisfies the optimality equation. Reachability needs no more:

    Prmax(F T)   reward 1 on T, stopping allowed everywhere
    Prmin(F T)   minus the value of reward -1 on T, terminal 0 where T can be avoided for ever
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from waypost.errors import PrecisionError
from waypost.graph import Ints, Mask, distances
from waypost.graph.compiled import kernel
from waypost.solve.arena import Arena
from waypost.solve.chains import solve_chain
from waypost.solve.rational import solve_fixpoint

STOP = -1  # the choice of a state that stops or is terminal
TIE = 1e-13  # relative: a smaller improvement is taken for rounding
DENSE = 100  # components up to this size are settled inside the compiled kernel


@dataclass(frozen=True, eq=False)
class Optimum:
    """Values and a memoryless deterministic strategy that attains them."""

    values: NDArray[Any]  # (S,)
    choice: Ints  # (S,) or STOP


def best_rewards(
    arena: Arena,
    *,
    terminal: Mask,
    reward: NDArray[Any],
    may_stop: Mask,
    enabled: Mask | None = None,
    initial: Ints | None = None,
    scale: NDArray[Any] | None = None,
) -> Optimum:
    """Greatest expected terminal reward from every state.

    Rewards have one sign, or `scale` bounds the expected size of the reward from each state: floats cannot tell
    improvements much smaller than that from rounding. A state that is neither terminal nor may stop must not be able
    to avoid those states for ever. `initial` is a strategy that certainly gets to a terminal or stopping state; without
    it one is laid towards the positive rewards.
    """
    graph = arena.graph
    enabled = graph.everything if enabled is None else enabled
    if initial is None:
        initial = _towards(arena, terminal, reward, may_stop, enabled)
        if not (reward < arena.zero).any():  # nothing to gain, nothing to lose: whoever may stop there does
            terminal = terminal | ((initial == STOP) & may_stop)
            reward = np.where(may_stop, arena.zero, reward) if may_stop.any() else reward
    choice = np.where(terminal, STOP, initial)
    values = arena.zeros()
    values[terminal] = reward[terminal]
    if not terminal.any():
        return Optimum(values, choice)
    tie = _Tie(
        relative=arena.zero if arena.exact or scale is not None else TIE,
        slack=arena.zeros() if arena.exact or scale is None else TIE * scale,
    )
    work = 0 if arena.exact else graph.size
    run = _settle.sized(work)
    dense = 1 if run is _settle.plain else DENSE
    parts = arena.components
    place = np.full(graph.n_states, -1)
    k = 0
    while True:
        k = run(
            k, dense, parts.pointer, parts.members, graph.first_choice, graph.indptr, graph.indices, arena.data,
            enabled, terminal, may_stop, values, choice, tie.relative, tie.slack, place, arena.zero,
        )  # fmt: skip
        if k == len(parts):
            return Optimum(values, choice)
        members = parts.members[parts.pointer[k] : parts.pointer[k + 1]]
        block = np.sort(members[~terminal[members]])
        settle = _settle_exactly if arena.exact else _settle_large
        settle(arena, block, enabled, may_stop, values, choice, tie, place)
        k += 1


class _Tie(NamedTuple):
    """What an improvement must exceed: a share of the value, and a slack of its own for each state."""

    relative: Any
    slack: NDArray[Any]  # (S,)

    def over(self, values: NDArray[Any], states: Ints) -> NDArray[Any]:
        """(n,) values plus the tie."""
        return np.asarray(values + self.relative * abs(values) + self.slack[states])


def _towards(arena: Arena, terminal: Mask, reward: NDArray[Any], may_stop: Mask, enabled: Mask) -> Ints:
    """Strategy that gets nearer to a positive reward where it can, stops where it may, and else takes any choice."""
    graph = arena.graph
    positive = terminal & np.asarray(reward > arena.zero, bool)
    _, nearer = distances(graph, positive, blocked=terminal, enabled=enabled)
    rest = (nearer < 0) & ~terminal & ~may_stop
    if rest.any():
        options = np.flatnonzero(enabled)[::-1]
        some = np.full(graph.n_states, STOP)
        some[graph.choice_state[options]] = options  # the first enabled choice of each state is written last
        nearer = np.where(rest, some, nearer)
    return nearer


@kernel
def _settle(  # type: ignore[no-untyped-def]
    start, dense, pointer, members, first_choice, indptr, indices, data, enabled, terminal, may_stop,
    values, choice, relative, slack, place, zero,
):  # fmt: skip
    """Settle components from number `start` on; return the number of one that is too large for here, or the end."""
    for k in range(start, len(pointer) - 1):
        active = 0
        x = 0
        for i in range(pointer[k], pointer[k + 1]):
            if not terminal[members[i]]:
                active += 1
                x = members[i]
        if active == 0:
            continue
        if active > 1:
            if active > dense:
                return k
            block = np.empty(active, np.int64)
            n = 0
            for i in range(pointer[k], pointer[k + 1]):
                y = members[i]
                if not terminal[y]:
                    block[n] = y
                    place[y] = n
                    n += 1
            _settle_dense(
                block, first_choice, indptr, indices, data, enabled, may_stop, values, choice, place, relative, slack
            )
            for y in block:
                place[y] = -1
            continue
        best = zero
        taken = -1
        known = may_stop[x]
        for c in range(first_choice[x], first_choice[x + 1]):
            if not enabled[c]:
                continue
            total = zero
            leaving = zero
            for e in range(indptr[c], indptr[c + 1]):
                if indices[e] != x:
                    leaving = leaving + data[e]
                    total = total + data[e] * values[indices[e]]
            if leaving > zero:
                total = total / leaving
                if not known or total > best:
                    best = total
                    taken = c
                    known = True
        values[x] = best
        choice[x] = taken
    return len(pointer) - 1


@kernel
def _settle_dense(  # type: ignore[no-untyped-def]
    block, first_choice, indptr, indices, data, enabled, may_stop, values, choice, place, relative, slack
):
    """Policy iteration on a small component; `place` is the position of its states, and -1 elsewhere.

    States are cut out one after the other, and nothing is subtracted: a diagonal is the sum of the ways out.
    """
    n = len(block)
    matrix = np.zeros((n, n))
    leaving = np.zeros(n)  # probability of leaving the component at once
    value = np.zeros(n)
    while True:
        for i in range(n):
            matrix[i, :] = 0.0
            leaving[i] = 1.0
            value[i] = 0.0
            c = choice[block[i]]
            if c >= 0:
                leaving[i] = 0.0
                for e in range(indptr[c], indptr[c + 1]):
                    j = place[indices[e]]
                    if j >= 0:
                        matrix[i, j] += data[e]
                    else:
                        leaving[i] += data[e]
                        value[i] += data[e] * values[indices[e]]
        for i in range(n - 1, -1, -1):
            total = leaving[i]
            for j in range(i):
                total += matrix[i, j]
            leaving[i] /= total
            value[i] /= total
            for j in range(i):
                matrix[i, j] /= total
            for r in range(i):
                weight = matrix[r, i]
                if weight > 0.0:
                    leaving[r] += weight * leaving[i]
                    value[r] += weight * value[i]
                    for j in range(i):
                        matrix[r, j] += weight * matrix[i, j]
        for i in range(n):
            for j in range(i):
                value[i] += matrix[i, j] * value[j]
            values[block[i]] = value[i]
        switched = False
        for x in block:
            best = values[x] + relative * abs(values[x]) + slack[x]
            taken = -2
            if may_stop[x] and best < 0.0:
                best = 0.0
                taken = -1
            for c in range(first_choice[x], first_choice[x + 1]):
                if enabled[c]:
                    total = 0.0
                    for e in range(indptr[c], indptr[c + 1]):
                        total += data[e] * values[indices[e]]
                    if total > best:
                        best = total
                        taken = c
            if taken > -2:
                choice[x] = taken
                switched = True
        if not switched:
            return


def _settle_large(
    arena: Arena, block: Ints, enabled: Mask, may_stop: Mask, values: NDArray[Any], choice: Ints, tie: _Tie, place: Ints
) -> None:
    """Policy iteration on a large component, touching nothing but the component."""
    graph = arena.graph
    choices = _ranges(graph.first_choice[block], graph.first_choice[block + 1])
    choices = choices[enabled[choices]]
    part = arena.gathered.get(int(block[0]))
    if part is None or not (np.array_equal(part.block, block) and np.array_equal(part.choices, choices)):
        part = _Part.of(arena, block, choices, place)
        arena.gathered[int(block[0])] = part
    paid_out: NDArray[Any] = part.out_chance * values[part.out_to]
    outside: NDArray[Any] = np.bincount(part.out_row, paid_out, minlength=len(choices))
    n = len(block)
    for _ in range(10_000):
        current = choice[block]
        moving = current >= 0
        row = np.searchsorted(choices, current[moving])
        if len(row) == len(choices) == n:  # no choice at all
            steps, ways_out, paid = part.inside, part.leaving, outside
        else:
            steps, ways_out, paid = part.taken(row, moving, outside)
        solution = solve_chain(steps, ways_out, paid, arena.solved, (block, current))
        values[block] = solution
        options = part.inside @ solution + outside
        best = np.maximum.reduceat(options, part.head)
        states = part.owner[part.head]
        over = tie.over(solution, block)
        better = best > over[states]
        stop = may_stop[block] & (over < 0)
        stop[states[better & (best > 0)]] = False
        if not better.any() and not stop.any():
            return
        top = np.full(n, np.inf)
        top[states[better]] = best[better]
        winners = np.flatnonzero(options >= top[part.owner])[::-1]
        choice[block[part.owner[winners]]] = choices[winners]  # of equals the first is written last
        choice[block[stop]] = STOP
    raise PrecisionError("policy iteration did not settle; try exact arithmetic")


class _Part(NamedTuple):
    """Some choices of a component, apart from the rest of the model."""

    block: Ints  # (n,)
    choices: Ints  # (c,)
    owner: Ints  # (c,) position in the block
    head: Ints  # first choice of each state that has one
    inside: csr_array  # (c, n)
    leaving: NDArray[Any]  # (c,) chance of leaving the component
    out_row: Ints  # the arrows that leave it
    out_to: Ints
    out_chance: NDArray[Any]

    def taken(self, row: Ints, moving: Mask, outside: NDArray[Any]) -> tuple[csr_array, NDArray[Any], NDArray[Any]]:
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
        owner = place[graph.choice_state[choices]]
        inside = csr_array((chance[~out], (row[~out], place[to[~out]])), shape=(len(choices), len(block)))
        place[block] = -1
        return cls(
            block=block,
            choices=choices,
            owner=owner,
            head=np.flatnonzero(np.concatenate([[True], np.diff(owner) > 0])),
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


def _settle_exactly(
    arena: Arena,
    block: Ints,
    enabled: Mask,
    may_stop: Mask,
    values: NDArray[Any],
    choice: Ints,
    _: _Tie,
    __: Ints,
) -> None:
    """Policy iteration on a component in rationals, by state elimination."""
    graph, data = arena.graph, arena.data
    place = {x: i for i, x in enumerate(block.tolist())}
    while True:
        rows: list[dict[int, Any]] = []
        constant: list[Any] = []
        for x in block.tolist():
            row: dict[int, Any] = {}
            total = arena.zero
            c = choice[x]
            for e in range(graph.indptr[c], graph.indptr[c + 1]) if c >= 0 else ():
                y = int(graph.indices[e])
                if y in place:
                    row[place[y]] = data[e]
                else:
                    total = total + data[e] * values[y]
            rows.append(row)
            constant.append(total)
        values[block] = solve_fixpoint(rows, constant)
        switched = False
        for x in block.tolist():
            best, taken = values[x], -2
            if may_stop[x] and best < 0:
                best, taken = arena.zero, STOP
            for c in range(graph.first_choice[x], graph.first_choice[x + 1]):
                if enabled[c]:
                    total = arena.zero
                    for e in range(graph.indptr[c], graph.indptr[c + 1]):
                        total = total + data[e] * values[graph.indices[e]]
                    if total > best:
                        best, taken = total, c
            if taken > -2:
                choice[x] = taken
                switched = True
        if not switched:
            return
