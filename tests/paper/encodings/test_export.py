"""Programs as files: what another solver reads is the same program."""

from __future__ import annotations

import pytest

from waypost.cases import loan
from waypost.errors import FormatError, WaypostError
from waypost.paper.encodings import Draft, Limits, Options, Solvers, claim, encoded, export_program
from waypost.paper.encodings.counterexamples import waiting
from waypost.paper.encodings.export import to_lp, to_mps

ASKED = {"target": "Granted", "state": "Error", "sense": "max"}


def solved_by_highs(path):
    highspy = pytest.importorskip("highspy")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)).name == "kOk"
    solver.run()
    assert solver.getModelStatus().name == "kOptimal"
    return solver.getInfo().objective_function_value


def solved_by_scip(path):
    pyscipopt = pytest.importorskip("pyscipopt")
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("numerics/feastol", 1e-8)
    model.readProblem(str(path))
    model.optimize()
    assert model.getStatus() in ("optimal", "gaplimit")
    return model.getObjVal()


def solved_by_gurobi(path):
    gurobipy = pytest.importorskip("gurobipy")
    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.read(str(path), env=env) as model:
        model.optimize()
        return model.ObjVal


READERS = {"highs": solved_by_highs, "scip": solved_by_scip, "gurobi": solved_by_gurobi}


@pytest.mark.parametrize("ending", ["lp", "mps"])
@pytest.mark.parametrize(
    ("encoding", "options", "solver"),
    [
        ("LP*", Options(), "highs"),
        ("LP*", Options("letter", big_m=1e4), "highs"),
        ("LP*", Options(ordering="indicator"), "scip"),
        ("LP*", Options(ordering="indicator"), "gurobi"),
        ("LP-all", Options(), "highs"),
        ("LP-optimal", Options(), "scip"),
        ("QP", Options("letter"), "gurobi"),
        ("QP", Options(), "scip"),
        ("QP*", Options("letter"), "gurobi"),
        ("QP*", Options(), "scip"),
    ],
)
def test_a_solver_reads_from_the_file_the_bound_that_we_solve(tmp_path, encoding, options, solver, ending):
    """The file's optimum, read as an importance, is what `claim` finds."""
    built = encoded(loan(), encoding, **ASKED, options=options)
    path = tmp_path / f"program.{ending}"
    export_program(built.single(), path, title="a bound\nof the loan")
    found = built.reading.importance(READERS[solver](path))
    ours = claim(loan(), encoding, **ASKED, options=options, limits=Limits(seconds=20, tolerance=1e-9))
    assert found == pytest.approx(ours.claimed, abs=1e-5)


@pytest.mark.parametrize("sense", ["min", "max"])
def test_one_objective_holds_what_two_in_turn_hold(tmp_path, sense):
    """QP* as one program with the sum of probabilities held at its known least value claims what both stages do."""
    built = encoded(waiting(), "QP*", target="t", state="s", sense=sense, options=Options("letter"))
    export_program(built.single(), tmp_path / "w.lp")
    assert solved_by_gurobi(tmp_path / "w.lp") == pytest.approx(0.0 if sense == "min" else 1.0, abs=1e-5)
    with Solvers() as solvers:
        first = solvers["gurobi"].solve(built.program.for_stage(0, None, 0.0), Limits(seconds=10))
    held = built.single().quadratic[-1]
    assert held.upper == pytest.approx(first.objective, abs=1e-5)


def test_a_row_with_two_sides_is_written_as_two():
    draft = Draft()
    x = draft.variable("x", lower=-1.0)
    draft.row([(x, 2.0)], lower=1.0, upper=3.0)
    draft.row([], upper=1.0)
    draft.objective("min", [(x, 1.0)])
    lp, mps = to_lp(draft.program()), to_mps(draft.program())
    assert "c0u: 2.0 x0 <= 3.0" in lp
    assert "c0l: 2.0 x0 >= 1.0" in lp
    assert " L c0u\n G c0l\n" in mps


def test_names_stand_in_comments_of_one_line():
    draft = Draft()
    x = draft.variable("take\nEnd in\r s")
    draft.objective("min", [(x, 1.0)])
    assert to_lp(draft.program()).startswith("\\ x0: take End in s\nMinimize")
    assert to_mps(draft.program()).startswith("* x0: take End in s\nNAME")


def test_other_endings_are_refused(tmp_path):
    built = encoded(loan(), "LP*", **ASKED)
    with pytest.raises(FormatError, match=r"\.lp or \.mps"):
        export_program(built.program, tmp_path / "program.txt")


@pytest.mark.parametrize(("encoding", "ordering"), [("QP", "tight"), ("LP*", "components"), ("QP*", "paper")])
def test_an_order_that_an_encoding_cannot_have_is_refused(encoding, ordering):
    with pytest.raises(WaypostError, match=r"order"):
        encoded(loan(), encoding, **ASKED, options=Options(ordering=ordering))
