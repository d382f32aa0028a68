"""QP and QP*: the paper's quadratic encodings (Sect. 5).

QP optimises the importance over all strategies: the division is a variable ``r`` with
``r (p_{s0,t⊥} + p_{s0,t⊤}) = p_{s0,t⊤}``. QP* optimises over reachability-optimal strategies: it fixes the
probability ``p*`` of the target, bounds it from below by every choice, and minimises the sum of all probabilities
before it turns to the importance. QP has a state ordering, QP* has none; `docs/accuracy.md` shows what either costs.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from waypost.paper.encodings.ordering import hold_order_quadratically
from waypost.paper.encodings.product import TwoCopyProduct
from waypost.paper.encodings.program import Draft, Program, Readout, Sense
from waypost.paper.encodings.variables import BYPASS, VIA, ProgramVariables

EPSILON = 1e-4  # the paper's


def qp(
    product: TwoCopyProduct,
    sense: Sense,
    *,
    epsilon: float = EPSILON,
    ordering: Literal["paper", "components"] = "paper",
) -> tuple[Program, ProgramVariables, Readout]:
    """Importance over all strategies that reach the target with probability `epsilon` or more (Fig. 2).

    With ``ordering="components"`` the order of Eq. 8 is kept in end components only. That forbids the same strategies,
    those that never reach a terminal state, with fewer products; and states that cannot reach the target are left
    alone, which the paper's condition makes infeasible when they run in a circle.
    """
    draft = Draft()
    variables = ProgramVariables.of(product, draft, integer=False)
    _bellman(variables)
    via, bypass = variables.start
    ratio = draft.variable("importance", upper=1.0)
    total = draft.variable("reach t", lower=epsilon, upper=1.0)
    draft.row([(via, 1.0), (bypass, 1.0), (total, -1.0)], lower=0.0, upper=0.0)
    draft.quadratic([(ratio, total, 1.0)], [(via, -1.0)], lower=0.0, upper=0.0)
    hold_order_quadratically(variables, everywhere=ordering == "paper")
    draft.objective(sense, [(ratio, 1.0)])
    return draft.program(), variables, Readout()


def qp_star(product: TwoCopyProduct, sense: Sense, *, optimum: float) -> tuple[Program, ProgramVariables, Readout]:
    """Probability of the target via the state, over strategies that reach it with probability `optimum`."""
    draft = Draft()
    variables = ProgramVariables.of(
        product, draft, integer=False, relevant=product.reaches[VIA] | product.reaches[BYPASS]
    )
    _bellman(variables)
    via, bypass = variables.start
    draft.row([(via, 1.0), (bypass, 1.0)], lower=optimum, upper=optimum)
    everything = sorted({*variables.unknown(VIA), *variables.unknown(BYPASS)})
    entries, constant = variables.gaps(product.choices_of(everything), (VIA, BYPASS))
    draft.block(entries, lower=-constant, upper=np.full(len(constant), np.inf))
    draft.objective("min", [(j, 1.0) for copy in (VIA, BYPASS) for j in variables.reached[copy].values()])
    draft.objective(sense, [(via, 1.0)])
    return draft.program(), variables, Readout(optimum)


def _bellman(variables: ProgramVariables) -> None:
    """Eq. 7: what a state reaches is what its choices reach, weighted by how often they are taken."""
    for copy in (VIA, BYPASS):
        for x in variables.unknown(copy):
            products: list[tuple[int, int, float]] = []
            terms: list[tuple[int, float]] = [(variables.reached[copy][x], -1.0)]
            constant = 0.0
            for choice in variables.product.choices(x):
                certain, onward = variables.after(choice, copy)
                j = variables.taken.get(choice)
                if j is None:
                    constant += certain
                    terms += onward
                else:
                    terms.append((j, certain))
                    products += [(j, i, p) for i, p in onward]
            terms = [(i, a) for i, a in terms if a != 0.0]
            variables.draft.quadratic(products, terms, lower=-constant, upper=-constant)
