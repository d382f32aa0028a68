"""What an answer is: the bounds, what they mean, and their witnesses on demand."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from waypost.errors import NameUnknownError, require
from waypost.model import MDP, Strategy

MOST_ROWS = 60  # of a table in a notebook
Number = float | Fraction
Side = Literal["lower", "upper"]
Scope = Literal["all", "optimal"] | Strategy


@dataclass(frozen=True)
class Bounds:
    """The least and the greatest value over the strategies in scope; equal under one strategy."""

    lower: Number
    upper: Number


@dataclass(frozen=True, eq=False)
class StateImportance:
    """Importance of states for reaching a target (P1, P2), or the same without normalisation (*absolute*).

    Indexed by state name; iterates over the names in the order asked for.

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
    scope: Literal["all", "optimal", "strategy"]
    asked: NDArray[np.int64]  # (n,) states in the order asked for
    lower: NDArray[Any]  # (n,) floats, or Fractions in exact mode
    upper: NDArray[Any]  # (n,)
    ties: tuple[str, ...] = ()  # "state/action" choices that were optimal only up to rounding; exact mode decides them
    find_witness: Callable[[int, Side], Strategy] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"StateImportance({self.problem} for {self.target}, scope={self.scope!r}, states={len(self.asked)})"

    @property
    def exact(self) -> bool:
        """Whether the numbers are Fractions."""
        return self.lower.dtype == object

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the states, in the order asked for."""
        return tuple(self.mdp.states[s] for s in self.asked)

    def __len__(self) -> int:
        return len(self.asked)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> Bounds:
        k = self._position(name)
        return Bounds(_plain(self.lower[k]), _plain(self.upper[k]))

    def to_dict(self) -> Mapping[str, Bounds]:
        """Bounds by state name."""
        return {
            name: Bounds(_plain(low), _plain(high))
            for name, low, high in zip(self.names, self.lower, self.upper, strict=True)
        }

    def witness(self, name: str, side: Side) -> Strategy:
        """Strategy in scope under which the importance of the state *is* that bound."""
        if side not in ("lower", "upper"):
            raise NameUnknownError(f"a bound is 'lower' or 'upper', not {side!r}")
        k = self._position(name)
        if self.find_witness is None:
            raise NameUnknownError("this result was made without its model and has no witnesses")
        return self.find_witness(int(self.asked[k]), side)

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

    def _position(self, name: str) -> int:
        state = self.mdp.state(name)
        found = np.flatnonzero(self.asked == state)
        if not len(found):
            raise NameUnknownError(f"state {name!r} is in the model but was not asked for")
        return int(found[0])


@dataclass(frozen=True, eq=False)
class PathImportance:
    """Importance of a simple path for reaching a target (P3, P4).

    ``reachability`` is the greatest probability of the target over all strategies, ``reachability_following`` the
    greatest over those that follow the path: the difference is what following it costs.
    """

    mdp: MDP
    target: str
    path: tuple[str, ...]  # state, action, state, ..., state
    scope: Literal["all", "optimal", "strategy"]
    lower: Number
    upper: Number
    reachability: Number
    reachability_following: Number
    find_witness: Callable[[Side], Strategy] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return (
            f"PathImportance({' '.join(self.path)!r} for {self.target}, scope={self.scope!r}, "
            f"lower={self.lower}, upper={self.upper})"
        )

    def witness(self, side: Side) -> Strategy:
        """Strategy in scope under which the importance of the path *is* that bound."""
        if self.find_witness is None:
            raise NameUnknownError("this result was made without its model and has no witnesses")
        return self.find_witness(side)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Everything `waypost explain` computed: the one thing every report is made from.

    ``scopes`` holds a `StateImportance` for each scope asked for ("all", "optimal", "strategy"), all over the same
    states; ``absolute`` is the same without normalisation, over all strategies.
    """

    mdp: MDP
    target: str  # as a person would write it
    targets: tuple[str, ...]  # the labels or state names it was given as
    target_states: NDArray[np.bool_]  # (S,)
    reachability: Bounds  # least and greatest probability of the target from the initial state
    scopes: Mapping[str, StateImportance]
    absolute: StateImportance | None = None

    @property
    def asked(self) -> NDArray[np.int64]:
        """(n,) the states explained."""
        return next(iter(self.scopes.values())).asked

    def _parts(self) -> dict[str, StateImportance]:
        return {**self.scopes, **({} if self.absolute is None else {"absolute": self.absolute})}

    def to_frame(self) -> Any:
        """All bounds as a pandas DataFrame, one row per state; the columns are (scope, bound).

        >>> from waypost import explain
        >>> from waypost.cases import loan
        >>> explain(loan(), target="Granted").to_frame().loc["Rework", ("optimal", "lower")].round(3)
        np.float64(0.082)
        """
        pandas = require("pandas", "table", "to_frame()")
        return pandas.concat({name: part.to_frame() for name, part in self._parts().items()}, axis="columns")

    def _repr_html_(self) -> str:
        reached = self.reachability
        lead = f"Reaching {self.target}: probability {_short(reached.lower)} to {_short(reached.upper)}"
        parts = self._parts()
        head = "".join(f"<th>{name}</th>" for name in parts)
        rows = []
        for k, name in enumerate(next(iter(parts.values())).names[:MOST_ROWS]):
            cells = "".join(f"<td>{_short(p.lower[k])} to {_short(p.upper[k])}</td>" for p in parts.values())
            rows.append(f"<tr><td>{html.escape(name)}</td>{cells}</tr>")
        more = f"<p>and {len(self.asked) - MOST_ROWS} more states</p>" if len(self.asked) > MOST_ROWS else ""
        return f"<p>{html.escape(lead)}</p><table><tr><th>state</th>{head}</tr>{''.join(rows)}</table>{more}"


def _short(value: Any) -> str:
    """Number for a notebook: a fraction as it is, a float with six digits, 0 and 1 only where exact."""
    if isinstance(value, Fraction) or value in (0, 1):
        return str(value if isinstance(value, Fraction) else int(value))
    text = f"{float(value):.6f}"
    return {"0.000000": "&lt;0.000001", "1.000000": "&gt;0.999999"}.get(text, text.rstrip("0"))


def _plain(value: Any) -> Number:
    return value if isinstance(value, Fraction) else float(value)
