"""What a Markov decision process is: immutable sparse arrays, checked once.

Paper, Sect. 3.1: ``M = (S, A, s0, delta)``. A *choice* is an enabled action in a state; the choices are numbered
through, sorted by state, and row ``c`` of ``transitions`` is the distribution ``delta(s, a, .)`` of choice ``c``::

    state 0          state 1   state 2
    choices 0 1 2    3         4 5        first_choice = [0, 3, 4, 6]

Every state has a choice: one without actions becomes final, with a self-loop called `FINAL`, as PRISM does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from waypost.errors import ModelError, unknown_name
from waypost.model.expressions import Variable, is_expression, read_valuations, states_where

FINAL = "(final)"  # the self-loop of a state that has no action of its own
SUM_TOLERANCE = 1e-9  # a distribution further from 1 than this is rejected, others are normalised
ROUNDING = 2.0**-51  # per entry; nearer than this a sum is 1 but for rounding: building a model twice changes nothing

Probability = int | float | Fraction | str
Target = str | Iterable[str]


@dataclass(frozen=True, eq=False)
class MDP:
    """A finite Markov decision process with names.

    Build one with `MDP.from_dict` or `MDP.from_triplets`, which check and normalise; the plain constructor trusts.

    >>> mdp = MDP.from_dict({"s0": {"try": {"won": 0.9, "lost": 0.1}}, "won": {}, "lost": {}}, initial="s0")
    >>> mdp
    MDP(states=3, choices=3, transitions=4, initial='s0')
    >>> mdp.states, mdp.initial, mdp.actions
    (('s0', 'won', 'lost'), 0, ('try', '(final)', '(final)'))
    >>> mdp.transitions.toarray()
    array([[0. , 0.9, 0.1],
           [0. , 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    transitions: csr_array  # (C, S) row c: the successor distribution of choice c; positive entries, sorted
    first_choice: NDArray[np.int64]  # (S + 1,) state s owns the choices first_choice[s] : first_choice[s + 1]
    states: tuple[str, ...]  # (S,) the user's own names, in the user's order
    actions: tuple[str, ...]  # (C,) unique within a state
    initial: int
    labels: Mapping[str, NDArray[np.bool_]]  # each (S,)
    exact: NDArray[np.object_] | None = None  # (nnz,) transitions.data as Fractions, where the source was text
    counts: NDArray[np.int64] | None = None  # (nnz,) how often each transition was seen, where it was learned

    def __repr__(self) -> str:
        return (
            f"MDP(states={self.n_states}, choices={self.n_choices}, transitions={self.transitions.nnz}, "
            f"initial={self.states[self.initial]!r})"
        )

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.states)

    @property
    def n_choices(self) -> int:
        """Number of choices, over all states."""
        return len(self.actions)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Position of each state name."""
        return MappingProxyType({name: i for i, name in enumerate(self.states)})

    @cached_property
    def choice_state(self) -> NDArray[np.int64]:
        """(C,) the state that owns each choice."""
        return _frozen(np.repeat(np.arange(self.n_states), np.diff(self.first_choice)))

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        """Variables that the state names give values to, as in ``x=1, y=2``."""
        return MappingProxyType(read_valuations(self.states))

    def state(self, name: str) -> int:
        """Position of the state called `name`, or an error with the nearest name."""
        found = self.index.get(name)
        if found is None:
            raise unknown_name("state", str(name), self.states)
        return found

    def choice(self, state: int, action: str) -> int:
        """Position of the choice `action` in `state`, or an error with the actions there are."""
        first, last = self.first_choice[state], self.first_choice[state + 1]
        names = self.actions[first:last]
        if action not in names:
            raise unknown_name("action", str(action), names, f"state {self.states[state]!r}")
        return int(first) + names.index(action)

    def where(self, target: Target) -> NDArray[np.bool_]:
        """(S,) the states meant by a label, a state name, an expression over variables, or several of them.

        A name that is both a label and a state means the label. Expressions are those of `model.expressions`.

        >>> mdp = MDP.from_dict({"a": {"go": "b"}, "b": {}, "c": {}}, initial="a", labels={"end": ["b", "c"]})
        >>> mdp.where("end").tolist(), mdp.where(["a", "b"]).tolist()
        ([False, True, True], [True, True, False])
        >>> mdp = MDP.from_dict({"x=0, y=2": {"go": "x=4, y=2"}, "x=4, y=2": {}}, initial="x=0, y=2")
        >>> mdp.where("x>3 & y=2").tolist()
        [False, True]
        """
        wanted = np.zeros(self.n_states, bool)
        for name in [target] if isinstance(target, str) else target:
            if name in self.labels:
                wanted |= self.labels[name]
            elif name in self.index:
                wanted[self.index[name]] = True
            elif is_expression(str(name), self.variables) and (self.variables or '"' in str(name)):
                wanted |= states_where(str(name), self.variables, self.labels, self.n_states)
            elif self.labels:
                raise unknown_name("label or state", str(name), [*self.labels, *self.states])
            else:
                raise unknown_name("state", str(name), self.states)
        if not wanted.any():
            raise ModelError(f"{describe_target(target)} holds in no state of this model")
        return wanted

    def labels_of(self, state: int) -> tuple[str, ...]:
        """Labels that hold in a state."""
        return tuple(name for name, holds in self.labels.items() if holds[state])

    def rationals(self) -> NDArray[np.object_]:
        """(nnz,) the probabilities as Fractions, each distribution summing to exactly 1.

        Without text to go back to, a float stands for its shortest decimal: 0.1 is 1/10.

        >>> mdp = MDP.from_dict({"s": {"a": {"s": 0.1, "t": 0.9}}, "t": {}}, initial="s")
        >>> [str(p) for p in mdp.rationals()]
        ['1/10', '9/10', '1']
        """
        if self.exact is not None:
            return self.exact
        given = np.array([Fraction(repr(float(p))) for p in self.transitions.data], dtype=object)
        return _normalised_exactly(given, self.transitions.indptr)

    def with_labels(self, labels: Mapping[str, ArrayLike]) -> MDP:
        """Return the same model with other labels, given as masks over the states."""
        return replace(self, labels=_checked_labels(labels, self.states))

    def restricted(self, kept: NDArray[np.bool_]) -> MDP:
        """Same model with some of its choices only, at least one in every state; `kept` is a mask ``(C,)``."""
        rows = np.flatnonzero(kept)
        owned = np.bincount(self.choice_state[rows], minlength=self.n_states)
        if not owned.all():
            raise ModelError(f"state {self.states[int(np.argmin(owned))]!r} would lose all its choices")
        entries = np.repeat(kept, np.diff(self.transitions.indptr))
        return replace(
            self,
            transitions=csr_array(self.transitions[rows]),
            first_choice=_frozen(np.concatenate([[0], np.cumsum(owned)])),
            actions=tuple(self.actions[c] for c in rows),
            exact=None if self.exact is None else self.exact[entries],
            counts=None if self.counts is None else self.counts[entries],
        )

    @classmethod
    def from_dict(
        cls,
        choices: Mapping[str, Mapping[str, Mapping[str, Probability] | str]],
        *,
        initial: str,
        labels: Mapping[str, Iterable[str]] | None = None,
    ) -> MDP:
        """Build an MDP from ``{state: {action: {successor: probability}}}``.

        A probability is a number, a Fraction, or text such as ``"1/3"``; a lone successor name has probability 1.
        """
        states = tuple(choices)
        position = {name: i for i, name in enumerate(states)}
        if not states:
            raise ModelError("the model has no states")
        if initial not in position:
            raise unknown_name("state", str(initial), states)
        rows: list[int] = []
        successors: list[int] = []
        given: list[Probability] = []
        actions: list[str] = []
        counts = np.zeros(len(states), np.int64)
        for s, (state, enabled) in enumerate(choices.items()):
            counts[s] = len(enabled)
            for action, distribution in enabled.items():
                if isinstance(distribution, str):
                    distribution = {distribution: 1}  # noqa: PLW2901
                for successor, probability in distribution.items():
                    if successor not in position:
                        raise ModelError(
                            f"action {action!r} in state {state!r} leads to {successor!r}, which is not a state; "
                            f'add it (a final state is "{successor}": {{}})'
                        )
                    rows.append(len(actions))
                    successors.append(position[successor])
                    given.append(probability)
                actions.append(action)
        textual = any(isinstance(p, str | Fraction) for p in given)
        try:
            exact = (
                [Fraction(p if isinstance(p, str | Fraction | int) else repr(float(p))) for p in given]
                if textual
                else None
            )
            probabilities = np.array(exact if exact is not None else given, dtype=float)
        except (ValueError, TypeError, ZeroDivisionError, OverflowError):
            k = next(k for k, p in enumerate(given) if not _is_number(p))
            where = _where(rows[k], np.concatenate([[0], np.cumsum(counts)]), states, actions)
            to = states[successors[k]]
            raise ModelError(f"{where} has probability {given[k]!r} of going to {to!r}, which is no number") from None
        masks = {}
        for label, members in (labels or {}).items():
            masks[label] = np.zeros(len(states), bool)
            for member in [members] if isinstance(members, str) else members:
                if member not in position:
                    raise unknown_name("state", str(member), states, f"label {label!r}")
                masks[label][position[member]] = True
        return cls.from_triplets(
            rows,
            successors,
            probabilities,
            first_choice=np.concatenate([[0], np.cumsum(counts)]),
            states=states,
            actions=actions,
            initial=position[initial],
            labels=masks,
            exact=exact,
        )

    @classmethod
    def from_triplets(
        cls,
        choice: ArrayLike,
        successor: ArrayLike,
        probability: ArrayLike,
        *,
        first_choice: ArrayLike,
        states: Sequence[str],
        actions: Sequence[str],
        initial: int,
        labels: Mapping[str, ArrayLike] | None = None,
        exact: Sequence[Fraction] | None = None,
        counts: ArrayLike | None = None,
    ) -> MDP:
        """Check and build: entry `k` says that `choice[k]` leads to `successor[k]` with `probability[k]`.

        Duplicate successors are added up, zero probabilities dropped, distributions within 1e-9 of 1 normalised,
        states without a choice made final. This is the one door through which every model comes in.
        """
        states, actions = tuple(states), list(actions)
        if not states:
            raise ModelError("the model has no states")
        first = np.asarray(first_choice, np.int64)
        entries = _Entries(
            np.asarray(choice, np.int64),
            np.asarray(successor, np.int64),
            np.asarray(probability, float),
            None if exact is None else np.array(list(exact), dtype=object),
            None if counts is None else np.asarray(counts, np.int64),
        )
        if len(first) != len(states) + 1 or first[0] != 0 or first[-1] != len(actions):
            raise ModelError("first_choice does not fit the numbers of states and actions")
        if not 0 <= initial < len(states):
            raise ModelError(f"initial state {initial} is not one of the {len(states)} states")
        if len(set(states)) != len(states):
            twice = next(name for name, n in _tally(states).items() if n > 1)
            raise ModelError(f"two states are called {twice!r}; state names must be unique")
        _check_lengths(entries, len(actions))
        first, actions, entries = _with_final_choices(first, actions, entries)
        _check_actions(first, states, actions)
        _check_numbers(first, states, actions, entries)
        indptr, entries = _canonical(entries, len(actions), len(states))
        data = _normalised(entries.probability, indptr, first, states, actions)
        exact_data = entries.exact if entries.exact is None else _normalised_exactly(entries.exact, indptr)
        if exact_data is not None:
            data = exact_data.astype(float)
        transitions = csr_array(
            (_frozen(data), _frozen(entries.successor), _frozen(indptr)), shape=(len(actions), len(states))
        )
        return cls(
            transitions=transitions,
            first_choice=_frozen(first),
            states=states,
            actions=tuple(actions),
            initial=int(initial),
            labels=_checked_labels(labels or {}, states),
            exact=None if exact_data is None else _frozen(exact_data),
            counts=None if entries.counts is None else _frozen(entries.counts),
        )


def describe_target(target: Target) -> str:
    """Target as a person would write it.

    >>> describe_target("Granted"), describe_target(["won", "drawn"])
    ("'Granted'", "'won' or 'drawn'")
    """
    names = [target] if isinstance(target, str) else list(target)
    return " or ".join(repr(str(name)) for name in names) or "an empty target"


@dataclass
class _Entries:
    """The non-zero probabilities on their way in, as parallel arrays."""

    choice: NDArray[np.int64]
    successor: NDArray[np.int64]
    probability: NDArray[np.float64]
    exact: NDArray[np.object_] | None
    counts: NDArray[np.int64] | None


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _tally(names: Iterable[str]) -> dict[str, int]:
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    return seen


def _with_final_choices(
    first: NDArray[np.int64], actions: list[str], entries: _Entries
) -> tuple[NDArray[np.int64], list[str], _Entries]:
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
        _Entries(
            np.concatenate([moved[entries.choice] if len(entries.choice) else entries.choice, new_first[final]]),
            np.concatenate([entries.successor, final]),
            np.concatenate([entries.probability, ones]),
            None if entries.exact is None else np.concatenate([entries.exact, np.array([Fraction(1)] * len(final))]),
            None if entries.counts is None else np.concatenate([entries.counts, np.zeros(len(final), np.int64)]),
        ),
    )


def _where(choice: int, first: NDArray[np.int64], states: Sequence[str], actions: Sequence[str]) -> str:
    state = int(np.searchsorted(first, choice, side="right")) - 1
    return f"action {actions[choice]!r} in state {states[state]!r}"


def _is_number(given: Any) -> bool:
    """Whether a probability can be read; `Fraction` is what refuses most."""
    try:
        return bool(
            np.isfinite(float(Fraction(given if isinstance(given, str | Fraction | int) else repr(float(given)))))
        )
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        return False


def _check_actions(first: NDArray[np.int64], states: Sequence[str], actions: Sequence[str]) -> None:
    """Action names are unique within a state, so that a strategy can be written by name."""
    for s in np.flatnonzero(np.diff(first) > 1).tolist():
        names = actions[first[s] : first[s + 1]]
        if len(set(names)) != len(names):
            twice = next(name for name, n in _tally(names).items() if n > 1)
            raise ModelError(f"state {states[s]!r} has two actions called {twice!r}; give them different names")


def _check_lengths(entries: _Entries, n_choices: int) -> None:
    if not len(entries.choice) == len(entries.successor) == len(entries.probability):
        raise ModelError("choice, successor and probability must have the same length")
    for name, more in (("exact", entries.exact), ("counts", entries.counts)):
        if more is not None and len(more) != len(entries.choice):
            raise ModelError(f"{name} must have one number per probability")
    if len(entries.choice) and not (entries.choice.min() >= 0 and entries.choice.max() < n_choices):
        raise ModelError("a probability belongs to a choice that does not exist")


def _check_numbers(first: NDArray[np.int64], states: Sequence[str], actions: Sequence[str], entries: _Entries) -> None:
    bad = np.flatnonzero((entries.successor < 0) | (entries.successor >= len(states)))
    if len(bad):
        where = _where(int(entries.choice[bad[0]]), first, states, actions)
        raise ModelError(
            f"{where} leads to state number {entries.successor[bad[0]]}, but there are {len(states)} states"
        )
    p = entries.probability
    bad = np.flatnonzero(~((p >= 0) & (p <= 1 + SUM_TOLERANCE)))
    if len(bad):
        where = _where(int(entries.choice[bad[0]]), first, states, actions)
        target = states[entries.successor[bad[0]]]
        raise ModelError(f"{where} has probability {p[bad[0]]:.12g} of going to {target!r}, not a number in [0, 1]")


def _canonical(entries: _Entries, n_choices: int, n_states: int) -> tuple[NDArray[np.int64], _Entries]:
    """Sort by choice and successor, add up duplicates, drop zeros; return the row pointer beside them."""
    key = entries.choice * n_states + entries.successor
    if len(key) > 1 and not (np.diff(key) > 0).all():
        order = np.argsort(key, kind="stable")
        key = key[order]
        head = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))

        def merged(values: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(np.add.reduceat(values[order], head))

        entries = _Entries(
            entries.choice[order][head],
            entries.successor[order][head],
            merged(entries.probability),
            None if entries.exact is None else merged(entries.exact),
            None if entries.counts is None else merged(entries.counts),
        )
    kept = entries.probability > 0
    if not kept.all():
        entries = _Entries(
            entries.choice[kept],
            entries.successor[kept],
            entries.probability[kept],
            None if entries.exact is None else entries.exact[kept],
            None if entries.counts is None else entries.counts[kept],
        )
    indptr = np.zeros(n_choices + 1, np.int64)
    np.cumsum(np.bincount(entries.choice, minlength=n_choices), out=indptr[1:])
    return indptr, entries


def _normalised(
    probability: NDArray[np.float64],
    indptr: NDArray[np.int64],
    first: NDArray[np.int64],
    states: Sequence[str],
    actions: Sequence[str],
) -> NDArray[np.float64]:
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    sums = np.bincount(row, weights=probability, minlength=len(indptr) - 1)
    bad = np.flatnonzero(~(np.abs(sums - 1) <= SUM_TOLERANCE))
    if len(bad):
        where = _where(int(bad[0]), first, states, actions)
        others = f" (and {len(bad) - 1} more like it)" if len(bad) > 1 else ""
        raise ModelError(f"{where} has probabilities summing to {sums[bad[0]]:.12g}, not 1{others}")
    sums[np.abs(sums - 1) <= ROUNDING * np.diff(indptr)] = 1.0
    return np.asarray(probability / sums[row])


def _normalised_exactly(exact: NDArray[np.object_], indptr: NDArray[np.int64]) -> NDArray[np.object_]:
    exact = exact.copy()
    for low, high in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        total = sum(exact[low:high], Fraction(0))
        if total != 1:
            exact[low:high] = [p / total for p in exact[low:high]]
    return exact


def _checked_labels(labels: Mapping[str, ArrayLike], states: Sequence[str]) -> Mapping[str, NDArray[np.bool_]]:
    checked = {}
    for name, mask in labels.items():
        array = np.array(mask, bool)
        if array.shape != (len(states),):
            raise ModelError(f"label {name!r} is given for {array.shape} states, not {len(states)}")
        checked[str(name)] = _frozen(array)
    return MappingProxyType(checked)
