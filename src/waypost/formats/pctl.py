"""The language of PRISM's properties: what a question is, and how its text is taken apart.

::

    "reach":   Pmax=? [ F "goal" ]              reachability
    "safely":  Pmin=? [ !"crash" U "goal" ]     until: a run ends where the left side no longer holds
    "soon":    Pmax=? [ F<=20 "goal" ]          within 20 steps: time in the product
    "through": Pmax=? [ F "detour" || F "goal" ]  conditional: the importance of the detour

``P>=1 [ ... ]`` asks for the least probability, ``P<0.1 [ ... ]`` for the greatest. Everything else is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from waypost.errors import NameUnknownError
from waypost.formats.jani import REFUSED, NotOurs
from waypost.model.expressions import number_of

Extreme = Literal["max", "min"]
KINDS = "reachability (F), until (U), both within a number of steps, and conditional reachability (F a || F b)"

_NAMED = re.compile(r'\s*"([^"]*)"\s*:(?!=)\s*(.*)\Z', re.DOTALL)
_ASKED = re.compile(r"P\s*(max|min)?\s*(=\s*\?|[<>]=?\s*[^\[]+?)\s*\[(.*)\]\s*\Z", re.DOTALL)
_BOUND = re.compile(r"\s*(<=|<)\s*(\d+(?:\.\d+)?|[A-Za-z_]\w*|\([^()]*\))")
_FROM_NOW = re.compile(r"\s*\[\s*0\s*,\s*([^\[\],]+?)\s*\]")  # [0,20], which is <=20
_SCANNED = re.compile(r'"[^"]*"|\|\||[()\[\]{}]|\b[A-Za-z_]\w*\b|\S')
_OTHER = {
    "R": "expected rewards (R)",
    "S": "the long run (S)",
    "T": "expected times (T)",
    "E": "CTL (E)",
    "A": "CTL (A)",
    "filter": "filters",
    "multi": "several objectives (multi)",
}


@dataclass(frozen=True)
class Property:
    """One question about a model: how probable is it to reach `target`?"""

    name: str
    text: str  # as it stands in the file
    optimum: Extreme
    target: str  # an expression, as all of these
    avoid: str | None = None  # where a run ends before it reached the target
    within: int | None = None  # steps
    given: str | None = None  # conditional: that this is reached
    threshold: str | None = None  # ">=1"
    either: bool = False  # written P=?: least and greatest, where a model has choices
    definitions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # of the file it stands in

    def reading(self) -> dict[str, str | None]:
        """Options for `read_mdp` with which a symbolic model is built no further than the question needs."""
        return {} if self.given is not None else {"target": self.target, "avoid": self.avoid}


@dataclass(frozen=True)
class Unsupported:
    """A question that we do not answer, and what it is called."""

    name: str
    text: str
    reason: str


def statements(text: str) -> Iterator[str]:
    """Cut a file at semicolons, and at the ends of lines behind a closed bracket."""
    depth, start, closed = 0, 0, False
    for match in re.finditer(r'"[^"]*"|[()\[\]{};\n]', text):
        sign = match[0]
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth, closed = depth - 1, sign == "]"
        elif depth == 0 and (sign == ";" or (sign == "\n" and closed and text[start : match.start()].strip())):
            if statement := text[start : match.start()].strip():
                yield " ".join(statement.split())
            start, closed = match.end(), False
    if rest := text[start:].strip():
        yield " ".join(rest.split())


def read_statement(statement: str, definitions: Mapping[str, str]) -> Property | Unsupported:
    """Read one property, with or without a name before it."""
    named = _NAMED.match(statement)
    name, text = (named[1], named[2].strip()) if named else (statement, statement)
    head = _ASKED.match(text)
    if head is None:
        word = re.match(r"[A-Za-z]+", text)
        kind = _OTHER.get(word[0] if word else "") or _OTHER.get(word[0][0] if word else "")
        return Unsupported(name, text, kind or "something that is no probability (P)")
    optimum, asks, path = head[1], head[2].replace(" ", ""), head[3].strip()
    threshold = None if asks == "=?" else asks
    least = optimum == "min" or (optimum is None and asks[0] == ">")
    try:
        parts = _path(path, definitions)
    except NotOurs as refusal:
        return Unsupported(name, text, str(refusal))
    return Property(
        name,
        text,
        "min" if least else "max",
        threshold=threshold,
        either=optimum is None and threshold is None,
        definitions=MappingProxyType(dict(definitions)),
        **parts,
    )


def is_question(text: str) -> bool:
    """Whether a text asks for a probability, rather than naming a file or a property.

    >>> is_question("Pmax=? [ F x=3 ]"), is_question("reach")
    (True, False)
    """
    return _ASKED.search(text) is not None


def _path(path: str, definitions: Mapping[str, str]) -> dict[str, Any]:
    """Take a path formula apart."""
    marks = list(_marks(path))
    both = [(start, end) for word, start, end in marks if word == "||"]
    if both:
        left, right = (_path(part, definitions) for part in (path[: both[0][0]], path[both[0][1] :]))
        if any(part["avoid"] is not None or part["within"] is not None for part in (left, right)):
            raise NotOurs("a condition that is more than reachability")
        return {**left, "given": right["target"]}
    for word, _, _ in marks:
        if word in REFUSED:
            raise NotOurs(REFUSED[word])
    if len(marks) != 1:
        raise NotOurs("a formula of several temporal operators (LTL)" if marks else "a state formula without F or U")
    word, start, end = marks[0]
    before, after = path[:start].strip(), path[end:]
    if (word == "F") != (not before):
        raise NotOurs("a formula that is neither F nor U")
    steps, after = _bound(after, definitions)
    if not after.strip():
        raise NotOurs("a formula that names nothing to reach")
    avoid = None if word == "F" or before == "true" else _negated(before)
    return {"target": after.strip(), "avoid": avoid, "within": steps}


def _marks(path: str) -> Iterator[tuple[str, int, int]]:
    """Temporal operators and bars of a path formula, where they stand; none may be inside brackets."""
    depth = 0
    for match in _SCANNED.finditer(path):
        word = match[0]
        if word in "([{":
            depth += 1
        elif word in ")]}":
            depth -= 1
        elif word in ("F", "U", "||", *REFUSED):
            if depth:
                raise NotOurs("a formula inside another")
            yield word, match.start(), match.end()
        elif word in ("P", "Pmax", "Pmin", "Rmax", "Rmin", "S"):
            raise NotOurs("a formula inside another")


def _bound(text: str, definitions: Mapping[str, str]) -> tuple[int | None, str]:
    text = _FROM_NOW.sub(r"<=(\1)", text, count=1) if _FROM_NOW.match(text) else text
    if re.match(r"\s*(?:>|\[|=)", text):
        raise NotOurs("a lower bound on the steps")
    bound = _BOUND.match(text)
    if bound is None:
        return None, text
    try:
        steps = number_of(bound[2], definitions)
    except NameUnknownError:
        raise NotOurs(f"a number of steps that is not given ({bound[2]})") from None
    most = steps - (bound[1] == "<")
    if steps != int(steps) or most < 0:
        raise NotOurs(f"{bound[0].strip()}, which is no number of steps")
    return int(most), text[bound.end() :]


def _negated(expression: str) -> str:
    inner = re.fullmatch(r'!\s*("[^"]*"|\w+|\([^()]*\))', expression)
    return inner[1] if inner else f"!({expression})"
