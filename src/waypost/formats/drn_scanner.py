"""DRN files as they are written, by whole arrays of bytes; what is out of the ordinary is left to `formats.drn`.

A line is an entry (two tabs, ``3 : 0.25``), an action (one tab), a state or a comment, which its first two bytes tell.
Entries are cut out and their numbers are read in one go, in large files by machine code (`formats.decimals`), which
takes a fifth of a second to load; of the names, the places are noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.formats.lexical import least_of, numbers_in

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]  # (n, 2) start and end of texts

AT_ONCE = 1 << 20  # bytes: what is made of them stays near the processor
LARGE = 32 << 20  # bytes from which machine code pays
NEWLINE, BLANK, TAB, COLON, SLASH, OPENED, CLOSED, ZERO, NINE = b"\n \t:/[]09"
ACTION, STATE = b"\taction ", b"state "


class _Unusual(Exception):  # noqa: N818
    """Something is not where it mostly is."""


@dataclass
class Scanned:
    """What stands where in the bytes of a file."""

    tails: Places  # what stands behind the number of each state
    names: Places  # names of the states; -1 where there is none
    actions: Places  # names of the actions
    owner: NDArray[np.int64]  # (C,) state of each action
    first_entry: NDArray[np.int64]  # (C + 1,)
    successor: NDArray[np.int64]  # (E,)
    probability: NDArray[np.float64]  # (E,)


@dataclass
class _ScannedPiece:
    """The same of some lines of the file, counted from its first line."""

    tails: Places
    names: Places
    named: NDArray[np.int64]  # how many states come before each name
    actions: Places
    owned: NDArray[np.int64]  # how many before each action
    before: NDArray[np.int64]  # how many entries
    numbers: NDArray[np.float64]  # (entries, 2) successors and probabilities


def scan(data: Bytes, start: int) -> Scanned | None:
    """Scan the bytes of a model from `start` on; None where they are out of the ordinary."""
    states = entries = 0
    parts: list[_ScannedPiece] = []
    try:
        for low, high in _pieces(data, start):
            part = _scanned(data[low:high], states, large=len(data) >= LARGE)
            part.tails += low
            part.names += low
            part.actions += low
            part.before += entries
            parts.append(part)
            states += len(part.tails)
            entries += len(part.numbers)
    except _Unusual:
        return None
    if not parts:
        return None
    return _together(parts, states, entries)


def _together(parts: list[_ScannedPiece], states: int, entries: int) -> Scanned | None:
    def whole(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    names = np.full((states, 2), -1, np.int64)
    owner, before, numbers, named = whole("owned") - 1, whole("before"), whole("numbers"), whole("named") - 1
    if (len(owner) and owner[0] < 0) or (len(named) and named[0] < 0) or (before[:1] != 0).any():
        return None
    names[named] = whole("names")
    if (entries and not len(owner)) or not (numbers[:, 0] < 2**53).all():
        return None
    successor = numbers[:, 0].astype(np.int64)
    if (successor != numbers[:, 0]).any():
        return None
    first_entry = np.append(before, entries)
    return Scanned(whole("tails"), names, whole("actions"), owner, first_entry, successor, numbers[:, 1].copy())


def _pieces(data: Bytes, start: int) -> Iterator[tuple[int, int]]:
    """Cut the bytes into pieces of whole lines."""
    low = start
    while low < len(data):
        high = min(low + AT_ONCE, len(data))
        if high < len(data):
            last = np.flatnonzero(data[low:high] == NEWLINE)
            if not len(last):
                raise _Unusual
            high = low + int(last[-1]) + 1
        yield low, high
        low = high


def _scanned(piece: Bytes, states: int, *, large: bool) -> _ScannedPiece:
    """Scan whole lines; so many `states` come before them."""
    if piece[-1] != NEWLINE:
        piece = np.append(piece, np.uint8(NEWLINE))
    end = np.flatnonzero(piece == NEWLINE)
    start = np.concatenate([[0], end[:-1] + 1])
    sign, next_sign = piece[start], piece[np.minimum(start + 1, len(piece) - 1)]
    tabbed = sign == TAB
    entry = tabbed & (next_sign == TAB)
    action, state, comment = tabbed & (next_sign == ACTION[1]), sign == STATE[0], sign == SLASH
    if not (entry | action | state | (comment & (next_sign == SLASH)) | (end == start)).all():
        raise _Unusual
    state_lines, action_lines = np.flatnonzero(state), np.flatnonzero(action)
    count = states + np.cumsum(state)
    name_lines = np.flatnonzero(comment & (end - start > 3))
    name_lines = name_lines[
        (piece[start[name_lines] + 2] == OPENED) & (piece[end[name_lines] - 1] == CLOSED)
    ]  # others are comments
    return _ScannedPiece(
        tails=_tails(piece, start[state_lines], end[state_lines], states),
        names=np.column_stack([start[name_lines] + 3, end[name_lines] - 1]),
        named=count[name_lines],
        actions=_actions(piece, start[action_lines], end[action_lines]),
        owned=count[action_lines],
        before=np.cumsum(entry)[action_lines],
        numbers=_numbers(piece[np.repeat(entry, end - start + 1)], np.cumsum((end - start + 1)[entry]), large=large),
    )


def _actions(piece: Bytes, start: NDArray[np.int64], end: NDArray[np.int64]) -> Places:
    """Find the names of actions."""
    length = len(ACTION)
    if (end - start < length).any() or any((piece[start + k] != ACTION[k]).any() for k in range(2, length)):
        raise _Unusual
    return np.column_stack([start + length, end])


def _tails(piece: Bytes, start: NDArray[np.int64], end: NDArray[np.int64], states: int) -> Places:
    """Find what stands behind the numbers of states, which must be numbered through from `states` on."""
    prefix = len(STATE)
    digits = start + prefix
    number = np.arange(states, states + len(start))
    width = np.ones(len(start), np.int64)
    for power in range(1, len(str(states + len(start)))):
        width += number >= 10**power
    if (end < digits + width).any() or any((piece[start + k] != STATE[k]).any() for k in range(1, prefix)):
        raise _Unusual
    for place in range(int(width.max(initial=0))):  # from the last digit on
        there = width > place
        if (piece[(digits + width - 1 - place)[there]] != ZERO + number[there] // 10**place % 10).any():
            raise _Unusual
    behind = digits + width
    if (piece[behind[behind < end]] != BLANK).any():
        raise _Unusual
    return np.column_stack([behind, end])


def _numbers(text: Bytes, until: NDArray[np.int64], *, large: bool) -> NDArray[np.float64]:
    """Read the numbers of entries, of which each ends before `until`: a successor and a probability in every line."""
    colon = np.flatnonzero(text == COLON)
    begin = np.concatenate([[0], until])[:-1]
    if len(colon) != len(until) or not ((begin + 4 <= colon) & (colon + 3 < until)).all():
        raise _Unusual
    for place in (begin + 2, colon + 2):  # there is a number on both sides: of twice as many numbers, one each
        if not ((text[place] >= ZERO) & (text[place] <= NINE)).all():
            raise _Unusual
    text[colon] = BLANK
    numbers = np.empty((len(until), 2))
    left = _settled(text, colon, until, numbers) if large else np.ones(len(until), bool)
    found = numbers_in(text[np.repeat(left, until - begin)].tobytes() if large else text.tobytes())
    if len(found) != 2 * np.count_nonzero(left):
        raise _Unusual
    numbers[left] = found.reshape(-1, 2)
    for k in np.flatnonzero(numbers[:, 1] == 0).tolist():
        numbers[k, 1] = least_of(text[colon[k] + 1 : until[k]].tobytes().decode())
    return numbers


def _settled(text: Bytes, colon: NDArray[np.int64], until: NDArray[np.int64], numbers: NDArray[Any]) -> Any:
    """Read the numbers of most entries by machine code; tell which are left."""
    from waypost.formats.decimals import read_entries

    goals, bits, left = np.empty(len(until), np.int64), np.empty(len(until), np.uint64), np.empty(len(until), bool)
    read_entries.compiled(text, colon, until, goals, bits, left)
    numbers[:, 0], numbers[:, 1] = goals, bits.view(np.float64)
    return left
