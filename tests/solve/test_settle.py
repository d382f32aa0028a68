"""Components of every size and pace: elimination, relaxation with its certificate; against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import waypost
from waypost.graph import compiled
from waypost.model import MDP
from waypost.solve import optimiser
from waypost.solve.arena import Arena
from waypost.solve.gth import Fill
from waypost.solve.optimiser import iterate
from waypost.solve.policy import Payoff, Rewards
from waypost.solve.relaxation import certified
from waypost.solve.rewards import STOP, best_rewards
from waypost.solve.strain import nothing_known


@pytest.fixture(autouse=True)
def _machine_code(monkeypatch):
    """Sweeps are for large models, and those are compiled."""
    monkeypatch.setattr(compiled, "WORTH_COMPILING", 0)


def house(n: int, leaving: Fraction, seed: int) -> MDP:
    """Two halls of `n` rooms, walked about in and left with probability `leaving` per step: won, lost, or go on."""
    rng = np.random.default_rng([n, seed])
    steps: dict[str, dict[str, dict[str, Fraction]]] = {"won": {}, "lost": {}}
    for hall in "ab":
        for i in range(n):
            steps[f"{hall}{i}"] = {}
            for action in range(1 + (rng.random() < 0.4)):
                rooms = {int(j) for j in (i + 1 + rng.integers(0, 4, 2)) % n} | {(i + 1) % n}
                won, lost = Fraction(int(rng.integers(1, 4)), 8), Fraction(1, 8)
                out = {"won": won, "lost": lost, f"b{int(rng.integers(n))}": 1 - won - lost}
                if hall == "b":
                    out = {"won": won, "lost": 1 - won}
                if rng.random() < 0.3:  # a choice that never leaves the hall
                    out = {}
                row = {f"{hall}{j}": (1 - (leaving if out else 0)) / len(rooms) for j in sorted(rooms)}
                row |= {y: leaving * p for y, p in out.items()}
                steps[f"{hall}{i}"][f"go{action}"] = row
    return MDP.from_dict(steps, initial="a0")


def lingering(seed: int) -> MDP:
    """One or two halls left once in ten thousand to a thousand million steps; much can be done in them meanwhile."""
    rng = np.random.default_rng(seed)
    n, halls = int(rng.integers(9, 45)), int(rng.integers(1, 3))
    leaving = Fraction(1, 10 ** int(rng.choice([4, 6, 7, 8, 9])))
    steps: dict[str, dict[str, dict[str, Fraction]]] = {"won": {}, "lost": {}}
    for hall in range(halls):
        for i in range(n):
            steps[f"{hall}.{i}"] = {}
            for action in range(int(rng.integers(1, 4))):
                near = (i + rng.integers(-3, 4, 3)) % n if rng.random() < 0.6 else rng.integers(0, n, 2)
                rooms = sorted({*near.tolist(), (i + 1) % n} if action == 0 else {*near.tolist()})
                out: dict[str, Fraction] = {}
                if rng.random() < 0.65:
                    won = Fraction(int(rng.integers(1, 8)), 8)
                    beyond = f"1.{int(rng.integers(n))}" if hall == 0 and halls == 2 else "lost"
                    out = {"won": leaving * won, beyond: leaving * (1 - won)}
                stay = 1 - sum(out.values())
                steps[f"{hall}.{i}"][f"a{action}"] = {f"{hall}.{j}": stay / len(rooms) for j in rooms} | out
    return MDP.from_dict(steps, initial="0.0")


PACES = [Fraction(1, 2), Fraction(1, 50), Fraction(1, 10**4), Fraction(1, 10**9)]


@pytest.mark.parametrize("leaving", PACES, ids=["brisk", "slow", "slower", "hardly ever"])
@pytest.mark.parametrize(("n", "seed"), [(6, 1), (9, 1), (20, 1), (20, 2), (40, 3)])
def test_however_large_and_slow_a_component_floats_equal_fractions(n, seed, leaving):
    mdp = house(n, leaving, seed)
    for optimum in ("max", "min"):
        exact = waypost.reachability(mdp, target="won", optimum=optimum, exact=True).astype(float)
        found = waypost.reachability(mdp, target="won", optimum=optimum)
        np.testing.assert_allclose(found, exact, rtol=1e-11, atol=0)
    asked = ["a1", f"a{n // 2}", f"b{n - 1}"]
    for scope in ("all", "optimal"):
        exact = waypost.state_importance(mdp, target="won", scope=scope, states=asked, exact=True)
        found = waypost.state_importance(mdp, target="won", scope=scope, states=asked)
        for name in asked:
            assert found[name].lower == pytest.approx(float(exact[name].lower), rel=1e-9, abs=1e-12)
            assert found[name].upper == pytest.approx(float(exact[name].upper), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("leaving", PACES[:3], ids=["brisk", "slow", "slower"])
def test_a_component_is_settled_as_well_by_relaxation(leaving, monkeypatch):
    """The two ways agree, and relaxation hands on what it cannot certify."""
    mdp = house(40, leaving, 5)
    by_elimination = [waypost.reachability(mdp, target="won", optimum=o) for o in ("max", "min")]
    monkeypatch.setattr(compiled, "WORTH_COMPILING", np.inf)
    monkeypatch.setattr(optimiser, "_SMALL", 0)
    monkeypatch.setattr(optimiser, "_FILL", 0)
    for found, optimum in zip(by_elimination, ("max", "min"), strict=True):
        right = waypost.reachability(mdp, target="won", optimum=optimum)
        np.testing.assert_allclose(found, right, rtol=1e-10, atol=0)


@pytest.mark.parametrize("mdp", [*(house(30, pace, 6) for pace in PACES), *(lingering(s) for s in (27, 2, 5))], ids=str)
def test_a_component_is_settled_as_well_strategy_by_strategy(mdp, monkeypatch):
    """Where relaxation gives up and one order for all strategies would fill in, each has its own."""
    used = []
    apart = optimiser.iterate_apart.plain
    monkeypatch.setattr(optimiser.iterate_apart, "plain", lambda *given: used.append(apart(*given)) or used[-1])
    monkeypatch.setattr(compiled, "WORTH_COMPILING", np.inf)
    for setting in ("_SMALL", "_FILL"):
        monkeypatch.setattr(optimiser, setting, 0)
    monkeypatch.setattr(optimiser, "PATIENCE", -100)
    for optimum in ("max", "min"):
        exact = waypost.reachability(mdp, target="won", optimum=optimum, exact=True).astype(float)
        found = waypost.reachability(mdp, target="won", optimum=optimum)
        np.testing.assert_allclose(found, exact, rtol=1e-10, atol=1e-10)
    assert any(used)


@pytest.mark.parametrize("leaving", PACES[:3], ids=["brisk", "slow", "slower"])
def test_the_order_of_questions_does_not_show(leaving):
    """To the last bit: no question learns from the one before."""
    mdp = house(30, leaving, 4)
    asked = [f"a{i}" for i in range(1, 30, 4)] + [f"b{i}" for i in range(0, 30, 4)]
    forth = waypost.state_importance(mdp, target="won", scope="all", states=asked).to_dict()
    back = waypost.state_importance(mdp, target="won", scope="all", states=asked[::-1]).to_dict()
    assert {name: forth[name] for name in asked} == {name: back[name] for name in asked}


@pytest.mark.parametrize("seed", [27, *range(1, 6)])
def test_small_improvements_add_up_where_a_hall_is_hardly_ever_left(seed):
    """Seed 27: a choice that is better by less than rounding shows, met a hundred million times."""
    mdp = lingering(seed)
    for optimum in ("max", "min"):
        exact = waypost.reachability(mdp, target="won", optimum=optimum, exact=True).astype(float)
        found = waypost.reachability(mdp, target="won", optimum=optimum)
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-10)


def walk(n: int, leaving: float) -> tuple[Rewards, Payoff, np.ndarray, np.ndarray]:
    """A ring of n states, left from the first with some probability; what it earns is a guess: 0.7 everywhere."""
    on = {f"s{i}": {"go": {f"s{(i + 1) % n}": Fraction(1)}} for i in range(n)}
    on["s0"] = {"go": {"s1": 1 - Fraction(leaving), "t": Fraction(leaving)}} if leaving else on["s0"]
    mdp = MDP.from_dict({**on, "t": {}}, initial="s0")
    arena = Arena.of(mdp, mdp.where("t"), exact=False)
    graph, terminal = arena.graph, mdp.where("t")
    rewards = Rewards(
        graph.first_choice, graph.indptr, graph.indices, arena.data, graph.everything, terminal,
        np.zeros(n + 1, bool), 1.0, 1.0, 1e-13, 0.0, False,
    )  # fmt: skip
    earned = Payoff(np.where(terminal, 1.0, 0.7), np.zeros(n + 1), np.where(terminal, STOP, graph.first_choice[:-1]))
    place = np.where(terminal, -1, n - 1 - np.arange(n + 1))
    return rewards, earned, np.arange(n)[::-1].copy(), place  # successors first


def relaxed(twin, block, rewards, earned, place) -> bool:
    """Policy iteration by relaxation."""
    nothing = np.zeros(0, np.int64)
    pattern = Fill(nothing, nothing, nothing, nothing, nothing)
    known = nothing_known(np.zeros(len(place)), np.zeros(len(place)))
    return getattr(iterate, twin)(block, pattern, rewards, earned, place, known, True, False, True)


@pytest.mark.parametrize("twin", ["plain", "compiled"])
def test_nothing_certifies_a_cycle_that_is_never_left(twin):
    """Relaxation would leave the guess as it is: 0.7 is a fixpoint, and wrong."""
    rewards, earned, block, place = walk(12, 0.0)
    assert not getattr(certified, twin)(block, rewards, earned, place, 0.0)
    assert not relaxed(twin, block, rewards, earned, place)


@pytest.mark.parametrize("twin", ["plain", "compiled"])
def test_relaxation_forgets_the_guess_it_starts_from(twin):
    rewards, earned, block, place = walk(12, 0.5)
    assert relaxed(twin, block, rewards, earned, place)
    np.testing.assert_allclose(earned.gain[:12], 1.0, rtol=1e-12)


@pytest.mark.parametrize("twin", ["plain", "compiled"])
def test_a_certificate_excludes_what_slow_relaxation_would_hide(twin):
    """Left once in a million rounds: each pass changes little, and the guess is far off all the same."""
    rewards, earned, block, place = walk(12, 1e-6)
    assert not getattr(certified, twin)(block, rewards, earned, place, 1e-6)
    assert not relaxed(twin, block, rewards, earned, place)


def test_gain_and_loss_are_those_of_the_strategy_found():
    """Whatever the weights, both columns belong to one strategy: 3/4 won and 1/4 lost, or neither."""
    mdp = MDP.from_dict(
        {"s": {"play": {"s": "1/2", "won": "3/8", "lost": "1/8"}, "rest": "s"}, "won": {}, "lost": {}}, initial="s"
    )
    ends = mdp.where(["won", "lost"])
    arena = Arena.of(mdp, ends, exact=False)
    gain, loss = mdp.where("won").astype(float), mdp.where("lost").astype(float)
    for weights, right in (((1.0, 1.0), (0.75, 0.25)), ((0.2, 0.8), (0.0, 0.0)), ((0.3, 0.7), (0.75, 0.25))):
        found = best_rewards(arena, terminal=ends, may_stop=~ends, gain=gain, loss=loss, weights=weights)
        assert (found.gain[0], found.loss[0]) == pytest.approx(right)
