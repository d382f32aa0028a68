"""Where the paper's encodings are wrong: the smallest models, and what repairs them."""

from __future__ import annotations

import pytest

import waypost
from waypost.paper.encodings import Limits, Options, Solvers, claim
from waypost.paper.encodings.counterexamples import circling, rare, resting, waiting

FINE = Limits(seconds=20, tolerance=1e-9)


@pytest.fixture(scope="module")
def solvers():
    with Solvers() as running:
        yield running


def importance(mdp, scope):
    return waypost.state_importance(mdp, target="t", scope=scope, exact=True)["s"]


@pytest.mark.parametrize("solver", ["scip", "gurobi"])
@pytest.mark.parametrize("form", ["letter", "ours"])
def test_qp_star_claims_what_no_strategy_attains(solvers, solver, form):
    """Three states and one wait are enough: without an order QP* is unsound."""
    mdp = waiting()
    assert importance(mdp, "optimal") == waypost.Bounds(0.5, 0.5)
    for sense, false in (("min", 0.0), ("max", 1.0)):
        found = claim(
            mdp, "QP*", target="t", state="s", sense=sense, solver=solver, solvers=solvers, limits=FINE,
            options=Options(form), exact=True,
        )  # fmt: skip
        assert found.status == "optimal"
        assert found.claimed == pytest.approx(false, abs=1e-6)
        assert found.verdict(0.5) == "unattainable"
        assert found.attained.importance in (None, 0.5)  # the strategy waits for ever, or is no better than any other


def test_fewer_states_cannot_fool_qp_star(solvers):
    """Without a third state there is nothing between start and target, and importance is 0 or 1 whatever is claimed."""
    mdp = waypost.MDP.from_dict({"s0": {"wait": "s0", "go": "t"}, "t": {}}, initial="s0")
    for name in mdp.states:
        for sense in ("min", "max"):
            found = claim(mdp, "QP*", target="t", state=name, sense=sense, solvers=solvers, limits=FINE)
            assert found.verdict(1.0) == "right"


def test_a_big_m_lets_lp_star_wait_for_ever(solvers):
    """With M = 1e16 the order vanishes in the solver's tolerance; held by a tight M or by indicators it does not."""
    mdp = waiting()
    wrong = claim(
        mdp, "LP*", target="t", state="s", sense="max", solver="gurobi", solvers=solvers, limits=FINE,
        options=Options(ordering="paper"), exact=True,
    )  # fmt: skip
    assert wrong.status == "optimal"
    assert wrong.verdict(0.5) == "unattainable"
    assert wrong.attained.importance is None
    for solver, ordering in (("highs", "tight"), ("gurobi", "tight"), ("gurobi", "indicator"), ("scip", "indicator")):
        for sense in ("min", "max"):
            right = claim(
                mdp, "LP*", target="t", state="s", sense=sense, solver=solver, solvers=solvers, limits=FINE,
                options=Options(ordering=ordering), exact=True,
            )  # fmt: skip
            assert right.verdict(0.5) == "right", (solver, ordering)
            assert right.attained.importance == pytest.approx(0.5)
            assert float(right.attained.reachability) == 1


def test_highs_refuses_the_papers_big_m(solvers):
    found = claim(
        waiting(), "LP*", target="t", state="s", sense="max", solver="highs", solvers=solvers,
        options=Options(ordering="paper"),
    )  # fmt: skip
    assert found.status == "trouble"
    assert "refuses" in found.message


def test_the_order_of_qp_cuts_off_strategies_that_rest(solvers):
    """To the letter resting is approached without end; with levels that have bounds it is cut off at 1/2."""
    mdp = resting()
    assert importance(mdp, "all") == waypost.Bounds(0.5, 1)
    letter, ours = (
        claim(
            mdp, "QP", target="t", state="s", sense="max", solver="gurobi", solvers=solvers, limits=FINE,
            options=Options(form),
        )
        for form in ("letter", "ours")
    )  # fmt: skip
    assert letter.claimed == pytest.approx(1, abs=1e-6)
    assert ours.status == "optimal"
    assert ours.claimed == pytest.approx(0.5, abs=1e-2)  # resting nearly always is what a tolerance still allows
    assert ours.verdict(1) == "missed"
    sound = claim(mdp, "LP-all", target="t", state="s", sense="max", solvers=solvers, limits=FINE, exact=True)
    assert sound.attained.importance == 1


def test_the_order_of_qp_is_infeasible_where_two_states_circle(solvers):
    mdp = circling()
    assert importance(mdp, "all") == waypost.Bounds(1, 1)
    letter = Options("letter")
    found = claim(mdp, "QP", target="t", state="s", sense="min", solver="gurobi", solvers=solvers, options=letter)
    assert found.status == "infeasible"
    repaired = claim(mdp, "QP", target="t", state="s", sense="min", solvers=solvers, limits=FINE)
    assert repaired.verdict(1) == "right"


def test_epsilon_cuts_off_what_is_rare(solvers):
    mdp = rare()
    assert importance(mdp, "all") == waypost.Bounds(0, 1)
    found = claim(mdp, "QP", target="t", state="s", sense="max", solver="gurobi", solvers=solvers, limits=FINE)
    assert found.claimed == pytest.approx(0.1, abs=1e-3)
    assert found.verdict(1) == "missed"
    finer = claim(
        mdp, "QP", target="t", state="s", sense="max", solver="gurobi", solvers=solvers, limits=FINE,
        options=Options(epsilon=1e-5),
    )  # fmt: skip
    assert finer.claimed > 0.9
