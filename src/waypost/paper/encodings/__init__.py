"""The paper's encodings QP, QP* and LP*, two sound linear programs beside them, and a judge of what they claim."""

from waypost.paper.encodings.claims import ENCODINGS, RIGHT, SCOPE, Claim, Encoding, Options, Verdict, claim
from waypost.paper.encodings.evaluation import Attained, attained
from waypost.paper.encodings.product import Product, path_product, state_product
from waypost.paper.encodings.program import Draft, Program, Sense
from waypost.paper.encodings.solution import Limits, Solution, SolverName, Status
from waypost.paper.encodings.solving import Solver, Solvers, solver_for

__all__ = [
    "ENCODINGS",
    "RIGHT",
    "SCOPE",
    "Attained",
    "Claim",
    "Draft",
    "Encoding",
    "Limits",
    "Options",
    "Product",
    "Program",
    "Sense",
    "Solution",
    "Solver",
    "SolverName",
    "Solvers",
    "Status",
    "Verdict",
    "attained",
    "claim",
    "path_product",
    "solver_for",
    "state_product",
]
