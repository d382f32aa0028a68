"""Graph functions are what their definitions say, tried out on every subset and every strategy of small graphs."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import mdps
from waypost.cases import loan
from waypost.graph import (
    Graph,
    can_reach,
    compiled,
    distances,
    dominators,
    end_components,
    prob0a,
    prob0e,
    prob1a,
    prob1e,
    reachable,
    stay,
    strong_components,
)
from waypost.graph.reach import idle_without

MANY = settings(max_examples=35)


@pytest.fixture(autouse=True, params=["plain", "compiled"])
def twin(request, monkeypatch):
    """Which twin of every kernel runs; both must tell the same."""
    monkeypatch.setattr(compiled, "WORTH_COMPILING", np.inf if request.param == "plain" else -1)
    return request.param


class Small:
    """A graph with masks, as Python sets."""

    def __init__(self, mdp, goal, blocked, disabled) -> None:
        self.graph = Graph.of(mdp)
        self.n, self.start = mdp.n_states, mdp.initial
        t = mdp.transitions
        self.rows = [frozenset(t.indices[t.indptr[c] : t.indptr[c + 1]].tolist()) for c in range(mdp.n_choices)]
        self.enabled = np.array([not d for d in disabled], bool)
        self.goal, self.blocked = np.array(goal, bool), np.array(blocked, bool)

    def moves(self, x: int) -> list[frozenset[int]]:
        """Successors of every enabled choice of a state."""
        first = self.graph.first_choice
        return [self.rows[c] for c in range(first[x], first[x + 1]) if self.enabled[c]]

    def forward(self, seen: set[int], closed=frozenset()) -> set[int]:
        """Everything reachable; closed states are not left."""
        seen = set(seen)
        while True:
            more = {y for x in seen - set(closed) for row in self.moves(x) for y in row} - seen
            if not more:
                return seen
            seen |= more

    def subsets(self, of: set[int]) -> list[frozenset[int]]:
        return [frozenset(part) for k in range(len(of) + 1) for part in combinations(sorted(of), k)]

    def strategies(self):
        """Every memoryless deterministic strategy, as the successors of each state; nowhere to go is staying."""
        return product(*([self.moves(x) or [frozenset({x})]][0] for x in range(self.n)))


def members(mask) -> set[int]:
    return set(np.flatnonzero(mask).tolist())


@st.composite
def graphs(draw, every_state_moves: bool = False):
    mdp = draw(mdps())
    flags = st.lists(st.booleans(), min_size=mdp.n_states, max_size=mdp.n_states)
    rare = st.sampled_from([False, False, False, True])
    disabled = draw(st.lists(rare, min_size=mdp.n_choices, max_size=mdp.n_choices))
    if every_state_moves:
        for first in mdp.first_choice[:-1]:
            disabled[first] = False
    return Small(mdp, mdp.where("goal"), draw(flags), disabled)


def almost_sure(chain, goal: set[int]) -> set[int]:
    """Where a finite chain reaches the goal with probability 1: the goal stays in sight until it is reached."""

    def seen_from(x: int) -> set[int]:
        seen, queue = {x}, [x]
        while queue:
            z = queue.pop()
            for y in chain[z] if z not in goal else ():
                if y not in seen:
                    seen.add(y)
                    queue.append(y)
        return seen

    sight = [seen_from(x) for x in range(len(chain))]
    return {x for x in range(len(chain)) if all(sight[y] & goal for y in sight[x])}


@MANY
@given(graphs())
def test_reachable_states_are_those_some_walk_visits(small):
    start = np.arange(small.n) == small.start
    found = reachable(small.graph, start, blocked=small.blocked, enabled=small.enabled)
    assert members(found) == small.forward({small.start}, members(small.blocked))


@MANY
@given(graphs())
def test_a_state_can_reach_the_goal_if_a_walk_does(small):
    """Not passing blocked states before; a blocked goal still counts."""
    goal, closed = members(small.goal), members(small.blocked & ~small.goal)
    found = can_reach(small.graph, small.goal, blocked=small.blocked, enabled=small.enabled)
    walks = {x for x in range(small.n) if x in goal or (x not in closed and small.forward({x}, closed | goal) & goal)}
    assert members(found) == walks


@MANY
@given(graphs())
def test_distances_fall_by_one_along_the_choices_given(small):
    distance, nearer = distances(small.graph, small.goal, enabled=small.enabled)
    for x in range(small.n):
        options = [min((distance[y] for y in row if distance[y] >= 0), default=None) for row in small.moves(x)]
        options = [d for d in options if d is not None]
        if small.goal[x]:
            assert distance[x] == 0
        elif options:
            assert distance[x] == 1 + min(options)
            row = small.rows[nearer[x]]
            assert small.enabled[nearer[x]]
            assert small.graph.choice_state[nearer[x]] == x
            assert min(distance[y] for y in row if distance[y] >= 0) == distance[x] - 1
        else:
            assert (distance[x], nearer[x]) == (-1, -1)


@MANY
@given(graphs(), st.data())
def test_what_can_be_kept_is_the_union_of_all_sets_that_can(small, data):
    """stay: every subset is tried; the choice given stays inside."""
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=small.n, max_size=small.n)), bool)
    absorbing = small.blocked

    def closed(part) -> bool:
        return all(absorbing[x] or any(row <= part for row in small.moves(x)) for x in part)

    union = frozenset().union(*(part for part in small.subsets(members(inside)) if closed(part)))
    kept, staying = stay(small.graph, inside, absorbing=absorbing, enabled=small.enabled)
    assert members(kept) == union
    for x in range(small.n):
        if staying[x] >= 0:
            assert x in union
            assert small.enabled[staying[x]]
            assert small.rows[staying[x]] <= union
        else:
            assert x not in union or absorbing[x]


@MANY
@given(graphs())
def test_prob1e_means_that_some_strategy_has_probability_one(small):
    """Every strategy is tried; the one given is one of them."""
    goal = members(small.goal)
    found, choice = prob1e(small.graph, small.goal, enabled=small.enabled)
    assert members(found) == set().union(*(almost_sure(chain, goal) for chain in small.strategies()))
    chain = [small.rows[choice[x]] if choice[x] >= 0 else frozenset({x}) for x in range(small.n)]
    assert members(found) <= almost_sure(chain, goal)


@MANY
@given(graphs(every_state_moves=True))
def test_prob1a_means_that_every_strategy_has_probability_one(small):
    goal = members(small.goal)
    found = prob1a(small.graph, small.goal, enabled=small.enabled)
    assert members(found) == set.intersection(*(almost_sure(chain, goal) for chain in small.strategies()))


@MANY
@given(graphs(every_state_moves=True))
def test_prob0_means_that_no_or_not_every_strategy_may_get_there(small):
    goal = members(small.goal)

    def sees(chain) -> set[int]:
        seen = set(goal)
        while more := {x for x in range(small.n) if chain[x] & seen} - seen:
            seen |= more
        return seen

    sights = [sees(chain) for chain in small.strategies()]
    assert members(~prob0e(small.graph, small.goal, enabled=small.enabled)[0]) == set.intersection(*sights)
    assert members(~prob0a(small.graph, small.goal, enabled=small.enabled)) == set.union(*sights)


@MANY
@given(graphs())
def test_components_are_the_classes_of_mutual_reachability(small):
    """Successors come first."""
    parts = strong_components(small.graph, enabled=small.enabled)
    sight = [small.forward({x}) for x in range(small.n)]
    for x, y in combinations(range(small.n), 2):
        assert (parts.component[x] == parts.component[y]) == (y in sight[x] and x in sight[y])
    for x in range(small.n):
        assert all(parts.component[y] <= parts.component[x] for y in sight[x])
    listed = [set(parts.members[i:j].tolist()) for i, j in pairwise(parts.pointer)]
    assert listed == [members(parts.component == k) for k in range(len(parts))]


@MANY
@given(graphs(), st.data())
def test_end_components_are_the_largest_sets_one_can_roam_for_ever(small, data):
    """Every subset is tried: closed under some choice in every state, and connected by such choices."""
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=small.n, max_size=small.n)), bool)

    def roams(part) -> bool:
        steps = {x: [row for row in small.moves(x) if row <= part] for x in part}
        if not part or not all(steps.values()):
            return False
        for x in part:
            seen = {x}
            while more := {y for z in seen for row in steps[z] for y in row} - seen:
                seen |= more
            if seen != part:
                return False
        return True

    fit = [part for part in small.subsets(members(inside)) if roams(part)]
    largest = {part for part in fit if not any(part < other for other in fit)}
    number, inner = end_components(small.graph, inside=inside, enabled=small.enabled)
    assert {frozenset(members(number == k)) for k in set(number.tolist()) - {-1}} == largest
    for c, row in enumerate(small.rows):
        home = next((part for part in largest if small.graph.choice_state[c] in part), frozenset())
        assert inner[c] == (bool(small.enabled[c]) and bool(home) and row <= home)


@MANY
@given(graphs())
def test_dominators_are_the_states_without_which_the_goal_is_lost(small):
    """Every state is taken out in turn; a goal state counts when the goal can only be entered there."""
    goal = members(small.goal)
    found = dominators(small.graph, small.start, small.goal, enabled=small.enabled)
    entered = small.forward({small.start}, goal) & goal
    for s in range(small.n):
        around = small.forward({small.start} - {s}, goal | {s}) - {s}
        assert found[s] == (bool(entered) and not around & goal)


@MANY
@given(graphs())
def test_idling_without_a_state_is_staying_in_the_rest(small):
    graph = small.graph
    idle = stay(graph, ~small.goal)[0]
    removed, kept = np.flatnonzero(idle), np.arange(small.n)
    found = idle_without(graph, idle, removed, kept)
    for row, s in zip(found, removed, strict=True):
        assert row.tolist() == stay(graph, idle & (np.arange(small.n) != s))[0].tolist()


def test_dominators_of_the_loan_example_do_not_depend_on_the_path_laid(twin):
    mdp = loan()
    found = dominators(Graph.of(mdp), mdp.initial, mdp.where(["Granted", "Rejected"]))
    assert [mdp.states[s] for s in np.flatnonzero(found)] == ["s0"], twin
