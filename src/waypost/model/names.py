"""Names by the million: kept as arrays, written out when somebody reads one.

A model of a million states is mostly asked for numbers, and a few of its names. So the names of states that came as
text stay the bytes they came as (`Texts`), and those of choices are numbers in a short table of words
(`CodedActions`). That names are distinct is checked on the arrays.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

FEW, CHUNK = 128, 4096  # names made at a time: at first, and later, when many are wanted
LONG = 256  # bytes from which names are compared as text: one array for every eight of them would not pay

_WORD = 8  # bytes
_MASKS = np.array([2 ** (8 * k) - 1 for k in range(_WORD + 1)], np.uint64)  # the first so many bytes


class LazyNames(Sequence[str]):
    """Names that are made when somebody reads them; to everyone who does, the tuple of them."""

    ITEMS = str  # so that `waypost.arguments` makes none of them to see what they are

    @abstractmethod
    def made(self, places: NDArray[np.int64] | slice) -> list[str]:
        """Write out the names in some places."""

    @abstractmethod
    def find(self, name: str) -> int | None:
        """Position of a name; None if there is none."""

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> str | tuple[str, ...]:
        if isinstance(at, slice):
            return tuple(self.made(np.arange(*at.indices(len(self)))))
        place = int(at)
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._one(place % len(self))

    def _one(self, place: int) -> str:
        return self.made(np.array([place]))[0]

    def __iter__(self) -> Iterator[str]:
        start, size = 0, FEW
        while start < len(self):
            stop = min(start + size, len(self))
            yield from self.made(slice(start, stop))
            start, size = stop, min(2 * size, CHUNK)

    def __contains__(self, name: object) -> bool:
        found = self.find(name) if isinstance(name, str) else None
        return found is not None and self[found] == name

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, LazyNames | tuple) or len(self) != len(other):
            return NotImplemented if not isinstance(other, LazyNames | tuple) else False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def index(self, name: str, start: int = 0, stop: int | None = None) -> int:
        """Position of a name."""
        found = self.find(name)
        if found is None or self[found] != name or not start <= found < (len(self) if stop is None else stop):
            raise ValueError(name)
        return found


class Texts(LazyNames):
    """Texts whose UTF-8 bytes lie side by side, one from ``first[k]`` to ``first[k + 1]``.

    >>> names = Texts(b"wonlost", np.array([0, 3, 7]))
    >>> names[1], names == ("won", "lost"), names.find("lost"), names.distinct
    ('lost', True, 1, True)
    """

    def __init__(self, content: bytes, first: NDArray[np.int64]) -> None:
        self.content, self.first = content, first

    @classmethod
    def cut(cls, content: NDArray[np.uint8], begin: NDArray[np.int64], end: NDArray[np.int64]) -> Texts:
        """Cut texts out of the bytes of a file.

        >>> list(Texts.cut(np.frombuffer(b"x [won] [lost]", np.uint8), np.array([3, 9]), np.array([6, 13])))
        ['won', 'lost']
        """
        first = np.concatenate([[0], np.cumsum(end - begin)])
        places = np.arange(first[-1]) + np.repeat(begin - first[:-1], end - begin)
        return cls(content[places].tobytes(), first)

    @classmethod
    def joined(cls, parts: Sequence[Texts]) -> Texts:
        """Texts of several, one after another."""
        length = np.concatenate([np.diff(part.first) for part in parts])
        return cls(b"".join(part.content for part in parts), np.concatenate([[0], np.cumsum(length)]))

    def __len__(self) -> int:
        return len(self.first) - 1

    def __repr__(self) -> str:
        return f"Texts({len(self)} texts)"

    def made(self, places: NDArray[np.int64] | slice) -> list[str]:
        """Decode some of the texts."""
        if isinstance(places, slice):
            ends = self.first[places.start : places.stop + 1].tolist()
            part = self.content[ends[0] : ends[-1]]
            if part.isascii():  # then characters lie where bytes do
                whole, low = part.decode(), ends[0]
                return [whole[a - low : b - low] for a, b in pairwise(ends)]
            return [self.content[a:b].decode() for a, b in pairwise(ends)]
        bounds = zip(self.first[places].tolist(), self.first[places + 1].tolist(), strict=True)
        return [self.content[a:b].decode() for a, b in bounds]

    def _one(self, place: int) -> str:
        return self.content[self.first[place] : self.first[place + 1]].decode()

    def find(self, name: str) -> int | None:
        """Position of a text: among those of its length, those that have its bytes, eight at a time."""
        try:
            wanted = name.encode()
        except UnicodeEncodeError:  # half a character is in no file
            return None
        places = np.flatnonzero(np.diff(self.first) == len(wanted))
        words = windows(self.content)
        for at in range(0, len(wanted), _WORD):
            part = wanted[at : at + _WORD]
            there = words[self.first[places] + at] & _MASKS[len(part)]
            places = places[there == np.uint64(int.from_bytes(part, "little"))]
        return int(places[0]) if len(places) else None

    @cached_property
    def distinct(self) -> bool:
        """Whether no two texts are equal."""
        mixed = self._mixed()
        if mixed is not None and all_distinct(mixed):
            return True
        return len(set(self)) == len(self)  # different texts may mix to equal numbers

    def coded(self) -> tuple[NDArray[np.int64], list[str]]:
        """Number of each text in a table of the different ones, in the order in which they first come, and the table.

        >>> Texts(b"gostaygo", np.array([0, 2, 6, 8])).coded()
        (array([0, 1, 0]), ['go', 'stay'])
        """
        mixed = self._mixed()
        if mixed is not None and len(mixed):
            ordered = np.sort(mixed)
            different = ordered[np.append(True, ordered[1:] != ordered[:-1])]
            code = np.searchsorted(different, mixed)
            first = np.empty(len(different), np.int64)
            first[code[::-1]] = np.arange(len(code))[::-1]  # of several, the last one written stays
            if self._alike(first[code]):
                order = np.argsort(first)
                rank = np.empty_like(order)
                rank[order] = np.arange(len(order))
                return rank[code], self.made(first[order])
        number: dict[str, int] = {}
        return np.array([number.setdefault(text, len(number)) for text in self], np.int64), list(number)

    def _mixed(self) -> NDArray[np.uint64] | None:
        """(n,) one number for each text, equal for equal ones; None where they are too long for that."""
        mixed = np.diff(self.first).astype(np.uint64)
        if mixed.max(initial=0) > LONG:
            return None
        for column in self._columns():
            mixed = mix(mixed, column)
        return mixed

    def _alike(self, places: NDArray[np.int64]) -> bool:
        """Whether every text is equal to the one in another place."""
        length = np.diff(self.first)
        return bool((length == length[places]).all() and all((c == c[places]).all() for c in self._columns()))

    def _columns(self) -> Iterator[NDArray[np.uint64]]:
        """Eight bytes of every text after another; behind its end come zeros."""
        words, length = windows(self.content), np.diff(self.first)
        for at in range(0, int(length.max(initial=0)), _WORD):
            left = np.minimum(np.maximum(length - at, 0), _WORD)
            yield words[self.first[:-1] + np.minimum(at, length)] & _MASKS[left]


class CodedActions(LazyNames):
    """Names of choices by their numbers in a table, as files have them.

    >>> actions = CodedActions(np.array([1, 0, 1]), ("go", "stay"))
    >>> actions[0], tuple(actions), actions.find("go")
    ('stay', ('stay', 'go', 'stay'), 1)
    """

    def __init__(
        self, codes: NDArray[np.int64] | NDArray[np.int32], words: Sequence[str], *, told_apart: bool = False
    ) -> None:
        self.codes = codes  # (C,)
        self.words = words  # distinct
        self.told_apart = told_apart  # whether it is known that no state has two choices of one name

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"CodedActions({len(self)} of {len(self.words)} names)"

    def made(self, places: NDArray[np.int64] | slice) -> list[str]:
        """Write out some of the names."""
        return [self.words[k] for k in self.codes[places].tolist()]

    def _one(self, place: int) -> str:
        return str(self.words[int(self.codes[place])])

    def find(self, name: str) -> int | None:
        """Position of the first choice of a name."""
        if name not in self.words:
            return None
        found = np.flatnonzero(self.codes == self.words.index(name))
        return int(found[0]) if len(found) else None

    def twins(self, first: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of the choices that have the name of an earlier one of their state."""
        rising = self.codes[1:] > self.codes[:-1]
        rising[first[(first > 0) & (first < len(self.codes))] - 1] = True  # where a state begins
        falls = np.flatnonzero(~rising) + 1
        if not len(falls):  # in every state the numbers rise: none comes twice
            return falls
        some = np.unique(np.searchsorted(first, falls, side="right") - 1)  # the states to look at
        owned = first[some + 1] - first[some]
        owner = np.repeat(some, owned)
        choice = np.arange(len(owner)) + np.repeat(first[some] - (np.cumsum(owned) - owned), owned)
        key = owner * len(self.words) + self.codes[choice]
        order = np.argsort(key, kind="stable")
        return np.asarray(choice[order[1:][key[order[1:]] == key[order[:-1]]]])


Names = tuple[str, ...] | LazyNames


def some_of(names: Names, places: NDArray[np.int64]) -> Names:
    """Names in some places, in their order.

    >>> some_of(("a", "b", "c"), np.array([2, 0]))
    ('c', 'a')
    """
    if isinstance(names, CodedActions):
        return CodedActions(names.codes[places], names.words)
    return tuple(names.made(places) if isinstance(names, LazyNames) else [names[k] for k in places.tolist()])


def renamed(names: Names, places: NDArray[np.int64], name: str) -> Names:
    """Names, with one `name` in some places.

    >>> renamed(("a", "b", "c"), np.array([2, 0]), "end")
    ('end', 'b', 'end')
    >>> tuple(renamed(CodedActions(np.array([1, 0, 1]), ("go", "stay")), np.array([0]), "end"))
    ('end', 'go', 'stay')
    """
    if isinstance(names, CodedActions):
        words = names.words if name in names.words else (*names.words, name)
        codes = names.codes.copy()
        codes[places] = words.index(name)
        return CodedActions(codes, words, told_apart=names.told_apart)
    listed = list(names)
    for place in places.tolist():
        listed[place] = name
    return tuple(listed)


def windows(content: bytes | NDArray[np.uint8]) -> NDArray[np.uint64]:
    """(n + 1,) the eight bytes from every place on as a number, the first byte its lowest; zeros follow the last one.

    >>> hex(windows(b"ab")[0])
    '0x6261'
    """
    padded = np.zeros(len(content) + _WORD, np.uint8)
    padded[: len(content)] = np.frombuffer(content, np.uint8)
    return np.ndarray((len(content) + 1,), "<u8", padded, strides=(1,))


def mix(mixed: NDArray[np.uint64], column: NDArray[Any]) -> NDArray[np.uint64]:
    """Numbers with a column more mixed in: equal rows give equal numbers, different ones hardly ever."""
    mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)
    mixed ^= mixed >> np.uint64(29)
    return mixed


def all_distinct(numbers: NDArray[Any]) -> bool:
    """Whether no number comes twice; they are put in order on the way."""
    numbers.sort()
    return bool((numbers[1:] != numbers[:-1]).all())
