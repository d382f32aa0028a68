"""Questions as model checkers write them: PRISM properties and the properties of JANI files, as plain data.

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
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from waypost.errors import FormatError, ModelError, unknown_name
from waypost.formats import jani
from waypost.formats.jani import expression_text, labels_of, parsed
from waypost.formats.lexical import read_text
from waypost.formats.prism import COMMENT, definitions_of
from waypost.model import MDP, Target
from waypost.model.expressions import number_of
from waypost.model.steps import within

Optimum = Literal["max", "min"]

_NAMED = re.compile(r'\s*"([^"]*)"\s*:(?!=)\s*(.*)\Z', re.DOTALL)
_ASKED = re.compile(r"P\s*(max|min)?\s*(=\s*\?|[<>]=?\s*[^\[]+?)\s*\[(.*)\]\s*\Z", re.DOTALL)
_LABEL = re.compile(r'\blabel\s*"([^"]*)"\s*=\s*([^;]+?)\s*;')
_DECLARED = re.compile(r'\b(?:const|formula)\b[^;]*;|\blabel\s*"[^"]*"\s*=[^;]*;')
_QUOTED = re.compile(r'"([^"]*)"(\s*:(?!=))?')  # a label, or the name of a property
_BOUND = re.compile(r"\s*(<=|<)\s*(\d+|[A-Za-z_]\w*|\([^()]*\))")
_SCANNED = re.compile(r'"[^"]*"|\|\||[()\[\]{}]|\b[A-Za-z_]\w*\b|\S')
_REFUSED = {
    "G": "globally (G)",
    "X": "next (X)",
    "W": "weak until (W)",
    "R": "release (R)",
}
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
    optimum: Optimum
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


class Asked(NamedTuple):
    """A property as a question of ours: reach `target` in `mdp`, or how important `states` are for that."""

    mdp: MDP
    target: Target
    states: Target | None = None


def asked(mdp: MDP, question: Property) -> Asked:
    """Turn a property into a model and a target: avoided states end a run, steps are counted by the states.

    >>> mdp = MDP.from_dict({"a": {"try": {"b": 0.5, "a": 0.5}}, "b": {}}, initial="a", labels={"won": ["b"]})
    >>> asked(mdp, parse_property('Pmax=? [ F<=2 "won" ]'))
    Asked(mdp=MDP(states=5, choices=5, transitions=7, initial='a, step=0'), target='"won"', states=None)
    """
    mdp = replace(mdp, definitions=MappingProxyType({**mdp.definitions, **question.definitions}))
    if question.given is not None:
        _check_order(mdp, question)
        return Asked(mdp, question.given, question.target)
    if question.avoid is not None:
        target = mdp.where(question.target)
        mdp = mdp.absorbing(_holds(mdp, question.avoid) & ~target)
    if question.within is not None:
        mdp = within(mdp.absorbing(mdp.where(question.target)), question.within)
    return Asked(mdp, question.target)


def _holds(mdp: MDP, expression: str) -> Any:
    """(S,) where an expression holds, which may be nowhere."""
    try:
        return mdp.where(expression)
    except ModelError:
        return np.zeros(mdp.n_states, bool)


def _check_order(mdp: MDP, question: Property) -> None:
    """Importance looks at what is passed before the target; refuse a question in which it would matter afterwards."""
    seen = mdp.where(str(question.given))
    wanted = mdp.where(question.target) & ~seen
    waiting = np.flatnonzero(seen).tolist()
    reached = np.zeros(mdp.n_states, bool)
    while waiting:
        for s in mdp.successors(state=waiting.pop()).tolist():
            if not reached[s]:
                reached[s] = True
                waiting.append(s)
    if (reached & wanted).any():
        state = mdp.states[int(np.flatnonzero(reached & wanted)[0])]
        raise ModelError(
            f"{question.text!r} also counts what comes after its condition (such as {state!r}), and importance only "
            "what comes before; make the condition absorbing"
        )


def find_property(source: str, *, constants: Mapping[str, Any] | None = None) -> Property:
    """Find a property given as ``FILE``, ``FILE:NAME`` or as text.

    >>> find_property('Pmin=? [ F "goal" ]').optimum
    'min'
    """
    path, colon, name = source.rpartition(":")
    if _ASKED.search(source) or (not Path(source).exists() and not (colon and Path(path).exists())):
        return parse_property(source, definitions=_texts(constants or {}))
    file, wanted = (source, None) if Path(source).exists() else (path, name)
    found = read_properties(file, constants=constants)
    if wanted is None and len(found) != 1:
        names = ", ".join(p.name for p in found) or "none"
        raise FormatError(f"{Path(file).name} has {len(found)} properties; choose one as {file}:NAME ({names})")
    chosen = next((p for p in found if wanted in (None, p.name)), None)
    if chosen is None:
        raise unknown_name("property", str(wanted), [p.name for p in found], Path(file).name)
    return _supported(chosen)


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
    except _NotOurs as refusal:
        return Unsupported(name, text, str(refusal))
    return Property(
        name,
        text,
        "min" if least else "max",
        threshold=threshold,
        definitions=MappingProxyType(dict(definitions)),
        **parts,
    )


class _NotOurs(Exception):  # noqa: N818
    """A formula of a kind that we do not answer; the message is its name."""


def _path(path: str, definitions: Mapping[str, str]) -> dict[str, Any]:
    """Take a path formula apart."""
    marks = list(_marks(path))
    both = [(start, end) for word, start, end in marks if word == "||"]
    if both:
        left, right = (_path(part, definitions) for part in (path[: both[0][0]], path[both[0][1] :]))
        if any(part["avoid"] is not None or part["within"] is not None for part in (left, right)):
            raise _NotOurs("a condition that is more than reachability")
        return {**left, "given": right["target"]}
    for word, _, _ in marks:
        if word in _REFUSED:
            raise _NotOurs(_REFUSED[word])
    if len(marks) != 1:
        raise _NotOurs("a formula of several temporal operators (LTL)" if marks else "a state formula without F or U")
    word, start, end = marks[0]
    before, after = path[:start].strip(), path[end:]
    if (word == "F") != (not before):
        raise _NotOurs("a formula that is neither F nor U")
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
        elif word in ("F", "U", "||", *_REFUSED):
            if depth:
                raise _NotOurs("a formula inside another")
            yield word, match.start(), match.end()
        elif word in ("P", "Pmax", "Pmin", "Rmax", "Rmin", "S"):
            raise _NotOurs("a formula inside another")


def _bound(text: str, definitions: Mapping[str, str]) -> tuple[int | None, str]:
    if re.match(r"\s*(?:>|\[|=)", text):
        raise _NotOurs("a lower bound on the steps")
    bound = _BOUND.match(text)
    if bound is None:
        return None, text
    steps = number_of(bound[2], definitions)
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
        text = _jani_text(inner, labels)
        found = _read(text, definitions)
    except _NotOurs as refusal:
        return Unsupported(name, name, str(refusal))
    return replace(found, name=name)


def _jani_text(given: Any, labels: set[str]) -> str:
    """Write a JANI property as PRISM would."""
    formula = given.get("values", given) if isinstance(given, dict) and given.get("op") == "filter" else given
    if not isinstance(formula, dict):
        raise _NotOurs("something that is no probability (P)")
    asks = "=?"
    signs = {"≥": ">=", ">": ">", "≤": "<=", "<": "<"}
    if formula.get("op") in signs and isinstance(formula.get("left"), dict):
        asks = f"{signs[formula['op']]}{expression_text(formula.get('right'))}"
        formula = formula["left"]
    operator = str(formula.get("op"))
    if operator in ("Emax", "Emin", "Smax", "Smin", "∀", "∃"):
        names = {"E": "expected rewards (E)", "S": "the long run (S)"}
        raise _NotOurs(names.get(operator[0], "CTL (∀, ∃)"))
    path = formula.get("exp")
    if operator not in ("Pmax", "Pmin") or not isinstance(path, dict):
        raise _NotOurs("something that is no probability (P)")
    kind = str(path.get("op"))
    if kind not in ("F", "U"):
        raise _NotOurs(_REFUSED.get(kind, f"a formula of kind {kind[:20]!r}"))
    if "time-bounds" in path or "reward-bounds" in path:
        raise _NotOurs("a bound on time or rewards")
    bounds = path.get("step-bounds") or {}
    if "lower" in bounds:
        raise _NotOurs("a lower bound on the steps")
    sign = "<" if bounds.get("upper-exclusive") else "<="
    bound = f"{sign}({expression_text(bounds['upper'])})" if "upper" in bounds else ""
    if kind == "F":
        return f"{operator}{asks} [ F{bound} {expression_text(path.get('exp'), labels)} ]"
    left, right = (expression_text(path.get(side), labels) for side in ("left", "right"))
    return f"{operator}{asks} [ {left} U{bound} {right} ]"
