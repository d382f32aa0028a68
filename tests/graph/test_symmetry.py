"""Symmetries are those that a search over all renamings finds, and states that one exchanges are passed alike."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols import coin
from strategies import mdps
from waypost.graph import Graph
from waypost.graph.symmetry import orbits
from waypost.importance import Question, sweeps
from waypost.importance.sweeps import bounds_of_states
from waypost.model import MDP
from waypost.processes.places import working
from waypost.solve import elimination


def distributions(mdp: MDP, state: int, renaming: tuple[int, ...]) -> Counter[frozenset[tuple[int, float]]]:
    """Where the choices of a state lead, by other names."""
    rows = (mdp.transitions[[c]] for c in mdp.choices(state))
    return Counter(frozenset((renaming[y], p) for y, p in zip(r.indices, r.data, strict=True)) for r in rows)


def exchanged(mdp: MDP, kinds: np.ndarray) -> set[tuple[int, int]]:
    """Pairs of states that some symmetry exchanges: all renamings, one after the other."""
    n, same = mdp.n_states, tuple(range(mdp.n_states))
    found: set[tuple[int, int]] = set()
    for renaming in permutations(range(n)):
        if all(
            kinds[renaming[s]] == kinds[s] and distributions(mdp, s, renaming) == distributions(mdp, renaming[s], same)
            for s in range(n)
        ):
            found |= set(enumerate(renaming))
    return found


@settings(max_examples=100)
@given(mdps(max_states=5), st.sampled_from(["goal", None]))
def test_states_share_an_orbit_only_if_a_symmetry_exchanges_them(mdp, label):
    kinds = mdp.where(label).astype(np.int64) if label else np.zeros(mdp.n_states, np.int64)
    first = orbits(Graph.of(mdp), mdp.transitions.data, kinds)
    right = exchanged(mdp, kinds)
    assert {(s, int(first[s])) for s in range(mdp.n_states)} <= right
    assert (first[first] == first).all()
    assert (first <= np.arange(mdp.n_states)).all()


@pytest.mark.parametrize("processes", [2, 3, 4])
def test_processes_that_run_one_program_are_exchanged(processes):
    """A state is its counter, and how many processes are where."""
    mdp = coin(processes, 2, Fraction(1, 3))
    kinds = mdp.where("heads").astype(np.int64)
    first = orbits(Graph.of(mdp), mdp.transitions.data, kinds)
    sort = [
        name if name in ("heads", "tails") else (name[:-processes], *sorted(name[-processes:])) for name in mdp.states
    ]
    assert len(set(zip(sort, first.tolist(), strict=True))) == len(set(sort)) == len(set(first.tolist()))


def test_a_fair_coin_has_two_sides_that_are_exchanged():
    """Unless they are told apart: up becomes down, and heads becomes tails."""
    mdp = coin(2, 3)
    nothing = np.zeros(mdp.n_states, np.int64)
    first = orbits(Graph.of(mdp), mdp.transitions.data, nothing)
    assert first[mdp.state("tails")] == first[mdp.state("heads")]
    assert first[mdp.state("-3td")] == first[mdp.state("3ut")]
    told = orbits(Graph.of(mdp), mdp.transitions.data, mdp.where("heads").astype(np.int64))
    assert told[mdp.state("tails")] != told[mdp.state("heads")]
    assert told[mdp.state("-3td")] != told[mdp.state("3ut")]
    assert told[mdp.state("3tu")] == told[mdp.state("3ut")]


@pytest.mark.parametrize(("scope", "absolute"), [("all", False), ("optimal", False), ("all", True)])
def test_states_that_are_alike_have_one_answer(scope, absolute, monkeypatch):
    """It is that of each by itself, up to rounding; and the same bits where states are shared out."""
    monkeypatch.setattr(sweeps, "RENAMING", 0)
    monkeypatch.setattr(elimination, "MOST_KEPT", -1)
    mdp = coin(3, 3, Fraction(2, 5))
    asked = np.arange(mdp.n_states)
    question = Question.of(mdp, target="heads", scope=scope)
    apart = bounds_of_states(question, asked, absolute=absolute, most=False)
    found = bounds_of_states(question, asked, absolute=absolute)
    assert len(np.unique(found[1])) < len(np.unique(question.alike)) + 3
    assert np.allclose(found, apart, rtol=1e-11, atol=0)
    with working(workers=2):
        again = bounds_of_states(question, asked, absolute=absolute)
    assert np.array_equal(found, again)
