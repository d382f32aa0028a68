"""Does the model say what the log says? Every activity under the observed strategy beside its share in the log.

Merging makes a model small and lets it forget: an activity of nine in ten good cases may look like one of five in ten.
*Fit* tells how far the model is off, activity by activity; *held-out likelihood* whether it explains cases that
it has not learned from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, log
from typing import Any

import numpy as np

from waypost.learn.alergia import States, states_of
from waypost.learn.observed import Observed, observed_activities
from waypost.learn.tree import prefix_tree
from waypost.model import MDP
from waypost.model.traces import ENVIRONMENT, POSITIVE, Trace, steps_of

RARE = 0.01  # activities of fewer cases than this share do not speak for or against a model
FAR = 0.05  # a gap that is warned of
HELD_OUT = 0.2  # share of the cases that a model is tried on


@dataclass(frozen=True)
class Fit:
    """A learned model beside its log."""

    worst: float  # largest gap of an activity that at least 1 % of the cases have
    activity: str | None  # where it is; None where no activity is that frequent
    gaps: Mapping[str, float]  # model minus log, among the good cases
    observed: Mapping[str, Observed]  # what the model says

    @property
    def far(self) -> bool:
        """Whether the model misses the log by more than five points somewhere."""
        return self.worst > FAR

    def sentence(self) -> str:
        """Worst gap in words, with what to do where it is large.

        >>> Fit(0.0, "ask", {}, {}).sentence()
        'the model says of every activity what the log says'
        """
        if self.worst < 0.0005:
            return "the model says of every activity what the log says"
        told = f"the model is at most {100 * self.worst:.1f} points off the log (at {self.activity!r})"
        return f"{told}; learn again with less merging (--eps auto, or --eps none)" if self.far else told

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {"worst": self.worst, "activity": self.activity, "gaps": dict(self.gaps)}


def fit(mdp: MDP, variants: Sequence[tuple[Trace, int]]) -> Fit:
    """Compare the model under the observed strategy with the traces it was learned from, event by event.

    Good cases are those that end ``positive``; where no case does, all of them.

    >>> from waypost.learn import learn_mdp
    >>> from waypost.logs import EVERY_EVENT_CHANCE, EventLog, io_traces
    >>> traces = io_traces(EventLog.from_sequences([["ask", "help"]] * 30 + [["ask"]] * 10), EVERY_EVENT_CHANCE)
    >>> found = fit(learn_mdp(traces, eps=0), [(traces[0], 30), (traces[-1], 10)])
    >>> found.worst, found.observed["help"].good_share
    (0.0, 0.75)
    """
    ends = {str(trace[-1][1]) for trace, _ in variants if len(trace) > 1}
    wanted = {POSITIVE} if POSITIVE in ends else ends
    names, good_share, share = _counted(variants, wanted)
    later = np.arange(mdp.n_states) != mdp.initial
    target = np.logical_or.reduce([mdp.labels[end] for end in sorted(wanted)])
    final = target | mdp.labels.get("negative", ~later & later)
    observed = observed_activities(mdp, target, {name: mdp.labels[name] & later & ~final for name in names})
    gaps = {name: (observed[name].good_share or 0.0) - good_share[name] for name in names}
    worst = max((n for n in names if share[n] >= RARE), key=lambda name: abs(gaps[name]), default=None)
    size = 0.0 if worst is None else abs(gaps[worst])
    return Fit(size if size > 1e-9 else 0.0, worst, gaps, observed)


def _counted(
    variants: Sequence[tuple[Trace, int]], wanted: set[str]
) -> tuple[list[str], dict[str, float], dict[str, float]]:
    """Events of traces, and the share of the good and of all cases that have each.

    Where somebody chooses, the steps of the environment say whose turn it is, which is no event.
    """
    turns = any(given != ENVIRONMENT for trace, _ in variants for given, _ in steps_of(trace))
    good: dict[str, int] = {}
    cases: dict[str, int] = {}
    n_good = n = 0
    for trace, count in variants:
        well = len(trace) > 1 and trace[-1][1] in wanted
        n, n_good = n + count, n_good + count * well
        for name in {output for given, output in steps_of(trace)[:-1] if not (turns and given == ENVIRONMENT)}:
            cases[name] = cases.get(name, 0) + count
            good[name] = good.get(name, 0) + count * well
    return list(cases), {k: v / n_good for k, v in good.items()}, {k: v / n for k, v in cases.items()}


def held_out_likelihood(variants: Sequence[tuple[Trace, int]], eps: float, *, seed: int = 1) -> tuple[float, float]:
    """Probability per step, as a geometric mean, of cases learned from and of cases held out.

    Each case is held out with probability one fifth, so of `n` alike as many as a binomial draw says. A step that the
    model does not know after some history is read as one from the state of that output which was seen most, with a
    small probability: backing off, as language models do.
    """
    counts = np.array([count for _, count in variants], np.int64)
    held = np.random.default_rng(seed).binomial(counts, HELD_OUT)
    if (held == counts).all() or not held.any():
        held[0] += 1 if not held.any() else -1
    learned, tried = (
        [(trace, n) for (trace, _), n in zip(variants, part.tolist(), strict=True) if n]
        for part in (counts - held, held)
    )
    walk = _Predictor(states_of(prefix_tree(learned), eps, spent=True))
    return walk.per_step(learned), walk.per_step(tried)


class _Predictor:
    """A learned model as a predictor of steps, with a way on where it has never been."""

    def __init__(self, states: States) -> None:
        owner = np.repeat(np.arange(len(states)), np.diff(states.first_step))
        self.totals = np.bincount(owner, weights=states.seen, minlength=len(states)).astype(int).tolist()
        self.by_output: dict[str, int] = {}
        for state, output in enumerate(states.outputs):
            if output not in self.by_output or self.totals[state] > self.totals[self.by_output[output]]:
                self.by_output[output] = state
        self.outputs = len(self.by_output)
        self.onward = cache(states.onward)

    def per_step(self, variants: Sequence[tuple[Trace, int]]) -> float:
        """Geometric mean of the probabilities of all steps."""
        total, steps = 0.0, 0
        for trace, count in variants:
            total += count * self._log_probability(trace)
            steps += count * (len(trace) - 1)
        return exp(total / steps) if steps else 1.0

    def _log_probability(self, trace: Trace) -> float:
        """Witten and Bell's estimate: of `n` steps seen here with `k` kinds, ``k / (n + k)`` is kept for new ones."""
        state, found = 0, 0.0
        for step in steps_of(trace):
            onward = self.onward(state)
            seen, kinds = self.totals[state], len(onward)
            if step in onward:
                state, count = onward[step]
                found += log(count / (seen + kinds))
            else:
                new = (kinds + 1) / (seen + kinds + 1)
                found += log(new / (self.outputs + 1))
                state = self.by_output.get(step[1], 0)
        return found
