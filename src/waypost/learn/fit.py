"""Does the model say what the log says? Every activity under the observed strategy beside its share in the log.

Merging makes a model small and lets it forget: an activity of nine in ten good cases may look like one of five in ten.
*Fit* tells how far the model is off, activity by activity; *held-out likelihood* whether it explains cases that
it has not learned from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np

from waypost.learn.alergia import states_of
from waypost.learn.observed import Observed, activity_states, observed_activities
from waypost.learn.tree import Node, prefix_tree, weighted
from waypost.logs.contrast import Contrasts
from waypost.logs.log import POSITIVE, EventLog
from waypost.logs.traces import Naming, Trace
from waypost.model import MDP

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


def fit(mdp: MDP, clean: EventLog, counted: Contrasts, *, naming: Naming = "plain") -> Fit:
    """Compare the model under the observed strategy with the log it was learned from.

    >>> from waypost.learn import learn_mdp
    >>> from waypost.logs.contrast import contrast
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> cases = [["ask", "help", "pay"]] * 30 + [["ask", "pay"]] * 10 + [["ask", "go"]] * 60
    >>> clean = set_outcome(EventLog.from_sequences(cases), positive="pay")
    >>> found = fit(learn_mdp(clean, eps=0), clean, contrast(clean))
    >>> found.worst, found.observed["help"].good_share
    (0.0, 0.75)
    """
    groups = activity_states(mdp, clean, naming=naming)
    return fit_of(mdp, groups, counted)


def fit_of(mdp: MDP, groups: Mapping[str, Any], counted: Contrasts) -> Fit:
    """Compare activities, given as sets of states, with what was counted."""
    if POSITIVE not in mdp.labels:
        raise ValueError("a model without the outcome 'positive' cannot be compared with good cases")
    observed = observed_activities(mdp, mdp.labels[POSITIVE], groups)
    gaps = {c.name: (observed[c.name].good_share or 0.0) - c.good_share for c in counted.activities}
    often = [c.name for c in counted.activities if c.cases >= RARE * (counted.good + counted.bad)]
    worst = max(often, key=lambda name: abs(gaps[name]), default=None)
    size = 0.0 if worst is None else abs(gaps[worst])
    return Fit(size if size > 1e-12 else 0.0, worst, gaps, observed)


def held_out_likelihood(traces: Sequence[Trace], eps: float, *, seed: int = 1) -> tuple[float, float]:
    """Probability per step, as a geometric mean, of cases learned from and of cases held out.

    A fifth of the cases is held out. A step that the model does not know after some history is read as one from the
    state of that output which was seen most, with a small probability: backing off, as language models do.
    """
    held = np.random.default_rng(seed).random(len(traces)) < HELD_OUT
    if held.all() or not held.any():
        held[0] = not held[0]
    learned = weighted([trace for trace, out in zip(traces, held, strict=True) if not out])
    tried = weighted([trace for trace, out in zip(traces, held, strict=True) if out])
    walk = _Walk(states_of(prefix_tree(learned), eps))
    return walk.per_step(learned), walk.per_step(tried)


class _Walk:
    """A learned model as a predictor of steps, with a way on where it has never been."""

    def __init__(self, states: Sequence[Node]) -> None:
        self.root = states[0]
        self.totals = {state.rank: sum(state.seen.values()) for state in states}
        self.by_output: dict[str, Node] = {}
        for state in states:
            best = self.by_output.get(state.output)
            if best is None or self.totals[state.rank] > self.totals[best.rank]:
                self.by_output[state.output] = state
        self.outputs = len(self.by_output)

    def per_step(self, variants: Sequence[tuple[Trace, int]]) -> float:
        """Geometric mean of the probabilities of all steps."""
        total, steps = 0.0, 0
        for trace, count in variants:
            total += count * self._log_probability(trace)
            steps += count * (len(trace) - 1)
        return exp(total / steps) if steps else 1.0

    def _log_probability(self, trace: Trace) -> float:
        """Witten and Bell's estimate: of `n` steps seen here with `k` kinds, ``k / (n + k)`` is kept for new ones."""
        state, found = self.root, 0.0
        for step in trace[1:]:
            seen, kinds = self.totals[state.rank], len(state.seen)
            count = state.seen.get(step, 0)  # type: ignore[arg-type]
            if count:
                found += log(count / (seen + kinds))
                state = state.children[step]  # type: ignore[index]
            else:
                new = (kinds + 1) / (seen + kinds + 1)
                found += log(new / (self.outputs + 1))
                state = self.by_output.get(step[1], self.root)
        return found
