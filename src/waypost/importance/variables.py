"""Importance by variable: what values of the variables of a model must, may, or must not be seen on the way.

A state such as ``x=5, y=2, carrying=yellow_key`` is one of thousands; ``carrying=yellow_key`` is a fact. A predicate
stands for the set of states in which it holds, and its importance is that of passing any of them (P2, for sets):

* every single value, ``x=5``, and for whole numbers thresholds, ``x>=3``, where they say more than their values;
* conjunctions that say more than their parts: as unavoidable as the least unavoidable of them, though fewer states; or
  hopeless, though none of the parts is.

Left out is what says nothing: what holds at the start, and what no run enters. What every run passes, whether or not
it reaches the target, comes last: it is indispensable, and explains nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isclose
from typing import Any

import numpy as np

from waypost.arguments import Positive, checked
from waypost.errors import ModelError, NameUnknownError, require, unknown_name
from waypost.graph import Mask
from waypost.importance import facts
from waypost.importance.passing import bounds
from waypost.importance.question import Question, Scope, ScopeName, plain
from waypost.importance.reading import kind_of
from waypost.importance.results import Bounds, Kind
from waypost.model import MDP, Target
from waypost.model.checking import names_of
from waypost.model.valuations import Variable

MOST_VALUES = 40  # a variable with more values is a counter, of which only thresholds are asked
THRESHOLDS = 16  # asked of such a variable, evenly spread
QUICK = {2: 2e6, 1: 3e7}  # steps through the model, if each predicate takes one, up to which an answer takes a moment


@dataclass(frozen=True)
class Predicate:
    """A condition on the variables, and the importance of passing any state in which it holds."""

    text: str  # as `MDP.where` reads it
    bounds: Bounds
    kind: Kind
    parts: tuple[str, ...]  # what it is a conjunction of
    mask: Mask = field(repr=False, compare=False)  # (S,)
    inevitable: bool = False  # passed by every run, whether or not it reaches the target
    arriving: bool = False  # brought by the target itself, which `bounds` do not count

    @property
    def states(self) -> int:
        """Number of states in which it holds."""
        return int(self.mask.sum())


@dataclass(frozen=True, eq=False)
class VariableImportance(Mapping[str, Bounds]):
    """Importance of predicates, most important first, inevitable ones last; a mapping from their text to `Bounds`.

    Attributes
    ----------
    mdp, target, scope
        What was asked about.
    predicates
        A `Predicate` each, with its text, its bounds and its kind.

    Examples
    --------
    >>> from waypost import by_variable
    >>> mdp = MDP.from_dict({"x=0": {"a": "x=1", "b": "x=2"}, "x=1": {}, "x=2": {}}, initial="x=0")
    >>> by_variable(mdp, target="x=1", scope="all")["x=2"]
    Bounds(lower=0.0, upper=0.0)
    """

    mdp: MDP
    target: str
    scope: ScopeName
    predicates: tuple[Predicate, ...]

    def __repr__(self) -> str:
        return f"VariableImportance({self.target}, scope={self.scope!r}, predicates={len(self.predicates)})"

    def __len__(self) -> int:
        return len(self.predicates)

    def __iter__(self) -> Iterator[str]:
        return (predicate.text for predicate in self.predicates)

    def __getitem__(self, text: str) -> Bounds:
        for predicate in self.predicates:
            if predicate.text == text:
                return predicate.bounds
        raise NameUnknownError(f"{text!r} was not asked: it holds at the start, no run enters it, or it says no more")

    def to_frame(self) -> Any:
        """One row per predicate."""
        pandas = require("pandas", "table", "to_frame()")
        columns = ["predicate", "kind", "lower", "upper", "states", "inevitable"]
        rows = [(p.text, p.kind.value, *p.bounds, p.states, p.inevitable) for p in self.predicates]
        return pandas.DataFrame(rows, columns=columns).set_index("predicate")

    def leading(self, most: int = 8) -> tuple[Predicate, ...]:
        """At most so many to begin with, each of which says something of its own; those that forbid are among them.

        Left out are inevitable ones, what the target itself brings, conjunctions that share a value with a better one
        that is passed alike, and what forbids nothing that is not forbidden already.

        >>> step = {"go": {"x=1, y=0": 0.5, "x=0, y=1": 0.5}}
        >>> ends = {"x=1, y=0": {"go": "x=2, y=0"}, "x=2, y=0": {}, "x=0, y=1": {"go": "x=0, y=2"}, "x=0, y=2": {}}
        >>> mdp = MDP.from_dict({"x=0, y=0": step, **ends}, initial="x=0, y=0")
        >>> found = by_variable(mdp, target="x=2, y=0", scope="all")
        >>> [(predicate.text, predicate.kind.value) for predicate in found.leading(2)]
        [('x=1', 'indispensable'), ('y>=1', 'detrimental')]
        """
        forbidding: list[Predicate] = []
        telling: list[Predicate] = []
        forbidden = np.zeros(self.mdp.n_states, bool)
        for each in self.predicates:
            if each.inevitable or each.arriving:
                continue
            if each.bounds.upper == 0:
                if len(forbidding) < most and (each.mask & ~forbidden).any():
                    forbidding.append(each)
                    forbidden |= each.mask
            elif len(telling) < most and not any(_passed_alike(each, other) for other in telling):
                telling.append(each)
        kept = min(len(forbidding), max(most // 3, most - len(telling)))
        return (*telling[: most - kept], *forbidding[:kept])

    def summary(self, top: int = 8) -> str:
        """The answer in words, at most `top` predicates of each kind."""
        return str(importlib.import_module("waypost.report.variables").variable_summary(self, top))


@checked
def by_variable(
    mdp: MDP,
    *,
    target: Target,
    scope: Scope,
    variables: str | Iterable[str] | None = None,
    length: Positive = 2,
    exact: bool = False,
) -> VariableImportance:
    """Importance of the values of a model's variables, and of short conjunctions that say more.

    Parameters
    ----------
    mdp, target, scope, exact
        As in `state_importance`.
    variables
        Names of the variables to ask about; all by default.
    length
        Conjunctions of at most this many values.

    Returns
    -------
    VariableImportance
        A mapping from predicates, as text, to `Bounds`; most important first.

    Raises
    ------
    ModelError
        If the states of the model have no variables.
    WaypostError
        Otherwise as `state_importance`.

    Examples
    --------
    >>> mdp = MDP.from_dict(
    ...     {
    ...         "at=home, has=nothing": {"walk": "at=door, has=nothing", "search": "at=home, has=key"},
    ...         "at=door, has=nothing": {"back": "at=home, has=nothing"},
    ...         "at=home, has=key": {"walk": "at=door, has=key"},
    ...         "at=door, has=key": {"open": "at=inside, has=key"},
    ...         "at=inside, has=key": {},
    ...     },
    ...     initial="at=home, has=nothing",
    ... )
    >>> found = by_variable(mdp, target="at=inside", scope="all")
    >>> {predicate.text: predicate.kind.value for predicate in found.predicates}
    {'has=key': 'indispensable', 'at=door & has=key': 'indispensable', 'at=door': 'indispensable'}
    >>> [predicate.text for predicate in found.predicates if predicate.inevitable]  # with or without the key
    ['at=door']
    """
    if not mdp.variables:
        raise ModelError("the states of this model have no variables; name them like 'x=3, carrying=key'")
    names = list(mdp.variables) if variables is None else list(names_of("variables", variables))
    for name in names:
        if name not in mdp.variables:
            raise unknown_name("variable", name, mdp.variables)
    columns = {name: mdp.variables[name] for name in names}
    asked = _Asked(Question.of(mdp, target=target, scope=scope, exact=exact))
    values = [p for name, v in columns.items() for text, mask in _values(name, v) if (p := asked.of(text, mask))]
    ordered = [
        p
        for name, v in columns.items()
        for text, mask in _thresholds(name, v)
        if (p := asked.of(text, mask)) and _says_more(p, values)
    ]
    kept, longest = [*values, *_tightest(ordered)], values
    for _ in range(1, length):
        longest = list(_longer(asked, longest, values))
        kept += longest
    ranked = sorted(kept, key=_rank)
    return VariableImportance(mdp, asked.question.name, asked.question.scope_name, tuple(ranked))


def _rank(predicate: Predicate) -> tuple[Any, ...]:
    """By kind, then the least avoidable first; words say more than numbers, and to pass few states more than many.

    What every run passes comes after all of it.
    """
    low, high = map(float, predicate.bounds)
    number = any(part[-1].isdigit() for part in predicate.parts)
    narrow = predicate.states if high > 0 else -predicate.states
    kind = list(Kind).index(predicate.kind)
    return predicate.inevitable, kind, -low, -high, len(predicate.parts), number, narrow


def _passed_alike(one: Predicate, other: Predicate) -> bool:
    """Whether two are conjunctions that share a value, and are passed by as many runs up to rounding."""
    several = min(len(one.parts), len(other.parts)) > 1 and not {*one.parts}.isdisjoint(other.parts)
    return several and all(isclose(float(x), float(y)) for x, y in zip(one.bounds, other.bounds, strict=True))


class _Asked:
    """Predicates about one question."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.before = question.entered & ~question.target_states

    def of(self, text: str, mask: Mask, parts: tuple[str, ...] = ()) -> Predicate | None:
        """Predicate with its importance; None if it says nothing."""
        if mask[self.question.mdp.initial] or not (mask & self.before).any():
            return None
        passing = mask & ~self.question.target_states
        found = Bounds(*map(plain, bounds(self.question, passing)))
        inevitable = found.lower == 1 and facts.passed_by_all(self.question, passing)
        at_target = mask[self.question.target_states & self.question.entered]
        arriving = found.lower < 1 and bool(at_target.any() if found.upper == 0 else at_target.all())
        return Predicate(text, found, kind_of(found), parts or (text,), mask, inevitable, arriving)


def quick_length(mdp: MDP, variables: Iterable[str]) -> int:
    """How long conjunctions may be for `by_variable` to take a moment: 2, or 1, or 0 where values are not quick."""
    columns = [(name, mdp.variables[name]) for name in variables]
    asked = sum(1 for name, v in columns for of in (_values, _thresholds) for _ in of(name, v))
    work = asked * (mdp.n_states + int(mdp.transitions.nnz))
    return max((length for length, most in QUICK.items() if work <= most), default=0)


def _longer(asked: _Asked, longest: list[Predicate], values: list[Predicate]) -> Iterator[Predicate]:
    """Conjunctions of one more part that say more."""
    seen = set()
    for first in longest:
        for second in values:
            parts = tuple(sorted({*first.parts, second.text}))
            both = first.mask & second.mask & asked.before
            if len(parts) == len(first.parts) or parts in seen or not both.any():
                continue
            seen.add(parts)
            sizes = {int((part.mask & asked.before).sum()) for part in (first, second)}
            needed = min(first.bounds.lower, second.bounds.lower)
            hopeless = min(first.bounds.upper, second.bounds.upper) > 0 and not _hoped(asked, both)
            if int(both.sum()) in sizes or not (needed > 0 or hopeless):
                continue
            found = asked.of(" & ".join(parts), first.mask & second.mask, parts)
            if found and (hopeless or found.bounds.lower >= needed):
                yield found


def _hoped(asked: _Asked, mask: Mask) -> bool:
    """Whether the target may follow."""
    return bool((asked.question.ever & asked.question.spread(mask)).any())


def _says_more(threshold: Predicate, values: list[Predicate]) -> bool:
    """Whether a threshold is less avoidable than every value within it, or hopeless as a whole."""
    within = [value for value in values if not (value.mask & ~threshold.mask).any()]
    if threshold.bounds.upper == 0:
        return len(within) > 1
    return threshold.bounds.lower > max((value.bounds.lower for value in within), default=0)


def _tightest(thresholds: list[Predicate]) -> list[Predicate]:
    """Of thresholds that one variable passes alike, the one that implies the others: ``x>=5`` rather than ``x>=4``.

    Where nothing is hoped of them, the one that forbids most.
    """
    found: dict[tuple[str, str, Bounds], Predicate] = {}
    for each in thresholds:
        sign = ">=" if ">=" in each.text else "<="
        like = each.text.partition(sign)[0], sign, each.bounds
        other = found.get(like)
        if other is None or (each.states > other.states if each.bounds.upper == 0 else each.states < other.states):
            found[like] = each
    return list(found.values())


def _values(name: str, variable: Variable) -> Iterator[tuple[str, Mask]]:
    """Every value, as text and the states that have it."""
    different = np.unique(variable.values[variable.defined])
    if len(different) <= MOST_VALUES or variable.words is not None:
        for value in different.tolist():
            mask = variable.defined & (variable.values == value)
            yield f"{name}={variable.texts(np.flatnonzero(mask)[:1])[0]}", mask


def _thresholds(name: str, variable: Variable) -> Iterator[tuple[str, Mask]]:
    """Thresholds of a number with several values."""
    if variable.words is not None or variable.values.dtype == bool:
        return
    different = np.unique(variable.values[variable.defined])
    if len(different) < 3:
        return
    chosen = different[1:-1]
    if len(different) > MOST_VALUES:
        chosen = chosen[np.linspace(0, len(chosen) - 1, THRESHOLDS).astype(int)]
    for value in chosen.tolist():
        yield f"{name}>={value}", np.asarray(variable.defined & (variable.values >= value))
        yield f"{name}<={value}", np.asarray(variable.defined & (variable.values <= value))
