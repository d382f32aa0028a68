"""What solving a program may end in, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Status = Literal["optimal", "timeout", "memory", "infeasible", "trouble"]
SolverName = Literal["highs", "scip", "gurobi"]


@dataclass(frozen=True)
class Limits:
    """What one solve may take; the paper gave each an hour and 4 GB."""

    seconds: float = 60.0
    megabytes: int | None = 4096  # memory of the solve itself, on top of what the process holds before it
    threads: int = 1
    tolerance: float | None = None  # of feasibility, integrality and optimality; None leaves the solver its own
    presolve: bool = True  # whether the solver may simplify the program first


@dataclass(frozen=True, eq=False)
class Solution:
    """How a solve ended: *optimal* with values, or why there are none to trust.

    *timeout* and *memory* are the limits, *infeasible* is proven, *trouble* is everything else a solver may say:
    unbounded, numerical difficulties, a refused model, a crash.
    """

    status: Status
    values: NDArray[np.float64] | None = None  # (n,) the best point found; of an optimum only when optimal
    objective: float | None = None  # value of the last objective at that point
    seconds: float = 0.0  # inside the solver
    message: str = ""
