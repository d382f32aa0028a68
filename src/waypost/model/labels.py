"""The labels of a model: where each holds, as a mask over the states that is made when somebody reads it.

A model learned from traces may have as many labels as states, each of them in one state: written out as masks they
would take the square of that. So a label is kept as the positions of its states where those take less room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from waypost.errors import ModelError

LITTLE = 1024  # bytes that are not worth saving: a mask is read more quickly than it is made


class Labels(Mapping[str, NDArray[np.bool_]]):
    """Mask ``(S,)`` of each label, read-only; to everyone who reads it, a dictionary of them.

    >>> labels = Labels(3, {"end": np.array([False, True, True])})
    >>> labels["end"], list(labels), labels.at(2)
    (array([False,  True,  True]), ['end'], ('end',))
    """

    def __init__(self, n_states: int, masks: Mapping[str, ArrayLike] | None = None) -> None:
        self.n_states = n_states
        self._kept: dict[str, NDArray[Any]] = {}  # a mask, or the positions of the states in ascending order
        for name, mask in (masks or {}).items():
            there = np.asarray(mask, bool)
            if there.shape != (n_states,):
                raise ModelError(f"label {name!r} is given for {there.shape} states, not {n_states}")
            if self._sparse(int(np.count_nonzero(there))):
                self._keep(str(name), np.flatnonzero(there).astype(np.int32))
            else:
                self._keep(str(name), there if _for_good(mask) else np.array(there))

    @classmethod
    def of(cls, n_states: int, holding: Mapping[str, Iterable[int]]) -> Labels:
        """Labels from the states in which each holds.

        >>> Labels.of(3, {"end": [2, 1]})["end"]
        array([False,  True,  True])
        """
        found = cls(n_states)
        for name, given in holding.items():
            states = np.unique(np.fromiter(given, np.int32))
            found._keep(name, states if found._sparse(len(states)) else found._mask(states))
        return found

    def _sparse(self, members: int) -> bool:
        """Whether the positions of so many states take less room than a mask."""
        return LITTLE + 4 * members < self.n_states < 2**31

    def _keep(self, name: str, kept: NDArray[Any]) -> None:
        kept.setflags(write=False)
        self._kept[name] = kept

    def _mask(self, states: NDArray[Any]) -> NDArray[np.bool_]:
        mask = np.zeros(self.n_states, bool)
        mask[states] = True
        mask.setflags(write=False)
        return mask

    def __getitem__(self, name: str) -> NDArray[np.bool_]:
        kept = self._kept[name]
        return kept if kept.dtype == bool else self._mask(kept)

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, name: object) -> bool:
        return name in self._kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for kept in self._kept.values():
            kept.setflags(write=False)  # arrays come back writable

    def __repr__(self) -> str:
        return f"Labels({', '.join(map(repr, self._kept))})"

    def states(self, name: str) -> NDArray[np.int64]:
        """Positions of the states in which a label holds, in ascending order."""
        kept = self._kept[name]
        return np.flatnonzero(kept) if kept.dtype == bool else kept.astype(np.int64)

    def at(self, state: int) -> tuple[str, ...]:
        """Labels that hold in a state."""
        first, label = self._by_state
        return tuple(self._names[k] for k in label[first[state] : first[state + 1]].tolist())

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self._kept)

    @cached_property
    def _by_state(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(S + 1,) where the labels of each state begin, and these."""
        members = [self.states(name) for name in self._kept]
        state = np.concatenate([*members, np.empty(0, np.int64)])
        label = np.repeat(np.arange(len(members)), [len(each) for each in members])
        order = np.argsort(state, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(state, minlength=self.n_states))])
        return first, label[order]


def labelling(masks: Mapping[str, ArrayLike], n_states: int) -> Labels:
    """Labels of a model with so many states, checked; those of another model stay as they are."""
    if isinstance(masks, Labels) and masks.n_states == n_states:
        return masks
    return Labels(n_states, masks)


def _for_good(mask: ArrayLike) -> bool:
    """Whether nobody can write to a mask: it need not be copied."""
    return isinstance(mask, np.ndarray) and mask.dtype == bool and mask.base is None and not mask.flags.writeable
