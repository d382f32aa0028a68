"""Patterns as text: a small reader that knows where a mistake is.

::

    pattern   = both { "|" both }
    both      = row { "&" row }
    row       = repeated { repeated }
    repeated  = one { "*" | "?" | "{" n "}" | "{" n "," [ m ] "}" }
    one       = "..." | "." | name [ "/" name ] | "/" name | "!" one | "(" pattern ")"
              | "not(" pattern ")" | template "(" pattern { "," pattern | "," n } ")"
    name      = characters other than space | & ! * ? ( ) { } / , " and "..."   or   "anything in quotes"
"""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple, NoReturn

from waypost.errors import PatternError
from waypost.patterns.declare import TEMPLATES, template
from waypost.patterns.tree import ANY_STEP, ANYTHING, BARE, Not, Other, Pattern, Step

LONGEST = 10_000  # characters
DEEPEST = 50  # brackets inside brackets
_SPACE = re.compile(r"\s*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_NUMBER = re.compile(r"\d{1,9}")


def parse(text: str) -> Pattern:
    """Pattern of a text.

    >>> str(parse("... Submit  Call{2,} (!Cancel)* Approve/sign ..."))
    '... Submit Call{2,} !Cancel* Approve/sign ...'
    >>> parse("... Submit | ")
    Traceback (most recent call last):
    ...
    waypost.errors.PatternError: in the pattern '... Submit | ' a step is missing at the end
    """
    return _Parser(text).everything()


class _Token(NamedTuple):
    kind: str  # "name", "quoted", "end", or the sign itself
    text: str
    at: int
    end: int


class _Parser:
    """One token of lookahead, one method per rule."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        if len(text) > LONGEST:
            raise PatternError(f"the pattern is {len(text)} characters long; the longest may have {LONGEST}")
        self.token = self._read(0)

    def wrong(self, what: str, at: int | None = None) -> NoReturn:
        at = self.token.at if at is None else at
        low, high = max(0, at - 40), at + 40
        shown = ("..." if low else "") + self.text[low:high] + ("..." if high < len(self.text) else "")
        place = "at the end" if at >= len(self.text.rstrip()) else f"at character {at + 1}, {self.text[at : at + 12]!r}"
        raise PatternError(f"in the pattern {shown!r} {what} {place}")

    def _read(self, at: int) -> _Token:
        space = _SPACE.match(self.text, at)
        at = space.end() if space else at
        if at == len(self.text):
            return _Token("end", "", at, at)
        if self.text.startswith("...", at):
            return _Token("...", "...", at, at + 3)
        if quoted := _QUOTED.match(self.text, at):
            return _Token("quoted", re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL), at, quoted.end())
        if bare := BARE.match(self.text, at):
            return _Token("." if bare[0] == "." else "name", bare[0], at, bare.end())
        if self.text[at] == '"':
            self.wrong("a quotation mark is not closed", at)
        return _Token(self.text[at], self.text[at], at, at + 1)

    def _take(self, *kinds: str) -> _Token | None:
        token = self.token
        if token.kind not in kinds:
            return None
        self.token = self._read(token.end)
        return token

    def everything(self) -> Pattern:
        found = self.pattern()
        if self.token.kind != "end":
            self.wrong("something does not belong" if self.token.kind != ")" else "a bracket closes that was not open")
        return found

    def pattern(self) -> Pattern:
        self.depth += 1
        if self.depth > DEEPEST:
            self.wrong(f"brackets are nested more than {DEEPEST} deep")
        found = self.both()
        while self._take("|"):
            found = found | self.both()
        self.depth -= 1
        return found

    def both(self) -> Pattern:
        found = self.row()
        while self._take("&"):
            found = found & self.row()
        return found

    def row(self) -> Pattern:
        found = self.repeated()
        while self.token.kind in ("...", ".", "name", "quoted", "/", "!", "("):
            found = found + self.repeated()
        return found

    def repeated(self) -> Pattern:
        found = self.one()
        while sign := self._take("*", "?", "{"):
            if sign.kind == "*":
                found = found.times(0)
            elif sign.kind == "?":
                found = found.times(0, 1)
            else:
                found = self.counted(found, sign.at)
        return found

    def counted(self, part: Pattern, at: int) -> Pattern:
        least = self.number()
        most: int | None = least
        if self._take(","):
            most = None if self.token.kind == "}" else self.number()
        if not self._take("}"):
            self.wrong("a count is written {2}, {2,} or {2,5}, but is not", at)
        if most is not None and most < max(least, 1):
            self.wrong("a count is empty", at)
        return part.times(least, most)

    def number(self) -> int:
        token = self._take("name")
        if token is None or not _NUMBER.fullmatch(token.text):
            self.wrong("a number is missing", None if token is None else token.at)
        return int(token.text)

    def one(self) -> Pattern:
        at = self.token.at
        if self._take("..."):
            return ANYTHING
        if self._take("."):
            return ANY_STEP
        if self._take("!"):
            self.depth += 1
            if self.depth > DEEPEST:
                self.wrong(f"signs are nested more than {DEEPEST} deep")
            part = self.one()
            self.depth -= 1
            if not part.single:
                self.wrong("! stands before more than one step (for every run but these write not(...))", at)
            return Other(part)
        if self._take("("):
            found = self.pattern()
            self.closed(at)
            return found
        if self._take("/"):
            return Step(None, self.name("an action"))
        token = self.token
        if token.kind == "name" and self.text.startswith("(", token.end):
            return self.called()
        name = self.name("a step")
        joined = self.token.at == token.end  # "A/go" is one step, "A /go" are two
        return Step(name, self.name("an action") if joined and self._take("/") else None)

    def name(self, what: str) -> str:
        token = self._take("name", "quoted")
        if token is None:
            self.wrong(f"{what} is missing")
        return token.text

    def closed(self, at: int) -> None:
        if not self._take(")"):
            if self.token.kind == "end":
                self.wrong("a bracket is not closed", at)
            self.wrong("something does not belong")

    def called(self) -> Pattern:
        """``response(A, B)``, ``existence(A, 2)``, ``not(pattern)``."""
        word = self.token
        if word.text not in (*TEMPLATES, "not"):
            near = difflib.get_close_matches(word.text, [*TEMPLATES, "not"], n=1)
            hint = f" (did you mean {near[0]}?)" if near else " (if it is a step, put a space before the bracket)"
            self.wrong(f"there is no template {word.text!r}{hint}")
        self.token = self._read(word.end + 1)
        if word.text == "not":
            found: Pattern = Not(self.pattern())
            self.closed(word.at)
            return found
        arguments, number = [self.pattern()], None
        while self._take(","):
            if len(arguments) == 1 and self.token.kind == "name" and _NUMBER.fullmatch(self.token.text):
                following = self._read(self.token.end)
                if following.kind == ")" and word.text in ("existence", "absence", "exactly"):
                    number = self.number()
                    continue
            arguments.append(self.pattern())
        self.closed(word.at)
        try:
            return template(word.text, arguments, number)
        except PatternError as error:
            self.wrong(str(error), word.at)
