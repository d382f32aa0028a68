"""What solving a program may end in, and what it may cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Self

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

    @classmethod
    def ended(
        cls,
        said: str,
        meaning: Mapping[str, Status],
        seconds: float,
        values: NDArray[np.float64] | None,
        objective: Callable[[NDArray[np.float64]], float],
    ) -> Self:
        """What a solver `said` in the end, and the best point it found, if any."""
        return cls(meaning.get(said, "trouble"), values, None if values is None else objective(values), seconds, said)


def timed(run: Callable[[], object]) -> float:
    """Seconds that it takes to run."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
