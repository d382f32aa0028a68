"""A chain between cells whose probabilities change with time: steps are counted apart in each stage of an episode.

An agent that makes no mistakes may still drift, and fail after two hundred steps, never after twenty. Cells remember
nothing, so that a chain between them fails a little at every step. A stage is what such a chain lacks: until step 145
nobody fails, from there on many do. With ``P_k`` as counted in stage ``k``, and ``k(t)`` the stage of step ``t``,

    Pr(cell at t + 1) = Pr(cell at t) P_k(t)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waypost.model import MDP, Strategy
from waypost.model.steps import STEP
from waypost.model.traces import Trace

START, BEGIN = "start", "begin"
Counts = dict[tuple[int, str], NDArray[np.int64]]  # by cell and action (N,): how often each place came next


@dataclass(frozen=True, eq=False)
class Staged:
    """Steps between cells and to outcomes, counted in each stage.

    Attributes
    ----------
    cells, outcomes
        The places: first the cells, then the outcomes.
    first
        (N,) how often an episode begins in each place.
    begins
        Steps with which the second stage begins, the third, and so on.
    stages
        The counts of each stage, the first one included.
    """

    cells: tuple[str, ...]
    outcomes: tuple[str, ...]
    first: NDArray[np.int64]
    begins: tuple[int, ...]
    stages: tuple[Counts, ...]

    @classmethod
    def of(cls, traces: Sequence[Trace], outcomes: Sequence[str], begins: Sequence[int]) -> Staged:
        """Count traces ``[start, (begin, cell), (action, cell), ..., (action, outcome)]``.

        >>> traces = [["start", ("begin", "a"), ("go", "a"), ("go", "won")], ["start", ("begin", "a"), ("go", "a")]]
        >>> found = Staged.of(traces, ["won"], [1])
        >>> [{key: row.tolist() for key, row in counts.items()} for counts in found.stages]
        [{(0, 'go'): [2, 0]}, {(0, 'go'): [0, 1]}]
        """
        seen = dict.fromkeys(str(step[1]) for trace in traces for step in trace[1:])
        cells = tuple(sorted(name for name in seen if name not in outcomes))
        number = {name: k for k, name in enumerate((*cells, *outcomes))}
        first, ordered = np.zeros(len(number), np.int64), tuple(sorted(begins))
        stages: tuple[Counts, ...] = tuple({} for _ in range(len(ordered) + 1))
        for trace in traces:
            here = number[str(trace[1][1])]
            first[here] += 1
            for t, step in enumerate(trace[2:]):
                counts = stages[bisect_right(ordered, t)]
                row = counts.setdefault((here, str(step[0])), np.zeros(len(number), np.int64))
                here = number[str(step[1])]
                row[here] += 1
        return cls(cells, tuple(outcomes), first, ordered, stages)

    def stage(self, t: int) -> Counts:
        """Counts that hold for the step from `t` to `t + 1`."""
        return self.stages[bisect_right(self.begins, t)]

    def curves(self, steps: int) -> dict[str, NDArray[np.float64]]:
        """By outcome (steps + 1,): its probability within t steps."""
        n = len(self.first)
        tables = {id(counts): self._matrix(counts) for counts in self.stages}
        now = self.first / self.first.sum()
        found = {outcome: np.zeros(steps + 1) for outcome in self.outcomes}
        for t in range(steps + 1):
            for k, outcome in enumerate(self.outcomes, n - len(self.outcomes)):
                found[outcome][t] = now[k]
            now = now @ tables[id(self.stage(t))]
        return found

    def _matrix(self, counts: Counts) -> NDArray[np.float64]:
        """(N, N) chain of a stage; who comes where nobody was seen in it stays."""
        found = np.zeros((len(self.first), len(self.first)))
        for (cell, _), row in counts.items():
            found[cell] += row
        left = found.sum(axis=1)
        found[left == 0] = np.eye(len(found))[left == 0]
        return np.asarray(found / np.where(left == 0, 1, left)[:, None])

    def unrolled(self, steps: int, limited: str | None) -> Strategy:
        """What the agent does, over states ``cell=c3, step=17``; who is there at the end has the outcome `limited`.

        As `waypost.model.steps.in_time` counts: step 0 is the ``start``, in which nothing was seen yet.
        """
        builder = _Builder(self, steps)
        mdp, taken = builder.model()
        ends = np.zeros(mdp.n_states, bool)
        ends[: builder.at_outcome] = mdp.is_final[: builder.at_outcome]
        labels = {o: np.arange(mdp.n_states) == builder.at_outcome + k for k, o in enumerate(self.outcomes)}
        if limited is not None:
            labels[limited] = labels.get(limited, np.zeros(mdp.n_states, bool)) | ends
        return Strategy.memoryless(mdp.with_labels(labels), taken)


class _Builder:
    """States in layers: the start, every cell after 1, 2, ... steps, and the outcomes."""

    def __init__(self, staged: Staged, steps: int) -> None:
        self.staged = staged
        self.steps = steps
        self.width = len(staged.cells)
        self.at_outcome = 1 + (steps + 1) * self.width
        self.rows: list[NDArray[np.int64]] = []
        self.columns: list[NDArray[np.int64]] = []
        self.shares: list[NDArray[np.float64]] = []

    def _add(self, choice: int, row: NDArray[np.int64], layer: int) -> None:
        """Add a choice that leads into a layer, or to outcomes, as often as was counted."""
        there = np.flatnonzero(row)
        ends = there >= self.width
        self.rows.append(np.full(len(there), choice))
        self.columns.append(np.where(ends, self.at_outcome + there - self.width, 1 + layer * self.width + there))
        self.shares.append(row[there] / row.sum())

    def model(self) -> tuple[MDP, NDArray[np.float64]]:
        """The model, and how probable each of its choices is."""
        staged = self.staged
        owners, actions, taken = [0], [BEGIN], [1.0]
        self._add(0, staged.first, 0)
        for t in range(self.steps):
            visits: dict[int, int] = {}
            counts = staged.stage(t)
            for (cell, _), row in counts.items():
                visits[cell] = visits.get(cell, 0) + int(row.sum())
            for (cell, action), row in sorted(counts.items()):
                self._add(len(owners), row, t + 1)
                owners.append(1 + t * self.width + cell)
                actions.append(action)
                taken.append(float(row.sum()) / visits[cell])
        n = self.at_outcome + len(staged.outcomes)
        names = [f"{START}, {STEP}=0"]
        names += [f"{cell}, {STEP}={t + 1}" for t in range(self.steps + 1) for cell in staged.cells]
        mdp = MDP.from_triplets(
            np.concatenate(self.rows),
            np.concatenate(self.columns),
            np.concatenate(self.shares),
            first_choice=np.searchsorted(owners, np.arange(n + 1)),
            states=[*names, *staged.outcomes],
            actions=actions,
            initial=0,
        )
        shares = np.ones(mdp.n_choices)  # states without a choice got one
        shares[~mdp.is_final[mdp.choice_state]] = taken
        return mdp, shares
