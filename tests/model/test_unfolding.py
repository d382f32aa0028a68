"""A strategy with memory is one without on the product with its memory, and leaves a Markov chain."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import strategies
from waypost.errors import UndefinedImportanceError
from waypost.importance import group_importance
from waypost.model import MDP, StateNames, Strategy, Variable, induced_mdp, on_product


@st.composite
def with_memory(draw):
    """Random models with a strategy of one bit, or one that tosses between such strategies."""
    mdp = draw(strategies.mdps())
    found = []
    for _ in range(draw(st.integers(1, 2))):
        modes = []
        for _ in range(2):
            weights = np.array(
                draw(st.lists(st.sampled_from([0, 1, 3]), min_size=mdp.n_choices, max_size=mdp.n_choices))
            )
            weights = weights + 1e-300 * (np.add.reduceat(weights, mdp.first_choice[:-1]) == 0)[mdp.choice_state]
            modes.append(weights / np.add.reduceat(weights, mdp.first_choice[:-1])[mdp.choice_state])
        switch = np.array(draw(st.lists(st.booleans(), min_size=mdp.n_states, max_size=mdp.n_states)))
        found.append(Strategy.one_bit(mdp, *modes, switch))
    return found[0] if len(found) == 1 else Strategy.mixed(*found, draw(st.sampled_from([0.25, 0.5])))


@given(with_memory(), st.data())
def test_importance_is_the_same_with_memory_on_the_product_and_in_the_chain(strategy, data):
    """Law: P1 of a strategy is that of its memoryless twin, and that of its chain, whose one strategy it is."""
    mdp = strategy.mdp
    goal = np.zeros(mdp.n_states, bool)
    goal[data.draw(st.integers(0, mdp.n_states - 1))] = True
    asked = np.array(data.draw(st.lists(st.booleans(), min_size=mdp.n_states, max_size=mdp.n_states)))
    assume(asked.any())
    marked = mdp.with_labels({"goal": goal, "asked": asked})
    strategy = Strategy(marked, strategy.modes, strategy.update, strategy.start, strategy.toss)
    try:
        expected = group_importance(marked, target="goal", scope=strategy, groups={"a": "asked"})["a"]
    except UndefinedImportanceError:
        assume(False)
    plain, chain = on_product(strategy), induced_mdp(strategy)
    assert plain.memory == 1
    assert (np.diff(chain.first_choice) == 1).all()
    if not plain.mdp.labels["asked"].any():
        assert expected.upper == 0
        return
    product = group_importance(plain.mdp, target="goal", scope=plain, groups={"a": "asked"})["a"]
    assert product == pytest.approx(expected)
    left = group_importance(chain, target="goal", scope="all", groups={"a": "asked"})["a"] if (
        chain.labels["asked"].any()
    ) else (0, 0)  # fmt: skip
    assert left == pytest.approx(expected)


def test_names_keep_the_variables_and_gain_the_memory():
    variables = {"x": Variable.of([0, 1, 2])}
    mdp = MDP.from_triplets(
        [0, 1, 2, 2, 3], [1, 2, 0, 2, 2], [1, 1, "0.5", "0.5", 1], first_choice=[0, 2, 3, 4],
        actions=["up", "far", "back", "stay"], initial=0, valuations=variables,
    )  # fmt: skip
    taken = [[1, 0, 1, 1], [0, 1, 1, 1]]
    strategy = Strategy.one_bit(mdp, *taken, mdp.where("x=1"))
    plain = on_product(strategy)
    assert isinstance(plain.mdp.states, StateNames)
    assert tuple(plain.mdp.states) == (
        "x=0, memory=0",
        "x=2, memory=0",
        "x=0, memory=1",
        "x=1, memory=1",
        "x=2, memory=1",
    )
    assert plain.to_dict()["x=0, memory=1"] == {"far": 1.0}
    assert plain.mdp.where("x=2 & memory=1").sum() == 1
    chain = induced_mdp(strategy)
    assert tuple(chain.states) == ("x=0, memory=0", "x=0, memory=1", "x=1, memory=1", "x=2, memory=1")
    assert chain.actions == ("up", "far", "back", "stay")


def test_chains_of_exact_models_are_exact():
    mdp = MDP.from_dict(
        {"a": {"l": {"b": "1/3", "c": "2/3"}, "r": {"c": 1}}, "b": {}, "c": {}}, initial="a", labels={"b": ["b"]}
    )
    chain = induced_mdp(Strategy.from_dict(mdp, {"a": {"l": 0.25, "r": 0.75}}))
    assert list(chain.exact) == [Fraction(1, 12), Fraction(11, 12), 1, 1]
    assert chain.actions[0] == "(mixed)"
