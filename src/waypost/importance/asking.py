"""Importance as people ask for it: of states, groups and paths, under one strategy or over many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from waypost.arguments import checked
from waypost.importance.groups import Groups, ask_groups
from waypost.importance.numbers import ask_path, ask_states, states_of
from waypost.importance.question import Question, Scope
from waypost.importance.results import Bounds, StateImportance
from waypost.importance.single import PathImportance
from waypost.importance.sweeps import Progress
from waypost.model import MDP, Target


@checked
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
    question = Question.of(mdp, target=target, scope=scope, exact=exact)
    return ask_states(question, states_of(mdp, states), progress=progress)


@checked
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
    mdp, target, scope, states, exact, progress
        As in `state_importance`.

    Returns
    -------
    StateImportance
        A mapping from state names to `Bounds`, whose `problem` is "absolute".

    Raises
    ------
    WaypostError
        Where `state_importance` does: a target out of reach is no share of anything, here neither.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> absolute_importance(loan(), target="Granted", exact=True)["Application"]
    Bounds(lower=Fraction(0, 1), upper=Fraction(931, 1000))
    """
    question = Question.of(mdp, target=target, scope=scope, exact=exact)
    return ask_states(question, states_of(mdp, states), absolute=True, progress=progress)


@checked
def group_importance(
    mdp: MDP, *, target: Target, scope: Scope, groups: Groups, exact: bool = False
) -> dict[str, Bounds]:
    """Importance of passing any state of a group, for example every state that carries a label.

    Parameters
    ----------
    mdp, target, scope, exact
        As in `state_importance`.
    groups
        Labels or names of states by a name of your own, or "labels" for every label that several states share.

    Returns
    -------
    dict
        `Bounds` by the name of the group.

    Raises
    ------
    ArgumentError
        If groups are neither "labels" nor names by a name.
    NameUnknownError
        If a group names a state or a label that is not there.
    WaypostError
        Else as `state_importance`.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> group_importance(loan(), target="Granted", scope="all", groups={"advice": ["Consultation", "Error"]})
    {'advice': Bounds(lower=0.0, upper=1.0)}
    """
    return ask_groups(Question.of(mdp, target=target, scope=scope, exact=exact), groups)


@checked
def path_importance(
    mdp: MDP, *, path: Sequence[str], target: Target, scope: Scope, exact: bool = False
) -> PathImportance:
    """Importance of a simple path from the initial state, for reaching `target`.

    Paper: P3 and P4, Sect. 4.1.

        imp(tau) = Pr(tau) Pr_sn(F t) / Pr_s0(F t)

    Parameters
    ----------
    mdp, target, exact
        As in `state_importance`.
    path
        States and actions in turn: ``[s0, a0, s1, ..., sn]``; no state twice, none of the target.
    scope
        "all" strategies that follow the path, the "optimal" ones of them, or one `Strategy`.

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
