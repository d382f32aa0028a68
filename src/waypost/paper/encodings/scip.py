"""SCIP: everything, products and indicators included; the free solver for the quadratic encodings."""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.errors import require
from waypost.paper.encodings.program import Program
from waypost.paper.encodings.solution import Limits, Solution, Status, timed

INFINITE = 1e20  # SCIP's own
FINEST = 1e-8  # finer, and it takes its own rounding for infeasibility


def solve(program: Program, limits: Limits) -> Solution:
    """Solve a program of one objective."""
    pyscipopt = require("pyscipopt", "solvers", "solving with SCIP")
    model = pyscipopt.Model()
    model.hideOutput()
    _parameters(model, limits)
    x = _variables(model, program)
    _constraints(pyscipopt, model, program, x)
    objective = program.objectives[0]
    form = pyscipopt.quicksum(a * x[j] for j, a in objective.terms)
    model.setObjective(form, "minimize" if objective.sense == "min" else "maximize")
    seconds = timed(model.optimize)
    best = model.getBestSol() if model.getNSols() else None
    values = None if best is None else np.array([model.getSolVal(best, v) for v in x])
    return Solution.ended(str(model.getStatus()), _STATUS, seconds, values, objective.value)


_STATUS: dict[str, Status] = {
    "optimal": "optimal",
    "gaplimit": "optimal",
    "timelimit": "timeout",
    "memlimit": "memory",
    "infeasible": "infeasible",
}


def _parameters(model: Any, limits: Limits) -> None:
    model.setParam("limits/time", float(limits.seconds))
    if limits.megabytes is not None:
        model.setParam("limits/memory", float(limits.megabytes))
    if not limits.presolve:
        model.setParam("presolving/maxrounds", 0)
    model.setParam("parallel/maxnthreads", limits.threads)
    model.setParam("lp/threads", limits.threads)
    if limits.tolerance is not None:
        model.setParam("numerics/feastol", max(limits.tolerance, FINEST))
        model.setParam("numerics/dualfeastol", max(limits.tolerance, FINEST))
        model.setParam("limits/absgap", limits.tolerance)


def _variables(model: Any, program: Program) -> list[Any]:
    return [
        model.addVar(
            lb=None if low == -np.inf else low,
            ub=None if high == np.inf else high,
            vtype="I" if whole and (low, high) != (0.0, 1.0) else "B" if whole else "C",
        )
        for low, high, whole in zip(*(a.tolist() for a in (program.lower, program.upper, program.integer)), strict=True)
    ]


def _constraints(pyscipopt: Any, model: Any, program: Program, x: list[Any]) -> None:
    def add(form: Any, low: float, high: float) -> None:
        if low == high:
            model.addCons(form == low)
        else:
            if low > -INFINITE:
                model.addCons(form >= low)
            if high < INFINITE:
                model.addCons(form <= high)

    rows = program.rows
    first, columns, coefficients = rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()
    for i, (low, high) in enumerate(zip(program.row_lower.tolist(), program.row_upper.tolist(), strict=True)):
        part = slice(first[i], first[i + 1])
        add(pyscipopt.quicksum(a * x[j] for j, a in zip(columns[part], coefficients[part], strict=True)), low, high)
    for row in program.quadratic:
        linear = pyscipopt.quicksum(a * x[j] for j, a in row.terms)
        add(pyscipopt.quicksum(w * x[i] * x[j] for i, j, w in row.products) + linear, row.lower, row.upper)
    for indicator in program.indicators:
        form = pyscipopt.quicksum(a * x[j] for j, a in indicator.terms)
        model.addConsIndicator(form <= indicator.upper, binvar=x[indicator.binary])
