"""Solving a program within limits that hold: in a child process that can be stopped.

Solvers count their own time and memory, some of it late and some not at all. So each runs in a child of ours
(`waypost.processes`), whose limits hold. The child is kept for the next program, so that a solve costs little more than
itself.
"""

from __future__ import annotations

import importlib.util
import time

import numpy as np

from waypost.errors import MissingExtraError
from waypost.paper.encodings.program import Program
from waypost.paper.encodings.solution import Limits, Solution, SolverName
from waypost.processes import Child, ChildError, Closing

FREE = 200  # variables of a program with products that Gurobi takes without a licence of one's own
FREE_LINEAR = 2000  # variables and rows of one without
TOO_LARGE = "size-limited"  # what Gurobi says when its licence does not suffice
HUGE = 1e5  # HiGHS refuses such coefficients, or gives up on them
GRACE = 1.0  # seconds a solver may take to notice that its time is up, besides a tenth of the limit
PASSING_ON = 3e-5  # seconds per number for handing a program to the solver, which is not the solver's time


class Solver(Closing):
    """A solver in a child process; close it, or use it in a ``with`` statement.

    >>> from waypost.paper.encodings.program import Draft
    >>> draft = Draft()
    >>> x = draft.variable(upper=2.5, integer=True)
    >>> draft.objective("max", [(x, 1.0)])
    >>> with Solver("highs") as solver:
    ...     found = solver.solve(draft.program(), Limits(seconds=10))
    >>> found.status, found.objective
    ('optimal', 2.0)
    """

    def __init__(self, name: SolverName) -> None:
        self.name = name
        self._child: Child | None = None
        self._refused: dict[bool, int] = {}  # what was too large, by whether there were products

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def solve(self, program: Program, limits: Limits) -> Solution:
        """Solve a program, objective by objective, within limits for all of them together.

        A program no smaller than one that the solver's licence refused is not handed over.
        """
        products = any(row.products for row in program.quadratic)
        size = min(len(program.lower), program.rows.shape[0] + len(program.quadratic))
        if size >= self._refused.get(products, size + 1):
            return Solution("trouble", message=f"{TOO_LARGE}: a smaller program was refused")
        solution = self._solved(program, limits)
        if TOO_LARGE in solution.message:
            self._refused[products] = max(len(program.lower), program.rows.shape[0] + len(program.quadratic))
        return solution

    def _solved(self, program: Program, limits: Limits) -> Solution:
        started = time.perf_counter()
        passing_on = PASSING_ON * (program.rows.nnz + len(program.lower))
        try:
            child = self._running()  # what starting takes on a busy machine is not the solver's time
            started = time.perf_counter()
            answer = child.ask(
                (program, limits),
                seconds=1.1 * limits.seconds + GRACE + passing_on,
                grow=None if limits.megabytes is None else limits.megabytes * 2**20,
            )
        except ChildError as error:
            if error.trouble in ("time", "broken"):
                self.close()
            seconds = time.perf_counter() - started
            if error.trouble == "time":
                return Solution("timeout", seconds=seconds, message="stopped from outside")
            said = f"{error.kind}: {error.said}" if error.kind else error.said
            return Solution("memory" if error.trouble == "memory" else "trouble", seconds=seconds, message=said)
        if "missing" in answer:
            raise MissingExtraError(answer["missing"])
        values = answer["values"]
        return Solution(**{**answer, "values": None if values is None else np.array(values, float)})

    def _running(self) -> Child:
        if self._child is None or self._child.closed:
            self.close()
            self._child = Child("waypost.paper.encodings.worker", "solver", self.name)
        return self._child


class Solvers(Closing):
    """The solvers of one experiment, each started when it is first needed; use it in a ``with`` statement."""

    def __init__(self) -> None:
        self._running: dict[SolverName, Solver] = {}

    def close(self) -> None:
        """End them all."""
        for solver in self._running.values():
            solver.close()
        self._running.clear()

    def __getitem__(self, name: SolverName) -> Solver:
        if name not in self._running:
            self._running[name] = Solver(name)
        return self._running[name]


def solver_for(program: Program, *, gurobi: bool = True) -> SolverName:
    """Choose the solver to take unless told otherwise.

    HiGHS for what is linear; Gurobi for products and for huge coefficients, where it is installed and
    its free licence suffices, else SCIP; never Gurobi without `gurobi`.
    """
    gurobi = gurobi and importlib.util.find_spec("gurobipy") is not None
    size = max(len(program.lower), program.rows.shape[0])
    if any(row.products for row in program.quadratic):
        return "gurobi" if gurobi and len(program.lower) <= FREE else "scip"
    if program.indicators:
        return "scip"
    if program.rows.nnz and np.abs(program.rows.data).max() >= HUGE:
        return "gurobi" if gurobi and size <= FREE_LINEAR else "scip"
    return "highs"
