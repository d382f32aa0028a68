"""What a choice does is what its successors have that its state has not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import waypost
from waypost.model import MDP
from waypost.model.effects import effect, told_action
from waypost.report.pagedata import page_data
from waypost.report.text import path_summary

STATES = [f"x={x}, y={y}" for x in range(3) for y in range(2)]


@given(st.lists(st.sets(st.sampled_from(STATES), min_size=1, max_size=3), min_size=1, max_size=3))
def test_an_effect_holds_in_every_successor_and_tells_all_that_changes(targets):
    """Law: what is told are the values of the successors; what is not told is as before."""
    steps = {str(k): {to: 1 / len(goals) for to in goals} for k, goals in enumerate(targets)}
    mdp = MDP.from_dict({**{name: {} for name in STATES}, STATES[0]: steps}, initial=STATES[0])
    for choice in mdp.choices(mdp.initial):
        said = effect(mdp, choice)
        told = {} if said == "changes nothing" else dict(part.split("=") for part in said.split(", "))
        for name, variable in mdp.variables.items():
            values = {str(variable.at(s)) for s in mdp.successors(choice=choice).tolist()}
            assert values == (set(told[name].split(" or ")) if name in told else {str(variable.at(mdp.initial))})


def test_only_what_nobody_named_is_told_by_its_effect():
    """A name that two choices share, told apart by a number, is none either; without variables a number stays one."""
    steps = {"x=0": {"go": "x=1", "go (2)": "x=2", "stay": "x=0"}, "x=1": {"0": "x=2"}, "x=2": {}}
    mdp = MDP.from_dict(steps, initial="x=0")
    assert [told_action(mdp, "x=0", a) for a in steps["x=0"]] == ["go → x=1", "go (2) → x=2", "stay"]
    assert told_action(mdp, "x=1", "0") == "0 → x=2"
    plain = MDP.from_dict({"a": {"0": "b", "1": "a"}, "b": {}}, initial="a")
    assert [told_action(plain, "a", action) for action in ("0", "1")] == ["0", "1"]


def test_an_effect_on_many_variables_is_cut():
    names = [", ".join(f"v{k}={value}" for k in range(9)) for value in (0, 1)]
    mdp = MDP.from_dict({names[0]: {"0": names[1]}, names[1]: {}}, initial=names[0])
    assert effect(mdp, int(np.flatnonzero(mdp.choice_state == 0)[0])) == "v0=1, v1=1, v2=1, v3=1, ..."


def test_people_read_what_an_unnamed_action_does_and_machines_its_name():
    """Law: a path in words and the page tell the effect; a path and a strategy as data keep the model's own names."""
    steps = {"x=0": {"0": {"x=1": 0.5, "x=2": 0.5}, "1": "x=2"}, "x=1": {"go": "x=3"}, "x=2": {}, "x=3": {}}
    mdp = MDP.from_dict(steps, initial="x=0")
    path = waypost.path_importance(mdp, path=["x=0", "0", "x=1"], target="x=3", scope="all")
    assert "The path x=0, 0 → x=1 or 2, x=1 has" in path_summary(path)
    assert path.path == ("x=0", "0", "x=1")
    found = waypost.explain(mdp, target="x=3")
    told = page_data([found], None, {})
    assert told["told"] == {0: "0 → x=1 or 2", 1: "1 → x=2"}
    assert told["actions"][:2] == ["0", "1"]
    assert found.scopes["all"].witness("x=1", "upper").to_dict()["before"]["x=0"] == {"0": 1.0}
