"""What an answer is: plain data that pickles, copies and reads like a mapping from states to bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.errors import ArgumentError, require
from waypost.importance.activities import Story
from waypost.importance.answer import ByState, report
from waypost.importance.beside import Intervals, Top
from waypost.importance.between import attaining
from waypost.importance.passing import Side, witness
from waypost.importance.question import Question, ScopeName, plain
from waypost.model import MDP, Strategy

if TYPE_CHECKING:
    from waypost.importance.insight import Insight
    from waypost.importance.whatifs import WhatIfs


Number = float | Fraction


class Bounds(NamedTuple):
    """The least and the greatest value over the strategies in scope; equal under one strategy.

    Attributes
    ----------
    lower, upper
        Floats, or Fractions in exact mode.

    Examples
    --------
    >>> low, high = Bounds(0.25, 1.0)
    >>> low, high
    (0.25, 1.0)
    """

    lower: Number
    upper: Number


class Witnesses(NamedTuple):
    """Strategies under which the importance of a state *is* its least and its greatest value.

    Attributes
    ----------
    lower, upper
        A `Strategy` each.

    Examples
    --------
    >>> from waypost import explain
    >>> from waypost.cases import loan
    >>> found = explain(loan(), target="Granted", witnesses=3).witnesses["optimal"]["s0"]
    >>> found.upper
    Strategy(deterministic, memory=2, states=10)
    """

    lower: Strategy
    upper: Strategy


class Kind(Enum):
    """What kind of step a state is, from its bounds.

    >>> from waypost import explain
    >>> from waypost.cases import loan
    >>> {kind.value for kind in explain(loan(), target="Granted").kinds} <= {kind.value for kind in Kind}
    True
    """

    START = "start"  # where every run begins
    TARGET = "target"  # where every successful run ends
    INDISPENSABLE = "indispensable"  # lower bound 1
    IMPORTANT = "important"  # lower bound at least `waypost.importance.reading.IMPORTANT`
    OPTIONAL = "optional"  # anything else: it depends on the choices
    MARGINAL = "marginal"  # upper bound at most `waypost.importance.reading.MARGINAL`
    DETRIMENTAL = "detrimental"  # upper bound 0: the target does not follow
    UNREACHABLE = "unreachable"  # upper bound 0: no strategy visits it before the target


@dataclass(frozen=True, eq=False)
class StateImportance(ByState[Bounds]):
    """Importance of states for reaching a target (P1, P2), or the same without normalisation (*absolute*).

    A mapping from state names to `Bounds`, in the order asked for.

    Attributes
    ----------
    mdp, target, scope
        What was asked about; the target as a person would write it, the scope by its name.
    problem
        "importance", or "absolute" where it is not normalised.
    asked
        ``(n,)`` positions of the states, in the order asked for; `names` are their names.
    lower, upper
        The bounds as arrays, in the order of `names`; Fractions in exact mode.
    refused
        By name, why a bound of a state could not be certified; then it is the widest there is, and true as such.
    question
        What was asked; it finds the witnesses. None for numbers that came from elsewhere.

    Examples
    --------
    >>> from waypost import state_importance
    >>> from waypost.cases import loan
    >>> result = state_importance(loan(), target="Granted", scope="optimal")
    >>> result["Application"]
    Bounds(lower=0.0, upper=0.95)
    >>> result.witness("Application", "upper")
    Strategy(deterministic, memory=2, states=10)
    """

    mdp: MDP
    target: str  # as a person would write it
    problem: Literal["importance", "absolute"]
    scope: ScopeName
    asked: NDArray[np.int64]  # (n,) states in the order asked for
    lower: NDArray[Any]  # (n,) floats, or Fractions in exact mode
    upper: NDArray[Any]  # (n,)
    refused: Mapping[str, str] = field(default_factory=dict)
    question: Question | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"StateImportance({self.problem} for {self.target}, scope={self.scope!r}, states={len(self.asked)})"

    @property
    def exact(self) -> bool:
        """Whether the numbers are Fractions."""
        return self.lower.dtype == object

    def at(self, position: int) -> Bounds:
        """Bounds of the state at a position of `asked`."""
        return Bounds(plain(self.lower[position]), plain(self.upper[position]))

    def to_dict(self) -> Mapping[str, Bounds]:
        """Bounds by state name."""
        return dict(self)

    def witness(self, state: str, side: Side | None = None, *, value: Number | None = None) -> Strategy:
        """Strategy in scope under which the importance of a state *is* one of its bounds, or a value between them.

        Parameters
        ----------
        state
            Name of a state that was asked for.
        side
            Which bound: "lower" or "upper".
        value
            Instead of a bound, any number between the two: a strategy that tosses once, at the start, between the
            witnesses of the bounds.

        Returns
        -------
        Strategy
            With a bit of memory: whether the state was seen.

        Raises
        ------
        ArgumentError
            If `side` is no bound, or `value` is not between them.
        NameUnknownError
            If the state was not asked for.

        Examples
        --------
        >>> from waypost import state_importance
        >>> from waypost.cases import loan
        >>> result = state_importance(loan(), target="Granted", scope="all", exact=True)
        >>> even = result.witness("Application", value=0.5)
        >>> state_importance(loan(), target="Granted", scope=even, exact=True)["Application"]
        Bounds(lower=Fraction(1, 2), upper=Fraction(1, 2))
        """
        position, question = self.position(state), present(self.question)
        only, absolute = np.arange(self.mdp.n_states) == self.asked[position], self.problem == "absolute"
        find = partial(witness, question, only, absolute=absolute)
        return attaining(question, self.at(position), find, side, value, absolute=absolute)

    def to_frame(self) -> Any:
        """The bounds as a pandas DataFrame, one row per state, indexed by name."""
        pandas = require("pandas", "table", "to_frame()")
        return pandas.DataFrame(
            {"lower": list(self.lower), "upper": list(self.upper)}, index=pandas.Index(self.names, name="state")
        )

    def as_explanation(self) -> Explanation:
        """The same as an explanation of one scope, which is what reports are made from."""
        from waypost.importance.reading import explanation_of

        if self.problem == "absolute":
            raise ArgumentError("reports are about importance; absolute importance stands beside it in `explain`")
        return explanation_of(present(self.question), {self.scope: self})

    def _repr_html_(self) -> str:
        from waypost.importance.reading import ranking

        lead = f"Reaching {self.target}: {_MEANING[self.problem]}, {_OVER[self.scope]}"
        return str(report("notebook_table")(lead, {"bounds": self}, ranking([self])))


@dataclass(frozen=True, eq=False)
class Explanation(ByState[dict[str, Bounds]]):
    """Everything `waypost explain` computed, by state name: the one thing every report is made from. Plain data.

    Attributes
    ----------
    mdp, target, targets, target_states
        What is explained; the target as a person would write it, as it was given, and as a mask ``(S,)``.
    reachability
        Least and greatest probability of the target from the initial state.
    scopes
        A `StateImportance` for each scope asked for ("all", "optimal", "strategy"), all over the same states.
    kinds
        What kind of step each state is, in the order of `names`, by the bounds in `main_scope`.
    ranking
        Positions of the states, most important first.
    absolute
        The same as `scopes` without normalisation, over all strategies.
    groups
        By group and scope, the bounds of passing any of the group's states.
    told_groups
        Groups that reports tell beside the states, with the number of their states (`with_groups`).
    witnesses
        By scope and state, the strategies that attain the bounds, for the states they were asked for.
    conserving
        Choices that keep the greatest probability of the target, where the best strategies were asked about.
    whatifs
        Success after and without each state, where it was asked for.
    intervals
        Where the bounds lie when the cases are drawn again, where `waypost.uncertainty.with_resampled` added it.
    top
        How these states were proved to be the most important ones, where no others were asked for.
    log
        What the log tells, where the explanation is one of a log; then its states are activities.
    insight
        Decisions and the importance of choices, where they were asked for; usual ways and telling segments, where
        `waypost.story.with_insight` added them, and of every log.

    Examples
    --------
    >>> from waypost import explain
    >>> from waypost.cases import loan
    >>> found = explain(loan(), target="Granted")
    >>> found
    Explanation('Granted', scopes=['all', 'optimal'], states=10)
    >>> found["Application"]["optimal"]
    Bounds(lower=0.0, upper=0.95)
    """

    mdp: MDP
    target: str  # as a person would write it
    targets: tuple[str, ...]  # the labels or state names it was given as
    target_states: NDArray[np.bool_]  # (S,)
    reachability: Bounds
    scopes: Mapping[str, StateImportance]
    kinds: tuple[Kind, ...]  # (n,)
    ranking: NDArray[np.int64]  # (n,)
    absolute: StateImportance | None = None
    groups: Mapping[str, Mapping[str, Bounds]] = field(default_factory=dict)
    told_groups: Mapping[str, int] = field(default_factory=dict)  # those with rows of their own, and their states
    witnesses: Mapping[str, Mapping[str, Witnesses]] = field(default_factory=dict)
    conserving: NDArray[np.bool_] | None = None  # (C,)
    whatifs: WhatIfs | None = None
    intervals: Intervals | None = None
    top: Top | None = None
    log: Story | None = None
    insight: Insight | None = None

    def __repr__(self) -> str:
        return f"Explanation({self.target}, scopes={list(self.scopes)}, states={len(self)})"

    @property
    def asked(self) -> NDArray[np.int64]:  # type: ignore[override]
        """(n,) the states explained."""
        return next(iter(self.scopes.values())).asked

    @property
    def main_scope(self) -> str:
        """Scope that decides the kinds: "all" where it was asked for, else the first one."""
        return "all" if "all" in self.scopes else next(iter(self.scopes))

    @property
    def parts(self) -> dict[str, StateImportance]:
        """The scopes, and "absolute" where it is there."""
        return {**self.scopes, **({} if self.absolute is None else {"absolute": self.absolute})}

    @property
    def refused(self) -> dict[str, str]:
        """Why a bound of a state could not be certified, by name."""
        return {name: why for part in self.parts.values() for name, why in part.refused.items()}

    def at(self, position: int) -> dict[str, Bounds]:
        """Bounds, by scope, of the state at a position of `asked`."""
        return {name: part.at(position) for name, part in self.parts.items()}

    def as_explanation(self) -> Explanation:
        """The explanation itself."""
        return self

    def to_frame(self) -> Any:
        """All bounds as a pandas DataFrame, one row per state; the columns are (scope, bound).

        >>> from waypost import explain
        >>> from waypost.cases import loan
        >>> round(float(explain(loan(), target="Granted").to_frame().loc["Rework", ("optimal", "lower")]), 3)
        0.082
        """
        pandas = require("pandas", "table", "to_frame()")
        return pandas.concat({name: part.to_frame() for name, part in self.parts.items()}, axis="columns")

    def _repr_html_(self) -> str:
        least, most = (f"{float(value):.6g}" for value in self.reachability)
        lead = f"Reaching {self.target}, probability {least} to {most}: {_MEANING['importance']}"
        return str(report("notebook_table")(lead, self.parts, self.ranking.tolist()))


_MEANING = {
    "importance": "the share of the runs that reach it which pass a state",
    "absolute": "the probability of passing a state and then reaching it",
}
_OVER = {
    "all": "least to greatest over any strategy",
    "optimal": "least to greatest over the best strategies",
    "strategy": "under the given strategy",
}


def present(question: Question | None) -> Question:
    """Question that a result came from, where it still knows it."""
    if question is None:
        raise ArgumentError("this result was made without its model: it has no witnesses and no report")
    return question
