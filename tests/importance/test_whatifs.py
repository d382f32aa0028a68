"""Choices, what-ifs and decisions equal what they are defined to be, in models changed by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
import waypost
from strategies import mdps
from waypost.errors import ModelError, NameUnknownError, UndefinedImportanceError
from waypost.model import MDP

SCOPES = st.sampled_from(["all", "optimal"])


@st.composite
def models(draw):
    mdp = draw(mdps())
    assume(waypost.reachability(mdp, target="goal", optimum="max")[mdp.initial] > 0)
    return mdp


def by_hand(mdp: MDP, forbidden_states=(), forbidden_choices=(), middle=None) -> MDP:
    """The same model, written out; some states are dead ends, some choices gone, one has a state in its middle."""
    choices: dict = {}
    for s, options in enumerate(oracles.rows(mdp)):
        own = choices[mdp.states[s]] = {}
        for k, row in enumerate(options):
            c = int(mdp.first_choice[s]) + k
            spelled = {mdp.states[y]: p for y, p in row.items()}
            if c == middle:
                own[mdp.actions[c]] = "middle"
                choices["middle"] = {"on": spelled}
            elif s not in forbidden_states and c not in forbidden_choices:
                own[mdp.actions[c]] = spelled
    goals = [mdp.states[s] for s in np.flatnonzero(mdp.where("goal")) if s not in forbidden_states]
    return MDP.from_dict(choices, initial=mdp.states[mdp.initial], labels={"goal": goals})


@given(models(), SCOPES)
def test_a_choice_is_the_state_in_its_middle(mdp, scope):
    """Exactly, both bounds; in floats to 1e-12; and as a pattern."""
    exact = waypost.choice_importance(mdp, target="goal", scope=scope, exact=True)
    floats = waypost.choice_importance(mdp, target="goal", scope=scope)
    target = mdp.where("goal")
    assert [int(c) for c in exact.choices] == [c for c in range(mdp.n_choices) if not target[mdp.choice_state[c]]]
    for state, action in exact:
        c = mdp.choice(mdp.state(state), action)
        split = waypost.state_importance(
            by_hand(mdp, middle=c), target="goal", scope=scope, states="middle", exact=True
        )["middle"]
        assert exact[state, action] == split
        found = floats[state, action]
        assert (found.lower, found.upper) == pytest.approx((float(split.lower), float(split.upper)), abs=1e-12)


@given(models(), SCOPES)
def test_the_witness_of_a_choice_attains_its_bound(mdp, scope):
    result = waypost.choice_importance(mdp, target="goal", scope=scope, exact=True)
    for state, action in result:
        for side in ("lower", "upper"):
            witness = result.witness((state, action), side)
            found = waypost.choice_importance(mdp, target="goal", scope=witness, exact=True)[state, action]
            assert found.lower == found.upper == getattr(result[state, action], side)


@given(models())
def test_success_without_a_state_is_reachability_in_the_model_without_it(mdp):
    exact = waypost.success_without(mdp, target="goal", exact=True)
    floats = waypost.success_without(mdp, target="goal")
    for s, name in enumerate(mdp.states):
        left = by_hand(mdp, forbidden_states=[s])
        right = Fraction(0)
        if s != mdp.initial and left.labels["goal"].any():
            right = waypost.reachability(left, target="goal", optimum="max", exact=True)[mdp.initial]
        assert exact[name] == right
        assert floats[name] == pytest.approx(float(right), abs=1e-12)
        assert (floats[name] == 0) == (right == 0)


@given(models())
def test_success_without_a_choice_is_reachability_in_the_model_without_it(mdp):
    for c, action in enumerate(mdp.actions):
        name = f"{mdp.states[mdp.choice_state[c]]}/{action}"
        left = by_hand(mdp, forbidden_choices=[c])
        right = waypost.reachability(left, target="goal", optimum="max", exact=True)[mdp.initial]
        found = waypost.success_without(mdp, target="goal", groups={"it": name}, exact=True)
        assert found["it"] == right
        changed = waypost.without(mdp, name)
        assert waypost.reachability(changed, target="goal", optimum="max", exact=True)[mdp.initial] == right


def uniform_chain(mdp):
    return [
        {y: sum(row.get(y, Fraction(0)) for row in mine) / len(mine) for y in {y for row in mine for y in row}}
        for mine in oracles.rows(mdp)
    ]


@given(models())
def test_success_under_a_strategy_is_that_of_its_chain(mdp):
    """After a state, and without it."""
    goal = {int(t): Fraction(1) for t in np.flatnonzero(mdp.where("goal"))}
    chain = uniform_chain(mdp)
    values = oracles.expected(chain, goal)
    assume(values[mdp.initial] > 0)
    strategy = waypost.Strategy.uniform(mdp)
    after = waypost.success_after(mdp, target="goal", strategy=strategy)
    assert list(after.under.values()) == pytest.approx([float(v) for v in values], abs=1e-12)
    found = waypost.success_without(mdp, target="goal", strategy=strategy)
    groups = {name: name for name in mdp.states}
    grouped = waypost.success_without(mdp, target="goal", strategy=strategy, groups=groups)
    assert list(grouped.best) == pytest.approx(list(found.best), abs=1e-12)
    for s in range(mdp.n_states):
        right = Fraction(0)
        if s != mdp.initial:
            right = oracles.expected(chain, {**goal, s: Fraction(0)})[mdp.initial]
        assert found.under[mdp.states[s]] == pytest.approx(float(right), abs=1e-9)
        assert grouped.under[mdp.states[s]] == pytest.approx(float(right), abs=1e-9)


@given(models())
def test_what_a_strategy_loses_is_the_sum_of_what_its_decisions_lose(mdp):
    """And each decision is met as often as the chain says."""
    goal = {int(t): Fraction(1) for t in np.flatnonzero(mdp.where("goal"))}
    chain = uniform_chain(mdp)
    reached = oracles.expected(chain, goal)[mdp.initial]
    best = waypost.reachability(mdp, target="goal", optimum="max", exact=True)
    found = waypost.decisions(mdp, target="goal", strategy=waypost.Strategy.uniform(mdp))
    assert found.reached == pytest.approx(float(reached), abs=1e-9)
    assert sum(d.cost for d in found) + found.idle == pytest.approx(float(best[mdp.initial] - reached), abs=1e-9)
    table = oracles.rows(mdp)
    for decision in found:
        s = mdp.state(decision.state)
        first = int(mdp.first_choice[s])
        worth = {mdp.actions[first + k]: sum(p * best[y] for y, p in row.items()) for k, row in enumerate(table[s])}
        assert dict(decision.values) == pytest.approx({a: float(v) for a, v in worth.items()}, abs=1e-12)
        assert set(decision.best) == {a for a, v in worth.items() if v == best[s]}
        met = oracles.expected(chain, {**{t: Fraction(0) for t in goal if t != s}, s: Fraction(1)})[mdp.initial]
        assert decision.met == pytest.approx(float(met), abs=1e-9)


@given(models())
def test_a_best_strategy_loses_nothing(mdp):
    found = waypost.decisions(mdp, target="goal")
    assert found.cost == 0
    assert not found.departures
    assert found.reached == waypost.reachability(mdp, target="goal", optimum="max")[mdp.initial]


def test_what_cannot_be_forbidden_or_asked_is_said():
    mdp = waypost.case("loan")
    with pytest.raises(ModelError, match="'s0' is where every run starts"):
        waypost.without(mdp, "s0")
    with pytest.raises(NameUnknownError, match="did you mean 'Consultation'"):
        waypost.without(mdp, "Consultaton")
    with pytest.raises(NameUnknownError, match="no action 'Wait' in state 'Consultation'"):
        waypost.without(mdp, "Consultation/Wait")
    with pytest.raises(NameUnknownError, match="belongs to the target"):
        waypost.choice_importance(mdp, target="Granted", scope="all")["Granted", "(final)"]
    with pytest.raises(NameUnknownError, match="has no choice"):
        waypost.decisions(mdp, target="Granted")["Granted"]
    with pytest.raises(UndefinedImportanceError):
        waypost.decisions(waypost.without(mdp, ["Application+"]), target="Granted")


def test_labels_and_groups_are_forbidden_together():
    mdp = MDP.from_dict(
        {"s": {"a": {"x": 0.5, "t": 0.5}, "b": {"y": 0.9, "t": 0.1}}, "x": {"a": "t"}, "y": {"a": "t"}, "t": {}},
        initial="s",
        labels={"side": ["x", "y"]},
    )
    asked = {"one": "x", "label": "side", "list": ["x", "s/a"]}
    found = waypost.success_without(mdp, target="t", groups=asked)
    assert list(found.best) == pytest.approx([1.0, 0.5, 1.0])
    assert list(found.worth) == pytest.approx([0.0, 0.5, 0.0])
    assert not waypost.without(mdp, "x").labels["side"][mdp.state("x")]
