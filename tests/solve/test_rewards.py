"""Terminal rewards and their ratios against every strategy; linear systems against fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import oracles
import waypost
from strategies import mdps
from waypost.cases import loan
from waypost.graph import compiled, stay
from waypost.solve.arena import Arena
from waypost.solve.conditional import best_ratio
from waypost.solve.optimiser import settle
from waypost.solve.rational import solve_fixpoint, to_fraction, to_rationals
from waypost.solve.rewards import STOP, best_rewards

SOME = settings(max_examples=50)
numbers = st.fractions(-2, 2, max_denominator=4)


@pytest.fixture(params=["plain", "compiled"])
def twin(request, monkeypatch):
    monkeypatch.setattr(compiled, "WORTH_COMPILING", np.inf if request.param == "plain" else 0)


@st.composite
def payments(draw):
    """A model, its terminal states with rewards, and where one may stop: everywhere, or where one can idle for ever."""
    mdp = draw(mdps(max_strategies=60))
    terminal = mdp.where("goal").copy()
    reward = [draw(numbers) if t else Fraction(0) for t in terminal]
    arena = Arena.of(mdp, terminal, exact=True)
    idle = stay(arena.graph, ~terminal)[0]
    return mdp, terminal, reward, ~terminal if draw(st.booleans()) else idle


def halves(reward):
    """Rewards of either sign as gains and losses."""
    return {"gain": np.where(reward > 0, reward, reward * 0), "loss": np.where(reward < 0, -reward, reward * 0)}


def plans(mdp, terminal, may_stop):
    """Every deterministic strategy that may also stop, as a chain; stopping is standing still for ever."""
    table = oracles.rows(mdp)
    for s in range(mdp.n_states):
        if terminal[s]:
            table[s] = [{s: Fraction(1)}]
        elif may_stop[s]:
            table[s] = [*table[s], {s: Fraction(1)}]
    return [list(plan) for plan in product(*table)]


@SOME
@given(payments())
def test_the_greatest_reward_is_that_of_the_best_strategy(drawn):
    """Enumerated, in fractions; losses may be avoided by stopping or idling where that is allowed."""
    mdp, terminal, reward, may_stop = drawn
    due = {s: reward[s] for s in np.flatnonzero(terminal).tolist()}
    rewards = [oracles.expected(plan, due) for plan in plans(mdp, terminal, may_stop)]
    right = [max(values) for values in zip(*rewards, strict=True)]
    arena = Arena.of(mdp, terminal, exact=True)
    found = best_rewards(arena, terminal=terminal, may_stop=may_stop, **halves(to_rationals(reward)))
    assert [to_fraction(v) for v in found.gain - found.loss] == right
    chosen = [
        {s: Fraction(1)} if c == STOP else oracles.rows(mdp)[s][c - int(mdp.first_choice[s])]
        for s, c in enumerate(found.choice.tolist())
    ]
    assert oracles.expected(chosen, due) == right


@pytest.mark.usefixtures("twin")
@SOME
@given(payments())
def test_rewards_in_floats_equal_rewards_in_fractions(drawn):
    mdp, terminal, reward, may_stop = drawn
    exact, floats = (Arena.of(mdp, terminal, exact=way) for way in (True, False))
    right = best_rewards(exact, terminal=terminal, may_stop=may_stop, **halves(to_rationals(reward)))
    found = best_rewards(floats, terminal=terminal, may_stop=may_stop, **halves(np.array(reward, float)))
    worth = [float(to_fraction(v)) for v in right.gain - right.loss]
    np.testing.assert_allclose(found.gain - found.loss, worth, rtol=0, atol=1e-12)


@SOME
@given(payments(), st.data())
def test_the_greatest_ratio_is_that_of_the_best_strategy(drawn, data):
    """gain / (gain + loss) over every strategy that gets anything at all."""
    mdp, terminal, _, _ = drawn
    arena = Arena.of(mdp, terminal, exact=True)
    idle = stay(arena.graph, ~terminal)[0]
    gain, loss = ([abs(data.draw(numbers)) if t else Fraction(0) for t in terminal] for _ in range(2))
    ends = np.flatnonzero(terminal).tolist()
    ratios = []
    for plan in plans(mdp, terminal, idle):
        won, lost = (oracles.expected(plan, {s: due[s] for s in ends})[mdp.initial] for due in (gain, loss))
        if won + lost > 0:
            ratios.append(won / (won + lost))
    assume(ratios and max(ratios) > 0)
    for exact in (True, False):
        found = best_ratio(
            Arena.of(mdp, terminal, exact=exact),
            start=mdp.initial,
            terminal=terminal,
            gain=to_rationals(gain) if exact else np.array(gain, float),
            loss=to_rationals(loss) if exact else np.array(loss, float),
            may_stop=idle,
        )
        value, rest = (to_fraction(part) if exact else part for part in (found.value, found.complement))
        assert float(value) == pytest.approx(float(max(ratios)), abs=1e-12)
        assert not exact or value == max(ratios)
        assert float(value) + float(rest) == pytest.approx(1, abs=1e-15)


@settings(max_examples=60)
@given(st.data())
def test_a_fixpoint_satisfies_its_equations(data):
    """x = A x + b, exactly; A is substochastic, so there is one solution."""
    n = data.draw(st.integers(1, 6))
    rows, constant = [], []
    for i in range(n):
        support = data.draw(st.lists(st.integers(0, n - 1), max_size=n, unique=True))
        weights = data.draw(st.lists(st.integers(1, 5), min_size=len(support), max_size=len(support)))
        total = sum(weights) + data.draw(st.integers(1, 3))  # something leaves every row
        rows.append({j: Fraction(w, total) for j, w in zip(support, weights, strict=True)})
        constant.append(data.draw(numbers) + i)
    given_rows = [dict(zip(row, to_rationals(row.values()), strict=True)) for row in rows]
    solution = [to_fraction(x) for x in solve_fixpoint(given_rows, list(to_rationals(constant)))[0]]
    for i in range(n):
        assert solution[i] == sum(p * solution[j] for j, p in rows[i].items()) + constant[i]


def test_rationals_stay_in_plain_python_however_much_was_computed_before(monkeypatch):
    """Many small calls in floats make compiling worth while; fractions must not follow them there."""
    monkeypatch.setattr(settle, "spent", 10**9)
    found = waypost.state_importance(loan(), target="Granted", scope="all", states="Error", exact=True)
    assert found["Error"].upper == Fraction(98, 953)
