"""DRN files as they are written, by whole arrays of bytes; what is out of the ordinary is left to `formats.drn`.

A line is an entry (two tabs, ``3 : 0.25``), an action (one tab), a state or a comment, which its first bytes tell. The
file is gone through in pieces that stay near the processor; their numbers are read by `formats.decimals`, and of the
texts the bytes are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.formats.decimals import Places, Words, decimals, digits, leading_digits
from waypost.formats.lexical import least_of, numbers_in
from waypost.model.names import Texts, windows

Bytes = NDArray[np.uint8]

AT_ONCE = 1 << 18  # bytes
NEWLINE, BLANK, OPENED, CLOSED, ZERO, NINE = b"\n []09"


def _word(text: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(text, "little"))


ACTION, STATE, NAMED, BETWEEN = map(_word, (b"\taction ", b"state ", b"//[", b" : "))
TABS, SLASHES = map(_word, (b"\t\t", b"//"))
ONE, TWO, THREE, SIX = (np.uint64(2 ** (8 * k) - 1) for k in (1, 2, 3, 6))  # the first so many bytes of a word


class _Unusual(Exception):  # noqa: N818
    """Something is not where it mostly is."""


@dataclass
class Scanned:
    """What stands where in a file."""

    tails: Places  # (S, 2) start and end of what stands behind the number of each state
    names: Texts  # names of states
    named: Places  # the state of each name
    actions: Texts  # (C,)
    owner: Places  # (C,) state of each action
    first_entry: Places  # (C + 1,)
    successor: NDArray[np.int64]  # (E,)
    probability: NDArray[np.float64]  # (E,)


@dataclass
class _ScannedPiece:
    """The same of some lines of the file."""

    tails: Places
    names: Texts
    named: Places  # how many states come before each name
    actions: Texts
    owned: Places  # how many states before each action
    before: Places  # how many entries
    successor: Words
    probability: NDArray[np.float64]


def scan(content: bytes, start: int) -> Scanned | None:
    """Scan a model from `start` on; None where it is out of the ordinary."""
    states = entries = 0
    parts: list[_ScannedPiece] = []
    try:
        for low, high in _pieces(content, start):
            part = _scanned(np.frombuffer(content, np.uint8, high - low, low), states)
            part.tails += low
            part.before += entries
            parts.append(part)
            states += len(part.tails)
            entries += len(part.successor)
    except _Unusual:
        return None
    return _together(parts, entries) if parts else None


def _together(parts: list[_ScannedPiece], entries: int) -> Scanned | None:
    def whole(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    owner, before, named = whole("owned") - 1, whole("before"), whole("named") - 1
    if (len(owner) and owner[0] < 0) or (len(named) and named[0] < 0) or (before[:1] != 0).any():
        return None
    if entries and not len(owner):
        return None
    return Scanned(
        whole("tails"),
        Texts.joined([part.names for part in parts]),
        named,
        Texts.joined([part.actions for part in parts]),
        owner,
        np.append(before, entries),
        whole("successor").view(np.int64),
        whole("probability"),
    )


def _pieces(content: bytes, start: int) -> Iterator[tuple[int, int]]:
    """Cut a file into pieces of whole lines."""
    low = start
    while low < len(content):
        high = min(low + AT_ONCE, len(content))
        if high < len(content):
            high = content.rfind(b"\n", low, high) + 1
            if not high:
                raise _Unusual
        yield low, high
        low = high


def _scanned(piece: Bytes, states: int) -> _ScannedPiece:
    """Scan whole lines; so many `states` come before them."""
    if piece[-1] != NEWLINE:
        piece = np.append(piece, np.uint8(NEWLINE))
    words, end = windows(piece), np.flatnonzero(piece == NEWLINE)
    start = np.concatenate([[0], end[:-1] + 1])
    head = words[start]
    entry, action, state = head & TWO == TABS, head == ACTION, head & SIX == STATE
    if not (entry | action | state | (head & TWO == SLASHES) | (end == start)).all():
        raise _Unusual
    named = (head & THREE == NAMED) & (end - start > 3)
    named[named] = piece[end[named] - 1] == CLOSED  # others are comments
    count = states + np.cumsum(state)
    successor, probability = _entries(piece, words, start[entry] + 2, end[entry])
    return _ScannedPiece(
        tails=_tails(words, start[state] + 6, end[state], states),
        names=Texts.cut(piece, start[named] + 3, end[named] - 1),
        named=count[named],
        actions=Texts.cut(piece, start[action] + 8, end[action]),
        owned=count[action],
        before=np.cumsum(entry)[action],
        successor=successor,
        probability=probability,
    )


def _tails(words: Words, begin: Places, end: Places, states: int) -> Places:
    """Find what stands behind the numbers of states, which must be numbered through from `states` on."""
    number, behind = _whole_numbers(words, begin)
    after = words[behind] & ONE
    padded = (words[begin] & ONE == ZERO) & (behind - begin > 1)  # 007
    if padded.any() or (number != np.arange(states, states + len(begin), dtype=np.uint64)).any():
        raise _Unusual
    if not ((after == BLANK) | (behind == end)).all():
        raise _Unusual
    return np.column_stack([behind, end])


def _whole_numbers(words: Words, begin: Places) -> tuple[Words, Places]:
    """Read whole numbers of up to eight digits, and where they end."""
    found = words[begin]
    length = leading_digits(found)
    if not (length > 0).all():
        raise _Unusual
    return digits(found, length)[0], begin + length


def _entries(piece: Bytes, words: Words, begin: Places, end: Places) -> tuple[Words, NDArray[np.float64]]:
    """Read entries: a successor, a colon and a probability in every line."""
    successor, behind = _whole_numbers(words, begin)
    at = behind + 3
    if not (words[behind] & THREE == BETWEEN).all():
        raise _Unusual
    first = words[at] & ONE
    if not ((first >= ZERO) & (first <= NINE)).all():  # there is a number: of as many numbers, one in each line
        raise _Unusual
    probability, settled = decimals(words, at, end)
    left = np.flatnonzero(~settled)
    if len(left):
        texts = [piece[a:b].tobytes() for a, b in zip(at[left].tolist(), end[left].tolist(), strict=True)]
        numbers = numbers_in(b" ".join(texts))
        if len(numbers) != len(left):
            raise _Unusual
        probability[left] = numbers
        for k in np.flatnonzero(numbers == 0).tolist():
            probability[left[k]] = least_of(texts[k].decode())
    return successor, probability
