"""PRISM and JANI, through Storm in a process of its own (`waypost.formats.storm_worker`).

Storm numbers states in its own order, so a state's name is its valuation, ``loc=26`` or ``x=1, y=2``. A DTMC is an MDP
with one choice in every state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from waypost.errors import FormatError, require
from waypost.formats import storm_worker
from waypost.formats.lexical import fraction
from waypost.formats.umb import read_umb
from waypost.model import FINAL, MDP
from waypost.model.expressions import read_valuations
from waypost.processes import Child, ChildError, spare_memory

TIME_LIMIT = 300.0  # seconds; a file of three lines can ask for more states than there are atoms
_CONSTANT = re.compile(r"[A-Za-z_]\w*\Z")


def read_symbolic(
    path: Path | str,
    *,
    constants: Mapping[str, Any] | None = None,
    exact: bool = False,
    time_limit: float | None = TIME_LIMIT,
) -> MDP:
    """Read a PRISM or JANI model, building its whole state space.

    Storm gets `time_limit` seconds (None: as long as it takes) and three quarters of the memory that is free.
    """
    path = Path(path)
    require("stormpy", "storm", f"reading {path.name}")
    job = {"path": str(path.resolve()), "constants": _checked(constants or {}), "exact": exact}
    try:
        with Child(storm_worker.__file__, "work", memory=spare_memory(), folder=True) as child:
            answer = child.ask(job, seconds=time_limit)
            folder = Path(child.folder or "")
            model = _named(read_umb(folder / "model.umb", trusted=True), frozenset(answer["transient"]))
            texts = (folder / "fractions.txt").read_text().split("\n") if exact else []
    except ChildError as error:
        raise FormatError(_reason(error, path.name, time_limit)) from None
    return with_fractions(model, [fraction(text, path.name) for text in texts], path.name) if exact else model


def _reason(error: ChildError, name: str, time_limit: float | None) -> str:
    if error.trouble == "time":
        return (
            f"Storm did not finish building {name} within {time_limit:g} s; its state space may be too large "
            f"(smaller constants, or read_symbolic(..., time_limit=None))"
        )
    if error.trouble == "memory":
        return f"{name} has more states than fit into memory"
    if error.trouble == "broken":
        return f"Storm broke down over {name}; it may be no PRISM or JANI model, or too large"
    if error.kind == storm_worker.Refusal.__name__:
        return error.said
    reason = re.sub(r"^\w+: ", "", error.said.strip() or error.kind)
    return f"Storm cannot read {name}: {' '.join(reason.split())[:300]}"


def _checked(constants: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in constants.items():
        if not _CONSTANT.match(str(key)) or not re.fullmatch(r"-?[\w.]+(?:[eE][+-]?\d+)?(?:/\d+)?", str(value)):
            raise FormatError(f"constant {str(key)[:40]}={str(value)[:40]} is no name with a number, true or false")
    return {
        str(key): value if isinstance(value, bool | int | float) else str(value) for key, value in constants.items()
    }


def _named(mdp: MDP, transient: frozenset[str]) -> MDP:
    """Call the self-loops that Storm adds final, and leave what tells no states apart out of their names.

    That is what is computed from other variables, and automaton locations that never change.
    """
    actions = list(mdp.actions)
    for s in np.flatnonzero(mdp.labels.get("deadlock", np.zeros(mdp.n_states, bool))).tolist():
        if mdp.first_choice[s + 1] - mdp.first_choice[s] == 1:
            actions[mdp.first_choice[s]] = FINAL
    dull = set(transient)
    if "_loc_" in mdp.states[0]:
        variables = read_valuations(mdp.states)
        dull |= {
            x for x, v in variables.items() if x.startswith("_loc_") and v.defined.all() and len(set(v.values)) == 1
        }
    states = mdp.states
    if dull:
        parts = ([part for part in name.split(", ") if part.partition("=")[0] not in dull] for name in states)
        shorter = tuple(", ".join(kept) for kept in parts)
        states = shorter if len(set(shorter)) == len(shorter) and all(shorter) else states
    return replace(mdp, states=states, actions=tuple(actions))


def with_fractions(mdp: MDP, exact: Sequence[Fraction], name: str) -> MDP:
    """Put the exact probabilities, in the same order, in the place of the rounded ones."""
    rounded = mdp.transitions.data
    if len(exact) != len(rounded) or np.abs(np.array([float(p) for p in exact]) - rounded).max() > 1e-6:
        raise FormatError(f"Storm builds other transitions for {name} in exact arithmetic than in floats")
    return MDP.from_triplets(
        np.repeat(np.arange(mdp.n_choices), np.diff(mdp.transitions.indptr)),
        mdp.transitions.indices,
        [float(p) for p in exact],
        first_choice=mdp.first_choice,
        states=mdp.states,
        actions=mdp.actions,
        initial=mdp.initial,
        labels=mdp.labels,
        exact=exact,
    )
