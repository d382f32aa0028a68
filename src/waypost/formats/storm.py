"""PRISM and JANI, through Storm in a process of its own (`waypost.formats.storm_worker`).

Storm numbers states in its own order, so a state's name is its valuation, ``loc=26`` or ``x=1, y=2``. A DTMC is an MDP
with one choice in every state; CTMCs and Markov automata are read by their jumps.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypedDict

import numpy as np

from waypost.errors import FormatError, WaypostError, require_elsewhere
from waypost.formats import storm_worker
from waypost.formats.brackets import bracketed
from waypost.formats.lexical import fraction
from waypost.formats.tar import Laid, tar_members
from waypost.formats.umb import Archive
from waypost.graph.compiled import while_waiting
from waypost.model import FINAL, MDP, Target
from waypost.model.names import renamed
from waypost.model.valuations import named_by
from waypost.processes import ChildError, spare_memory
from waypost.processes.early import ready_child

TIME_LIMIT = 300.0  # seconds; a file of three lines can ask for more states than there are atoms
_CONSTANT = re.compile(r"[A-Za-z_]\w*\Z")


class Building(TypedDict, total=False):
    """How a model is built: what `read_symbolic` may be told, and so what readers of PRISM and JANI may be."""

    constants: Mapping[str, Any] | None  # values for the open constants
    exact: bool
    target: Target | None
    avoid: Target | None
    initial: str | None
    time_limit: float | None  # seconds


def read_symbolic(
    path: Path | str,
    *,
    constants: Mapping[str, Any] | None = None,
    exact: bool = False,
    target: Target | None = None,
    avoid: Target | None = None,
    initial: str | None = None,
    time_limit: float | None = TIME_LIMIT,
    definitions: Mapping[str, str] | None = None,
) -> MDP:
    """Read a PRISM or JANI model, building its state space.

    With a `target`, no further than to it: what comes behind does not change how it is reached. The same goes for what
    is to `avoid`. Storm gets `time_limit` seconds (None: as long as it takes) and three quarters of the memory that is
    free.
    """
    path = Path(path)
    require_elsewhere("stormpy", "storm", f"reading {path.name}")
    job = {
        "path": str(path.resolve()),
        "constants": _checked(constants or {}),
        "exact": exact,
        "target": _parts(target),
        "avoid": _parts(avoid),
    }
    try:
        with ready_child(storm_worker.__file__, "work", memory=spare_memory(), folder=True) as child:
            with while_waiting():
                answer = child.ask(job, seconds=time_limit)
            folder = Path(child.folder or "")
            model = _built(folder / "model.umb", answer, initial, path.name)
            texts = (folder / "fractions.txt").read_text().split("\n") if exact else []
    except ChildError as error:
        raise FormatError(_reason(error, path.name, time_limit)) from None
    known = {**answer["constants"], **(definitions or {})}  # as the file writes them, where it does
    model = _with_final(replace(model, definitions=MappingProxyType(known)), target, avoid)
    return with_fractions(model, [fraction(text, path.name) for text in texts], path.name) if exact else model


def _parts(target: Target | None) -> list[list[str]]:
    """Parts of a target, each as it was given and, where it is an expression, with every bracket."""
    parts = [] if target is None else [target] if isinstance(target, str) else [str(part) for part in target]
    return [[part, *_bracketed(part)] for part in parts]


def _bracketed(part: str) -> list[str]:
    try:
        return [bracketed(part)]
    except WaypostError:  # it is a name
        return []


def _reason(error: ChildError, name: str, time_limit: float | None) -> str:
    if error.trouble == "time":
        return (
            f"Storm did not finish building {name} within {time_limit:g} s; its state space may be too large "
            f"(give it smaller constants, or more time: --time-limit, time_limit=)"
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


def _built(file: Path, answer: Mapping[str, Any], initial: str | None, name: str) -> MDP:
    """Read what Storm built: locations by their names, and behind the variables in the names of states."""
    with file.open("rb") as stream:
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)  # nobody else writes into the child's folder
    archive = Archive(tar_members(Laid(content), name), name)
    variables = archive.valuations()
    places = {}
    for counter, (automaton, names) in answer["locations"].items():
        if counter in variables:
            places[automaton if automaton not in variables else counter] = variables.pop(counter)._replace(words=names)
    variables |= places
    names = named_by(variables, computed=answer["transient"], last=places)
    mdp = archive.model(initial=initial, variables=variables, names=names)
    return mdp.with_labels({label: mask for label, mask in mdp.labels.items() if label in answer["labels"]})


def _with_final(mdp: MDP, target: Target | None, avoid: Target | None) -> MDP:
    """Call the self-loops that Storm adds final: those of deadlocks, and where it stopped building."""
    ends = mdp.labels.get("deadlock", np.zeros(mdp.n_states, bool)).copy()
    for words in (target, avoid):
        if words is not None:
            with suppress(WaypostError):  # nothing of the kind was built
                ends |= mdp.where(words)
    loops = mdp.first_choice[:-1][ends & mdp.is_final]
    return replace(mdp, actions=renamed(mdp.actions, loops, FINAL)) if len(loops) else mdp


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
        valuations=mdp.valuations,
        definitions=mdp.definitions,
    )
