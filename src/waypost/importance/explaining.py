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
from waypost.importance.results import Explanation, StateImportance, Witnesses
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
    mdp
        The model; its initial state is where every run starts.
    target
        A state name, a label, an expression over variables, or several of them.
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
    exact
        Compute in rationals; the bounds are Fractions.
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
    wanted = [scope] if isinstance(scope, str | Strategy) or not isinstance(scope, Iterable) else list(scope)
    questions = [base if each == "all" else base.within(each) for each in wanted]
    if len({question.scope_name for question in questions}) < max(len(wanted), 1):
        raise ArgumentError("scope is 'all', 'optimal', a Strategy, or several of them, each kind once")
    if isinstance(witnesses, bool) or not isinstance(witnesses, int) or witnesses < 0:
        raise ArgumentError(f"witnesses is a number of states, not {witnesses!r}")
    if top is not None and (isinstance(top, bool) or not isinstance(top, int) or top < 1):
        raise ArgumentError(f"top is a number of states, at least 1, not {top!r}")
    asked, proved = states_of(mdp, states), None
    together = len(asked) >= TOGETHER
    scores: dict[str, StateImportance]
    if top is None:
        scores = {q.scope_name: ask_states(q, asked, progress=progress) for q in questions}
    else:
        scores, proved = ask_most_important(questions, asked, top, progress=progress)
        asked = next(iter(scores.values())).asked
    grouped = {q.scope_name: ask_groups(q, {} if groups is None else groups) for q in questions}
    first = ranking(scores.values())[:witnesses]
    return explanation_of(
        base,
        scores,
        absolute=_absolute(base, scores, together=together, progress=progress),
        groups={name: {part: found[name] for part, found in grouped.items()} for name in next(iter(grouped.values()))},
        witnesses={name: _witnesses(result, first) for name, result in scores.items()},
        conserving=next((question.reach.conserving for question in questions if question.optimal), None),
        whatifs=WhatIfs.of(base, asked) if whatifs else None,
        insight=_insight(questions, decisions=decisions, choices=choices) if decisions or choices else None,
        top=proved,
    )


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


def _witnesses(result: StateImportance, positions: Ints) -> dict[str, Witnesses]:
    names = [result.mdp.states[result.asked[k]] for k in positions]
    return {name: Witnesses(*(result.witness(name, side) for side in SIDES)) for name in names}
