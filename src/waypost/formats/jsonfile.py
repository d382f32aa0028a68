"""Our own JSON: small enough to write by hand, exact because a probability may be text.

::

    {
      "format": "waypost-mdp",
      "initial": "s0",
      "states": {
        "s0": {"apply": {"granted": 0.95, "rejected": "1/20"}, "leave": "rejected"},
        "granted": {},
        "rejected": {}
      },
      "labels": {"goal": ["granted"]}
    }

A lone successor has probability 1; a state without actions is final; ``"counts"``, of the same shape as ``"states"``,
says how often each step was seen. `SCHEMA` describes it formally.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from waypost.errors import FormatError
from waypost.formats.lexical import fraction, least_of, read_text
from waypost.formats.registry import Format
from waypost.formats.writing import write_text
from waypost.model import FINAL, MDP
from waypost.model.checking import frozen

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A Markov decision process",
    "type": "object",
    "required": ["format", "initial", "states"],
    "additionalProperties": False,
    "properties": {
        "format": {"const": "waypost-mdp"},
        "initial": {"type": "string", "description": "name of the initial state"},
        "states": {
            "type": "object",
            "minProperties": 1,
            "description": "state -> action -> distribution; a state without actions is final",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": {
                    "oneOf": [
                        {"type": "string", "description": "the only successor"},
                        {
                            "type": "object",
                            "minProperties": 1,
                            "description": "successor -> probability; they sum to 1",
                            "additionalProperties": {
                                "oneOf": [
                                    {"type": "number", "minimum": 0, "maximum": 1},
                                    {"type": "string", "description": 'exact text such as "1/3" or "0.05"'},
                                ]
                            },
                        },
                    ]
                },
            },
        },
        "labels": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
            "description": "label -> names of the states in which it holds",
        },
        "counts": {
            "type": "object",
            "description": "state -> action -> successor -> how often the step was seen; a step left out was not",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "additionalProperties": {"type": "integer", "minimum": 0},
                },
            },
        },
    },
}


def loads(text: str, *, exact: bool = False) -> MDP:
    """Read a model from our JSON.

    >>> loads('{"format": "waypost-mdp", "initial": "a", "states": {"a": {"go": "b"}, "b": {}}}')
    MDP(states=2, choices=2, transitions=2, initial='a')
    """
    try:
        document = json.loads(
            text, object_pairs_hook=_no_twins, parse_constant=float, parse_float=_exact if exact else _float
        )
    except json.JSONDecodeError as error:
        raise FormatError(f"this is not JSON: {error.msg} in line {error.lineno}") from None
    except (RecursionError, ValueError, OverflowError) as error:
        raise FormatError(f"this is not JSON that can be read: {error}") from None
    if not isinstance(document, dict) or document.get("format") != "waypost-mdp":
        raise FormatError('this JSON is not a model: it needs "format": "waypost-mdp"')
    unknown = set(document) - set(SCHEMA["properties"])
    if unknown:
        raise FormatError(f"unknown key {min(unknown)!r}; known are: {', '.join(SCHEMA['properties'])}")
    states, labels = document.get("states"), document.get("labels", {})
    if not isinstance(states, dict) or not isinstance(document.get("initial"), str) or not isinstance(labels, dict):
        raise FormatError('a model needs "states": {...} and "initial": "name of a state"; "labels" is an object')
    for state, actions in states.items():
        _check_actions(state, actions)
    for label, members in labels.items():
        if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
            raise FormatError(f"label {label!r} needs a list of state names")
    mdp = MDP.from_dict(_exact_texts(states), initial=document["initial"], labels=labels)
    return _counted(mdp, document["counts"]) if "counts" in document else mdp


def read(path: Path | str, *, exact: bool = False) -> MDP:
    """Read a model from a file of our JSON."""
    return loads(read_text(Path(path)), exact=exact)


def write(mdp: MDP, path: Path | str) -> None:
    """Write a model as a file of our JSON."""
    write_text(path, dumps(mdp))


def dumps(mdp: MDP) -> str:
    """Write a model as our JSON; final states have no actions, exact probabilities are text."""
    values = mdp.transitions.data.tolist() if mdp.exact is None else [str(p) for p in mdp.exact]
    indptr, indices, names = mdp.transitions.indptr.tolist(), mdp.transitions.indices.tolist(), tuple(mdp.states)
    states: dict[str, dict[str, dict[str, Any]]] = {}
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for s, name in enumerate(names):
        states[name] = {}
        final = mdp.is_final[s] and mdp.actions[mdp.first_choice[s]] == FINAL
        for c in mdp.choices(s):
            row = range(indptr[c], indptr[c + 1])
            if not final:
                states[name][mdp.actions[c]] = {names[indices[e]]: values[e] for e in row}
            if mdp.counts is not None and not (final and mdp.counts[row[0]] == 0):
                seen = {names[indices[e]]: int(mdp.counts[e]) for e in row}
                counts.setdefault(name, {})[mdp.actions[c]] = seen
    labels = {label: [names[s] for s in np.flatnonzero(holds)] for label, holds in mdp.labels.items()}
    document = {"format": "waypost-mdp", "initial": names[mdp.initial], "states": states, "labels": labels}
    if mdp.counts is not None:
        document["counts"] = counts
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _check_actions(state: str, actions: Any) -> None:
    if not isinstance(actions, dict):
        raise FormatError(f'state {state!r} needs an object of actions, such as {{"go": "next"}}')
    for action, distribution in actions.items():
        fine = isinstance(distribution, str) or (
            isinstance(distribution, dict)
            and all(
                isinstance(p, int | float | Fraction | str) and not isinstance(p, bool) for p in distribution.values()
            )
        )
        if not fine:
            raise FormatError(f"action {action!r} in state {state!r} needs a successor or an object of probabilities")


def _counted(mdp: MDP, counts: Any) -> MDP:
    """Model with the numbers of times that its steps were seen."""
    seen = np.zeros(mdp.transitions.nnz, np.int64)
    pointer = mdp.transitions.indptr
    for state, action, successor, count in _steps(counts):
        choice = mdp.choice(mdp.state(state), action)
        at = np.flatnonzero(mdp.successors(choice=choice) == mdp.state(successor))
        if not len(at):
            raise FormatError(f"{state!r} {action!r} {successor!r} was counted, but has no probability")
        seen[pointer[choice] + at[0]] = count
    return replace(mdp, counts=frozen(seen))


def _steps(counts: Any) -> Iterator[tuple[str, str, str, int]]:
    wrong = FormatError('"counts" are written {"state": {"action": {"successor": how often it was seen}}}')
    if not isinstance(counts, dict):
        raise wrong
    for state, actions in counts.items():
        if not isinstance(actions, dict):
            raise wrong
        for action, outcomes in actions.items():
            if not isinstance(outcomes, dict):
                raise wrong
            for successor, count in outcomes.items():
                if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count < 2**62:
                    raise wrong
                yield state, action, successor, count


def _float(text: str) -> float:
    return float(text) or least_of(text)


def _exact(text: str) -> Fraction:
    return fraction(text, "the model")


def _exact_texts(states: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Read probabilities given as text here, where their length is bounded."""
    return {
        state: {
            action: outcome
            if isinstance(outcome, str)
            else {
                to: fraction(p.strip(), f"action {action!r} in state {state!r}") if isinstance(p, str) else p
                for to, p in outcome.items()
            }
            for action, outcome in actions.items()
        }
        for state, actions in states.items()
    }


def _no_twins(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise FormatError(f"the key {key!r} occurs twice in one object")
        found[key] = value
    return found


def _recognises(_raw: bytes, text: str, _path: Path) -> bool:
    return text.lstrip().startswith("{")


FORMAT = Format(
    name="Waypost JSON",
    endings=(".json",),
    names="as written",
    keeps=("exact", "labels", "counts"),
    recognises=_recognises,
    loads=loads,
    read=read,
    write=write,
    options=("exact",),
)
