"""From a log to an explanation by activity: observed first, then what could be where somebody chooses.

Passing an activity is passing any of its states, so bounds are those of the union, whatever the number of states. Where
nobody chooses the model is a chain: one number per activity, and no strategy is looked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from waypost.errors import unknown_name
from waypost.graph import Graph, end_components, reachable
from waypost.importance import Bounds, Explanation, Question, StateImportance, explain
from waypost.importance.activities import ActivityScore, ModelFit, Story
from waypost.importance.choices import ChoiceImportance, ask_choices
from waypost.importance.passing import SIDES, bounds, witness
from waypost.importance.question import Scope
from waypost.importance.reading import kind_of
from waypost.importance.whatifs import without as forbidding
from waypost.learn import Learned, Prepared, activity_states, observed_strategy, prepare
from waypost.learn.alergia import Progress
from waypost.learn.observed import Observed, States, passing
from waypost.logs import Actors, Contrast, Contrasts, EventLog, Log, Recipe, Step, contrast, open_log, process_map
from waypost.logs.log import POSITIVE
from waypost.logs.stored import StoredLog
from waypost.logs.traces import ENVIRONMENT, Traces, log_of_traces, steps_of, written
from waypost.model import FINAL, MDP, Strategy, induced_chain
from waypost.story.graph import activity_graph
from waypost.story.insight import log_insight
from waypost.story.performers import performers
from waypost.uncertainty.resampling import Resampled, bootstrap
from waypost.uncertainty.shares import share_intervals
from waypost.uncertainty.support import (
    Supported,
    best_with_and_without,
    share_resting_on_few,
    supported,
    usual_min_seen,
)

FEW_CASES = 30  # fewer are told of
HANGS = 0.05  # share of the good runs that must rest on rare choices before a bound is marked
SAME = 1e-11
SMALL = 2000  # states; a larger model in which nobody chooses is told by activity only
OBSERVED, CONTRAST = "observed", "contrast"


def explain_log(
    source: Any,
    *,
    positive: str | Sequence[str] | None = None,
    actors: Actors | None = None,
    eps: float | str | None = None,
    scope: Scope | Iterable[Scope] = ("all", "optimal"),
    min_seen: int | None = None,
    activities: Iterable[str] | None = None,
    by_state: bool = False,
    choices: bool = False,
    without: str | Iterable[str] = (),
    learned: Learned | None = None,
    resamples: int = 0,
    seed: int = 1,
    progress: Progress | None = None,
) -> Explanation:
    """Explanation of a log, activity by activity: what good cases have that bad ones lack.

    Parameters
    ----------
    source
        A log, whatever `read_log` takes (a file, a DataFrame), or a log that `prepare` made ready.
    positive
        Event that good cases have; not needed where the outcome is set already.
    actors
        Who performs which event; without it nobody chooses.
    eps
        How much to merge; by default as much as is good for the fit.
    scope
        Strategies to bound importance over, where somebody chooses.
    min_seen
        How often a choice must have been seen to be advised; by default 5 times, or by one case in a thousand.
    activities
        Activities to tell of; all by default.
    by_state
        Whether ``result.log.by_state`` has the explanation by state, too, where somebody chooses or the model is small.
    choices
        Whether the explanation carries the importance of every choice of the model, in each scope.
    without
        Activities, or whatever `waypost.without` takes, that are forbidden in the model: bounds, and success at best
        and at worst, are those without them. What was counted stays.
    learned
        The model, where it was learned already.
    resamples, seed
        How often to draw the cases again, for 95 % intervals of shares and bounds.
    progress
        Told how far learning is.

    Returns
    -------
    Explanation
        A mapping from activities to bounds by scope ("observed": of the good runs; "contrast": of the bad ones; then
        the scopes asked for), with the whole story in ``log``.

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
    ready = _ready(source, positive, actors, eps)
    log = ready.log if ready.log is not None else log_of_traces(ready.traces)
    counted = contrast(log)
    wanted = _known(activities, [c.name for c in counted.activities])
    gone = (without,) if isinstance(without, str) else tuple(without)
    known = _Known(ready, log, counted, learned or ready.learn_fitting(progress), gone)
    chosen = _Chosen(known, [scope] if isinstance(scope, str | Strategy) else list(scope), min_seen)
    scores, doubts = _scores(known, chosen, wanted, resamples, seed)
    story = _story(known, chosen, scores, doubts, positive, chosen.by_state() if by_state else None)
    told = by_activity(story, chosen.reachability, known)
    scored = chosen.choices() if choices and not gone else {}
    return replace(told, insight=log_insight(story.process_map, story.activities, chosen.as_observed, scored))


@dataclass(frozen=True)
class _Known:
    """What is known of a log: how it was made ready, what was counted in it and learned from it."""

    ready: Prepared
    log: Log
    counted: Contrasts
    learned: Learned
    gone: tuple[str, ...]  # what is forbidden

    @cached_property
    def allowed(self) -> MDP:
        """The model without what is forbidden."""
        names = {c.name for c in self.counted.activities}
        gone = [written(name, self.ready.naming) if name in names else name for name in self.gone]
        return forbidding(self.learned.mdp, gone)

    @cached_property
    def states(self) -> Mapping[str, States]:
        """States of the model in which each activity happens."""
        return activity_states(self.learned.mdp, self.log, naming=self.ready.naming)

    def in_model(self, activity: str) -> Observed | None:
        """What the model, as the process was run, says of an activity."""
        return self.learned.fit.observed.get(written(activity, self.ready.naming))


def _known(activities: Iterable[str] | None, known: Sequence[str]) -> frozenset[str]:
    """Activities to tell of; all by default."""
    wanted = known if activities is None else list(activities)
    for name in wanted:
        if name not in known:
            raise unknown_name("activity", name, known, "this log")
    return frozenset(wanted)


def _forbidden(names: Sequence[str]) -> tuple[str, ...]:
    """Tell what is forbidden, and in which numbers."""
    if not names:
        return ()
    told = f"without {', '.join(map(repr, names))}: bounds, and success at best and at worst, are those of the model"
    return (f"{told} in which that is forbidden; what was counted in the log stays",)


def _said(positive: str | Sequence[str] | None) -> str:
    names = [] if positive is None else [positive] if isinstance(positive, str) else list(positive)
    return "with " + " or ".join(map(repr, names)) if names else ""


def _ready(
    source: Any, positive: str | Sequence[str] | None, actors: Actors | None, eps: float | str | None
) -> Prepared:
    if isinstance(source, Prepared):
        return source if eps is None else replace(source, eps=eps)
    steps = () if positive is None else (Step("set_outcome", {"positive": positive}),)
    log = source if isinstance(source, EventLog | StoredLog) else open_log(source)
    return prepare(log, Recipe(steps=steps), actors=actors, eps=eps)


class _Chosen:
    """What could be, where somebody chooses: bounds over strategies that use what was seen often enough."""

    def __init__(self, known: _Known, scopes: Sequence[Scope], min_seen: int | None) -> None:
        self.known = known
        self.scopes = scopes
        self.min_seen = usual_min_seen(known.log.n_cases) if min_seen is None else min_seen
        self.notes: tuple[str, ...] = ()
        self.questions: dict[str, Question] = {}
        self.base: Question | None = None
        self.mdp = whole = known.allowed
        if (np.diff(whole.first_choice) > 1).any():
            found = supported(whole, self.min_seen)
            self.mdp = found.mdp
            self.base = base = Question.of(self.mdp, target=POSITIVE, scope="all")
            for scope in scopes:
                alone = Question.of(whole, target=POSITIVE, scope=scope) if isinstance(scope, Strategy) else None
                question = alone or (base if scope == "all" else base.within(scope))
                self.questions[question.scope_name] = question
            least, most = (float(part.values[base.start]) for part in (base.model.min, base.model.max))
            self.reachability = Bounds(least, most)
            self.notes = (*_left_out(whole, found), *_idling(base, known.states))
        else:
            target = whole.labels[POSITIVE]
            chain = induced_chain(whole, observed_strategy(whole).modes[0])
            success = float(passing(chain, target, np.zeros_like(target))[0][whole.initial])
            self.reachability = Bounds(success, success)

    def score(self, counted: Contrast) -> ActivityScore:
        """Score of one activity."""
        states, observed = self.known.states[counted.name], self.known.in_model(counted.name)
        waiting = None
        if counted.good_waiting is not None and counted.bad_waiting is not None:
            waiting = (counted.good_waiting.before, counted.bad_waiting.before)
        return ActivityScore(
            name=counted.name,
            cases=counted.cases,
            events=counted.events,
            good_cases=counted.good_cases,
            bad_cases=counted.bad_cases,
            good_share=counted.good_share,
            bad_share=counted.bad_share,
            observed=None if observed is None else _same(observed.good_share, counted.good_share),
            success_after=counted.success_after,
            success_without=counted.success_without,
            certain=counted.certain,
            defines_outcome=counted.defines_outcome,
            bounds={name: Bounds(*map(float, bounds(q, states))) for name, q in self.questions.items()},
            on_few=self.on_few(states),
            waiting=waiting,
        )

    @property
    def as_observed(self) -> MDP:
        """The model in which nothing that was seen often enough is forbidden."""
        return supported(self.known.learned.mdp, self.min_seen).mdp if self.known.gone and self.questions else self.mdp

    def choices(self) -> dict[str, ChoiceImportance]:
        """Importance of every choice, in each scope."""
        return {name: ask_choices(q) for name, q in self.questions.items() if q.mdp is self.mdp}

    def by_state(self) -> Explanation | None:
        """Explanation by state, where somebody chooses or the model is small."""
        strategies = [scope for scope in self.scopes if not isinstance(scope, Strategy)]
        if not strategies or not (self.questions or self.mdp.n_states <= SMALL):
            return None
        return explain(self.mdp, target=POSITIVE, scope=strategies)

    def on_few(self, states: States) -> frozenset[str]:
        """Scopes in which a bound of passing these states hangs on choices that few cases took."""
        if self.base is None:
            return frozenset()
        least, most = bounds(self.base, states)
        if least == 1 or most == 0:  # that the graph alone decides, whatever is chosen
            return frozenset()
        return frozenset(name for name, question in self.questions.items() if _on_few(question, states))


def _scores(
    known: _Known, chosen: _Chosen, wanted: Collection[str], resamples: int, seed: int
) -> tuple[list[ActivityScore], tuple[str, ...]]:
    """Scores of the activities, with intervals where cases are drawn again, and why one may exclude its own bound."""
    scores = [chosen.score(c) for c in known.counted.activities if c.name in wanted]
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
            scopes=cast("Any", scopes),
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


def _story(
    known: _Known,
    chosen: _Chosen,
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
        notes=(*_forbidden(known.gone), *chosen.notes, *_no_choice(chosen, traces), *_few(counted), *doubts),
        by_state=by_state,
        performers=performers(traces),
    )


def _same(model: float | None, log: float) -> float | None:
    """Number of the model, written as in the log where rounding alone is between them."""
    return log if model is not None and abs(model - log) < SAME else model


def _left_out(whole: MDP, found: Supported) -> tuple[str, ...]:
    """Tell what strategies may not use, and what the best would be if they might."""
    if not found.left_out and not found.as_observed:
        return ()
    told = found.sentence(*best_with_and_without(whole, found, POSITIVE))
    return () if told is None else (told,)


def _idling(question: Question, activities: Mapping[str, States]) -> tuple[str, ...]:
    """Explain "0 at worst" where a strategy may go round in circles for ever."""
    if question.model.min.values[question.start] > 0:
        return ()
    graph = Graph.of(question.mdp)
    final = np.asarray([action == FINAL for action in question.mdp.actions])
    number, _ = end_components(graph, inside=~question.target_states, enabled=~final)
    start = np.arange(graph.n_states) == question.start
    circling = (number >= 0) & reachable(graph, start, enabled=question.enabled)
    named = [name for name, states in activities.items() if (states & circling).any()]
    if not named:
        return ()
    told = ", ".join(map(repr, named[:4])) + (" ..." if len(named) > 4 else "")
    return (f"at worst is 0 because strategies may go round in circles for ever ({told}), which no case does",)


def _on_few(question: Question, states: States) -> bool:
    """Whether one of the bounds hangs on choices that few cases took."""
    if isinstance(question.scope, Strategy):
        return False
    return any(share_resting_on_few(witness(question, states, side), question.target_states) > HANGS for side in SIDES)


def _no_choice(chosen: _Chosen, traces: Any) -> tuple[str, ...]:
    """Tell of people who choose and never have an alternative."""
    variants = traces.variants if isinstance(traces, Traces) else traces
    acting = any(given != ENVIRONMENT for trace in variants for given, _ in steps_of(trace))
    if chosen.questions or not acting:
        return ()
    return (
        "whoever chooses has never more than one thing to choose; name the events that are alternatives (--choosing)",
    )


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


def by_activity(story: Story, reached: Bounds, known: _Known) -> Explanation:
    """Explanation whose states are the activities: what every report about a log is made from."""
    graph = activity_graph(known.log)
    names = [score.name for score in story.activities]
    asked = np.array([graph.state(name) for name in names], np.int64)
    seen = [known.in_model(name) for name in names]
    columns: dict[str, list[Bounds]] = {
        OBSERVED: [_point(score.observed) for score in story.activities],
        CONTRAST: [
            _point(None if o is None else _same(o.bad_share, s.bad_share))
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
