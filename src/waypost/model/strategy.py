"""What a strategy is: how the choices are resolved, with a little memory where it is needed.

Paper, Sect. 3.1 and 5: memoryless strategies ``sigma: S -> Distr(A)``, and finite-memory ones as memoryless
strategies on the product ``S x modes``. The optima of a state's importance need one bit, "`s` was seen"; those of a
path need to know how far it was followed. The mode changes on entering a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from waypost.arguments import checked
from waypost.errors import StrategyError, unknown_name
from waypost.model.checking import SUM_TOLERANCE, column, frozen
from waypost.model.mdp import MDP


@dataclass(frozen=True, eq=False)
class Strategy:
    """A memoryless or finite-memory strategy of an MDP.

    Attributes
    ----------
    mdp
        The model that it is a strategy of.
    modes
        For each mode of memory ``(C,)``: the probability of every choice; sums to 1 in every state.
    update
        ``(M, S)`` the mode after entering state ``s`` in mode ``m``.
    start
        The mode in the initial state.
    toss
        One toss before the start: another mode to start in, and how likely that is.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> mdp = loan()
    >>> chosen = {"s0": {"Consult": 1}, "Consultation": "Apply", "Rework": "Submit"}
    >>> careful = Strategy.from_dict(mdp, chosen)  # says nothing about Error, which it never sees
    >>> careful
    Strategy(deterministic, memory=1, states=10)
    >>> careful.to_dict()["s0"]
    {'Consult': 1.0}
    >>> Strategy.from_dict(mdp, {"switch": ["Consultation"], "before": chosen, "after": {"Consultation": "Angry"}})
    Strategy(deterministic, memory=2, states=10)
    """

    mdp: MDP
    modes: tuple[NDArray[np.float64], ...]  # per mode (C,): probability of each choice; sums to 1 in every state
    update: NDArray[np.int64]  # (M, S) mode after entering state s in mode m
    start: int = 0  # mode in the initial state
    toss: tuple[int, float | Fraction] | None = None  # one toss before the start: another mode, and how likely it is

    @property
    def memory(self) -> int:
        """Number of memory modes."""
        return len(self.modes)

    @property
    def starts(self) -> tuple[tuple[int, float | Fraction], ...]:
        """The modes it may start in, each with its probability."""
        return ((self.start, 1),) if self.toss is None else ((self.start, 1 - self.toss[1]), self.toss)

    @property
    def deterministic(self) -> bool:
        """Whether nothing is tossed, and every state takes one choice with certainty."""
        return self.toss is None and all(bool(np.isin(mode, (0.0, 1.0)).all()) for mode in self.modes)

    def of(self, mdp: MDP) -> Strategy:
        """The strategy itself, if it is one of that model."""
        if self.mdp is not mdp and (self.mdp.states, self.mdp.actions) != (mdp.states, mdp.actions):
            raise StrategyError("the strategy belongs to another model: its states or actions differ")
        return self

    def __repr__(self) -> str:
        kind = "deterministic" if self.deterministic else "stochastic"
        return f"Strategy({kind}, memory={self.memory}, states={self.mdp.n_states})"

    @classmethod
    @checked
    def memoryless(cls, mdp: MDP, probabilities: ArrayLike) -> Strategy:
        """Strategy that takes choice `c` with `probabilities[c]`, checked."""
        mode = _checked(mdp, column("probabilities", probabilities, float))
        return cls(mdp, (mode,), np.zeros((1, mdp.n_states), np.int64))

    @classmethod
    def deterministic_of(cls, mdp: MDP, choice: NDArray[np.int64]) -> Strategy:
        """Strategy that takes choice `choice[s]` in state `s`."""
        return cls.memoryless(mdp, one_hot(mdp, choice))

    @classmethod
    @checked
    def uniform(cls, mdp: MDP) -> Strategy:
        """Strategy that takes every choice of a state equally often."""
        return cls.memoryless(mdp, 1 / np.diff(mdp.first_choice)[mdp.choice_state])

    @classmethod
    def one_bit(cls, mdp: MDP, before: ArrayLike, after: ArrayLike, switch: NDArray[np.bool_]) -> Strategy:
        """Strategy that plays `before` until a state of `switch` is entered, and `after` from that state on."""
        update = np.stack([switch.astype(np.int64), np.ones(mdp.n_states, np.int64)])
        modes = tuple(_checked(mdp, np.array(mode, float)) for mode in (before, after))
        return cls(mdp, modes, frozen(update), int(switch[mdp.initial]))

    @classmethod
    @checked
    def mixed(cls, first: Strategy, second: Strategy, probability: float | Fraction) -> Strategy:
        """Strategy that tosses once, before the start, and then plays `second` with `probability`, or else `first`.

        >>> from waypost.cases import loan
        >>> careful = Strategy.from_dict(loan(), {"s0": "Consult", "Consultation": "Apply", "Rework": "Submit"})
        >>> Strategy.mixed(careful, Strategy.uniform(careful.mdp), 0.25)
        Strategy(stochastic, memory=2, states=10)
        """
        if first.toss or second.toss:
            raise StrategyError("a strategy that tosses at the start cannot be mixed again")
        if not 0 < probability < 1:
            raise StrategyError(f"a toss has a probability strictly between 0 and 1, not {probability}")
        update = np.concatenate([first.update, second.of(first.mdp).update + first.memory])
        toss = (first.memory + second.start, probability)
        return cls(first.mdp, (*first.modes, *second.modes), frozen(update), first.start, toss)

    @classmethod
    @checked
    def from_dict(cls, mdp: MDP, given: Any) -> Strategy:
        """Read ``{"state": {"action": probability}}``, or one of the forms with memory that `to_dict` writes.

        A lone action name has probability 1. States with a single action may be left out, and so may states that the
        strategy never visits.
        """
        if not isinstance(given, Mapping):
            raise StrategyError('a strategy is written {"state": {"action": probability}}')
        # a model may have states of these names: lists and numbers tell that they are not meant
        if set(given) == {"switch", "before", "after"} and isinstance(given["switch"], list | tuple):
            switch = np.zeros(mdp.n_states, bool)
            for name in given["switch"]:
                switch[mdp.state(str(name))] = True
            before, after = (_named(mdp, given[part], complete=False) for part in ("before", "after"))
            return cls.one_bit(mdp, before, after, switch)
        if set(given) - {"toss"} == {"start", "modes", "update"} and isinstance(given["start"], int):
            update = _updates(mdp, given)
            modes = [_named(mdp, part, complete=False) for part in given["modes"]]
            return cls(mdp, tuple(modes), frozen(update), int(given["start"]), _toss(given.get("toss"), len(modes)))
        return cls.memoryless(mdp, _named(mdp, given, complete=True))

    def reached(self) -> NDArray[np.bool_]:
        """(M, S) the states that a run can be in under this strategy, mode by mode."""
        n, rows, columns = self.mdp.n_states, [], []
        for mode, probabilities in enumerate(self.modes):
            chain = induced_chain(self.mdp, probabilities).tocoo()
            rows.append(mode * n + chain.row)
            columns.append(self.update[mode][chain.col] * n + chain.col)
        arrows = (np.concatenate(rows), np.concatenate(columns))
        graph = csr_array((np.ones(len(arrows[0])), arrows), shape=(self.memory * n, self.memory * n))
        reached = np.zeros(self.memory * n, bool)
        for mode, _ in self.starts:
            reached[reached_from(graph, mode * n + self.mdp.initial)] = True
        return reached.reshape(self.memory, n)

    def to_dict(self) -> dict[str, Any]:
        """Write the strategy by name, every state included, so that `from_dict` gives it back."""
        named = [_by_name(self.mdp, mode) for mode in self.modes]
        if self.memory == 1:
            return named[0]
        names = self.mdp.states
        one_bit = self.memory == 2 and self.toss is None and (self.update[1] == 1).all()
        if one_bit and self.start == self.update[0, self.mdp.initial]:
            switch = [names[s] for s in np.flatnonzero(self.update[0])]
            return {"switch": switch, "before": named[0], "after": named[1]}
        changes = [{names[s]: int(row[s]) for s in np.flatnonzero(row != mode)} for mode, row in enumerate(self.update)]
        told = {"start": self.start, "modes": named, "update": changes}
        return told if self.toss is None else told | {"toss": [self.toss[0], str(self.toss[1])]}


def reached_from(arrows: csr_array, start: int) -> NDArray[np.int64]:
    """Give the nodes of a graph that can be reached from one of them, nearest first."""
    from scipy.sparse.csgraph import breadth_first_order  # scipy's solvers come with it: not for reading a model

    found: NDArray[np.int64] = breadth_first_order(arrows, start, return_predecessors=False)
    return found


def one_hot(mdp: MDP, choice: NDArray[np.int64]) -> NDArray[np.float64]:
    """(C,) probability 1 for `choice[s]` of every state `s`."""
    taken = np.zeros(mdp.n_choices)
    taken[choice] = 1.0
    return frozen(taken)


def induced_chain(mdp: MDP, probabilities: NDArray[np.float64]) -> csr_array:
    """(S, S) transition matrix of the Markov chain that resolving the choices leaves.

    Paper, Sect. 3.1: ``delta^sigma(s, s') = sum_a sigma(s, a) delta(s, a, s')``.
    """
    resolve = csr_array(
        (probabilities, np.arange(mdp.n_choices), mdp.first_choice), shape=(mdp.n_states, mdp.n_choices)
    )
    chain = csr_array(resolve @ mdp.transitions)
    chain.eliminate_zeros()
    chain.sort_indices()
    return chain


def unfolded_chain(strategy: Strategy) -> csr_array:
    """(M S, M S) Markov chain of a strategy with memory: state `s` in mode `m` is number ``m S + s``."""
    n = strategy.mdp.n_states
    size = strategy.memory * n
    sources, goals, steps = [], [], []
    for mode, probabilities in enumerate(strategy.modes):
        part = induced_chain(strategy.mdp, probabilities).tocoo()
        source, goal = part.coords
        sources.append(mode * n + source)
        goals.append(strategy.update[mode, goal] * n + goal)
        steps.append(part.data)
    places = np.concatenate(sources), np.concatenate(goals)
    return csr_array((np.concatenate(steps), places), shape=(size, size))


def unfolded_start(strategy: Strategy) -> NDArray[np.float64]:
    """(M S,) where the runs of a strategy begin in its `unfolded_chain`, as a distribution."""
    start = np.zeros(strategy.memory * strategy.mdp.n_states)
    for mode, chance in strategy.starts:
        start[mode * strategy.mdp.n_states + strategy.mdp.initial] += float(chance)
    return start


def stopped_chain(chain: csr_array, ends: NDArray[np.bool_]) -> csr_array:
    """Chain whose `ends` are not left; no arrow of them remains, not even with probability 0."""
    rows = chain.multiply((~ends)[:, None])
    found = csr_array(rows)
    found.eliminate_zeros()
    return found


def _updates(mdp: MDP, given: Mapping[str, Any]) -> NDArray[np.int64]:
    """(M, S) the mode after entering a state, from the changes given by name."""
    modes, changes = given["modes"], given["update"]
    if not (isinstance(modes, list) and isinstance(changes, list) and 0 < len(modes) == len(changes)):
        raise StrategyError('a strategy with memory has a list of "modes" and an "update" for each of them')
    update = np.repeat(np.arange(len(modes))[:, None], mdp.n_states, axis=1)
    for mode, changed in enumerate(changes):
        if not (isinstance(changed, Mapping) and all(type(to) is int for to in changed.values())):
            raise StrategyError('an "update" of a strategy with memory is written {"state": number of the next mode}')
        for name, to in changed.items():
            if not 0 <= to < len(modes):
                raise StrategyError(f"the strategy changes to memory mode {to}, which it does not have")
            update[mode, mdp.state(name)] = to
    if not 0 <= given["start"] < len(modes):
        raise StrategyError(f"the strategy starts in memory mode {given['start']}, which it does not have")
    return update


def _toss(given: Any, modes: int) -> tuple[int, float | Fraction] | None:
    """Read ``[mode, "probability"]``: a decimal is a float, a quotient exact."""
    if given is None:
        return None
    try:
        mode, text = given
        chance: float | Fraction = Fraction(text) if "/" in text else float(text)
    except (TypeError, ValueError, ZeroDivisionError):
        raise StrategyError('a "toss" is written [number of a mode, "its probability"]') from None
    if type(mode) is not int or not 0 <= mode < modes or not 0 < chance < 1:
        raise StrategyError("a toss starts in a mode of the strategy, with a probability strictly between 0 and 1")
    return mode, chance


def _named(mdp: MDP, given: Any, *, complete: bool) -> NDArray[np.float64]:
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
    silent = absent & ~single
    if silent.any() and complete:
        seen = reached_from(induced_chain(mdp, probabilities), mdp.initial)
        missing = seen[silent[seen]]
        if len(missing):
            more = f" (and {len(missing) - 1} more states)" if len(missing) > 1 else ""
            name = mdp.states[missing[0]]
            raise StrategyError(f"the strategy visits state {name!r} and says nothing about its choices{more}")
    probabilities[mdp.first_choice[:-1][silent]] = 1.0
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
        raise StrategyError(
            f"the strategy's probabilities in state {mdp.states[bad[0]]!r} sum to {sums[bad[0]]:.12g}, not 1"
        )
    return frozen(probabilities / sums[mdp.choice_state])


def _by_name(mdp: MDP, probabilities: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    taken: dict[str, dict[str, float]] = {}
    for choice in np.flatnonzero(probabilities).tolist():
        state = mdp.states[mdp.choice_state[choice]]
        taken.setdefault(state, {})[mdp.actions[choice]] = float(probabilities[choice])
    return taken
