"""What must hold of a model before it is one: checked and put in order once, on the way in.

Every function here serves `waypost.model.MDP.from_triplets`; messages name the state, the action and the number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from waypost.arguments import shown
from waypost.errors import ArgumentError, ModelError
from waypost.model.names import CodedActions, Names, Texts
from waypost.model.valuations import StateNames, Variables

FINAL = "(final)"  # the self-loop of a state that has no action of its own
SUM_TOLERANCE = 1e-9  # a distribution further from 1 than this is rejected, others are normalised
AT_ONCE = 1 << 15  # choices that are checked together: what is computed on the way stays near the processor
ROUNDING = 2.0**-51  # per entry; nearer than this a sum is 1 but for rounding: building a model twice changes nothing


@dataclass
class Entries:
    """The non-zero probabilities on their way in, as parallel arrays."""

    choice: NDArray[np.int64]
    successor: NDArray[np.int64]
    probability: NDArray[np.float64]
    exact: NDArray[np.object_] | None
    counts: NDArray[np.int64] | None


class Choices(NamedTuple):
    """What is known of the choices once they are checked, by the names of the fields of an MDP."""

    transitions: csr_array
    first_choice: NDArray[np.int64]
    actions: Names
    exact: NDArray[np.object_] | None
    counts: NDArray[np.int64] | None


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Array, read-only."""
    array.setflags(write=False)
    return array


def column(name: str, given: ArrayLike | None, dtype: type) -> NDArray[Any]:
    """Numbers in a row, as an array.

    >>> column("successor", [0, 1], int)
    array([0, 1])
    >>> column("successor", "nobody", int)
    Traceback (most recent call last):
    ...
    waypost.errors.ArgumentError: successor is a list of numbers, not 'nobody'
    """
    try:
        found: NDArray[Any] = np.asarray(given, dtype)
    except (TypeError, ValueError, OverflowError):
        found = np.empty(())
    if found.ndim != 1:
        raise ArgumentError(f"{name} is a list of numbers, not {shown(given)}")
    return found


def _tally(names: Iterable[str]) -> dict[str, int]:
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    return seen


def with_final_choices(
    first: NDArray[np.int64], actions: list[str], entries: Entries
) -> tuple[NDArray[np.int64], list[str], Entries]:
    """Give every state without a choice a self-loop, in its place in the order."""
    owned = np.diff(first)
    if (owned < 0).any():
        raise ModelError("first_choice must not decrease")
    final = np.flatnonzero(owned == 0)
    if not len(final):
        return first, actions, entries
    new_first = np.concatenate([[0], np.cumsum(np.maximum(owned, 1))])
    owner = np.repeat(np.arange(len(owned)), owned)
    moved = new_first[owner] + (np.arange(len(actions)) - first[owner])  # where each old choice goes
    renamed = [FINAL] * int(new_first[-1])
    for new, action in zip(moved.tolist(), actions, strict=True):
        renamed[new] = action
    ones = np.ones(len(final))
    return (
        new_first,
        renamed,
        Entries(
            np.concatenate([moved[entries.choice] if len(entries.choice) else entries.choice, new_first[final]]),
            np.concatenate([entries.successor, final]),
            np.concatenate([entries.probability, ones]),
            None if entries.exact is None else np.concatenate([entries.exact, np.array([Fraction(1)] * len(final))]),
            None if entries.counts is None else np.concatenate([entries.counts, np.zeros(len(final), np.int64)]),
        ),
    )


def place_of(choice: int, first: NDArray[np.int64], states: Sequence[str], actions: Sequence[str]) -> str:
    """Choice by name, for messages."""
    state = int(np.searchsorted(first, choice, side="right")) - 1
    return f"action {actions[choice]!r} in state {states[state]!r}"


def is_number(given: Any) -> bool:
    """Whether a probability can be read; `Fraction` is what refuses most."""
    try:
        return bool(
            np.isfinite(float(Fraction(given if isinstance(given, str | Fraction | int) else repr(float(given)))))
        )
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        return False


def check_sizes(first: NDArray[np.int64], n_states: int, n_choices: int, initial: int) -> None:
    """Refuse numbers that do not fit each other."""
    if not n_states:
        raise ModelError("the model has no states")
    if not 0 <= initial < n_states:
        raise ModelError(f"initial state {initial} is not one of the {n_states} states")
    if len(first) != n_states + 1 or first[0] != 0 or first[-1] != n_choices:
        raise ModelError("first_choice does not fit the numbers of states and actions")


def check_states(states: Sequence[str]) -> None:
    """State names are unique."""
    if not (states.distinct if isinstance(states, StateNames | Texts) else len(set(states)) == len(states)):
        twice = next(name for name, n in _tally(states).items() if n > 1)
        raise ModelError(f"two states are called {twice!r}; state names must be unique")


def coded(actions: Sequence[str]) -> CodedActions:
    """Names of choices as numbers in a table."""
    number = {name: k for k, name in enumerate(dict.fromkeys(actions))}
    return CodedActions(np.array(list(map(number.__getitem__, actions)), np.int64), tuple(number))


def as_given(
    first: NDArray[np.int64],
    pointer: NDArray[np.int64],
    successor: NDArray[Any],
    probability: NDArray[np.float64],
    states: int,
) -> csr_array | None:
    """Transitions that come as a model keeps them; None where something is to be put right, or complained of.

    Every state has a choice, every choice a distribution: rising successors, positive numbers, their sum 1 but for
    rounding.

    >>> as_given(np.array([0, 1]), np.array([0, 1]), np.array([0]), np.array([1.0]), 1).toarray()
    array([[1.]])
    """
    if not (len(first) == states + 1 and _rising(first) and len(pointer) > 1 and successor.dtype == np.int64):
        return None
    if not pointer[0] == 0 <= pointer[-1] == len(successor) == len(probability):
        return None
    for low in range(0, len(pointer) - 1, AT_ONCE):
        if not _as_kept(pointer[low : low + AT_ONCE + 1], successor, probability, states):
            return None
    rows = csr_array((probability, successor, pointer), shape=(len(pointer) - 1, states))
    rows.has_canonical_format = True
    return rows


def _as_kept(
    pointer: NDArray[np.int64], successor: NDArray[np.int64], probability: NDArray[np.float64], states: int
) -> bool:
    """Whether some choices are as a model keeps them."""
    length = np.diff(pointer)
    low, high = pointer[0], pointer[-1]
    if not (length.min() > 0 and low >= 0 and high <= len(successor)):
        return False
    to, p, begin = successor[low:high], probability[low:high], pointer[:-1] - low
    rising = to[1:] > to[:-1]
    rising[begin[1:] - 1] = True  # where a choice begins
    if not (rising.all() and to.min() >= 0 and to.max() < states and p.min() > 0):
        return False
    return bool((np.abs(np.add.reduceat(p, begin) - 1) <= ROUNDING * length).all())


def _rising(numbers: NDArray[np.int64]) -> bool:
    """Whether there are numbers, each greater than the one before it."""
    return len(numbers) > 1 and bool((numbers[1:] > numbers[:-1]).all())


def check_actions(first: NDArray[np.int64], states: Sequence[str], table: CodedActions) -> None:
    """Action names are unique within a state, so that a strategy can be written by name."""
    twins = np.empty(0, np.int64) if table.told_apart else table.twins(first)
    if len(twins):
        c = int(twins.min())
        state = states[int(np.searchsorted(first, c, side="right")) - 1]
        raise ModelError(
            f"state {state!r} has two actions called {table.words[table.codes[c]]!r}; give them different names"
        )


def twin_choices(first: NDArray[np.int64], actions: Sequence[str]) -> NDArray[np.int64]:
    """Positions of the choices that have the name of an earlier one of their state.

    >>> twin_choices(np.array([0, 1, 3]), ["go", "go", "go"])
    array([2])
    """
    return coded(actions).twins(first)


def check_lengths(entries: Entries, n_choices: int) -> None:
    """Entries are parallel and belong to choices that exist."""
    if not len(entries.choice) == len(entries.successor) == len(entries.probability):
        raise ModelError("choice, successor and probability must have the same length")
    for name, more in (("exact", entries.exact), ("counts", entries.counts)):
        if more is not None and len(more) != len(entries.choice):
            raise ModelError(f"{name} must have one number per probability")
    if len(entries.choice) and not (entries.choice.min() >= 0 and entries.choice.max() < n_choices):
        raise ModelError("a probability belongs to a choice that does not exist")


def check_numbers(first: NDArray[np.int64], states: Sequence[str], actions: Sequence[str], entries: Entries) -> None:
    """Successors exist and probabilities lie in [0, 1]."""
    bad = np.flatnonzero((entries.successor < 0) | (entries.successor >= len(states)))
    if len(bad):
        where = place_of(int(entries.choice[bad[0]]), first, states, actions)
        raise ModelError(
            f"{where} leads to state number {entries.successor[bad[0]]}, but there are {len(states)} states"
        )
    p = entries.probability
    bad = np.flatnonzero(~((p >= 0) & (p <= 1 + SUM_TOLERANCE)))
    if len(bad):
        where = place_of(int(entries.choice[bad[0]]), first, states, actions)
        target = states[entries.successor[bad[0]]]
        raise ModelError(f"{where} has probability {p[bad[0]]:.12g} of going to {target!r}, not a number in [0, 1]")


def checked_choices(first: NDArray[np.int64], states: Sequence[str], table: CodedActions, entries: Entries) -> Choices:
    """Give every state a choice, and every choice its distribution, checked and normalised."""
    names = list(table)
    check_lengths(entries, len(names))
    first, names, entries = with_final_choices(first, names, entries)
    check_actions(first, states, table if len(names) == len(table.codes) else coded(names))
    check_numbers(first, states, names, entries)
    indptr, entries = canonical(entries, len(names), len(states))
    data = normalised(entries.probability, indptr, first, states, names)
    exact = None if entries.exact is None else frozen(normalised_exactly(entries.exact, indptr))
    if exact is not None:
        data = np.maximum(exact.astype(float), np.nextafter(0, 1))  # what is possible stays possible
    shape = (len(names), len(states))
    transitions = csr_array((frozen(data), frozen(entries.successor), frozen(indptr)), shape=shape)
    counts = None if entries.counts is None else frozen(entries.counts)
    return Choices(transitions, frozen(first), tuple(names), exact, counts)


def canonical(entries: Entries, n_choices: int, n_states: int) -> tuple[NDArray[np.int64], Entries]:
    """Sort by choice and successor, add up duplicates, drop zeros; return the row pointer beside them."""
    key = entries.choice * n_states + entries.successor
    if len(key) > 1 and not (np.diff(key) > 0).all():
        order = np.argsort(key, kind="stable")
        key = key[order]
        head = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))

        def merged(values: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(np.add.reduceat(values[order], head))

        entries = Entries(
            entries.choice[order][head],
            entries.successor[order][head],
            merged(entries.probability),
            None if entries.exact is None else merged(entries.exact),
            None if entries.counts is None else merged(entries.counts),
        )
    kept = entries.probability > 0 if entries.exact is None else np.asarray(entries.exact > 0, bool)
    if not kept.all():
        entries = Entries(
            entries.choice[kept],
            entries.successor[kept],
            entries.probability[kept],
            None if entries.exact is None else entries.exact[kept],
            None if entries.counts is None else entries.counts[kept],
        )
    indptr = np.zeros(n_choices + 1, np.int64)
    np.cumsum(np.bincount(entries.choice, minlength=n_choices), out=indptr[1:])
    return indptr, entries


def normalised(
    probability: NDArray[np.float64],
    indptr: NDArray[np.int64],
    first: NDArray[np.int64],
    states: Sequence[str],
    actions: Sequence[str],
) -> NDArray[np.float64]:
    """(nnz,) each distribution divided by its sum, unless that is 1 up to rounding; rejected if it is far from 1."""
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    sums = np.bincount(row, weights=probability, minlength=len(indptr) - 1)
    bad = np.flatnonzero(~(np.abs(sums - 1) <= SUM_TOLERANCE))
    if len(bad):
        where = place_of(int(bad[0]), first, states, actions)
        others = f" (and {len(bad) - 1} more like it)" if len(bad) > 1 else ""
        raise ModelError(f"{where} has probabilities summing to {sums[bad[0]]:.12g}, not 1{others}")
    sums[np.abs(sums - 1) <= ROUNDING * np.diff(indptr)] = 1.0
    return np.asarray(probability / sums[row])


def normalised_exactly(exact: NDArray[np.object_], indptr: NDArray[np.int64]) -> NDArray[np.object_]:
    """(nnz,) Fractions, each distribution summing to exactly 1."""
    exact = exact.copy()
    for low, high in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        total = sum(exact[low:high], Fraction(0))
        if total != 1:
            exact[low:high] = [p / total for p in exact[low:high]]
    return exact


def names_of(what: str, given: str | Iterable[str]) -> tuple[str, ...]:
    """Names given as one or as several of them.

    >>> names_of("target", "Granted"), names_of("target", ["won", "drawn"])
    (('Granted',), ('won', 'drawn'))
    """
    names = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(f"{what} takes a name or several, not {name!r}")
    if not names:
        raise ArgumentError(f"{what} is empty: give a name, or several")
    return names


def checked_valuations(variables: Variables, n_states: int) -> Variables:
    """Columns of the right length."""
    for name, variable in variables.items():
        if not len(variable.values) == len(variable.defined) == n_states:
            raise ModelError(f"variable {name!r} is given for {len(variable.values)} states, not {n_states}")
    return MappingProxyType(dict(variables))
