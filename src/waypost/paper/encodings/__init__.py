"""The paper's encodings QP, QP* and LP*, two sound linear programs beside them, and a judge of what they claim."""

from waypost.paper.encodings.claims import RIGHT, Claim, Verdict, claim
from waypost.paper.encodings.encoded import ENCODINGS, ORDERINGS, SCOPE, Encoded, Encoding, Form, Options, encoded
from waypost.paper.encodings.evaluation import Attained, attained
from waypost.paper.encodings.export import export_program
from waypost.paper.encodings.product import TwoCopyProduct, path_product, state_product
from waypost.paper.encodings.program import Draft, Program, Sense
from waypost.paper.encodings.solution import Limits, Solution, SolverName, Status
from waypost.paper.encodings.solving import Solver, Solvers, solver_for

__all__ = [
    "ENCODINGS",
    "ORDERINGS",
    "RIGHT",
    "SCOPE",
    "Attained",
    "Claim",
    "Draft",
    "Encoded",
    "Encoding",
    "Form",
    "Limits",
    "Options",
    "Program",
    "Sense",
    "Solution",
    "Solver",
    "SolverName",
    "Solvers",
    "Status",
    "TwoCopyProduct",
    "Verdict",
    "attained",
    "claim",
    "encoded",
    "export_program",
    "path_product",
    "solver_for",
    "state_product",
]
