"""A smaller product with the same choices: states without a choice are passed over.

In a state with a single choice there is nothing to decide, so Bellman's equation there is linear and can be solved away
before a solver sees it. What remains are the initial state, the states with a choice, the targets, and one state for
having lost all hope. Every encoding says the same about the contracted product as about the whole one; quadratic ones,
which solvers take badly, say it in far fewer variables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array, hstack, vstack
from scipy.sparse.linalg import splu

from waypost.model import MDP
from waypost.paper.encodings.product import TwoCopyProduct

NEGLIGIBLE = 1e-15  # a probability this small came out of rounding


@dataclass(frozen=True, eq=False)
class ContractedProduct:
    """The contracted product, and where its choices are in the whole one."""

    whole: TwoCopyProduct
    product: TwoCopyProduct
    choices: NDArray[np.int64]  # (C'',) position among the choices of `whole`; -1 for self-loops of ends

    def expanded(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """(C',) choice probabilities of the whole product from those of the contracted one."""
        wide = np.zeros(self.whole.mdp.n_choices)
        wide[self.whole.mdp.first_choice[:-1]] = 1.0
        real = self.choices >= 0
        owners = np.unique(self.whole.mdp.choice_state[self.choices[real]])
        wide[np.isin(self.whole.mdp.choice_state, owners)] = 0.0
        wide[self.choices[real]] = probabilities[real]
        return wide


def contracted_product(whole: TwoCopyProduct) -> ContractedProduct:
    """Pass over every state without a choice, and gather those that cannot reach the target in one.

    >>> from waypost.cases import loan
    >>> from waypost.paper.encodings.product import state_product
    >>> mdp = loan()
    >>> whole = state_product(mdp, mdp.where("Granted"), mdp.where("Consultation"))
    >>> small = contracted_product(whole).product
    >>> whole.mdp.n_states, [name for name in small.mdp.states]
    (15, ['s0⊥', 'Error⊥', 'Rework⊥', 'Granted⊥', 'Consultation⊤', 'Rework⊤', 'Granted⊤', '(no hope)'])
    """
    model, n = whole.mdp, whole.mdp.n_states
    live = whole.reaches[0] | whole.reaches[1]
    chooses = (np.diff(model.first_choice) > 1) & live & ~whole.target
    kept = chooses | whole.target | (np.arange(n) == model.initial)
    inner = np.flatnonzero(live & ~kept)
    remaining = np.flatnonzero(kept)
    own = np.flatnonzero((kept & ~whole.target)[model.choice_state])
    rows = model.transitions
    step = csr_array(rows[own])
    onto = step[:, remaining]
    if len(inner):
        single = csr_array(rows[model.first_choice[inner]])
        system = csr_array(eye_array(len(inner)) - single[:, inner]).tocsc()
        arrival = splu(system).solve(single[:, remaining].toarray())
        onto = csr_array(onto + csr_array(step[:, inner] @ arrival))
    onto.data[onto.data < NEGLIGIBLE] = 0.0
    onto.eliminate_zeros()
    lost = np.clip(1.0 - onto.sum(axis=1), 0.0, None)
    lost[lost < NEGLIGIBLE * n] = 0.0
    onto = hstack([onto, coo_array(lost[:, None])], format="csr")
    return _assembled(whole, own, remaining, csr_array(onto))


def _assembled(
    whole: TwoCopyProduct, own: NDArray[np.int64], remaining: NDArray[np.int64], onto: csr_array
) -> ContractedProduct:
    """Put the rows of the choices and the self-loops of the ends in the order of the states."""
    model = whole.mdp
    number = np.full(model.n_states, -1)
    number[remaining] = np.arange(len(remaining))
    sink = len(remaining)
    ends = np.append(number[np.flatnonzero(whole.target)], sink)
    loops = csr_array((np.ones(len(ends)), (np.arange(len(ends)), ends)), shape=(len(ends), sink + 1))
    owner = np.concatenate([number[model.choice_state[own]], ends])
    order = np.argsort(owner, kind="stable")
    rows = csr_array(vstack([onto, loops], format="csr")[order])
    rows.eliminate_zeros()
    rows.sort_indices()
    choices = np.concatenate([own, np.full(len(ends), -1)])[order]
    small = MDP(
        rows,
        np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=sink + 1))]),
        (*(model.states[x] for x in remaining), "(no hope)"),
        tuple(model.actions[c] if c >= 0 else "(end)" for c in choices),
        int(number[model.initial]),
        {},
    )
    return ContractedProduct(
        whole,
        TwoCopyProduct(
            whole.base,
            small,
            np.where(choices >= 0, whole.origin[choices], -1),
            np.zeros(0, np.int64),  # these transitions are sums over many of the base
            np.append(whole.state[remaining], -1),
            np.append(whole.seen[remaining], False),
            np.append(whole.via[remaining], False),
            np.append(whole.bypass[remaining], False),
        ),
        choices,
    )
