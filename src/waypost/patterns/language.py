"""From a pattern to its minimal automaton, by derivatives.

Brzozowski (1964): the derivative of a language by a letter is what may follow that letter; a pattern, taken up to a few
obvious equalities, has finitely many, and they are the states. Negation, conjunction and counts need no tricks; they
may need many states, so there is a limit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from waypost.errors import PatternError
from waypost.model import Automaton
from waypost.patterns.tree import Both, Either, Not, Other, Pattern, Repeat, Sequence, Step, Template

MOST_STATES = 2000
MOST_WORK = 2_000_000  # parts of derivatives looked at

LetterSet = frozenset[int]
Node = tuple[object, ...]  # ("set", letters), ("row", a, b, ..), ("or"/"and", parts), ("not", a), ("times", a, n, m)

NOTHING: Node = ("set", frozenset())
NO_STEP: Node = ("row",)


def automaton_of(pattern: Pattern, letters_of: Callable[[Step], LetterSet], n_letters: int) -> Automaton:
    """Minimal automaton of a pattern over letters ``0 .. n_letters - 1``.

    `letters_of` says which letters fit a named step.

    >>> from waypost.patterns import parse
    >>> automaton_of(parse("... A ... A ..."), lambda step: frozenset([1]), 2).n_states
    3
    >>> automaton_of(parse("... A .{14} A ..."), lambda step: frozenset([1]), 2)
    Traceback (most recent call last):
    ...
    waypost.errors.PatternError: the pattern '... A .{14} A ...' needs an automaton of more than 2000 states; \
use smaller counts, or fewer "..." before them
    """
    language = Language(frozenset(range(n_letters)))
    start = language.of(pattern, letters_of)
    number: dict[Node, int] = {start: 0}
    order = [start]
    rows: list[list[int]] = []
    for node in order:  # grows while it is walked through
        row = []
        for letter in range(n_letters):
            after = language.derivative(node, letter)
            if after not in number:
                number[after] = len(order)
                order.append(after)
            row.append(number[after])
        rows.append(row)
        if len(order) > MOST_STATES or language.work > MOST_WORK:
            shown = text if len(text := str(pattern)) <= 100 else f"{text[:97]}..."
            size = f"more than {min(len(order), MOST_STATES)} states"
            raise PatternError(
                f'the pattern {shown!r} needs an automaton of {size}; use smaller counts, or fewer "..." before them'
            )
    accepting = np.array([language.nullable(node) for node in order])
    return Automaton(np.array(rows, np.int64).reshape(len(order), n_letters), accepting).minimal()


class Language:
    """Patterns over one alphabet as nodes that compare equal where they obviously are."""

    def __init__(self, alphabet: LetterSet) -> None:
        self.alphabet = alphabet
        self.anything: Node = ("times", ("set", alphabet), 0, None)
        self.work = 0
        self.derivative = cache(self._derivative)
        self.nullable = cache(self._nullable)

    def of(self, pattern: Pattern, letters_of: Callable[[Step], LetterSet]) -> Node:
        """Node of a pattern."""
        match pattern:
            case Step(None, None):
                return ("set", self.alphabet)
            case Step():
                return ("set", letters_of(pattern))
            case Other(part):
                return ("set", self.alphabet - self.single(self.of(part, letters_of)))
            case Sequence(parts):
                return self.row([self.of(part, letters_of) for part in parts])
            case Either(parts):
                return self.either([self.of(part, letters_of) for part in parts])
            case Both(parts):
                return self.both([self.of(part, letters_of) for part in parts])
            case Template(part=part):
                return self.of(part, letters_of)
            case Not(part):
                return self.inverse(self.of(part, letters_of))
            case Repeat(part, least, most):
                return self.times(self.of(part, letters_of), least, most)
        raise TypeError(f"{pattern!r} is no pattern")  # pragma: no cover

    def single(self, node: Node) -> LetterSet:
        """Letters of a condition on one step."""
        kind, *parts = node
        if kind == "set":
            return parts[0]  # type: ignore[return-value]
        sets = [self.single(part) for part in parts[0]]  # type: ignore[attr-defined]
        return frozenset.union(*sets) if kind == "or" else frozenset.intersection(*sets)

    def row(self, nodes: list[Node]) -> Node:
        """One after the other."""
        flat: list[Node] = []
        for node in nodes:
            if node == NOTHING:
                return NOTHING
            flat.extend(node[1:] if node[0] == "row" else [node])  # type: ignore[arg-type]
        merged: list[Node] = []
        for node in flat:
            if not (merged and node == merged[-1] == self.anything):
                merged.append(node)
        return merged[0] if len(merged) == 1 else ("row", *merged)

    def either(self, nodes: list[Node]) -> Node:
        """One or the other."""
        parts: set[Node] = set()
        letters: LetterSet = frozenset()
        for node in nodes:
            for part in node[1] if node[0] == "or" else [node]:  # type: ignore[attr-defined]
                if part[0] == "set":
                    letters |= part[1]
                else:
                    parts.add(part)
        if self.anything in parts:
            return self.anything
        if letters:
            parts.add(("set", letters))
        if not parts:
            return NOTHING
        return parts.pop() if len(parts) == 1 else ("or", frozenset(parts))

    def both(self, nodes: list[Node]) -> Node:
        """One and the other."""
        parts: set[Node] = set()
        letters: LetterSet | None = None
        for node in nodes:
            for part in node[1] if node[0] == "and" else [node]:  # type: ignore[attr-defined]
                if part[0] == "set":
                    letters = part[1] if letters is None else letters & part[1]
                else:
                    parts.add(part)
        parts.discard(self.anything)
        if letters is not None:
            if not letters:
                return NOTHING
            parts.add(("set", letters))
        if not parts:
            return self.anything
        return parts.pop() if len(parts) == 1 else ("and", frozenset(parts))

    def inverse(self, node: Node) -> Node:
        """Every word but these."""
        if node == NOTHING:
            return self.anything
        if node == self.anything:
            return NOTHING
        return node[1] if node[0] == "not" else ("not", node)  # type: ignore[return-value]

    def times(self, node: Node, least: int, most: int | None) -> Node:
        """Several times."""
        if most == 0 or node == NO_STEP:
            return NO_STEP
        if node == NOTHING:
            return NO_STEP if least == 0 else NOTHING
        if (least, most) == (1, 1) or node == self.anything:
            return node
        if self.nullable(node):
            least = 0
        return ("times", node, least, most)

    def _nullable(self, node: Node) -> bool:
        """Whether the empty word belongs to it."""
        kind, *parts = node
        if kind == "set":
            return False
        if kind == "row":
            return all(self.nullable(part) for part in parts)
        if kind == "or":
            return any(self.nullable(part) for part in parts[0])  # type: ignore[attr-defined]
        if kind == "and":
            return all(self.nullable(part) for part in parts[0])  # type: ignore[attr-defined]
        if kind == "not":
            return not self.nullable(parts[0])
        return parts[1] == 0 or bool(self.nullable(parts[0]))

    def _derivative(self, node: Node, letter: int) -> Node:
        """What may follow the letter."""
        kind, *parts = node
        self.work += 1 + len(parts)
        if kind == "set":
            return NO_STEP if letter in parts[0] else NOTHING  # type: ignore[operator]
        if kind == "or":
            return self.either([self.derivative(part, letter) for part in parts[0]])  # type: ignore[attr-defined]
        if kind == "and":
            return self.both([self.derivative(part, letter) for part in parts[0]])  # type: ignore[attr-defined]
        if kind == "not":
            return self.inverse(self.derivative(parts[0], letter))
        if kind == "times":
            part, least, most = parts
            after = self.derivative(part, letter)
            rest = self.times(part, max(least - 1, 0), None if most is None else most - 1)  # type: ignore[arg-type, operator]
            return self.row([after, rest])
        found = []
        for i, part in enumerate(parts):
            found.append(self.row([self.derivative(part, letter), *parts[i + 1 :]]))  # type: ignore[list-item]
            if not self.nullable(part):
                break
        return self.either(found)
