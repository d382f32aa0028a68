"""What names, numbers and lines look like in model files, and how much of them we are willing to read.

Everything here is bounded by the length of the text: a file cannot make us count to 10^12 or write out 1e999999999.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from waypost.errors import FormatError
from waypost.formats.reading import read_bytes
from waypost.model import MDP
from waypost.model.checking import twin_choices
from waypost.model.names import CodedActions

_NUMBER = re.compile(r"\d{0,2000}(?:\.\d{0,2000})?(?:[eE][+-]?\d{1,3})?\Z")
_FRACTION = re.compile(r"(\d{1,2000})(?:\.0)?/(\d{1,2000})(?:\.0)?\Z")


def read_text(path: Path) -> str:
    """Text of a file, or a clear word why not."""
    try:
        return read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path.name} is not UTF-8 text (byte {error.start}), so it is no model we know") from None


def whole(text: str, where: str) -> int:
    """Read a count or an index.

    >>> whole("12", "line 3")
    12
    """
    if not (text.isdecimal() and text.isascii() and len(text) <= 15):
        raise FormatError(f"{where}: expected a whole number, found {text[:40]!r}")
    return int(text)


def probability(text: str, where: str) -> float:
    """Read a probability: a decimal number or a fraction.

    >>> probability("0.25", "line 3"), probability("1/4", "line 3")
    (0.25, 0.25)
    """
    if "/" in text:
        return float(fraction(text, where))
    if not _NUMBER.match(text) or text in ("", "."):
        raise FormatError(f"{where}: expected a probability, found {text[:40]!r}")
    try:
        value = float(text)
    except ValueError:
        raise FormatError(f"{where}: expected a probability, found {text[:40]!r}") from None
    return value or least_of(text)


def least_of(text: str) -> float:
    """Give a number that rounds to zero as a float: zero if it is zero, else the least there is.

    What is possible stays possible.

    >>> least_of("0.0e5"), least_of("1e-400")
    (0.0, 5e-324)
    """
    mantissa = re.split("[eE]", text)[0]
    return float(np.nextafter(0, 1)) if re.search("[1-9]", mantissa) else 0.0


def numbers_in(text: str | bytes) -> NDArray[np.float64]:
    """Millions of numbers with blanks between, without a string for each; empty if something else is among them.

    >>> numbers_in("1 0.5 2e-3"), numbers_in("1 half")
    (array([1.   , 0.5  , 0.002]), array([], dtype=float64))
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # numpy's way of saying that it stopped half way
        try:
            return np.fromstring(text, sep=" ")
        except (ValueError, DeprecationWarning):
            return np.empty(0)


def fraction(text: str, where: str) -> Fraction:
    """Read a probability exactly.

    >>> fraction("1/3", "line 3"), fraction("0.1", "line 3")
    (Fraction(1, 3), Fraction(1, 10))
    """
    parts = _FRACTION.match(text)
    try:
        if parts:
            value = Fraction(int(parts[1]), int(parts[2]))
        else:
            value = Fraction(text) if _NUMBER.match(text) else Fraction(-1)
    except (ValueError, ZeroDivisionError):
        value = Fraction(-1)
    if not 0 <= value <= 2:  # a little above 1 is for the model to judge
        raise FormatError(f"{where}: expected a probability, found {text[:40]!r}")
    return value


def shortest(value: Fraction | float) -> str:
    """Write a probability so that reading it gives the same number back.

    >>> shortest(0.1), shortest(Fraction(1, 3)), shortest(Fraction(1, 10)), shortest(1.0)
    ('0.1', '1/3', '0.1', '1')
    """
    if isinstance(value, Fraction):
        decimal = repr(float(value))
        return _plain(decimal) if Fraction(decimal) == value else f"{value.numerator}/{value.denominator}"
    return _plain(repr(float(value)))


def shortest_of(mdp: MDP) -> list[str]:
    """Write all probabilities of a model, fractions where it has them."""
    numbers = mdp.transitions.data.tolist() if mdp.exact is None else mdp.exact.tolist()
    texts = {number: shortest(number) for number in set(numbers)}
    return [texts[number] for number in numbers]


def _plain(decimal: str) -> str:
    return decimal.removesuffix(".0")


def distinct_actions(first_choice: ArrayLike, names: Iterable[str]) -> list[str]:
    """Give every choice a name of its own within its state.

    A nameless choice is called by its number within the state; a name that comes again gets a number behind it.

    >>> distinct_actions([0, 2, 5], ["", "", "go", "go", ""])
    ['0', '1', 'go', 'go (2)', '2']
    """
    first, given = np.asarray(first_choice, np.int64), list(names)
    owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
    texts = np.array([*given, ""], object)[:-1]  # an array of objects, even of one kind
    nameless = np.flatnonzero(texts == "")
    numbers = nameless - first[owner[nameless]]
    texts[nameless] = np.array([str(k) for k in range(int(numbers.max(initial=0)) + 1)], object)[numbers]
    filled: list[str] = texts.tolist()
    for state in np.unique(owner[twin_choices(first, filled)]).tolist():
        part = slice(int(first[state]), int(first[state + 1]))
        filled[part] = _told_apart(given[part])
    return filled


def distinct_codes(first: NDArray[np.int64], codes: NDArray[Any], words: Sequence[str]) -> CodedActions:
    """Give every choice a name of its own within its state, as `distinct_actions` does, by numbers in a table.

    >>> found = distinct_codes(np.array([0, 2, 5]), np.array([0, 0, 1, 1, 0]), ["", "go"])
    >>> tuple(found)
    ('0', '1', 'go', 'go (2)', '2')
    """
    table, codes = list(dict.fromkeys(words)), np.asarray(codes)
    if codes.dtype == np.uint32:
        codes = codes.view(np.int32)  # they are places in a table: none is that large
    number = {word: k for k, word in enumerate(table)}
    if len(table) < len(words):  # a table may say a word twice
        codes = np.array([number[word] for word in words], np.int64)[codes]
    given = codes
    nameless = np.flatnonzero(codes == number[""]) if "" in number else np.empty(0, np.int64)
    if len(nameless):
        owner = np.searchsorted(first, nameless, side="right") - 1
        place = nameless - first[owner]
        called = [number.setdefault(str(k), len(number)) for k in range(int(place.max()) + 1)]
        table += list(number)[len(table) :]
        codes = codes.copy()
        codes[nameless] = np.array(called, np.int64)[place]
    twins = CodedActions(codes, table).twins(first)
    if len(twins):
        codes = codes.copy()
        for state in np.unique(np.searchsorted(first, twins, side="right") - 1).tolist():
            part = slice(int(first[state]), int(first[state + 1]))
            told = _told_apart([table[k] for k in given[part].tolist()])
            codes[part] = [number.setdefault(name, len(number)) for name in told]
        table += list(number)[len(table) :]
    return CodedActions(codes, tuple(table), told_apart=True)


def _told_apart(given: list[str]) -> list[str]:
    """Names of the choices of one state, among which some come again."""
    told, taken = list(given), {name for name in given if name}
    kept: set[str] = set()
    count: dict[str, int] = {}  # behind each name that came again, so that many of them stay cheap
    for k, name in enumerate(name or str(k) for k, name in enumerate(given)):
        if name in kept or (name in taken and not given[k]):
            while (numbered := f"{name} ({count.setdefault(name, 2)})") in taken:
                count[name] += 1
            told[k] = numbered
        else:
            told[k] = name
            kept.add(name)
        taken.add(told[k])
    return told
