"""Expressions with every bracket: for Storm, which reads PRISM's with other precedences, and without some signs."""

from __future__ import annotations

from waypost.errors import FormatError
from waypost.model.tokens import Token, tokens_of

_LOOSEST_FIRST = (
    ("=>",),
    ("<=>",),
    ("|",),
    ("&",),
    ("!",),
    ("=", "!="),
    ("<", "<=", ">", ">="),
    ("+", "-"),
    ("*", "/"),
)
_NOT, _COMPARING = 4, 6  # their places


def bracketed(text: str) -> str:
    """Write an expression so that it means the same without any precedence.

    >>> bracketed("!x<5 & 0<=y<z+1"), bracketed('"far" <=> x=N')
    ('((!(x < 5)) & ((0 <= y) & (y < (z + 1))))', '("far" = (x = N))')
    """
    reader = _Brackets(tokens_of(text, FormatError))
    found = reader.chosen()
    if reader.tokens:
        raise FormatError(f"{text!r} cannot be read from {reader.tokens[0].text!r} on")
    return found


class _Brackets:
    """One pass over the words of an expression; `waypost.model.expressions` has the language."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens

    def _take(self, *signs: str) -> str | None:
        if self.tokens and self.tokens[0].kind == "operator" and self.tokens[0].text in signs:
            return self.tokens.pop(0).text
        return None

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise FormatError(f"an expression lacks {sign!r}")

    def chosen(self) -> str:
        of = self.joined(0)
        if not self._take("?"):
            return of
        then = self.chosen()
        self._need(":")
        return f"({of} ? {then} : {self.chosen()})"

    def joined(self, level: int) -> str:
        """Operators of one level, and what binds more closely."""
        if level == len(_LOOSEST_FIRST):
            return self.atom()
        if level == _NOT:
            return f"(!{self.joined(level)})" if self._take("!") else self.joined(level + 1)
        found = left = self.joined(level + 1)
        chain = []
        while sign := self._take(*_LOOSEST_FIRST[level]):
            right = self.joined(level + 1)
            chain.append(f"({left} {sign} {right})")
            found = f"({found} {'=' if sign == '<=>' else sign} {right})"
            left = right
        return f"({' & '.join(chain)})" if level == _COMPARING and len(chain) > 1 else found

    def atom(self) -> str:
        if self._take("-"):
            return f"(-{self.atom()})"
        if self._take("("):
            found = self.chosen()
            self._need(")")
            return found
        if not self.tokens or self.tokens[0].kind == "operator":
            raise FormatError("an expression lacks a value")
        kind, text, _ = self.tokens.pop(0)
        if kind == "label":
            return f'"{text}"'
        if kind != "name" or not self._take("("):
            return text
        given = [self.chosen()]
        while self._take(","):
            given.append(self.chosen())
        self._need(")")
        return f"{text}({', '.join(given)})"
