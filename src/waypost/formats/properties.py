"""Questions as model checkers write them: PRISM properties and the properties of JANI files, as plain data.

::

    "reach":   Pmax=? [ F "goal" ]              reachability
    "safely":  Pmin=? [ !"crash" U "goal" ]     until: a run ends where the left side no longer holds
    "soon":    Pmax=? [ F<=20 "goal" ]          within 20 steps: time in the product
    "through": Pmax=? [ F "detour" || F "goal" ]  conditional: the importance of the detour

``P>=1 [ ... ]`` asks for the least probability, ``P<0.1 [ ... ]`` for the greatest. Everything else is refused by name.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from waypost.errors import FormatError, ModelError, NameUnknownError, unknown_name
from waypost.formats import jani, prism
from waypost.formats.conditions import in_either_order
from waypost.formats.jani import REFUSED, NotOurs, labels_of, parsed, property_text
from waypost.formats.lexical import read_text
from waypost.formats.prism import COMMENT, definitions_of
from waypost.graph import Graph, reachable
from waypost.model import MDP, Target
from waypost.model.expressions import number_of
from waypost.model.steps import within
from waypost.solve import reachability

Extreme = Literal["max", "min"]
ENDINGS = (".props", ".pctl", ".prctl", ".csl")  # of files with properties

_NAMED = re.compile(r'\s*"([^"]*)"\s*:(?!=)\s*(.*)\Z', re.DOTALL)
_ASKED = re.compile(r"P\s*(max|min)?\s*(=\s*\?|[<>]=?\s*[^\[]+?)\s*\[(.*)\]\s*\Z", re.DOTALL)
_LABEL = re.compile(r'\blabel\s*"([^"]*)"\s*=\s*([^;]+?)\s*;')
_DECLARED = re.compile(r'\b(?:const|formula)\b[^;]*;|\blabel\s*"[^"]*"\s*=[^;]*;')
_QUOTED = re.compile(r'"([^"]*)"(\s*:(?!=))?')  # a label, or the name of a property
_BOUND = re.compile(r"\s*(<=|<)\s*(\d+|[A-Za-z_]\w*|\([^()]*\))")
_SCANNED = re.compile(r'"[^"]*"|\|\||[()\[\]{}]|\b[A-Za-z_]\w*\b|\S')
_OTHER = {
    "R": "expected rewards (R)",
    "S": "the long run (S)",
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


class Posed(NamedTuple):
    """A property as a question of ours: reach `target` in `mdp`, or how important `states` are for that."""

    mdp: MDP
    target: Target
    states: Target | None = None


def asked(mdp: MDP, question: Property) -> Posed:
    """Turn a property into a model and a target: avoided states end a run, steps are counted by the states.

    >>> mdp = MDP.from_dict({"a": {"try": {"b": 0.5, "a": 0.5}}, "b": {}}, initial="a", labels={"won": ["b"]})
    >>> asked(mdp, parse_property('Pmax=? [ F<=2 "won" ]'))
    Posed(mdp=MDP(states=5, choices=5, transitions=7, initial='a, step=0'), target='"won"', states=None)
    """
    mdp = replace(mdp, definitions=MappingProxyType({**mdp.definitions, **question.definitions}))
    if question.given is not None:
        if counts_later(mdp, question):
            parts = mdp.where(question.target), mdp.where(question.given)
            mdp = in_either_order(mdp, *parts, question.optimum, names=(question.target, question.given))
        return Posed(mdp, question.given, question.target)
    if question.avoid is not None:
        target = mdp.where(question.target)
        mdp = mdp.absorbing(_holds(mdp, question.avoid) & ~target)
    if question.within is not None:
        mdp = within(mdp.absorbing(mdp.where(question.target)), question.within)
    return Posed(mdp, question.target)


def counts_later(mdp: MDP, question: Property) -> bool:
    """Whether a conditional property also counts what comes after its condition.

    Then `asked` gives a model for its optimum only: the other bound there is no answer to anything.

    >>> mdp = MDP.from_dict({"a": {"go": "b"}, "b": {"go": "c"}, "c": {}}, initial="a")
    >>> [counts_later(mdp, parse_property(f'Pmax=? [ F {x} || F {y} ]')) for x, y in (('"b"', '"c"'), ('"c"', '"b"'))]
    [False, True]
    """
    seen = mdp.where(str(question.given))
    return bool((reachable(Graph.of(mdp), seen) & mdp.where(question.target) & ~seen).any())


def answer(mdp: MDP, question: Property, *, exact: bool = False) -> Any:
    """Probability that an unconditional property asks for, from the initial state; a Fraction in exact mode.

    >>> mdp = MDP.from_dict({"a": {"try": {"b": 0.5, "c": 0.5}}, "b": {}, "c": {}}, initial="a")
    >>> answer(mdp, parse_property('Pmax=? [ !"c" U "b" ]'))
    0.5
    """
    known = replace(mdp, definitions=MappingProxyType({**mdp.definitions, **question.definitions}))
    if not _holds(known, question.target).any():
        return Fraction(0) if exact else 0.0
    model, target, _ = asked(mdp, question)
    if not _holds(model, question.target).any():  # not within so many steps
        return Fraction(0) if exact else 0.0
    found = reachability(model, target=target, optimum=question.optimum, exact=exact)[model.initial]
    return found if exact else float(found)


def holds(question: Property, value: Any) -> bool | None:
    """Whether a value keeps to the threshold of a property; None where the property has none.

    >>> holds(parse_property('P>=0.5 [ F "goal" ]'), 0.25)
    False
    """
    if question.threshold is None:
        return None
    sign, bound = re.fullmatch(r"([<>]=?)(.*)", question.threshold).groups()  # type: ignore[union-attr]
    limit = number_of(bound, question.definitions)
    compare = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}[sign]
    return bool(compare(value, Fraction(repr(limit)) if isinstance(value, Fraction) else limit))


def properties_files(model: Path | str) -> tuple[Path, ...]:
    """Files with properties of a model: itself where it is JANI; beside ``a.2.prism``, ``a.2.props`` or ``a.props``."""
    path = Path(model)
    if path.suffix == ".jani":
        return (path,)
    stem = path.stem
    while stem:
        found = tuple(file for ending in ENDINGS if (file := path.with_name(stem + ending)).is_file())
        if found:
            return found
        stem = stem.rpartition(".")[0]
    return ()


def open_constants(path: Path | str) -> set[str]:
    """Names of the constants that a PRISM or JANI file, of a model or of properties, leaves open."""
    text = read_text(Path(path))
    if text.lstrip().startswith("{"):
        constants = parsed(text, Path(path).name).get("constants") or []
        return {str(c.get("name")) for c in constants if isinstance(c, dict) and c.get("value") is None}
    return prism.open_constants(COMMENT.sub("", text))


def _holds(mdp: MDP, expression: str) -> Any:
    """(S,) where an expression holds, which may be nowhere."""
    try:
        return mdp.where(expression)
    except ModelError:
        return np.zeros(mdp.n_states, bool)


def timed(question: Property) -> Unsupported:
    """Say that a bound on time in a continuous-time model is no number of steps."""
    return Unsupported(question.name, question.text, "a bound on time in a continuous-time model")


def find_property(source: str, *, constants: Mapping[str, Any] | None = None) -> Property:
    """Find a property given as ``FILE``, ``FILE:NAME`` or as text.

    >>> find_property('Pmin=? [ F "goal" ]').optimum
    'min'
    """
    found = listed_properties(source, constants=constants)
    if len(found) != 1:
        names = ", ".join(p.name for p in found) or "none"
        raise FormatError(f"{Path(source).name} has {len(found)} properties; choose one as {source}:NAME ({names})")
    return _supported(found[0])


def listed_properties(source: str, *, constants: Mapping[str, Any] | None = None) -> tuple[Property | Unsupported, ...]:
    """All properties of a ``FILE``, the one of ``FILE:NAME``, or the one that a text is."""
    path, colon, name = source.rpartition(":")
    if _ASKED.search(source) or (not Path(source).exists() and not (colon and Path(path).exists())):
        return (_read(source, _texts(constants or {})),)
    if Path(source).exists():
        return read_properties(source, constants=constants)
    known = read_properties(path, constants=constants)
    found = tuple(p for p in known if p.name == name)[:1]
    if not found:
        raise unknown_name("property", name, [p.name for p in known], Path(path).name)
    return found


def read_properties(
    path: Path | str, *, constants: Mapping[str, Any] | None = None
) -> tuple[Property | Unsupported, ...]:
    """Read the properties of a PRISM properties file or of a JANI model."""
    path = Path(path)
    text = read_text(path)
    if text.lstrip().startswith("{"):
        document = parsed(text, path.name)
        return tuple(_from_jani(given, document, constants or {}) for given in document.get("properties") or [])
    return loads(text, constants=constants)


def parse_property(text: str, *, definitions: Mapping[str, str] | None = None) -> Property:
    """Read one property.

    >>> parse_property('Pmax=? [ !"crash" U "goal" ]')
    Property(name='Pmax=? [ !"crash" U "goal" ]', text='Pmax=? [ !"crash" U "goal" ]', optimum='max', ...
    """
    return _supported(_read(text, definitions or {}))


def loads(text: str, *, constants: Mapping[str, Any] | None = None) -> tuple[Property | Unsupported, ...]:
    """Read the properties in the text of a PRISM properties file.

    >>> [p.name for p in loads('const int k=3; "soon": Pmax=? [ F<=k "goal" ]; "cost": R{"c"}min=? [ F "goal" ]')]
    ['soon', 'cost']
    """
    plain = COMMENT.sub("", text)
    definitions = {**_texts(constants or {}), **definitions_of(plain, constants or {})}
    labels = dict(_LABEL.findall(plain))
    body = _DECLARED.sub("", plain)
    body = _QUOTED.sub(lambda m: f"({labels[m[1]]})" if m[1] in labels and not m[2] else m[0], body)
    return tuple(_read(part, definitions) for part in _statements(body))


def _supported(found: Property | Unsupported) -> Property:
    if isinstance(found, Unsupported):
        raise FormatError(f"{found.text!r} asks for {found.reason}; {KINDS} can be answered")
    return found


KINDS = "reachability (F), until (U), both within a number of steps, and conditional reachability (F a || F b)"


def _texts(constants: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in constants.items()}


def _statements(text: str) -> Iterator[str]:
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


def _read(statement: str, definitions: Mapping[str, str]) -> Property | Unsupported:
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
        definitions=MappingProxyType(dict(definitions)),
        **parts,
    )


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
    if re.match(r"\s*(?:>|\[|=)", text):
        raise NotOurs("a lower bound on the steps")
    bound = _BOUND.match(text)
    if bound is None:
        return None, text
    try:
        steps = number_of(bound[2], definitions)
    except NameUnknownError:
        raise NotOurs(f"a number of steps that is not given ({bound[2]})") from None
    if steps != int(steps) or steps < 0:
        raise FormatError(f"{bound[0].strip()!r} is no number of steps")
    return int(steps) - (bound[1] == "<"), text[bound.end() :]


def _negated(expression: str) -> str:
    inner = re.fullmatch(r'!\s*("[^"]*"|\w+|\([^()]*\))', expression)
    return inner[1] if inner else f"!({expression})"


def _from_jani(given: Any, document: Mapping[str, Any], constants: Mapping[str, Any]) -> Property | Unsupported:
    name = str(given.get("name")) if isinstance(given, dict) else "?"
    labels, definitions = labels_of(document), jani.definitions_of(document, constants)
    inner = given.get("expression") if isinstance(given, dict) else None
    try:
        text = property_text(inner, labels)
        found = _read(text, definitions)
    except NotOurs as refusal:
        return Unsupported(name, name, str(refusal))
    return replace(found, name=name)
