"""Importance of states, as people ask for it: P1 and P2, one state, some, or all; and without normalisation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from waypost.errors import PrecisionError, UndefinedImportanceError, WaypostError
from waypost.graph import Ints, Mask
from waypost.importance.facts import Facts
from waypost.importance.fixed import InducedChain
from waypost.importance.passing import Bound, Passing
from waypost.importance.reading import kinds, ranking
from waypost.importance.results import SIDES, Bounds, Explanation, Scope, Side, StateImportance, Witnesses
from waypost.importance.sweeps import bounds_of_states
from waypost.model import MDP, Strategy, Target, describe_target
from waypost.solve.rational import to_fraction
from waypost.solve.reachability import Reach

SMALLEST = 1e-290  # a rarer target leaves floats no digits
TOGETHER = 6  # fewer states than this are asked about one by one
Problem = Literal["importance", "absolute"]
Progress = Callable[[int], None]  # told how many bounds were settled since it was last called
Pair = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Question:
    """A model, a target and a scope: the ground on which every state is asked about."""

    mdp: MDP
    target: Mask
    name: str
    scope: Scope
    exact: bool
    known: Reach | None = None  # the target in this model, where another question has it already

    @classmethod
    def of(cls, mdp: MDP, *, target: Target, scope: Scope, exact: bool, known: Reach | None = None) -> Question:
        """Resolve names, and make sure that importance is defined."""
        if not isinstance(scope, Strategy) and scope not in ("all", "optimal"):
            raise WaypostError(f"scope is 'all', 'optimal' or a Strategy, not {scope!r}")
        names = target if isinstance(target, str) else list(target)
        question = cls(mdp, mdp.where(names), describe_target(names), scope, exact, known)
        if not question.facts.reach.possible[question.facts.start]:
            who = "this strategy never" if isinstance(scope, Strategy) else "no strategy"
            raise UndefinedImportanceError(
                f"{who} reaches {question.name} from {mdp.states[mdp.initial]!r}, so importance is undefined"
            )
        if not exact and question.facts.reach.max.values[question.facts.start] < SMALLEST:
            raise PrecisionError(f"{question.name} is too rare for floating point; ask for exact arithmetic (--exact)")
        return question

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy what is asked, not what is known."""
        return Question, (self.mdp, self.target, self.name, self.scope, self.exact)

    @property
    def scope_name(self) -> Literal["all", "optimal", "strategy"]:
        """Scope in one word."""
        return "strategy" if isinstance(self.scope, Strategy) else self.scope

    @cached_property
    def chain(self) -> InducedChain | None:
        """Chain of the strategy in scope, if it is one."""
        if not isinstance(self.scope, Strategy):
            return None
        return InducedChain.of(self.mdp, self.scope, self.target, exact=self.exact)

    @cached_property
    def facts(self) -> Facts:
        """Graph facts, in the model or in the strategy's chain."""
        if self.chain is not None:
            return Facts(self.chain.reach, self.chain.start)
        reach = Reach.of(self.mdp, self.target, exact=self.exact) if self.known is None else self.known
        return Facts(reach, self.mdp.initial, optimal=self.scope == "optimal")

    def passing(self, states: Mask) -> Passing:
        """The problem of passing some states of the model."""
        return Passing(self.facts, states if self.chain is None else self.chain.copies(states))

    def bounds(self, states: Mask) -> tuple[Any, Any]:
        """Least and greatest importance of passing some states."""
        problem = self.passing(states)
        upper = problem.highest().value
        return (upper if self.chain is not None else min(problem.lowest().value, upper)), upper

    def absolute(self, states: Mask) -> tuple[Any, Any]:
        """Least and greatest probability of passing some states and then reaching the target."""
        if self.scope == "all":
            problem = self.passing(states)
            return problem.absolute_lowest().value, problem.absolute_highest().value
        lower, upper = self.bounds(states)
        reached = self.facts.reach.max.values[self.facts.start]
        return lower * reached, upper * reached

    def witness(self, states: Mask, side: Side, problem: str) -> Strategy:
        """Strategy in scope that attains a bound."""
        if isinstance(self.scope, Strategy):
            return self.scope
        passing = self.passing(states)
        find = {
            ("importance", "lower"): passing.lowest,
            ("importance", "upper"): passing.highest,
            ("absolute", "lower"): passing.absolute_lowest if self.scope == "all" else passing.lowest,
            ("absolute", "upper"): passing.absolute_highest if self.scope == "all" else passing.highest,
        }
        bound: Bound = find[problem, side]()
        return bound.strategy(self.mdp, states)

    @cached_property
    def ties(self) -> tuple[str, ...]:
        """Choices that count as optimal up to rounding, as "state/action"."""
        if self.scope != "optimal" or self.exact:
            return ()
        tied = np.flatnonzero(self.facts.reach.conserving[1] & self.facts.visited[self.mdp.choice_state])
        return tuple(f"{self.mdp.states[self.mdp.choice_state[c]]}/{self.mdp.actions[c]}" for c in tied)


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
        A state name, a label, or several of them.
    scope
        "all" strategies that can reach the target, only the "optimal" ones, or one `Strategy`.
    states
        Names of the states to ask about; every state by default.
    exact
        Compute in rationals; the bounds are Fractions.
    progress
        Told how many bounds were settled since it was last called; in all there are two per state.

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
    return answer(question, asked_states(mdp, states), "importance", progress)


def absolute_importance(
    mdp: MDP, *, target: Target, scope: Scope = "all", states: str | Iterable[str] | None = None, exact: bool = False
) -> StateImportance:
    """Probability of passing a state and then reaching `target`: importance without normalisation.

    Paper: the absolute variant, Sect. 4. The lower bound over all strategies is an infimum: strategies that come
    arbitrarily close still reach the target, its witness need not.

    >>> from waypost.cases import loan
    >>> absolute_importance(loan(), target="Granted", exact=True)["Application"]
    Bounds(lower=Fraction(0, 1), upper=Fraction(931, 1000))
    """
    question = Question.of(mdp, target=target, scope=scope, exact=exact)
    return answer(question, asked_states(mdp, states), "absolute")


def group_importance(
    mdp: MDP, *, target: Target, scope: Scope, groups: Mapping[str, Target], exact: bool = False
) -> dict[str, Bounds]:
    """Importance of passing any state of a group, for example every state that carries a label.

    >>> from waypost.cases import loan
    >>> group_importance(loan(), target="Granted", scope="all", groups={"advice": ["Consultation", "Error"]})
    {'advice': Bounds(lower=0.0, upper=1.0)}
    """
    question = Question.of(mdp, target=target, scope=scope, exact=exact)
    return {name: Bounds(*map(plain, question.bounds(mdp.where(members)))) for name, members in groups.items()}


def explain(
    mdp: MDP,
    *,
    target: Target,
    scopes: Iterable[Literal["all", "optimal"]] = ("all", "optimal"),
    strategy: Strategy | None = None,
    states: str | Iterable[str] | None = None,
    groups: Mapping[str, Target] | Literal["labels"] | None = None,
    witnesses: int = 0,
    exact: bool = False,
    progress: Progress | None = None,
) -> Explanation:
    """Everything a report needs: reachability, importance in each scope, and absolute importance.

    `groups` are names of states by a name of your own, or "labels" for every label that several states share: each gets
    the bounds of passing any of its states. `witnesses` is for how many of the most important states the explanation
    carries the strategies that attain their bounds.

    >>> from waypost.cases import loan
    >>> found = explain(loan(), target="Granted")
    >>> found.reachability, list(found.scopes)
    (Bounds(lower=0.0, upper=0.98), ['all', 'optimal'])
    """
    asked = asked_states(mdp, states)
    target = target if isinstance(target, str) else list(target)
    wanted: list[Scope] = [*scopes, *([] if strategy is None else [strategy])]
    base = Question.of(mdp, target=target, scope="all", exact=exact)
    reach = base.facts.reach
    questions = [Question.of(mdp, target=target, scope=scope, exact=exact, known=reach) for scope in wanted]
    scores: dict[str, StateImportance] = {q.scope_name: answer(q, asked, "importance", progress) for q in questions}
    order = ranking(scores.values())
    named = _groups(mdp, groups)
    return Explanation(
        mdp=mdp,
        target=base.name,
        targets=(target,) if isinstance(target, str) else tuple(target),
        target_states=base.target,
        reachability=Bounds(plain(reach.min.values[mdp.initial]), plain(reach.max.values[mdp.initial])),
        scopes=scores,
        kinds=kinds(scores.get("all", next(iter(scores.values()))), base.target, base.facts.visited),
        ranking=order,
        absolute=answer(base, asked, "absolute", progress),
        groups={
            name: {q.scope_name: Bounds(*map(plain, q.bounds(states))) for q in questions}
            for name, states in named.items()
        },
        witnesses={
            scope: {
                result.names[k]: Witnesses(*(result.witness(result.names[k], side) for side in SIDES))
                for k in order[:witnesses]
            }
            for scope, result in scores.items()
        },
    )


def _groups(mdp: MDP, groups: Mapping[str, Target] | Literal["labels"] | None) -> dict[str, Mask]:
    """States of every group asked for."""
    if groups == "labels":
        return {name: holds for name, holds in mdp.labels.items() if holds.sum() > 1}
    return {name: mdp.where(members) for name, members in ({} if groups is None else groups).items()}


def asked_states(mdp: MDP, states: str | Iterable[str] | None) -> Ints:
    """Positions of the states asked for, each once, in the order asked for; all of them by default."""
    if states is None:
        return np.arange(mdp.n_states)
    names = [states] if isinstance(states, str) else list(states)
    return np.array(list(dict.fromkeys(mdp.state(name) for name in names)), np.int64)


def answer(question: Question, asked: Ints, problem: Problem, progress: Progress | None = None) -> StateImportance:
    """Both bounds for every state asked for."""
    if not question.exact and len(asked) >= TOGETHER and (question.chain is None or question.chain.modes == 1):
        lower, upper = _together(question, asked, problem, progress)
    else:
        lower, upper = _one_by_one(question, asked, problem, progress)
    return StateImportance(
        mdp=question.mdp,
        target=question.name,
        problem=problem,
        scope=question.scope_name,
        asked=asked,
        lower=lower,
        upper=upper,
        ties=question.ties,
        question=question,
    )


def _together(question: Question, asked: Ints, problem: Problem, progress: Progress | None) -> Pair:
    """Many states in floats: share everything shareable."""
    if problem == "absolute" and question.scope != "all":
        lower, upper = bounds_of_states(question.facts, asked, "importance", progress=progress)
        reached = question.facts.reach.max.values[question.facts.start]
        return lower * reached, upper * reached
    return bounds_of_states(question.facts, asked, problem, progress=progress)


def _one_by_one(question: Question, asked: Ints, problem: Problem, progress: Progress | None) -> Pair:
    """A few states, exact arithmetic, or strategies with memory."""
    dtype: Any = object if question.exact else float
    lower, upper = np.empty(len(asked), dtype), np.empty(len(asked), dtype)
    find = question.bounds if problem == "importance" else question.absolute
    for k, s in enumerate(asked):
        lower[k], upper[k] = map(plain, find(_single(question.mdp, int(s))))
        if progress is not None:
            progress(2)
    return lower, upper


def _single(mdp: MDP, s: int) -> NDArray[np.bool_]:
    mask = np.zeros(mdp.n_states, bool)
    mask[s] = True
    return mask


def plain(value: Any) -> Any:
    """Python's own float or Fraction."""
    return float(value) if isinstance(value, float | np.floating) else to_fraction(value)
