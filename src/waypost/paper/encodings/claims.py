"""What an encoding claims, what its strategy attains, and what is true, side by side."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from waypost.errors import WaypostError
from waypost.importance.results import Number
from waypost.model import MDP, Target
from waypost.paper.encodings.contraction import contracted
from waypost.paper.encodings.evaluation import Attained, attained
from waypost.paper.encodings.flows import Flows, lp_all, lp_optimal
from waypost.paper.encodings.linear import BIG_M, Ordering, lp_star
from waypost.paper.encodings.product import Product, path_product, state_product
from waypost.paper.encodings.program import Program, Reading, Sense
from waypost.paper.encodings.quadratic import EPSILON, qp, qp_star
from waypost.paper.encodings.solution import Limits, SolverName, Status
from waypost.paper.encodings.solving import Solvers, solver_for
from waypost.paper.encodings.variables import Variables
from waypost.solve import Reach

Encoding = Literal["QP", "QP*", "LP*", "LP-all", "LP-optimal"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
SCOPE: dict[Encoding, Literal["all", "optimal"]] = {
    "QP": "all", "QP*": "optimal", "LP*": "optimal", "LP-all": "all", "LP-optimal": "optimal",
}  # fmt: skip
RIGHT = 1e-6  # a claim this near the truth is right

Verdict = Literal["right", "unattainable", "missed", "unsolved", "unchecked"]


@dataclass(frozen=True)
class Options:
    """How the encodings are built; the defaults are the paper's where the solver takes them.

    ``ordering`` is for LP*: *paper* uses ``big_m``, *tight* and *indicator* hold the order really; None is *paper*
    where the solver named accepts ``big_m``, and *tight* with HiGHS, which refuses it. ``order_everywhere`` is for QP:
    the order in all states, as printed, instead of in end components only. ``contract`` passes over states without a
    choice before a quadratic encoding is built (see `contraction`); False gives the encoding to the letter.
    """

    epsilon: float = EPSILON
    big_m: float = BIG_M
    ordering: Ordering | None = None
    order_everywhere: bool = False
    contract: bool = True


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
    product: Product | None = None
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
    target: Target,
    sense: Sense,
    state: str | None = None,
    path: Sequence[str] | None = None,
    solver: SolverName | None = None,
    solvers: Solvers | None = None,
    limits: Limits | None = None,
    options: Options | None = None,
    exact: bool = False,
) -> Claim:
    """Solve one bound of the importance of a state or a path with one encoding, and evaluate its strategy.

    With `exact` the strategy is evaluated in rationals. `solvers` keeps solvers running between calls; `solver` names
    one, or else `solver_for` chooses.

    >>> from waypost.cases import loan
    >>> found = claim(loan(), "LP-all", target="Granted", state="Error", sense="max", exact=True)
    >>> found.status, round(found.claimed, 9), found.attained.importance
    ('optimal', 0.102833158, Fraction(98, 953))
    """
    limits, options = limits or Limits(), options or Options()
    if solvers is None:
        with Solvers() as own:
            return claim(
                mdp, encoding, target=target, sense=sense, state=state, path=path, solver=solver, solvers=own,
                limits=limits, options=options, exact=exact,
            )  # fmt: skip
    started = time.perf_counter()
    whole = _product(mdp, target, state, path)
    if whole.target[whole.mdp.initial]:  # the target is reached before anything can be decided
        done = attained(whole, np.ones(whole.mdp.n_choices), exact=exact)
        return Claim(
            encoding, "highs", sense, "optimal", float(done.via), done, 0.0, 0.0, (0, 0), "at the target", whole
        )
    smaller = contracted(whole) if options.contract and encoding in ("QP", "QP*") else None
    product = whole if smaller is None else smaller.product
    reach = Reach.of(product.mdp, product.target, exact=False)
    program, variables, reading = _encoded(product, encoding, sense, reach, options, solver)
    name = solver or solver_for(program)
    preparation = time.perf_counter() - started
    solution = solvers[name].solve(program, limits)
    size = (len(program.lower), program.rows.shape[0] + len(program.quadratic) + len(program.indicators))
    claimed = strategy = judged = None
    if solution.values is not None and solution.objective is not None:
        claimed = reading.importance(solution.objective)
        strategy = _strategy(variables, solution.values, reach)
        strategy = strategy if smaller is None else smaller.expanded(strategy)
        judged = attained(whole, strategy, exact=exact)
    return Claim(
        encoding, name, sense, solution.status, claimed, judged, solution.seconds, preparation, size,
        solution.message, whole, strategy,
    )  # fmt: skip


def _product(mdp: MDP, target: Target, state: str | None, path: Sequence[str] | None) -> Product:
    where = mdp.where(target)
    if (state is None) == (path is None):
        raise WaypostError("name either a state or a path")
    if state is not None:
        return state_product(mdp, where, np.arange(mdp.n_states) == mdp.state(state))
    return path_product(mdp, where, path or ())


def _encoded(
    product: Product, encoding: Encoding, sense: Sense, reach: Reach, options: Options, solver: SolverName | None
) -> tuple[Program, Variables | Flows, Reading]:
    if encoding == "QP":
        ordering: Literal["paper", "components"] = "paper" if options.order_everywhere else "components"
        return qp(product, sense, epsilon=options.epsilon, ordering=ordering)
    optimum = float(reach.max.values[product.mdp.initial])
    if encoding == "QP*":
        return qp_star(product, sense, optimum=optimum)
    if encoding == "LP*":
        order = options.ordering or ("tight" if solver in (None, "highs") else "paper")
        conserving = reach.conserving
        return lp_star(product, sense, optimum=optimum, conserving=conserving, ordering=order, big_m=options.big_m)
    if encoding == "LP-optimal":
        return lp_optimal(product, sense, optimum=optimum, conserving=reach.conserving)
    if encoding == "LP-all":
        return lp_all(product, sense)
    raise WaypostError(f"no encoding {encoding!r}; there are {', '.join(ENCODINGS)}")


def _strategy(variables: Variables | Flows, values: NDArray[np.float64], reach: Reach) -> NDArray[np.float64]:
    if isinstance(variables, Variables):
        return variables.strategy(values)
    product = variables.product
    best: NDArray[Any] = np.where(reach.max.choice >= 0, reach.max.choice, product.mdp.first_choice[:-1])
    return variables.strategy(values, best)
