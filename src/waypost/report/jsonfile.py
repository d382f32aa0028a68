"""JSON, version 1: the numbers as they are; fractions as text in exact mode."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from waypost.importance.results import Bounds, Explanation, Number, StateImportance

FORMAT = 1


def to_json(explanation: Explanation) -> str:
    """Explanation as a JSON document.

    >>> from waypost import explain
    >>> from waypost.cases import loan
    >>> print(to_json(explain(loan(), target="Granted", states="Rework", exact=True)))  # doctest: +ELLIPSIS
    {
     "format": 1,
     "target": "Granted",
     "initial": "s0",
     "reachability": {
      "min": "0",
      "max": "49/50"
     },
     "states": [
      {
       "name": "Rework",
       "labels": [],
       "all": {
        "lower": "0",
        "upper": "4/49"
       },
    ...
    """
    mdp = explanation.mdp
    parts: dict[str, StateImportance] = dict(explanation.scopes)
    if explanation.absolute is not None:
        parts["absolute"] = explanation.absolute
    bounds = {name: list(part.to_dict().values()) for name, part in parts.items()}
    document = {
        "format": FORMAT,
        "target": explanation.targets[0] if len(explanation.targets) == 1 else list(explanation.targets),
        "initial": mdp.states[mdp.initial],
        "reachability": {
            "min": json_number(explanation.reachability.lower),
            "max": json_number(explanation.reachability.upper),
        },
        "states": [
            {
                "name": mdp.states[s],
                "labels": list(mdp.labels_of(int(s))),
                **{name: _bounds(found[k]) for name, found in bounds.items()},
            }
            for k, s in enumerate(explanation.asked)
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def json_number(value: Number) -> float | str:
    """Write a number as JSON has it, or a fraction as text."""
    return str(value) if isinstance(value, Fraction) else float(value)


def _bounds(bounds: Bounds) -> dict[str, Any]:
    return {"lower": json_number(bounds.lower), "upper": json_number(bounds.upper)}
