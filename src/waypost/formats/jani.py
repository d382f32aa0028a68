"""JANI, the exchange language of model checkers: built by Storm; expressions and properties written as PRISM's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Unpack

from waypost.errors import FormatError
from waypost.formats.kinds import check_kind
from waypost.formats.lexical import read_text
from waypost.formats.registry import Format
from waypost.formats.storm import Building, read_symbolic
from waypost.model import MDP

_INFIX = {
    "∧": "&",
    "∨": "|",
    "⇒": "=>",
    "=": "=",
    "≠": "!=",
    "<": "<",
    "≤": "<=",
    ">": ">",
    "≥": ">=",
    "+": "+",
    "-": "-",
    "*": "*",
    "/": "/",
}
_CALLED = {"%": "mod", "min": "min", "max": "max", "pow": "pow", "log": "log"}
_OF_ONE = {  # PRISM has no words for the last three
    "floor": "floor({0})",
    "ceil": "ceil({0})",
    "trc": "({0} >= 0 ? floor({0}) : ceil({0}))",
    "abs": "max({0}, -({0}))",
    "sgn": "({0} > 0 ? 1 : {0} < 0 ? -1 : 0)",
}
_OF_STATES = {"initial": '"init"', "deadlock": '"deadlock"'}
_FORMULAS = {"Pmax", "Pmin", "Emax", "Emin", "Smax", "Smin", "∀", "∃", "F", "G", "U", "W", "R", "filter"}
_FILTERS = {"min", "max", "avg", "sum", "values", "∀", "∃"}  # which say the same of one state
DEEPEST = 200
REFUSED = {"G": "globally (G)", "X": "next (X)", "W": "weak until (W)", "R": "release (R)"}


class NotOurs(Exception):  # noqa: N818
    """A formula of a kind that we do not answer; the message is its name."""


def read(path: Path | str, **options: Unpack[Building]) -> MDP:
    """Read a JANI model, no further than to its `target`, where one is given."""
    path = Path(path)
    document = parsed(read_text(path), path.name)
    check_kind(str(document.get("type", "mdp")).upper(), path.name)
    definitions = definitions_of(document, options.get("constants") or {})
    return read_symbolic(path, definitions=definitions, **options)


def parsed(text: str, name: str) -> dict[str, Any]:
    """Give the content of a JANI file."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise FormatError(f"{name} is not JSON, so it is no JANI model") from None
    if not isinstance(document, dict):
        raise FormatError(f"{name} is no JANI model")
    return document


def definitions_of(document: Mapping[str, Any], constants: Mapping[str, Any]) -> dict[str, str]:
    """Give the constants of a model as expressions; `constants` are values for the open ones.

    So are the initial values of variables: Storm makes constants of those that never change. A variable that one
    automaton alone has goes by its own name, too; Storm puts the automaton's before it. What cannot be said in PRISM's
    language, as arrays, is left out.

    >>> definitions_of({"constants": [{"name": "N"}, {"name": "K", "value": {"op": "*", "left": 2, "right": "N"}}]},
    ...     {"N": 3})
    {'N': '3', 'K': '(2 * N)'}
    """
    found: dict[str, str] = {}
    for constant in document.get("constants") or []:
        name, value = constant.get("name"), constant.get("value")
        if name in constants:
            value = constants[name]
        if isinstance(value, str) and name in constants:
            found[name] = value
        else:
            _define(found, name, value)
    for variable in document.get("variables") or []:
        if not variable.get("transient"):
            _define(found, variable.get("name"), variable.get("initial-value"))
    owned = [(a.get("name"), v.get("name"), v.get("initial-value")) for a, v in _local_variables(document)]
    shared = Counter(name for _, name, _ in owned)
    for automaton, name, value in owned:
        _define(found, f"{automaton}_{name}", value)
        if shared[name] == 1 and isinstance(name, str):
            found.setdefault(name, f"{automaton}_{name}")
    return found


def _define(found: dict[str, str], name: Any, value: Any) -> None:
    """Add a definition, where it has a name and a value that can be written."""
    if isinstance(name, str) and value is not None and name not in found:
        with suppress(NotOurs):
            found[name] = expression_text(value)


def _local_variables(document: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Automata and the variables that they have for themselves."""
    for automaton in document.get("automata") or []:
        for variable in (automaton.get("variables") or []) if isinstance(automaton, dict) else []:
            if isinstance(variable, dict):
                yield automaton, variable


def labels_of(document: Mapping[str, Any]) -> set[str]:
    """Names of the labels: boolean variables that are computed in every state."""
    return {
        str(variable.get("name"))
        for variable in document.get("variables") or []
        if variable.get("transient") and variable.get("type") == "bool"
    }


def expression_text(expression: Any, labels: Collection[str] = (), depth: int = 0) -> str:
    """Write an expression as PRISM does.

    >>> expression_text({"op": "∧", "left": "done", "right": {"op": "≤", "left": "x", "right": 3}}, {"done"})
    '("done" & (x <= 3))'
    """

    def inner(key: str) -> str:
        return expression_text(expression.get(key), labels, depth + 1)

    if depth > DEEPEST:
        raise NotOurs(f"an expression that is nested more than {DEEPEST} deep")
    if isinstance(expression, bool):
        return str(expression).lower()
    if isinstance(expression, int | float):
        return repr(expression)
    if isinstance(expression, str):
        return f'"{expression}"' if expression in labels else expression
    operator = expression.get("op") if isinstance(expression, dict) else None
    if operator == "¬":
        return f"!{inner('exp')}"
    if operator == "ite":
        return f"({inner('if')} ? {inner('then')} : {inner('else')})"
    if operator in _INFIX:
        return f"({inner('left')} {_INFIX[operator]} {inner('right')})"
    if operator in _CALLED:
        return f"{_CALLED[operator]}({inner('left')}, {inner('right')})"
    if operator in _OF_ONE:
        return _OF_ONE[operator].format(inner("exp"))
    if operator == "aa" and isinstance(expression.get("index"), int):  # as Storm calls what is in an array
        return f"{inner('exp')}_at_{expression['index']}"
    if operator in _OF_STATES:
        return _OF_STATES[operator]
    if operator in _FORMULAS:
        raise NotOurs("a formula inside another")
    raise NotOurs(f"an expression with {str(operator or expression)[:40]!r}, which we do not read")


def property_text(given: Any, labels: Collection[str]) -> str:
    """Write a property as PRISM would.

    >>> property_text({"op": "Pmin", "exp": {"op": "F", "exp": {"op": "=", "left": "x", "right": 2}}}, ())
    'Pmin=? [ F (x = 2) ]'
    """
    formula = _filtered(given) if isinstance(given, dict) and given.get("op") == "filter" else given
    if not isinstance(formula, dict):
        raise NotOurs("something that is no probability (P)")
    asks = "=?"
    signs = {"≥": ">=", ">": ">", "≤": "<=", "<": "<"}
    if formula.get("op") in signs and isinstance(formula.get("left"), dict):
        asks = f"{signs[formula['op']]}{expression_text(formula.get('right'))}"
        formula = formula["left"]
    operator = str(formula.get("op"))
    if operator in ("Emax", "Emin", "Smax", "Smin", "∀", "∃"):
        names = {"E": "expected rewards (E)", "S": "the long run (S)"}
        raise NotOurs(names.get(operator[0], "CTL (∀, ∃)"))
    path = formula.get("exp")
    if operator not in ("Pmax", "Pmin") or not isinstance(path, dict):
        raise NotOurs("something that is no probability (P)")
    kind = str(path.get("op"))
    if kind not in ("F", "U"):
        raise NotOurs(REFUSED.get(kind, f"a formula of kind {kind[:20]!r}"))
    if "time-bounds" in path or "reward-bounds" in path:
        raise NotOurs("a bound on time or rewards")
    bounds = path.get("step-bounds") or {}
    if bounds.get("lower", 0) != 0 or bounds.get("lower-exclusive"):
        raise NotOurs("a lower bound on the steps")
    sign = "<" if bounds.get("upper-exclusive") else "<="
    bound = f"{sign}({expression_text(bounds['upper'])})" if "upper" in bounds else ""
    if kind == "F":
        return f"{operator}{asks} [ F{bound} {expression_text(path.get('exp'), labels)} ]"
    left, right = (expression_text(path.get(side), labels) for side in ("left", "right"))
    return f"{operator}{asks} [ {left} U{bound} {right} ]"


def _filtered(given: Mapping[str, Any]) -> Any:
    """Formula whose value in the initial state a filter tells."""
    if given.get("fun") not in _FILTERS:
        raise NotOurs(f"a filter ({str(given.get('fun'))[:20]})")
    if given.get("states") not in (None, {"op": "initial"}):
        raise NotOurs("a filter on other states than the initial ones")
    return given.get("values")


FORMAT = Format(
    name="JANI",
    endings=(".jani",),
    names="the values of the variables that change, then the locations by their names",
    keeps=("exact", "labels", "valuations"),
    recognises=lambda _raw, text, _path: text.lstrip().startswith("{") and '"jani-version"' in text,
    read=read,
    options=tuple(Building.__annotations__),
)
