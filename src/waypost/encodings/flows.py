"""Two linear programs that are sound: no integers, no products, no big M.

Variables are flows: ``y_c`` is how often a choice is expected to be taken before the target is reached. Flow never
appears from nowhere, so a circle cannot claim to arrive: in a circle out-flow and in-flow agree without any of it
reaching the target.

*Scope optimal*: on the choices that conserve the maximal probability, as much flow as possible into one copy of the
target. Whoever gives up on that copy goes on by any optimal strategy, so out-flow may fall short of in-flow.

*Scope all*: the importance is a quotient, made linear by scaling all flows so that the target receives 1 in total
(Charnes and Cooper 1962). Flow may only disappear where a strategy can avoid the target for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waypost.encodings.product import Product
from waypost.encodings.program import INFINITY, Draft, Program, Sense
from waypost.encodings.variables import cleaned
from waypost.graph import stay

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Flows:
    """Variables of a flow program: how often each choice is taken; `rest` where flow may disappear."""

    product: Product
    taken: Mapping[int, int]  # choice -> variable
    idle: NDArray[np.int64]  # (S',) a choice that stays away from the target for ever, or -1

    def strategy(self, values: NDArray[np.float64], otherwise: NDArray[np.int64]) -> NDArray[np.float64]:
        """(C',) probability of each choice; `otherwise` decides where no flow passes."""
        product = self.product
        flow = np.zeros(product.mdp.n_choices)
        for choice, j in self.taken.items():
            flow[choice] = max(values[j], 0.0)
        out = np.bincount(product.mdp.choice_state, weights=flow, minlength=product.mdp.n_states)
        arriving = flow @ product.mdp.transitions
        scale = max(out.max(initial=0.0), 1e-300)
        probabilities = np.zeros(product.mdp.n_choices)
        for x in range(product.mdp.n_states):
            choices = np.arange(*product.mdp.first_choice[x : x + 2])
            if out[x] > 1e-12 * scale and out[x] >= 0.5 * arriving[x]:
                probabilities[choices[int(flow[choices].argmax())]] = 1.0
            elif arriving[x] > 1e-12 * scale and self.idle[x] >= 0:
                probabilities[self.idle[x]] = 1.0
            else:
                probabilities[otherwise[x]] = 1.0
        return cleaned(product, probabilities)


def lp_optimal(product: Product, sense: Sense, *, conserving: Mask) -> tuple[Program, Flows]:
    """Greatest probability of t⊤ (for "max") or t⊥ (for "min") by `conserving` choices alone.

    With ``p*`` the maximal probability of the target, the importance is the optimum over ``p*``, or 1 minus that.
    """
    draft = Draft()
    wanted = product.via if sense == "max" else product.bypass
    live = product.reaches[0] if sense == "max" else product.reaches[1]
    taken = _flows(product, draft, live, conserving)
    _balance(product, draft, taken, live, may_stop=np.ones(product.mdp.n_states, bool), scale=None)
    draft.objective("max", _into(product, taken, wanted))
    return draft.program(), Flows(product, taken, np.full(product.mdp.n_states, -1))


def lp_all(product: Product, sense: Sense) -> tuple[Program, Flows]:
    """Greatest share of the flow into the target that goes to t⊤ (for "max") or to t⊥ (for "min", then 1 minus it)."""
    draft = Draft()
    live = product.reaches[0] | product.reaches[1]
    avoiding, idle = stay(product.graph, ~product.target)
    everything = np.ones(product.mdp.n_choices, bool)
    taken = _flows(product, draft, live, everything)
    scale = draft.variable()
    _balance(product, draft, taken, live, may_stop=avoiding, scale=scale)
    into = {copy: _into(product, taken, mask) for copy, mask in (("via", product.via), ("bypass", product.bypass))}
    draft.row([*into["via"], *into["bypass"]], lower=1.0, upper=1.0)
    draft.objective("max", into["via"] if sense == "max" else into["bypass"])
    return draft.program(), Flows(product, taken, idle)


def _flows(product: Product, draft: Draft, live: Mask, enabled: Mask) -> dict[int, int]:
    """One variable for each enabled choice of a live state that is not a target."""
    owner = product.mdp.choice_state
    chosen = np.flatnonzero(enabled & (live & ~product.target)[owner]).tolist()
    return dict(zip(chosen, draft.variables(len(chosen)), strict=True))


def _balance(
    product: Product, draft: Draft, taken: Mapping[int, int], live: Mask, *, may_stop: Mask, scale: int | None
) -> None:
    """Out-flow equals in-flow, plus the source at the initial state: 1, or the variable `scale`."""
    terms: dict[int, list[tuple[int, float]]] = {x: [] for x in np.flatnonzero(live & ~product.target).tolist()}
    owner = product.mdp.choice_state
    for choice, j in taken.items():
        terms[int(owner[choice])].append((j, 1.0))
        for y, p in product.successors(choice):
            if y in terms:
                terms[y].append((j, -p))
    start = product.mdp.initial
    for x, row in terms.items():
        source = 0.0
        if x == start and scale is None:
            source = 1.0
        elif x == start and scale is not None:
            row.append((scale, -1.0))
        draft.row(row, lower=-INFINITY if may_stop[x] else source, upper=source)


def _into(product: Product, taken: Mapping[int, int], wanted: Mask) -> list[tuple[int, float]]:
    """Flow into the wanted states."""
    return [(j, p) for choice, j in taken.items() for y, p in product.successors(choice) if wanted[y]]
