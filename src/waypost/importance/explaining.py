"""Everything a report needs, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from waypost.errors import ArgumentError, PrecisionError
from waypost.graph import Ints
from waypost.importance.choices import ChoiceImportance, ask_choices
from waypost.importance.deciding import decisions as decisions_of
from waypost.importance.groups import Groups, ask_groups
from waypost.importance.insight import BEST, GIVEN, Insight
from waypost.importance.numbers import TOGETHER, ask_states, states_of, without_normalisation
from waypost.importance.passing import SIDES
from waypost.importance.question import Question, Scope
from waypost.importance.reading import explanation_of, ranking
from waypost.importance.results import Bounds, Explanation, StateImportance, Top, Witnesses
from waypost.importance.sweeps import Progress
from waypost.importance.top import ask_most_important
from waypost.importance.whatifs import WhatIfs
from waypost.model import MDP, Strategy, Target


def explain(
    mdp: MDP,
    *,
    target: Target,
    scope: Scope | Iterable[Scope] = ("all", "optimal"),
    states: str | Iterable[str] | None = None,
    groups: Groups | None = None,
    witnesses: int = 0,
    whatifs: bool = False,
    top: int | None = None,
    decisions: bool = False,
    choices: bool = False,
    exact: bool = False,
    progress: Progress | None = None,
) -> Explanation:
    """Everything a report needs: reachability, importance in each scope, and absolute importance.

    The absolute importance is over the scope, where one is asked for, and over all strategies where several are.

    Parameters
    ----------
    mdp, target, exact
        As in `state_importance`.
    scope
        One scope or several: "all", "optimal", a `Strategy`.
    states
        Names of the states to ask about; every state by default, and none for ``()``.
    groups
        Labels or names of states by a name of your own, or "labels" for every label that several states share: the
        explanation has the bounds of passing any state of each.
    witnesses
        For how many of the most important states the explanation carries the strategies that attain their bounds.
    whatifs
        Whether the explanation carries the probability of the target after and without each state.
    decisions
        Whether it carries what each action is worth, how often it is asked for, and what the wrong one costs: under the
        given strategy where there is one, else under a best one.
    choices
        Whether it carries the importance of every choice, in each scope in which it can be certified.
    top
        Only the so many most important states, those that come first in the `ranking` of all: proved to be them, from a
        bound on every state, long before all are computed. `Explanation.top` says how.
    progress
        Told how many bounds were settled since it was last called; two per state and scope, and two more per state.

    Returns
    -------
    Explanation
        Plain data, a mapping from state names to bounds by scope.

    Raises
    ------
    WaypostError
        As `state_importance`.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> found = explain(loan(), target="Granted")
    >>> found.reachability, list(found.scopes)
    (Bounds(lower=0.0, upper=0.98), ['all', 'optimal'])
    >>> follows = explain(loan(), target="Granted", decisions=True, choices=True).insight
    >>> follows.decisions["Consultation"].best, follows.choices["optimal"]["Consultation", "Apply"].upper
    (('Apply',), 1.0)
    """
    base = Question.of(mdp, target=target, scope="all", exact=exact)
    questions = _questions(base, scope)
    _check_count("witnesses", witnesses, least=0)
    asked = states_of(mdp, states)
    scores, proved = _scores(questions, asked, top, progress)
    return explanation_of(
        base,
        scores,
        absolute=_absolute(base, scores, together=len(asked) >= TOGETHER, progress=progress),
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


def _check_count(word: str, count: int, *, least: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or count < least:
        raise ArgumentError(f"{word} is a number of states, at least {least}, not {count!r}")


def _scores(
    questions: Sequence[Question], asked: Ints, top: int | None, progress: Progress | None
) -> tuple[dict[str, StateImportance], Top | None]:
    """Importance by scope, of all states asked about or of the `top` ones, with how these were told from the others."""
    if top is None:
        return {q.scope_name: ask_states(q, asked, progress=progress) for q in questions}, None
    _check_count("top", top, least=1)
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
