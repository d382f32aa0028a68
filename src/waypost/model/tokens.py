"""The words that an expression is written with."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

LONGEST = 10_000  # characters of an expression

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number> (?:\d+\.\d*|\.\d+|\d+(?=[eE][+-]?\d)) (?:[eE][+-]?\d{1,3})? (?![\w.]) | \d{1,18}(?![\w.]) )
    | (?P<name> [A-Za-z_][\w.]* )
    | "(?P<label> [^"]* )"
    | (?P<operator> <=>|=>|<=|>=|!=|[-+*/=<>!&|(),?:] ) )""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """A word of an expression."""

    kind: str  # "number", "name", "label", "operator" or "end"
    text: str
    start: int  # where in the expression it stands


def tokens_of(text: str, wrong: Callable[[str], Exception]) -> list[Token]:
    """Cut an expression into its words; `wrong` makes the error for what is none."""
    if len(text) > LONGEST:
        raise wrong(f"is longer than {LONGEST} characters")
    tokens, position, text = [], 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            rest = text[position:].lstrip()
            raise wrong(f"cannot be read from {rest[:20]!r} on (character {len(text) - len(rest) + 1})")
        kind = str(match.lastgroup)
        tokens.append(Token(kind, match[kind], match.start(kind)))
        position = match.end()
    return tokens
