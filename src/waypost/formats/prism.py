"""The PRISM language: flat programs on our own, all others through Storm."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from waypost.errors import FormatError, ModelError
from waypost.formats.kinds import check_kind, with_intervals
from waypost.formats.lexical import read_text
from waypost.formats.prism_flat import loads_flat
from waypost.formats.prism_writer import dumps, with_kept_names
from waypost.formats.registry import Format
from waypost.formats.starting import beginning_in
from waypost.formats.storm import Building, read_symbolic
from waypost.formats.writing import write_text
from waypost.model import MDP

COMMENT = re.compile(r"//[^\n]*")
_KINDS = {
    "nondeterministic": "MDP",
    "probabilistic": "DTMC",
    "stochastic": "CTMC",
    **{kind: kind.upper() for kind in "mdp dtmc ctmc pta popta pomdp ctmdp ma smg csg".split()},  # noqa: SIM905
}
_BLANK = re.compile(r"(?:\s|//[^\n]*)*")
_EXPLICIT = re.compile(r"(?:mdp|dtmc)\s*\n\s*\d")  # transitions, state by state
_START = re.compile(rf"(?:{'|'.join(_KINDS)}|module|const|global|formula|label|rewards)\b")
_KIND = re.compile(rf"(?:^|;)\s*({'|'.join(_KINDS)})\b", re.MULTILINE)
_CONSTANT = re.compile(r"\bconst\s+(?:(?:int|double|bool|rate|prob)\s+)?(\w+)\s*(?:=\s*([^;]+?)\s*)?;")
_INTERVAL = re.compile(r"(?:->|\+)\s*\[[^\[\],]*,[^\[\],]*\]\s*:")
_FORMULA = re.compile(r"\bformula\s+(\w+)\s*=\s*([^;]+?)\s*;")

__all__ = ["FORMAT", "definitions_of", "dumps", "loads", "read", "write"]


def loads(text: str, *, exact: bool = False) -> MDP:
    """Read a flat program, in which every command names one state, as `dumps` writes it.

    >>> loads("mdp module m x : [0..1] init 0; [go] x=0 -> (x'=1); endmodule").states == ("x=0", "x=1")
    True
    """
    flat = loads_flat(text, exact=exact)
    if flat is None:
        raise FormatError("this PRISM program has more than commands for single states; write it to a file and read it")
    return flat


def read(path: Path | str, **options: Unpack[Building]) -> MDP:
    """Read a PRISM program; one that is not flat no further than to its `target`, where one is given."""
    path = Path(path)
    text = read_text(path)
    plain = COMMENT.sub("", text)
    kind = _KIND.search(plain)
    check_kind(_KINDS[kind[1]] if kind else "MDP", path.name)
    if _INTERVAL.search(plain):
        raise ModelError(with_intervals(path.name))
    constants, initial = options.get("constants") or {}, options.get("initial")
    flat = None if constants else loads_flat(text, exact=options.get("exact", False))
    if flat is not None:
        return flat if initial is None else beginning_in(flat, initial)
    mdp = read_symbolic(path, definitions=definitions_of(plain, constants), **options)
    return with_kept_names(mdp, text)


def write(mdp: MDP, path: Path | str) -> None:
    """Write a model in the PRISM language."""
    write_text(path, dumps(mdp))


def definitions_of(text: str, constants: Mapping[str, Any]) -> dict[str, str]:
    """Give the constants and formulas of a program as expressions; `constants` are values for the open ones.

    >>> definitions_of("const int N; const K=2*N; formula full = x=N;", {"N": 3})
    {'N': '3', 'K': '2*N', 'full': 'x=N'}
    """
    found = {}
    for name, value in _CONSTANT.findall(text):
        given = constants.get(name, value)
        if given != "":
            found[name] = str(given).lower() if isinstance(given, bool) else str(given)
    return found | {name: f"{' '.join(value.split())}" for name, value in _FORMULA.findall(text)}


def open_constants(text: str) -> set[str]:
    """Names of the constants that a program or a properties file leaves open.

    >>> open_constants("const int N; const K=2*N;")
    {'N'}
    """
    return {name for name, value in _CONSTANT.findall(text) if not value}


def _recognises(_raw: bytes, text: str, _path: Path) -> bool:
    blank = _BLANK.match(text)
    start = blank.end() if blank else 0
    return _START.match(text, start) is not None and not _EXPLICIT.match(text, start)


FORMAT = Format(
    name="PRISM",
    endings=(".prism", ".nm", ".pm", ".sm"),
    names="the values of the variables that change; other names are kept in comments",
    keeps=("exact", "labels", "valuations"),
    recognises=_recognises,
    read=read,
    write=write,
    options=tuple(Building.__annotations__),
)
