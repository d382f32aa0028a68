"""Rationals by lifting and over shared denominators are the fractions that plain elimination finds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import waypost
from oracles import expected
from waypost.model import MDP
from waypost.paper.bench.lakes import lake
from waypost.paper.bench.synthetic import synthetic
from waypost.solve import conditional, exactly, lifting, rational, rewards
from waypost.solve.arena import Arena
from waypost.solve.exactly import common_denominator, product
from waypost.solve.gth import dense_fill
from waypost.solve.lifting import IntegerMatrix, lifted
from waypost.solve.rational import Unreduced, from_digits, integer, lowest, to_fraction, to_rationals


def by_elimination(mdp: MDP, scope: str, states: list[str] | None = None) -> waypost.StateImportance:
    """The same question where every component is settled by elimination in fractions, without any of the rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Arena, "rational", property(lambda _: False))
        return waypost.state_importance(mdp, target="goal", scope=scope, states=states, exact=True)


def shuffled(rng: np.random.Generator, n: int, *, rare: int) -> MDP:
    """Model in which runs go anywhere, some of them hardly ever."""
    names = [f"q{i}" for i in range(n)]
    choices: dict[str, dict[str, dict[str, Fraction]]] = {name: {} for name in names}
    for name in names[:-2]:
        for a in range(int(rng.integers(1, 4))):
            there = rng.choice(n, 3, replace=False).tolist()
            weights = rng.integers(1, 9, 3).tolist()
            weights[0] *= rare ** int(rng.random() < 0.2)
            choices[name][f"a{a}"] = {
                names[y]: Fraction(w, sum(weights)) for y, w in zip(there, weights, strict=True)
            }  # fmt: skip
    return MDP.from_dict(choices, initial="q0", labels={"goal": [names[-1]]})


@pytest.fixture(params=["as it is", "all lifted", "all shared", "all lifted and shared", "floats at once"])
def way(request, monkeypatch):
    """Every way of evaluating a strategy, on models of any size."""
    if "lifted" in request.param:
        monkeypatch.setattr(exactly, "LARGE", 2)
    if "shared" in request.param:
        monkeypatch.setattr(exactly, "LONG", 1)
    if request.param != "as it is":
        monkeypatch.setattr(rewards, "FEW", 1)
        monkeypatch.setattr(conditional, "FEW", 1)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("scope", ["all", "optimal"])
@pytest.mark.parametrize("rare", [1, 10**9])
def test_every_way_gives_the_same_fractions(scope, rare):
    rng = np.random.default_rng(rare)
    compared = 0
    for _ in range(5):
        mdp = shuffled(rng, 14, rare=rare)
        if not mdp.where("goal")[0]:
            found = waypost.state_importance(mdp, target="goal", scope=scope, exact=True)
            right = by_elimination(mdp, scope)
            assert found.lower.tolist() == right.lower.tolist()
            assert found.upper.tolist() == right.upper.tolist()
            compared += sum(0 < x < 1 for x in [*right.lower, *right.upper])
    assert compared > 10


@pytest.mark.parametrize(
    ("mdp", "asked"),
    [
        (lake(8, slippery=True), ["2,2", "5,1"]),
        (synthetic(150, "many"), ["s70"]),
        (synthetic(150, "few"), ["s70"]),
    ],
    ids=["lake", "many", "few"],
)
@pytest.mark.parametrize("scope", ["all", "optimal"])
def test_models_of_every_kind(mdp, asked, scope):
    found = waypost.state_importance(mdp, target="goal", scope=scope, states=asked, exact=True)
    right = by_elimination(mdp, scope, asked)
    assert found.lower.tolist() == right.lower.tolist()
    assert found.upper.tolist() == right.upper.tolist()


@pytest.mark.usefixtures("way")
def test_a_strategy_that_floats_get_wrong_is_improved():
    """The better of two choices is so by less than any float can tell."""
    half, third, tiny = Fraction(1, 2), Fraction(1, 3), Fraction(1, 10**30)
    mdp = MDP.from_dict(
        {
            "a": {"worse": {"b": half, "goal": half}, "better": {"b": half - tiny, "goal": half + tiny}},
            "b": {"back": {"a": third, "lost": 1 - third}},
            "goal": {},
            "lost": {},
        },
        initial="a",
    )
    chain = [{1: half - tiny, 2: half + tiny}, {0: third, 3: 1 - third}, {2: Fraction(1)}, {3: Fraction(1)}]
    best = waypost.reachability(mdp, target="goal", optimum="max", exact=True)[0]
    assert best == expected(chain, {2: Fraction(1)})[0]
    assert waypost.reachability(mdp, target="goal", optimum="min", exact=True)[0] == Fraction(3, 5)


def test_a_guess_that_never_ends_is_dropped(monkeypatch):
    mdp = MDP.from_dict(
        {
            "a": {"round": "b", "go": {"goal": "1/3", "b": "2/3"}},
            "b": {"back": "a", "up": "lost"},
            "goal": {},
            "lost": {},
        },
        initial="a",
    )
    circle = np.array([0, 2, rewards.STOP, rewards.STOP])
    monkeypatch.setattr(rewards, "_found_in_floats", lambda *_: circle)
    arena = Arena.of(mdp, mdp.where("goal"), exact=True)
    ends = mdp.where("goal") | mdp.where("lost")
    gain = np.where(mdp.where("goal"), arena.one, arena.zero)
    found = rewards.best_rewards(arena, terminal=ends, may_stop=~ends, gain=gain)
    assert [to_fraction(x) for x in found.gain] == [1, 1, 1, 0]


def test_a_lake_of_2025_fields_is_answered():
    """One of 2,000 states, in seconds; the fractions are those that elimination found in a quarter of a minute."""
    mdp = lake(45, slippery=True)
    found = waypost.state_importance(mdp, target="goal", scope="optimal", states="25,4", exact=True)["25,4"]
    assert found.lower.denominator.bit_length() == 3516
    floats = waypost.state_importance(mdp, target="goal", scope="optimal", states="25,4")["25,4"]
    assert float(found.lower) == pytest.approx(floats.lower, rel=1e-9)
    assert float(found.upper) == pytest.approx(floats.upper, rel=1e-9)


class TestLifting:
    @pytest.mark.parametrize("longest", [9, 10**17])
    def test_solutions_satisfy_their_system(self, longest):
        rng = np.random.default_rng(longest % 97)
        n = 20
        rows = rng.integers(0, longest, (n, n)) // n * (rng.random((n, n)) < 0.3)
        np.fill_diagonal(rows, 0)
        matrix = np.diag(rows.sum(axis=1) + 1) - rows
        place, source = np.tile(np.arange(n), n), np.arange(n + 1) * n
        columns = [rng.integers(0, 10, n).tolist(), [0] * n, [10**200] + [0] * (n - 1)]
        found, denominator = lifted(IntegerMatrix(source, place, matrix.ravel()), dense_fill(n), columns)
        for column, solution in zip(columns, found, strict=True):
            for i in range(n):
                assert sum(int(a) * int(x) for a, x in zip(matrix[i], solution, strict=True)) == column[i] * denominator

    def test_a_prime_that_divides_a_pivot_is_left_out(self, monkeypatch):
        monkeypatch.setattr(lifting, "_primes", lambda: iter([5, 1_000_003]))
        matrix = IntegerMatrix(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.array([2, -1, -1, 3]))
        (column,), denominator = lifted(matrix, dense_fill(2), [[1, 4]])
        assert [Fraction(int(x), int(denominator)) for x in column] == [Fraction(7, 5), Fraction(9, 5)]

    def test_fractions_by_their_remainders(self):
        modulus = 1_000_003
        fractions = [(n, d) for n in (-300, -7, 0, 1, 299) for d in (1, 11, 307) if n % d or d == 1]
        for n, d in fractions:
            found = lifting.rational(integer(n * pow(d, -1, modulus) % modulus), integer(modulus))
            assert found == (n, d)

    def test_digits(self):
        digits = np.array([3, 0, 7, 1, 9])
        assert int(from_digits(digits, integer(11))) == 3 + 7 * 11**2 + 11**3 + 9 * 11**4


class TestQuotient:
    def test_it_behaves_as_a_fraction(self):
        a, b = Unreduced(integer(4), integer(10)), Unreduced(integer(9), integer(6))
        x, y = Fraction(2, 5), Fraction(3, 2)
        pairs = [(a + b, x + y), (a - b, x - y), (a * b, x * y), (a / b, x / y), (-a, -x), (abs(a), x)]
        (third,) = to_rationals([Fraction(1, 3)])
        pairs += [
            (third + a, Fraction(1, 3) + x),
            (third - a, Fraction(1, 3) - x),
            (third * a, x / 3),
            (third / a, 1 / (3 * x)),
        ]
        assert [to_fraction(found) for found, _ in pairs] == [right for _, right in pairs]
        assert a < b
        assert b > a
        assert a <= Unreduced(integer(2), integer(5)) == a >= third
        assert float(a) == 0.4
        assert bool(a)
        assert not Unreduced(integer(0), integer(7))
        assert a == lowest(a)
        assert hash(a) == hash(lowest(a))

    def test_denominators_in_common(self):
        below = integer(6)
        values = [Unreduced(integer(1), below), Unreduced(integer(5), below), *to_rationals([Fraction(1, 4)])]
        assert common_denominator(values) == 12
        assert product([2, 3, 5, 7, 11]) == 2310


@pytest.mark.usefixtures("way")
def test_without_flint(monkeypatch):
    """Python's own fractions take the same way."""
    for name in ("fmpq", "fmpz", "fmpz_poly"):
        monkeypatch.setattr(rational, name, None)
    mdp = shuffled(np.random.default_rng(3), 12, rare=1)
    found = waypost.state_importance(mdp, target="goal", scope="all", exact=True)
    right = by_elimination(mdp, "all")
    assert found.lower.tolist() == right.lower.tolist()
    assert found.upper.tolist() == right.upper.tolist()
    assert int(from_digits(np.array([3, 0, 7]), 11)) == 3 + 7 * 121
