"""The paper's own models: what its encodings claim there, and what is true."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import waypost
from waypost.paper.encodings import Limits, Options, Solvers, claim, encoded

FINE = Limits(seconds=20, tolerance=1e-9)


@pytest.fixture(scope="module")
def solvers():
    with Solvers() as running:
        yield running


@pytest.fixture(scope="module")
def model(shared_data):
    return lambda name: waypost.read_mdp(shared_data / f"models/paper/{name}.prism")


def exact(mdp, scope, states=None):
    return waypost.state_importance(mdp, target="positive", scope=scope, states=states, exact=True)


def bound(bounds, sense):
    return bounds.lower if sense == "min" else bounds.upper


@pytest.mark.parametrize(("name", "truth"), [("loc=26", 0.5605453087), ("loc=52", 0.5383096421)])
def test_the_published_upper_bounds_of_bpic12_are_attained_by_no_strategy(solvers, model, name, truth):
    """Published: 1.0 by both encodings. M = 1e16 gives the same here, and the strategy behind it never arrives."""
    mdp = model("bpic12")
    assert float(exact(mdp, "optimal", [name])[name].upper) == pytest.approx(truth, abs=1e-9)
    found = claim(
        mdp, "LP*", target="positive", state=name, sense="max", solver="gurobi", solvers=solvers, limits=FINE,
        options=Options("letter"),
    )  # fmt: skip
    assert found.status == "optimal"
    assert found.claimed == pytest.approx(1.0, abs=1e-6)
    assert found.verdict(truth) == "unattainable"
    assert found.attained.reachability == 0


@pytest.mark.parametrize("name", ["loc=26", "loc=52"])
def test_with_the_order_held_nothing_beyond_the_truth_is_claimed(solvers, model, name):
    """Cut off after a few seconds or not, a tight M claims nothing that its strategy does not attain."""
    mdp = model("bpic12")
    truth = float(exact(mdp, "optimal", [name])[name].upper)
    found = claim(
        mdp, "LP*", target="positive", state=name, sense="max", solver="highs", solvers=solvers,
        limits=Limits(seconds=4, tolerance=1e-9),
    )  # fmt: skip
    assert found.verdict(truth) in ("right", "unsolved")
    if found.claimed is not None:
        assert found.claimed == pytest.approx(float(found.attained.importance), abs=1e-6)
        assert found.claimed <= truth + 1e-6


def test_a_program_called_infeasible_has_a_solution(solvers, model):
    """M = 1e16 and loc=20 of BPIC12: Gurobi's simplification calls the program infeasible, and it is not.

    The solution of M = 1e6, its choices rounded to 0 and 1, meets every row with M = 1e16 in exact arithmetic: where a
    choice is taken the rows are the same, where it is not they only get looser.
    """
    mdp, asked = model("bpic12"), {"target": "positive", "state": "loc=20", "sense": "max"}
    huge, small = (encoded(mdp, "LP*", **asked, options=Options("letter", big_m=m)) for m in (1e16, 1e6))
    assert solvers["gurobi"].solve(huge.program, FINE).status == "infeasible"
    assert solvers["gurobi"].solve(huge.program, replace(FINE, presolve=False)).status == "optimal"
    solution = solvers["gurobi"].solve(small.program, FINE)
    values = np.where(small.program.integer, np.round(solution.values), solution.values)
    program, point = huge.program, [Fraction(float(v)) for v in values]
    for i in range(program.rows.shape[0]):
        part = slice(program.rows.indptr[i], program.rows.indptr[i + 1])
        row = zip(program.rows.indices[part].tolist(), program.rows.data[part].tolist(), strict=True)
        activity = float(sum((Fraction(a) * point[j] for j, a in row), Fraction(0)) - 0)
        assert program.row_lower[i] - 1e-5 <= activity <= program.row_upper[i] + 1e-5 or (
            activity - program.row_lower[i] >= -2  # 1 - 1e16 is -1e16 in floating point: here the order was lost
        )


def test_tolerances_cost_digits_on_bpic17(solvers, model):
    """With the solver's own tolerances LP* is off by more than 1e-6; with 1e-9 it is right."""
    mdp = model("bpic17")
    name = "loc=101"
    truth = exact(mdp, "optimal", [name])[name].upper
    loose, fine = (
        claim(
            mdp, "LP*", target="positive", state=name, sense="max", solver="gurobi", solvers=solvers,
            limits=Limits(seconds=20, tolerance=tolerance), options=Options("letter"),
        )
        for tolerance in (None, 1e-9)
    )  # fmt: skip
    assert loose.verdict(truth) == "unattainable"
    assert fine.verdict(truth) == "right"


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["QP", "QP*", "LP*"])
def test_greps_is_solved_and_right_in_all_three_encodings(solvers, model, encoding):
    mdp = model("greps")
    truth = exact(mdp, "all" if encoding == "QP" else "optimal")
    for name, sense in product(mdp.states, ("min", "max")):
        found = claim(mdp, encoding, target="positive", state=name, sense=sense, solvers=solvers, limits=FINE)
        assert found.verdict(bound(truth[name], sense)) == "right", (name, sense, found.status, found.claimed)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["highs", "gurobi"])
def test_bpic17_is_solved_and_right_by_lp_star(solvers, model, solver):
    mdp = model("bpic17")
    truth = exact(mdp, "optimal")
    for name, sense in product(mdp.states, ("min", "max")):
        found = claim(
            mdp, "LP*", target="positive", state=name, sense=sense, solver=solver, solvers=solvers, limits=FINE,
            options=Options("letter" if solver == "gurobi" else "ours"),
        )  # fmt: skip
        assert found.verdict(bound(truth[name], sense)) == "right", (name, sense, found.status, found.claimed)


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["all", "optimal"])
@pytest.mark.parametrize("name", ["greps", "bpic12", "bpic17"])
def test_the_sound_programs_equal_the_engine_on_every_bound(solvers, model, name, scope):
    mdp = model(name)
    truth = exact(mdp, scope)
    worst = 0.0
    for state, sense in product(mdp.states, ("min", "max")):
        found = claim(
            mdp, f"LP-{scope}", target="positive", state=state, sense=sense, solvers=solvers,
            limits=Limits(seconds=20, tolerance=1e-10),
        )  # fmt: skip
        worst = max(worst, abs(found.claimed - float(bound(truth[state], sense))))
    assert worst <= 1e-7
