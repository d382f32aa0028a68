"""What good cases have that bad ones lack, found by counting: steps, repetitions, orders of steps, and what is missing.

A pattern is told of where it is *productive* (Webb, Discovering Significant Patterns, Machine Learning 68, 2007): among
the cases that came as far as it can happen, those with it end otherwise than those without, and so they do among the
cases that have any simpler pattern it is a special case of. "A, later B" says nothing where B says it all, or where the
two come together in either order. All that must be more than chance would do somewhere among all patterns that could be
tried; single steps, pairs and longer segments each get a third of the error that is allowed (layered critical values,
Webb, Machine Learning 71, 2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np

from waypost.logs import Contrasts, Log
from waypost.logs.contrast import HALF, certain_difference
from waypost.logs.tally import open_until
from waypost.model.arrays import Floats, Mask
from waypost.story.occurrences import PAIRS, Occurrences, counted
from waypost.uncertainty.chance import ALLOWED, Fourfold, beyond, by_chance, errors_at, limit, standard_errors

KINDS = ("passes", "repeated", *PAIRS, "segment")  # the simplest first

LEAST = 0.01  # of the cases must have a pattern, and as many must lack it
POINTS = 0.05  # a difference that is surely smaller than this is nothing to act on
REPEATED = (2, 3)  # at least so often
LENIENT = 0.8  # of the standard errors needed are enough to be looked at exactly
LOOKED_AT = 3_000  # pairs that are looked at exactly
CELLS = 20_000_000  # variants times activities; of a log of more variants, fewer activities are looked at
BEAM = 12  # pairs that longer segments are grown from
SAME = 0.9  # two patterns whose cases correlate more than this say the same
CLOSEST = 5  # of what may be chance are shown where nothing is certain


@dataclass(frozen=True)
class Hypothesis:
    """A pattern over activities that are numbers."""

    kind: str  # one of KINDS
    steps: tuple[int, ...]
    times: int = 1  # of a repetition
    direct: bool = (
        False  # of a segment: whether its first two steps, or its last two, come directly one after the other
    )
    before: bool = False  # of a segment: whether its first step was added to the other two, rather than its last

    @property
    def directly(self) -> tuple[bool, ...]:
        """Whether each step after the first comes directly after the one before it."""
        if self.kind != "segment":
            return (self.kind == "direct",) * (len(self.steps) - 1)
        return (False, self.direct) if self.before else (self.direct, False)


@dataclass(frozen=True, eq=False)
class Judgement:
    """A hypothesis, the variants in which it holds, and how it fares among the cases that came as far."""

    hypothesis: Hypothesis
    has: Mask  # (V,)
    stage: int | None  # the activity that a case must have passed; None where the pattern may come at any time
    table: Fourfold  # of the cases that did
    certain: float  # difference of the two shares that few cases cannot have made
    parents: tuple[Floats, ...]  # good and bad cases of each simpler pattern
    sure: bool = False  # whether it is more than chance, and productive

    @property
    def helps(self) -> bool:
        """Whether the cases with it end well more often."""
        return bool(standard_errors(self.table) > 0)


class LogSearch:
    """A search through the patterns of a log."""

    def __init__(self, log: Log, contrasts: Contrasts, effort: int) -> None:
        self.seen = seen = log.seen
        good = seen.good
        self.weight = np.column_stack([np.where(good, seen.count, 0), np.where(good, 0, seen.count)]).astype(float)
        self.totals = self.weight.sum(axis=0)
        ranked = sorted(contrasts.ranked, key=lambda c: (-c.cases, c.name))
        often = [c for c in ranked if c.cases >= LEAST * self.totals.sum()]
        most = min(_most_activities(effort), max(2, CELLS // len(seen)))
        self.names = [c.name for c in often[:most]]
        self.left_out = len(often) - len(self.names)
        self.found = Occurrences.of(seen, self.names)
        until = open_until(log)
        self.known = None if until is None else Occurrences.of(seen, self.names, until)
        self.single = counted(self.found.present, self.weight)
        k = len(self.names)
        self.layers = {1: (1 + len(REPEATED)) * k, 2: len(PAIRS) * k * k, 3: 4 * k**3}
        self.tried = _tried(k)
        self.effort = max(0, effort - self.tried)
        number = {name: i for i, name in enumerate(self.names)}
        every = self.single[:, 0] == self.totals[0]
        self.passed = {i for i in range(k) if every[i] and self.single[i].sum() < self.totals.sum()}
        stages = {number[c.name]: number.get(c.stage.name) for c in often[:most] if c.stage is not None}
        self.stages = {i: stage for i, stage in stages.items() if stage is not None}

    def run(self, top: int) -> list[Judgement]:
        """The most telling patterns; where none is more than chance, the few that come closest."""
        if not self.names:
            return []
        judged = [self.judged(h) for h in (*self._singles(), *self._pairs())]
        judged += self._grown([j for j in sorted(judged, key=_rank) if j.hypothesis.kind in ("later", "direct")])
        judged.sort(key=_rank)
        sure = self._different(judged, top)
        return sure or [j for j in judged if j.certain > 0][: min(top, CLOSEST)]

    def _singles(self) -> Iterator[Hypothesis]:
        for k in range(len(self.names)):
            yield Hypothesis("passes", (k,))
            yield from (Hypothesis("repeated", (k,), times) for times in REPEATED)

    @cached_property
    def _tables(self) -> Mapping[str, Floats]:
        """(K, K, 2) good and bad cases of every order of two activities."""
        many = range(len(self.names))
        return {kind: np.array([counted(self.found.pairs(a, kind), self.weight) for a in many]) for kind in PAIRS}

    def _parents(self, kind: str) -> list[Floats]:
        """(K, K, 2) good and bad cases of the simpler patterns of an order of two activities."""
        shape = self._tables["both"].shape
        own = np.broadcast_to(self.single[:, None], shape)
        other = np.broadcast_to(self.single[None, :], shape)
        known = {**self._tables, "a": own, "b": other, "lacks b": self.totals - other}
        return [known[parent] for parent in PAIRS[kind]]

    def _pairs(self) -> list[Hypothesis]:
        """Orders of two activities that may be productive, by what their counts say."""
        cases, found = self.totals.sum(), []
        every = np.flatnonzero(self.single[:, 0] == self.totals[0])
        needed = LENIENT * errors_at(self._limit(2))
        for kind in PAIRS:
            table = self._tables[kind]
            share = table / self.totals
            difference = np.abs(share[..., 0] - share[..., 1])
            often = table.sum(axis=-1)
            kept = (often >= LEAST * cases) & (often <= (1 - LEAST) * cases)
            np.fill_diagonal(kept, val=False)
            errors = np.array([standard_errors(_within(table, parent)) for parent in self._parents(kind)])
            kept &= (np.abs(errors) >= needed).all(axis=0) & (np.abs(errors.sum(axis=0)) == np.abs(errors).sum(axis=0))
            if kind == "both":
                kept = np.triu(kept)
            if kind == "without":  # that cases lack what all good ones have, or that those who came so far lack it, is
                kept[:, every] = kept[every] = False  # told by one of the steps alone
            found += [(float(difference[a, b]), Hypothesis(kind, (int(a), int(b)))) for a, b in np.argwhere(kept)]
        found.sort(key=lambda pair: -pair[0])
        return [hypothesis for _, hypothesis in found[:LOOKED_AT]]

    def _grown(self, beam: list[Judgement]) -> Iterator[Judgement]:
        """Segments of three steps, from pairs that are productive: another step before them, or after."""
        grown = 0
        for parent in beam:
            if grown == BEAM:
                return
            if not self._certain(parent):
                continue
            grown += 1
            for k in range(len(self.names)):
                for before in (False, True):
                    if self.effort <= 0:
                        return
                    self.effort, self.tried = self.effort - 1, self.tried + 1
                    steps = (k, *parent.hypothesis.steps) if before else (*parent.hypothesis.steps, k)
                    direct = parent.hypothesis.kind == "direct"
                    yield self.judged(Hypothesis("segment", steps, direct=direct, before=before))

    def judged(self, hypothesis: Hypothesis) -> Judgement:
        """How a hypothesis fares among the cases that came as far."""
        has = holds(hypothesis, self.found)
        stage = self._stage(hypothesis)
        table = self._table(has, self._came(stage, self.found))
        return Judgement(hypothesis, has, stage, table, _certain_difference(table), self._simpler(hypothesis))

    def _simpler(self, hypothesis: Hypothesis) -> tuple[Floats, ...]:
        """Good and bad cases of every simpler pattern that a hypothesis is a special case of."""
        steps, kind = hypothesis.steps, hypothesis.kind
        if kind == "passes":
            return ()
        if kind == "repeated":
            return tuple(
                counted(self.found.times[:, steps[0]] >= times, self.weight) for times in range(1, hypothesis.times)
            )
        if kind != "segment":
            return tuple(parent[steps] for parent in self._parents(kind))
        a, b, c = steps
        parents = [self._tables["later"][pair] for pair in ((a, b), (a, c), (b, c)) if pair[0] != pair[1]]
        parents += [self.single[k] for k in steps]
        parents.append(counted(np.asarray(self.found.present[:, list(steps)].all(axis=1)), self.weight))
        if hypothesis.direct:
            parents.append(self._tables["direct"][(b, c) if hypothesis.before else (a, b)])
            loose = Hypothesis("segment", steps, before=hypothesis.before)
            parents.append(counted(holds(loose, self.found), self.weight))
        return tuple(parents)

    def _stage(self, hypothesis: Hypothesis) -> int | None:
        """Last of the stages by which a case must have come to have the pattern."""
        steps = hypothesis.steps
        own = {steps[0]} if hypothesis.kind == "without" else set() if hypothesis.kind == "passes" else set(steps)
        stages = [self.stages[k] for k in steps if k in self.stages] + [k for k in own if k in self.passed]
        return min(stages, key=lambda k: (self.single[k].sum(), k), default=None)

    def _table(self, has: Mask, came: Mask) -> Fourfold:
        return Fourfold(*counted(has & came, self.weight), *counted(~has & came, self.weight))

    def _came(self, stage: int | None, where: Occurrences) -> Mask:
        """(V,) the variants that came as far as a stage."""
        return np.ones(len(self.seen), bool) if stage is None else where.present[:, stage]

    def _limit(self, steps: int) -> float:
        return limit(self.layers[steps], ALLOWED / len(self.layers))

    def _certain(self, judged: Judgement) -> bool:
        """Whether a pattern is more than chance, and productive, also before the outcome is decided."""
        hypothesis, good = judged.hypothesis, judged.helps
        if (
            judged.certain < POINTS
            or not LEAST <= judged.has @ self.weight.sum(axis=1) / self.totals.sum() <= 1 - LEAST
        ):
            return False
        allowed = self._limit(len(hypothesis.steps))
        own = counted(judged.has, self.weight)
        tables = [judged.table, *(_within(own, parent) for parent in judged.parents)]
        if any(bool(standard_errors(table) > 0) != good or by_chance(table) > allowed for table in tables):
            return False
        if self.known is None:
            return True
        table = self._table(holds(hypothesis, self.known), self._came(judged.stage, self.known))
        if _certain_difference(table) < HALF * judged.certain:
            return False
        return bool(standard_errors(table) > 0) == good and by_chance(table) <= allowed

    def _different(self, judged: list[Judgement], top: int) -> list[Judgement]:
        """The first that are more than chance, none of which another one before it says or explains."""
        chosen: list[Judgement] = []
        for one in judged:
            if len(chosen) == top or one.certain < POINTS:
                break
            if not any(self._restates(one, other) for other in chosen) and self._certain(one):
                chosen.append(Judgement(**{**vars(one), "sure": True}))
        return chosen

    def _restates(self, one: Judgement, other: Judgement) -> bool:
        """Whether a pattern is about the same steps as another, holds in the same cases, or is explained by it.

        It is explained where they share a step, and within the cases with the other, and within those without, it tells
        no more than chance.
        """
        shared = set(one.hypothesis.steps) & set(other.hypothesis.steps)
        if set(one.hypothesis.steps) == set(other.hypothesis.steps):
            return True
        cases = self.weight.sum(axis=1) * self._came(one.stage, self.found)
        p, q, both = (float(cases[mask].sum() / cases.sum()) for mask in (one.has, other.has, one.has & other.has))
        spread = float(np.sqrt(p * (1 - p) * q * (1 - q)))
        if spread > 0 and abs(both - p * q) >= SAME * spread:
            return True
        if not shared or spread == 0:
            return False
        parts = []
        for part in (other.has, ~other.has):
            weight = self.weight[part]
            parts.append(Fourfold(*counted(one.has[part], weight), *counted(~one.has[part], weight)))
        errors = beyond(parts[0], parts[1])
        return (errors > 0) != one.helps or abs(errors) < errors_at(self._limit(len(one.hypothesis.steps)))


def _certain_difference(table: Fourfold) -> float:
    good, bad = table.good_with + table.good_without, table.bad_with + table.bad_without
    return certain_difference(*(int(n) for n in (table.good_with, good, table.bad_with, bad)))


def holds(hypothesis: Hypothesis, where: Occurrences) -> Mask:
    """(V,) the variants in which a hypothesis holds."""
    steps, first, last = hypothesis.steps, where.first, where.last
    if hypothesis.kind in ("passes", "repeated"):
        return np.asarray(where.times[:, steps[0]] >= hypothesis.times)
    if hypothesis.kind != "segment":
        return where.pairs(steps[0], hypothesis.kind, steps[1])
    if hypothesis.before:
        return np.asarray(first[:, steps[0]] < where.matches(*steps[1:], direct=hypothesis.direct)[1])
    return np.asarray(where.matches(*steps[:2], direct=hypothesis.direct)[0] < last[:, steps[2]])


def _most_activities(effort: int) -> int:
    """How many activities all patterns of one and of two can be tried of, at least one.

    >>> [_most_activities(effort) for effort in (1, 30, 31, 20_000)]
    [1, 2, 2, 57]
    """
    found = isqrt(effort // len(PAIRS))
    return max(1, found if _tried(found) <= effort else found - 1)


def _tried(activities: int) -> int:
    """Patterns of one activity and of two."""
    return (1 + len(REPEATED)) * activities + len(PAIRS) * activities**2


def _within(own: Floats, parent: Floats) -> Fourfold:
    """Cases with a pattern among those with a simpler one, which are more."""
    rest = parent - own
    return Fourfold(own[..., 0], own[..., 1], rest[..., 0], rest[..., 1])


def _rank(judged: Judgement) -> tuple[float, int, int, int, tuple[int, ...]]:
    """Order: what surely differs most first; of equals the shortest, the rarest, which says more, and the simplest."""
    hypothesis = judged.hypothesis
    having = round(float(judged.table.good_with + judged.table.bad_with))
    return (-round(judged.certain, 9), len(hypothesis.steps), having, KINDS.index(hypothesis.kind), hypothesis.steps)
