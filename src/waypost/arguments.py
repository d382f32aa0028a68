"""What a public function is given is checked once, at its door, against the annotations that it has anyway.

So the same mistake is the same `ArgumentError` in every function, and says in one sentence what was expected. Only the
kind of a thing is checked here: whether a name is in the model, or a strategy fits it, is for the function to say.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, wraps
from itertools import chain, cycle, islice
from numbers import Integral, Rational, Real
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from waypost.errors import ArgumentError

P = ParamSpec("P")
R = TypeVar("R")

LOOKED_AT = 100  # items of a collection; its first ones tell what it holds
SHOWN = 200  # characters of a wrong value


class AtLeast(NamedTuple):
    """Smallest value of a number."""

    least: int


Natural = Annotated[int, AtLeast(0)]
Positive = Annotated[int, AtLeast(1)]

_NAMES: dict[Any, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "text",
    Any: "anything",
    None: "None",
    types.NoneType: "None",
    Path: "a path",
    PathLike: "a path",
}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments that are not of the annotated kind, each by its name.

    >>> @checked
    ... def tell(top: Positive = 5, *, theme: Literal["light", "dark"] = "light") -> None: ...
    >>> tell(top=0)
    Traceback (most recent call last):
    ...
    waypost.errors.ArgumentError: top is a whole number, at least 1, not 0
    >>> tell(theme="blue")
    Traceback (most recent call last):
    ...
    waypost.errors.ArgumentError: theme is 'light' or 'dark', not 'blue'
    """
    parameters = inspect.signature(function).parameters.values()
    places = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    more = [p.name for p in parameters if p.kind is p.VAR_POSITIONAL]  # what takes all further ones

    @cache
    def kinds() -> dict[str, Any]:  # annotations are read when the first call comes: modules may be half-made before
        hints = get_type_hints(function, include_extras=True)
        named = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD and p.name in hints]
        return {word: hints[word] for word in named if not _takes_anything(hints[word])}

    @wraps(function)
    def door(*args: P.args, **kwargs: P.kwargs) -> R:
        wanted = kinds()
        for word, value in chain(zip(chain(places, cycle(more)), args, strict=False), kwargs.items()):
            if word in wanted and not fits(value, wanted[word]):
                raise ArgumentError(f"{word} is {told(wanted[word])}, not {shown(value)}")
        return function(*args, **kwargs)

    return door


def _takes_anything(kind: Any) -> bool:
    """Whether every value is of a kind: only a use of it can tell, as with arrays."""
    origin, inner = _taken_apart(kind)
    if origin in (Union, types.UnionType):
        return any(map(_takes_anything, inner))
    kind = kind if origin is None else origin
    return kind is Any or getattr(kind, "_is_protocol", False)


def fits(value: Any, kind: Any, *, deep: bool = True) -> bool:
    """Whether a value is of an annotated kind, as far as its first items tell; not what is in those in turn.

    >>> fits(3, int | None), fits(True, int), fits(["a", 1], list[str]), fits({"a": 1}, Mapping[str, int])
    (True, False, False, True)
    """
    if type(value) is kind or kind is Any:
        return True
    origin, inner = _taken_apart(kind)
    if origin is Annotated:
        return fits(value, inner[0]) and all(value >= limit.least for limit in inner[1:])
    if origin in (Union, types.UnionType):
        return type(value) in inner or any(fits(value, one, deep=deep) for one in inner)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if origin is tuple and inner and inner[-1] is not ...:
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(fits, value, inner))
    if origin is not None:
        return _is_a(value, origin) and (not deep or _items_fit(value, origin, inner))
    return _is_a(value, kind)


@cache
def _taken_apart(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """Give what ``list[str]`` is a list of: its origin, and what stands in its brackets."""
    return get_origin(kind), get_args(kind)


def _is_a(value: Any, kind: Any) -> bool:
    if kind in (None, types.NoneType):
        return value is None
    if kind in (int, float):
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
    if kind is Fraction:
        return isinstance(value, Rational) and not isinstance(value, bool)
    if kind is Sequence and hasattr(value, "tolist"):  # an array, or a column of a table
        return True
    if kind is Any or not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return True  # anything at all, or what only a use of it can tell
    return callable(value) if kind is Callable else isinstance(value, kind)


def _items_fit(value: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
    """Whether the first items are of their kind; what can be gone through only once is left alone."""
    if isinstance(value, str):
        return fits("", inner[0])
    if isinstance(value, bytes) or not isinstance(value, Collection) or origin.__module__ == "numpy":
        return not isinstance(value, bytes)
    if issubclass(origin, Mapping) and isinstance(value, Mapping):
        return all(fits(k, inner[0]) and fits(v, inner[1], deep=False) for k, v in islice(value.items(), LOOKED_AT))
    if getattr(type(value), "ITEMS", None) is inner[0]:  # it says what it holds, and would have to make them
        return True
    looked_at = list(islice(value, LOOKED_AT))
    return set(map(type, looked_at)) <= {inner[0]} or all(fits(item, inner[0], deep=False) for item in looked_at)


def told(kind: Any) -> str:
    """Kind of a thing in words.

    >>> told(Literal["max", "min"]), told(Mapping[str, int] | None), told(Natural)
    ("'max' or 'min'", 'a mapping from text to a whole number or None', 'a whole number, at least 0')
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return f"{told(inner[0])}, at least {inner[1].least}"
    if origin in (Union, types.UnionType, Literal):
        names = list(dict.fromkeys(repr(one) if origin is Literal else told(one) for one in inner))
        return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    kind = origin or kind
    if kind in _NAMES:
        return _NAMES[kind]
    if kind is Callable:
        return "a function"
    if not isinstance(kind, type):
        return "something else"
    if issubclass(kind, Mapping):
        return "a mapping" + (f" from {told(inner[0])} to {told(inner[1])}" if inner else "")
    if kind is tuple and inner and inner[-1] is not ...:
        return f"a tuple of {', '.join(map(told, inner))}"
    if issubclass(kind, Iterable) and kind.__module__ in ("builtins", "collections.abc"):
        return "a list" + (f" of {told(inner[0])}" if inner else "")
    return f"{'an' if kind.__name__[0] in 'AEIOUM' else 'a'} {kind.__name__}"


def shown(value: object) -> str:
    """Write a wrong value for a message: in one line, whatever it is, and not all of it.

    >>> shown(3), len(shown("x" * 1000)), shown(16**6000)
    ('3', 203, 'a number of 7226 digits')
    """
    try:
        text = repr(value).replace("\n", " ")
    except ValueError:  # Python writes no decimal number that long
        digits = int(value.bit_length() * 0.30103) + 1 if isinstance(value, int) else 0
        return f"a number of {digits} digits" if digits else f"a very long {type(value).__name__}"
    except RecursionError:
        return f"a deeply nested {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
