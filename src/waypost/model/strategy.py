"""What a strategy is: how the choices are resolved, with at most one bit of memory.

Paper, Sect. 3.1 and 5: memoryless strategies ``sigma: S -> Distr(A)``; optima of importance need one bit more, "`s` was
seen". A one-bit strategy plays ``before`` until a state of ``switch`` is entered, and ``after`` from that state on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from waypost.errors import StrategyError, unknown_name
from waypost.model.mdp import MDP, SUM_TOLERANCE

ByName = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Strategy:
    """A memoryless or one-bit strategy of an MDP.

    >>> from waypost.cases import loan
    >>> careful = Strategy.from_dict(loan(), {"s0": {"Consult": 1}, "Consultation": "Apply", "Rework": "Submit"})
    >>> careful.deterministic, careful.memory
    (True, 1)
    >>> careful.to_dict()["s0"]
    {'Consult': 1.0}
    """

    mdp: MDP
    before: NDArray[np.float64]  # (C,) probability of each choice; sums to 1 in every state
    after: NDArray[np.float64] | None = None  # (C,) the same once the bit is set; None without memory
    switch: NDArray[np.bool_] | None = None  # (S,) entering one of these sets the bit

    @property
    def memory(self) -> int:
        """Number of memory modes: 1 or 2."""
        return 1 if self.after is None else 2

    @property
    def deterministic(self) -> bool:
        """Whether every state takes one choice with certainty."""
        modes = [self.before] if self.after is None else [self.before, self.after]
        return all(bool(np.isin(mode, (0.0, 1.0)).all()) for mode in modes)

    def __repr__(self) -> str:
        kind = "deterministic" if self.deterministic else "stochastic"
        return f"Strategy({kind}, memory={self.memory}, states={self.mdp.n_states})"

    @classmethod
    def memoryless(cls, mdp: MDP, probabilities: ArrayLike) -> Strategy:
        """Strategy that takes choice `c` with `probabilities[c]`, checked."""
        return cls(mdp, _checked(mdp, np.array(probabilities, float)))

    @classmethod
    def deterministic_of(cls, mdp: MDP, choice: NDArray[np.int64]) -> Strategy:
        """Strategy that takes choice `choice[s]` in state `s`."""
        return cls(mdp, one_hot(mdp, choice))

    @classmethod
    def uniform(cls, mdp: MDP) -> Strategy:
        """Strategy that takes every choice of a state equally often."""
        return cls(mdp, _frozen(1 / np.diff(mdp.first_choice)[mdp.choice_state]))

    @classmethod
    def from_dict(cls, mdp: MDP, given: Mapping[str, Any]) -> Strategy:
        """Read ``{"state": {"action": probability}}``, or the one-bit form that `to_dict` writes.

        A lone action name has probability 1. States with a single action may be left out.
        """
        if set(given) == {"switch", "before", "after"} and isinstance(given["switch"], list | tuple):
            switch = np.zeros(mdp.n_states, bool)
            for name in given["switch"]:
                switch[mdp.state(name)] = True
            return cls(mdp, _named(mdp, given["before"]), _named(mdp, given["after"]), _frozen(switch))
        return cls(mdp, _named(mdp, given))

    def to_dict(self) -> dict[str, Any]:
        """Write the strategy by name, every state included, so that `from_dict` gives it back."""
        if self.after is None or self.switch is None:
            return _by_name(self.mdp, self.before)
        return {
            "switch": [self.mdp.states[s] for s in np.flatnonzero(self.switch)],
            "before": _by_name(self.mdp, self.before),
            "after": _by_name(self.mdp, self.after),
        }


def one_hot(mdp: MDP, choice: NDArray[np.int64]) -> NDArray[np.float64]:
    """(C,) probability 1 for `choice[s]` of every state `s`."""
    taken = np.zeros(mdp.n_choices)
    taken[choice] = 1.0
    return _frozen(taken)


def induced_chain(mdp: MDP, probabilities: NDArray[np.float64]) -> csr_array:
    """(S, S) transition matrix of the Markov chain that resolving the choices leaves.

    Paper, Sect. 3.1: ``delta^sigma(s, s') = sum_a sigma(s, a) delta(s, a, s')``.
    """
    resolve = csr_array((probabilities, np.arange(mdp.n_choices), mdp.first_choice), shape=(mdp.n_states, mdp.n_choices))
    chain = csr_array(resolve @ mdp.transitions)
    chain.eliminate_zeros()
    chain.sort_indices()
    return chain


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _named(mdp: MDP, given: Any) -> NDArray[np.float64]:
    if not isinstance(given, Mapping):
        raise StrategyError('a strategy is written {"state": {"action": probability}}')
    probabilities = np.zeros(mdp.n_choices)
    for state, taken in given.items():
        if state not in mdp.index:
            raise unknown_name("state", str(state), mdp.states)
        actions = {taken: 1.0} if isinstance(taken, str) else taken
        if not isinstance(actions, Mapping):
            raise StrategyError(f"the strategy for state {state!r} is not an action or a distribution over actions")
        for action, probability in actions.items():
            if isinstance(probability, bool) or not isinstance(probability, int | float):
                raise StrategyError(f"action {action!r} in state {state!r} has a probability that is no number")
            probabilities[mdp.choice(mdp.index[state], action)] = float(probability)
    single = np.diff(mdp.first_choice) == 1
    absent = np.ones(mdp.n_states, bool)
    absent[[mdp.index[state] for state in given]] = False
    probabilities[mdp.first_choice[:-1][single & absent]] = 1.0
    silent = np.flatnonzero(absent & ~single)
    if len(silent):
        more = f" (and {len(silent) - 1} more states)" if len(silent) > 1 else ""
        raise StrategyError(f"the strategy says nothing about state {mdp.states[silent[0]]!r}, which has a choice{more}")
    return _checked(mdp, probabilities)


def _checked(mdp: MDP, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    if probabilities.shape != (mdp.n_choices,):
        raise StrategyError(f"a strategy of this model has {mdp.n_choices} probabilities, not {probabilities.shape}")
    bad = np.flatnonzero(~((probabilities >= 0) & (probabilities <= 1 + SUM_TOLERANCE)))
    if len(bad):
        state = mdp.states[mdp.choice_state[bad[0]]]
        raise StrategyError(
            f"action {mdp.actions[bad[0]]!r} in state {state!r} is taken with probability {probabilities[bad[0]]:.12g}"
        )
    sums = np.bincount(mdp.choice_state, weights=probabilities, minlength=mdp.n_states)
    bad = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if len(bad):
        raise StrategyError(f"the strategy's probabilities in state {mdp.states[bad[0]]!r} sum to {sums[bad[0]]:.12g}, not 1")
    return _frozen(probabilities / sums[mdp.choice_state])


def _by_name(mdp: MDP, probabilities: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    taken: dict[str, dict[str, float]] = {}
    for choice in np.flatnonzero(probabilities).tolist():
        state = mdp.states[mdp.choice_state[choice]]
        taken.setdefault(state, {})[mdp.actions[choice]] = float(probabilities[choice])
    return taken
