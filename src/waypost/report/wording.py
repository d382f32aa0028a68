"""How numbers and names are written.

0 and 1 mean exactly 0 and 1, everything else keeps its distance. Names come from other people's files: what a terminal
would obey rather than show is spelt out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from fractions import Fraction

from waypost.importance.results import Bounds, Explanation, Number

SCOPE_TITLES = {
    "all": "any strategy",
    "optimal": "best strategies",
    "strategy": "given strategy",
    "absolute": "of all runs",
    "observed": "good cases",
    "contrast": "bad cases",
}


def number(value: Number, digits: int = 3) -> str:
    """Probability as people read it; ``0`` and ``1`` only where the value is exactly that.

    >>> [number(x) for x in (0.0, 1e-9, 0.0816326, 0.5, 0.99999, 1.0)]
    ['0', '<0.001', '0.082', '0.5', '>0.999', '1']
    """
    if value in {0, 1}:
        return str(int(value))
    smallest = f"{10**-digits:.{digits}f}"
    text = f"{float(value):.{digits}f}"
    if float(text) == 0:
        return f"<{smallest}"
    if float(text) == 1:
        return f">{1 - 10**-digits:.{digits}f}"
    return text.rstrip("0")


def chance(value: Number) -> str:
    """Write a probability that stands alone: as `cell` does, and where it is next to 0 or 1, how near.

    >>> [chance(x) for x in (0.25, 2.0103281776956928e-05, 1 - 2**-21, Fraction(1, 3), 1.0)]
    ['0.25', '2.01e-05', '1 - 4.77e-07', '1/3', '1']
    """
    text = cell(value)
    if text.startswith("<"):
        return f"{float(value):.3g}"
    return f"1 - {float(1 - value):.3g}" if text.startswith(">") else text


def cell(value: Number) -> str:
    """Write a number for a table: a short fraction in exact mode, else as `number` does.

    >>> cell(Fraction(4, 49)), cell(Fraction(10**9, 10**9 + 1)), cell(0.25)
    ('4/49', '>0.999', '0.25')
    """
    return str(value) if isinstance(value, Fraction) and len(str(value)) <= 15 else number(value)


def exactly(value: Number) -> str:
    """Write a number as it was computed: a fraction in exact mode, however long, else as `chance` does.

    >>> exactly(Fraction(855, 953)), exactly(Fraction(1)), exactly(0.25), exactly(2.5e-06)
    ('855/953', '1', '0.25', '2.5e-06')
    """
    return str(value) if isinstance(value, Fraction) else chance(value)


def span(bounds: Bounds, write: Callable[[Number], str] = number) -> str:
    """Bounds as people read them; one number where both print alike.

    >>> span(Bounds(0.525, 1.0)), span(Bounds(4 / 49, 4 / 49)), span(Bounds(0.0, 1e-12))
    ('0.525 to 1', '0.082', '0 to <0.001')
    """
    low, high = map(write, bounds)
    return low if low == high else f"{low} to {high}"


def percent(value: Number) -> str:
    """Share of runs in words; never "all" or "none" by rounding.

    >>> [percent(x) for x in (0.0, 0.0004, 0.525, 0.9996, 1.0)]
    ['0 %', 'less than 0.1 %', '52.5 %', 'more than 99.9 %', '100 %']
    """
    text = number(value)
    if text.startswith("<"):
        return "less than 0.1 %"
    if text.startswith(">"):
        return "more than 99.9 %"
    shown = f"{float(text) * 100:.1f}".removesuffix(".0")
    return f"{shown} %"


def share(bounds: Bounds) -> str:
    """Bounds as shares of runs, in words.

    >>> share(Bounds(0.0, 0.95)), share(Bounds(0.5, 0.5))
    ('0 % to 95 %', '50 %')
    """
    return span(bounds, percent)


def count(n: int, noun: str) -> str:
    """Count with its noun.

    >>> count(1, "state"), count(14860, "state")
    ('1 state', '14,860 states')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def printable(name: str, width: int | None = None) -> str:
    r"""Name with control characters and text-direction marks spelt out, shortened to `width`, or where it is endless.

    >>> printable("a\x1b[31mred"), printable("Offer sent back", 8)
    ('a\\x1b[31mred', 'Offer s…')
    """
    if len(name) > LONGEST:
        name = f"{name[:LONGEST]}… ({len(name):,} characters)"
    shown = name
    if not name.isprintable():
        shown = "".join(c if unicodedata.category(c) not in _UNSEEN or c in _JOINERS else _spelt(c) for c in name)
    if width is not None and len(shown) > width:
        shown = shown[: width - 1] + "…"
    return shown


LONGEST = 4000  # characters of a name that people are shown
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = {"\u200c", "\u200d"}  # part of ordinary words and emoji


def _spelt(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def proof(explanation: Explanation) -> list[str]:
    """Sentences on how the states of an explanation were told to be the most important ones, where they were.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> proof(explain(loan(), target="Granted", scope="optimal", top=3))
    ['These 3 are proved to be the most important of 10 states: 10 were computed.']
    """
    top = explanation.top
    if top is None or top.among <= len(explanation.asked):
        return []
    most = f"These {len(explanation.asked):,} are proved to be the most important of {top.among:,} states"
    others = f", and no bound of the other {top.left:,} is above" if top.left else ""
    said = [f"{most}: {top.computed:,} were computed{others}."]
    if top.tied:
        said.append("Others may be as important as the last of them; equal ones come in the order of the model.")
    return said
