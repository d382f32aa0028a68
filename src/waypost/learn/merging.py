"""How much to merge: as much as helps to explain new cases, and never so much that the model forgets the log.

A merging is accepted if no frequent activity is off by more than one point; of the accepted ones the one that gives
held-out cases the highest likelihood is taken, and no merging at all is always among them. Mathematics takes a prefix
tree of a hundred thousand states as it takes any other model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from waypost.errors import LogError
from waypost.learn.alergia import NO_MERGING, MergingProgress, checked_eps, states_of
from waypost.learn.fit import Fit, fit, held_out_likelihood
from waypost.learn.mdp import as_mdp
from waypost.learn.tree import prefix_tree, weighted
from waypost.logs.traces import checked_traces
from waypost.model import MDP
from waypost.model.traces import Trace

AUTO = "auto"
CANDIDATES = (NO_MERGING, 0.9, 0.5, 0.05)  # the least merging first: where that forgets too much, more is not tried
CLOSE = 0.01  # a gap that does not matter


@dataclass(frozen=True)
class Tried:
    """One way of merging: how large the model is, how far off the log, how well it explains held-out cases."""

    eps: float
    states: int
    worst: float
    held_out: float | None = None  # probability per step; None where the model was too far off to be asked

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {"eps": self.eps, "states": self.states, "worst": self.worst, "held_out": self.held_out}


@dataclass(frozen=True, eq=False)
class Learned:
    """A model, how it was merged, and how well it fits."""

    mdp: MDP
    eps: float
    fit: Fit
    learned: float  # probability per step of cases that a model of four fifths was learned from
    held_out: float  # and of the fifth that it was not
    tried: tuple[Tried, ...] = ()

    def sentences(self) -> tuple[str, ...]:
        """What to know about the model, in words."""
        merged = "without merging" if self.eps == NO_MERGING else f"merged with eps {self.eps:g}"
        sure = (
            f"a step of a case is predicted with probability {self.learned:.2f} on average where it was learned from, "
            f"{self.held_out:.2f} where it was held out"
        )
        return f"{self.mdp.n_states:,} states, {merged}; {self.fit.sentence()}", sure


def learn_fitting(
    traces: Sequence[Trace], *, eps: float | str = AUTO, progress: MergingProgress | None = None
) -> Learned:
    """Model of input/output traces, merged as `eps` says, or by "auto" as much as is good for it; with its fit.

    >>> from waypost.logs import EVERY_EVENT_CHANCE, EventLog, io_traces
    >>> log = EventLog.from_sequences([["ask", "help", "pay"]] * 30 + [["ask", "pay"]] * 10 + [["ask", "go"]] * 60)
    >>> found = learn_fitting(io_traces(log, EVERY_EVENT_CHANCE))
    >>> found.mdp.n_states, found.fit.worst <= 0.02
    (6, True)
    """
    traces = checked_traces(traces)
    variants = weighted(traces)
    if all(len(trace) == 1 for trace, _ in variants):
        raise LogError("no trace has a step, so there is nothing to learn")
    tree = prefix_tree(variants)
    tried: list[Tried] = []
    best: Learned | None = None
    for candidate in CANDIDATES if eps == AUTO else (checked_eps(eps),):
        mdp = as_mdp(states_of(tree, candidate, progress))
        found = fit(mdp, variants)
        if best is not None and found.worst > CLOSE:
            tried.append(Tried(candidate, mdp.n_states, found.worst))
            break
        learned, held = held_out_likelihood(variants, candidate)
        tried.append(Tried(candidate, mdp.n_states, found.worst, held))
        if best is None or held > best.held_out:
            best = Learned(mdp, candidate, found, learned, held)
    if best is None:
        raise AssertionError("no way of merging was tried")
    return replace(best, tried=tuple(tried))
