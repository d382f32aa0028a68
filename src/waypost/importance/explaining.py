"""Everything a report needs, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from waypost.arguments import Natural, Positive, checked
from waypost.errors import ArgumentError, PrecisionError
from waypost.graph import Ints
from waypost.importance.beside import Top
from waypost.importance.choices import ChoiceImportance, ask_choices
from waypost.importance.deciding import decisions as decisions_of
from waypost.importance.groups import Groups, ask_groups
from waypost.importance.insight import BEST, GIVEN, Insight
from waypost.importance.numbers import TOGETHER, ask_states, states_of, without_normalisation
from waypost.importance.passing import SIDES
from waypost.importance.question import Question, Scope
from waypost.importance.reading import explanation_of, ranking
from waypost.importance.results import Bounds, Explanation, StateImportance, Witnesses
from waypost.importance.sweeps import Progress
from waypost.importance.top import ask_most_important
from waypost.importance.whatifs import WhatIfs
from waypost.model import MDP, Strategy, Target


@checked
def explain(
    mdp: MDP,
    *,
    target: Target,
    scope: Scope | Iterable[Scope] = ("all", "optimal"),
    states: str | Iterable[str] | None = None,
    groups: Groups | None = None,
    witnesses: Natural = 0,
    whatifs: bool = False,
    top: Positive | None = None,
    decisions: bool = False,
    choices: bool = False,
    absolute: bool = False,
    exact: bool = False,
    progress: Progress | None = None,
) -> Explanation:
    """Everything a report needs: reachability, importance in each scope, and more where it is asked for.

    Parameters
    ----------
    mdp, target, states, exact, progress
        As in `state_importance`; ``states=()`` asks about none.
    scope
        One scope or several: "all", "optimal", a `Strategy`.
    groups
        As in `group_importance`.
    witnesses
        For how many of the most important states to keep the strategies that attain their bounds.
    top
        Compute only this many states, and prove that they are the most important ones; `Explanation.top` says how.
    whatifs, decisions, choices
        Whether to add the probability of the target after and without each state; what each action is worth, and what
        the wrong one costs under the given strategy, or else a best one; the importance of every choice.
    absolute
        Whether to add the absolute importance: over the scope, if there is one, and over all strategies if there are
        several.

    Returns
    -------
    Explanation
        Plain data, a mapping from state names to bounds by scope.

    Raises
    ------
    ArgumentError
        If a scope is asked for twice, or is none.
    WaypostError
        Else as `state_importance` and, where groups are asked for, `group_importance`.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> found = explain(loan(), target="Granted", decisions=True)
    >>> found.reachability, list(found.scopes), found.insight.decisions["Consultation"].best
    (Bounds(lower=0.0, upper=0.98), ['all', 'optimal'], ('Apply',))
    """
    base = Question.of(mdp, target=target, scope="all", exact=exact)
    questions = _questions(base, scope)
    asked = states_of(mdp, states)
    scores, proved = _scores(questions, asked, top, progress)
    return explanation_of(
        base,
        scores,
        absolute=_absolute(base, scores, together=len(asked) >= TOGETHER, progress=progress) if absolute else None,
        groups=_groups(questions, groups),
        witnesses=_witnesses(scores, witnesses),
        conserving=next((question.reach.conserving for question in questions if question.optimal), None),
        whatifs=WhatIfs.of(base, next(iter(scores.values())).asked) if whatifs else None,
        insight=_insight(questions, decisions=decisions, choices=choices) if decisions or choices else None,
        top=proved,
    )


def _questions(base: Question, scope: Scope | Iterable[Scope]) -> list[Question]:
    """One question per scope asked for; they share what is known of the model."""
    wanted = [scope] if isinstance(scope, str | Strategy) or not isinstance(scope, Iterable) else list(scope)
    questions = [base if each == "all" else base.within(each) for each in wanted]
    if len({question.scope_name for question in questions}) < max(len(wanted), 1):
        raise ArgumentError("scope is 'all', 'optimal', a Strategy, or several of them, each kind once")
    return questions


def _scores(
    questions: Sequence[Question], asked: Ints, top: int | None, progress: Progress | None
) -> tuple[dict[str, StateImportance], Top | None]:
    """Importance by scope, of all states asked about or of the `top` ones, with how these were told from the others."""
    if top is None:
        return {q.scope_name: ask_states(q, asked, progress=progress) for q in questions}, None
    return ask_most_important(questions, asked, top, progress=progress)


def _groups(questions: Sequence[Question], groups: Groups | None) -> dict[str, dict[str, Bounds]]:
    """Bounds of each group by scope."""
    found = {q.scope_name: ask_groups(q, {} if groups is None else groups) for q in questions}
    return {name: {part: of[name] for part, of in found.items()} for name in next(iter(found.values()))}


def _absolute(
    base: Question, scores: dict[str, StateImportance], *, together: bool, progress: Progress | None
) -> StateImportance:
    """Absolute importance: over the scope where there is one, which its scores tell; over all strategies elsewhere."""
    only = next(iter(scores.values()))
    if len(scores) > 1 or only.scope == "all":
        return ask_states(base, only.asked, absolute=True, together=together, progress=progress)
    if progress is not None:
        progress(2 * len(only.asked))
    return without_normalisation(only)


def _insight(questions: Sequence[Question], *, decisions: bool, choices: bool) -> Insight:
    """Decisions under the strategy that is one of the scopes, or else a best one; choices in each scope."""
    given = next((q.scope for q in questions if isinstance(q.scope, Strategy)), None)
    first = questions[0]
    found = decisions_of(first.mdp, target=list(first.target), strategy=given) if decisions else None
    return Insight(
        BEST if given is None else GIVEN,
        found or None,  # a model may have no choice
        _choices(questions) if choices else {},
    )


def _choices(questions: Sequence[Question]) -> dict[str, ChoiceImportance]:
    """Importance of choices by scope, where it can be certified."""
    found: dict[str, ChoiceImportance] = {}
    for question in questions:
        with suppress(PrecisionError):
            found[question.scope_name] = ask_choices(question)
    return found


def _witnesses(scores: dict[str, StateImportance], count: int) -> dict[str, dict[str, Witnesses]]:
    """Strategies that attain the bounds of the `count` most important states, by scope."""
    first = ranking(scores.values())[:count]
    found: dict[str, dict[str, Witnesses]] = {}
    for scope, result in scores.items():
        names = [result.mdp.states[s] for s in result.asked[first]]
        found[scope] = {name: Witnesses(*(result.witness(name, side) for side in SIDES)) for name in names}
    return found
