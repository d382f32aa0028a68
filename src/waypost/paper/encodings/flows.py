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

from waypost.graph import can_reach, stay
from waypost.model.arrays import Mask
from waypost.model.strategy import one_hot
from waypost.paper.encodings.product import TwoCopyProduct
from waypost.paper.encodings.program import INFINITY, Draft, Program, Readout, Sense

NOISE = 1e-12  # flow this much smaller than the greatest is rounding


@dataclass(frozen=True, eq=False)
class Flows:
    """Variables of a flow program: how often each choice is taken."""

    product: TwoCopyProduct
    taken: Mapping[int, int]  # choice -> variable
    wanted: Mask  # (S',) where flow counts
    idle: NDArray[np.int64]  # (S',) a choice that stays away from the target for ever, or -1

    def strategy(self, values: NDArray[np.float64], otherwise: NDArray[np.int64]) -> NDArray[np.float64]:
        """(C',) probability of each choice: the one with most flow, where flow passes on its way to where it counts.

        Where none does, the strategy avoids the target for ever if it may, and else follows `otherwise`.
        """
        product = self.product
        flow = np.zeros(product.mdp.n_choices)
        for choice, j in self.taken.items():
            flow[choice] = values[j]
        flow[flow < NOISE * flow.max(initial=0.0)] = 0.0
        out = np.bincount(product.mdp.choice_state, weights=flow, minlength=product.mdp.n_states)
        stopping = out < 0.5 * (flow @ product.mdp.transitions)
        flow[stopping[product.mdp.choice_state]] = 0.0
        useful = can_reach(product.graph, self.wanted, enabled=flow > 0)
        best = np.where(self.idle >= 0, self.idle, otherwise)
        for x in np.flatnonzero(useful & ~stopping & ~product.target).tolist():
            first = int(product.mdp.first_choice[x])
            best[x] = first + int(flow[product.choices(x)].argmax())
        return one_hot(product.mdp, best)


def lp_optimal(
    product: TwoCopyProduct, sense: Sense, *, optimum: float, conserving: Mask
) -> tuple[Program, Flows, Readout]:
    """Greatest probability of t⊤ (for "max") or t⊥ (for "min") by `conserving` choices alone.

    With `optimum` the maximal probability of the target, the importance is this over that, or 1 minus the quotient.
    """
    draft = Draft()
    wanted = product.via if sense == "max" else product.bypass
    live = product.reaches[0] if sense == "max" else product.reaches[1]
    taken = _flows(product, draft, live, conserving)
    _balance(product, draft, taken, live, may_stop=np.ones(product.mdp.n_states, bool), scale=None)
    draft.objective("max", _into(product, taken, wanted))
    flows = Flows(product, taken, wanted, np.full(product.mdp.n_states, -1))
    return draft.program(), flows, Readout(optimum, complement=sense == "min")


def lp_all(product: TwoCopyProduct, sense: Sense) -> tuple[Program, Flows, Readout]:
    """Greatest share of the flow into the target that goes to t⊤ (for "max") or to t⊥ (for "min", then 1 minus it)."""
    draft = Draft()
    live = product.reaches[0] | product.reaches[1]
    avoiding, idle = stay(product.graph, ~product.target)
    everything = np.ones(product.mdp.n_choices, bool)
    taken = _flows(product, draft, live, everything)
    scale = draft.variable("scale")
    _balance(product, draft, taken, live, may_stop=avoiding, scale=scale)
    into = {copy: _into(product, taken, mask) for copy, mask in (("via", product.via), ("bypass", product.bypass))}
    draft.row([*into["via"], *into["bypass"]], lower=1.0, upper=1.0)
    draft.objective("max", into["via"] if sense == "max" else into["bypass"])
    flows = Flows(product, taken, product.target, idle)
    return draft.program(), flows, Readout(complement=sense == "min")


def _flows(product: TwoCopyProduct, draft: Draft, live: Mask, enabled: Mask) -> dict[int, int]:
    """One variable for each enabled choice of a live state that is not a target."""
    owner = product.mdp.choice_state
    chosen = np.flatnonzero(enabled & (live & ~product.target)[owner]).tolist()
    actions, states = product.mdp.actions, product.mdp.states
    named = [f"flow of {actions[c]} in {states[owner[c]]}" for c in chosen]
    return dict(zip(chosen, draft.variables(named), strict=True))


def _balance(
    product: TwoCopyProduct, draft: Draft, taken: Mapping[int, int], live: Mask, *, may_stop: Mask, scale: int | None
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


def _into(product: TwoCopyProduct, taken: Mapping[int, int], wanted: Mask) -> list[tuple[int, float]]:
    """Flow into the wanted states."""
    return [(j, p) for choice, j in taken.items() for y, p in product.successors(choice) if wanted[y]]
