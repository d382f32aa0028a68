"""What an answer is: plain data that pickles, copies and reads like a mapping from states to bounds."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from waypost.errors import NameUnknownError, require
from waypost.importance.passing import SIDES, Side, witness
from waypost.importance.paths import path_witness
from waypost.importance.question import Question, ScopeName
from waypost.model import MDP, Strategy
from waypost.solve.rational import to_fraction

MOST_ROWS = 60  # of a table in a notebook
Number = float | Fraction
T = TypeVar("T")


class Bounds(NamedTuple):
    """The least and the greatest value over the strategies in scope; equal under one strategy.

    >>> low, high = Bounds(0.25, 1.0)
    >>> low, high
    (0.25, 1.0)
    """

    lower: Number
    upper: Number


class Witnesses(NamedTuple):
    """Strategies under which the importance of a state *is* its least and its greatest value."""

    lower: Strategy
    upper: Strategy


class Kind(Enum):
    """What kind of step a state is, from its bounds."""

    START = "start"  # where every run begins
    TARGET = "target"  # where every successful run ends
    INDISPENSABLE = "indispensable"  # lower bound 1
    IMPORTANT = "important"  # lower bound at least `waypost.importance.reading.IMPORTANT`
    OPTIONAL = "optional"  # anything else: it depends on the choices
    MARGINAL = "marginal"  # upper bound at most `waypost.importance.reading.MARGINAL`
    DETRIMENTAL = "detrimental"  # upper bound 0: the target does not follow
    UNREACHABLE = "unreachable"  # upper bound 0: no strategy visits it before the target


class ByState(Mapping[str, T]):
    """A mapping from the names of the states asked for, in the order asked for."""

    mdp: MDP
    asked: NDArray[np.int64]  # (n,) states in the order asked for

    def at(self, position: int) -> T:
        """What is known of the state at a position of `asked`."""
        raise NotImplementedError

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the states, in the order asked for."""
        return tuple(self.mdp.states[s] for s in self.asked)

    def __len__(self) -> int:
        return len(self.asked)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.mdp.index.get(name, -1) in self.asked

    def __getitem__(self, name: str) -> T:
        return self.at(self._position(name))

    def get(self, name: str, default: Any = None) -> Any:
        """What is known of a state, or `default` where it was not asked for."""
        return self.at(self._position(name)) if name in self else default

    def _position(self, name: str) -> int:
        found = np.flatnonzero(self.asked == self.mdp.state(name))
        if not len(found):
            raise NameUnknownError(f"state {name!r} is in the model but was not asked for")
        return int(found[0])


@dataclass(frozen=True, eq=False)
class StateImportance(ByState[Bounds]):
    """Importance of states for reaching a target (P1, P2), or the same without normalisation (*absolute*).

    A mapping from state names to `Bounds`, in the order asked for.

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
    ties: tuple[str, ...] = ()  # "state/action" choices that were optimal only up to rounding; exact mode decides them
    question: Question | None = field(default=None, repr=False)  # what was asked; finds the witnesses

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
        return {name: self.at(k) for k, name in enumerate(self.names)}

    def witness(self, state: str, side: Side) -> Strategy:
        """Strategy in scope under which the importance of the state *is* that bound."""
        asked = np.arange(self.mdp.n_states) == self.asked[self._position(state)]
        return witness(_asked(self.question, side), asked, side, absolute=self.problem == "absolute")

    def to_frame(self) -> Any:
        """The bounds as a pandas DataFrame, one row per state, indexed by name."""
        pandas = require("pandas", "table", "to_frame()")
        return pandas.DataFrame(
            {"lower": list(self.lower), "upper": list(self.upper)}, index=pandas.Index(self.names, name="state")
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{_short(low)}</td><td>{_short(high)}</td></tr>"
            for name, low, high in zip(self.names[:MOST_ROWS], self.lower, self.upper, strict=False)
        )
        more = f"<p>and {len(self) - MOST_ROWS} more states</p>" if len(self) > MOST_ROWS else ""
        return f"<table><tr><th>state</th><th>lower</th><th>upper</th></tr>{rows}</table>{more}"


@dataclass(frozen=True, eq=False)
class PathImportance:
    """Importance of a simple path for reaching a target (P3, P4).

    ``reachability`` is the greatest probability of the target over all strategies, ``reachability_following`` the
    greatest over those that follow the path: the difference is what following it costs.
    """

    mdp: MDP
    target: str
    path: tuple[str, ...]  # state, action, state, ..., state
    scope: ScopeName
    lower: Number
    upper: Number
    reachability: Number
    reachability_following: Number
    question: Question | None = field(default=None, repr=False)  # what was asked; finds the witnesses

    def __repr__(self) -> str:
        return (
            f"PathImportance({' '.join(self.path)!r} for {self.target}, scope={self.scope!r}, "
            f"lower={self.lower}, upper={self.upper})"
        )

    def witness(self, side: Side) -> Strategy:
        """Strategy in scope under which the importance of the path *is* that bound."""
        return path_witness(_asked(self.question, side), self.path, side)


@dataclass(frozen=True, eq=False)
class Explanation(ByState[dict[str, Bounds]]):
    """Everything `waypost explain` computed: the one thing every report is made from. Plain data, nothing computed.

    A mapping from state names to the bounds by scope. ``scopes`` holds a `StateImportance` for each scope asked for
    ("all", "optimal", "strategy"), all over the same states; ``absolute`` is the same without normalisation, over all
    strategies.

    >>> from waypost import explain
    >>> from waypost.cases import loan
    >>> explain(loan(), target="Granted")["Application"]["optimal"]
    Bounds(lower=0.0, upper=0.95)
    """

    mdp: MDP
    target: str  # as a person would write it
    targets: tuple[str, ...]  # the labels or state names it was given as
    target_states: NDArray[np.bool_]  # (S,)
    reachability: Bounds  # least and greatest probability of the target from the initial state
    scopes: Mapping[str, StateImportance]
    kinds: tuple[Kind, ...]  # (n,) of the states asked for, by the bounds in `main_scope`
    ranking: NDArray[np.int64]  # (n,) positions of `asked`, most important first
    absolute: StateImportance | None = None
    groups: Mapping[str, Mapping[str, Bounds]] = field(default_factory=dict)  # group -> scope -> passing any of it
    witnesses: Mapping[str, Mapping[str, Witnesses]] = field(default_factory=dict)  # scope -> state -> both

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

    def at(self, position: int) -> dict[str, Bounds]:
        """Bounds, by scope, of the state at a position of `asked`."""
        return {name: part.at(position) for name, part in self.parts.items()}

    def to_frame(self) -> Any:
        """All bounds as a pandas DataFrame, one row per state; the columns are (scope, bound).

        >>> from waypost import explain
        >>> from waypost.cases import loan
        >>> explain(loan(), target="Granted").to_frame().loc["Rework", ("optimal", "lower")].round(3)
        np.float64(0.082)
        """
        pandas = require("pandas", "table", "to_frame()")
        return pandas.concat({name: part.to_frame() for name, part in self.parts.items()}, axis="columns")

    def _repr_html_(self) -> str:
        reached = self.reachability
        lead = f"Reaching {self.target}: probability {_short(reached.lower)} to {_short(reached.upper)}"
        head = "".join(f"<th>{name}</th>" for name in self.parts)
        rows = []
        for k in self.ranking[:MOST_ROWS].tolist():
            cells = "".join(f"<td>{_short(b.lower)} to {_short(b.upper)}</td>" for b in self.at(k).values())
            rows.append(f"<tr><td>{html.escape(self.mdp.states[self.asked[k]])}</td>{cells}</tr>")
        more = f"<p>and {len(self) - MOST_ROWS} more states</p>" if len(self) > MOST_ROWS else ""
        return f"<p>{html.escape(lead)}</p><table><tr><th>state</th>{head}</tr>{''.join(rows)}</table>{more}"


def _short(value: Any) -> str:
    """Number for a notebook: a fraction as it is, a float with six digits, 0 and 1 only where exact."""
    if isinstance(value, Fraction) or value in (0, 1):
        return str(value if isinstance(value, Fraction) else int(value))
    text = f"{float(value):.6f}"
    return {"0.000000": "&lt;0.000001", "1.000000": "&gt;0.999999"}.get(text, text.rstrip("0"))


def plain(value: Any) -> Number:
    """Python's own float or Fraction."""
    return float(value) if isinstance(value, float | np.floating) else to_fraction(value)


def _asked(question: Question | None, side: str) -> Question:
    if side not in SIDES:
        raise NameUnknownError(f"a bound is 'lower' or 'upper', not {side!r}")
    if question is None:
        raise NameUnknownError("this result was made without its model and has no witnesses")
    return question
