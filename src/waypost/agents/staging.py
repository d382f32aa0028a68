"""A chain between cells whose probabilities change with time: steps are counted apart in each stage of an episode.

An agent that makes no mistakes may still drift, and fail after two hundred steps, never after twenty. Cells remember
nothing, so that a chain between them fails a little at every step. A stage is what such a chain lacks: until step 145
nobody fails, from there on many do. With ``P_k`` as counted in stage ``k``, and ``k(t)`` the stage of step ``t``,

    Pr(cell at t + 1) = Pr(cell at t) P_k(t)

Where nobody was seen in a cell during a stage, what was counted there in all stages together stands in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.model import MDP, Strategy
from waypost.model.steps import STEP
from waypost.model.traces import Trace

START, BEGIN = "start", "begin"


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps between places, one entry each: first the cells, then the outcomes.

    Attributes
    ----------
    cells, outcomes, actions
        Names of the places and of the actions.
    first
        (N,) how often an episode begins in each place.
    time, here, action, there
        (n,) when a step was taken, from where, how, and where it led.
    """

    cells: tuple[str, ...]
    outcomes: tuple[str, ...]
    actions: tuple[str, ...]
    first: NDArray[np.int64]
    time: NDArray[np.int64]
    here: NDArray[np.int64]
    action: NDArray[np.int64]
    there: NDArray[np.int64]

    @classmethod
    def of(cls, traces: Sequence[Trace], outcomes: Sequence[str]) -> Steps:
        """Steps of traces ``[start, (begin, cell), (action, cell), ..., (action, outcome)]``."""
        seen = {str(step[1]) for trace in traces for step in trace[1:]}
        cells = tuple(sorted(seen.difference(outcomes)))
        actions = tuple(sorted({str(step[0]) for trace in traces for step in trace[2:]}))
        place = {name: k for k, name in enumerate((*cells, *outcomes))}
        way = {name: k for k, name in enumerate(actions)}
        first, taken = np.zeros(len(place), np.int64), []
        for trace in traces:
            here = place[str(trace[1][1])]
            first[here] += 1
            for t, step in enumerate(trace[2:]):
                there = place[str(step[1])]
                taken.append((t, here, way[str(step[0])], there))
                here = there
        return cls(cells, tuple(outcomes), actions, first, *np.array(taken, np.int64).reshape(-1, 4).T)


@dataclass(frozen=True, eq=False)
class Staged:
    """Steps between cells and to outcomes, counted in each stage.

    Attributes
    ----------
    steps
        What is counted.
    begins
        Steps with which the second stage begins, the third, and so on.
    """

    steps: Steps
    begins: tuple[int, ...] = ()

    def stage(self, t: int) -> int:
        """Number of the stage of the step from `t` to `t + 1`."""
        return bisect_right(self.begins, t)

    def counts(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """By stage, how often each ``(cell, action, place)`` came: the keys, one row each, and the counts.

        Of a cell in which nobody was during a stage, those of all stages.

        >>> traces = [["start", ("begin", "a"), ("go", "a"), ("go", "won")], ["start", ("begin", "a"), ("go", "a")]]
        >>> found = Staged(Steps.of(traces, ["won"]), (1,)).counts()
        >>> [(keys.tolist(), counts.tolist()) for keys, counts in found]
        [([[0, 0, 0]], [2]), ([[0, 0, 1]], [1])]
        """
        steps = self.steps
        stage = np.searchsorted(self.begins, steps.time, side="right")
        keys = np.stack([steps.here, steps.action, steps.there], axis=1)
        found = []
        for k in range(len(self.begins) + 1):
            now = stage == k
            met = np.zeros(len(steps.first), bool)
            met[steps.here[now]] = True
            found.append(np.unique(keys[now | ~met[steps.here]], axis=0, return_counts=True))
        return found

    def curves(self, horizon: int) -> dict[str, NDArray[np.float64]]:
        """By outcome (horizon + 1,): its probability within t steps."""
        return Binned.of(self.steps, self.begins).curves(self.begins, horizon)

    def in_time(self, outcome: str, horizon: int, *, there: float) -> NDArray[np.float64]:
        """(horizon + 1, cells) probability of an outcome from each cell at each step; `there` at the limit itself.

        >>> traces = [["start", ("begin", "a"), ("go", "a"), ("go", "won")], ["start", ("begin", "a"), ("go", "a")]]
        >>> Staged(Steps.of(traces, ["won"]), (1,)).in_time("won", 2, there=0.0).tolist()
        [[1.0], [1.0], [0.0]]
        """
        n, width = len(self.steps.first), len(self.steps.cells)
        tables = Binned.of(self.steps, self.begins).chains(self.begins)
        now = np.concatenate([np.full(width, there), np.zeros(n - width)])
        now[width + self.steps.outcomes.index(outcome)] = 1.0
        found = [now]
        for t in reversed(range(horizon)):
            found.append(tables[self.stage(t)] @ found[-1])
        return np.array(found[::-1])[:, :width]

    def in_the_end(self, outcome: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(cells,) each: probability of an outcome in the end, and expected number of steps until there is any.

        >>> traces = [["start", ("begin", "a"), ("go", "a"), ("go", "won")]]
        >>> [row.tolist() for row in Staged(Steps.of(traces, ["won"])).in_the_end("won")]
        [[1.0], [2.0]]
        """
        width = len(self.steps.cells)
        (chain,) = Binned.of(self.steps, ()).chains(())
        asked = np.stack([chain[:width, width + self.steps.outcomes.index(outcome)], np.ones(width)], axis=1)
        worth, left = np.linalg.solve(np.eye(width) - chain[:width, :width], asked).T
        return worth, left

    def unrolled(self, steps: int, limited: str | None) -> Strategy:
        """What the agent does, over states ``cell=c3, step=17``; who is there at the end has the outcome `limited`.

        As `waypost.model.steps.in_time` counts: step 0 is the ``start``, in which nothing was seen yet.
        """
        builder = _Builder(self, steps)
        mdp, taken = builder.model()
        ends = np.zeros(mdp.n_states, bool)
        ends[: builder.at_outcome] = mdp.is_final[: builder.at_outcome]
        labels = {o: np.arange(mdp.n_states) == builder.at_outcome + k for k, o in enumerate(self.steps.outcomes)}
        if limited is not None:
            labels[limited] = labels.get(limited, np.zeros(mdp.n_states, bool)) | ends
        return Strategy.memoryless(mdp.with_labels(labels), taken)


@dataclass(frozen=True, eq=False)
class Binned:
    """Steps counted between given points in time, so that stages made of them need no counting again.

    Attributes
    ----------
    edges
        Steps with which the second bin begins, the third, and so on.
    counts
        (B, N, N) how often each place came after each place.
    """

    steps: Steps
    edges: tuple[int, ...]
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, steps: Steps, edges: Sequence[int]) -> Binned:
        """Count steps."""
        n, ordered = len(steps.first), tuple(sorted(edges))
        bins = np.searchsorted(ordered, steps.time, side="right")
        flat = (bins * n + steps.here) * n + steps.there
        counts = np.bincount(flat, minlength=(len(ordered) + 1) * n * n).astype(float)
        return cls(steps, ordered, counts.reshape(-1, n, n))

    def curves(self, begins: Sequence[int], horizon: int) -> dict[str, NDArray[np.float64]]:
        """By outcome (horizon + 1,): its probability within t steps, in stages that begin at some of the edges."""
        first, outcomes = self.steps.first, self.steps.outcomes
        tables = self.chains(begins)
        stage = np.searchsorted(sorted(begins), np.arange(horizon), side="right").tolist()
        now = first / first.sum()
        ends = [now[-len(outcomes) :]]
        for k in stage:
            now = now @ tables[k]
            ends.append(now[-len(outcomes) :])
        return dict(zip(outcomes, np.array(ends).T, strict=True))

    def chains(self, begins: Sequence[int]) -> list[NDArray[np.float64]]:
        """(N, N) the chain of each stage."""
        own = np.searchsorted(sorted(begins), [0, *self.edges], side="right")  # the stage of each bin
        ever = _chain(self.counts.sum(axis=0), np.eye(self.counts.shape[1]))  # nobody leaves an outcome
        return [_chain(self.counts[own == k].sum(axis=0), ever) for k in range(len(begins) + 1)]


def _chain(counts: NDArray[np.float64], otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, N) shares of counts, and what stands in where there are none."""
    left = counts.sum(axis=1)[:, None]
    return np.where(left == 0, otherwise, counts / np.where(left == 0, 1, left))


class _Builder:
    """States in layers: the start, every cell after 1, 2, ... steps, and the outcomes."""

    def __init__(self, staged: Staged, steps: int) -> None:
        self.staged = staged
        self.steps = steps
        self.width = len(staged.steps.cells)
        self.at_outcome = 1 + (steps + 1) * self.width

    def model(self) -> tuple[MDP, NDArray[np.float64]]:
        """The model, and how probable each of its choices is."""
        counted, n = self.staged.steps, self.at_outcome + len(self.staged.steps.outcomes)
        begins = np.flatnonzero(counted.first)
        rows, columns = [np.zeros(len(begins), np.int64)], [self._columns(begins, 0)]
        shares, owners = [counted.first[begins] / counted.first.sum()], [np.zeros(1, np.int64)]
        actions, taken, choices = [BEGIN], [np.ones(1)], 1
        stages = [self._choices(*found) for found in self.staged.counts()]
        for t in range(self.steps):
            found = stages[self.staged.stage(t)]
            rows.append(choices + found.choice)
            columns.append(self._columns(found.there, t + 1))
            shares.append(found.share)
            owners.append(1 + t * self.width + found.cell)
            actions += [counted.actions[a] for a in found.action.tolist()]
            taken.append(found.taken)
            choices += len(found.cell)
        names = [f"{START}, {STEP}=0"]
        names += [f"{cell}, {STEP}={t + 1}" for t in range(self.steps + 1) for cell in counted.cells]
        mdp = MDP.from_triplets(
            np.concatenate(rows),
            np.concatenate(columns),
            np.concatenate(shares),
            first_choice=np.searchsorted(np.concatenate(owners), np.arange(n + 1)),
            states=[*names, *counted.outcomes],
            actions=actions,
            initial=0,
        )
        odds = np.ones(mdp.n_choices)  # states without a choice got one
        odds[~mdp.is_final[mdp.choice_state]] = np.concatenate(taken)
        return mdp, odds

    def _columns(self, there: NDArray[np.int64], layer: int) -> NDArray[np.int64]:
        """States of a layer, or outcomes, in which places are found."""
        return np.where(there >= self.width, self.at_outcome + there - self.width, 1 + layer * self.width + there)

    def _choices(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> _Choices:
        """What is done in a stage, sorted by cell and action, as the keys are."""
        pairs, choice = np.unique(keys[:, :2], axis=0, return_inverse=True)
        choice = choice.reshape(-1)
        total = np.bincount(choice, weights=counts, minlength=len(pairs))
        visits = np.bincount(pairs[:, 0], weights=total, minlength=self.width)
        return _Choices(
            pairs[:, 0], pairs[:, 1], total / visits[pairs[:, 0]], choice, keys[:, 2], counts / total[choice]
        )


class _Choices(NamedTuple):
    """Choices of a stage, and where they lead."""

    cell: NDArray[np.int64]
    action: NDArray[np.int64]
    taken: NDArray[np.float64]  # how often, of the visits to the cell
    choice: NDArray[np.int64]  # of each arrow, with the two that follow
    there: NDArray[np.int64]
    share: NDArray[np.float64]
