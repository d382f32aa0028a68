"""One module per model format; `read_mdp` finds out which."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from waypost.errors import FormatError
from waypost.formats.drn import read_drn, write_drn
from waypost.formats.jsonfile import SCHEMA, read_json, write_json
from waypost.formats.storm import PRISM_ENDINGS, read_symbolic
from waypost.model import MDP

__all__ = ["SCHEMA", "read_drn", "read_json", "read_mdp", "read_symbolic", "write_drn", "write_json"]


def read_mdp(path: str | Path, *, constants: Mapping[str, Any] | None = None, exact: bool = False) -> MDP:
    """Read a model from a file: DRN, our JSON, PRISM or JANI.

    Parameters
    ----------
    path
        The file.
    constants
        Values for the open constants of a PRISM or JANI model.
    exact
        Keep the probabilities as the fractions that the text of the file means.
    """
    path = Path(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise FormatError(f"cannot read {str(path)!r}: {error.strerror}") from None
    if not raw.strip():
        raise FormatError(f"{path.name} is empty")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(f"{path.name} is not a text file; known formats: DRN, JSON, PRISM, JANI") from None
    start = text.lstrip()[:1]
    if path.suffix in PRISM_ENDINGS or path.suffix == ".jani":
        return read_symbolic(path, constants=constants, exact=exact)
    if constants:
        raise FormatError(f"{path.name} has no constants to set; only PRISM and JANI models do")
    if start == "{":
        return read_json(text, exact=exact)
    if start in ("@", "/"):
        return read_drn(text, exact=exact)
    raise FormatError(f"{path.name} is in no known format; known formats: DRN, JSON, PRISM, JANI")
