"""What a strategy of the product really attains: the probability of the target via, and without, the subject.

The judge of every claim. Given the choice probabilities of a product, the induced chain is solved, in floats or in
rationals without rounding; a circle that never arrives counts for nothing, because only states that reach the target
are part of the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import splu

from waypost.graph import can_reach, reachable
from waypost.importance.results import Number
from waypost.model import induced_chain
from waypost.paper.encodings.product import TwoCopyProduct
from waypost.solve.rational import solve_fixpoint, to_fraction, to_rationals


@dataclass(frozen=True)
class Attained:
    """Probability of reaching the target via the subject, and without it, under one strategy."""

    via: Number
    bypass: Number

    @property
    def reachability(self) -> Number:
        """Probability of the target."""
        return self.via + self.bypass

    @property
    def importance(self) -> Number | None:
        """P1, or P3 for a path; None where the strategy does not reach the target."""
        return self.via / self.reachability if self.reachability > 0 else None


def attained(product: TwoCopyProduct, probabilities: NDArray[np.float64], *, exact: bool = False) -> Attained:
    """Evaluate choice probabilities of a product.

    >>> from waypost.cases import ex1
    >>> from waypost.paper.encodings.product import state_product
    >>> mdp = ex1()
    >>> product = state_product(mdp, mdp.where("t"), mdp.where("s2"))
    >>> always_b = [float(a != "a" or "s2" not in product.mdp.states[x]) for x, a in
    ...             zip(product.mdp.choice_state, product.mdp.actions)]
    >>> attained(product, np.array(always_b), exact=True).importance
    Fraction(9, 10)
    """
    enabled = probabilities > 0
    start = np.arange(product.mdp.n_states) == product.mdp.initial
    alive = can_reach(product.graph, product.target, enabled=enabled)
    alive &= reachable(product.graph, start, enabled=enabled)
    if not alive[product.mdp.initial]:
        return Attained(0.0, 0.0) if not exact else Attained(Fraction(0), Fraction(0))
    if product.target[product.mdp.initial]:
        seen = product.via[product.mdp.initial]
        return Attained(Fraction(int(seen)), Fraction(int(not seen)))
    inner = np.flatnonzero(alive & ~product.target)
    return _exactly(product, probabilities, inner) if exact else _in_floats(product, probabilities, inner)


def _in_floats(product: TwoCopyProduct, probabilities: NDArray[np.float64], inner: NDArray[np.int64]) -> Attained:
    chain = induced_chain(product.mdp, probabilities)[inner]
    ends = np.column_stack([chain[:, np.flatnonzero(mask)].sum(axis=1) for mask in (product.via, product.bypass)])
    system = csr_array(eye_array(len(inner)) - chain[:, inner])
    reached = splu(system.tocsc()).solve(np.ascontiguousarray(ends))
    via, bypass = reached[int(np.flatnonzero(inner == product.mdp.initial)[0])]
    return Attained(float(np.clip(via, 0.0, 1.0)), float(np.clip(bypass, 0.0, 1.0)))


def _exactly(product: TwoCopyProduct, probabilities: NDArray[np.float64], inner: NDArray[np.int64]) -> Attained:
    place = {x: i for i, x in enumerate(inner.tolist())}
    model = product.mdp
    data = to_rationals(product.rationals())
    taken = [Fraction(float(p)) for p in probabilities]
    found: list[Number] = []
    for mask in (product.via, product.bypass):
        rows: list[dict[int, Any]] = []
        constant: list[Any] = []
        for x in inner.tolist():
            row: dict[int, Any] = {}
            here = to_rationals([Fraction(0)])[0]
            choices = [c for c in product.choices(x) if probabilities[c] > 0]
            total = sum(taken[c] for c in choices)
            for c in choices:
                weight = to_rationals([taken[c] / total])[0]
                for e in range(model.transitions.indptr[c], model.transitions.indptr[c + 1]):
                    y = int(model.transitions.indices[e])
                    if y in place:
                        row[place[y]] = row.get(place[y], 0) + weight * data[e]
                    elif mask[y]:
                        here = here + weight * data[e]
            rows.append(row)
            constant.append(here)
        found.append(to_fraction(solve_fixpoint(rows, constant)[0][place[model.initial]]))
    return Attained(found[0], found[1])
