"""What is known of a log, and what could be where somebody chooses in its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from waypost.graph import Graph, end_components, reachable
from waypost.importance import Bounds, Explanation, Question, explain
from waypost.importance.activities import ActivityScore
from waypost.importance.choices import ChoiceImportance, ask_choices
from waypost.importance.passing import SIDES, bounds, witness
from waypost.importance.question import Scope
from waypost.importance.whatifs import without as forbidding
from waypost.learn import Learned, Prepared, activity_states, observed_strategy
from waypost.learn.observed import Observed, passing
from waypost.logs import Contrast, Contrasts, Log
from waypost.logs.variants import waits_apart
from waypost.model import FINAL, MDP, Strategy, induced_chain
from waypost.model.arrays import Mask
from waypost.model.traces import POSITIVE, Counted, written
from waypost.uncertainty.support import (
    Supported,
    best_with_and_without,
    share_resting_on_few,
    supported,
    usual_min_seen,
)

HANGS = 0.05  # share of the good runs that must rest on rare choices before a bound is marked
SAME = 1e-11
SMALL = 2000  # states; a larger model in which nobody chooses is told by activity only


@dataclass(frozen=True)
class Groundwork:
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
    def states(self) -> Mapping[str, Mask]:
        """States of the model in which each activity happens."""
        return activity_states(self.learned.mdp, self.log, naming=self.ready.naming)

    def in_model(self, activity: str) -> Observed | None:
        """What the model, as the process was run, says of an activity."""
        return self.learned.fit.observed.get(written(activity, self.ready.naming))


class Chosen:
    """What could be, where somebody chooses: bounds over strategies that use what was seen often enough."""

    def __init__(self, known: Groundwork, scopes: Sequence[Scope], min_seen: int | None) -> None:
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
        cases = counted.good_cases, counted.bad_cases
        return ActivityScore(
            **{each.name: getattr(counted, each.name) for each in fields(Counted)},
            observed=None if observed is None else same(observed.good_share, counted.good_share),
            bounds={name: Bounds(*map(float, bounds(q, states))) for name, q in self.questions.items()},
            on_few=self.on_few(states),
            waiting=waits_apart(counted.good_waiting, counted.bad_waiting, cases),
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

    def on_few(self, states: Mask) -> frozenset[str]:
        """Scopes in which a bound of passing these states hangs on choices that few cases took."""
        if self.base is None:
            return frozenset()
        least, most = bounds(self.base, states)
        if least == 1 or most == 0:  # that the graph alone decides, whatever is chosen
            return frozenset()
        return frozenset(name for name, question in self.questions.items() if _on_few(question, states))


def same(model: float | None, log: float) -> float | None:
    """Number of the model, written as in the log where rounding alone is between them."""
    return log if model is not None and abs(model - log) < SAME else model


def _left_out(whole: MDP, found: Supported) -> tuple[str, ...]:
    """Tell what strategies may not use, and what the best would be if they might."""
    if not found.left_out and not found.as_observed:
        return ()
    told = found.sentence(*best_with_and_without(whole, found, POSITIVE))
    return () if told is None else (told,)


def _idling(question: Question, activities: Mapping[str, Mask]) -> tuple[str, ...]:
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


def _on_few(question: Question, states: Mask) -> bool:
    """Whether one of the bounds hangs on choices that few cases took."""
    if isinstance(question.scope, Strategy):
        return False
    return any(share_resting_on_few(witness(question, states, side), question.target_states) > HANGS for side in SIDES)
