"""What a Markov decision process is: immutable sparse arrays, checked once.

Paper, Sect. 3.1: ``M = (S, A, s0, delta)``. A *choice* is an enabled action in a state; the choices are numbered
through, sorted by state, and row ``c`` of ``transitions`` is the distribution ``delta(s, a, .)`` of choice ``c``::

    state 0          state 1   state 2
    choices 0 1 2    3         4 5        first_choice = [0, 3, 4, 6]

Every state has a choice: one without actions becomes final, with a self-loop called `FINAL`, as PRISM does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from waypost.errors import ModelError, unknown_name
from waypost.model.checking import (
    Entries,
    canonical,
    check_actions,
    check_lengths,
    check_numbers,
    check_states,
    checked_labels,
    frozen,
    is_number,
    names_of,
    normalised,
    normalised_exactly,
    place_of,
    with_final_choices,
)
from waypost.model.expressions import Variable, is_expression, read_valuations, states_where

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

    def __getstate__(self) -> dict[str, Any]:
        """Fields only, the labels as a dictionary: so that a model pickles and copies."""
        return {part.name: getattr(self, part.name) for part in fields(self)} | {"labels": dict(self.labels)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, frozen(value) if isinstance(value, np.ndarray) else value)
        for part in (self.transitions.data, self.transitions.indices, self.transitions.indptr):
            frozen(part)
        object.__setattr__(self, "labels", checked_labels(state["labels"], self.states))

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
        return frozen(np.repeat(np.arange(self.n_states), np.diff(self.first_choice)))

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
        for name in names_of("target", target):
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
        return normalised_exactly(given, self.transitions.indptr)

    def with_labels(self, labels: Mapping[str, ArrayLike]) -> MDP:
        """Return the same model with other labels, given as masks over the states."""
        return replace(self, labels=checked_labels(labels, self.states))

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
            first_choice=frozen(np.concatenate([[0], np.cumsum(owned)])),
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
            k = next(k for k, p in enumerate(given) if not is_number(p))
            where = place_of(rows[k], np.concatenate([[0], np.cumsum(counts)]), states, actions)
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
        entries = Entries(
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
        check_states(states)
        check_lengths(entries, len(actions))
        first, actions, entries = with_final_choices(first, actions, entries)
        check_actions(first, states, actions)
        check_numbers(first, states, actions, entries)
        indptr, entries = canonical(entries, len(actions), len(states))
        data = normalised(entries.probability, indptr, first, states, actions)
        exact_data = entries.exact if entries.exact is None else normalised_exactly(entries.exact, indptr)
        if exact_data is not None:
            data = np.maximum(exact_data.astype(float), np.nextafter(0, 1))  # what is possible stays possible
        transitions = csr_array(
            (frozen(data), frozen(entries.successor), frozen(indptr)), shape=(len(actions), len(states))
        )
        return cls(
            transitions=transitions,
            first_choice=frozen(first),
            states=states,
            actions=tuple(actions),
            initial=int(initial),
            labels=checked_labels(labels or {}, states),
            exact=None if exact_data is None else frozen(exact_data),
            counts=None if entries.counts is None else frozen(entries.counts),
        )


def describe_target(target: Target) -> str:
    """Target as a person would write it.

    >>> describe_target("Granted"), describe_target(["won", "drawn"])
    ("'Granted'", "'won' or 'drawn'")
    """
    names = [target] if isinstance(target, str) else list(target)
    return " or ".join(repr(str(name)) for name in names) or "an empty target"
