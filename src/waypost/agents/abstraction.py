"""Worlds too large for a table, by abstraction: episodes of an agent, observations in cells, and a check of the fit.

Observations with one name are one state, and the steps of the agent between them are counted: a chain of a few states
stands for the agent in its world. A limit on the length of episodes is no step of the world: where episodes ended by
one, the chain gets a clock (`waypost.model.steps.in_time`), and being there in time is an outcome.

Whether the chain may stand for the agent is measured, not believed. Episodes are split in three: the first part is
counted, the second says where to refine, the third is the check. For every step ``t`` and outcome ``o`` the chain
predicts ``P(o within t steps)``; the error is the greatest distance from the share of held-out episodes

    error = max over o, t of | P(o within t steps) - share(o within t steps) |

and a chain fits as long as its error is what as many episodes would show by chance alone (the bound of Dvoretzky,
Kiefer, Wolfowitz and Massart, 95 %). Where it does not, the cells whose later success the chain gets most wrong are
cut in two, along what tells that success; or, of episodes with a limit, time is cut in two at the step at which the
chain is furthest off (`waypost.agents.staging`), whichever predicts better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.agents.cells import Cells, Space
from waypost.agents.fitting import ChainFit, bend
from waypost.agents.staging import BEGIN, START, Staged
from waypost.agents.telling import CellContrast, contrasts, summary
from waypost.environments.playing import Episode, Recording, count_mdp, rewarded
from waypost.errors import ArgumentError, FormatError
from waypost.importance import Question
from waypost.learn import observed_strategy
from waypost.model import MDP, Strategy, induced_chain
from waypost.model.steps import STEP, in_time
from waypost.model.traces import POSITIVE, Trace

LEAST_EPISODES = 12
ROUNDS = 10  # of refinement, until the error is half of what chance may do
STAGES = 5  # of an episode with a limit, in which errors do not make up for each other
MOST_CUTS = 12  # of time
PATIENCE = 3  # cuts in a row that change nothing


@dataclass(frozen=True, eq=False)
class Abstraction:
    """An agent in its world as a small chain, with the check of its fit.

    Attributes
    ----------
    mdp
        States are the cells, ``cell=c3`` or ``cell=c3, step=17`` with a clock, the outcomes, which are also labels,
        and a ``start``.
    strategy
        What the agent does, as counted: the scope in which to ask.
    counted
        The model without the clock; its counts are the support.
    cells
        What observations are called.
    fit
        On held-out episodes, which neither made nor refined the chain.
    begins
        Steps with which a new stage begins, in which the chain has other probabilities.
    tried
        Number of cells, and error on the episodes that guided the refinement, round by round.
    members
        The observations in each cell.
    """

    mdp: MDP
    strategy: Strategy
    counted: MDP
    cells: Cells
    fit: ChainFit
    begins: tuple[int, ...]
    tried: tuple[tuple[int, float], ...]
    members: Mapping[str, NDArray[np.float64]]

    def __repr__(self) -> str:
        return f"Abstraction(cells={len(self.members)}, states={self.mdp.n_states}, {self.fit})"

    @property
    def support(self) -> dict[str, int]:
        """How often each state was entered in the episodes that were counted."""
        model = self.counted
        visits = np.bincount(model.transitions.indices, weights=np.asarray(model.counts), minlength=model.n_states)
        return {name: int(n) for name, n in zip(model.states, visits, strict=True)}

    @property
    def telling(self) -> float:
        """Greatest difference between the shares of good and of bad runs that pass a cell.

        A chain may fit by its stages alone; whether its cells say why is told by this.
        """
        return max((abs(one.difference) for one in self.contrasts()), default=0.0)

    def contrasts(self, wanted: str = POSITIVE) -> tuple[CellContrast, ...]:
        """Shares of the good and of the bad runs that pass each cell, the most telling cell first."""
        return contrasts(self, wanted)

    def summary(self, wanted: str = POSITIVE, *, names: Sequence[str] | None = None, top: int = 4) -> str:
        """The chain in words: its error, and the cells that tell success from failure; `names` as in `describe`."""
        return summary(self, wanted, names, top)

    def describe(self, names: Sequence[str]) -> dict[str, str]:
        """What is seen in each cell: the middle half of every number of an observation, by its name.

        An observation of ``(position, angle)`` might read ``{"cell=c1": "position -0.1 to 0.2, angle 0.01 to 0.03"}``.
        """
        found = {}
        for cell, seen in self.members.items():
            low, high = np.quantile(seen.reshape(len(seen), -1), [0.25, 0.75], axis=0)
            parts = [f"{name} {a:.2g} to {b:.2g}" for name, a, b in zip(names, low, high, strict=True)]
            found[cell] = ", ".join(parts)
        return found


def abstract_agent(
    played: Sequence[Recording],
    *,
    space: Space | None = None,
    features: Callable[[Any], Any] | None = None,
    outcome: Callable[[Episode], str] = rewarded,
    actions: Sequence[str] | None = None,
    cells: int = 4,
    most: int = 64,
    seed: int = 0,
) -> Abstraction:
    """Small chain that stands for an agent in its world, refined until it predicts episodes it has not seen.

    Parameters
    ----------
    played
        Episodes of the agent, as `waypost.environments.record` gives them; half of them are counted.
    space
        Rows of numbers from rows of observations, in which cells are clusters: `hidden_layer` of a network, or the
        observations themselves.
    features
        First name of an observation, in place of clusters; ``lean=left, turn=calm`` becomes variables.
    outcome
        What the end of an episode is called; by default ``positive`` if its rewards add up to more than nothing.
    cells, most
        Clusters to begin with, and cells at most.
    """
    if len(played) < LEAST_EPISODES:
        raise ArgumentError(f"{len(played)} episodes are too few to make a chain and to check it; play more")
    work = _Work(played, space or _as_seen, features, outcome, actions, cells, seed)
    now = work.chain(work.cells)
    tried = [(now.size, now.error)]
    best = now
    while best.error > best.chance / 2 and len(tried) < ROUNDS:
        finer = work.finer(now, most - now.size)
        if not finer:
            break
        now = min(finer, key=lambda chain: chain.error)
        tried.append((now.size, now.error))
        best = min(best, now, key=lambda chain: chain.error)
    return work.finished(best, tuple(tried))


def _as_seen(rows: Any) -> Any:
    return rows


@dataclass(frozen=True, eq=False)
class _Chain:
    cells: Cells
    strategy: Strategy  # of the counted model
    names: Sequence[Sequence[str]]  # by episode, the cell before each action
    staged: Staged | None  # the same with stages, where there are any
    fit: ChainFit  # on the guiding episodes

    @property
    def error(self) -> float:
        """Greatest distance of a prediction from what was observed."""
        return self.fit.error

    @property
    def chance(self) -> float:
        """Distance that may be chance."""
        return self.fit.chance

    @property
    def begins(self) -> tuple[int, ...]:
        """Steps with which a new stage begins."""
        return () if self.staged is None else self.staged.begins

    @property
    def size(self) -> int:
        """Number of cells."""
        return len({name for episode in self.names for name in episode})


class _Work:
    """Episodes in three parts, and chains made from the first."""

    def __init__(
        self,
        played: Sequence[Recording],
        space: Space,
        features: Callable[[Any], Any] | None,
        outcome: Callable[[Episode], str],
        actions: Sequence[str] | None,
        cells: int,
        seed: int,
    ) -> None:
        self.played = played
        self.outcome = [outcome(recording.episode) for recording in played]
        self.cut_off = [recording.episode.truncated and not recording.episode.terminated for recording in played]
        late = {name for name, cut in zip(self.outcome, self.cut_off, strict=True) if cut}
        if len(late) > 1:
            raise FormatError(
                f"episodes that end by a limit are called {' and '.join(sorted(late))}; let outcome= call them the same"
            )
        self.limited = next(iter(late), None)  # what being there at the limit is called
        self.longest = max(len(recording.actions) for recording in played)
        self.actions = actions
        self.seed = seed
        order = np.random.default_rng(seed).permutation(len(played))
        half, quarter = len(played) // 2, len(played) // 4
        self.counted, self.guiding, self.held_out = order[:half], order[half : half + quarter], order[half + quarter :]
        seen = [one for k in self.counted for one in played[k].observations]
        self.cells = Cells.of(seen, space=space, features=features, cells=cells, seed=seed)
        self.vectors = [self.cells.vectors(recording.observations) for recording in played]

    def finer(self, now: _Chain, room: int) -> list[_Chain]:
        """Chains that tell more apart: by cells, or by time."""
        found = []
        cut = self.cut(now, room) if room > 0 else now.cells
        if cut is not now.cells:
            found.append(self.chain(cut, now.begins))
        sooner = self.in_stages(now)
        return found if sooner is now else [*found, sooner]

    def in_stages(self, now: _Chain) -> _Chain:
        """The chain with time cut, again and again, until that predicts no better; as it is without a limit.

        One cut may show only after another: before a bend and behind it.
        """
        best, idle = now, 0
        while self.limited is not None and len(now.begins) < MOST_CUTS and idle < PATIENCE:
            step = bend(now.fit, now.begins)
            if step is None or step in now.begins:
                break
            now = self.chain(now.cells, (*now.begins, step), now.names)
            best, idle = (now, 0) if now.error < best.error else (best, idle + 1)
        return best

    def chain(self, cells: Cells, begins: Sequence[int] = (), names: Sequence[Sequence[str]] | None = None) -> _Chain:
        """Count the first part of the episodes, and compare with the second; `names` where they are known already."""
        if names is None:
            both = zip(self.played, self.vectors, strict=True)
            names = [cells.names(recording.observations, rows) for recording, rows in both]
        traces = [self._trace(k, names[k]) for k in self.counted]
        mdp = count_mdp(traces)
        outcomes = {o: np.array([name == o for name in mdp.states]) for o in sorted(set(self.outcome))}
        strategy = observed_strategy(mdp.with_labels({o: mask for o, mask in outcomes.items() if mask.any()}))
        staged = Staged.of(traces, list(outcomes), begins) if begins else None
        return _Chain(cells, strategy, names, staged, self.fit(strategy, staged, self.guiding))

    def _trace(self, k: int, states: Sequence[str]) -> Trace:
        """Episode as it is counted; one that ended by the limit just stops."""
        numbers = [int(np.asarray(action).reshape(-1)[0]) for action in self.played[k].actions]
        did = [str(a) if self.actions is None else self.actions[a] for a in numbers]
        after = states[1:] if self.cut_off[k] else [*states[1:], self.outcome[k]]
        return [START, (BEGIN, states[0]), *zip(did, after, strict=False)]

    def fit(self, strategy: Strategy, staged: Staged | None, episodes: NDArray[np.int64]) -> ChainFit:
        """Outcomes within t steps: predicted by the chain, and observed."""
        steps = self.longest
        predicted = self._curves(strategy) if staged is None else staged.curves(steps)
        if self.limited is not None:
            predicted[self.limited][steps] += 1 - sum(curve[steps] for curve in predicted.values())
        observed = {o: np.zeros(steps + 1) for o in predicted}
        for k in episodes:
            observed[self.outcome[k]][len(self.played[k].actions) :] += 1 / len(episodes)
        return ChainFit(len(episodes), predicted, observed)

    def _curves(self, strategy: Strategy) -> dict[str, NDArray[np.float64]]:
        """By outcome (T + 1,): its probability within t steps, in a chain that knows no stages."""
        mdp = strategy.mdp
        matrix = induced_chain(mdp, strategy.modes[0]).T
        now = np.zeros(mdp.n_states)
        now[mdp.initial] = 1.0
        now = matrix @ now  # the step `begin` takes no time
        predicted = {o: np.zeros(self.longest + 1) for o in sorted(set(self.outcome))}
        for t in range(self.longest + 1):
            for o, curve in predicted.items():
                curve[t] = now[mdp.labels[o]].sum() if o in mdp.labels else 0.0
            now = matrix @ now
        return predicted

    def clocked(self, now: _Chain) -> Strategy:
        """The same with a clock, and an outcome for who is still there at the limit; as it is without a limit."""
        strategy = now.strategy
        if now.staged is not None:
            return now.staged.unrolled(self.longest, self.limited)
        if self.limited is None:
            return strategy
        clocked = in_time(strategy, self.longest + 1)
        counted = clocked.mdp
        ended = np.logical_or.reduce([~counted.is_final, *counted.labels.values()])
        nowhere = np.zeros(counted.n_states, bool)
        there = ~ended | counted.labels.get(self.limited, nowhere)  # the time is up, and no outcome came before
        named = counted.with_labels({**counted.labels, self.limited: there})
        return Strategy.memoryless(named, clocked.modes[0])

    def cut(self, now: _Chain, room: int) -> Cells:
        """Cut the third of the cells in two whose later success the chain gets most wrong, `room` at most.

        Where they are wrong is asked of the guiding episodes; along what a cell is cut, of the counted ones.
        """
        strategy = self.clocked(now)
        value = Question.of(strategy.mdp, target=self._wanted(), scope=strategy).reach.max.values
        missed = [self._missed(k, now.names[k], strategy.mdp, value) for k in range(len(self.played))]
        wrong: dict[tuple[str, int], float] = {}
        for k in self.guiding:
            for t, (cell, off) in enumerate(zip(now.names[k], missed[k].tolist(), strict=True)):
                stage = 0 if self.limited is None else t * STAGES // self.longest
                wrong[cell, stage] = wrong.get((cell, stage), 0.0) + off
        by_cell: dict[str, float] = {}
        for (cell, _), off in wrong.items():
            by_cell[cell] = by_cell.get(cell, 0.0) + abs(off)
        rows = np.concatenate([self.vectors[k] for k in self.counted])
        off = np.concatenate([missed[k] for k in self.counted])
        names = np.array([name for k in self.counted for name in now.names[k]])
        cells = now.cells
        for cell in sorted(by_cell, key=lambda name: -by_cell[name])[: min(1 + now.size // 3, room)]:
            cells = cells.refined(cell, rows[names == cell], off[names == cell], self.seed)
        return cells

    def _missed(self, k: int, cells: Sequence[str], mdp: MDP, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Success of an episode minus what the chain expected of it, before each action."""
        states = cells if self.limited is None else [f"{cell}, {STEP}={t + 1}" for t, cell in enumerate(cells)]
        at = [mdp.index.get(state) for state in states]
        expected = np.array([0.0 if s is None else float(value[s]) for s in at])
        return float(self.outcome[k] == self._wanted()) - expected

    def _wanted(self) -> str:
        """Outcome whose probability guides the refinement: success, or else the most frequent one."""
        counted = Counter(self.outcome[k] for k in self.counted)
        return POSITIVE if POSITIVE in counted else counted.most_common(1)[0][0]

    def finished(self, now: _Chain, tried: tuple[tuple[int, float], ...]) -> Abstraction:
        """The chain, checked on the third part of the episodes."""
        members: dict[str, list[Any]] = {}
        for k in self.counted:
            for seen, name in zip(self.played[k].observations, now.names[k], strict=True):
                members.setdefault(name, []).append(np.asarray(seen, float))
        strategy = self.clocked(now)
        return Abstraction(
            mdp=strategy.mdp,
            strategy=strategy,
            counted=now.strategy.mdp,
            cells=now.cells,
            fit=self.fit(now.strategy, now.staged, self.held_out),
            begins=now.begins,
            tried=tried,
            members={name: np.stack(members[name]) for name in sorted(members)},
        )
