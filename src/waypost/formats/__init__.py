"""One module per model format; `read_mdp` finds out which by looking, not by the ending."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from waypost.environments import from_gymnasium
from waypost.errors import FormatError
from waypost.formats.automata import from_aalpy
from waypost.formats.dot import write_dot
from waypost.formats.drn import read_drn, write_drn
from waypost.formats.explicit import SUFFIXES, read_explicit, write_explicit
from waypost.formats.graphs import from_networkx, to_networkx
from waypost.formats.jsonfile import SCHEMA, read_json, write_json
from waypost.formats.prism_flat import read_flat_prism
from waypost.formats.prism_writer import prism_text, with_kept_names, write_prism
from waypost.formats.reading import read_bytes
from waypost.formats.storm import read_symbolic
from waypost.formats.tensors import from_tensor
from waypost.formats.umb import is_umb, read_umb, umb_model, write_umb
from waypost.formats.writing import write_text
from waypost.model import MDP

__all__ = [
    "SCHEMA",
    "from_aalpy",
    "from_networkx",
    "from_tensor",
    "prism_text",
    "read_drn",
    "read_explicit",
    "read_json",
    "read_mdp",
    "read_symbolic",
    "read_umb",
    "to_networkx",
    "write_dot",
    "write_drn",
    "write_explicit",
    "write_json",
    "write_mdp",
    "write_prism",
    "write_umb",
]

KNOWN = "PRISM, JANI, DRN, UMB, PRISM explicit (.tra/.sta/.lab), Waypost JSON"
_COMMENTS = re.compile(r"\A(?:\s|//[^\n]*)*")
_TRA = re.compile(r"\A(?:#[^\n]*\n|\s)*(?:(?:mdp|dtmc)\s*\n\s*\d|\d+[ \t]+\d+(?:[ \t]+\d+)?\s*\n)")
_PRISM = re.compile(
    r"(?:mdp|dtmc|ctmc|pta|popta|pomdp|ctmdp|ma|smg|nondeterministic|probabilistic|stochastic|module|const|global|formula"
    r"|label|rewards)\b"
)


def read_mdp(source: Any, *, constants: Mapping[str, Any] | None = None, exact: bool = False) -> MDP:
    """Read a model, from a file in any known format or from an object of another library.

    Files: PRISM, JANI, DRN, UMB, PRISM's explicit ``.tra/.sta/.lab``, our JSON. Objects: networkx graphs, AALpy
    automata, Gymnasium environments with a table, transition tensors ``P[a, s, s']``.

    Parameters
    ----------
    source
        A path, or an object.
    constants
        Values for the open constants of a PRISM or JANI model.
    exact
        Keep the probabilities as the fractions that the text of the file means.

    >>> read_mdp([[[0.1, 0.9], [0, 1]]])
    MDP(states=2, choices=2, transitions=3, initial='0')
    """
    if not isinstance(source, str | Path):
        return _from_object(source)
    path = Path(source)
    raw = read_bytes(path)
    if not raw.strip():
        raise FormatError(f"{path.name} is empty")
    if is_umb(raw[:512]):
        _without_constants(constants, path.name)
        return umb_model(raw, path.name)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(f"{path.name} is no model file we know; known formats: {KNOWN}") from None
    return _from_text(path, text, constants, exact)


def write_mdp(mdp: MDP, path: str | Path) -> None:
    """Write a model in the format that the ending asks for: .drn, .umb, .prism or .nm, .json, .tra, .dot or .gv.

    The file appears whole or not at all.
    """
    path = Path(path)
    match path.suffix.lower():
        case ".drn":
            write_text(path, write_drn(mdp))
        case ".json":
            write_text(path, write_json(mdp))
        case ".umb":
            write_umb(mdp, path)
        case ".prism" | ".nm":
            write_prism(mdp, path)
        case ".tra" | ".sta" | ".lab":
            write_explicit(mdp, path)
        case ".dot" | ".gv":
            write_dot(mdp, path)
        case ending:
            raise FormatError(f"no model format ends in {ending!r}; use .drn, .umb, .prism, .json, .tra or .dot")


def _from_text(path: Path, text: str, constants: Mapping[str, Any] | None, exact: bool) -> MDP:
    start = _COMMENTS.sub("", text)
    if start.startswith("{") and '"jani-version"' in text:
        return read_symbolic(path, constants=constants, exact=exact)
    if _PRISM.match(start) and not _TRA.match(text):
        flat = None if constants else read_flat_prism(text, exact=exact)
        if flat is not None:
            return flat
        return with_kept_names(read_symbolic(path, constants=constants, exact=exact), text)
    _without_constants(constants, path.name)
    if start.startswith("{"):
        return read_json(text, exact=exact)
    if re.search(r"^@(?:model|type)\b", text, re.MULTILINE):
        return read_drn(text, exact=exact)
    if path.suffix in SUFFIXES or "# Transitions" in text or _TRA.match(text):
        return read_explicit(path, exact=exact)
    raise FormatError(f"{path.name} is in no known format; known formats: {KNOWN}")


def _without_constants(constants: Mapping[str, Any] | None, name: str) -> None:
    if constants:
        raise FormatError(f"{name} has no constants to set; only PRISM and JANI models do")


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
