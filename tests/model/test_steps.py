"""Counting steps: within n steps in the model is ever in the product."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.models import assert_same, mdps, plain_names
from waypost.errors import ModelError
from waypost.model import MDP, StateNames, Variable
from waypost.model.steps import within
from waypost.solve import reachability


def best_within(mdp: MDP, target: np.ndarray, steps: int, pick) -> float:
    """Value iteration, the definition of a step-bounded optimum."""
    value = target.astype(float)
    for _ in range(steps):
        value = np.array([pick(mdp.transitions[list(mdp.choices(s))] @ value) for s in range(mdp.n_states)])
        value[target] = 1.0
    return float(value[mdp.initial])


@given(mdps(plain_names), st.integers(0, 4), st.data())
def test_reaching_in_the_product_is_reaching_in_time(mdp, steps, data):
    target = np.array(data.draw(st.lists(st.booleans(), min_size=mdp.n_states, max_size=mdp.n_states)))
    counted = within(mdp.with_labels({"won": target}), steps)
    for optimum, pick in (("max", max), ("min", min)):
        expected = best_within(mdp, target, steps, pick)
        if not counted.labels["won"].any():
            assert expected == 0
            continue
        found = reachability(counted, target="won", optimum=optimum)[counted.initial]
        assert found == pytest.approx(expected, abs=1e-12)


def test_columns_and_fractions_are_counted_on():
    mdp = MDP.from_dict({"x=0": {"go": {"x=0": "1/4", "x=1": "3/4"}}, "x=1": {}}, initial="x=0")
    counted = within(mdp, 2)
    assert counted.states == ("x=0, step=0", "x=0, step=1", "x=1, step=1", "x=0, step=2", "x=1, step=2")
    assert [str(p) for p in counted.exact] == ["1/4", "3/4", "1/4", "3/4", "1", "1", "1"]
    assert counted.where("step=2 & x=1").tolist() == [False] * 4 + [True]


def test_a_model_of_columns_gets_one_more():
    mdp = MDP.from_triplets(
        [0, 0], [0, 1], [0.5, 0.5], first_choice=[0, 1, 1], actions=["go"], initial=0,
        valuations={"step": Variable.of([0, 1])},
    )  # fmt: skip
    counted = within(mdp, 1)
    assert isinstance(counted.states, StateNames)
    assert counted.states == ("step=0, step_=0", "step=0, step_=1", "step=1, step_=1")


def test_no_steps_is_no_step_and_too_many_are_refused():
    mdp = MDP.from_dict({f"s{k}": {"go": {f"s{j}": 0.01 for j in range(100)}} for k in range(100)}, initial="s0")
    assert within(mdp, 0).n_states == 1
    with pytest.raises(ModelError, match="needs more than 20,000,000 states"):
        within(mdp, 10**9)
    with pytest.raises(ModelError, match="after -1 steps"):
        within(mdp, -1)
    assert_same(within(mdp, 1), within(mdp, 1))
