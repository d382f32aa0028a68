"""Where activities come in the variants of a log, and which variants match a pattern of them.

Whether a case has "A, later B" follows from the first place of A and the last place of B; so do most orders of two
steps. So all pairs of activities are counted at once, for good and for bad cases, without a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from waypost.logs import Variants
from waypost.model.arrays import Floats, Ints, Mask

EventPlaces = NDArray[np.int32]  # of events in their variants
NEVER = np.iinfo(np.int32).max

# orders of two activities A and B, each with those that it is a special case of; "a" and "b" are having A, having B
PAIRS = {
    "both": ("a", "b"),
    "without": ("a", "lacks b"),
    "later": ("both", "a", "b"),
    "direct": ("later", "both", "a", "b"),
    "response": ("later", "both", "a", "b"),
    "precedence": ("later", "both", "a", "b"),
}


@dataclass(frozen=True, eq=False)
class Occurrences:
    """First and last places of some activities in every variant of a log, and how often they come."""

    variant: Ints  # (E,) of each event that is one of the activities
    place: Ints  # (E,) among all events of its variant
    code: Ints  # (E,) its activity
    n_variants: int
    n_names: int

    @classmethod
    def of(cls, seen: Variants, names: Sequence[str], until: Ints | None = None) -> Occurrences:
        """Occurrences of activities by name, in each variant those before the place that `until` (V,) says."""
        number = {name: k for k, name in enumerate(names)}
        position = np.array([number.get(name, -1) for name in seen.activities], np.int64)
        place = np.arange(len(seen.kind)) - seen.first[seen.variant]
        code = position[seen.code]
        kept = code >= 0
        if until is not None:
            kept &= place < until[seen.variant]
        return cls(seen.variant[kept], place[kept], code[kept], len(seen), len(names))

    @cached_property
    def first(self) -> EventPlaces:
        """(V, K) place of the first occurrence, NEVER where there is none."""
        return self._places(self._key, self.place, NEVER).reshape(self.n_variants, self.n_names)

    @cached_property
    def last(self) -> EventPlaces:
        """(V, K) place of the last occurrence, -1 where there is none."""
        return self._places(self._key[::-1], self.place[::-1], -1).reshape(self.n_variants, self.n_names)

    @cached_property
    def _key(self) -> Ints:
        return self.variant * self.n_names + self.code

    def _places(self, key: Ints, place: Ints, missing: int) -> EventPlaces:
        """(V * K,) the first place that is given for each key."""
        return first_given(key, place, self.n_variants * self.n_names, missing)

    @cached_property
    def present(self) -> Mask:
        """(V, K) which variant has which activity."""
        return np.asarray(self.last >= 0)

    @cached_property
    def times(self) -> Ints:
        """(V, K) how often each activity comes."""
        flat = np.bincount(self._key, minlength=self.n_variants * self.n_names)
        return flat.reshape(self.n_variants, self.n_names)

    def pairs(self, a: int, kind: str, others: slice | int = slice(None)) -> Mask:
        """(V, K) which variants have activity `a` in an order with each of the others, or (V,) with one."""
        first, last, present = self.first[:, a], self.last[:, a], self.present[:, a]
        if not isinstance(others, int):
            first, last, present = first[:, None], last[:, None], present[:, None]
        if kind == "both":
            return present & self.present[:, others]
        if kind == "without":
            return present & ~self.present[:, others]
        if kind == "later":
            return first < self.last[:, others]
        if kind == "response":
            return present & (last < self.last[:, others])
        if kind == "precedence":
            return self.present[:, others] & (first < self.first[:, others])
        return self._followed(a)[:, others]

    def _followed(self, a: int) -> Mask:
        """(V, K) which variants have `a` directly followed by each of the activities."""
        found = np.zeros((self.n_variants, self.n_names), bool)
        here = np.flatnonzero((self.code[:-1] == a) & self._adjacent)
        found[self.variant[here], self.code[here + 1]] = True
        return found

    @cached_property
    def _adjacent(self) -> Mask:
        """(E - 1,) whether the next event kept comes right after this one, in the same variant."""
        return np.asarray((np.diff(self.variant) == 0) & (np.diff(self.place) == 1))

    def matches(self, a: int, b: int, *, direct: bool) -> tuple[EventPlaces, EventPlaces]:
        """(V,) place of B in the first match of A and then B, and of A in the last one; NEVER and -1 without any."""
        if direct:
            ending = np.flatnonzero((self.code[:-1] == a) & (self.code[1:] == b) & self._adjacent) + 1
            starting = ending - 1
        else:
            ending = np.flatnonzero((self.code == b) & (self.place > self.first[self.variant, a]))
            starting = np.flatnonzero((self.code == a) & (self.place < self.last[self.variant, b]))
        ends = first_given(self.variant[ending], self.place[ending], self.n_variants, NEVER)
        backwards = starting[::-1]
        return ends, first_given(self.variant[backwards], self.place[backwards], self.n_variants, -1)


def first_given(key: Ints, value: Ints, size: int, missing: int) -> EventPlaces:
    """(size,) the first value that is given for each key, `missing` where none is.

    >>> first_given(np.array([2, 0, 2]), np.array([5, 6, 7]), 4, -1).tolist()
    [6, -1, 5, -1]
    """
    found = np.full(size, missing, np.int32)
    keys, at = np.unique(key, return_index=True)
    found[keys] = value[at]
    return found


def counted(has: Mask, weight: Floats) -> Floats:
    """(..., 2) good and bad cases of the variants that have something; `has` is (V, ...), `weight` (V, 2)."""
    return np.asarray(np.moveaxis(weight.T @ has.astype(float), 0, -1))
