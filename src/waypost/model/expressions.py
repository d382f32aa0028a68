"""Which states a PRISM expression such as ``loc=58 & x>3`` means.

States that come from PRISM, JANI or a grid world are named by the values of their variables: ``loc=26``, or
``x=1, y=2, open=true``. Those names are all there is to know, so an expression is decided on them, for all states at
once.

The language, loosest binding first::

    implies   a => b
    or, and   a | b, a & b
    not       !a
    compare   = != < <= > >=
    add       + -
    multiply  *
    atoms     3, true, x, "label", (a)
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.errors import NameUnknownError, unknown_name

LONGEST = 10_000  # characters of an expression
DEEPEST = 30  # brackets inside brackets

_ASSIGNMENT = re.compile(r"([A-Za-z_][\w.]*)=(-?\d{1,18}|[\w.+-]+)\Z")
_TOKEN = re.compile(r'\s*(?:(\d{1,18})(?![\w.])|([A-Za-z_][\w.]*)|"([^"]*)"|(=>|<=|>=|!=|[-+*=<>!&|()]))')
_OPERATORS = re.compile(r'[=<>!&|"]')
_COMPUTE: Mapping[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Variable(NamedTuple):
    """The values of one variable over all states."""

    values: NDArray[Any]  # (S,) integers, booleans, or words
    defined: NDArray[np.bool_]  # (S,) states whose name gives the variable a value


def read_valuations(states: Sequence[str]) -> dict[str, Variable]:
    """Read the variables off state names like ``x=1, y=2``; names of another shape define none.

    >>> variables = read_valuations(["x=0, open=true", "x=-1, open=false", "lost"])
    >>> variables["x"].values, variables["x"].defined
    (array([ 0, -1,  0]), array([ True,  True, False]))
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
    return {name: _column(given, len(states)) for name, given in texts.items()}


def is_expression(text: str, variables: Mapping[str, Variable]) -> bool:
    """Whether a target is written as an expression rather than as a name.

    >>> is_expression("x>3", {}), is_expression("Granted", {})
    (True, False)
    """
    return text in variables or _OPERATORS.search(text) is not None


def states_where(
    expression: str, variables: Mapping[str, Variable], labels: Mapping[str, NDArray[np.bool_]], n_states: int
) -> NDArray[np.bool_]:
    """(S,) the states in which an expression holds; one that gives no value to a variable of it is not among them.

    >>> states = ["x=0, y=1", "x=3, y=1", "x=5, y=0"]
    >>> states_where("x>2 & !(y=0)", read_valuations(states), {}, 3)
    array([False,  True, False])
    """
    reader = _Reader(expression, variables, labels, n_states)
    value = reader.everything()
    if not _is_bool(value):
        raise reader.wrong("is a number, not a condition")
    return np.broadcast_to(np.asarray(value, bool), (n_states,)) & reader.defined


def _column(given: list[tuple[int, str]], n_states: int) -> Variable:
    """Integers where all values are, booleans where all are, words otherwise."""
    where = np.array([state for state, _ in given])
    words = [word for _, word in given]
    defined = np.zeros(n_states, bool)
    defined[where] = True
    values: NDArray[Any]
    if all(word in ("true", "false") for word in words):
        values = np.zeros(n_states, bool)
        values[where] = [word == "true" for word in words]
    elif all(re.fullmatch(r"-?\d{1,18}", word) for word in words):
        values = np.zeros(n_states, np.int64)
        values[where] = [int(word) for word in words]
    else:
        values = np.full(n_states, "", object)
        values[where] = words
    return Variable(values, defined)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_


def _is_word(value: Any) -> bool:
    return isinstance(value, str) or getattr(value, "dtype", None) == np.object_


class _Reader:
    """One pass over the text that computes while it reads: a value is a scalar or an array over the states."""

    def __init__(
        self, text: str, variables: Mapping[str, Variable], labels: Mapping[str, NDArray[np.bool_]], n_states: int
    ) -> None:
        self.text = text
        self.variables = variables
        self.labels = labels
        self.defined = np.ones(n_states, bool)
        self.depth = 0
        self.words = {v for x in variables.values() if x.values.dtype == object for v in x.values[x.defined]}
        self.tokens = self._tokens()
        self.position = 0

    def wrong(self, what: str) -> NameUnknownError:
        shown = self.text if len(self.text) <= 100 else f"{self.text[:97]}..."
        return NameUnknownError(f"{shown!r} is no label and no state, and as an expression it {what}")

    def _tokens(self) -> list[tuple[str, str]]:
        if len(self.text) > LONGEST:
            raise self.wrong(f"is longer than {LONGEST} characters")
        tokens, position, text = [], 0, self.text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self.wrong(f"cannot be read from {text[position:].strip()[:20]!r} on")
            kind = ("number", "name", "label", "operator")[(match.lastindex or 1) - 1]
            tokens.append((kind, match[match.lastindex or 1]))
            position = match.end()
        return tokens

    def _next(self) -> tuple[str, str]:
        return self.tokens[self.position] if self.position < len(self.tokens) else ("end", "")

    def _take(self, *operators: str) -> str | None:
        kind, text = self._next()
        if kind == "operator" and text in operators:
            self.position += 1
            return text
        return None

    def _condition(self, value: Any, sign: str) -> Any:
        if not _is_bool(value):
            raise self.wrong(f"has something at {sign!r} that is neither true nor false")
        return value

    def _number(self, value: Any, sign: str) -> Any:
        if _is_bool(value) or _is_word(value):
            raise self.wrong(f"has something at {sign!r} that is not a number")
        return value

    def _computed(self, sign: str, left: Any, right: Any) -> Any:
        rough = _COMPUTE[sign](np.asarray(left, float), np.asarray(right, float))
        if np.any(np.abs(rough) >= 2.0**62):  # integers wrap around in silence
            raise self.wrong("computes numbers that are too large")
        return _COMPUTE[sign](left, right)

    def everything(self) -> Any:
        value = self.implies()
        if self._next()[0] != "end":
            raise self.wrong(f"cannot be read from {self._next()[1]!r} on")
        return value

    def implies(self) -> Any:
        left = self.either()
        if not self._take("=>"):
            return left
        return np.logical_not(self._condition(left, "=>")) | self._condition(self._deeper(self.implies), "=>")

    def either(self) -> Any:
        value = self.both()
        while self._take("|"):
            value = np.logical_or(self._condition(value, "|"), self._condition(self.both(), "|"))
        return value

    def both(self) -> Any:
        value = self.negated()
        while self._take("&"):
            value = np.logical_and(self._condition(value, "&"), self._condition(self.negated(), "&"))
        return value

    def negated(self) -> Any:
        if self._take("!"):
            return np.logical_not(self._condition(self._deeper(self.negated), "!"))
        return self.comparison()

    def comparison(self) -> Any:
        left = self.total()
        sign = self._take(*_COMPARE)
        if sign is None:
            return left
        right = self.total()
        if sign not in ("=", "!="):
            return _COMPARE[sign](self._number(left, sign), self._number(right, sign))
        if (_is_bool(left), _is_word(left)) != (_is_bool(right), _is_word(right)):
            raise self.wrong(f"compares things of different kinds at {sign!r}")
        return np.asarray(_COMPARE[sign](left, right), bool)

    def total(self) -> Any:
        value = self.product()
        while sign := self._take("+", "-"):
            value = self._computed(sign, self._number(value, sign), self._number(self.product(), sign))
        return value

    def product(self) -> Any:
        value = self.signed()
        while self._take("*"):
            value = self._computed("*", self._number(value, "*"), self._number(self.signed(), "*"))
        return value

    def signed(self) -> Any:
        if self._take("-"):
            return -self._number(self._deeper(self.signed), "-")
        return self.atom()

    def atom(self) -> Any:
        kind, text = self._next()
        self.position += 1
        if kind == "number":
            return np.int64(text)
        if kind == "label":
            if text not in self.labels:
                raise unknown_name("label", text, self.labels)
            return self.labels[text]
        if kind == "name":
            return self._named(text)
        if (kind, text) == ("operator", "("):
            value = self._deeper(self.implies)
            if not self._take(")"):
                raise self.wrong("has a bracket that is not closed")
            return value
        raise self.wrong("ends too early" if kind == "end" else f"has {text!r} where a value should be")

    def _named(self, name: str) -> Any:
        if name in ("true", "false"):
            return np.bool_(name == "true")
        if name in self.variables:
            self.defined = self.defined & self.variables[name].defined
            return self.variables[name].values
        if name in self.words:
            return name
        raise unknown_name("variable", name, self.variables)

    def _deeper(self, rule: Callable[[], Any]) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.wrong(f"is nested more than {DEEPEST} deep")
        value = rule()
        self.depth -= 1
        return value
