"""Importance as people ask for it: of states, groups and paths, under one strategy or over many; or all at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from waypost.errors import ArgumentError, PrecisionError
from waypost.graph import Ints
from waypost.importance.groups import Groups, ask_groups
from waypost.importance.passing import SIDES, bounds
from waypost.importance.paths import path_bounds
from waypost.importance.question import Question, Scope, plain
from waypost.importance.reading import explanation_of, ranking
from waypost.importance.results import Bounds, Explanation, PathImportance, StateImportance, Witnesses
from waypost.importance.sweeps import Progress, bounds_of_states
from waypost.importance.whatifs import WhatIfs
from waypost.model import MDP, Strategy, Target
from waypost.model.checking import names_of

TOGETHER = 6  # fewer states than this are asked about one by one


def state_importance(
    mdp: MDP,
    *,
    target: Target,
    scope: Scope,
    states: str | Iterable[str] | None = None,
    exact: bool = False,
    progress: Progress | None = None,
) -> StateImportance:
    """Importance of states for reaching `target`, bounded over the strategies in scope.

    Paper: P1 and P2, Sect. 4.1; scope "optimal" is Sigma*, Sect. 5.

        imp(s) = Pr(F t and (not t U s)) / Pr(F t)

    Parameters
    ----------
    mdp
        The model; its initial state is where every run starts.
    target
        A state name, a label, an expression over variables, or several of them.
    scope
        "all" strategies that can reach the target, only the "optimal" ones, or one `Strategy`.
    states
        Names of the states to ask about; every state by default.
    exact
        Compute in rationals; the bounds are Fractions.
    progress
        Told how many bounds were settled since it was last called; in all there are two per state.

    Returns
    -------
    StateImportance
        A mapping from state names to `Bounds`, which also finds the strategies that attain them.

    Raises
    ------
    UndefinedImportanceError
        If the target cannot be reached, so that importance would divide by zero.
    NameUnknownError
        If a name is not in the model.
    ArgumentError
        If an argument is of the wrong kind, or empty.
    StrategyError
        If the strategy belongs to another model.
    PrecisionError
        If the target is too rare for floating point, or no number asked for can be certified; exact arithmetic can.
        Where some can, the result says which were `refused`.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> result = state_importance(loan(), target="Granted", scope="optimal")
    >>> result["Application"]
    Bounds(lower=0.0, upper=0.95)
    >>> state_importance(loan(), target="Granted", scope="all", states="Error", exact=True)["Error"]
    Bounds(lower=Fraction(0, 1), upper=Fraction(98, 953))
    """
    return ask_states(Question.of(mdp, target=target, scope=scope, exact=exact), states, progress=progress)


def absolute_importance(
    mdp: MDP,
    *,
    target: Target,
    scope: Scope = "all",
    states: str | Iterable[str] | None = None,
    exact: bool = False,
    progress: Progress | None = None,
) -> StateImportance:
    """Probability of passing a state and then reaching `target`: importance without normalisation.

    Paper: the absolute variant, Sect. 4.1. The lower bound over all strategies is an infimum: strategies that come
    arbitrarily close still reach the target, its witness need not.

        abs(s) = Pr(F t and (not t U s))

    Parameters
    ----------
    mdp
        The model; its initial state is where every run starts.
    target
        A state name, a label, an expression over variables, or several of them.
    scope
        "all" strategies that can reach the target, only the "optimal" ones, or one `Strategy`.
    states
        Names of the states to ask about; every state by default.
    exact
        Compute in rationals; the bounds are Fractions.
    progress
        Told how many bounds were settled since it was last called; in all there are two per state.

    Returns
    -------
    StateImportance
        A mapping from state names to `Bounds`.

    Raises
    ------
    WaypostError
        As `state_importance`.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> absolute_importance(loan(), target="Granted", exact=True)["Application"]
    Bounds(lower=Fraction(0, 1), upper=Fraction(931, 1000))
    """
    question = Question.of(mdp, target=target, scope=scope, exact=exact)
    return ask_states(question, states, absolute=True, progress=progress)


def group_importance(
    mdp: MDP, *, target: Target, scope: Scope, groups: Groups, exact: bool = False
) -> dict[str, Bounds]:
    """Importance of passing any state of a group, for example every state that carries a label.

    Parameters
    ----------
    mdp
        The model; its initial state is where every run starts.
    target
        A state name, a label, an expression over variables, or several of them.
    scope
        "all" strategies that can reach the target, only the "optimal" ones, or one `Strategy`.
    groups
        Labels or names of states by a name of your own, or "labels" for every label that several states share.
    exact
        Compute in rationals; the bounds are Fractions.

    Returns
    -------
    dict
        `Bounds` by the name of the group.

    Raises
    ------
    WaypostError
        As `state_importance`.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> group_importance(loan(), target="Granted", scope="all", groups={"advice": ["Consultation", "Error"]})
    {'advice': Bounds(lower=0.0, upper=1.0)}
    """
    return ask_groups(Question.of(mdp, target=target, scope=scope, exact=exact), groups)


def path_importance(
    mdp: MDP, *, path: Sequence[str], target: Target, scope: Scope, exact: bool = False
) -> PathImportance:
    """Importance of a simple path from the initial state, for reaching `target`.

    Paper: P3 and P4, Sect. 4.1.

        imp(tau) = Pr(tau) Pr_sn(F t) / Pr_s0(F t)

    Parameters
    ----------
    mdp
        The model.
    path
        States and actions in turn: ``[s0, a0, s1, ..., sn]``; no state twice, none of the target.
    target
        A state name, a label, an expression over variables, or several of them.
    scope
        "all" strategies that follow the path, the "optimal" ones of them, or one `Strategy`.
    exact
        Compute in rationals; the bounds are Fractions.

    Returns
    -------
    PathImportance
        Both bounds, and what following the path costs.

    Raises
    ------
    PathError
        If it is no simple path from the initial state that avoids the target.
    WaypostError
        Else as `state_importance`.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> found = path_importance(loan(), path=["s0", "Apply", "Application"], target="Granted", scope="all")
    >>> round(found.lower, 12), found.upper
    (0.897166841553, 1.0)
    >>> path_importance(loan(), path=["s0", "Apply", "Application"], target="Granted", scope="optimal").lower
    0.95
    """
    return ask_path(Question.of(mdp, target=target, scope=scope, exact=exact), path)


def explain(
    mdp: MDP,
    *,
    target: Target,
    scope: Scope | Iterable[Scope] = ("all", "optimal"),
    states: str | Iterable[str] | None = None,
    groups: Groups | None = None,
    witnesses: int = 0,
    whatifs: bool = False,
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
    """
    base = Question.of(mdp, target=target, scope="all", exact=exact)
    questions = _in_scopes(base, scope)
    if isinstance(witnesses, bool) or not isinstance(witnesses, int) or witnesses < 0:
        raise ArgumentError(f"witnesses is a number of states, not {witnesses!r}")
    asked = states if states is None or states == () else names_of("states", states)
    scores: dict[str, StateImportance] = {q.scope_name: ask_states(q, asked, progress=progress) for q in questions}
    top = ranking(scores.values())[:witnesses]
    return explanation_of(
        base,
        scores,
        absolute=ask_states(questions[0] if len(questions) == 1 else base, asked, absolute=True, progress=progress),
        groups=_by_group(questions, {} if groups is None else groups),
        witnesses={name: _witnesses(result, top) for name, result in scores.items()},
        whatifs=WhatIfs.of(base, next(iter(scores.values())).asked) if whatifs else None,
    )


def ask_states(
    question: Question,
    states: str | Iterable[str] | None = None,
    *,
    absolute: bool = False,
    progress: Progress | None = None,
) -> StateImportance:
    """Both bounds of every state asked for, each once, in the order asked for; of all states by default."""
    mdp = question.mdp
    asked = np.arange(mdp.n_states)
    if states is not None:
        names = () if states == () else names_of("states", states)
        asked = np.array(list(dict.fromkeys(mdp.state(name) for name in names)), np.int64)
    if progress is not None and not callable(progress):
        raise ArgumentError(f"progress is a function that is told a number of bounds, not {progress!r}")
    lower: Any
    upper: Any
    refused: dict[int, str] = {}
    if question.exact or len(asked) < TOGETHER or (question.chain is not None and question.chain.modes > 1):
        dtype: Any = object if question.exact else float
        lower, upper = np.empty(len(asked), dtype), np.empty(len(asked), dtype)
        for k, state in enumerate(asked):
            single = np.arange(mdp.n_states) == state
            try:
                lower[k], upper[k] = map(plain, bounds(question, single, absolute=absolute))
            except PrecisionError as why:
                lower[k], upper[k], refused[int(state)] = 0.0, plain(question.best) if absolute else 1.0, str(why)
            if progress is not None:
                progress(2)
    else:
        directly = absolute and question.scope == "all"
        lower, upper = bounds_of_states(question, asked, absolute=directly, progress=progress, refused=refused)
        if absolute and not directly:
            lower, upper = lower * question.best, upper * question.best
    if refused and len(refused) == len(asked):  # nothing is left to answer
        raise PrecisionError(next(iter(refused.values())))
    return StateImportance(
        mdp=mdp,
        target=question.name,
        problem="absolute" if absolute else "importance",
        scope=question.scope_name,
        asked=asked,
        lower=lower,
        upper=upper,
        refused={mdp.states[s]: why for s, why in refused.items()},
        question=question,
    )


def ask_path(question: Question, path: Sequence[str]) -> PathImportance:
    """Both bounds of a path."""
    names = names_of("path", path)
    lower, upper, following = map(plain, path_bounds(question, names))
    return PathImportance(
        mdp=question.mdp,
        target=question.name,
        path=names,
        scope=question.scope_name,
        lower=lower,
        upper=upper,
        reachability=plain(question.best),
        reachability_following=following,
        question=question,
    )


def _in_scopes(base: Question, scope: Scope | Iterable[Scope]) -> list[Question]:
    """Ask the same in each scope."""
    wanted = [scope] if isinstance(scope, str | Strategy) or not isinstance(scope, Iterable) else list(scope)
    questions = [base if each == "all" else base.within(each) for each in wanted]
    if len({question.scope_name for question in questions}) < max(len(wanted), 1):
        raise ArgumentError("scope is 'all', 'optimal', a Strategy, or several of them, each kind once")
    return questions


def _by_group(questions: Sequence[Question], groups: Groups) -> dict[str, dict[str, Bounds]]:
    """Bounds of each group, by the name of the group and of the scope."""
    found: dict[str, dict[str, Bounds]] = {question.scope_name: ask_groups(question, groups) for question in questions}
    return {name: {scope: found[scope][name] for scope in found} for name in next(iter(found.values()))}


def _witnesses(result: StateImportance, positions: Ints) -> dict[str, Witnesses]:
    names = [result.mdp.states[result.asked[k]] for k in positions]
    return {name: Witnesses(*(result.witness(name, side) for side in SIDES)) for name in names}
