"""A search through the segments and templates of runs, by how much they tell about success.

All pairs "A directly followed by B" and "A, later B" come at once from the matrix of expected visits; Declare templates
are decided on the visits to A and B alone; longer segments are grown from the best while they say more. What restates
a segment that tells more is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from waypost.model.arrays import Floats
from waypost.patterns.declare import PAIRED
from waypost.patterns.language import automaton_of
from waypost.patterns.matching import Activities, Gaps, Matching, in_a_row
from waypost.patterns.runs import Runs
from waypost.patterns.tree import Pattern, step

SearchProgress = Callable[[int, int], None]  # told how many segments were tried, and how many will be at most

LEAST_SUPPORT = 0.01  # of all runs; rarer segments, and those that nearly all runs have, are not looked at
LEAST_BITS = 1e-4  # that a segment tells about success; fewer are nothing to speak of
ROUNDING = 1e-14
ALWAYS = 1e-9  # a share so near to 1 is 1
MORE = 1.05  # a longer segment must tell so many times what its parts tell
SAME = 0.9  # two segments whose occurrences correlate more than this say the same
GENUINE = 0.5  # of the runs that fulfil a template, so many must do so because of what happens in them
BEAM = 12  # segments that are grown at a time
LONGEST = 5  # steps of a segment
SYMMETRIC = ("coexistence", "not_coexistence")
ORDERED = ("response", "alternate_response", "precedence", "alternate_precedence", "succession",
           "alternate_succession", "responded_existence", "not_succession")  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A pattern over names that are numbers: what it is, and how telling."""

    kind: str
    steps: Activities
    gaps: Gaps  # whether other steps may come between; of segments only
    match: tuple[float, float]  # probability of matching and success, of matching and failure
    information: float

    @classmethod
    def of(cls, kind: str, steps: Activities, gaps: Gaps, match: Floats, search: Search) -> Candidate:
        """Rounding leaves traces of what never happens; they are no matches."""
        clean = np.where(match < ROUNDING, 0.0, match)
        return cls(kind, steps, gaps, (float(clean[0]), float(clean[1])), search.information(clean))


class Search:
    """A search through segments and templates, best first."""

    def __init__(self, runs: Runs, effort: int, progress: SearchProgress | None) -> None:
        self.runs = runs
        self.effort = effort
        self.progress = progress
        self.told: Callable[[Candidate], None] | None = None
        self.tried = 0
        self.best: list[Candidate] = []
        self.contrasted = bool(runs.totals[1] > 1e-12)
        self.matching = Matching(runs)
        self.states = self.matching.states
        self.met = met = self._met()
        usable = [k for k, own in enumerate(self.states) if not runs.ends[own].all()]
        self.alone = {k: self.information(met[k]) for k in usable}
        frequent = [k for k in usable if met[k].sum() >= LEAST_SUPPORT]
        open_ended = [k for k in frequent if not self.contrasted or met[k].min() > ROUNDING]
        # a step after which the outcome is certain is the outcome under another name, unless there is nothing else
        self.usable = open_ended if len(open_ended) > 1 else frequent

    def run(self, top: int) -> list[Candidate]:
        """The most telling candidates, none restating another."""
        pairs = [*self._direct(), *self._eventual()]
        candidates = [c for c in pairs if not any(self._correlated(c, k) for k in c.steps)]
        for candidate in sorted(candidates, key=_telling)[:top]:
            self._offer(candidate)
        candidates += self._grown(sorted(pairs, key=_telling)[:BEAM])
        candidates += self._templates(pairs)
        return self._different(sorted(candidates, key=_telling), top)

    def information(self, match: Floats) -> float:
        """Bits that matching tells about success; the share of all runs where all succeed."""
        if not self.contrasted:
            return float(match[0])
        return mutual_information(match, self.runs.totals)

    @cached_property
    def _first(self) -> Floats:
        """(K, n) probability that the first visit to an activity is in each state."""
        found = np.zeros((len(self.states), self.runs.n_steps))
        for k, own in enumerate(self.states):
            found[k, own] = self.runs.watched(own).start
        return found

    def _met(self) -> Floats:
        """(K, 2) probability of meeting each activity, with success and with failure."""
        return np.asarray(self._first @ self.runs.values)

    def _kept(self, kind: str, gap: bool, table: Floats) -> Iterator[Candidate]:
        """Pairs that are frequent enough; `table` is (K, K, 2)."""
        self._count(len(self.usable) ** 2)
        for a in self.usable:
            for b in self.usable:
                match = table[a, b]
                if LEAST_SUPPORT <= match.sum() <= 1 - LEAST_SUPPORT or (not self.contrasted and match[0] > ROUNDING):
                    yield Candidate.of(kind, (a, b), (gap,), match, self)

    def _eventual(self) -> Iterator[Candidate]:
        """All pairs "A, later B" at once.

        Later B: success and failure apart, ``h(x, b) = first visit to b from x``, times what follows from there.
        """
        runs = self.runs
        later = np.zeros((runs.n_steps, len(self.states), 2))
        for b in self.usable:
            own = self.states[b]
            inverse = np.linalg.inv(runs.visits[np.ix_(own, own)])
            hit = runs.visits[:, own] @ inverse @ runs.values[own]  # standing in b counts
            later[:, b] = runs.steps @ hit  # one step on, then b
        table = np.einsum("an,nbk->abk", self._first, later)
        return self._kept("eventually follows", True, table)

    def _direct(self) -> Iterator[Candidate]:
        """All pairs "A directly followed by B" at once.

        Leaving out the arrows ``E`` from A to B is a change of low rank: the first time such an arrow is taken starts
        in ``start N_A (I + E N_A)^-1``, a row over A.
        """
        runs = self.runs
        steps = runs.steps.toarray()
        table = np.zeros((len(self.states), len(self.states), 2))
        group = np.zeros((runs.n_steps, len(self.states)))
        group[np.arange(runs.n_steps), runs.activity] = 1.0
        for a in self.usable:
            own = self.states[a]
            before = runs.start @ runs.visits[:, own]  # (m,)
            arrows = steps[own]  # (m, n)
            onward = np.einsum("my,yb,yx->bmx", arrows, group, runs.visits[:, own], optimize=True)
            after = np.einsum("my,yb,yk->bmk", arrows, group, runs.values, optimize=True)
            rank = np.eye(len(own)) + onward
            flow = np.linalg.solve(np.swapaxes(rank, 1, 2), np.broadcast_to(before[:, None], (len(rank), len(own), 1)))
            table[a] = np.einsum("bm,bmk->bk", flow[:, :, 0], after)
        return self._kept("directly follows", False, table)

    def _templates(self, pairs: list[Candidate]) -> Iterator[Candidate]:
        """Declare templates over pairs of activities that tell more than what plainly follows what."""
        plain = dict.fromkeys(((a, b) for a in self.usable for b in self.usable), 0.0)
        for pair in pairs:
            for steps in (pair.steps, pair.steps[::-1]):
                plain[steps[0], steps[1]] = max(plain[steps[0], steps[1]], pair.information)
        asked = [(steps, kind) for steps in plain if steps[0] != steps[1] for kind in _kinds(*steps)]
        asked = asked[: _whole(asked, self.effort - self.tried)]
        for (steps, kind), match in zip(asked, self.matching.templates(asked), strict=True):
            self._count(1)
            if LEAST_SUPPORT <= match.sum() <= 1 - LEAST_SUPPORT:
                found = Candidate.of(kind, steps, (), match, self)
                telling = self._says_more(found) and found.information > MORE * plain[steps]
                if telling and self.matching.genuine(steps, kind).sum() >= GENUINE * match.sum():
                    yield found

    def _grown(self, beam: list[Candidate]) -> Iterator[Candidate]:
        """Longer segments, while they say more than what they were grown from."""
        seen: set[tuple[Activities, Gaps]] = set()
        while beam and self.tried < self.effort:
            parents: dict[tuple[Activities, Gaps], Candidate] = {}
            for parent in beam:
                for extension in self._extensions(parent):
                    if extension not in seen:
                        parents.setdefault(extension, parent)
            asked = list(parents)[: self.effort - self.tried]
            seen.update(asked)
            longer = []
            for (steps, gaps), match in zip(asked, self.matching.segments(asked), strict=True):
                self._count(1)
                found = Candidate.of("segment", steps, gaps, match, self)
                if match.sum() >= LEAST_SUPPORT and found.information > MORE * parents[steps, gaps].information:
                    longer.append(found)
                    self._offer(found)
                    yield found
            beam = sorted(longer, key=_telling)[:BEAM]

    def _extensions(self, parent: Candidate) -> Iterator[tuple[Activities, Gaps]]:
        if len(parent.steps) >= LONGEST:
            return
        for k in self.usable:
            for gap in (False, True):
                yield (*parent.steps, k), (*parent.gaps, gap)
                yield (k, *parent.steps), (gap, *parent.gaps)

    def _says_more(self, candidate: Candidate) -> bool:
        """Whether it tells more than each of its steps alone."""
        return candidate.information > MORE * max(self.alone[k] for k in candidate.steps)

    def _correlated(self, segment: Candidate, k: int) -> bool:
        """Whether a segment restates that one of its steps happens; the runs that have it are among those that do."""
        p, q = sum(segment.match), float(self.met[k].sum())
        if q > 1 - ALWAYS:  # what happens in every run is restated by what does
            return p > 1 - ALWAYS
        return p * (1 - q) >= SAME * float(np.sqrt(max(0.0, p * (1 - p) * q * (1 - q))))

    def _different(self, candidates: list[Candidate], top: int) -> list[Candidate]:
        """The first of them that do not restate one another."""
        chosen: list[Candidate] = []
        for candidate in candidates:
            if len(chosen) == top:
                break
            if candidate.information > LEAST_BITS and not any(self._restates(candidate, other) for other in chosen):
                chosen.append(candidate)
        return chosen

    def _restates(self, one: Candidate, other: Candidate) -> bool:
        p, q = sum(one.match), sum(other.match)
        spread = float(np.sqrt(p * (1 - p) * q * (1 - q)))
        if spread <= 1e-12:
            return p == q
        # the greatest and least probability of both, given each alone, say what the correlation can be at most
        if min(p, q) - p * q < SAME * spread and p * q - max(0.0, p + q - 1) < SAME * spread:
            return False
        order = list(dict.fromkeys((*one.steps, *other.steps)))
        letter = np.full(len(self.states), len(order))
        letter[order] = np.arange(len(order))
        names = {self.runs.names[k]: frozenset([i]) for i, k in enumerate(order)}
        pattern = self.pattern(one) & self.pattern(other)
        automaton = automaton_of(pattern, lambda test: names[str(test.name)], len(order) + 1)
        both = float(self.runs.shares(automaton, letter).sum())
        return abs(both - p * q) >= SAME * spread

    def pattern(self, candidate: Candidate) -> Pattern:
        """Pattern of a candidate, with the names of the model."""
        parts = [step(self.runs.names[k]) for k in candidate.steps]
        return PAIRED[candidate.kind](*parts) if candidate.kind in PAIRED else in_a_row(parts, candidate.gaps)

    def _offer(self, candidate: Candidate) -> None:
        if self.told is not None:
            self.told(candidate)

    def _count(self, more: int) -> None:
        self.tried += more
        if self.progress is not None:
            self.progress(min(self.tried, self.effort), self.effort)


def mutual_information(match: Floats, totals: Floats) -> float:
    """Bits that matching tells about success, from the probabilities of matching with success and with failure.

    >>> mutual_information(np.array([0.5, 0.0]), np.array([0.5, 0.5]))
    1.0
    """
    table = np.clip(np.array([match, totals - match]), 0.0, None)
    whole = table.sum(axis=1, keepdims=True) * totals
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(table > 0, table * np.log2(table / whole), 0.0)
    return float(max(0.0, terms.sum()))


def _telling(candidate: Candidate) -> tuple[float, int, str, tuple[int, ...]]:
    """Order: the most telling first, of equals the shortest and simplest."""
    kind = {"directly follows": "", "eventually follows": " ", "segment": "  "}.get(candidate.kind, candidate.kind)
    return (-round(candidate.information, 9), len(candidate.steps), kind, candidate.steps)


def _kinds(a: int, b: int) -> tuple[str, ...]:
    """Templates to be tried of two activities: what is the same both ways round once."""
    return (*ORDERED, *SYMMETRIC) if a < b else ORDERED


def _whole(asked: Sequence[tuple[Activities, str]], most: int) -> int:
    """How many templates to try: at most so many, but all of the last pair that is begun."""
    end = max(0, most)
    while 0 < end < len(asked) and asked[end][0] == asked[end - 1][0]:
        end += 1
    return min(end, len(asked))
