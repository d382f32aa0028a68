"""HiGHS: linear and mixed-integer linear programs."""

from __future__ import annotations

import numpy as np

from waypost.errors import require
from waypost.paper.encodings.program import Program, QuadraticRow
from waypost.paper.encodings.solution import Limits, Solution, Status, timed

LARGEST = 1e15  # HiGHS refuses greater coefficients
FINEST = 1e-10  # and smaller tolerances


def solve(program: Program, limits: Limits) -> Solution:
    """Solve a program of one objective without products or indicators."""
    highspy = require("highspy", "solvers", "solving with HiGHS")
    extra = [row for row in program.quadratic if not row.products]
    if len(extra) < len(program.quadratic) or program.indicators:
        return Solution("trouble", message="HiGHS takes neither products nor indicator constraints")
    if program.rows.nnz and np.abs(program.rows.data).max() >= LARGEST:
        return Solution("trouble", message=f"HiGHS refuses coefficients of {LARGEST:g} and more")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", limits.threads)
    solver.setOptionValue("time_limit", float(limits.seconds))
    if not limits.presolve:
        solver.setOptionValue("presolve", "off")
    if limits.tolerance is not None:
        solver.setOptionValue("mip_rel_gap", 0.0)
        solver.setOptionValue("mip_abs_gap", limits.tolerance)
        for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance"):
            solver.setOptionValue(option, max(limits.tolerance, FINEST))
    solver.passModel(_model(highspy, program, extra))
    seconds = timed(solver.run)
    values = np.array(solver.getSolution().col_value) if solver.getInfo().primal_solution_status else None
    said = str(solver.getModelStatus().name)
    return Solution.ended(said, _STATUS, seconds, values, program.objectives[0].value)


_STATUS: dict[str, Status] = {
    "kOptimal": "optimal",
    "kTimeLimit": "timeout",
    "kMemoryLimit": "memory",
    "kInfeasible": "infeasible",
}


def _model(highspy: object, program: Program, extra: list[QuadraticRow]) -> object:
    lp = highspy.HighsLp()  # type: ignore[attr-defined]
    cost = np.zeros(len(program.lower))
    for j, a in program.objectives[0].terms:
        cost[j] += a
    rows = program.rows
    pointer = [*rows.indptr.tolist()]
    index, value = rows.indices.tolist(), rows.data.tolist()
    for row in extra:
        index += [j for j, _ in row.terms]
        value += [a for _, a in row.terms]
        pointer.append(len(index))
    lp.num_col_ = len(cost)
    lp.num_row_ = len(pointer) - 1
    lp.col_cost_ = cost
    lp.col_lower_ = program.lower
    lp.col_upper_ = program.upper
    lp.row_lower_ = np.concatenate([program.row_lower, [row.lower for row in extra]])
    lp.row_upper_ = np.concatenate([program.row_upper, [row.upper for row in extra]])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise  # type: ignore[attr-defined]
    lp.a_matrix_.start_ = np.array(pointer)
    lp.a_matrix_.index_ = np.array(index)
    lp.a_matrix_.value_ = np.array(value, float)
    kinds = highspy.HighsVarType  # type: ignore[attr-defined]
    if program.integer.any():
        lp.integrality_ = [kinds.kInteger if whole else kinds.kContinuous for whole in program.integer]
    if program.objectives[0].sense == "max":
        lp.sense_ = highspy.ObjSense.kMaximize  # type: ignore[attr-defined]
    return lp
