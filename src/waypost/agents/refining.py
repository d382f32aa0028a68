"""Chains counted from episodes, made finer wherever the episodes they are counted from refute them.

A quarter of the episodes is held out, and nothing is decided by looking at it. All is decided on the others:

* *Time.* A chain need not even predict the episodes it is counted from: one that forgets what it did may not drift for
  a hundred steps and then fail. While its curves are further from theirs than half of what chance may do, time is cut,
  where that helps most. That cannot go far astray: with every step a stage of its own the curves would be the
  episodes' own, of which it is known how far they are from the truth (Dvoretzky, Kiefer, Wolfowitz, Massart).
* *Cells.* A cell is cut where its members' later success differs along a direction, by a test on episodes that had no
  say in the direction, corrected for the number of cells tried (`waypost.agents.cells`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.agents.cells import Cells, Space, sure, surely_told, telling_points
from waypost.agents.fitting import ChainFit
from waypost.agents.memory import CellVisits, Worth
from waypost.agents.passing import Passages
from waypost.agents.staging import BEGIN, START, Binned, Staged, Steps
from waypost.environments.playing import Episode, Recording, action_name, count_mdp
from waypost.errors import ArgumentError, FormatError
from waypost.learn import observed_strategy
from waypost.model import Strategy
from waypost.model.traces import POSITIVE, Trace

Actions = Sequence[str] | Callable[[Any], str]
Curves = Mapping[str, NDArray[np.float64]]
MOST_CUTS = 12  # of time
GRID = 20  # parts of the episodes, by their ends, between which time may be cut


@dataclass(frozen=True, eq=False)
class CellChain:
    """A chain between cells, as it was counted."""

    cells: Cells
    names: NDArray[np.object_]  # (n,) the cell of every observation
    strategy: Strategy  # of the counted model, which knows no time
    staged: Staged  # the same, counted in stages
    fit: ChainFit  # on the episodes it was counted from

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.staged.steps.cells)


class Refinement:
    """Episodes, three quarters of which are counted, and the chains that are counted from them."""

    def __init__(
        self,
        played: Sequence[Recording],
        space: Space | None,
        features: Callable[[Any], Any] | None,
        outcome: Callable[[Episode], str],
        actions: Actions | None,
        cells: int,
        seed: int,
    ) -> None:
        self.played = played
        self.outcome = [_outcome(outcome, recording.episode) for recording in played]
        self.longest = max(len(recording.actions) for recording in played)
        self.cut_off = [_cut_off(recording, self.longest) for recording in played]
        self.limited = _limited(self.outcome, self.cut_off)
        self.did = [[_action(action, actions) for action in recording.actions] for recording in played]
        draw = np.random.default_rng(seed)
        order = draw.permutation(len(played))
        quarter = len(played) // 4
        self.held_out, self.counted = order[:quarter], order[quarter:]
        self.second = draw.random(len(played)) < 0.5  # by episode: the half that tests what the other half tells
        seen = [_seen(recording, cut_off=cut) for recording, cut in zip(played, self.cut_off, strict=True)]
        counted = [one for k in self.counted for one in seen[k]]
        self.cells = Cells.of(counted, space=space, features=features, cells=cells, seed=seed)
        lengths = [len(observations) for observations in seen]
        self.first = np.concatenate([[0], np.cumsum(lengths)])
        self.episode = np.repeat(np.arange(len(played)), lengths)  # of every observation
        self.time = np.arange(len(self.episode)) - self.first[self.episode]
        self.seen = [one for observations in seen for one in observations]
        self.vectors = self.cells.vectors(self.seen)
        self.inside = np.isin(self.episode, self.counted)  # of every observation: whether it is counted
        self.edges = _edges([len(played[k].actions) - 1 for k in self.counted if not self.cut_off[k]])
        wanted = Counter(self.outcome[k] for k in self.counted)
        self.wanted = POSITIVE if POSITIVE in wanted else wanted.most_common(1)[0][0]  # what guides the refinement

    def chain(self, cells: Cells) -> CellChain:
        """Count steps between cells, and cut time where that is needed."""
        names = cells.names(self.seen, self.vectors)
        traces = [self._trace(k, names[self.first[k] : self.first[k + 1]].tolist()) for k in self.counted]
        mdp = count_mdp(traces)
        outcomes = {o: np.array([name == o for name in mdp.states]) for o in sorted(set(self.outcome))}
        strategy = observed_strategy(mdp.with_labels({o: mask for o, mask in outcomes.items() if mask.any()}))
        staged = Staged(Steps.of(traces, list(outcomes)))
        return self._in_stages(CellChain(cells, names, strategy, staged, self.fit(staged, self.counted)))

    def _trace(self, k: int, states: Sequence[str]) -> Trace:
        """Episode as it is counted; one that ended by the limit stops where it is then."""
        after = states[1:] if self.cut_off[k] else [*states[1:], self.outcome[k]]
        return [START, (BEGIN, states[0]), *zip(self.did[k], after, strict=True)]

    def fit(self, staged: Staged, episodes: NDArray[np.int64]) -> ChainFit:
        """Outcomes within t steps: predicted by a chain, and observed in episodes."""
        observed = {o: np.zeros(self.longest + 1) for o in sorted(set(self.outcome))}
        for k in episodes:
            observed[self.outcome[k]][len(self.played[k].actions) :] += 1 / len(episodes)
        return self._compared(staged.curves(self.longest), observed, len(episodes))

    def _compared(self, predicted: Curves, observed: Curves, episodes: int) -> ChainFit:
        """Curves beside each other; who is still there at the limit has its outcome."""
        if self.limited is not None:
            last = 1 - sum(float(curve[-1]) for curve in predicted.values())
            there = predicted[self.limited].copy()
            there[-1] += last
            predicted = {**predicted, self.limited: there}
        return ChainFit(episodes, len(self.counted), predicted, observed)

    def _in_stages(self, now: CellChain) -> CellChain:
        """The chain with time cut until it predicts the episodes it is counted from; as it is without a limit.

        Each cut is the one, of the steps at which another twentieth of the episodes is over, that brings the curves
        nearest on average.
        """
        if self.limited is None:
            return now
        steps, observed = now.staged.steps, now.fit.observed
        binned = Binned.of(steps, self.edges)
        begins: tuple[int, ...] = ()
        fit = self._compared(binned.curves(begins, self.longest), observed, now.fit.episodes)
        while fit.error > fit.blur / 2 and len(begins) < min(MOST_CUTS, len(self.edges)):
            options = [
                ((*begins, edge), self._compared(binned.curves((*begins, edge), self.longest), observed, fit.episodes))
                for edge in self.edges
                if edge not in begins
            ]
            begins, fit = min(options, key=lambda option: option[1].unevenness)
        return replace(now, staged=Staged(steps, tuple(sorted(begins))), fit=fit)

    def finer(self, now: CellChain, room: int) -> CellChain | None:
        """The chain with cells cut that hide what tells the future, `room` at most; None where none surely does."""
        members = {cell: np.flatnonzero(self.inside & (now.names == cell)) for cell in now.staged.steps.cells}
        tests: dict[str, tuple[float, NDArray[np.float64]]] = {}
        futures = self._missed(now)
        for cell, at in members.items():
            asked = [(surely_told(self.vectors[at], m[at], self.episode[at], self.second), m[at]) for m in futures]
            tests[cell] = max(asked, key=lambda one: one[0])
        least = sure(len(tests) * len(futures))
        told = [cell for cell in sorted(tests, key=lambda cell: -tests[cell][0]) if tests[cell][0] > least]
        cells = now.cells
        for cell in told[: max(0, room)]:
            points = telling_points(self.vectors[members[cell]], tests[cell][1])
            cells = cells if points is None else cells.cut(cell, points)
        return None if cells is now.cells else self.chain(cells)

    def _missed(self, now: CellChain) -> list[NDArray[np.float64]]:
        """(n,) each, before each action: success minus what the chain expected of it, and so the time left.

        With a limit the stages tell how long episodes take, and success is all that is asked.
        """
        won = np.array([outcome == self.wanted for outcome in self.outcome])[self.episode]
        missed = won - self.odds(now, self.wanted)
        if self.limited is not None:
            return [missed]
        _, left = now.staged.in_the_end(self.wanted)
        steps = np.array([len(recording.actions) for recording in self.played])
        return [missed, steps[self.episode] - self.time - left[self._places(now)]]

    def _places(self, now: CellChain) -> NDArray[np.int64]:
        """(n,) the position of each cell; the first for a cell that only episodes held out pass, which is not asked."""
        number = {cell: k for k, cell in enumerate(now.staged.steps.cells)}
        return np.array([number.get(name, 0) for name in now.names])

    def odds(self, now: CellChain, outcome: str) -> NDArray[np.float64]:
        """(n,) what the chain says before each action of how likely an outcome is."""
        at = self._places(now)
        if self.limited is None:
            return np.asarray(now.staged.in_the_end(outcome)[0][at])
        in_time = now.staged.in_time(outcome, self.longest, there=float(self.limited == outcome))
        return np.asarray(in_time[self.time, at])

    def clocked(self, now: CellChain) -> Strategy:
        """What the agent does: over cells, or over cells and steps where episodes have a limit."""
        return now.strategy if self.limited is None else now.staged.unrolled(self.longest, self.limited)

    def passages(self, now: CellChain) -> Passages:
        """Which episodes pass which cells of the chain."""
        cells = now.staged.steps.cells
        place = {cell: k for k, cell in enumerate(cells)}
        at = np.array([place.get(name, len(cells)) for name in now.names])  # who was held out may be elsewhere
        through = np.zeros((len(self.played), len(cells) + 1), bool)
        through[self.episode, at] = True
        held_out = np.isin(np.arange(len(self.played)), self.held_out)
        return Passages(cells, through[:, :-1], np.array(self.outcome), held_out)

    def visits(self, now: CellChain) -> CellVisits:
        """Visits of all episodes to the cells of the chain, and where each step led."""
        steps = now.staged.steps
        place = {name: k for k, name in enumerate((*steps.cells, *steps.outcomes))}
        here = np.array([place.get(name, -1) for name in now.names])  # who was held out may be elsewhere
        there = np.append(here[1:], -1)
        last = self.first[1:] - 1
        there[last] = [-1 if cut else place[end] for cut, end in zip(self.cut_off, self.outcome, strict=True)]
        stage = np.searchsorted(now.staged.begins, self.time, side="right")
        return CellVisits(steps.cells, self.episode, self.time, stage, here, there, self.inside)

    def worth(self, now: CellChain) -> dict[str, Worth]:
        """By outcome, what each cell and each outcome is worth for it; with a limit, on average over visits."""
        steps, found = now.staged.steps, {}
        for k, outcome in enumerate(steps.outcomes):
            if self.limited is None:
                cells, _ = now.staged.in_the_end(outcome)
            else:
                in_time = now.staged.in_time(outcome, self.longest, there=float(self.limited == outcome))
                visits = np.zeros_like(in_time)
                np.add.at(visits, (steps.time, steps.here), 1)
                cells = (in_time * visits).sum(axis=0) / np.maximum(visits.sum(axis=0), 1)
            found[outcome] = np.concatenate([cells, np.eye(len(steps.outcomes))[k]])
        return found

    def members(self, now: CellChain) -> Mapping[str, list[Any]]:
        """The observations that were counted in each cell."""
        found: dict[str, list[Any]] = {}
        for k in np.flatnonzero(self.inside).tolist():
            found.setdefault(now.names[k], []).append(self.seen[k])
        return dict(sorted(found.items()))


def _edges(ends: Sequence[int]) -> tuple[int, ...]:
    """Steps at which time may be cut: where another twentieth of the episodes begins to be over, and after them all.

    >>> _edges([3, 3, 9, 9])
    (3, 9, 10)
    """
    if not ends:
        return ()
    found = np.quantile(ends, np.arange(GRID) / GRID, method="lower").astype(int).tolist()
    return tuple(sorted({*found, max(ends) + 1} - {0}))


def _outcome(outcome: Callable[[Episode], str], episode: Episode) -> str:
    called = outcome(episode)
    if not isinstance(called, str):
        raise ArgumentError(
            f"outcome= gives the end of an episode a name, such as 'positive' or 'negative', and not {called!r}"
        )
    return called


def _action(action: Any, actions: Actions | None) -> str:
    number = np.asarray(action)
    if actions is None and (number.size != 1 or number.dtype.kind not in "biu"):
        raise ArgumentError(
            f"the agent's actions are no whole numbers, such as {action!r}; say what to call them, for example "
            "actions=lambda action: 'push' if action[0] > 0 else 'pull'"
        )
    return action_name(action, actions)


def _cut_off(recording: Recording, longest: int) -> bool:
    """Whether an episode ended by the limit on all of them; one that was stopped earlier ended for another reason."""
    episode = recording.episode
    return episode.truncated and not episode.terminated and len(recording.actions) == longest


def _seen(recording: Recording, *, cut_off: bool) -> tuple[Any, ...]:
    """What is seen of an episode: where it is cut off, what its last action led to as well.

    Without that, of all last steps only those that fail would be counted.
    """
    if not cut_off:
        return recording.observations
    last = recording.observations[-1] if recording.last is None else recording.last
    return (*recording.observations, last)


def _limited(outcomes: Sequence[str], cut_off: Sequence[bool]) -> str | None:
    """What being there at the limit is called; None where no episode ended by one."""
    late = {name for name, cut in zip(outcomes, cut_off, strict=True) if cut}
    if len(late) > 1:
        raise FormatError(
            f"episodes that end by a limit are called {' and '.join(sorted(late))}; let outcome= call them the same"
        )
    return next(iter(late), None)
