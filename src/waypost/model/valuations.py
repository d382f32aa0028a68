"""The variables of a model, as columns, and the state names that are made of them when somebody reads one.

States that come from PRISM, JANI or a grid world are valuations: one value per variable. Columns keep them, and
``x=1, y=2`` is written when it is asked for, so that a million states of forty variables cost no text at all. Names
that came as text, ``x=1, y=2`` among them, are read into columns by `read_valuations`, once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from waypost.model.names import LazyNames, all_distinct, mix

_ASSIGNMENT = re.compile(r"([A-Za-z_][\w.]*)=(-?\d{1,18}|[\w.+-]+)\Z")
_WHOLE = re.compile(r"-?\d{1,18}\Z")


class Variable(NamedTuple):
    """The values of one variable over all states.

    >>> Variable.of(["key", "nothing", "key"])
    Variable(values=array([0, 1, 0], dtype=int8), defined=array([ True,  True,  True]), words=('key', 'nothing'))
    """

    values: NDArray[Any]  # (S,) booleans, integers, floats, or positions in `words`
    defined: NDArray[np.bool_]  # (S,) states in which the variable has a value
    words: tuple[str, ...] | None = None

    @classmethod
    def of(cls, values: ArrayLike, defined: ArrayLike | None = None, words: Sequence[str] | None = None) -> Variable:
        """Build a variable, in as few bytes as its values need; texts become words."""
        array = np.asarray(values)
        if array.dtype.kind in "UO":
            table = dict.fromkeys(array.tolist())
            number = {word: k for k, word in enumerate(table)}
            array, words = np.array([number[word] for word in array.tolist()], np.int64), tuple(table)
        if array.dtype.kind == "f":
            array = array + 0.0  # there is one zero
        if array.dtype.kind in "iu":
            least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
            small = (kind for kind in (np.int8, np.int16, np.int32, np.int64) if _holds(kind, least, most))
            array = array.astype(next(small, np.float64))
        known = np.broadcast_to(np.True_, array.shape) if defined is None else np.asarray(defined, bool)
        return cls(_read_only(array), _read_only(known), None if words is None else tuple(words))

    @property
    def constant(self) -> bool:
        """Whether every state has the variable, with one value."""
        return bool(self.defined.all() and (self.values == self.values[:1]).all())

    def at(self, state: int) -> bool | int | float | str | None:
        """Value in a state; None where there is none."""
        if not self.defined[state]:
            return None
        value: bool | int | float = self.values[state].item()
        return value if self.words is None else self.words[int(value)]

    def texts(self, states: NDArray[np.int64] | slice) -> list[str]:
        """Values in some states, as PRISM writes them."""
        values = self.values[states]
        if self.words is not None:
            return [self.words[k] for k in values.tolist()]
        if values.dtype == bool:
            return ["true" if value else "false" for value in values.tolist()]
        return [str(value) for value in values.tolist()]

    def values_told(self, most: int = 4) -> str:
        """Values that occur, for people: a range, or a few of them.

        >>> Variable.of([0, 3, 1]).values_told(), Variable.of(["key", "none"]).values_told()
        ('0..3', 'key|none')
        """
        there = self.values[self.defined]
        if self.words is None and there.dtype != bool:
            low, high = there.min(), there.max()
            return str(low) if low == high else f"{low}..{high}"
        kinds = np.unique(there)
        told = [self.words[k] if self.words else str(k).lower() for k in kinds[:most].tolist()]
        return "|".join(told) + ("|..." if len(kinds) > most else "")

    def where(self, text: str) -> NDArray[np.bool_]:
        """(S,) states in which the variable has the value that `text` writes."""
        none = np.zeros(len(self.values), bool)
        if self.words is not None:
            return np.asarray(self.defined & (self.values == self.words.index(text))) if text in self.words else none
        if self.values.dtype == bool:
            return np.asarray(self.defined & (self.values == (text == "true"))) if text in ("true", "false") else none
        try:
            number = int(text) if _WHOLE.match(text) else float(text)
        except ValueError:
            return none
        return np.asarray(self.defined & (self.values == number))


Variables = Mapping[str, Variable]


class StateNames(LazyNames):
    """State names ``x=1, y=2`` over columns; to everyone who reads it, the tuple of them.

    >>> names = StateNames({"x": Variable.of([0, 1]), "up": Variable.of([True, False])})
    >>> names[1], len(names), names == ("x=0, up=true", "x=1, up=false")
    ('x=1, up=false', 2, True)
    >>> names.find("up=false, x=1")
    1
    """

    def __init__(self, variables: Variables, shown: Iterable[str] | None = None, *, unnamed: str = "") -> None:
        self.shown = {name: variables[name] for name in (variables if shown is None else shown)}
        self.variables = dict(variables)
        self.unnamed = unnamed  # what a state without any value is called

    def __len__(self) -> int:
        return len(next(iter(self.shown.values())).values)

    def __repr__(self) -> str:
        return f"StateNames({len(self)} states of {', '.join(self.shown)})"

    def find(self, name: str) -> int | None:
        """Position of the one state that a name means, variables in any order, those not shown included."""
        if not self._plain or (self.unnamed and name == self.unnamed):
            return next((s for s, made in enumerate(self) if made == name), None)
        found, silent = np.ones(len(self), bool), dict(self.shown)
        for part in name.split(", "):
            variable, _, value = part.partition("=")
            if variable not in self.variables:
                return None
            found &= self.variables[variable].where(value)
            silent.pop(variable, None)
        states = np.flatnonzero(found)
        if len(states) > 1 and silent:  # the one that has no value for what is not mentioned
            states = states[~np.any([v.defined[states] for v in silent.values()], axis=0)]
        return int(states[0]) if len(states) == 1 else None

    @cached_property
    def distinct(self) -> bool:
        """Whether no two states have the same name."""
        numbered = self._numbered()
        if numbered is not None:
            return all_distinct(numbered)
        table = [np.where(v.defined, v.values, 0) for v in self.shown.values()]
        table += [v.defined for v in self.shown.values() if not v.defined.all()]
        mixed = np.zeros(len(self), np.uint64)  # equal names mix to equal numbers
        for column in table:
            bits = column.astype(np.float64).view(np.uint64) if column.dtype.kind == "f" else column.astype(np.uint64)
            mixed = mix(mixed, bits)
        return all_distinct(mixed) or len(set(self)) == len(self)  # different names may mix to equal numbers

    def _numbered(self) -> NDArray[np.int64] | None:
        """(S,) one number for each name, equal for equal names; None where the values are too many, or no numbers."""
        number, size = np.zeros(len(self), np.int64), 1
        for variable in self.shown.values():
            if variable.values.dtype.kind == "f":
                return None
            values = variable.values
            low, high = int(values.min(initial=0)), int(values.max(initial=0))
            gaps = not variable.defined.all()
            size *= high - low + 1 + gaps
            if size >= 2**62:
                return None
            place = values.astype(np.int64) - low
            if gaps:
                place = np.where(variable.defined, place, high - low + 1)
            number *= high - low + 1 + gaps
            number += place
        return number

    @cached_property
    def _plain(self) -> bool:
        """Whether no word contains what stands between the parts of a name."""
        return not any(", " in word for v in self.variables.values() for word in v.words or ())

    def made(self, places: NDArray[np.int64] | slice) -> list[str]:
        """Write out some of the names."""
        columns = []
        complete = True
        for name, variable in self.shown.items():
            texts = [f"{name}={value}" for value in variable.texts(places)]
            defined = variable.defined[places]
            if not defined.all():
                texts = [text if there else "" for text, there in zip(texts, defined.tolist(), strict=True)]
                complete = False
            columns.append(texts)
        rows = zip(*columns, strict=True)
        return [", ".join(row) if complete else ", ".join(filter(None, row)) or self.unnamed for row in rows]


def named_by(variables: Variables, *, computed: Iterable[str] = (), last: Iterable[str] = ()) -> StateNames | None:
    """Give names that tell the states apart and say no more; None where the variables do not tell them apart.

    What is `computed` from other variables and what never changes is left out, and what belongs `last` comes last.

    >>> variables = {"n": Variable.of([5, 5]), "x": Variable.of([0, 1]), "y": Variable.of([1, 2])}
    >>> named_by(variables, computed=["y"])[1]
    'x=1'
    """
    if not variables or not len(next(iter(variables.values())).values):
        return None
    order = [x for x in variables if x not in set(last)] + [x for x in variables if x in set(last)]
    changing = [x for x in order if not variables[x].constant]
    own = [x for x in changing if x not in set(computed)]
    for shown in (own, changing, order):
        if shown and (names := StateNames(variables, shown)).distinct and all(names[:1]):
            return names
    return None


def read_valuations(states: Sequence[str]) -> dict[str, Variable]:
    """Read the variables off state names like ``x=1, y=2``; names of another shape define none.

    >>> variables = read_valuations(["x=0, open=true", "x=-1, open=false", "lost"])
    >>> variables["x"].values, variables["x"].defined
    (array([ 0, -1,  0], dtype=int8), array([ True,  True, False]))
    >>> variables["open"].values
    array([ True, False, False])
    """
    texts: dict[str, list[tuple[int, str]]] = {}
    for state, name in enumerate(states):
        if "=" not in name:
            continue
        found = [_ASSIGNMENT.match(part) for part in re.split(r"\s*[,&]\s*", name.strip())]
        if all(found):
            for match in found:
                if match is not None:
                    texts.setdefault(match[1], []).append((state, match[2]))
    return {name: column_of(given, len(states)) for name, given in texts.items()}


def column_of(given: Sequence[tuple[int, str]], n_states: int) -> Variable:
    """Give (state, text) pairs as a variable: booleans where all are, whole numbers where all are, words otherwise."""
    where = np.array([state for state, _ in given], np.int64)
    words = [word for _, word in given]
    defined = np.zeros(n_states, bool)
    defined[where] = True
    values: NDArray[Any]
    if all(word in ("true", "false") for word in words):
        values = np.zeros(n_states, bool)
        values[where] = [word == "true" for word in words]
        return Variable.of(values, defined)
    values = np.zeros(n_states, np.int64)
    if all(_WHOLE.match(word) for word in words):
        values[where] = [int(word) for word in words]
        return Variable.of(values, defined)
    number = {word: k for k, word in enumerate(dict.fromkeys(words))}
    values[where] = [number[word] for word in words]
    return Variable.of(values, defined, tuple(number))


def _holds(kind: type, least: int, most: int) -> bool:
    return bool(np.iinfo(kind).min <= least and most <= np.iinfo(kind).max)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    if array.flags.writeable:
        array = array.copy() if array.base is not None else array
        array.setflags(write=False)
    return array
