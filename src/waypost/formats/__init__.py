"""One module per model format, all of one shape; `read_mdp` finds out which by looking, not by the ending."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from waypost.arguments import checked
from waypost.environments import from_gymnasium
from waypost.environments.named import named_environment, names_environment
from waypost.errors import FormatError, is_address, without_credentials
from waypost.formats import dot, drn, explicit, jani, jsonfile, prism, umb
from waypost.formats.automata import from_aalpy
from waypost.formats.graphs import from_networkx, to_networkx
from waypost.formats.jsonfile import SCHEMA
from waypost.formats.reading import beginning, read_bytes
from waypost.formats.registry import Format, ReadingNote, by_ending, listed
from waypost.formats.starting import beginning_in
from waypost.formats.storm import TIME_LIMIT, read_symbolic
from waypost.formats.tensors import from_tensor
from waypost.model import MDP, Target

__all__ = [
    "FORMATS",
    "SCHEMA",
    "Format",
    "ReadingNote",
    "dot",
    "drn",
    "explicit",
    "from_aalpy",
    "from_networkx",
    "from_tensor",
    "jani",
    "jsonfile",
    "prism",
    "read_mdp",
    "read_symbolic",
    "to_networkx",
    "umb",
    "write_mdp",
]

# in the order in which a file is looked at
FORMATS = (umb.FORMAT, jani.FORMAT, prism.FORMAT, drn.FORMAT, jsonfile.FORMAT, explicit.FORMAT, dot.FORMAT)


LOG_FILES = "event logs are files that end with .xes, .csv, .tsv or .parquet"


@checked
def read_mdp(
    source: Any,
    *,
    constants: Mapping[str, Any] | None = None,
    exact: bool = False,
    initial: str | None = None,
    target: Target | None = None,
    avoid: Target | None = None,
    time_limit: float | None = TIME_LIMIT,
) -> MDP:
    """Read a model, from a file in any known format or from an object of another library.

    Files: PRISM, JANI, DRN, UMB, PRISM's explicit ``.tra/.sta/.lab``, our JSON. Objects: networkx graphs, AALpy
    automata, Gymnasium environments with a table, transition tensors ``P[a, s, s']``.

    Parameters
    ----------
    source
        A path, an object, or an environment by its name, ``gym:FrozenLake-v1``.
    constants
        Values for the open constants of a PRISM or JANI model, or options of an environment.
    exact
        Keep the probabilities as the fractions that the text of the file means.
    initial
        The state to begin in, where it is not the model's own; needed where there are several.
    target, avoid
        What will be asked about: a PRISM or JANI model is built no further than to these.
    time_limit
        Seconds for building a PRISM or JANI model; None means as long as it takes.

    Returns
    -------
    MDP
        Checked, every distribution summing to 1.

    Raises
    ------
    FormatError
        If the source cannot be read as what it claims to be.
    ModelError
        If what was read is not a Markov decision process.
    MissingExtraError
        If a library that it needs is not installed.

    Examples
    --------
    >>> read_mdp([[[0.1, 0.9], [0, 1]]])
    MDP(states=2, choices=2, transitions=3, initial='0')
    """
    by_name = isinstance(source, str | Path)
    if not by_name or names_environment(source):
        mdp = _environment(str(source), constants or {}) if by_name else _from_object(source)
        return mdp if initial is None else beginning_in(mdp, initial)
    if is_address(str(source)):
        raise FormatError(f"{without_credentials(str(source))} is the address of no model; give a file")
    path = Path(source)
    found, content = _recognised(path)
    if constants and "constants" not in found.options:
        raise FormatError(f"{path.name} has no constants to set; only PRISM and JANI models do")
    mdp = found.open(
        path,
        content,
        constants=constants,
        exact=exact,
        initial=initial,
        target=target,
        avoid=avoid,
        time_limit=time_limit,
    )
    return mdp if initial is None or "initial" in found.options else beginning_in(mdp, initial)


@checked
def write_mdp(mdp: MDP, path: str | Path) -> None:
    """Write a model in the format that the ending asks for: .drn, .umb, .prism or .nm, .json, .tra, .dot or .gv.

    The file appears whole or not at all.

    Parameters
    ----------
    mdp
        The model.
    path
        Where to write it; the ending chooses the format.

    Raises
    ------
    FormatError
        If there is no format with that ending, or it cannot express the model.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from waypost.cases import loan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_mdp(loan(), pathlib.Path(folder) / "loan.drn")
    ...     read_mdp(pathlib.Path(folder) / "loan.drn").n_states
    10
    """
    path = Path(path)
    found = by_ending(FORMATS, path)
    if found.write is not None:
        found.write(mdp, path)


def _environment(source: str, options: Mapping[str, Any]) -> MDP:
    """Environment by its name; what its models leave out is said."""
    mdp, notes = named_environment(source, options)
    for note in notes:
        warnings.warn(note, ReadingNote, stacklevel=3)
    return mdp


def _recognised(path: Path) -> tuple[Format, str | bytes | None]:
    """Format of a file, and its content: text if it is text; None where it is best read piece by piece."""
    if umb.is_umb(beginning(path, 512)):
        return umb.FORMAT, None
    raw = read_bytes(path)
    if not raw or raw.isspace():
        raise FormatError(f"{path.name} is empty")
    if umb.is_umb(raw[:512]):
        return umb.FORMAT, raw
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(f"{path.name} is no model file we know; known formats: {listed(FORMATS)}") from None
    found = next((f for f in FORMATS if f.recognises is not None and f.recognises(raw, text, path)), None)
    if found is None:
        raise FormatError(f"{path.name} is in no known format; known formats: {listed(FORMATS)}; {LOG_FILES}")
    return found, text


def _from_object(source: Any) -> MDP:
    if isinstance(source, MDP):
        return source
    if hasattr(source, "out_edges") and hasattr(source, "nodes"):
        return from_networkx(source)
    if hasattr(source, "unwrapped") and hasattr(source, "step"):
        return from_gymnasium(source)
    if hasattr(source, "initial_state") and hasattr(source, "states"):
        return from_aalpy(source)
    if isinstance(source, np.ndarray | list | tuple):
        return from_tensor(source)
    raise FormatError(
        f"a {type(source).__name__} is no model we know; give a file, a networkx graph, an AALpy automaton, "
        "a Gymnasium environment with a table, or a tensor P[a, s, s']"
    )
