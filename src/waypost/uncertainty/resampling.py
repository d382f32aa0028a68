"""Is a score more than noise? Draw the cases again, learn again, and see how far the bounds move.

A state of the model learned from all cases is found again in a model learned from a resample by its *history*: the
shortest sequence of inputs and outputs that leads to it; or all states with its output are taken together, by *label*.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.arguments import Natural, Positive, checked
from waypost.errors import ArgumentError, LogError, NameUnknownError, UndefinedImportanceError, require
from waypost.importance import Bounds, Explanation, group_importance, state_importance
from waypost.importance.beside import Intervals
from waypost.importance.question import OpenScope
from waypost.learn.mdp import EPS, ThinDataWarning, learn_mdp, steps_from
from waypost.learn.merging import learn_fitting
from waypost.learn.tree import weighted
from waypost.logs.traces import Traces
from waypost.model import MDP, Target
from waypost.model.traces import Trace
from waypost.processes import ChildError
from waypost.processes.places import place, spread_out, working
from waypost.uncertainty.support import supported

Match = Literal["history", "label"]
History = tuple[tuple[str, str], ...]  # (action, output) from the initial state


class _Draw(NamedTuple):
    """What one model says of the states or labels asked for."""

    bounds: NDArray[np.float64]  # (scopes, n, 2); 0 of what is not there
    there: NDArray[np.bool_]  # (n,) whether the model has it


@dataclass(frozen=True, eq=False)
class Resampled:
    """Bounds of importance with a confidence interval each, for one scope.

    Intervals are percentiles over the resamples. In one without a label nobody passes it, so its importance is 0 there,
    and counts; a state matched by its history may be there under another one, so resamples without it are left out.
    ``present`` is the share of those that had it: what most of them do not have rests on a handful of cases. Of what
    none of them has nothing is known, and its intervals are the widest there are.
    """

    names: tuple[str, ...]  # states, or labels
    scope: OpenScope
    match: Match
    level: float  # share of the resamples inside an interval
    resamples: int  # how many could be used
    bounds: NDArray[np.float64]  # (n, 2) lower and upper bound in the model of all cases
    lower: NDArray[np.float64]  # (n, 2) interval of the lower bound
    upper: NDArray[np.float64]  # (n, 2) interval of the upper bound
    present: NDArray[np.float64]  # (n,)

    def __repr__(self) -> str:
        return f"Resampled({len(self.names)} {self.match} matches, scope={self.scope!r}, resamples={self.resamples})"

    @property
    def known(self) -> NDArray[np.bool_]:
        """(n,) whether the resamples say something: a label is told by who lacks it, too."""
        return (self.present > 0) | (self.match == "label")

    def excluded(self) -> dict[str, str]:
        """States whose bound in the model of all cases is outside its own interval, each with the reason."""
        told = {}
        for k, name in enumerate(self.names):
            ends = (self.lower[k], self.upper[k])
            outside = any(
                not low - 1e-9 <= bound <= high + 1e-9 for bound, (low, high) in zip(self.bounds[k], ends, strict=True)
            )
            if outside and self.present[k] < 0.5:
                told[name] = f"only {self.present[k]:.0%} of the resamples have it: it rests on a handful of cases"
            elif outside:
                told[name] = "fewer different cases are in a resample, so that more or other states are merged there"
        return told

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row per state or label."""
        pandas = require("pandas", "table", "to_frame()")
        columns = {
            "lower": self.bounds[:, 0],
            "lower from": self.lower[:, 0],
            "lower to": self.lower[:, 1],
            "upper": self.bounds[:, 1],
            "upper from": self.upper[:, 0],
            "upper to": self.upper[:, 1],
            "present": self.present,
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.names, name="state"))


@checked
def bootstrap(
    traces: Sequence[Trace],
    *,
    target: Target,
    resamples: Positive,
    seed: Natural,
    eps: float | str = EPS,
    scope: OpenScope | Sequence[OpenScope] = ("all", "optimal"),
    match: Match = "history",
    level: float = 0.95,
    min_seen: Natural = 1,
    workers: Positive | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Resampled]:
    """Confidence intervals for the bounds of importance, by scope.

    Parameters
    ----------
    traces
        Input/output traces, as `waypost.learn.prepare` makes them of a log.
    target
        As in `state_importance`.
    resamples, seed
        How often to draw the cases again, at least twice; the same seed gives the same intervals.
    eps
        How much to merge, as in `learn_mdp`.
    scope
        One scope or several: "all", "optimal".
    match
        Whether a state is found again by its "history", or all states of a "label" are taken together.
    level
        Share of the resamples inside an interval.
    min_seen
        How often a choice must have been seen for strategies to use it.
    workers, progress
        Number of processes, one per processor by default; called with the number of resamples done.

    Returns
    -------
    dict
        A `Resampled` for each scope.

    Raises
    ------
    ArgumentError
        If there are fewer than 2 resamples, or `level` is not between 0 and 1.
    LogError
        If no resample reaches the target.

    Examples
    --------
    >>> from waypost.learn import prepare
    >>> from waypost.logs import EVERY_EVENT_A_CHOICE, EventLog
    >>> log = EventLog.from_sequences([["ask", "help", "pay"]] * 20 + [["ask", "pay"]] * 20 + [["ask", "go"]] * 9)
    >>> traces = prepare(log, actors=EVERY_EVENT_A_CHOICE).traces
    >>> found = bootstrap(traces, target="pay", resamples=20, seed=1, match="label", scope="all", workers=1)
    >>> found["all"].to_frame().loc["help"].tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    """
    if resamples < 2 or not 0 < level < 1:
        raise ArgumentError("a bootstrap needs at least 2 resamples, and a level between 0 and 1")
    scopes = (scope,) if isinstance(scope, str) else tuple(scope)
    asked = target if isinstance(target, str) else tuple(target)
    ask = partial(_bounds, target=asked, scopes=scopes, min_seen=min_seen)
    names, measured, drawn = _measured(traces, ask, eps, match, partial(_drawn, resamples, seed, workers, progress))
    there = np.stack([draw.there for draw in drawn])
    found = {each: np.stack([draw.bounds[k] for draw in drawn]) for k, each in enumerate(scopes)}
    return {
        each: _intervals(names, each, match=match, level=level, measured=bounds, drawn=found[each], there=there)
        for each, bounds in zip(scopes, measured, strict=True)
    }


def _measured(
    traces: Sequence[Trace], ask: Any, eps: float | str, match: Match, draw: Any
) -> tuple[tuple[str, ...], NDArray[np.float64], list[_Draw]]:
    """Names of the states or labels, their bounds (scopes, n, 2) in the model of all cases, and every resample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThinDataWarning)  # who resamples has understood
        learned = learn_fitting(traces, eps=eps)  # what is good for all cases is good for each resample
    whole = learned.mdp
    ask = partial(ask, wanted=access_histories(whole) if match == "history" else list(whole.labels))
    measured = ask(whole).bounds
    job = partial(_resample, Traces(*map(tuple, zip(*weighted(traces), strict=True))), learned.eps)
    found = [_Draw(*result) for result in draw(job, ask) if result is not None]
    if not found:
        raise LogError("no resample reaches the target; there are too few cases that do")
    return tuple(whole.states if match == "history" else whole.labels), measured, found


def with_resampled(explanation: Explanation, resampled: Mapping[str, Resampled]) -> Explanation:
    """Explanation of the model of all cases, with the intervals of the states that were found again by history.

    A state has none where no resample has it, nor where its bounds are those of another model.
    """
    first = next(iter(resampled.values()))
    if first.match != "history":
        return explanation
    found: dict[str, dict[str, tuple[Bounds, Bounds]]] = {}
    for scope, drawn in resampled.items():
        known = explanation.scopes.get(scope)
        found[scope] = {
            name: (Bounds(*lower.tolist()), Bounds(*upper.tolist()))
            for name, whole, lower, upper, told in zip(
                drawn.names, drawn.bounds, drawn.lower, drawn.upper, drawn.known, strict=True
            )
            if known is not None and told and name in known
            if np.allclose(whole, np.array(known[name], float), atol=1e-9)
        }
    return replace(explanation, intervals=Intervals(first.level, first.resamples, found))


def access_histories(mdp: MDP) -> list[History | None]:
    """(S,) the shortest history that leads to each state, the more frequent one first; None where there is none."""
    histories: list[History | None] = [None] * mdp.n_states
    onward = [steps_from(mdp, state) for state in range(mdp.n_states)]
    histories[mdp.initial] = ()
    queue = deque([mdp.initial])
    while queue:
        state = queue.popleft()
        before = histories[state]
        steps = sorted(onward[state].items(), key=lambda item: -item[1][1])
        for step, (successor, _) in steps:
            if before is not None and histories[successor] is None:
                histories[successor] = (*before, step)
                queue.append(successor)
    return histories


def follow(mdp: MDP, histories: Sequence[History | None]) -> list[int | None]:
    """States that histories lead to, None where the model does not know one."""
    onward = [steps_from(mdp, state) for state in range(mdp.n_states)]
    reached: list[int | None] = []
    for history in histories:
        state = mdp.initial if history is not None else None
        for step in history or ():
            state = onward[state].get(step, (None,))[0] if state is not None else None
        reached.append(state)
    return reached


def _bounds(
    mdp: MDP, *, target: Target, scopes: Sequence[OpenScope], wanted: Sequence[History | str | None], min_seen: int
) -> _Draw:
    """Bounds of the wanted states or labels in one model."""
    mdp = supported(mdp, min_seen).mdp if min_seen > 1 else mdp
    table = np.zeros((len(scopes), len(wanted), 2))
    if wanted and isinstance(wanted[0], str):
        groups: Mapping[str, str] = {label: label for label in wanted if isinstance(label, str) and label in mdp.labels}
        for k, scope in enumerate(scopes):
            bounds = group_importance(mdp, target=target, scope=scope, groups=groups)
            for row, label in enumerate(wanted):
                if label in bounds:
                    table[k, row] = bounds[str(label)].lower, bounds[str(label)].upper
        return _Draw(table, np.array([label in groups for label in wanted], bool))
    where = follow(mdp, [h for h in wanted if not isinstance(h, str)])
    rows = [row for row, state in enumerate(where) if state is not None]
    states = [state for state in where if state is not None]
    for k, scope in enumerate(scopes):
        result = state_importance(mdp, target=target, scope=scope)
        table[k, rows] = np.column_stack([result.lower, result.upper])[states]
    return _Draw(table, np.array([state is not None for state in where], bool))


def _resample(traces: Traces, eps: float, seed: int, ask: Any, number: int) -> _Draw | None:
    """Bounds in a model learned from cases drawn with replacement; None where it does not reach the target."""
    counts = np.array(traces.counts)
    drawn = np.random.default_rng([seed, number]).multinomial(counts.sum(), counts / counts.sum()).tolist()
    kept = [(trace, n) for trace, n in zip(traces.variants, drawn, strict=True) if n]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThinDataWarning)
        mdp = learn_mdp(Traces(*map(tuple, zip(*kept, strict=True))), eps=eps)
    try:
        found: _Draw = ask(mdp)
    except (UndefinedImportanceError, NameUnknownError):  # no case that reaches the target was drawn
        return None
    return found


def _drawn(
    resamples: int, seed: int, workers: int | None, progress: Callable[[int], None] | None, job: Any, ask: Any
) -> list[Any]:
    """Bounds of every resample, wherever they are computed."""
    job = partial(job, seed, ask)
    try:
        with working(**(vars(place()) | ({} if workers is None else {"workers": workers}))):
            answers = spread_out(__name__, "_answering", job, range(resamples), told=progress)
    except ChildError as error:
        raise LogError(f"a resample broke down: {error.said or error.trouble}") from None
    return [None if answer is None else (np.array(answer[0], float), np.array(answer[1], bool)) for answer in answers]


def _answering(job: Any) -> Callable[[int], Any]:
    """What a child process does with each number: the traces are handed to it once, not with every resample."""

    def answer(number: int) -> Any:
        found = job(number)
        return None if found is None else [part.tolist() for part in found]

    return answer


def _intervals(
    names: tuple[str, ...], scope: OpenScope, *, match: Match, level: float, measured: Any, drawn: Any, there: Any
) -> Resampled:
    """Percentiles of the bounds in the resamples: `drawn` (resamples, n, 2), where they are `there` (resamples, n)."""
    percents = [50 * (1 - level), 50 * (1 + level)]
    ends = np.empty((2, len(names), 2))
    ends[0], ends[1] = 0.0, 1.0
    whole = there.all(axis=0) | (match == "label")
    ends[:, whole] = np.percentile(drawn[:, whole], percents, axis=0)
    for k in np.flatnonzero(~whole & there.any(axis=0)).tolist():
        ends[:, k] = np.percentile(drawn[there[:, k], k], percents, axis=0)
    return Resampled(
        names=names,
        scope=scope,
        match=match,
        level=level,
        resamples=len(drawn),
        bounds=measured,
        lower=ends[:, :, 0].T,
        upper=ends[:, :, 1].T,
        present=there.mean(axis=0),
    )
