"""What names, numbers and lines look like in model files, and how much of them we are willing to read.

Everything here is bounded by the length of the text: a file cannot make us count to 10^12 or write out 1e999999999.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from waypost.errors import FormatError
from waypost.formats.reading import read_bytes
from waypost.model import MDP

_NUMBER = re.compile(r"\d{0,2000}(?:\.\d{0,2000})?(?:[eE][+-]?\d{1,3})?\Z")
TINY = re.compile(r"[eE]-\d{3,}|\.0{300}")  # of a number that a float may round to nothing
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
    if not value and any(digit in "123456789" for digit in text.lower().partition("e")[0]):
        raise FormatError(f"{where}: the probability {text[:40]} is too small for a float, which would take it for 0")
    return value


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


def distinct_actions(first_choice: Sequence[int], names: Iterable[str]) -> list[str]:
    """Give every choice a name of its own within its state.

    A nameless choice is called by its number within the state; a name that comes again gets a number behind it.

    >>> distinct_actions([0, 2, 5], ["", "", "go", "go", ""])
    ['0', '1', 'go', 'go (2)', '2']
    """
    given = list(names)
    for first, last in pairwise(first_choice):
        if last - first == 1:
            given[first] = given[first] or "0"
            continue
        taken = {name for name in given[first:last] if name}
        kept: set[str] = set()
        count: dict[str, int] = {}  # behind each name that came again, so that many of them stay cheap
        for k in range(first, last):
            name = given[k] or str(k - first)
            if name in kept or (name in taken and not given[k]):
                while (numbered := f"{name} ({count.setdefault(name, 2)})") in taken:
                    count[name] += 1
                given[k] = numbered
            else:
                given[k] = name
                kept.add(name)
            taken.add(given[k])
    return given
