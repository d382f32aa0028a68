"""Solvers within limits: the same program, the same answer, and every way to fail told apart."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pytest

from waypost.cases import epidemic
from waypost.errors import MissingExtraError
from waypost.paper.encodings import Draft, Limits, Options, Solver, Solvers, claim, solving

EVERY = ("highs", "scip", "gurobi")


def solve(name, draft, **limits):
    with Solver(name) as solver:
        return solver.solve(draft.program(), Limits(**{"seconds": 20, **limits}))


def knapsack() -> Draft:
    draft = Draft()
    x = draft.variables(3, upper=1.0, integer=True)
    draft.row(zip(x, (3.0, 4.0, 5.0), strict=True), upper=8.0)
    draft.objective("max", zip(x, (4.0, 5.0, 6.0), strict=True))
    return draft


def hard() -> Draft:
    """A quadratic program no solver finishes quickly."""
    rng = np.random.default_rng(1)
    draft = Draft()
    x = draft.variables(60, lower=-1.0, upper=1.0)
    value = draft.variable(lower=-1e4, upper=1e4)
    products = [(i, j, float(rng.normal())) for i in x for j in x if i < j]
    draft.quadratic(products, [(value, -1.0)], lower=0.0)
    draft.objective("max", [(value, 1.0)])
    return draft


@pytest.mark.parametrize("name", EVERY)
def test_every_solver_finds_the_same_optimum(name):
    found = solve(name, knapsack())
    assert found.status == "optimal"
    assert found.objective == pytest.approx(10.0)
    assert found.values.round(6).tolist() == [1, 0, 1]


@pytest.mark.parametrize("name", EVERY)
def test_infeasible_is_told(name):
    draft = knapsack()
    draft.row([(0, 1.0)], lower=2.0)
    assert solve(name, draft).status == "infeasible"


@pytest.mark.parametrize("name", EVERY)
def test_unbounded_is_trouble(name):
    draft = Draft()
    x, y = draft.variables(2)
    draft.row([(x, 1.0), (y, -1.0)], upper=1.0)
    draft.objective("max", [(x, 1.0)])
    assert solve(name, draft).status == "trouble"


@pytest.mark.parametrize("name", EVERY)
def test_a_less_important_objective_decides_only_among_the_optima_of_the_first(name):
    draft = Draft()
    x, y = draft.variables(2, upper=1.0)
    draft.row([(x, 1.0), (y, 1.0)], upper=1.0)
    draft.objective("max", [(x, 1.0), (y, 1.0)])
    draft.objective("max", [(y, 1.0)])
    found = solve(name, draft)
    assert found.status == "optimal"
    assert found.values == pytest.approx([0, 1], abs=1e-5)


@pytest.mark.parametrize("name", ["scip", "gurobi"])
def test_products_and_indicators(name):
    draft = Draft()
    x, y = draft.variables(2, upper=2.0)
    on = draft.variable(upper=1.0, integer=True)
    draft.quadratic([(x, y, 1.0)], [], upper=1.0)
    draft.indicator(on, [(x, 1.0)], upper=0.5)
    draft.row([(on, 1.0)], lower=1.0)
    draft.objective("max", [(x, 1.0), (y, 1.0)])
    found = solve(name, draft, tolerance=1e-8)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(2.5, abs=1e-6)
    assert draft.program().broken_by(found.values) < 1e-6


def test_highs_says_what_it_does_not_take():
    draft = knapsack()
    draft.row([(0, 1e16)], upper=1e16)
    found = solve("highs", draft)
    assert found.status == "trouble"
    assert "1e+15" in found.message


@pytest.mark.parametrize("name", ["scip", "gurobi"])
def test_the_time_limit_is_kept(name):
    started = time.perf_counter()
    found = solve(name, hard(), seconds=0.5)
    assert found.status == "timeout"
    assert found.seconds < 2.5
    assert time.perf_counter() - started < 15  # starting the process included


def test_a_solver_that_does_not_come_back_is_stopped_and_replaced(monkeypatch):
    with Solver("scip") as solver:
        assert solver.solve(knapsack().program(), Limits(seconds=20)).status == "optimal"
        child = solver._child
        monkeypatch.setattr(solving, "GRACE", -10.0)
        found = solver.solve(hard().program(), Limits(seconds=10))
        assert found.status == "timeout"
        assert found.message == "stopped from outside"
        assert child.closed
        monkeypatch.undo()
        assert solver.solve(knapsack().program(), Limits(seconds=20)).objective == pytest.approx(10.0)


def test_the_memory_limit_is_kept():
    rng = np.random.default_rng(0)
    draft = Draft()
    x = draft.variables(2000, upper=1.0)
    for _ in range(200):
        draft.row([(j, float(a)) for j, a in zip(x, rng.normal(size=2000), strict=True)], upper=1.0)
    draft.objective("max", [(j, 1.0) for j in x])
    found = solve("highs", draft, megabytes=4)
    assert found.status == "memory"
    assert solve("highs", draft, megabytes=1000).status == "optimal"


def test_what_a_licence_refused_is_not_handed_over_again(monkeypatch):
    """Gurobi's free licence takes 2,000 variables; smaller programs are solved before and after."""
    with Solvers() as solvers:
        solver, large = solvers["gurobi"], Draft()
        for j in large.variables(3000, upper=1.0):
            large.row([(j, 1.0)], upper=0.5)
        large.objective("max", [(0, 1.0)])
        refused = solver.solve(large.program(), Limits(seconds=20))
        assert refused.status == "trouble"
        assert solving.TOO_LARGE in refused.message
        with monkeypatch.context() as patch:
            patch.setattr(solver, "_solved", lambda *_: pytest.fail("was handed over"))
            assert solving.TOO_LARGE in solver.solve(large.program(), Limits(seconds=20)).message
        assert solver.solve(knapsack().program(), Limits(seconds=20)).objective == pytest.approx(10.0)
        assert solving.solver_for(large.program(), gurobi=False) == "highs"


def test_a_free_solver_stands_in_where_that_is_allowed():
    """The first epidemic whose LP* is too large for Gurobi's free licence; who names Gurobi is told so."""
    mdp, options = epidemic(7), Options("letter")
    with Solvers() as solvers:
        asked = partial(
            claim, mdp, "LP*", target="positive", state="(7,1,8)", sense="max", solver="gurobi", solvers=solvers,
            limits=Limits(seconds=30, tolerance=1e-9), options=options,
        )  # fmt: skip
        assert (asked().status, asked().solver) == ("trouble", "gurobi")
        stood_in = asked(stand_in=True)
        assert (stood_in.status, stood_in.solver, stood_in.claimed) == ("optimal", "scip", pytest.approx(1.0))


def test_a_crash_is_trouble_and_not_memory():
    with Solvers() as solvers:
        solver = solvers["highs"]
        solver._running().close()
        assert solver.solve(knapsack().program(), Limits()).status in ("trouble", "optimal")
        assert solver.solve(knapsack().program(), Limits()).status == "optimal"


def test_a_missing_solver_says_what_to_install(monkeypatch):
    from waypost.paper.encodings import highs

    monkeypatch.setitem(__import__("sys").modules, "highspy", None)
    with pytest.raises(MissingExtraError, match=r"waypost\[solvers\]"):
        highs.solve(knapsack().program(), Limits())
