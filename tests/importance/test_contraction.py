"""States that the same runs pass are one place, and a smaller model has the same bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import waypost
from strategies import mdps
from waypost.importance import Question, contraction
from waypost.importance.contraction import contracted
from waypost.importance.passing import SIDES, bound
from waypost.importance.sweeps import bounds_of_states
from waypost.model import MDP
from waypost.solve import elimination


def stretched(mdp: MDP, doors: set[int]) -> MDP:
    """The same model in which some states are entered by a door, a corridor of their own."""
    names = [f"door {name}" if s in doors else name for s, name in enumerate(mdp.states)]
    choices = {}
    for s, name in enumerate(mdp.states):
        if s in doors:
            choices[names[s]] = {"enter": name}
        choices[name] = {
            mdp.actions[c]: {
                names[y]: float(p) for y, p in zip(mdp.successors(choice=c), mdp.transitions[[c]].data, strict=True)
            }
            for c in mdp.choices(s)
        }
    goals = [name for name, goal in zip(mdp.states, mdp.where("goal"), strict=True) if goal]
    return MDP.from_dict(choices, initial=names[mdp.initial], labels={"goal": goals})


@pytest.mark.parametrize("scope", ["all", "optimal"])
@settings(max_examples=100)
@given(mdps(max_states=7, max_strategies=10**6), st.sets(st.integers(0, 6)))
def test_the_smaller_model_has_the_same_bounds(scope, mdp, doors):
    """Law: both bounds of every state are those of its place, and equal those found one by one."""
    long = stretched(mdp, {s for s in doors if s < mdp.n_states})
    try:
        question = Question.of(long, target="goal", scope=scope)
    except waypost.WaypostError:
        assume(condition=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contraction, "WORTH", 0.999)
        patch.setattr(elimination, "MOST_KEPT", -1)
        small = contracted(question)
        refused: dict[int, str] = {}
        told = []
        found = bounds_of_states(question, np.arange(long.n_states), workers=1, refused=refused, progress=told.append)
    right = [[bound(question, only, side).value for only in np.eye(long.n_states, dtype=bool)] for side in SIDES]
    np.testing.assert_allclose(np.array(found), np.array(right), atol=1e-12)
    assert not refused
    assert sum(told) == 2 * long.n_states
    if small is not None:
        for s in doors:
            if s < mdp.n_states and question.ever[long.state(mdp.states[s])] and not mdp.where("goal")[s]:
                assert small.place[long.state(mdp.states[s])] == small.place[long.state(f"door {mdp.states[s]}")]


def test_a_long_corridor_is_one_place_and_what_is_hopeless_another():
    """Probabilities are moved, never added: two hopeless successors of one choice stay two."""
    steps = {f"s{k}": {"on": f"s{k + 1}"} for k in range(50)}
    last = {"s50": {"risk": {"won": "1/3", "lost": "1/3", "gone": "1/3"}, "stop": "lost"}}
    mdp = MDP.from_dict({**steps, **last, "won": {}, "lost": {}, "gone": {}}, initial="s0")
    small = contracted(Question.of(mdp, target="won", scope="all"))
    assert small.question.mdp.n_states == 4
    assert set(small.place[:51].tolist()) == {0}
    assert small.question.mdp.transitions.data.tolist() == [1 / 3, 1 / 3, 1 / 3, 1, 1, 1, 1]


def test_what_has_no_corridors_is_left_alone():
    mdp = MDP.from_dict(
        {"a": {"go": {"b": 0.5, "a": 0.5}, "by": "b"}, "b": {"back": "a", "on": "c"}, "c": {}}, initial="a"
    )
    assert contracted(Question.of(mdp, target="c", scope="all")) is None
