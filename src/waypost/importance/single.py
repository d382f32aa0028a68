"""Answers about one thing: both bounds of a path, or of whatever else passes or does not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from waypost.importance.answer import report
from waypost.importance.between import attaining
from waypost.importance.passing import Side
from waypost.importance.paths import path_witness
from waypost.importance.question import Question, ScopeName
from waypost.importance.results import Bounds, Number, present
from waypost.model import MDP, Strategy


@dataclass(frozen=True, eq=False, repr=False)
class SingleImportance(ABC):
    """Importance of one thing; ``lower, upper = result`` unpacks it.

    Attributes
    ----------
    mdp, target, scope
        What was asked about; the target as a person would write it, the scope by its name.
    lower, upper
        The bounds; Fractions in exact mode.
    """

    mdp: MDP
    target: str  # as a person would write it
    scope: ScopeName
    lower: Number
    upper: Number

    @property
    @abstractmethod
    def subject(self) -> str:
        """What it is the importance of, as a person would write it."""

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.subject!r} for {self.target}, scope={self.scope!r}, "
            f"lower={self.lower}, upper={self.upper})"
        )

    def __iter__(self) -> Iterator[Number]:
        return iter(self.bounds)

    @property
    def bounds(self) -> Bounds:
        """Both bounds."""
        return Bounds(self.lower, self.upper)


@dataclass(frozen=True, eq=False, repr=False)
class PathImportance(SingleImportance):
    """Importance of a simple path for reaching a target (P3, P4).

    Attributes
    ----------
    path, question
        State, action, state, ..., state; and what was asked about it, which finds the witnesses.
    reachability, reachability_following
        The greatest probability of the target over all strategies, and over those that follow the path: the difference
        is what following it costs.

    Examples
    --------
    >>> from waypost import path_importance
    >>> from waypost.cases import loan
    >>> lower, upper = path_importance(loan(), path=["s0", "Apply", "Application"], target="Granted", scope="optimal")
    >>> lower, upper
    (0.95, 0.95)
    """

    path: tuple[str, ...]  # state, action, state, ..., state
    reachability: Number
    reachability_following: Number
    question: Question | None = field(default=None, repr=False)  # what was asked; it finds the witnesses

    @property
    def subject(self) -> str:
        """The path."""
        return " ".join(self.path)

    def witness(self, side: Side | None = None, *, value: Number | None = None) -> Strategy:
        """Strategy in scope under which the importance of the path *is* a bound, or a value between the two.

        As `StateImportance.witness`; its memory is how far the path was followed.
        """
        question = present(self.question)
        return attaining(question, self.bounds, partial(path_witness, question, self.path), side, value)

    def summary(self) -> str:
        """The answer in words."""
        return str(report("path_summary")(self))
