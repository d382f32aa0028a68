"""What the product of an MDP with a deterministic automaton is: the model, and how far a pattern has got in it.

The automaton reads a run step by step, up to and including the target, which is never left. A letter may depend on the
state alone; then it is read on entering the state. Or it depends on the action taken there too; then it is read on
leaving, and the letter of a target state, where no action is taken, when all is over. Silent steps are not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from waypost.errors import PatternError
from waypost.model.arrays import Ints, Mask
from waypost.model.automaton import Automaton
from waypost.model.checking import FINAL, frozen
from waypost.model.mdp import MDP
from waypost.model.names import some_of
from waypost.model.strategy import Strategy, one_hot

TARGET = "(target)"  # the label of target states in a product
SILENT = -1  # the letter of a step that is not read
LARGEST = 50_000_000  # states of the model times states of the automaton


@dataclass(frozen=True, eq=False)
class Letters:
    """The letter of every step of a model: of states, or of choices and, in target states, of states."""

    state: Ints  # (S,) or SILENT; where choices have letters, those of target states are all that matters
    choice: Ints | None = None  # (C,) or SILENT


@dataclass(frozen=True, eq=False)
class Reading:
    """A model read by an automaton: what it remembers after each step."""

    base: MDP
    automaton: Automaton
    letters: Letters
    target: Mask  # (S,)

    @cached_property
    def enter(self) -> Ints:
        """(Q, S) automaton's state after entering a state."""
        same = np.arange(self.automaton.n_states)[:, None]
        if self.letters.choice is not None:
            return np.broadcast_to(same, (len(same), self.base.n_states))
        return np.where(self.letters.state == SILENT, same, self.automaton.step[:, self.letters.state])

    @cached_property
    def leave(self) -> Ints:
        """(Q, C) automaton's state after taking a choice."""
        same = np.arange(self.automaton.n_states)[:, None]
        if self.letters.choice is None:
            return np.broadcast_to(same, (len(same), self.base.n_choices))
        return np.where(self.letters.choice == SILENT, same, self.automaton.step[:, self.letters.choice])

    def accepts(self, mode: Ints, state: Ints) -> Mask:
        """Whether a run that stands in target states `state` with the automaton in `mode` is accepted."""
        if self.letters.choice is not None:
            letter = self.letters.state[state]
            mode = np.where(letter == SILENT, mode, self.automaton.step[mode, letter])
        return np.asarray(self.automaton.accepting[mode])

    def reached(self) -> Ints:
        """Keys ``state * Q + mode`` of the reachable pairs, sorted; target states are not left."""
        base, modes = self.base, self.automaton.n_states
        if base.n_states * modes > LARGEST:
            raise PatternError(
                f"this pattern needs an automaton of {modes} states, times {base.n_states} states of the model: more "
                f"than {LARGEST}; make it simpler"
            )
        seen = np.zeros(base.n_states * modes, bool)
        fresh = np.array([base.initial * modes + int(self.enter[self.automaton.start, base.initial])])
        while len(fresh):
            seen[fresh] = True
            fresh = fresh[~self.target[fresh // modes]]
            source, choice = _ranges(base.first_choice, fresh // modes)
            step, entry = _ranges(base.transitions.indptr, choice)
            onward = np.asarray(base.transitions.indices, np.int64)[entry]
            after = self.enter[self.leave[(fresh % modes)[source[step]], choice[step]], onward]
            fresh = np.unique(onward * modes + after)
            fresh = fresh[~seen[fresh]]
        return np.flatnonzero(seen)


@dataclass(frozen=True, eq=False)
class Product:
    """Reachable part of the product: its state ``i`` is the pair ``(state[i], mode[i])``.

    >>> from waypost.cases import loan
    >>> mdp = loan()
    >>> from waypost.model import SEEN
    >>> letters = Letters(mdp.where("Consultation").astype(int))
    >>> Product.of(mdp, SEEN, letters, mdp.where("Granted")).mdp
    MDP(states=15, choices=20, transitions=26, initial='s0 (0)')
    """

    reading: Reading
    mdp: MDP  # with the label TARGET
    state: Ints  # (n,) state of the base
    mode: Ints  # (n,) state of the automaton
    choice: Ints  # choice of the base, for each choice of the product

    @classmethod
    def of(cls, base: MDP, automaton: Automaton, letters: Letters, target: Mask) -> Product:
        """Explore from the initial state; target states get a loop instead of their choices."""
        reading = Reading(base, automaton, letters, target)
        modes, key = automaton.n_states, reading.reached()
        state, mode = key // modes, key % modes
        ends = target[state]
        owner, choice = _ranges(base.first_choice, state)
        kept = ~ends[owner] | np.concatenate([[True], np.diff(owner) > 0])  # one choice of a target state will do
        owner, choice = owner[kept], choice[kept]
        step, entry = _ranges(base.transitions.indptr, choice)
        kept = ~ends[owner[step]] | np.concatenate([[True], np.diff(step) > 0])
        step, entry = step[kept], entry[kept]
        loops = ends[owner[step]]
        onward = np.asarray(base.transitions.indices, np.int64)[entry]
        after = reading.enter[reading.leave[mode[owner[step]], choice[step]], onward]
        successor = np.where(loops, owner[step], np.searchsorted(key, onward * modes + after))
        exact = None
        if base.exact is not None:
            exact = base.exact[entry]
            exact[loops] = exact[loops] * 0 + 1
        found = MDP(
            transitions=csr_array(
                (np.where(loops, 1.0, base.transitions.data[entry]), successor, _pointer(step, len(choice))),
                shape=(len(choice), len(key)),
            ),
            first_choice=frozen(_pointer(owner, len(key))),
            states=tuple(f"{name} ({m})" for name, m in zip(some_of(base.states, state), mode.tolist(), strict=True)),
            actions=tuple(
                FINAL if end else name for name, end in zip(some_of(base.actions, choice), ends[owner], strict=True)
            ),
            initial=int(np.searchsorted(key, base.initial * modes + reading.enter[automaton.start, base.initial])),
            labels={TARGET: frozen(ends)},
            exact=exact,
        )
        return cls(reading, found, state, mode, choice)

    @cached_property
    def accepted(self) -> Mask:
        """(n,) target states that are entered with the whole run accepted."""
        ends = self.mdp.labels[TARGET]
        return np.asarray(ends & self.reading.accepts(self.mode, self.state))

    @cached_property
    def decided(self) -> Mask:
        """(n,) accepted target states, and states in which the run is accepted whatever follows."""
        return np.asarray(self.accepted | self.reading.automaton.sinks(accepting=True)[self.mode])

    def lifted(self, strategy: Strategy) -> Strategy:
        """Strategy of the base, played in the product."""
        loops = self.mdp.labels[TARGET][self.mdp.choice_state]
        modes = tuple(frozen(np.where(loops, 1.0, mode[self.choice])) for mode in strategy.modes)
        return Strategy(self.mdp, modes, frozen(strategy.update[:, self.state]), strategy.start, strategy.toss)

    def projected(self, strategy: Strategy) -> Strategy:
        """Deterministic strategy of the product, played in the base with the automaton's state as memory.

        A mode changes on entering a state, when it is known already which choice will be taken there; so a mode is a
        triple: the mode of the given strategy, the automaton's state, and its state once that choice is taken.
        """
        reading, base = self.reading, self.reading.base
        taken = np.stack([self._taken(mode) for mode in strategy.modes])  # (M, n) choice of the base
        place = np.full((base.n_states, reading.automaton.n_states), -1)
        place[self.state, self.mode] = np.arange(len(self.state))
        everyone, spare = np.arange(base.n_states), base.first_choice[:-1]

        def triples(memory: Ints, mode: Ints) -> Ints:
            """(S, 3) mode of every state, entered with this memory and the automaton in `mode`."""
            at = place[everyone, mode]
            choice = np.where(at < 0, spare, taken[memory, at])
            after = np.where(reading.target, mode, reading.leave[mode, choice])
            return np.column_stack([memory, mode, after])

        first = triples(np.full(base.n_states, strategy.start), reading.enter[reading.automaton.start])[base.initial]
        known = {tuple(first.tolist()): 0}
        order = list(known)
        played, update = [], []
        for memory, mode, after in order:  # grows while it is walked through
            at = place[:, mode]
            played.append(np.where(at < 0, spare, taken[memory, at]))
            onward = reading.enter[after]
            at = place[everyone, onward]
            entered = triples(np.where(at < 0, 0, strategy.update[memory, at]), onward)
            row = np.zeros(base.n_states, np.int64)
            for s in np.flatnonzero(at >= 0).tolist():
                triple = tuple(entered[s].tolist())
                if triple not in known:
                    known[triple] = len(known)
                    order.append(triple)
                row[s] = known[triple]
            update.append(row)
        return Strategy(base, tuple(one_hot(base, choice) for choice in played), frozen(np.stack(update)))

    def _taken(self, mode: NDArray[np.float64]) -> Ints:
        """(n,) choice of the base that a deterministic strategy of the product takes in each of its states."""
        found = np.empty(len(self.state), np.int64)
        chosen = np.flatnonzero(mode)
        found[self.mdp.choice_state[chosen]] = self.choice[chosen]
        return found


def _ranges(pointer: Ints, which: Ints) -> tuple[Ints, Ints]:
    """Members of the ranges ``pointer[i] : pointer[i + 1]``, and the place in `which` that each belongs to."""
    low, size = np.asarray(pointer, np.int64)[which], np.diff(pointer)[which]
    place = np.repeat(np.arange(len(which)), size)
    return place, low[place] + np.arange(len(place)) - np.repeat(np.cumsum(size) - size, size)


def _pointer(owner: Ints, n: int) -> Ints:
    """(n + 1,) where the members of each owner begin, for owners in ascending order."""
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n))])
