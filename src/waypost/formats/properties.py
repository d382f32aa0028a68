"""Properties of model checkers as questions of ours: where they are found, what they ask of a model, their values.

They stand in PRISM's properties files and in JANI models, or are given as text (`waypost.formats.pctl`).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from waypost.errors import FormatError, ModelError, unknown_name
from waypost.formats import jani, prism
from waypost.formats.conditions import in_either_order
from waypost.formats.jani import NotOurs, labels_of, parsed, property_text
from waypost.formats.lexical import read_text
from waypost.formats.pctl import KINDS, Property, Unsupported, is_question, read_statement, statements
from waypost.formats.prism import COMMENT, definitions_of
from waypost.graph import Graph, reachable
from waypost.model import MDP, Target
from waypost.model.expressions import number_of
from waypost.model.steps import within
from waypost.solve import reachability

__all__ = [
    "Posed",
    "Property",
    "Unsupported",
    "answer",
    "asked",
    "counts_later",
    "find_property",
    "holds",
    "listed_properties",
    "loads",
    "open_constants",
    "parse_property",
    "places_of",
    "properties_files",
    "read_properties",
    "timed",
]

ENDINGS = (".props", ".pctl", ".prctl", ".csl")  # of files with properties

_LABEL = re.compile(r'\blabel\s*"([^"]*)"\s*=\s*([^;]+?)\s*;')
_DECLARED = re.compile(r'\b(?:const|formula)\b[^;]*;|\blabel\s*"[^"]*"\s*=[^;]*;')
_SIGNS = re.compile(r"[\[\]{}=?]")  # signs of a formula, which no name has
_QUOTED = re.compile(r'"([^"]*)"(\s*:(?!=))?')  # a label, or the name of a property


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
    mdp = _knowing(mdp, question)
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


def _knowing(mdp: MDP, question: Property) -> MDP:
    """Model that knows what the question speaks of: definitions of its file, and the labels that every model has."""
    given = {"init": np.arange(mdp.n_states) == mdp.initial, "deadlock": np.zeros(mdp.n_states, bool)}
    wanted = {name: mask for name, mask in given.items() if f'"{name}"' in question.text and name not in mdp.labels}
    known = mdp.with_labels({**mdp.labels, **wanted}) if wanted else mdp
    return replace(known, definitions=MappingProxyType({**mdp.definitions, **question.definitions}))


def holds_nowhere(mdp: MDP, question: Property) -> bool:
    """Whether what is to be reached holds in no state of a model.

    >>> mdp = MDP.from_dict({"a": {"go": "b"}, "b": {}}, initial="a", labels={"won": ["b"], "lost": []})
    >>> [holds_nowhere(mdp, parse_property(f'Pmax=? [ F "{label}" ]')) for label in ("won", "lost")]
    [False, True]
    """
    return not _holds(_knowing(mdp, question), question.given or question.target).any()


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
    if holds_nowhere(mdp, question):
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


def find_property(
    source: str, *, constants: Mapping[str, Any] | None = None, model: Path | str | None = None
) -> Property:
    """Find a property given as ``FILE``, ``FILE:NAME``, as text, or by its name among those of a `model`.

    >>> find_property('Pmin=? [ F "goal" ]').optimum
    'min'
    """
    found = listed_properties(source, constants=constants, model=model)
    if len(found) != 1:
        names = ", ".join(p.name for p in found) or "none"
        raise FormatError(f"{Path(source).name} has {len(found)} properties; choose one as {source}:NAME ({names})")
    return _supported(found[0])


def listed_properties(
    source: str, *, constants: Mapping[str, Any] | None = None, model: Path | str | None = None
) -> tuple[Property | Unsupported, ...]:
    """All properties of a ``FILE``, the one of ``FILE:NAME``, the one of a `model` by its name, or one as text."""
    given = {**_texts(constants or {}), **_definitions_in(model, constants or {})}
    if is_question(source):
        return (read_statement(source, given),)
    if Path(source).is_file():
        return read_properties(source, constants=constants, known=given)
    files, name = places_of(source, model)
    known = [p for file in files for p in read_properties(file, constants=constants, known=given)]
    found = tuple(p for p in known if p.name == name)[:1]
    if found:
        return found
    if _SIGNS.search(source):
        return (read_statement(source, given),)
    places = " or ".join(file.name for file in files) or "this model"
    raise unknown_name("property", name, [p.name for p in known], places)


def _definitions_in(model: Path | str | None, constants: Mapping[str, Any]) -> dict[str, str]:
    """Constants and formulas of a PRISM or JANI model, which its properties may use."""
    path = Path(model or "")
    if path.suffix not in (*prism.FORMAT.endings, *jani.FORMAT.endings) or not path.is_file():
        return {}
    text = read_text(path)
    if text.lstrip().startswith("{"):
        return jani.definitions_of(parsed(text, path.name), constants)
    return definitions_of(COMMENT.sub("", text), constants)


def places_of(source: str, model: Path | str | None = None) -> tuple[tuple[Path, ...], str]:
    """Files in which a property may stand, and its name there: ``FILE:NAME``, or ``NAME`` among those of a model."""
    path, colon, name = source.rpartition(":")
    if Path(source).is_file():
        return (Path(source),), ""
    if colon and Path(path).is_file():
        return (Path(path),), name
    file = path if colon else source
    if Path(file).suffix in (*ENDINGS, ".jani"):
        raise FormatError(f"there is no file {file!r} with properties")
    return (() if model is None or is_question(source) else properties_files(model)), source


def read_properties(
    path: Path | str, *, constants: Mapping[str, Any] | None = None, known: Mapping[str, str] | None = None
) -> tuple[Property | Unsupported, ...]:
    """Read the properties of a PRISM properties file or of a JANI model; `known` are the definitions of its model."""
    path = Path(path)
    text = read_text(path)
    if text.lstrip().startswith("{"):
        document = parsed(text, path.name)
        return tuple(_from_jani(given, document, constants or {}) for given in document.get("properties") or [])
    return loads(text, constants=constants, known=known)


def parse_property(text: str, *, definitions: Mapping[str, str] | None = None) -> Property:
    """Read one property.

    >>> parse_property('Pmax=? [ !"crash" U "goal" ]')
    Property(name='Pmax=? [ !"crash" U "goal" ]', text='Pmax=? [ !"crash" U "goal" ]', optimum='max', ...
    """
    return _supported(read_statement(text, definitions or {}))


def loads(
    text: str, *, constants: Mapping[str, Any] | None = None, known: Mapping[str, str] | None = None
) -> tuple[Property | Unsupported, ...]:
    """Read the properties in the text of a PRISM properties file; `known` are the definitions of its model.

    >>> [p.name for p in loads('const int k=3; "soon": Pmax=? [ F<=k "goal" ]; "cost": R{"c"}min=? [ F "goal" ]')]
    ['soon', 'cost']
    """
    plain = COMMENT.sub("", text)
    definitions = {**(known or {}), **_texts(constants or {}), **definitions_of(plain, constants or {})}
    labels = dict(_LABEL.findall(plain))
    body = _DECLARED.sub("", plain)
    body = _QUOTED.sub(lambda m: f"({labels[m[1]]})" if m[1] in labels and not m[2] else m[0], body)
    return tuple(read_statement(part, definitions) for part in statements(body))


def _supported(found: Property | Unsupported) -> Property:
    if isinstance(found, Unsupported):
        raise FormatError(f"{found.text!r} asks for {found.reason}; {KINDS} can be answered")
    return found


def _texts(constants: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in constants.items()}


def _from_jani(given: Any, document: Mapping[str, Any], constants: Mapping[str, Any]) -> Property | Unsupported:
    name = str(given.get("name")) if isinstance(given, dict) else "?"
    labels, definitions = labels_of(document), jani.definitions_of(document, constants)
    inner = given.get("expression") if isinstance(given, dict) else None
    try:
        text = property_text(inner, labels)
        found = read_statement(text, definitions)
    except NotOurs as refusal:
        return Unsupported(name, name, str(refusal))
    return replace(found, name=name)
