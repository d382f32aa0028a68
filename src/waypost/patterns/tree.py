"""What a pattern is: a regular language of runs, as a tree that can be written, built and read.

A run is read step by step: a step is a state with the action taken in it, the last one the target state that is
entered. A pattern matches whole runs; ``...`` stands for any steps, so ``... A ...`` is "passes A".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from waypost.errors import PatternError

BARE = re.compile(r'(?:(?!\.\.\.)[^\s|&!*?(){}/,"])+')  # names that need no quotes; see `docs/patterns.md`
LOOSE, JOINT, ROW, TIGHT = range(4)  # how tightly a pattern binds: a | b, a & b, a b, a{2}


class Pattern:
    """A regular language of runs.

    Patterns are built from `step` and `ANYTHING`: ``a + b`` (directly followed by), ``a | b``, ``a & b``, ``~a`` (every
    run but these), ``a.times(2, 5)``; or read from text by `parse`. `str` writes a pattern as text again.

    Examples
    --------
    >>> str(ANYTHING + step("Submit") + (step("Call") | step("Mail", "send")).times(2) + ANYTHING)
    '... Submit (Call | Mail/send){2,} ...'
    >>> str(~(ANYTHING + step("Call the bank")))
    'not(... "Call the bank")'
    """

    binding = TIGHT

    def __repr__(self) -> str:
        return f"Pattern({str(self)!r})"

    def __add__(self, other: Pattern) -> Pattern:
        return Sequence(tuple(_parts(Sequence, self, other)))

    def __or__(self, other: Pattern) -> Pattern:
        return Either(tuple(_parts(Either, self, other)))

    def __and__(self, other: Pattern) -> Pattern:
        return Both(tuple(_parts(Both, self, other)))

    def __invert__(self) -> Pattern:
        return Not(self)

    def times(self, least: int, most: int | None = None) -> Pattern:
        """Repeat: at least and at most so often, one directly after the other; without `most` for ever."""
        return Repeat(self, least, most)

    @property
    def single(self) -> bool:
        """Whether it is a condition on one step."""
        return False

    def tests(self) -> Iterator[Step]:
        """Steps that it names."""
        return iter(())


@dataclass(frozen=True, repr=False)
class Step(Pattern):
    """One step: in a state, in a state with a label, by an action, or both; any step if neither is said."""

    name: str | None = None
    action: str | None = None

    def __str__(self) -> str:
        if self.name is None and self.action is None:
            return "."
        action = "" if self.action is None else f"/{_quoted(self.action)}"
        return ("" if self.name is None else _quoted(self.name)) + action

    @property
    def single(self) -> bool:
        """Whether it is a condition on one step."""
        return True

    def tests(self) -> Iterator[Step]:
        """Steps that it names."""
        if self.name is not None or self.action is not None:
            yield self


@dataclass(frozen=True, repr=False)
class Other(Pattern):
    """One step, other than this."""

    part: Pattern

    def __post_init__(self) -> None:
        if not self.part.single:
            raise PatternError(
                f"! stands before one step, and {str(self.part)!r} may be more; for every run but these write not(...)"
            )

    def __str__(self) -> str:
        return f"!{_bracketed(self.part, TIGHT)}"

    @property
    def single(self) -> bool:
        """Whether it is a condition on one step."""
        return True

    def tests(self) -> Iterator[Step]:
        """Steps that it names."""
        return self.part.tests()


@dataclass(frozen=True, repr=False)
class Repeat(Pattern):
    """So many times, one directly after the other."""

    part: Pattern
    least: int
    most: int | None

    def __post_init__(self) -> None:
        if self.least < 0 or (self.most is not None and self.most < max(self.least, 1)):
            raise PatternError(f"a step cannot be repeated from {self.least} to {self.most} times")

    def __str__(self) -> str:
        if self == ANYTHING:
            return "..."
        most = "" if self.most is None else str(self.most)
        counts = {(0, None): "*", (0, 1): "?"}.get((self.least, self.most), f"{{{self.least},{most}}}")
        if self.least == self.most:
            counts = f"{{{self.least}}}"
        return f"{_bracketed(self.part, TIGHT)}{counts}"

    def tests(self) -> Iterator[Step]:
        """Steps that it names."""
        return self.part.tests()


@dataclass(frozen=True, repr=False)
class _Several(Pattern):
    parts: tuple[Pattern, ...]
    sign: ClassVar[str]  # between them

    def __str__(self) -> str:
        return self.sign.join(_bracketed(part, self.binding + 1) for part in self.parts)

    def tests(self) -> Iterator[Step]:
        """Steps that it names."""
        for part in self.parts:
            yield from part.tests()


@dataclass(frozen=True, repr=False)
class Sequence(_Several):
    """One directly after the other."""

    binding = ROW
    sign = " "


class _Alongside(_Several):
    """Of the same run, not one after the other."""

    @property
    def single(self) -> bool:
        """Whether it is a condition on one step."""
        return all(part.single for part in self.parts)


@dataclass(frozen=True, repr=False)
class Either(_Alongside):
    """One or the other."""

    binding = LOOSE
    sign = " | "


@dataclass(frozen=True, repr=False)
class Both(_Alongside):
    """Runs that are in both."""

    binding = JOINT
    sign = " & "


@dataclass(frozen=True, repr=False)
class Not(Pattern):
    """Every run but these."""

    part: Pattern

    def __str__(self) -> str:
        return f"not({self.part})"

    def tests(self) -> Iterator[Step]:
        """Steps that it names."""
        return self.part.tests()


@dataclass(frozen=True, repr=False)
class Template(Pattern):
    """A pattern with a name and arguments, such as ``response(A, B)``, and what it means."""

    name: str
    arguments: tuple[Pattern | int, ...]
    part: Pattern

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"

    def tests(self) -> Iterator[Step]:
        """Steps that it names."""
        return self.part.tests()


def step(name: str | None = None, action: str | None = None) -> Pattern:
    """One step: in a state or in a state with a label, by an action, or both.

    >>> str(step("Consultation", "Apply")), str(step(action="Apply"))
    ('Consultation/Apply', '/Apply')
    """
    return Step(name, action)


ANY_STEP = Step()
ANYTHING = Repeat(ANY_STEP, 0, None)


def _parts(kind: type[_Several], *patterns: Pattern) -> Iterator[Pattern]:
    """Nested patterns of one kind, side by side."""
    for pattern in patterns:
        if isinstance(pattern, kind):
            yield from pattern.parts
        else:
            yield pattern


def _bracketed(part: Pattern, binding: int) -> str:
    return str(part) if part.binding >= binding else f"({part})"


def _quoted(name: str) -> str:
    if BARE.fullmatch(name) and name != ".":
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
