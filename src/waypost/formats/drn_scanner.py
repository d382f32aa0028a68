"""Large DRN files in one pass over their bytes, by machine code; what is out of the ordinary is left to `formats.drn`.

A line is an entry (``3 : 0.25``), an action, a state or a comment. The scanner notes where names stand and reads the
numbers that have few enough digits to be exact: a whole number below 2^53, divided or multiplied once by a power of ten
that is exact itself, is rounded once, and so rounded correctly. Names that come again are found by a hash and compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.graph.compiled import kernel

TENS = np.array([10.0**k for k in range(23)])
EXACT = 2**53
NO_NUMBER, NEWLINE, BLANK, TAB, RETURN, DOT, COLON, QUOTE, BRACKET, CLOSED = -1, 10, 32, 9, 13, 46, 58, 34, 91, 93
SLASH, ZERO, NINE, SMALL_E, BIG_E, MINUS, PLUS = 47, 48, 57, 101, 69, 45, 43
_ACTION, _STATE = np.frombuffer(b"action", np.uint8), np.frombuffer(b"state", np.uint8)


@dataclass
class Scanned:
    """What stands where in the bytes of a file."""

    names: NDArray[np.int64]  # (S, 4) start, end and hash of each state's name, and whether it has a quote or a tab
    tails: NDArray[np.int64]  # (S, 3) the same of what stands behind the number of each state
    actions: NDArray[np.int64]  # (C, 3) the same of the names of actions
    owner: NDArray[np.int64]  # (C,) state of each action
    first_entry: NDArray[np.int64]  # (C + 1,)
    successor: NDArray[np.int64]  # (E,)
    probability: NDArray[np.float64]  # (E,)
    slow: NDArray[np.bool_]  # (E,) whose probability is still to be read
    value: NDArray[np.int64]  # (E, 2) start and end of the text of each probability


def scan(data: NDArray[np.uint8], start: int) -> Scanned | None:
    """Scan the bytes of a model from `start` on; None where they are out of the ordinary."""
    states, choices, entries = _counted.compiled(data, start)
    found = Scanned(
        names=np.full((states, 4), -1, np.int64),  # without a name, the start is -1
        tails=np.empty((states, 3), np.int64),
        actions=np.empty((choices, 3), np.int64),
        owner=np.empty(choices, np.int64),
        first_entry=np.empty(choices + 1, np.int64),
        successor=np.empty(entries, np.int64),
        probability=np.empty(entries),
        slow=np.zeros(entries, np.bool_),
        value=np.empty((entries, 2), np.int64),
    )
    ordinary = _scanned.compiled(
        data,
        start,
        found.names,
        found.tails,
        found.actions,
        found.owner,
        found.first_entry,
        found.successor,
        found.probability,
        found.slow,
        found.value,
    )
    return found if ordinary else None


def grouped(data: NDArray[np.uint8], texts: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[bytes]] | None:
    """(n,) the number of each text among the different ones, and these; None where two share a hash."""
    order = np.argsort(texts[:, 2], kind="stable")
    key = texts[order, 2]
    new = np.concatenate([[True], key[1:] != key[:-1]])
    number = np.empty(len(texts), np.int64)
    number[order] = np.cumsum(new) - 1
    kept = texts[order[new]]
    if not _same.compiled(data, texts, kept, number):
        return None
    return number, [data[a:b].tobytes() for a, b in kept[:, :2].tolist()]


@kernel
def _counted(data, start):  # type: ignore[no-untyped-def]
    """Count lines that look like states, actions and entries."""
    states, choices, entries, at, n = 0, 0, 0, start, len(data)
    while at < n:
        while at < n and (data[at] == BLANK or data[at] == TAB):
            at += 1
        if at < n:
            sign = data[at]
            if ZERO <= sign <= NINE:
                entries += 1
            elif sign == _ACTION[0]:
                choices += 1
            elif sign == _STATE[0]:
                states += 1
        while at < n and data[at] != NEWLINE:
            at += 1
        at += 1
    return states, choices, entries


@kernel
def _trimmed(data, at, end):  # type: ignore[no-untyped-def]
    """Start and end of a text without the blanks around it."""
    while at < end and (data[at] == BLANK or data[at] == TAB):
        at += 1
    while end > at and (data[end - 1] == BLANK or data[end - 1] == TAB or data[end - 1] == RETURN):
        end -= 1
    return at, end


@kernel
def _hashed(data, at, end):  # type: ignore[no-untyped-def]
    found = np.int64(end - at)
    for k in range(at, end):
        found = found * np.int64(1000003) + np.int64(data[k])
        found ^= found >> np.int64(29)
    return found


@kernel
def _noted(data, texts, k, at, end):  # type: ignore[no-untyped-def]
    texts[k, 0] = at
    texts[k, 1] = end
    texts[k, 2] = _hashed(data, at, end)


@kernel
def _whole(data, at, end):  # type: ignore[no-untyped-def]
    """Read a whole number of at most 15 digits; its end, or -1 where there is none."""
    number, first = np.int64(0), at
    while at < end and ZERO <= data[at] <= NINE:
        number = number * np.int64(10) + np.int64(data[at] - ZERO)
        at += 1
    return (number, at) if 0 < at - first <= 15 else (np.int64(0), NO_NUMBER)


@kernel
def _decimal(data, at, end):  # type: ignore[no-untyped-def]
    """Read a decimal number, and whether it could be: not if it takes more than one rounding, or is something else."""
    number, digits, power, seen = np.int64(0), 0, 0, False
    while at < end and (ZERO <= data[at] <= NINE or (data[at] == DOT and not seen)):
        if data[at] == DOT:
            seen = True
        else:
            if digits == 18:
                return 0.0, False
            number = number * np.int64(10) + np.int64(data[at] - ZERO)
            digits += 1 if number > 0 or digits > 0 else 0
            power -= 1 if seen else 0
        at += 1
    if at < end and (data[at] == SMALL_E or data[at] == BIG_E):
        at += 1
        sign = 1
        if at < end and (data[at] == MINUS or data[at] == PLUS):
            sign = -1 if data[at] == MINUS else 1
            at += 1
        more, at = _whole(data, at, end)
        if at == NO_NUMBER or more > 400:
            return 0.0, False
        power += sign * more
    if at != end or number > EXACT or power < -22 or power > 22:
        return 0.0, False
    return (number / TENS[-power] if power < 0 else number * TENS[power]), True


@kernel
def _begins(data, at, end, word):  # type: ignore[no-untyped-def]
    if end - at < len(word):
        return False
    for k in range(len(word)):
        if data[at + k] != word[k]:
            return False
    return at + len(word) == end or data[at + len(word)] == BLANK or data[at + len(word)] == TAB


@kernel
def _scanned(  # type: ignore[no-untyped-def]
    data, start, names, tails, actions, owner, first_entry, successor, probability, slow, value
):
    """Fill the arrays; whether nothing was out of the ordinary."""
    state, choice, entry, at, n = -1, -1, -1, start, len(data)
    while at < n:
        end = at
        while end < n and data[end] != NEWLINE:
            end += 1
        a, b = _trimmed(data, at, end)
        at = end + 1
        if a == b:
            continue
        if ZERO <= data[a] <= NINE:
            if choice < 0:
                return False
            entry += 1
            goal, c = _whole(data, a, b)
            if c == NO_NUMBER:
                return False
            c, _ = _trimmed(data, c, b)
            if c >= b or data[c] != COLON:
                return False
            c, b = _trimmed(data, c + 1, b)
            if c == b:
                return False
            successor[entry] = goal
            probability[entry], read = _decimal(data, c, b)
            slow[entry] = not read
            value[entry, 0] = c
            value[entry, 1] = b
        elif _begins(data, a, b, _ACTION):
            if state < 0:
                return False
            choice += 1
            owner[choice] = state
            first_entry[choice] = entry + 1
            c, b = _trimmed(data, a + len(_ACTION), b)
            _noted(data, actions, choice, c, b)
        elif _begins(data, a, b, _STATE):
            state += 1
            c, b = _trimmed(data, a + len(_STATE), b)
            number, c = _whole(data, c, b)
            if c == NO_NUMBER or number != state:
                return False
            c, b = _trimmed(data, c, b)
            _noted(data, tails, state, c, b)
        elif b - a > 1 and data[a] == SLASH and data[a + 1] == SLASH:
            if b - a > 3 and data[a + 2] == BRACKET and data[b - 1] == CLOSED:
                if state < 0:
                    return False
                _noted(data, names, state, a + 3, b - 1)
                names[state, 3] = 0
                for k in range(a + 3, b - 1):
                    if data[k] == QUOTE or data[k] == TAB:
                        names[state, 3] = 1
        else:
            return False
    first_entry[choice + 1] = entry + 1
    return choice + 1 == len(owner) and state + 1 == len(names) and entry + 1 == len(successor)


@kernel
def _same(data, texts, kept, number):  # type: ignore[no-untyped-def]
    """Whether every text is the one that stands for its hash."""
    for k in range(len(texts)):
        a, b = texts[k, 0], texts[k, 1]
        c = kept[number[k], 0]
        if kept[number[k], 1] - c != b - a:
            return False
        for i in range(b - a):
            if data[a + i] != data[c + i]:
                return False
    return True


@kernel
def _gathered(data, value, slow, out):  # type: ignore[no-untyped-def]
    """Fill `out` with the texts of probabilities, a blank behind each; whether none of them is a fraction."""
    at = 0
    for k in slow:
        for i in range(value[k, 0], value[k, 1]):
            if data[i] == SLASH:
                return False
            out[at] = data[i]
            at += 1
        out[at] = BLANK
        at += 1
    return True


def slow_numbers(data: NDArray[np.uint8], found: Scanned) -> tuple[NDArray[Any], str] | None:
    """Positions of the entries whose probability is still to be read, and their texts; None where one is a fraction."""
    slow = np.flatnonzero(found.slow)
    length = found.value[slow, 1] - found.value[slow, 0]
    out = np.empty(int(length.sum()) + len(slow), np.uint8)
    return (slow, out.tobytes().decode()) if _gathered.compiled(data, found.value, slow, out) else None
