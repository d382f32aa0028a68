"""No bound off by more than 1e-9, none wrong by a zero or one, none refused: floats beside fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import waypost
from stress.comparison import Tally, compare, run
from stress.models import KINDS, heads, shuffled
from waypost.graph.compiled import eagerly
from waypost.importance.question import Question
from waypost.importance.sweeps import bounds_of_states
from waypost.model import MDP


def flawless(tally: Tally) -> bool:
    """Whether nothing failed; pytest shows what did."""
    assert tally.bounds > 0
    assert tally.where == []
    return True


@pytest.fixture(params=["few", "many"])
def choices(request, monkeypatch):
    """Whether models are taken for ones with few choices, each of which is small enough for that, or with many."""
    if request.param == "many":
        monkeypatch.setattr("waypost.solve.elimination.MOST_KEPT", -1)


@pytest.mark.usefixtures("choices")
@pytest.mark.parametrize("kind", KINDS)
def test_a_few_models_of_every_kind_equal_fractions(kind):
    """In every way of asking."""
    assert flawless(run(kind, range(1000, 1002)))


@pytest.mark.usefixtures("choices")
@pytest.mark.parametrize(("kind", "seed"), [("rare", 300), ("stiff", 31), ("stiff", 2058), ("stiff", 5086)])
def test_models_that_were_wrong_once(kind, seed):
    """A circle by way of a plateau, a choice that comes back at once, strategies that are not quite the best."""
    assert flawless(run(kind, range(seed, seed + 1)))


@pytest.mark.slow
@pytest.mark.usefixtures("choices")
@pytest.mark.parametrize("part", range(20))
@pytest.mark.parametrize("kind", KINDS)
def test_many_models_of_every_kind_equal_fractions(kind, part):
    """Seeds ``100 part`` to ``100 part + 5``."""
    assert flawless(run(kind, range(100 * part, 100 * part + 6)))


def test_a_long_series_of_heads_may_be_waited_for():
    """49 heads in a row, or the quick way: half of the wins pass the medal at least, and all of them at most."""
    for n in (44, 49, 55):
        for seed in range(2):
            mdp = shuffled(np.random.default_rng(seed), heads(n), "h0")
            for scope in ("all", "optimal"):
                together = waypost.state_importance(mdp, target="goal", scope=scope)["medal"]
                alone = waypost.state_importance(mdp, target="goal", scope=scope, states="medal")["medal"]
                group = waypost.group_importance(mdp, target="goal", scope=scope, groups={"m": ["medal"]})["m"]
                assert together == alone == group == waypost.Bounds(0.5, 1.0)


def test_redundant_parts_are_told_apart():
    """One part fails with 1e-12, the other with 4e-12: the best take the first, the second costs something."""
    for small in (Fraction(1, 10**12), Fraction(1, 10**18)):
        steps = {"start": {"first": {"a": Fraction(1)}, "second": {"b": Fraction(1)}}, "goal": {}, "trap": {}}
        steps["a"] = {"run": {"goal": 1 - small, "trap": small}}
        steps["b"] = {"run": {"goal": 1 - 4 * small, "trap": 4 * small}}
        mdp = MDP.from_dict(steps, initial="start")
        found = waypost.state_importance(mdp, target="goal", scope="optimal")
        assert found["a"] == waypost.Bounds(1.0, 1.0)
        assert found["b"] == waypost.Bounds(0.0, 0.0)
        path = waypost.path_importance(mdp, path=["start", "second", "b"], target="goal", scope="optimal")
        assert path.reachability_following < path.reachability


def in_every_order(steps, times: int) -> Tally:
    """Compare a model that starts in q, its states in so many random orders."""
    tally = Tally()
    for seed in range(times):
        rng = np.random.default_rng(seed)
        compare(shuffled(rng, steps, "q"), rng, tally, f"seed {seed}")
    return tally


def test_a_loop_that_is_hardly_ever_left_is_seen_through():
    """A loop left once in 1e7 steps, in a component whose first state leaves quickly; in every order of the states."""
    rare = Fraction(1, 10**7)
    steps = {
        "q": {"on": {"x": Fraction(1, 2), "goal": Fraction(1, 4), "trap": Fraction(1, 4)}},
        "x": {"stay": {"y": 1 - rare, "goal": rare}, "back": {"q": Fraction(1)}},
        "y": {"stay": {"x": 1 - rare / 3, "trap": rare / 3}, "back": {"q": Fraction(1)}},
        "goal": {},
        "trap": {},
    }
    assert flawless(in_every_order(steps, 6))


@pytest.mark.parametrize("kind", ["ordinary", "rare", "tosses"])
def test_the_same_bits_whatever_was_asked_before(kind):
    """Plain or compiled, all states at once or in parts, in whichever order: the same numbers to the last bit."""
    mdp = KINDS[kind](np.random.default_rng(5))
    for scope in ("all", "optimal"):
        question = Question.of(mdp, target="goal", scope=scope)
        order = np.random.default_rng(1).permutation(mdp.n_states)
        plain = bounds_of_states(question, np.arange(mdp.n_states), workers=1)
        fresh = Question.of(mdp, target="goal", scope=scope)
        for name in mdp.states[:3]:
            fresh.states(name)
        with eagerly():
            other = bounds_of_states(fresh, order, workers=2)
        for one, two in zip(plain, other, strict=True):
            assert (one[order] == two).all()


def test_a_target_that_is_hardly_ever_met_keeps_its_ratios():
    """p* below 1e-162: products of two such numbers vanish, ratios do not."""
    tiny = Fraction(1, 10**83)
    steps = {
        "q": {"a": {"x": tiny, "trap": 1 - tiny}, "b": {"y": tiny / 2, "trap": 1 - tiny / 2}},
        "x": {"on": {"s": tiny * Fraction(4, 5), "goal": tiny / 5, "trap": 1 - tiny}},
        "y": {"on": {"s": tiny / 2, "goal": tiny / 2, "trap": 1 - tiny}},
        "s": {"on": {"goal": Fraction(1)}},
        "goal": {},
        "trap": {},
    }
    assert flawless(in_every_order(steps, 3))
    alone = waypost.state_importance(MDP.from_dict(steps, initial="q"), target="goal", scope="all", states="s")["s"]
    assert alone.upper == pytest.approx(0.8, rel=1e-12)


@pytest.mark.parametrize("rarity", [13, 15, 17, 30])
def test_a_strategy_that_hardly_ever_wins_is_not_hidden_by_one_that_does(rarity):
    """Of its few wins more pass `s`; where both are worth nothing more than the guess, rounding is larger than it."""
    rare, half = Fraction(1, 10**rarity), Fraction(1, 2)
    likely = {"s": half, "goal": half}
    unlikely = {"s": 6 * rare, "goal": 4 * rare, "trap": 1 - 10 * rare}
    ends = {"s": {"on": {"goal": Fraction(1)}}, "goal": {}, "trap": {}}
    back = {"back": {"q": half, "trap": half}}
    for first, second in (({"b": unlikely}, {"z": likely}), ({}, {"z": likely, "b": unlikely})):
        steps = {"q": {"a": likely, "c": {"r": Fraction(1)}, **first}, "r": {**back, **second}, **ends}
        tally = Tally()
        for seed in range(2):
            rng = np.random.default_rng(seed)
            compare(shuffled(rng, steps, "q"), rng, tally, f"seed {seed}")
        assert flawless(tally)
        alone = waypost.state_importance(MDP.from_dict(steps, initial="q"), target="goal", scope="all", states="s")["s"]
        assert alone.upper == pytest.approx(0.6, rel=1e-9)


@pytest.mark.parametrize("kind", ["ordinary", "rare", "stiff"])
def test_success_without_each_state_equals_fractions(kind):
    """All states at once, beside the exact probability of the target where one state is forbidden."""
    for seed in range(3):
        mdp = KINDS[kind](np.random.default_rng([seed, 3]))
        found, exact = (
            waypost.explain(mdp, target="goal", scope="all", whatifs=True, exact=exact).whatifs
            for exact in (False, True)
        )
        np.testing.assert_allclose(found.without, exact.without.astype(float), rtol=1e-9, atol=0)
