"""The runs of one strategy, as a Markov chain over the steps that are read.

States that are no steps are eliminated; a run ends where the target is entered, and a run that misses it ends where it
enters a part of the model that it never leaves. With ``P`` the steps, ``N = (I - P)^-1`` the expected visits and ``W``
some states of interest, what a run does between visits to ``W`` is a chain as well, the *watched* one:

    P_W = I - N_WW^-1        start_W = start N_W N_WW^-1

so a pattern that says nothing about other steps is decided on a handful of states, whatever the size of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array, identity
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import spsolve

from waypost.errors import UndefinedImportanceError, WaypostError
from waypost.model import MDP, Automaton, Strategy, stopped_chain, unfolded_chain, unfolded_start
from waypost.model.arrays import Floats, Ints, Mask
from waypost.patterns.letters import By, activities, silent_states
from waypost.solve.visits import Visits

MOST_STEPS = 8000  # states of a chain whose visits are kept in one dense matrix


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of a strategy up to their end, step by step."""

    names: tuple[str, ...]  # activities, or states
    activity: Ints  # (n,) number of the name of each step
    start: Floats  # (n,) where the first step is
    steps: csr_array  # (n, n)
    success: Floats  # (n,) probability that this is the last step and the target is reached
    failure: Floats  # (n,) probability that this is the last step and it is not
    ends: Mask  # (n,) target states, and states that are never left

    @classmethod
    def of(cls, mdp: MDP, strategy: Strategy, target: Mask, by: By) -> Runs:
        """Follow a strategy from the initial state to the ends of its runs."""
        chain = unfolded_chain(strategy)
        start = unfolded_start(strategy)
        wins = np.tile(target, strategy.memory)
        seen, ends = _ends(chain, start, wins)
        kept = np.flatnonzero(seen)
        silent = np.tile(silent_states(mdp, by), strategy.memory)[kept]
        moving = stopped_chain(csr_array(chain[kept][:, kept]), ends[kept])
        exits = np.column_stack([wins[kept], ends[kept] & ~wins[kept]]).astype(float)
        read, unread = np.flatnonzero(~silent), np.flatnonzero(silent)
        steps, last = csr_array(moving[read][:, read]), exits[read]
        if len(unread):
            onward = np.column_stack([moving[unread][:, read].toarray(), exits[unread]])
            solved = Visits.of(csr_array(moving[unread][:, unread]), onward.sum(axis=1)).after(onward)
            into = csr_array(moving[read][:, unread])
            steps = csr_array(steps + csr_array(into @ solved[:, :-2]))
            last = last + into @ solved[:, -2:]
        called = np.array(activities(mdp, by), object)[kept[read] % mdp.n_states]
        names = tuple(dict.fromkeys(called.tolist()))
        number = {name: k for k, name in enumerate(names)}
        found = cls(
            names=names,
            activity=np.array([number[name] for name in called], np.int64),
            start=start[kept[read]],
            steps=steps,
            success=last[:, 0],
            failure=last[:, 1],
            ends=ends[kept[read]],
        )
        if not wins[kept].any():
            raise UndefinedImportanceError("this strategy never reaches the target, so no run of it is a success")
        return found

    @property
    def n_steps(self) -> int:
        """Number of states of the chain."""
        return len(self.activity)

    @cached_property
    def eliminated(self) -> Visits:
        """Expected visits, eliminated once."""
        return Visits.of(self.steps, self.success + self.failure)

    @cached_property
    def visits(self) -> Floats:
        """(n, n) expected visits to each state from each."""
        if self.n_steps > MOST_STEPS:
            raise WaypostError(
                f"this strategy takes {self.n_steps:,} different steps, more than {MOST_STEPS:,}: too many to compare "
                f"them all; take a smaller model (of a log: leave out --strategy and --by, and its patterns are "
                f"counted), or ask about one pattern (waypost pattern)"
            )
        return self.eliminated.after(np.eye(self.n_steps))

    @cached_property
    def values(self) -> Floats:
        """(n, 2) probability of success and of failure from each state."""
        return self.eliminated.after(np.column_stack([self.success, self.failure]))

    @cached_property
    def totals(self) -> Floats:
        """(2,) probability of success and of failure."""
        return np.asarray(self.start @ self.values)

    def shares(self, automaton: Automaton, letter: Ints) -> Floats:
        """(2,) probability of success and of failure with a run that the automaton accepts.

        `letter` is that of every name; ``letter[activity]`` that of every state.
        """
        read, modes = letter[self.activity], automaton.n_states
        arrows = self.steps.tocoo()
        (source, goal), step = arrows.coords, arrows.data
        live = np.flatnonzero(_accepting_later(automaton))  # runs in any other mode are lost
        mode = np.repeat(live, len(source))
        rows = np.tile(source, len(live)) * modes + mode
        columns = np.tile(goal, len(live)) * modes + automaton.step[mode, np.tile(read[goal], len(live))]
        size = self.n_steps * modes
        matrix = csr_array((np.tile(step, len(live)), (rows, columns)), shape=(size, size))
        begin = np.zeros(size)
        np.add.at(begin, np.arange(self.n_steps) * modes + automaton.step[automaton.start, read], self.start)
        pairs = np.unique(np.concatenate([_from(matrix, first) for first in np.flatnonzero(begin).tolist()]))
        inner = csc_array((identity(len(pairs), format="csr") - matrix[pairs][:, pairs]).T)
        flow = np.zeros(size)
        flow[pairs] = spsolve(inner, begin[pairs])
        accepted = flow.reshape(self.n_steps, modes)[:, automaton.accepting].sum(axis=1)
        return np.array([accepted @ self.success, accepted @ self.failure])

    def watched(self, states: Ints) -> Watched:
        """The chain of visits to some states."""
        block = self.visits[np.ix_(states, states)]
        inverse = np.linalg.inv(block)
        steps = np.eye(len(states)) - inverse
        start = (self.start @ self.visits[:, states]) @ inverse
        values = self.values[states]
        return Watched(steps, start, inverse @ values, self.totals - start @ values)


@dataclass(frozen=True, eq=False)
class Watched:
    """Visits to a few states: from one to the next, and how runs end after the last."""

    steps: Floats  # (k, k)
    start: Floats  # (k,)
    last: Floats  # (k, 2) success and failure after the last visit
    never: Floats  # (2,) success and failure of runs without a visit

    def shares(self, automaton: Automaton, letter: Ints) -> Floats:
        """(2,) as `Runs.shares`, for an automaton that ignores all other steps; `letter` is that of every state."""
        modes, k = automaton.n_states, len(letter)
        matrix = np.zeros((k, modes, k, modes))
        for mode in range(modes):
            matrix[:, mode, np.arange(k), automaton.step[mode, letter]] = self.steps
        begin = np.zeros((k, modes))
        begin[np.arange(k), automaton.step[automaton.start, letter]] = self.start
        size = k * modes
        flow = np.linalg.solve(np.eye(size) - matrix.reshape(size, size).T, begin.reshape(size)).reshape(k, modes)
        found = flow[:, automaton.accepting].sum(axis=1) @ self.last
        return np.asarray(found + self.never if automaton.accepting[automaton.start] else found)


def _ends(chain: csr_array, start: Floats, target: Mask) -> tuple[Mask, Mask]:
    """States that are visited, and states in which runs end: target states, and parts that are never left."""
    leaving = stopped_chain(chain, target)
    count, part = connected_components(leaving, directed=True, connection="strong")
    source, goal = leaving.nonzero()
    closed = np.ones(count, bool)
    closed[part[source[part[source] != part[goal]]]] = False
    ends = target | closed[part]
    seen, moving = np.zeros(len(target), bool), stopped_chain(leaving, ends)
    for first in np.flatnonzero(start):
        seen[breadth_first_order(moving, first, return_predecessors=False)] = True
    return seen, ends


def _from(matrix: csr_array, first: int) -> Ints:
    """States of a chain that are reached from one."""
    return np.asarray(breadth_first_order(matrix, first, return_predecessors=False), np.int64)


def _accepting_later(automaton: Automaton) -> Mask:
    """(Q,) modes from which some steps, or none, lead to acceptance."""
    live = np.array(automaton.accepting, bool)
    while (more := live | live[automaton.step].any(axis=1)).sum() > live.sum():
        live = more
    return live
