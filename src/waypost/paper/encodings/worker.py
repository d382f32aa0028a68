"""What a child process does in which a solver runs: one objective after the other."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from waypost.errors import MissingExtraError
from waypost.paper.encodings.program import HELD, Program
from waypost.paper.encodings.solution import Limits, Solution

Backend = Callable[[Program, Limits], Solution]
MODULES = {"highs": "highspy", "scip": "pyscipopt", "gurobi": "gurobipy"}


def in_order(backend: Backend, program: Program, limits: Limits) -> Solution:
    """Solve for one objective after the other, each held at its optimum while the next is optimised."""
    if not len(program.lower):  # nothing to decide; some solvers call that an error
        return Solution("optimal", program.lower, 0.0, message="empty")
    spent = 0.0
    reached: float | None = None
    current = program
    for stage in range(len(program.objectives)):
        current = replace(current, objectives=program.objectives).for_stage(stage, reached, HELD)
        if spent >= limits.seconds:
            return Solution("timeout", seconds=spent, message="before the last objective")
        solution = backend(current, replace(limits, seconds=limits.seconds - spent))
        spent += solution.seconds
        if solution.status != "optimal":
            break
        reached = solution.objective
    return replace(solution, seconds=spent)


def solver(name: str) -> Callable[[tuple[Program, Limits]], dict[str, Any]]:
    """Function that solves programs with one solver, to be called in a child process (`waypost.processes`)."""
    backend: Backend = importlib.import_module(f"waypost.paper.encodings.{name}").solve
    with contextlib.suppress(ImportError):  # the backend says what to install
        importlib.import_module(MODULES[name])  # so that its own size does not count as the solve's

    def solved(job: tuple[Program, Limits]) -> dict[str, Any]:
        try:
            found = in_order(backend, *job)
        except MissingExtraError as error:
            return {"missing": str(error)}
        return {**vars(found), "values": None if found.values is None else found.values.tolist()}

    return solved
