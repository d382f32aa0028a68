"""LP*: the paper's mixed-integer linear encoding (Sect. 5), as printed and with an ordering that is really held.

Deterministic strategies are enough among reachability-optimal ones (Lemma 3), so ``p_sa`` is binary, and Bellman's
equations become inequalities that only the choice taken has to meet (Eq. 9 to 11).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from waypost.paper.encodings.ordering import hold_order, hold_order_in_components
from waypost.paper.encodings.product import TwoCopyProduct
from waypost.paper.encodings.program import Draft, Program, Readout, Sense
from waypost.paper.encodings.variables import BYPASS, VIA, Copy, ProgramVariables

BIG_M = 1e16  # the paper's

Ordering = Literal["paper", "components", "tight", "indicator"]


def lp_star(
    product: TwoCopyProduct,
    sense: Sense,
    *,
    optimum: float,
    conserving: NDArray[np.bool_],
    ordering: Ordering = "paper",
    big_m: float = BIG_M,
) -> tuple[Program, ProgramVariables, Readout]:
    """Probability of the target via the state, over deterministic strategies that reach it with probability `optimum`.

    ``ordering="paper"`` is Eq. 11 with `big_m`; ``"tight"`` orders only inside end components of `conserving` choices,
    with an M computed from the model; ``"indicator"`` does the same with indicator constraints and no M at all.

    Departs from the paper in these last two: only conserving choices are allowed, all that an optimal strategy uses,
    and as nothing can then be claimed that is not reached, Eq. 9 is left out, whose last digits solvers stumble over:
    an upper bound maximises what reaches t⊤, a lower bound what reaches t⊥.
    """
    draft = Draft()
    relevant = None if ordering == "paper" else product.reaches[VIA] | product.reaches[BYPASS]
    variables = ProgramVariables.of(product, draft, integer=True, relevant=relevant)
    via, bypass = variables.start
    if ordering == "paper":
        draft.row([(via, 1.0), (bypass, 1.0)], lower=optimum, upper=optimum)
    for copy in (VIA, BYPASS):
        _bellman(variables, copy)
    if ordering == "paper":
        hold_order(variables, big_m=big_m)
    else:
        for choice, j in variables.taken.items():
            if not conserving[choice]:
                draft.upper[j] = 0.0
        hold_order_in_components(variables, conserving, indicator=ordering == "indicator")
        if sense == "min":
            draft.objective("max", [(bypass, 1.0)])
            return draft.program(), variables, Readout(optimum, complement=True)
    draft.objective(sense, [(via, 1.0)])
    return draft.program(), variables, Readout(optimum)


def _bellman(variables: ProgramVariables, copy: Copy) -> None:
    """Eq. 10: what a state reaches is at most what the choice taken leads to; what is not taken may say anything."""
    choices = variables.product.choices_of(variables.unknown(copy))
    (row, column, coefficient), constant = variables.gaps(choices, [copy])
    taken = variables.of_choice[choices]
    free = np.flatnonzero(taken >= 0)
    entries = np.append(row, free), np.append(column, taken[free]), np.append(coefficient, np.ones(len(free)))
    variables.draft.block(entries, lower=np.full(len(choices), -np.inf), upper=(taken >= 0) - constant)
