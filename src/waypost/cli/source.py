"""Where a command's model comes from: a file, or a built-in case."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from waypost.cases import loan
from waypost.errors import FormatError, WaypostError
from waypost.formats import read_mdp
from waypost.model import MDP, Strategy


def load_model(source: str | None, *, constants: Iterable[str] = (), exact: bool = False) -> MDP:
    """Model in a file; the loan example without one."""
    if source is None:
        return loan()
    return read_mdp(source, constants=parse_constants(constants), exact=exact)


def load_strategy(path: str, mdp: MDP) -> Strategy:
    """Strategy in a JSON file."""
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FormatError(f"cannot read {path!r}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise FormatError(f"{path} is not JSON; a strategy is written as state -> action -> probability") from None
    if not isinstance(given, dict):
        raise FormatError(f"{path} is not a strategy; it is written as state -> action -> probability")
    return Strategy.from_dict(mdp, given)


def parse_constants(given: Iterable[str]) -> dict[str, Any]:
    """Read ``["N=3", "p=0.5"]``."""
    constants: dict[str, Any] = {}
    for part in (piece for item in given for piece in item.split(",")):
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise WaypostError(f"a constant is given as NAME=VALUE, not {part!r}")
        constants[name.strip()] = value.strip()
    return constants
