"""From a log to an MDP that knows how often each of its transitions was seen."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from waypost.arguments import checked, shown
from waypost.errors import ArgumentError, ModelError
from waypost.learn.alergia import MergingProgress, States, checked_eps, merged_states
from waypost.logs import EVERY_EVENT_A_CHOICE, Actors, Log, io_traces
from waypost.logs.traces import checked_traces
from waypost.model import MDP, Labels, Strategy
from waypost.model.traces import Naming, Trace

EPS = 0.9  # the paper's, for all logs but the smallest
Successors = dict[tuple[str, str], tuple[int, int]]  # action and output -> successor and how often it was seen
FEW = 5  # a choice taken less often than this rests on little


class ThinDataWarning(UserWarning):
    """The model rests on few observations; its scores may be noise."""


@checked
def learn_mdp(
    source: Log | Sequence[Trace],
    *,
    actors: Actors | None = None,
    eps: float | str = EPS,
    naming: Naming = "plain",
    progress: MergingProgress | None = None,
) -> MDP:
    """MDP that IOAlergia learns from a log, or from input/output traces.

    Paper, Sect. 6. States are called ``q3: pay``, numbered in the order of the shortest sequence of events that leads
    there; each has its output as a label, so that all states after `pay`, or the target ``positive``, go by that name.
    ``counts`` says how often each transition was seen, and the probabilities are exact: counts divided by counts.

    Parameters
    ----------
    source
        A log, cleaned and with outcomes, or traces ``["start", ("input", "output"), ...]``.
    actors
        Who performs which event. Without a map every event is a choice of the process: bounds then range over every way
        of running it that the log knows, and `observed_strategy` is the way it was run.
    eps
        The larger, the more readily states are told apart (above 0, up to 2); 0 or "none" merges nothing, "auto" as
        much as is good for the fit.
    naming
        How outputs are written, "plain" or "paper".
    progress
        Called with the number of states found and the number of nodes that wait.

    Returns
    -------
    MDP
        With ``counts``, the number of times each transition was seen.

    Raises
    ------
    LogError
        If there is nothing to learn from, or an event has no actor.
    ArgumentError
        If `eps` is out of range.

    Examples
    --------
    >>> from waypost.logs import EventLog
    >>> log = EventLog.from_sequences([["ask", "pay"]] * 30 + [["ask", "leave"]] * 10)
    >>> mdp = learn_mdp(log)
    >>> mdp.states[:3], [mdp.states[s] for s in np.flatnonzero(mdp.labels["pay"])]
    (('q0: start', 'q1: process after start', 'q2: ask'), ['q5: pay'])
    """
    if not isinstance(source, Sequence):
        if not hasattr(source, "seen"):
            raise ArgumentError(
                f"source is an event log, as `read_log` gives it, or a list of traces, not {shown(source)}"
            )
        traces = io_traces(source, actors or EVERY_EVENT_A_CHOICE, naming=naming)
    else:
        traces = checked_traces(source)
    if eps == "auto":
        from waypost.learn.merging import learn_fitting

        mdp = learn_fitting(traces, progress=progress).mdp
    else:
        mdp = as_mdp(merged_states(traces, checked_eps(eps), progress))
    _warn_if_thin(mdp, len(traces))
    return mdp


@checked
def observed_strategy(mdp: MDP) -> Strategy:
    """Strategy of those who made the log: every choice as often as it was seen.

    Parameters
    ----------
    mdp
        A model that was learned from a log.

    Returns
    -------
    Strategy
        Memoryless.

    Raises
    ------
    ModelError
        If the model was not learned from a log.

    Examples
    --------
    >>> from waypost.logs import EventLog
    >>> mdp = learn_mdp(EventLog.from_sequences([["ask", "pay"]] * 30 + [["ask", "leave"]] * 10))
    >>> observed_strategy(mdp).to_dict()["q3: process after ask"]
    {'leave': 0.25, 'pay': 0.75}
    """
    if mdp.counts is None:
        raise ModelError("this model was not learned from a log, so nobody was observed; give a strategy instead")
    seen = choice_counts(mdp).astype(float)
    total = np.bincount(mdp.choice_state, weights=seen, minlength=mdp.n_states)
    seen[total[mdp.choice_state] == 0] = 1.0  # final states have one choice, never counted
    total = np.bincount(mdp.choice_state, weights=seen, minlength=mdp.n_states)
    return Strategy.memoryless(mdp, seen / total[mdp.choice_state])


def choice_counts(mdp: MDP) -> Any:
    """(C,) how often each choice was taken."""
    if mdp.counts is None:
        raise ModelError("this model was not learned from a log and has no counts")
    return np.add.reduceat(mdp.counts, mdp.transitions.indptr[:-1])


def steps_from(mdp: MDP, state: int) -> Successors:
    """Successor and count by action and output; learned models have one successor for each.

    >>> from waypost.logs import EventLog
    >>> steps_from(learn_mdp(EventLog.from_sequences([["ask", "pay"]] * 30)), 0)
    {('env', 'process after start'): (1, 30)}
    """
    steps = {}
    for choice in mdp.choices(state):
        for k in range(int(mdp.transitions.indptr[choice]), int(mdp.transitions.indptr[choice + 1])):
            successor = int(mdp.transitions.indices[k])
            output = mdp.states[successor].partition(": ")[2]  # of a learned state: its name without the number
            steps[mdp.actions[choice], output] = (successor, 0 if mdp.counts is None else int(mdp.counts[k]))
    return steps


def as_mdp(found: States) -> MDP:
    """MDP of the states that learning found."""
    n_states, n_steps = len(found), len(found.step)
    inputs = {name: k for k, name in enumerate(dict.fromkeys(given for given, _ in found.steps))}
    given = np.array([inputs[name] for name, _ in found.steps], np.int64)[found.step]
    owner = np.repeat(np.arange(n_states), np.diff(found.first_step))
    new = np.ones(n_steps, bool)  # steps are in the order of their inputs: those with the same one are a choice
    new[1:] = (owner[1:] != owner[:-1]) | (given[1:] != given[:-1])
    choice = np.cumsum(new) - 1
    total = np.bincount(choice, weights=found.seen)[choice].astype(np.int64)
    share = cache(Fraction)
    exact = [share(*pair) for pair in zip(found.seen.tolist(), total.tolist(), strict=True)]
    names = list(inputs)
    return MDP.from_triplets(
        choice,
        found.successor,
        [float(p) for p in exact],
        first_choice=np.concatenate(([0], np.cumsum(np.bincount(owner[new], minlength=n_states)))),
        states=[f"q{k}: {output}" for k, output in enumerate(found.outputs)],
        actions=[names[k] for k in given[new].tolist()],
        initial=0,
        labels=_labels(found.outputs),
        exact=exact,
        counts=found.seen,
    )


def _labels(outputs: Sequence[str]) -> Labels:
    """States of every output, in the order of their first appearance.

    >>> _labels(["start", "pay", "start"])["start"]
    array([ True, False,  True])
    """
    holding: dict[str, list[int]] = {}
    for state, output in enumerate(outputs):
        holding.setdefault(output, []).append(state)
    return Labels.of(len(outputs), holding)


def _warn_if_thin(mdp: MDP, n_traces: int) -> None:
    seen = choice_counts(mdp)
    real = seen > 0  # the self-loop of a final state was never seen
    few = int((seen[real] < FEW).sum())
    if n_traces < 30 or 2 * few > real.sum():
        warnings.warn(
            f"thin data: {n_traces} cases, and {few} of {int(real.sum())} choices were seen fewer than {FEW} times; "
            f"a bootstrap (--bootstrap 100) tells which scores are more than noise",
            ThinDataWarning,
            stacklevel=3,
        )
