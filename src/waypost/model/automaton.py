"""What a deterministic automaton over numbered letters is: a table, a start, and the states that accept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waypost.model.checking import frozen


@dataclass(frozen=True, eq=False)
class Automaton:
    """A complete deterministic automaton; the letters are numbers, what they mean is said elsewhere.

    >>> even = Automaton(np.array([[0, 1], [1, 0]]), np.array([True, False]))  # an even number of letters 1
    >>> even.accepts([1, 0, 1]), even.accepts([1])
    (True, False)
    """

    step: NDArray[np.int64]  # (Q, L) the state after a letter
    accepting: NDArray[np.bool_]  # (Q,)
    start: int = 0

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.step)

    def accepts(self, word: list[int]) -> bool:
        """Whether the word leads from the start to an accepting state."""
        state = self.start
        for letter in word:
            state = int(self.step[state, letter])
        return bool(self.accepting[state])

    def minimal(self) -> Automaton:
        """Smallest automaton for the same language: reachable states only, those with the same future in one (Moore).

        >>> twice = Automaton(np.array([[1], [0], [0]]), np.array([True, True, False]))
        >>> twice.minimal().n_states
        1
        """
        reached = self._reached()
        step = np.searchsorted(reached, self.step[reached])
        part = self.accepting[reached].astype(np.int64)
        count = len(np.unique(part))
        while True:
            _, finer = np.unique(np.column_stack([part, part[step]]), axis=0, return_inverse=True)
            part = finer.reshape(-1)
            if part.max() + 1 == count:
                break
            count = int(part.max()) + 1
        _, first = np.unique(part, return_index=True)
        start = int(part[np.searchsorted(reached, self.start)])
        return Automaton(frozen(part[step[first]]), frozen(self.accepting[reached][first]), start)

    def sinks(self, *, accepting: bool) -> NDArray[np.bool_]:
        """(Q,) states that no letter leaves and that accept, or do not."""
        stays = (self.step == np.arange(self.n_states)[:, None]).all(axis=1)
        return np.asarray(stays & (self.accepting == accepting))

    def _reached(self) -> NDArray[np.int64]:
        seen = np.zeros(self.n_states, bool)
        seen[self.start] = True
        fresh = np.array([self.start])
        while len(fresh):
            onward = np.unique(self.step[fresh])
            fresh = onward[~seen[onward]]
            seen[fresh] = True
        return np.flatnonzero(seen)


SEEN = Automaton(np.array([[0, 1], [1, 1]]), np.array([False, True]))  # whether letter 1 was read
