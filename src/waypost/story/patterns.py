"""Patterns of a log: what good cases have that bad ones lack, counted in its cases, and what choices could change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from waypost.arguments import Natural, Positive, checked
from waypost.importance import Bounds
from waypost.learn import AUTO, Learned, Prepared
from waypost.learn.alergia import NO_MERGING, MergingProgress
from waypost.logs import Actors, Log, contrast
from waypost.logs.traces import Traces, log_of_traces
from waypost.model import MDP
from waypost.model.traces import ENVIRONMENT, POSITIVE, Naming, Stage, steps_of, written
from waypost.patterns import Pattern, pattern_importance, step
from waypost.patterns.counted import CountedPattern, CountedPatterns
from waypost.patterns.declare import absence, existence, precedence, response
from waypost.patterns.matching import in_a_row
from waypost.patterns.search import mutual_information
from waypost.story.explaining import ready_log
from waypost.story.searching import Hypothesis, Judgement, LogSearch
from waypost.uncertainty.support import supported, usual_min_seen

Range = Literal["all", "optimal"]  # the strategies that bounds are over

STATES = 2_000  # of a larger model, bounds of patterns over strategies are not computed
STEPS = 50_000  # of all variants together; unless it is merged by force, the model of more is larger than that
NO_ALTERNATIVES = (
    "whoever chooses has never more than one thing to choose, so there are no bounds over strategies; name the events "
    "that are alternatives (--choosing)"
)
TOO_MANY = (
    f"the cases of this log differ in too much for a model of {STATES:,} states: patterns are counted, and have no "
    f"bounds over strategies; merge more (--eps 0.9), leave out kinds of events by a recipe, or ask about one pattern "
    f"(waypost pattern)"
)
KINDS = {"later": "eventually follows", "direct": "directly follows"}  # as `find_patterns` calls them


@checked
def find_log_patterns(
    source: Any,
    *,
    positive: str | Sequence[str] | None = None,
    actors: Actors | None = None,
    eps: float | str | None = None,
    scope: Range | Iterable[Range] = ("all", "optimal"),
    min_seen: Natural | None = None,
    top: Positive = 20,
    effort: Positive = 20_000,
    learned: Learned | None = None,
    progress: MergingProgress | None = None,
) -> CountedPatterns:
    """What good cases of a log have that bad ones lack: steps, repetitions, orders, and what is missing.

    Everything is counted in the cases, so that a log may be as large as it likes. A pattern is told of where it is more
    than chance would make of all that was tried, and tells more than each simpler pattern that it is a special case of;
    none restates another.

    Parameters
    ----------
    source
        A log, whatever `read_log` takes (a file, a DataFrame), or a log that `prepare` made ready.
    positive
        Event that good cases have; not needed where the outcome is set already.
    actors, eps, scope, min_seen
        As in `explain_log`: where somebody chooses, and the model is small, patterns get bounds over strategies.
    top, effort
        How many to give at most, and how many to try at most.
    learned, progress
        The model, where it was learned already; a function that is told how far learning is.

    Returns
    -------
    CountedPatterns
        A sequence of `CountedPattern`, what surely differs most first. Where nothing is more than chance, these are the
        few that come closest, and none of them is `sure`.

    Raises
    ------
    LogError
        If the log has no outcome, or all its cases have the same.

    Examples
    --------
    >>> from waypost.logs import EventLog
    >>> cases = [["call", "mail", "pay"]] * 50 + [["mail", "call", "go"]] * 50
    >>> found = find_log_patterns(EventLog.from_sequences(cases), positive="pay")
    >>> [(one.name, one.good_share, one.bad_share) for one in found]
    [('... call ... mail ...', 1.0, 0.0)]
    """
    ready = ready_log(source, positive, actors, eps)
    log = ready.log if ready.log is not None else log_of_traces(ready.traces)
    contrasts = contrast(log)
    search = LogSearch(log, contrasts, effort)
    judged = search.run(top)
    known, notes = _choosing(ready, log, learned, min_seen, progress)
    scopes: tuple[Range, ...] = (scope,) if isinstance(scope, str) else tuple(scope)
    told = tuple(_told(one, search, known, scopes, ready.naming) for one in judged)
    return CountedPatterns(
        repr(POSITIVE),
        contrasts.success,
        told,
        contrasts.good + contrasts.bad,
        contrasts.good,
        search.tried,
        len(search.names),
        search.left_out,
        tuple(c.name for c in contrasts.defining),
        notes,
    )


def _choosing(
    ready: Prepared, log: Log, learned: Learned | None, min_seen: int | None, progress: MergingProgress | None
) -> tuple[MDP | None, tuple[str, ...]]:
    """Model in which somebody chooses, of what was seen often enough; None, and why, where there is none to ask."""
    variants = ready.traces.variants if isinstance(ready.traces, Traces) else ready.traces
    if not any(given != ENVIRONMENT for trace in variants for given, _ in steps_of(trace)):
        return None, ()
    if learned is None and ready.eps in (AUTO, "none", NO_MERGING) and len(log.seen.kind) > STEPS:
        return None, (TOO_MANY,)
    known = learned or ready.learn_fitting(progress)
    if known.mdp.n_states > STATES:
        return None, (TOO_MANY,)
    if not (np.diff(known.mdp.first_choice) > 1).any():
        return None, (NO_ALTERNATIVES,)
    far = (f"bounds over strategies are those of a model, and {known.fit.sentence()}",) if known.fit.far else ()
    return supported(known.mdp, usual_min_seen(log.n_cases) if min_seen is None else min_seen).mdp, far


def _told(
    judged: Judgement, search: LogSearch, known: MDP | None, scopes: tuple[Range, ...], naming: Naming
) -> CountedPattern:
    """Judgement with the names of the log, and with bounds over strategies where there is a model to ask."""
    hypothesis, weight = judged.hypothesis, search.weight
    names = tuple(search.names[k] for k in hypothesis.steps)
    good, bad = (int(n) for n in weight[judged.has].sum(axis=0))
    all_good, all_bad = (int(n) for n in search.totals)
    pattern, whole = pattern_of(hypothesis, names), all_good + all_bad
    bounds: dict[str, Bounds] = {}
    if known is not None:
        spelt = pattern_of(hypothesis, [written(name, naming) for name in names])
        for one in scopes:
            found = pattern_importance(known, pattern=spelt, target=POSITIVE, scope=one, by="activity")
            bounds[one] = found.bounds
    return CountedPattern(
        name=str(pattern),
        cases=good + bad,
        good_cases=good,
        bad_cases=bad,
        good_share=good / all_good,
        bad_share=bad / all_bad,
        success_after=_share(good, good + bad),
        success_without=_share(all_good - good, whole - good - bad),
        certain=judged.certain,
        stage=_stage(judged, search),
        pattern=pattern,
        kind=KINDS.get(hypothesis.kind, hypothesis.kind),
        steps=names,
        times=hypothesis.times,
        directly=hypothesis.directly,
        support=(good + bad) / whole,
        information=mutual_information(np.array([good, bad]) / whole, search.totals / whole),
        sure=judged.sure,
        bounds=bounds,
    )


def _stage(judged: Judgement, search: LogSearch) -> Stage | None:
    if judged.stage is None:
        return None
    good_with, bad_with, good_without, bad_without = (int(n) for n in judged.table)
    return Stage(
        search.names[judged.stage],
        good_with + bad_with + good_without + bad_without,
        good_with + bad_with,
        good_share=_share(good_with, good_with + good_without) or 0.0,
        bad_share=_share(bad_with, bad_with + bad_without) or 0.0,
        success_with=_share(good_with, good_with + bad_with),
        success_without=_share(good_without, good_without + bad_without),
    )


def pattern_of(hypothesis: Hypothesis, names: Sequence[str]) -> Pattern:
    """Pattern of a hypothesis, over these names.

    >>> str(pattern_of(Hypothesis("without", (0, 1)), ["ask", "answer"]))
    'existence(ask) & absence(answer)'
    """
    steps = [step(name) for name in names]
    made: Mapping[str, Callable[[], Pattern]] = {
        "repeated": lambda: existence(steps[0], hypothesis.times),
        "both": lambda: existence(steps[0]) & existence(steps[1]),
        "without": lambda: existence(steps[0]) & absence(steps[1]),
        "response": lambda: existence(steps[0]) & response(*steps),
        "precedence": lambda: existence(steps[1]) & precedence(*steps),
    }
    if hypothesis.kind in made:
        return made[hypothesis.kind]()
    return in_a_row(steps, tuple(not directly for directly in hypothesis.directly))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
