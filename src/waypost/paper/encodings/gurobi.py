"""Gurobi: the paper's solver; without a licence of one's own it takes 2,000 variables, 200 with products."""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.errors import require
from waypost.paper.encodings.program import Program
from waypost.paper.encodings.solution import Limits, Solution, Status, timed

FINEST = 1e-9  # Gurobi's smallest tolerance


def solve(program: Program, limits: Limits) -> Solution:
    """Solve a program of one objective."""
    gurobi = require("gurobipy", "gurobi", "solving with Gurobi")
    try:
        with gurobi.Env(empty=True) as environment:
            environment.setParam("OutputFlag", 0)
            environment.start()
            with gurobi.Model(env=environment) as model:
                return _solve(gurobi, model, program, limits)
    except gurobi.GurobiError as error:
        if error.errno == gurobi.GRB.Error.OUT_OF_MEMORY:
            return Solution("memory", message=str(error))
        return Solution("trouble", message=str(error))


def _solve(gurobi: Any, model: Any, program: Program, limits: Limits) -> Solution:
    _parameters(model, limits)
    kinds = np.where(program.integer, gurobi.GRB.INTEGER, gurobi.GRB.CONTINUOUS)
    x = model.addMVar(len(program.lower), lb=program.lower, ub=program.upper, vtype=kinds)
    variables = x.tolist()
    low, high = program.row_lower, program.row_upper
    for chosen, sense, side in (
        (low == high, "=", high),
        ((low != high) & np.isfinite(high), "<", high),
        ((low != high) & np.isfinite(low), ">", low),
    ):
        if chosen.any():
            model.addMConstr(program.rows[np.flatnonzero(chosen)], x, sense, side[chosen])
    for row in program.quadratic:
        form = gurobi.LinExpr([a for _, a in row.terms], [variables[j] for j, _ in row.terms])
        if row.products:
            form = form + gurobi.quicksum(w * variables[i] * variables[j] for i, j, w in row.products)
        if row.lower == row.upper:
            model.addConstr(form == row.lower)
        else:
            if row.upper < np.inf:
                model.addConstr(form <= row.upper)
            if row.lower > -np.inf:
                model.addConstr(form >= row.lower)
    for indicator in program.indicators:
        form = gurobi.LinExpr([a for _, a in indicator.terms], [variables[j] for j, _ in indicator.terms])
        model.addGenConstrIndicator(variables[indicator.binary], True, form <= indicator.upper)
    objective = program.objectives[0]
    form = gurobi.LinExpr([a for _, a in objective.terms], [variables[j] for j, _ in objective.terms])
    model.setObjective(form, gurobi.GRB.MINIMIZE if objective.sense == "min" else gurobi.GRB.MAXIMIZE)
    seconds = timed(model.optimize)
    said = _names(gurobi).get(model.Status, str(model.Status))
    values = np.asarray(x.X, float) if model.SolCount else None
    return Solution.ended(said, _STATUS, seconds, values, objective.value)


_STATUS: dict[str, Status] = {
    "OPTIMAL": "optimal",
    "TIME_LIMIT": "timeout",
    "MEM_LIMIT": "memory",
    "INFEASIBLE": "infeasible",
}


def _names(gurobi: Any) -> dict[int, str]:
    return {getattr(gurobi.GRB.Status, name): name for name in dir(gurobi.GRB.Status) if name.isupper()}


def _parameters(model: Any, limits: Limits) -> None:
    model.Params.TimeLimit = float(limits.seconds)
    model.Params.Threads = limits.threads
    if not limits.presolve:
        model.Params.Presolve = 0
    if limits.tolerance is not None:
        model.Params.FeasibilityTol = max(limits.tolerance, FINEST)
        model.Params.OptimalityTol = max(limits.tolerance, FINEST)
        model.Params.IntFeasTol = max(limits.tolerance, FINEST)
        model.Params.MIPGapAbs = limits.tolerance
        model.Params.MIPGap = limits.tolerance
    if limits.megabytes is not None:
        model.Params.SoftMemLimit = limits.megabytes / 1024
