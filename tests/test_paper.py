"""Every worked example of the paper, and every state of its three models."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import waypost
from waypost.cases import ex1, loan
from waypost.model import MDP, Strategy

CLOSE = 1e-12
LOAN = {  # state: all, optimal, absolute
    "s0": (("1", "1"), ("1", "1"), ("0", "49/50")),
    "Application": (("0", "1"), ("0", "0.95"), ("0", "0.931")),
    "Error": (("0", "98/953"), ("0", "0.05"), ("0", "0.049")),
    "Consultation": (("0", "1"), ("0.525", "1"), ("0", "0.98")),
    "Angry": (("0", "0"), ("0", "0"), ("0", "0")),
    "Application+": (("1", "1"), ("1", "1"), ("0", "0.98")),
    "Rework": (("0", "4/49"), ("4/49", "4/49"), ("0", "0.08")),
    "Resubmit": (("0", "4/49"), ("4/49", "4/49"), ("0", "0.08")),
    "Granted": (("1", "1"), ("1", "1"), ("0", "0.98")),
    "Rejected": (("0", "0"), ("0", "0"), ("0", "0")),
}
EX1 = {  # state: all, optimal
    "s0": (("1", "1"), ("1", "1")),
    "s1": (("1/91", "1"), ("1/91", "1/91")),
    "s2": (("9/10", "90/91"), ("90/91", "90/91")),
    "t": (("1", "1"), ("1", "1")),
    "sink": (("0", "0"), ("0", "0")),
}
GREPS = {  # state: all, optimal
    "loc=21": ((0, 1), (1 / 34, 1 / 34)),
    "loc=8": ((0, 1), (0.969696969697, 0.969696969697)),
    "loc=40": ((0.952380952381, 0.952380952381),) * 2,
    "loc=62": ((0.255952380952, 0.255952380952),) * 2,
    "loc=60": ((0.0952380952381, 0.0952380952381),) * 2,
}


def fractions(pair: tuple[str, str]) -> tuple[Fraction, Fraction]:
    low, high = map(Fraction, pair)
    return low, high


def assert_close(found: waypost.Bounds, right, within: float = CLOSE) -> None:
    """Equal to `within`; and 0 and 1 only where they are meant."""
    for number, wanted in ((found.lower, right[0]), (found.upper, right[1])):
        assert float(number) == pytest.approx(float(wanted), abs=within)
        assert (number in (0, 1)) == (wanted in (0, 1))


@pytest.mark.parametrize("state", LOAN)
def test_the_loan_example_has_the_worked_values(state):
    """Fig. 1: over all strategies, over the best, and absolutely; exactly in rationals, to 1e-12 in floats."""
    mdp = loan()
    rights = [fractions(pair) for pair in LOAN[state]]
    for exact in (True, False):
        found = [
            waypost.state_importance(mdp, target="Granted", scope="all", exact=exact)[state],
            waypost.state_importance(mdp, target="Granted", scope="optimal", exact=exact)[state],
            waypost.absolute_importance(mdp, target="Granted", exact=exact)[state],
        ]
        for bounds, right in zip(found, rights, strict=True):
            assert_close(bounds, right)
            assert not exact or (bounds.lower, bounds.upper) == right


def test_the_error_state_of_the_loan_example_has_the_printed_digits():
    found = waypost.state_importance(loan(), target="Granted", scope="all")["Error"]
    assert found.upper == pytest.approx(0.102833158447, abs=CLOSE)


@pytest.mark.parametrize("exact", [False, True])
def test_the_path_of_the_loan_example_has_the_worked_bounds(exact):
    """Example 2: s0 Apply Application, which the paper rounds to (0.9, 1); 0.95 under the best strategies."""
    path = ["s0", "Apply", "Application"]
    over_all = waypost.path_importance(loan(), path=path, target="Granted", scope="all", exact=exact)
    assert float(over_all.lower) == pytest.approx(0.897166841553, abs=CLOSE)
    assert over_all.upper == 1
    best = waypost.path_importance(loan(), path=path, target="Granted", scope="optimal", exact=exact)
    assert float(best.lower) == float(best.upper) == pytest.approx(0.95, abs=CLOSE)
    if exact:
        assert best.lower == Fraction(19, 20)
        assert over_all.lower == 1 - Fraction(98, 953)  # what is not on this path went through Error


@pytest.mark.parametrize("state", EX1)
def test_the_appendix_example_has_the_worked_values(state):
    for scope, pair in zip(("all", "optimal"), EX1[state], strict=True):
        right = fractions(pair)
        exact = waypost.state_importance(ex1(), target="t", scope=scope, exact=True)[state]
        assert (exact.lower, exact.upper) == right
        assert_close(waypost.state_importance(ex1(), target="t", scope=scope)[state], right)


@pytest.mark.parametrize("exact", [False, True])
def test_sending_s2_to_s1_makes_s1_indispensable_and_s2_no_less_likely(exact):
    """The appendix: under this strategy imp(s1) = 1 and imp(s2) = 0.9."""
    mdp = ex1()
    detour = Strategy.from_dict(mdp, {"s2": "b"})
    found = waypost.state_importance(mdp, target="t", scope=detour, exact=exact)
    assert found["s1"].lower == found["s1"].upper == 1
    assert float(found["s2"].lower) == float(found["s2"].upper) == pytest.approx(0.9, abs=CLOSE)
    assert not exact or found["s2"].lower == Fraction(9, 10)


@pytest.fixture(scope="module")
def paper(shared_data):
    """Read a model of the paper, in floats or from its text."""

    def read(name: str, *, exact: bool = False) -> MDP:
        return waypost.read_mdp(shared_data / f"models/paper/{name}.prism", exact=exact)

    return read


@pytest.mark.parametrize("exact", [False, True])
def test_greps_has_the_worked_values(paper, exact):
    mdp = paper("greps", exact=exact)
    best = waypost.reachability(mdp, target="positive", optimum="max", exact=exact)[mdp.initial]
    assert float(best) == pytest.approx(17 / 21, abs=CLOSE)
    for k, scope in enumerate(("all", "optimal")):
        found = waypost.state_importance(mdp, target="positive", scope=scope, states=GREPS, exact=exact)
        for state, right in GREPS.items():
            assert_close(found[state], right[k])


@pytest.mark.parametrize(
    ("name", "state", "scope", "right"),
    [
        ("bpic12", "loc=26", "all", (0, 0.560545308740978)),
        ("bpic12", "loc=26", "optimal", (0, 0.560545308740978)),
        ("bpic12", "loc=52", "optimal", (0, 0.538309642148581)),
        ("bpic17", "loc=37", "optimal", (0.143717846379673, None)),
        ("bpic17", "loc=94", "optimal", (0.00015997394275395, None)),
    ],
)
@pytest.mark.parametrize("exact", [False, True])
def test_the_bounds_that_were_published_wrongly_are_right(paper, name, state, scope, right, exact):
    """Bounds for which the published encodings claim 1.0, or lose digits to their tolerances."""
    mdp = paper(name, exact=exact)
    found = waypost.state_importance(mdp, target="positive", scope=scope, states=state, exact=exact)[state]
    for number, wanted in ((found.lower, right[0]), (found.upper, right[1])):
        if wanted is not None:
            assert float(number) == pytest.approx(wanted, abs=CLOSE)
            assert (number == 0) == (wanted == 0)


def answers(mdp: MDP, states: list[str] | None, *, exact: bool) -> dict[str, waypost.StateImportance]:
    return {
        "all": waypost.state_importance(mdp, target="positive", scope="all", states=states, exact=exact),
        "optimal": waypost.state_importance(mdp, target="positive", scope="optimal", states=states, exact=exact),
        "absolute": waypost.absolute_importance(mdp, target="positive", states=states, exact=exact),
    }


def assert_floats_equal_fractions(paper, name: str, every: int) -> None:
    floats, rational = paper(name), paper(name, exact=True)
    assert floats.states == rational.states
    asked = list(floats.states[::every])
    rights = answers(rational, asked, exact=True)
    for part, found in answers(floats, None, exact=False).items():
        for state in asked:
            assert_close(found[state], (rights[part][state].lower, rights[part][state].upper))


@pytest.mark.parametrize(("name", "every"), [("greps", 1), ("bpic12", 13), ("bpic17", 16)])
def test_floats_equal_fractions_on_the_papers_models(paper, name, every):
    """Both scopes and absolutely, to 1e-12, with 0 and 1 in the same places; all of GrepS, some of the others."""
    assert_floats_equal_fractions(paper, name, every)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bpic12", "bpic17"])
def test_floats_equal_fractions_in_every_state(paper, name):
    assert_floats_equal_fractions(paper, name, 1)


@pytest.mark.parametrize("name", ["greps", "bpic12", "bpic17"])
def test_witnesses_of_floats_attain_their_bounds(paper, name):
    """A sample of states: P1 of the witness, which is in scope, is the bound to 1e-9."""
    mdp = paper(name)
    best = waypost.reachability(mdp, target="positive", optimum="max")[mdp.initial]
    start = mdp.states[mdp.initial]
    for scope in ("all", "optimal"):
        found = waypost.state_importance(mdp, target="positive", scope=scope)
        for s in np.linspace(0, mdp.n_states - 1, 10).astype(int):
            state = mdp.states[s]
            for side in ("lower", "upper"):
                witness = found.witness(state, side)
                attained = waypost.state_importance(mdp, target="positive", scope=witness, states=state)[state].lower
                assert attained == pytest.approx(getattr(found[state], side), abs=1e-9)
                if scope == "optimal":
                    reached = waypost.absolute_importance(mdp, target="positive", scope=witness, states=start)[start]
                    assert reached.lower == pytest.approx(best, abs=1e-12)
