"""What a PRISM expression such as ``loc=58 & x>3`` means: its value in all states at once, over columns.

One language for targets, states, groups, patterns and properties, PRISM's own. Loosest binding first::

    choose    c ? a : b
    implies   a => b
    iff       a <=> b
    or, and   a | b, a & b
    not       !a
    equal     = !=
    compare   < <= > >=, and 0<=x<3 for both
    add       + -
    multiply  * /
    atoms     3, 0.5, 1e-3, true, x, "label", (a), -a
    functions min, max, mod, pow, floor, ceil, round, log

Operators of one line are taken from left to right. A name is a variable, a constant or a formula of the model, or a
word that is the value of a variable.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.errors import NameUnknownError, unknown_name
from waypost.model.tokens import Token, tokens_of
from waypost.model.valuations import Variable

DEEPEST = 30  # brackets inside brackets, and formulas inside formulas

_OPERATORS = re.compile(r'[=<>!&|"(]')
_COMPUTE: Mapping[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_EQUAL: Mapping[str, Callable[[Any, Any], Any]] = {"=": operator.eq, "!=": operator.ne}
_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ROUND: Mapping[str, Callable[[Any], Any]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round": lambda value: np.floor(np.asarray(value) + 0.5),  # halves go up, as in PRISM
}
FUNCTIONS: Mapping[str, tuple[int, int]] = {  # fewest and most arguments
    "min": (1, 100),
    "max": (1, 100),
    "mod": (2, 2),
    "pow": (2, 2),
    "log": (2, 2),
    **dict.fromkeys(_ROUND, (1, 1)),
}
NOTHING: Mapping[str, str] = {}


class _Words(NamedTuple):
    """Values of a variable that are words: positions in a table."""

    codes: Any
    table: Sequence[str]


def is_expression(text: str, names: Mapping[str, Any]) -> bool:
    """Whether a target is written as an expression rather than as a name.

    >>> is_expression("x>3", {}), is_expression("Granted", {}), is_expression("true", {})
    (True, False, True)
    """
    return text in names or text in ("true", "false") or _OPERATORS.search(text) is not None


def states_where(
    expression: str,
    variables: Mapping[str, Variable],
    labels: Mapping[str, NDArray[np.bool_]],
    n_states: int,
    definitions: Mapping[str, str] = NOTHING,
    find: Callable[[str], int | None] = lambda _: None,
) -> NDArray[np.bool_]:
    """(S,) the states in which an expression holds; one that gives no value to a variable of it is not among them.

    `definitions` are constants and formulas: name and expression. What stands in quotes is a label, or the state that
    `find` knows by that name.

    >>> from waypost.model.valuations import read_valuations
    >>> variables = read_valuations(["x=0, y=1", "x=3, y=1", "x=5, y=0"])
    >>> states_where("x>N & !(y=0)", variables, {}, 3, {"N": "2"})
    array([False,  True, False])
    """
    reader = _Evaluator(expression, variables, labels, n_states, definitions, find)
    value = reader.everything()
    if not _is_bool(value):
        raise reader.wrong("is a number, not a condition")
    return np.broadcast_to(np.asarray(value, bool), (n_states,)) & reader.defined


def number_of(expression: str, definitions: Mapping[str, str] = NOTHING) -> float:
    """Value of an expression without variables.

    >>> number_of("2*N+1", {"N": "3"})
    7.0
    """
    reader = _Evaluator(expression, {}, {}, 1, definitions)
    value = reader.everything()
    if _kind(value) != "number":
        raise reader.wrong("is a condition, not a number")
    return float(value)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_


def _whole(value: Any) -> bool:
    return np.asarray(value).dtype.kind != "f"


def _kind(value: Any) -> str:
    return "word" if isinstance(value, _Words) else "bool" if _is_bool(value) else "number"


class _Evaluator:
    """One pass over the text that computes while it reads: a value is a scalar or an array over the states."""

    def __init__(
        self,
        text: str,
        variables: Mapping[str, Variable],
        labels: Mapping[str, NDArray[np.bool_]],
        n_states: int,
        definitions: Mapping[str, str],
        find: Callable[[str], int | None] = lambda _: None,
        depth: int = 0,
    ) -> None:
        self.text = text
        self.variables = variables
        self.labels = labels
        self.definitions = definitions
        self.find = find
        self.n_states = n_states
        self.defined = np.ones(n_states, bool)
        self.depth = depth
        self.tokens = tokens_of(text, self.wrong)
        self.position = 0

    def wrong(self, what: str) -> NameUnknownError:
        shown = self.text if len(self.text) <= 100 else f"{self.text[:97]}..."
        return NameUnknownError(f"{shown!r} is no label and no state, and as an expression it {what}")

    def _next(self) -> Token:
        return self.tokens[self.position] if self.position < len(self.tokens) else Token("end", "", len(self.text))

    def _take(self, *operators: str) -> str | None:
        kind, text, _ = self._next()
        if kind == "operator" and text in operators:
            self.position += 1
            return text
        return None

    def _condition(self, value: Any, sign: str) -> Any:
        if not _is_bool(value):
            raise self.wrong(f"has something at {sign!r} that is neither true nor false")
        return value

    def _number(self, value: Any, sign: str) -> Any:
        if _kind(value) != "number":
            raise self.wrong(f"has something at {sign!r} that is not a number")
        return value

    def _bounded(self, value: Any) -> Any:
        if np.any(np.abs(np.asarray(value, float)) >= 2.0**62):  # integers wrap around in silence
            raise self.wrong("computes numbers that are too large")
        return value

    def _computed(self, sign: str, left: Any, right: Any) -> Any:
        left, right = self._number(left, sign), self._number(right, sign)
        with np.errstate(all="ignore"):
            if sign == "/":
                return np.true_divide(left, right)
            if _whole(left) and _whole(right):
                self._bounded(_COMPUTE[sign](np.asarray(left, float), np.asarray(right, float)))
            return _COMPUTE[sign](left, right)

    def everything(self) -> Any:
        value = self.chosen()
        kind, text, start = self._next()
        if kind != "end":
            raise self.wrong(f"cannot be read from {text!r} on (character {start + 1})")
        return value

    def chosen(self) -> Any:
        condition = self.implies()
        if not self._take("?"):
            return condition
        left = self._deeper(self.chosen)
        if not self._take(":"):
            raise self.wrong("has a '?' without its ':'")
        right = self._deeper(self.chosen)
        if _kind(left) != _kind(right) or _kind(left) == "word":
            raise self.wrong("chooses between things of different kinds at '?'")
        return np.where(self._condition(condition, "?"), left, right)

    def implies(self) -> Any:
        return self._joined(self.iff, "=>", lambda left, right: np.logical_not(left) | right)  # (a => b) => c

    def iff(self) -> Any:
        return self._joined(self.either, "<=>", np.equal)

    def either(self) -> Any:
        return self._joined(self.both, "|", np.logical_or)

    def both(self) -> Any:
        return self._joined(self.negated, "&", np.logical_and)

    def _joined(self, part: Callable[[], Any], sign: str, join: Callable[[Any, Any], Any]) -> Any:
        value = part()
        while self._take(sign):
            value = join(self._condition(value, sign), self._condition(part(), sign))
        return value

    def negated(self) -> Any:
        if self._take("!"):
            return np.logical_not(self._condition(self._deeper(self.negated), "!"))
        return self.equality()

    def equality(self) -> Any:
        value = self.comparison()
        while sign := self._take(*_EQUAL):
            value = self._equal(value, self.comparison(), sign)
        return value

    def _equal(self, left: Any, right: Any, sign: str) -> Any:
        if _kind(left) != _kind(right):
            raise self.wrong(f"compares things of different kinds at {sign!r}")
        if isinstance(left, _Words) and isinstance(right, _Words):
            number = {word: k for k, word in enumerate(left.table)}
            same = np.array([number.get(word, -1) for word in right.table])
            left, right = left.codes, same[right.codes]
        return np.asarray(_EQUAL[sign](left, right), bool)

    def comparison(self) -> Any:
        left = self.total()
        holds: Any = None
        while sign := self._take(*_COMPARE):
            right = self.total()
            now = np.asarray(_COMPARE[sign](self._number(left, sign), self._number(right, sign)), bool)
            left, holds = right, now if holds is None else holds & now
        return left if holds is None else holds

    def total(self) -> Any:
        value = self.product()
        while sign := self._take("+", "-"):
            value = self._computed(sign, value, self.product())
        return value

    def product(self) -> Any:
        value = self.signed()
        while sign := self._take("*", "/"):
            value = self._computed(sign, value, self.signed())
        return value

    def signed(self) -> Any:
        if self._take("-"):
            return -self._number(self._deeper(self.signed), "-")
        return self.atom()

    def atom(self) -> Any:
        kind, text, start = self._next()
        self.position += 1
        if kind == "number":
            return np.int64(text) if text.isdecimal() else np.float64(text)
        if kind == "label":
            return self._quoted(text)
        if kind == "name":
            return self._called(text) if self._follows(text) else self._named(text, start)
        if (kind, text) == ("operator", "("):
            value = self._deeper(self.chosen)
            if not self._take(")"):
                raise self.wrong(f"has a bracket at character {start + 1} that is not closed")
            return value
        if kind == "end":
            raise self.wrong("ends too early")
        raise self.wrong(f"has {text!r} where a value should be (character {start + 1})")

    def _quoted(self, name: str) -> Any:
        if name in self.labels:
            return self.labels[name]
        state = self.find(name)
        if state is not None:
            return np.arange(self.n_states) == state
        if self._is_word(name):
            return _Words(np.int64(0), (name,))
        raise unknown_name("label", name, self.labels)

    def _is_word(self, name: str) -> bool:
        """Whether some variable has this word among its values."""
        return any(name in (variable.words or ()) for variable in self.variables.values())

    def _follows(self, name: str) -> bool:
        """Whether a name is that of a function, with its arguments behind it."""
        return name in FUNCTIONS and self._next()[:2] == ("operator", "(")

    def _called(self, name: str) -> Any:
        self._take("(")
        given = [self._number(self._deeper(self.chosen), name)]
        while self._take(","):
            given.append(self._number(self._deeper(self.chosen), name))
        if not self._take(")"):
            raise self.wrong(f"has a {name}(...) that is not closed")
        fewest, most = FUNCTIONS[name]
        if not fewest <= len(given) <= most:
            raise self.wrong(f"gives {len(given)} numbers to {name}, which takes {fewest}")
        with np.errstate(all="ignore"):
            return self._applied(name, given)

    def _applied(self, name: str, given: list[Any]) -> Any:
        whole = all(map(_whole, given))
        if name in ("min", "max"):
            value = given[0]
            for other in given[1:]:
                value = np.minimum(value, other) if name == "min" else np.maximum(value, other)
            return value
        if name in _ROUND:
            return given[0] if whole else self._rounded(_ROUND[name](given[0]))
        left, right = given
        if name == "log":
            return np.log(left) / np.log(right)
        if name == "pow":
            if not (whole and np.all(np.asarray(right) >= 0)):
                return np.power(np.asarray(left, float), right)
            self._bounded(np.power(np.asarray(left, float), right))
            return np.power(left, right)
        if not whole:
            raise self.wrong("takes a remainder of numbers that are not whole")
        divides = np.asarray(right) > 0  # PRISM takes no other remainder
        self.defined = self.defined & divides
        return np.mod(left, np.where(divides, right, 1))

    def _rounded(self, value: Any) -> Any:
        """Whole numbers; of what is divided by zero there is none."""
        finite = np.isfinite(value)
        self.defined = self.defined & finite
        return self._bounded(np.where(finite, value, 0)).astype(np.int64)

    def _named(self, name: str, start: int) -> Any:
        if name in ("true", "false"):
            return np.bool_(name == "true")
        variable = self.variables.get(name)
        if variable is not None:
            self.defined = self.defined & variable.defined
            if variable.words is not None:
                return _Words(variable.values, variable.words)
            return variable.values.astype(np.int64) if variable.values.dtype.kind == "i" else variable.values
        if name in self.definitions:
            return self._defined(name)
        if self._is_word(name):
            return _Words(np.int64(0), (name,))
        if name in self.labels:
            raise self.wrong(f'means the label {name} at character {start + 1}; write it in quotes: "{name}"')
        raise unknown_name("variable", name, {**self.variables, **self.definitions})

    def _defined(self, name: str) -> Any:
        """Value of a constant or a formula."""
        if self.depth >= DEEPEST:
            raise self.wrong(f"needs the formula {name}, which is nested more than {DEEPEST} deep")
        inner = _Evaluator(
            self.definitions[name],
            self.variables,
            self.labels,
            self.n_states,
            self.definitions,
            self.find,
            self.depth + 1,
        )
        value = inner.everything()
        self.defined = self.defined & inner.defined
        return value

    def _deeper(self, rule: Callable[[], Any]) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.wrong(f"is nested more than {DEEPEST} deep")
        value = rule()
        self.depth -= 1
        return value
