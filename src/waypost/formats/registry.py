"""What a model format is: its name, its endings, how to know it, to read it and to write it, and what it keeps.

Every module of a format has the same shape, as far as it makes sense for it: ``loads`` and ``dumps`` for the content,
``read`` and ``write`` for a file, and ``FORMAT``, which says so. `waypost.formats` reads and writes models, words its
errors and prints the table of the documentation from these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waypost.errors import FormatError
from waypost.model import MDP


class ReadingNote(UserWarning):
    """Something was added to a model, or left out of it, on the way in."""


class JumpsNote(ReadingNote):
    """A continuous-time model is read by its jumps, so that nothing can be said about time in it."""


@dataclass(frozen=True)
class Format:
    """One way to hold a model in a file."""

    name: str
    endings: tuple[str, ...]
    names: str  # what its states are called
    keeps: tuple[str, ...] = ()  # what survives beside names and numbers: "exact", "labels", "counts", "valuations"
    recognises: Callable[[bytes, str, Path], bool] | None = None  # content, its text ("" if it is none), path
    loads: Callable[..., MDP] | None = None  # from text, or from bytes where it is no text
    read: Callable[..., MDP] | None = None  # from a path
    write: Callable[[MDP, Path], None] | None = None
    options: tuple[str, ...] = ()  # that `loads` and `read` understand

    def open(self, path: Path, content: str | bytes | None, **options: Any) -> MDP:
        """Read a model whose content may be known already: what comes through a pipe cannot be read twice."""
        understood = {key: value for key, value in options.items() if key in self.options}
        if self.loads is not None and content is not None:
            named = {"name": path.name} if "name" in self.options else {}
            return self.loads(content, **named, **understood)
        if self.read is not None:
            return self.read(path, **understood)
        raise FormatError(f"{path.name} is {self.name}, which can only be written")


def listed(formats: tuple[Format, ...]) -> str:
    """Names of the formats that can be read, for messages."""
    return ", ".join(f.name for f in formats if f.loads or f.read)


def endings(formats: tuple[Format, ...]) -> str:
    """Endings that can be written, for messages."""
    known = [f.endings[0] for f in formats if f.write]
    return ", ".join(known[:-1]) + f" or {known[-1]}"


def by_ending(formats: tuple[Format, ...], path: Path) -> Format:
    """Format that a file is to be written in."""
    found = next((f for f in formats if f.write and path.suffix.lower() in f.endings), None)
    if found is None:
        raise FormatError(f"no model format ends in {path.suffix!r}; use {endings(formats)}")
    return found


def table(formats: tuple[Format, ...]) -> str:
    """Give the formats as a Markdown table, for the documentation."""
    keeps = ("exact", "labels", "counts", "valuations")
    lines = [f"| format | endings | in | out | {' | '.join(keeps)} | names of the states |", "|---" * 9 + "|"]
    for f in formats:
        marks = ["yes" if f.loads or f.read else "", "yes" if f.write else ""]
        marks += ["yes" if kept in f.keeps else "" for kept in keeps]
        known = " ".join(f"`{ending}`" for ending in f.endings)
        lines.append(f"| {f.name} | {known} | {' | '.join(marks)} | {f.names} |")
    return "\n".join(lines)
