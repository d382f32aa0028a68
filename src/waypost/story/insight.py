"""What follows from an explanation for whoever acts: computed once, so that every report only shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from waypost.errors import UndefinedImportanceError
from waypost.importance import Explanation
from waypost.importance.activities import ActivityScore
from waypost.importance.choices import ChoiceImportance
from waypost.importance.deciding import Decisions, decisions, few_decisions
from waypost.importance.insight import BEST, GIVEN, OBSERVED, Block, Insight, Route, Segment
from waypost.importance.question import Question
from waypost.importance.whatifs import WhatIfs
from waypost.learn import observed_strategy
from waypost.logs import ProcessMap
from waypost.model import MDP, Strategy, Target
from waypost.model.traces import POSITIVE
from waypost.patterns import find_patterns, usual_ways
from waypost.story.counting import telling_orders, usual_routes

STATES = 2_000  # of a larger model, neither ways nor segments are looked for
EFFORT = 2_000  # segments tried
TOP = 10
LEAST_SHARE = 1e-3  # rarer ways are nobody's usual ones


def with_insight(explanation: Explanation) -> Explanation:
    """Explanation of a model with its decisions, what-ifs, usual ways and telling segments, as far as it is small.

    They are those of the strategy that was given as a scope, or else of a best one.

    >>> from waypost import explain
    >>> from waypost.cases import loan
    >>> found = with_insight(explain(loan(), target="Granted")).insight
    >>> found.decisions["Consultation"].best, [round(route.share, 3) for route in found.routes[:2]]
    (('Apply',), [0.436, 0.436])
    """
    question = next((q for part in explanation.scopes.values() if (q := part.question) is not None), None)
    if question is None or explanation.log is not None:
        return explanation
    mdp, target = explanation.mdp, list(explanation.targets)
    strategy = _given(explanation)
    small = mdp.n_states <= STATES
    known = explanation.insight or Insight(GIVEN if strategy is not None else BEST)
    found = replace(
        known,
        decisions=known.decisions or _decisions(mdp, target, strategy),
        whatifs=explanation.whatifs or (WhatIfs.of(_over_all(question), explanation.asked) if small else None),
        routes=_routes(mdp, target, strategy) if small else (),
        segments=_segments(mdp, target, strategy) if small else (),
    )
    return replace(explanation, insight=found)


def log_insight(
    process: ProcessMap, scores: tuple[ActivityScore, ...], mdp: MDP, choices: Mapping[str, ChoiceImportance]
) -> Insight:
    """Insight of a log: ways and orders counted in its cases, decisions as observed in the model where one chooses.

    `choices` are the importance of the model's choices, where it is known.
    """
    defining = [score.name for score in scores if score.defines_outcome is not None]
    return Insight(
        OBSERVED,
        _decisions(mdp, [POSITIVE], observed_strategy(mdp)) if mdp.counts is not None else None,
        choices,
        routes=usual_routes(process),
        segments=telling_orders(process, defining),
    )


def _given(explanation: Explanation) -> Strategy | None:
    asked = explanation.scopes.get("strategy")
    scope = None if asked is None or asked.question is None else asked.question.scope
    return scope if isinstance(scope, Strategy) else None


def _over_all(question: Question) -> Question:
    return question if question.scope == "all" else question.within("all")


def _decisions(mdp: MDP, target: Target, strategy: Strategy | None) -> Decisions | None:
    if not few_decisions(mdp):
        return None
    found = decisions(mdp, target=target, strategy=strategy)
    return found if len(found) else None


def _routes(mdp: MDP, target: Target, strategy: Strategy | None) -> tuple[Route, ...]:
    try:
        ways = usual_ways(mdp, target=target, strategy=strategy, top=TOP)
    except UndefinedImportanceError:  # the given strategy never reaches the target
        return ()
    return tuple(
        Route(tuple(Block(part.steps, part.least, part.most) for part in way.parts), way.share)
        for way in ways
        if way.share >= LEAST_SHARE
    )


def _segments(mdp: MDP, target: Target, strategy: Strategy | None) -> tuple[Segment, ...]:
    try:
        found = find_patterns(mdp, target=target, strategy=strategy, top=TOP, effort=EFFORT)
    except UndefinedImportanceError:
        return ()
    return tuple(
        Segment(
            str(one.pattern),
            tuple(str(test.name) for test in one.pattern.tests() if test.name is not None),
            one.importance,
            one.contrast,
            one.information,
        )
        for one in found
        if one.contrast is not None
    )
