"""How rarely best strategies meet the states of an end component: a small question for each, whatever lies around it.

A strategy wanders in an end component ``E`` as it likes, and leaves it for certain. Where nobody else has a choice
before ``E`` or between leaving it and coming back, there are numbers ``a(e)``, how often ``E`` is first entered at
``e``, and ``r(c, e)``, how often it is entered at ``e`` next once it is left by the choice ``c``, or never again. They
are visits of a Markov chain (`waypost.solve.visits`). What remains is a small model: runs begin in ``a``, wander, and
leave by ``c`` for ``r(c)``. In that model `s` is met with probability

    1 - max P(never enter again, before s)

at least, and nothing else has a say in it. All states of ``E`` are worth the same, and so the least importance of `s`
is that of entering ``E``, times this share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from waypost.errors import PrecisionError
from waypost.graph import Graph, Ints, Mask, can_reach
from waypost.solve.arena import Arena
from waypost.solve.conditional import best_ratio
from waypost.solve.flow import Flow
from waypost.solve.reachability import Reach
from waypost.solve.visits import Visits

Floats = NDArray[np.float64]

MOST_STEPS = 100_000_000  # of arranging what lies around an end component
CONSISTENT = 1e-9  # relative: how often it is entered is found twice


def least_met(reach: Reach, start: int, flow: Flow, states: Ints, *, enabled: Mask) -> Floats:
    """(n,) least importance of some states under best strategies; NaN where this is not the way to find it.

    >>> from waypost.model import MDP
    >>> from waypost.solve.flow import most_passed
    >>> ways = {"s": {"go": {"a": "1/2", "b": "1/4", "lost": "1/4"}}, "a": {"to": "b"}, "b": {"back": "a", "on": "won"}}
    >>> mdp = MDP.from_dict({**ways, "won": {}, "lost": {}}, initial="s")
    >>> reach = Reach.of(mdp, mdp.where("won"), exact=False)
    >>> flow = most_passed(reach, 0, enabled=reach.conserving, visited=np.ones(5, bool))
    >>> least_met(reach, 0, flow, np.array([0, 1, 2]), enabled=reach.conserving).round(9).tolist()
    [nan, 0.666666667, 1.0]
    """
    found = np.full(len(states), np.nan)
    _, place, wandering, _ = flow.merged
    told = wandering[states] & flow.attained[states]
    of_place = np.argsort(place, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(place))])
    for merged in np.unique(place[states[told]]).tolist():
        around = _Around.of(reach.arena, flow, merged, *of_place)
        if around is None:
            continue
        entered = around.entered(around.begun)[:-1]
        most = entered.sum() * reach.max.values[around.members[0]] / reach.max.values[start]
        rooms = _rooms(reach.arena, around, entered / entered.sum(), enabled)
        for i in np.flatnonzero(place[states] == merged).tolist():
            if abs(most - flow.most[states[i]]) <= CONSISTENT * most:
                found[i] = flow.most[states[i]] * _share(*rooms, around.members == states[i])
    return found


class _Begun(NamedTuple):
    """Where something begins, how often."""

    states: Ints
    often: Floats


class _Around(NamedTuple):
    """An end component, and the chain of what lies between leaving it and coming back."""

    members: Ints  # (n,) ascending
    merged: int  # what stands for it
    place: Ints  # (S,) what stands for each state
    others: Ints  # (m,) what else is in its component, ascending
    visits: Visits | None  # to the others; None if there are none
    ways: csr_array  # (m, n + 1) from the others, in one step, to each member, or out of the component
    begun: _Begun  # how the component is entered

    @classmethod
    def of(cls, arena: Arena, flow: Flow, merged: int, order: Ints, pointer: Ints) -> _Around | None:
        """Cut everything else out of the component; None if that is too much.

        States in `order` of their place; those of place `k` are ``order[pointer[k] : pointer[k + 1]]``.
        """
        graph, place, _, entries = flow.merged
        part = flow.parts.component[merged]
        some = np.sort(flow.parts.members[flow.parts.pointer[part] : flow.parts.pointer[part + 1]])
        own = np.concatenate([order[slice(*pointer[k : k + 2])] for k in some])
        others, members = some[some != merged], own[place[own] == merged]
        begun = _Begun(own[flow.entering[own] > 0], flow.entering[own[flow.entering[own] > 0]])
        around = cls(members, merged, place, others, None, csr_array((0, len(members) + 1)), begun)
        if not len(others):
            return around
        choices = graph.first_choice[others]  # one each, or what is behind it were not told
        if (graph.first_choice[others + 1] - choices != 1).any():
            return None
        sizes = np.diff(graph.indptr)[choices]
        arrows = np.concatenate([np.arange(*graph.indptr[c : c + 2]) for c in choices])
        owner, chance = np.repeat(np.arange(len(others)), sizes), arena.data[entries[arrows]]
        to, inside = around.places(arena.graph.indices[entries[arrows]])
        shape = len(others), len(members) + 1
        steps = coo_array((chance[inside], (owner[inside], to[inside])), (len(others), len(others))).tocsr()
        ways = coo_array((chance[~inside], (owner[~inside], to[~inside])), shape).tocsr()
        try:
            visits = Visits.of(steps, np.asarray(ways.sum(axis=1)).ravel(), limit=MOST_STEPS)
        except (OverflowError, ZeroDivisionError):
            return None
        return around._replace(visits=visits, ways=ways)

    def places(self, states: Ints) -> tuple[Ints, Mask]:
        """Which of the others each state is in, and whether; else which member it is, or `n` if it lies outside."""
        merged = self.place[states]
        to = np.searchsorted(self.others, merged)
        here = merged == self.merged
        inside = np.append(self.others, -1)[to] == merged
        to[here] = np.searchsorted(self.members, states[here])
        to[~here & ~inside] = len(self.members)
        return to, inside

    def entered(self, begun: _Begun) -> Floats:
        """(n + 1,) how often the end component is entered at each member next; and how often never again."""
        to, inside = self.places(begun.states)
        found = np.bincount(to[~inside], begun.often[~inside], len(self.members) + 1).astype(float)
        if self.visits is not None and inside.any():
            others = np.bincount(to[inside], begun.often[inside], len(self.others)).astype(float)
            found += self.visits.before(others) @ self.ways
        return found


def _rooms(arena: Arena, around: _Around, entered: Floats, enabled: Mask) -> tuple[Graph, Floats]:
    """The small model: members, what is outside of them, and where runs begin."""
    graph, n = arena.graph, len(around.members)
    owned, goals, chances = np.zeros(n + 2, np.int64), list[Ints](), list[Floats]()
    for k, x in enumerate(around.members):
        for c in range(*graph.first_choice[x : x + 2]):
            if enabled[c]:
                row = slice(*graph.indptr[c : c + 2])
                next_ = around.entered(_Begun(graph.indices[row], arena.data[row]))
                owned[k] += 1
                goals.append(np.flatnonzero(next_))
                chances.append(next_[goals[-1]] / next_.sum())
    owned[n + 1] = 1
    goals.append(np.flatnonzero(entered))
    chances.append(entered[goals[-1]])
    first, indptr = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in (owned, [len(goal) for goal in goals]))
    return Graph(first, indptr, np.concatenate(goals)), np.concatenate(chances)


def _share(rooms: Graph, chance: Floats, met: Mask) -> float:
    """Share of the runs that meet one of the members whatever is done; NaN if in doubt."""
    n = len(met)
    outside, met = np.arange(n + 2) == n, np.append(met, [False, False])
    lost = met | ~can_reach(rooms, outside, blocked=met)
    if lost[n + 1]:
        return 1.0
    try:
        found = best_ratio(
            Arena.over(rooms, chance, outside | met),
            start=n + 1,
            terminal=outside | lost,
            gain=outside.astype(float),
            loss=lost.astype(float),
            may_stop=np.zeros(n + 2, bool),
        )
    except PrecisionError:
        return float("nan")
    return float(found.complement)
