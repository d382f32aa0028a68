"""From a log to an explanation by activity: observed first, then what could be where somebody chooses.

Passing an activity is passing any of its states, so bounds are those of the union, whatever the number of states. Where
nobody chooses the model is a chain: one number per activity, and no strategy is looked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from waypost.arguments import Natural, checked
from waypost.errors import unknown_name
from waypost.importance import Bounds, Explanation, StateImportance
from waypost.importance.activities import ActivityScore, ModelFit, Story
from waypost.importance.passing import SIDES
from waypost.importance.question import Scope
from waypost.importance.reading import kind_of
from waypost.learn import Learned, Prepared, prepare
from waypost.learn.alergia import MergingProgress
from waypost.logs import Actors, Contrasts, EventLog, Log, Recipe, RecipeStep, contrast, open_log, process_map
from waypost.logs.confounding import confounding
from waypost.logs.exposure import longer_cases
from waypost.logs.stored import StoredLog
from waypost.logs.tally import still_open
from waypost.logs.traces import Traces, log_of_traces
from waypost.model import MDP, Strategy
from waypost.model.traces import ENVIRONMENT, POSITIVE, steps_of, written
from waypost.story.chosen import Chosen, Groundwork, same
from waypost.story.graph import activity_graph
from waypost.story.insight import log_insight
from waypost.story.performers import performers
from waypost.uncertainty.resampling import Resampled, bootstrap
from waypost.uncertainty.shares import share_intervals

FEW_CASES = 30  # fewer are told of
TELLING = 8  # activities that findings tell of, at most
OBSERVED, CONTRAST = "observed", "contrast"


@checked
def explain_log(
    source: Any,
    *,
    positive: str | Sequence[str] | None = None,
    actors: Actors | None = None,
    eps: float | str | None = None,
    scope: Scope | Iterable[Scope] = ("all", "optimal"),
    min_seen: Natural | None = None,
    activities: Iterable[str] | None = None,
    by_state: bool = False,
    choices: bool = False,
    without: str | Iterable[str] = (),
    learned: Learned | None = None,
    resamples: Natural = 0,
    seed: Natural = 1,
    progress: MergingProgress | None = None,
) -> Explanation:
    """Explanation of a log, activity by activity: what good cases have that bad ones lack.

    Parameters
    ----------
    source
        A log, whatever `read_log` takes (a file, a DataFrame), or a log that `prepare` made ready.
    positive
        Event that good cases have; not needed where the outcome is set already.
    actors, eps
        Who performs which event (by default nobody chooses); how much to merge (as much as is good for the fit).
    scope
        Strategies to bound importance over, where somebody chooses.
    min_seen
        How often a choice must have been seen to be advised; by default 5 times, or by one case in a thousand.
    activities
        Activities to tell of; all by default.
    by_state, choices
        Whether to add the explanation by state, ``result.log.by_state``; the importance of every choice of the model.
    without
        Activities, or whatever `waypost.without` takes, to forbid in the model; what was counted stays.
    learned, progress
        The model, where it was learned already; a function that is told how far learning is.
    resamples, seed
        How often to draw the cases again, for 95 % intervals of shares and bounds.

    Returns
    -------
    Explanation
        A mapping from activities to bounds by scope ("observed": of the good runs; "contrast": of the bad ones; then
        the scopes asked for), with the whole story in ``log``.

    Raises
    ------
    WaypostError
        If the log has no outcome or nothing to learn from, or an activity is not in it.

    Examples
    --------
    >>> from waypost.logs import EventLog
    >>> cases = [["ask", "help", "pay"]] * 30 + [["ask", "pay"]] * 10 + [["ask", "go"]] * 60
    >>> found = explain_log(EventLog.from_sequences(cases), positive="pay")
    >>> found["help"]["observed"], found["help"]["contrast"]
    (Bounds(lower=0.75, upper=0.75), Bounds(lower=0.0, upper=0.0))
    >>> [a.name for a in found.log.ranked], [a.name for a in found.log.defining]
    (['help', 'ask'], ['go', 'pay'])
    """
    gone = (without,) if isinstance(without, str) else tuple(without)
    known, wanted = _known(ready_log(source, positive, actors, eps), activities, learned, gone, progress)
    chosen = Chosen(known, [scope] if isinstance(scope, str | Strategy) else list(scope), min_seen)
    scores, doubts = _scores(known, chosen, wanted, resamples, seed)
    story = _story(known, chosen, scores, doubts, positive, chosen.by_state() if by_state else None)
    return _explained(known, chosen, story, choices=choices)


def _explained(known: Groundwork, chosen: Chosen, story: Story, *, choices: bool) -> Explanation:
    """Explanation by activity, with what follows from it."""
    told = by_activity(story, chosen.reachability, known)
    scored = chosen.choices() if choices and not known.gone else {}
    return replace(told, insight=log_insight(story.process_map, story.activities, chosen.as_observed, scored))


def _known(
    ready: Prepared,
    activities: Iterable[str] | None,
    learned: Learned | None,
    gone: tuple[str, ...],
    progress: MergingProgress | None,
) -> tuple[Groundwork, frozenset[str]]:
    """What is counted in a log and learned from it, and the activities to tell of, all by default."""
    log = ready.log if ready.log is not None else log_of_traces(ready.traces)
    counted = contrast(log)
    names = [c.name for c in counted.activities]
    wanted = names if activities is None else list(activities)
    for name in wanted:
        if name not in names:
            raise unknown_name("activity", name, names, "this log")
    return Groundwork(ready, log, counted, learned or ready.learn_fitting(progress), gone), frozenset(wanted)


def _forbidden(names: Sequence[str]) -> tuple[str, ...]:
    """Tell what is forbidden, and in which numbers."""
    if not names:
        return ()
    told = f"without {', '.join(map(repr, names))}: bounds, and success at best and at worst, are those of the model"
    return (f"{told} in which that is forbidden; what was counted in the log stays",)


def _said(positive: str | Sequence[str] | None) -> str:
    names = [] if positive is None else [positive] if isinstance(positive, str) else list(positive)
    return "with " + " or ".join(map(repr, names)) if names else ""


def ready_log(
    source: Any, positive: str | Sequence[str] | None, actors: Actors | None, eps: float | str | None
) -> Prepared:
    """Log, whatever it comes as, made ready to be told of."""
    if isinstance(source, Prepared):
        return source if eps is None else replace(source, eps=eps)
    steps = () if positive is None else (RecipeStep("set_outcome", {"positive": positive}),)
    log = source if isinstance(source, EventLog | StoredLog) else open_log(source)
    return prepare(log, Recipe(steps=steps), actors=actors, eps=eps)


def _scores(
    known: Groundwork, chosen: Chosen, wanted: Collection[str], resamples: int, seed: int
) -> tuple[list[ActivityScore], tuple[str, ...]]:
    """Scores of the activities, with intervals where cases are drawn again, and why one may exclude its own bound."""
    scores = _doubted(known.log, [chosen.score(c) for c in known.counted.activities if c.name in wanted])
    if not resamples:
        return scores, ()
    ready = known.ready
    shares = share_intervals(known.log, resamples=resamples, seed=seed)
    drawn: dict[str, Resampled] = {}
    scopes = [name for name in chosen.questions if name in ("all", "optimal")]
    if scopes:
        drawn = bootstrap(
            ready.traces,
            target=POSITIVE,
            resamples=resamples,
            seed=seed,
            eps=known.learned.eps,
            scope=cast("Any", scopes),
            match="label",
            min_seen=chosen.min_seen,
        )
    found = []
    for score in scores:
        ends = dict(shares[score.name])
        for scope, one in drawn.items():
            row = one.names.index(written(score.name, ready.naming))
            ends |= {f"{scope}_lower": tuple(one.lower[row].tolist()), f"{scope}_upper": tuple(one.upper[row].tolist())}
        found.append(replace(score, intervals=ends))
    names = {written(score.name, ready.naming) for score in scores}
    reasons = {name: why for one in drawn.values() for name, why in one.excluded().items() if name in names}
    return found, tuple(f"the interval of {name!r} leaves out its own bound: {why}" for name, why in reasons.items())


def _doubted(log: Log, scores: Sequence[ActivityScore]) -> list[ActivityScore]:
    """Scores, those that findings may tell of with the attribute that confounds them, where there is one."""
    telling = [s for s in scores if s.defines_outcome is None and s.certain > 0 and s.good_share < 1]
    telling = [s for s in telling if not s.late_cases][:TELLING]
    found = confounding(log, telling)
    return [replace(score, confounded=found.get(score.name)) for score in scores]


def _story(
    known: Groundwork,
    chosen: Chosen,
    scores: Sequence[ActivityScore],
    doubts: Sequence[str],
    positive: str | Sequence[str] | None,
    by_state: Explanation | None,
) -> Story:
    counted, traces = known.counted, known.ready.traces
    return Story(
        cases=known.log.n_cases,
        good=counted.good,
        positive=_said(positive),
        activities=tuple(scores),
        fit=_fit(known.learned),
        process_map=process_map(known.log),
        notes=(
            *_longer(known.log, counted),
            *_running(known.log, counted),
            *_forbidden(known.gone),
            *chosen.notes,
            *_no_choice(chosen, traces),
            *_few(counted),
            *doubts,
        ),
        by_state=by_state,
        performers=performers(traces),
    )


def _no_choice(chosen: Chosen, traces: Any) -> tuple[str, ...]:
    """Tell of people who choose and never have an alternative."""
    variants = traces.variants if isinstance(traces, Traces) else traces
    acting = any(given != ENVIRONMENT for trace in variants for given, _ in steps_of(trace))
    if chosen.questions or not acting:
        return ()
    return (
        "whoever chooses has never more than one thing to choose; name the events that are alternatives (--choosing)",
    )


def _longer(log: Log, counted: Contrasts) -> tuple[str, ...]:
    """Tell that cases of one outcome are longer, where that alone may be why steps seem to matter."""
    found = longer_cases(log.seen, counted)
    if found is None:
        return ()
    good, bad = found
    longer, more = ("longer", "good") if good > bad else ("shorter", "bad")
    told = (
        f"good cases are {longer} than bad ones, {good:g} events against {bad:g} in the median, and long cases have "
        f"more of everything: that a step is in more of the {more} cases may mean no more than that"
    )
    return (told,)


def _running(log: Log, counted: Contrasts) -> tuple[str, ...]:
    """Tell of bad cases that may not be over."""
    found = still_open(log)
    if found is None:
        return ()
    cases, ends = found
    named = " or ".join(map(repr, ends))
    told = (
        f"{cases:,} of the {counted.bad:,} bad cases have no {named}, with which the others end, "
        "and may still be running: name these as --negative, with --others drop, to leave such cases out"
    )
    return (told,)


def _few(counted: Contrasts) -> tuple[str, ...]:
    """Tell of logs so small that their shares say little."""
    total = counted.good + counted.bad
    if total < FEW_CASES:
        return (f"thin data: only {total} cases, so that one case more or less moves every share",)
    least = min(counted.good, counted.bad)
    which = "good" if least == counted.good else "bad"
    return (f"thin data: only {least} {which} cases",) if least < FEW_CASES else ()


def _fit(learned: Learned) -> ModelFit:
    merging = "without merging" if learned.eps == 0 else f"merged with eps {learned.eps:g}"
    found = learned.fit
    sizes = (learned.mdp.n_states, merging, learned.learned, learned.held_out)
    return ModelFit(found.worst, found.activity, found.sentence(), *sizes, far=found.far)


def by_activity(story: Story, reached: Bounds, known: Groundwork) -> Explanation:
    """Explanation whose states are the activities: what every report about a log is made from."""
    graph = activity_graph(known.log)
    names = [score.name for score in story.activities]
    asked = np.array([graph.state(name) for name in names], np.int64)
    seen = [known.in_model(name) for name in names]
    columns: dict[str, list[Bounds]] = {
        OBSERVED: [_point(score.observed) for score in story.activities],
        CONTRAST: [
            _point(None if o is None else same(o.bad_share, s.bad_share))
            for o, s in zip(seen, story.activities, strict=True)
        ],
        **{scope: [score.bounds[scope] for score in story.activities] for scope in story.scopes},
    }
    scopes = {name: _column(graph, name, asked, found) for name, found in columns.items()}
    main = columns.get("all", columns[OBSERVED])
    return Explanation(
        mdp=graph,
        target=repr(POSITIVE),
        targets=(POSITIVE,),
        target_states=np.asarray(graph.labels[POSITIVE]),
        reachability=reached,
        scopes=scopes,
        kinds=tuple(map(kind_of, main)),
        ranking=np.arange(len(asked)),
        log=story,
    )


def _point(value: float | None) -> Bounds:
    return Bounds(value or 0.0, value or 0.0)


def _column(graph: MDP, scope: Any, asked: Any, found: Sequence[Bounds]) -> StateImportance:
    lower, upper = (np.array([getattr(b, side) for b in found], float) for side in SIDES)
    return StateImportance(graph, repr(POSITIVE), "importance", scope, asked, lower, upper)
