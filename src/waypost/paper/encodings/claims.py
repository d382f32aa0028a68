"""What an encoding claims, what its strategy attains, and what is true, side by side."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from waypost.importance.results import Number
from waypost.model import MDP
from waypost.paper.encodings.encoded import BoundOf, Encoding, encoded
from waypost.paper.encodings.evaluation import Attained, attained
from waypost.paper.encodings.product import TwoCopyProduct
from waypost.paper.encodings.program import Sense
from waypost.paper.encodings.solution import Limits, SolverName, Status
from waypost.paper.encodings.solving import TOO_LARGE, Solvers, solver_for

RIGHT = 1e-6  # a claim this near the truth is right

Verdict = Literal["right", "unattainable", "missed", "unsolved", "unchecked"]


@dataclass(frozen=True, eq=False)
class Claim:
    """One solved bound: what the solver said, and the strategy it said it with."""

    encoding: Encoding
    solver: SolverName
    sense: Sense
    status: Status
    claimed: float | None  # the importance the solution claims
    attained: Attained | None  # what the strategy read off the solution does
    seconds: float  # inside the solver
    preparation: float  # seconds spent on product and program
    size: tuple[int, int]  # variables and rows of the program
    message: str = ""
    product: TwoCopyProduct | None = None
    strategy: NDArray[np.float64] | None = None  # (C',) over the product's choices: the copy is the bit of memory

    def verdict(self, exact: Number | None, tolerance: float = RIGHT) -> Verdict:
        """Judge the claim: *right*, or *unattainable* (no strategy does so well), or *missed* (some does better)."""
        if self.status != "optimal" or self.claimed is None:
            return "unsolved"
        if exact is None:
            return "unchecked"
        over = (self.claimed - float(exact)) * (1 if self.sense == "max" else -1)
        return "right" if abs(over) <= tolerance else "unattainable" if over > 0 else "missed"


def claim(
    mdp: MDP,
    encoding: Encoding,
    *,
    solver: SolverName | None = None,
    solvers: Solvers | None = None,
    limits: Limits | None = None,
    exact: bool = False,
    stand_in: bool = False,
    **asked: Unpack[BoundOf],
) -> Claim:
    """Solve one bound of the importance of a state or a path with one encoding, and evaluate its strategy.

    With `exact` the strategy is evaluated in rationals. `solvers` keeps solvers running between calls; `solver` names
    one, or else `solver_for` chooses; with `stand_in` a free one solves what is too large for Gurobi's licence.

    >>> from waypost.cases import loan
    >>> found = claim(loan(), "LP-all", target="Granted", state="Error", sense="max", exact=True)
    >>> found.status, round(found.claimed, 9), found.attained.importance
    ('optimal', 0.102833158, Fraction(98, 953))
    """
    limits, sense = limits or Limits(), asked["sense"]
    if solvers is None:
        with Solvers() as own:
            return claim(
                mdp, encoding, solver=solver, solvers=own, limits=limits, exact=exact, stand_in=stand_in, **asked
            )
    started = time.perf_counter()
    built = encoded(mdp, encoding, **asked)
    whole = built.whole
    if whole.target[whole.mdp.initial]:  # the target is reached before anything can be decided
        done = attained(whole, np.ones(whole.mdp.n_choices), exact=exact)
        return Claim(
            encoding, "highs", sense, "optimal", float(done.via), done, 0.0, 0.0, (0, 0), "at the target", whole
        )
    name = solver or solver_for(built.program)
    preparation = time.perf_counter() - started
    solution = solvers[name].solve(built.program, limits)
    if stand_in and name == "gurobi" and TOO_LARGE in solution.message:
        name = solver_for(built.program, gurobi=False)
        solution = solvers[name].solve(built.program, limits)
    claimed = strategy = judged = None
    if solution.values is not None and solution.objective is not None:
        claimed = built.reading.importance(solution.objective)
        strategy = built.strategy(solution.values)
        judged = attained(whole, strategy, exact=exact)
    return Claim(
        encoding, name, sense, solution.status, claimed, judged, solution.seconds, preparation, built.size,
        solution.message, whole, strategy,
    )  # fmt: skip
