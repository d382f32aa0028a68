"""Least and greatest probabilities, certified from both sides; and what counts as an equally good choice."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csc_array, identity
from scipy.sparse.linalg import spsolve

import waypost
from strategies import mdps
from waypost.graph import compiled, stay
from waypost.model import MDP, induced_chain, one_hot
from waypost.solve import Reach
from waypost.solve.rewards import STOP


def random_model(seed: int, n: int = 2500, reach: int = 40) -> MDP:
    """Large components, end components, single states, dead ends and two goals."""
    rng = np.random.default_rng(seed)
    owned = rng.integers(0, 4, n)
    widths = rng.integers(1, 4, owned.sum())
    owner = np.repeat(np.repeat(np.arange(n), owned), widths)
    choice = np.repeat(np.arange(owned.sum()), widths)
    near = (owner + rng.integers(-reach, reach + 1, len(owner))).clip(0, n - 1)
    goal = np.zeros(n, bool)
    goal[rng.choice(n, 2, replace=False)] = True
    weight = rng.integers(1, 9, len(owner)).astype(float)
    total = np.bincount(choice, weights=weight)[choice]
    return MDP.from_triplets(
        choice,
        near,
        weight / total,
        first_choice=np.concatenate([[0], np.cumsum(owned)]),
        states=[f"q{s}" for s in range(n)],
        actions=[f"a{c}" for c in range(owned.sum())],
        initial=0,
        labels={"goal": goal},
    )


def value_of(mdp: MDP, choice: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Reachability under a strategy, by one sparse solve of the states that get there at all."""
    chosen = np.where(choice == STOP, mdp.first_choice[:-1], choice)
    chain = induced_chain(mdp, one_hot(mdp, chosen))
    live = goal.copy()
    while True:
        grown = live | (chain @ live.astype(float) > 0)
        if (grown == live).all():
            break
        live = grown
    inner = np.flatnonzero(live & ~goal)
    value = goal.astype(float)
    if len(inner):
        rows = chain[inner]
        value[inner] = spsolve(csc_array(identity(len(inner)) - rows[:, inner]), rows @ value)
    return value


@pytest.mark.parametrize("worth", [np.inf, -1], ids=["plain", "compiled"])
@pytest.mark.parametrize("seed", [1, 2])
def test_large_models_are_certified_from_both_sides(seed, worth, monkeypatch):
    """The strategy attains the value, and no choice does better: together they prove the optimum.

    Any ``v >= P v`` bounds the greatest probability from above. Any ``v <= P v`` that is 0 where the goal can be
    avoided for ever bounds the least one from below.
    """
    monkeypatch.setattr(compiled, "WORTH_COMPILING", worth)
    mdp = random_model(seed, reach=40 if seed == 1 else 4)
    goal = mdp.where("goal")
    reach = Reach.of(mdp, goal, exact=False)
    free = ~goal[mdp.choice_state]
    for optimum, sign in ((reach.max, 1), (reach.min, -1)):
        np.testing.assert_allclose(value_of(mdp, optimum.choice, goal), optimum.values, rtol=0, atol=1e-12)
        gain = sign * (mdp.transitions @ optimum.values - optimum.values[mdp.choice_state])
        assert gain[free].max() < 1e-12
    avoided = stay(reach.arena.graph, ~goal)[0]
    assert ((reach.min.values == 0) == avoided).all()
    assert (reach.min.values <= reach.max.values).all()
    assert reach.max.values[~goal].max() > 0


@settings(max_examples=40)
@given(mdps(max_states=9, max_strategies=10**6))
def test_floats_equal_fractions(mdp):
    """With 0 and 1 in the same places."""
    for optimum in ("min", "max"):
        floats = waypost.reachability(mdp, target="goal", optimum=optimum)
        exact = waypost.reachability(mdp, target="goal", optimum=optimum, exact=True)
        assert floats.dtype == float
        assert all(isinstance(v, Fraction) for v in exact)
        np.testing.assert_allclose(floats, exact.astype(float), rtol=0, atol=1e-13)
        assert ((floats == 0) == (exact == 0)).all()
        assert ((floats == 1) == (exact == 1)).all()


@settings(max_examples=60)
@given(mdps())
def test_conserving_choices_keep_the_greatest_probability(mdp):
    """vmax(x) = sum_y P(c, y) vmax(y), exactly; floats decide alike."""
    goal = mdp.where("goal")
    exact, floats = (Reach.of(mdp, goal, exact=way) for way in (True, False))
    best = waypost.reachability(mdp, target="goal", optimum="max", exact=True)
    fractions, t = mdp.rationals(), mdp.transitions
    for c in range(mdp.n_choices):
        kept = sum(fractions[e] * best[t.indices[e]] for e in range(t.indptr[c], t.indptr[c + 1]))
        right = kept == best[mdp.choice_state[c]]
        if not goal[mdp.choice_state[c]]:
            assert exact.conserving[c] == floats.conserving[c] == right


def test_the_value_is_one_only_where_it_is_one():
    """A thousand coin tosses that all must fail: rounding says 1, the graph says no."""
    chain = {f"s{i}": {"toss": {"won": "0.999", f"s{i + 1}": "0.001"}} for i in range(30)}
    mdp = MDP.from_dict({**chain, "s30": {}, "won": {}}, initial="s0")
    value = waypost.reachability(mdp, target="won", optimum="max")[0]
    assert value < 1
    assert value == pytest.approx(1, abs=1e-15)
    assert waypost.reachability(mdp, target="won", optimum="max", exact=True)[0] == 1 - Fraction(1, 1000) ** 30


def test_the_value_is_zero_only_where_it_is_zero():
    chain = {f"s{i}": {"toss": {"lost": 1 - Fraction("1e-20"), f"s{i + 1}": "1e-20"}} for i in range(30)}
    mdp = MDP.from_dict({**chain, "s30": {}, "lost": {}}, initial="s0")
    for optimum in ("min", "max"):
        assert 0 < waypost.reachability(mdp, target="s30", optimum=optimum)[0] < 1e-300


def test_an_idle_cycle_does_not_count_as_getting_there():
    """Both choices of the cycle are conserving; only leaving it reaches the goal."""
    mdp = MDP.from_dict(
        {"s": {"round": "m", "leave": {"t": "1/2", "x": "1/2"}}, "m": {"back": "s"}, "t": {}, "x": {}}, initial="s"
    )
    for exact in (False, True):
        assert waypost.reachability(mdp, target="t", optimum="max", exact=exact)[0] == Fraction(1, 2)
        assert waypost.reachability(mdp, target="t", optimum="min", exact=exact)[0] == 0


def test_an_optimum_is_least_or_greatest():
    mdp = random_model(3, n=5)
    with pytest.raises(ValueError, match="optimum is 'max' or 'min', not 'best'"):
        waypost.reachability(mdp, target="goal", optimum="best")
