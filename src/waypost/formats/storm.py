"""PRISM and JANI, through Storm: the one place that knows stormpy.

Storm numbers states in its own order, so a state's name is its valuation, ``loc=26`` or ``x=1, y=2``. A DTMC is an MDP with one
choice in every state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import FormatError, require
from waypost.model import MDP

PRISM_ENDINGS = (".prism", ".nm", ".pm", ".sm", ".mdp", ".dtmc")


def read_symbolic(path: Path, *, constants: Mapping[str, Any] | None = None, exact: bool = False) -> MDP:
    """Read a PRISM or JANI model, building its whole state space."""
    stormpy = require("stormpy", "storm", f"reading {path.name}")
    stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)
    try:
        if path.suffix == ".jani":
            program = stormpy.parse_jani_model(str(path))[0]
        else:
            program = stormpy.parse_prism_program(str(path))
        kind = str(program.model_type).rpartition(".")[2].upper()
        if kind not in ("MDP", "DTMC"):
            raise FormatError(f"{path.name} is a {kind}; only discrete-time models (MDP, DTMC) can be explained")
        program = _with_constants(stormpy, program, constants or {}, path.name)
        options = stormpy.BuilderOptions()
        options.set_build_state_valuations(True)
        options.set_build_choice_labels(True)
        options.set_build_all_labels(True)
        model = stormpy.build_model[stormpy.Rational if exact else float](program, options=options)
    except RuntimeError as error:
        reason = re.sub(r"^\w+: ", "", str(error).strip())
        raise FormatError(f"Storm cannot read {path.name}: {' '.join(reason.split())[:300]}") from None
    return _converted(model, exact=exact)


def _with_constants(stormpy: Any, program: Any, constants: Mapping[str, Any], name: str) -> Any:
    """Give the open constants their values, or say which are open."""
    open_names = [c.name for c in program.constants if not c.defined]
    for given in constants:
        if given not in open_names:
            known = ", ".join(open_names) or "none"
            raise FormatError(f"{name} has no open constant {given!r}; open constants: {known}")
    missing = [c for c in open_names if c not in constants]
    if missing:
        example = " ".join(f"--const {c}=..." for c in missing)
        raise FormatError(f"{name} leaves {', '.join(missing)} open; give {example} or constants={{...}}")
    if not constants:
        return program
    text = ",".join(f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in constants.items())
    return stormpy.instantiate_constants(program, text)[0]


def _converted(model: Any, *, exact: bool) -> MDP:
    if len(model.initial_states) != 1:
        raise FormatError(f"the model has {len(model.initial_states)} initial states; it needs exactly one")
    n, matrix = model.nr_states, model.transition_matrix
    first = np.arange(n + 1) if matrix.has_trivial_row_grouping else np.array(model.nondeterministic_choice_indices)
    successor, values, lengths = [], [], []
    for row in range(matrix.nr_rows):
        before = len(successor)
        for entry in matrix.get_row(row):
            successor.append(entry.column)
            values.append(entry.value)
        lengths.append(len(successor) - before)
    fractions = [Fraction(str(value)) for value in values] if exact else None
    labels = {}
    for label in sorted(model.labeling.get_labels() - {"init"}):
        labels[label] = np.zeros(n, bool)
        labels[label][list(model.labeling.get_states(label))] = True
    return MDP.from_triplets(
        np.repeat(np.arange(matrix.nr_rows), lengths),
        successor,
        np.array(values if fractions is None else fractions, float),
        first_choice=first,
        states=_names(model),
        actions=_actions(model, first),
        initial=int(next(iter(model.initial_states))),
        labels=labels,
        exact=fractions,
    )


def _names(model: Any) -> list[str]:
    """Valuations as names; the number where two states share one (JANI may hide locations)."""
    n = model.nr_states
    columns = []
    if model.has_state_valuations():
        valuations = model.state_valuations
        for variable in sorted(valuations.get_all_variables(), key=lambda v: int(v.offset)):
            columns.append((variable.name, _column(valuations, variable, n)))
    names = [", ".join(f"{name}={values[s]}" for name, values in columns) for s in range(n)]
    if len(set(names)) == n:
        return names
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    return [name if seen[name] == 1 else f"{name} #{s}".strip() for s, name in enumerate(names)]


def _column(valuations: Any, variable: Any, n: int) -> list[Any]:
    if variable.has_boolean_type():
        held = set(valuations.get_boolean_values(variable))
        return ["true" if s in held else "false" for s in range(n)]
    if variable.has_integer_type():
        return list(valuations.get_int64_values(variable))
    return [valuations.get_value(s, variable) for s in range(n)]


def _actions(model: Any, first: NDArray[np.int64]) -> list[str]:
    """Action names, made unique within each state; a choice without a name gets its number."""
    names: list[str] = []
    labelling = model.choice_labeling if model.has_choice_labeling() else None
    for low, high in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        own = [
            "+".join(sorted(labelling.get_labels_of_choice(c))) if labelling is not None else "" for c in range(low, high)
        ]
        names += _distinct(own)
    return names


def _distinct(names: Iterable[str]) -> list[str]:
    used: dict[str, int] = {}
    distinct = []
    for k, name in enumerate(names):
        used[name] = used.get(name, 0) + 1
        distinct.append(str(k) if not name else name if used[name] == 1 else f"{name}#{used[name]}")
    return distinct
