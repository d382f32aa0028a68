"""The usual ways to the target: the most probable runs of a strategy, loops folded.

Under one strategy the most probable runs are the shortest walks with lengths ``-log p``; they are found best first,
with the probability of the best way on from each state as the guide (A*). Runs that differ only in how often a part is
repeated, or in states that go by the same name, are one way. Its share is exact: that of the pattern it is.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from waypost.arguments import Positive, checked
from waypost.errors import PathError, UndefinedImportanceError
from waypost.importance import PathImportance, path_importance
from waypost.importance.answer import report
from waypost.importance.deciding import best_strategy
from waypost.importance.question import Scope
from waypost.model import MDP, Strategy, Target, describe_target, stopped_chain, unfolded_chain, unfolded_start
from waypost.model.arrays import Ints
from waypost.patterns.language import automaton_of
from waypost.patterns.letters import By, activities, silent_states
from waypost.patterns.ranked import Ranked
from waypost.patterns.runs import Runs
from waypost.patterns.tree import Pattern, Step, step

MOST_RUNS = 20_000  # looked at
MOST_STEPS = 500_000  # of all these runs together
FAINT = 1e-6  # a run that is so much rarer than the likeliest one is not looked at
RESOLUTION = 0.01  # a run that is rarer than this share of the last way shown hardly changes the order any more


def steps_in_words(steps: Sequence[str]) -> str:
    """One step after the other; an arrow stands between names that have commas of their own.

    >>> steps_in_words(["ask", "pay"]), steps_in_words(["x=0, y=0", "x=1, y=0"])
    ('ask, pay', 'x=0, y=0 → x=1, y=0')
    """
    return (" → " if any(", " in step for step in steps) else ", ").join(steps)


@dataclass(frozen=True)
class Part:
    """Some steps in a row, repeated from `least` to `most` times."""

    steps: tuple[str, ...]
    least: int
    most: int

    def __str__(self) -> str:
        steps = (
            steps_in_words(self.steps) if len(self.steps) == 1 or self.most == 1 else f"[{steps_in_words(self.steps)}]"
        )
        if self.most == 1:
            return steps
        often = f"{self.most} times" if self.least == self.most else f"{self.least} to {self.most} times"
        return f"{steps} ({often})"

    @property
    def pattern(self) -> Pattern:
        """These steps, so often."""
        once = step(self.steps[0])
        for name in self.steps[1:]:
            once = once + step(name)
        return once if self.most == 1 else once.times(self.least, self.most)


@dataclass(frozen=True)
class Way:
    """A way to the target: its parts, its share of the successful runs, and the most probable run that takes it."""

    parts: tuple[Part, ...]
    share: float
    run: tuple[str, ...]  # state, action, state, ..., target state
    likely: float  # probability of that run
    mdp: MDP = field(repr=False, compare=False)
    target: Target = field(repr=False, compare=False)

    def __str__(self) -> str:
        return steps_in_words([str(part) for part in self.parts])

    @property
    def pattern(self) -> Pattern:
        """The way as a pattern that matches exactly its runs."""
        found = self.parts[0].pattern
        for part in self.parts[1:]:
            found = found + part.pattern
        return found

    @property
    def simple(self) -> bool:
        """Whether the run visits no state twice, so that it is a path of the paper."""
        return len(set(self.run[::2])) == len(self.run[::2])

    def importance(self, scope: Scope, *, exact: bool = False) -> PathImportance:
        """Importance of the run, as a path up to the state before the target (P3, P4)."""
        if not self.simple or len(self.run) < 3:
            raise PathError(f"the run {' '.join(self.run)!r} is no simple path, so it has no importance as one")
        return path_importance(self.mdp, path=self.run[:-2], target=self.target, scope=scope, exact=exact)


@dataclass(frozen=True, eq=False, repr=False)
class UsualWays(Ranked[Way]):
    """The most usual ways, the most usual first: a sequence of `Way`."""

    mdp: MDP

    def row(self, one: Way) -> dict[str, Any]:
        """One way by the names of its columns."""
        return {"way": str(one), "share": one.share, "likely": one.likely}

    def summary(self, top: int = 5) -> str:
        """The `top` most usual ways in words, one line each."""
        return str(report("ways_summary")(self, top))


@checked
def usual_ways(
    mdp: MDP, *, target: Target, strategy: Strategy | None = None, top: Positive = 10, by: By = "state"
) -> UsualWays:
    """The `top` most usual ways to `target` under a strategy, or under a best one.

    Parameters
    ----------
    mdp, target
        As in `state_importance`.
    strategy
        Whose runs are looked at; a best one by default.
    top
        How many ways to give.
    by
        As in `pattern_importance`.

    Returns
    -------
    UsualWays
        A sequence of `Way`, the most usual first.

    Raises
    ------
    UndefinedImportanceError
        If no run of the strategy reaches the target.
    StrategyError
        If the strategy belongs to another model.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> for way in usual_ways(loan(), target="Granted", top=3):
    ...     print(f"{way.share:.4f}  {way}")
    0.4362  s0, Application, Application+, Granted
    0.4362  s0, Application, Consultation, Application+, Granted
    0.0459  s0, Error, Consultation, Application+, Granted
    """
    names = target if isinstance(target, str) else list(target)
    played = strategy.of(mdp) if strategy is not None else best_strategy(mdp, target=names)
    wanted = mdp.where(names)
    runs = Runs.of(mdp, played, wanted, by)
    called, silent = activities(mdp, by), silent_states(mdp, by)
    reached = float(runs.totals[0])
    merged: dict[tuple[tuple[str, ...], ...], list[_Taken]] = {}
    mass: dict[tuple[tuple[str, ...], ...], float] = {}
    steps, likeliest = 0, 0.0
    for looked, (likely, walk) in enumerate(walks(played, wanted), 1):
        steps, likeliest = steps + len(walk), max(likeliest, likely)
        word = [called[s] for s in (walk % mdp.n_states).tolist() if not silent[s]]
        blocks = folded(word)
        key = tuple(block for block, _ in blocks)
        merged.setdefault(key, []).append(_Taken(tuple(count for _, count in blocks), likely, walk))
        mass[key] = mass.get(key, 0.0) + likely
        enough = looked % 16 == 0 and len(mass) >= top and likely < RESOLUTION * sorted(mass.values())[-top]
        if enough or looked >= MOST_RUNS or steps >= MOST_STEPS or likely < FAINT * likeliest:
            break
    chosen = sorted(mass, key=lambda key: -mass[key])[:top]
    ways = [_way(mdp, played, runs, key, merged[key], names) for key in chosen]
    return UsualWays(describe_target(names), reached, tuple(sorted(ways, key=lambda way: -way.share)), mdp)


@dataclass(frozen=True, eq=False)
class _Taken:
    """One run of a way."""

    counts: tuple[int, ...]
    likely: float
    walk: Ints  # as `walks` has it


def walks(strategy: Strategy, target: NDArray[np.bool_]) -> Iterator[tuple[float, Ints]]:
    """Runs to the target in the `unfolded_chain`, the most probable first, for ever if there are loops."""
    chain = unfolded_chain(strategy)
    wins = np.tile(target, strategy.memory)
    moving = stopped_chain(chain, wins)
    lengths = moving.copy()
    lengths.data = np.maximum(-np.log(moving.data), 0.0)  # rounding makes no arrow shorter than nothing
    ends = np.flatnonzero(wins)
    ahead = dijkstra(csr_array(lengths.T), directed=True, indices=ends, min_only=True)
    start = unfolded_start(strategy)
    first = [s for s in np.flatnonzero(start).tolist() if np.isfinite(ahead[s])]
    if not first:
        raise UndefinedImportanceError("this strategy never reaches the target, so there is no way to show")
    trail: list[tuple[int, int]] = [(s, -1) for s in first]  # state, and where it was come from
    begun = [-float(np.log(start[s])) for s in first]
    queue = [(float(ahead[s]) + length, at, length) for at, (s, length) in enumerate(zip(first, begun, strict=True))]
    heapq.heapify(queue)
    while queue:
        _, at, length = heapq.heappop(queue)
        here = trail[at][0]
        if wins[here]:
            walk = []
            while at >= 0:
                state, at = trail[at]
                walk.append(state)
            yield float(np.exp(-length)), np.array(walk[::-1])
            continue
        for e in range(moving.indptr[here], moving.indptr[here + 1]):
            onward = int(moving.indices[e])
            if np.isfinite(ahead[onward]):
                further = length + float(lengths.data[e])
                trail.append((onward, at))
                heapq.heappush(queue, (further + float(ahead[onward]), len(trail) - 1, further))


def folded(word: list[str]) -> list[tuple[tuple[str, ...], int]]:
    """Blocks of a word, each with how often it is repeated; the shortest block that is repeated goes first.

    >>> folded(["a", "b", "b", "c", "d", "c", "d", "e"])
    [(('a',), 1), (('b',), 2), (('c', 'd'), 2), (('e',), 1)]
    """
    found, i = [], 0
    while i < len(word):
        size, count = 1, 1
        for length in range(1, (len(word) - i) // 2 + 1):
            block = word[i : i + length]
            times = 1
            while word[i + times * length : i + (times + 1) * length] == block:
                times += 1
            if times > 1:
                size, count = length, times
                break
        found.append((tuple(word[i : i + size]), count))
        i += size * count
    return found


def _way(
    mdp: MDP, strategy: Strategy, runs: Runs, key: tuple[tuple[str, ...], ...], taken: list[_Taken], target: Target
) -> Way:
    counts = np.array([one.counts for one in taken])
    parts = tuple(
        Part(block, int(low), int(high))
        for block, low, high in zip(key, counts.min(axis=0), counts.max(axis=0), strict=True)
    )
    likely = max(taken, key=lambda one: one.likely)
    way = Way(parts, 0.0, _spelled(mdp, strategy, likely.walk), likely.likely, mdp, target)
    number = {name: k for k, name in enumerate(dict.fromkeys(name for block in key for name in block))}
    letter = np.array([number.get(name, len(number)) for name in runs.names])

    def letters_of(test: Step) -> frozenset[int]:
        return frozenset([number[str(test.name)]])

    automaton = automaton_of(way.pattern, letters_of, len(number) + 1)
    share = float(runs.shares(automaton, letter)[0] / runs.totals[0])
    return Way(parts, min(1.0, share), way.run, way.likely, mdp, target)


def _spelled(mdp: MDP, strategy: Strategy, walk: Ints) -> tuple[str, ...]:
    """Run with its actions: where several lead on, the one most often taken."""
    states, modes = walk % mdp.n_states, walk // mdp.n_states
    names = [mdp.states[states[0]]]
    for s, y, mode in zip(states[:-1].tolist(), states[1:].tolist(), modes.tolist(), strict=False):
        own = np.array(mdp.choices(s))
        onward = strategy.modes[mode][own] * mdp.transitions[own][:, [y]].toarray().reshape(-1)
        names += [mdp.actions[own[int(np.argmax(onward))]], mdp.states[y]]
    return tuple(names)
