"""One bound of one importance as a program: to the letter of the paper, or as we would rather have it solved.

*To the letter* is the program as printed, on the two-copy product: QP with its order in every state and levels that are
any numbers (Eq. 2 to 8), QP* with both objectives, LP* with `M` (Eq. 9 to 11). Of what the paper leaves open, this is
taken: probabilities of states that cannot reach a copy of the target are 0 (printed as an option, and needed: where
``negative`` leads to itself, Eq. 7 reads ``p = p``), and variables with a single possible value are put in.

*Ours* asks for the same numbers in a form that solvers can hold: QP and QP* on the contracted product (see
`contraction`), QP ordered inside end components only, LP* ordered there with an `M` that the model gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from waypost.errors import WaypostError
from waypost.model import MDP, Target
from waypost.paper.encodings.contraction import ContractedProduct, contracted_product
from waypost.paper.encodings.flows import Flows, lp_all, lp_optimal
from waypost.paper.encodings.linear import BIG_M, Ordering, lp_star
from waypost.paper.encodings.product import TwoCopyProduct, path_product, state_product
from waypost.paper.encodings.program import HELD, Program, Readout, Sense
from waypost.paper.encodings.quadratic import EPSILON, qp, qp_star
from waypost.paper.encodings.variables import ProgramVariables
from waypost.solve import Reach

Encoding = Literal["QP", "QP*", "LP*", "LP-all", "LP-optimal"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
SCOPE: dict[Encoding, Literal["all", "optimal"]] = {
    "QP": "all", "QP*": "optimal", "LP*": "optimal", "LP-all": "all", "LP-optimal": "optimal",
}  # fmt: skip
Form = Literal["letter", "ours"]
ORDERINGS: dict[Encoding, dict[Form, Ordering]] = {  # those of a form, and with them all that an encoding can have
    "QP": {"letter": "paper", "ours": "components"},
    "LP*": {"letter": "paper", "ours": "tight"},
}


@dataclass(frozen=True)
class Options:
    """How an encoding is built: its form, and the paper's constants.

    ``ordering`` is the form's own unless named: *paper* (Eq. 8, or Eq. 11 with ``big_m``), *components* for QP, *tight*
    or *indicator* for LP*, which hold the order inside end components.
    """

    form: Form = "ours"
    epsilon: float = EPSILON
    big_m: float = BIG_M
    ordering: Ordering | None = None


@dataclass(frozen=True, eq=False)
class Encoded:
    """A program and how its solution is read: as an importance, and as a strategy of the product."""

    whole: TwoCopyProduct
    smaller: ContractedProduct | None  # what the program speaks about, where that is not the whole product
    program: Program
    variables: ProgramVariables | Flows
    reading: Readout
    reach: Reach  # of what the program speaks about

    @property
    def size(self) -> tuple[int, int]:
        """Number of variables and of rows."""
        program = self.program
        return len(program.lower), program.rows.shape[0] + len(program.quadratic) + len(program.indicators)

    def strategy(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(C',) the probability of each choice of the whole product in a solution."""
        if isinstance(self.variables, ProgramVariables):
            found = self.variables.strategy(values)
        else:
            model = self.variables.product.mdp
            best: NDArray[Any] = np.where(self.reach.max.choice >= 0, self.reach.max.choice, model.first_choice[:-1])
            found = self.variables.strategy(values, best)
        return found if self.smaller is None else self.smaller.expanded(found)

    def single(self) -> Program:
        """Program with the last objective alone, for solvers that know one.

        QP* first minimises the sum of all probabilities. Its least value is known, the sum of the greatest
        probabilities of the target, so that a row can hold it there.
        """
        if len(self.program.objectives) == 1 or not isinstance(self.variables, ProgramVariables):
            return self.program
        states = set(self.variables.reached[0]) | set(self.variables.reached[1])
        least = float(sum(self.reach.max.values[x] for x in states))
        return self.program.for_stage(1, least, HELD)


class BoundOf(TypedDict):
    """One bound of the importance of a state or a path, and the form in which it is asked for."""

    target: Target
    sense: Sense
    state: NotRequired[str | None]
    path: NotRequired[Sequence[str] | None]
    options: NotRequired[Options | None]


def encoded(mdp: MDP, encoding: Encoding, **asked: Unpack[BoundOf]) -> Encoded:
    """One bound of the importance of a state or a path as a program.

    >>> from waypost.cases import loan
    >>> found = encoded(loan(), "LP*", target="Granted", state="Error", sense="max", options=Options("letter"))
    >>> found.program
    Program(variables=41, integer=12, rows=45, quadratic=0, indicators=0, objectives=1)
    """
    options, sense = asked.get("options") or Options(), asked["sense"]
    whole = _product(mdp, asked["target"], asked.get("state"), asked.get("path"))
    smaller = contracted_product(whole) if options.form == "ours" and encoding in ("QP", "QP*") else None
    product = whole if smaller is None else smaller.product
    reach = Reach.of(product.mdp, product.target, exact=False)
    program, variables, reading = _program(product, encoding, sense, reach, options)
    return Encoded(whole, smaller, program, variables, reading, reach)


def _product(mdp: MDP, target: Target, state: str | None, path: Sequence[str] | None) -> TwoCopyProduct:
    where = mdp.where(target)
    if (state is None) == (path is None):
        raise WaypostError("name either a state or a path")
    if state is not None:
        return state_product(mdp, where, np.arange(mdp.n_states) == mdp.state(state))
    return path_product(mdp, where, path or ())


def _program(
    product: TwoCopyProduct, encoding: Encoding, sense: Sense, reach: Reach, options: Options
) -> tuple[Program, ProgramVariables | Flows, Readout]:
    order = options.ordering or ORDERINGS.get(encoding, {}).get(options.form)
    if encoding == "QP":
        if order not in ("paper", "components"):
            raise WaypostError(f"QP is ordered by 'paper' or 'components', not by {order!r}")
        return qp(product, sense, epsilon=options.epsilon, ordering=order)
    optimum = float(reach.max.values[product.mdp.initial])
    if encoding == "LP*":
        if order not in ("paper", "tight", "indicator"):
            raise WaypostError(f"LP* is ordered by 'paper', 'tight' or 'indicator', not by {order!r}")
        kept = reach.conserving
        return lp_star(product, sense, optimum=optimum, conserving=kept, ordering=order, big_m=options.big_m)
    if options.ordering is not None:
        raise WaypostError(f"{encoding} has no state ordering to choose")
    if encoding == "QP*":
        return qp_star(product, sense, optimum=optimum)
    if encoding == "LP-optimal":
        return lp_optimal(product, sense, optimum=optimum, conserving=reach.conserving)
    if encoding == "LP-all":
        return lp_all(product, sense)
    raise WaypostError(f"no encoding {encoding!r}; there are {', '.join(ENCODINGS)}")
