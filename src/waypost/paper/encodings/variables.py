"""The variables all encodings share: who is taken, and who reaches which copy of the target.

Paper, Sect. 5: ``p_sa`` is the probability of a choice, ``p_{s,t⊤}`` and ``p_{s,t⊥}`` those of reaching either copy.
What is known beforehand gets no variable: a lone choice is taken, a target is reached, and where a copy of the target
cannot be reached (graph analysis, as the paper allows) its probability is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from waypost.paper.encodings.product import TwoCopyProduct
from waypost.paper.encodings.program import BlockEntries, Draft

Copy = int  # 0: t⊤, via; 1: t⊥, bypass
VIA, BYPASS = 0, 1
COPIES = ("t⊤", "t⊥")


@dataclass(frozen=True, eq=False)
class ProgramVariables:
    """Variables of a product in a draft."""

    product: TwoCopyProduct
    draft: Draft
    taken: Mapping[int, int]  # choice -> variable; choices of states with a single one have none
    reached: tuple[Mapping[int, int], Mapping[int, int]]  # per copy of the target: state -> variable

    @classmethod
    def of(
        cls, product: TwoCopyProduct, draft: Draft, *, integer: bool, relevant: np.ndarray | None = None
    ) -> ProgramVariables:
        """Add the variables to the draft, with ``sum_a p_sa = 1`` (Eq. 3); only `relevant` states choose."""
        taken: dict[int, int] = {}
        relevant = ~product.target if relevant is None else relevant & ~product.target
        for x in np.flatnonzero(relevant).tolist():
            choices = product.choices(x)
            if len(choices) > 1:
                named = [f"take {product.mdp.actions[c]} in {product.mdp.states[x]}" for c in choices]
                positions = draft.variables(named, upper=1.0, integer=integer)
                taken.update(zip(choices, positions, strict=True))
                draft.row([(j, 1.0) for j in positions], lower=1.0, upper=1.0)
        reached: tuple[dict[int, int], dict[int, int]] = ({}, {})
        start = product.mdp.initial
        for copy in (VIA, BYPASS):
            known = ~product.reaches[copy] | product.target
            for x in np.flatnonzero(~known).tolist():
                reached[copy][x] = draft.variable(f"reach {COPIES[copy]} from {product.mdp.states[x]}", upper=1.0)
            if known[start]:  # the objective speaks of it, so it has a variable although its value is known
                value = float((product.via, product.bypass)[copy][start])
                name = f"reach {COPIES[copy]} from {product.mdp.states[start]}"
                reached[copy][start] = draft.variable(name, lower=value, upper=value)
        return cls(product, draft, taken, reached)

    @property
    def start(self) -> tuple[int, int]:
        """Variables of reaching t⊤ and t⊥ from the initial state."""
        return self.reached[VIA][self.product.mdp.initial], self.reached[BYPASS][self.product.mdp.initial]

    @cached_property
    def of_choice(self) -> NDArray[np.int64]:
        """(C',) variable of each choice, -1 where it has none."""
        return _positions(self.taken, self.product.mdp.n_choices)

    @cached_property
    def of_state(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(S',) each, per copy of the target: variable of each state, -1 where it has none."""
        via, bypass = (_positions(reached, self.product.mdp.n_states) for reached in self.reached)
        return via, bypass

    def after(self, choice: int, copy: Copy) -> tuple[float, list[tuple[int, float]]]:
        """Probability of reaching a copy of the target after a choice, a constant and terms.

        That is ``sum delta(s,a,s') p_{s',t}``.
        """
        constant, terms = 0.0, []
        reached, there = self.reached[copy], (self.product.via, self.product.bypass)[copy]
        for y, p in self.product.successors(choice):
            j = reached.get(y)
            if j is not None:
                terms.append((j, p))
            elif there[y]:
                constant += p
        return constant, terms

    def gaps(self, choices: NDArray[np.int64], copies: Sequence[Copy]) -> tuple[BlockEntries, NDArray[np.float64]]:
        """What the state of each choice reaches, minus what the choice leads to: entries of rows, and constants.

        Added up over the copies of the target that are named.
        """
        mdp = self.product.mdp
        step, owner = mdp.transitions[choices], mdp.choice_state[choices]
        number = np.arange(len(choices))
        row, column, coefficient = (
            np.concatenate(parts)
            for parts in (
                (number, np.repeat(number, np.diff(step.indptr))),
                (owner, step.indices),
                (np.ones(len(choices)), -step.data),
            )
        )
        entries, constant = [], np.zeros(len(choices))
        for copy in copies:
            variable = self.of_state[copy][column]
            open_ones, there = variable >= 0, (self.product.via, self.product.bypass)[copy][column]
            entries.append((row[open_ones], variable[open_ones], coefficient[open_ones]))
            known = ~open_ones & there
            constant += np.bincount(row[known], weights=coefficient[known], minlength=len(choices))
        rows, columns, coefficients = (np.concatenate(parts) for parts in zip(*entries, strict=True))
        return (rows, columns, coefficients), constant

    def unknown(self, copy: Copy) -> list[int]:
        """States whose probability is a variable, targets excluded (Eq. 7 speaks about these)."""
        return [x for x in self.reached[copy] if not self.product.target[x]]

    def strategy(self, values: np.ndarray) -> np.ndarray:
        """(C',) the probability of each choice of the product in a solution, cleaned of solver dust.

        A state that had no say takes its first choice.
        """
        probabilities = np.zeros(self.product.mdp.n_choices)
        probabilities[self.product.mdp.first_choice[:-1]] = 1.0
        for choice in self.taken:
            probabilities[choice] = 0.0
        for choice, j in self.taken.items():
            probabilities[choice] = float(np.clip(values[j], 0.0, 1.0))
        return cleaned(self.product, probabilities)


def _positions(known: Mapping[int, int], count: int) -> NDArray[np.int64]:
    positions = np.full(count, -1)
    positions[list(known)] = list(known.values())
    return positions


DUST = 1e-6  # choices taken less often than this are a solver's tolerance, not a decision


def cleaned(product: TwoCopyProduct, probabilities: np.ndarray) -> np.ndarray:
    """Choice probabilities without dust, summing to 1 in every state."""
    kept = np.where(probabilities < DUST, 0.0, probabilities)
    kept = np.where(kept > 1 - DUST, 1.0, kept)
    sums = np.bincount(product.mdp.choice_state, weights=kept, minlength=product.mdp.n_states)
    empty = np.flatnonzero(sums == 0)
    kept[product.mdp.first_choice[:-1][empty]] = 1.0
    sums[empty] = 1.0
    return np.asarray(kept / sums[product.mdp.choice_state])
