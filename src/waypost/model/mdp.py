"""What a Markov decision process is: immutable sparse arrays, checked once.

Paper, Sect. 3.1: ``M = (S, A, s0, delta)``. A *choice* is an enabled action in a state; the choices are numbered
through, sorted by state, and row ``c`` of ``transitions`` is the distribution ``delta(s, a, .)`` of choice ``c``::

    state 0          state 1   state 2
    choices 0 1 2    3         4 5        first_choice = [0, 3, 4, 6]

Every state has a choice: one without actions becomes final, with a self-loop called `FINAL`, as PRISM does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from waypost.arguments import checked, fits, shown
from waypost.errors import ArgumentError, ModelError, unknown_name
from waypost.model.building import Probability, triplets_of
from waypost.model.checking import (
    FINAL,
    Entries,
    as_given,
    check_actions,
    check_sizes,
    check_states,
    checked_choices,
    checked_valuations,
    coded,
    column,
    frozen,
    names_of,
    normalised_exactly,
)
from waypost.model.expressions import is_expression, states_where
from waypost.model.labels import Labels, labelling
from waypost.model.names import CodedActions, LazyNames, Names, some_of
from waypost.model.valuations import Variables, named_by, read_valuations

Target = str | Iterable[str]


@dataclass(frozen=True, eq=False)
class MDP:
    """A finite Markov decision process with names.

    Build one with `MDP.from_dict` or `MDP.from_triplets`, which check and normalise; the plain constructor trusts.

    Attributes
    ----------
    transitions, first_choice
        ``(C, S)`` sparse: row ``c`` is the distribution of choice ``c``; state ``s`` owns those from
        ``first_choice[s]`` to ``first_choice[s + 1]``.
    states, actions, initial, labels
        Names of states ``(S,)`` and of choices ``(C,)``, the position of the first state, and masks ``(S,)`` by name.
    exact, counts
        Of each transition, its probability as a Fraction and how often it was counted; None where nobody said.
    valuations, definitions
        Variables of the states, and what expressions over them may use.

    Examples
    --------
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
    states: Names  # (S,) the user's own names, in the user's order: a tuple, or what makes them when they are read
    actions: Names  # (C,) unique within a state
    initial: int
    labels: Mapping[str, NDArray[np.bool_]]  # each (S,), read-only
    exact: NDArray[np.object_] | None = None  # (nnz,) transitions.data as Fractions, where the source was text
    counts: NDArray[np.int64] | None = None  # (nnz,) how often each transition was seen, where it was learned
    valuations: Variables | None = None  # the variables, where the source has them apart from the names
    definitions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # constants, formulas

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
        return frozen(np.repeat(np.arange(self.n_states), np.diff(self.first_choice)))

    @cached_property
    def variables(self) -> Variables:
        """Variables of the states: their `valuations`, or what names such as ``x=1, y=2`` say."""
        return MappingProxyType(dict(read_valuations(self.states) if self.valuations is None else self.valuations))

    @cached_property
    def is_final(self) -> NDArray[np.bool_]:
        """(S,) states that are never left: their one choice leads back with certainty.

        >>> MDP.from_dict({"a": {"go": "b"}, "b": {}}, initial="a").is_final
        array([False,  True])
        """
        first, matrix = self.first_choice[:-1], self.transitions
        entry = matrix.indptr[first]
        alone = (np.diff(self.first_choice) == 1) & (matrix.indptr[first + 1] == entry + 1)
        return frozen(alone & (matrix.indices[entry] == np.arange(self.n_states)))

    def choices(self, state: int) -> range:
        """Positions of the choices of a state, which is given by its own position."""
        if (type(state) is not int and not fits(state, int)) or not 0 <= state < self.n_states:
            raise ArgumentError(f"a state is given by its position, 0 to {self.n_states - 1}, not {shown(state)}")
        return range(int(self.first_choice[state]), int(self.first_choice[state + 1]))

    def actions_of(self, state: int) -> tuple[str, ...]:
        """Actions of a state, in the order of its choices."""
        own = self.choices(state)
        return self.actions[own.start : own.stop]

    def successors(self, *, state: int | None = None, choice: int | None = None) -> NDArray[np.int64]:
        """Positions of the states that a choice may lead to, or that any choice of a state may lead to, sorted.

        >>> mdp = MDP.from_dict({"a": {"go": {"b": 0.5, "a": 0.5}, "stay": "a"}, "b": {}}, initial="a")
        >>> mdp.successors(choice=0).tolist(), mdp.successors(choice=1).tolist(), mdp.successors(state=0).tolist()
        ([0, 1], [0], [0, 1])
        """
        matrix = self.transitions
        if choice is not None:
            return np.asarray(matrix.indices[matrix.indptr[choice] : matrix.indptr[choice + 1]])
        if state is None:
            raise ArgumentError("successors are those of a state or of a choice; give one of them")
        own = self.choices(state)
        return np.unique(matrix.indices[matrix.indptr[own.start] : matrix.indptr[own.stop]])

    def find(self, name: str) -> int | None:
        """Position of the state called `name`, without writing out the names of all the others; None if there is none.

        Where states are valuations, the variables may come in any order.
        """
        if type(name) is not str and not fits(name, str):
            return None
        return self.states.find(name) if isinstance(self.states, LazyNames) else self.index.get(name)

    def state(self, name: str) -> int:
        """Position of the state called `name`, or an error with the nearest name."""
        found = self.find(str(name))
        if found is None:
            raise unknown_name("state", str(name), self.states)
        return found

    def choice(self, state: int, action: str) -> int:
        """Position of the choice `action` in `state`, or an error with the actions there are."""
        names = self.actions_of(state)
        if action not in names:
            raise unknown_name("action", str(action), names, f"state {self.states[state]!r}")
        return self.choices(state)[names.index(action)]

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
        words = {**self.definitions, **self.variables}
        for name in names_of("target", target):
            if name in self.labels:
                wanted |= self.labels[name]
            elif (found := self.find(str(name))) is not None:
                wanted[found] = True
            elif is_expression(str(name), words) and (words or '"' in str(name) or name in ("true", "false")):
                wanted |= states_where(
                    str(name), self.variables, self.labels, self.n_states, self.definitions, self.find
                )
            elif self.labels:
                known = [*self.labels, *islice(self.states, 20_000)]  # enough for a hint
                raise unknown_name("label or state", str(name), known)
            else:
                raise unknown_name("state", str(name), self.states)
        if not wanted.any():
            raise ModelError(f"{describe_target(target)} holds in no state of this model")
        return wanted

    def labels_of(self, state: int) -> tuple[str, ...]:
        """Labels that hold in a state."""
        if isinstance(self.labels, Labels):
            return self.labels.at(state)
        return tuple(name for name, holds in self.labels.items() if holds[state])

    def rationals(self) -> NDArray[np.object_]:
        """(nnz,) the probabilities as Fractions, each distribution summing to exactly 1.

        Without text to go back to, a float stands for its shortest decimal: 0.1 is 1/10.

        >>> mdp = MDP.from_dict({"s": {"a": {"s": 0.1, "t": 0.9}}, "t": {}}, initial="s")
        >>> print(*mdp.rationals())
        1/10 9/10 1
        """
        if self.exact is not None:
            return self.exact
        given = np.array([Fraction(repr(float(p))) for p in self.transitions.data], dtype=object)
        return normalised_exactly(given, self.transitions.indptr)

    @checked
    def with_labels(self, labels: Mapping[str, ArrayLike]) -> MDP:
        """Return the same model with other labels, given as masks over the states."""
        return replace(self, labels=labelling(labels, self.n_states))

    @checked
    def restricted(self, kept: NDArray[np.bool_]) -> MDP:
        """Same model with some of its choices only, at least one in every state; `kept` is a mask ``(C,)``."""
        if kept.dtype != bool or kept.shape != (self.n_choices,):
            raise ArgumentError(f"kept is a mask over the {self.n_choices} choices, not {shown(kept)}")
        rows = np.flatnonzero(kept)
        owned = np.bincount(self.choice_state[rows], minlength=self.n_states)
        if not owned.all():
            raise ModelError(f"state {self.states[int(np.argmin(owned))]!r} would lose all its choices")
        entries = np.repeat(kept, np.diff(self.transitions.indptr))
        return replace(
            self,
            transitions=csr_array(self.transitions[rows]),
            first_choice=frozen(np.concatenate([[0], np.cumsum(owned)])),
            actions=some_of(self.actions, rows),
            exact=None if self.exact is None else self.exact[entries],
            counts=None if self.counts is None else self.counts[entries],
        )

    @checked
    def absorbing(self, ends: NDArray[np.bool_]) -> MDP:
        """Same model, in which a run ends where it enters one of the states `ends`, a mask ``(S,)``.

        >>> mdp = MDP.from_dict({"a": {"go": "b"}, "b": {"back": "a"}}, initial="a")
        >>> mdp.absorbing(mdp.where("b")).actions
        ('go', '(final)')
        """
        if ends.dtype != bool or ends.shape != (self.n_states,):
            raise ArgumentError(f"ends is a mask over the {self.n_states} states, not {shown(ends)}")
        first = self.first_choice[:-1][ends]
        kept = ~ends[self.choice_state]
        kept[first] = True  # one choice each, to be the self-loop
        left = self.restricted(kept)
        matrix, loop = left.transitions, np.zeros(left.n_choices, bool)
        loop[left.first_choice[:-1][ends]] = True
        lengths = np.where(loop, 1, np.diff(matrix.indptr))
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        stays = ~np.repeat(loop, np.diff(matrix.indptr))
        at = np.ones(indptr[-1], bool)
        at[indptr[:-1][loop]] = False  # where the entries that stay go

        def moved(values: NDArray[Any], looped: Any) -> NDArray[Any]:
            new = np.empty(len(at), values.dtype)
            new[at], new[~at] = values[stays], looped
            return frozen(new)

        return replace(
            left,
            transitions=csr_array(
                (moved(matrix.data, 1.0), moved(matrix.indices, np.flatnonzero(ends)), frozen(indptr)),
                shape=matrix.shape,
            ),
            actions=tuple(FINAL if ended else name for name, ended in zip(left.actions, loop.tolist(), strict=True)),
            exact=None if left.exact is None else moved(left.exact, Fraction(1)),
            counts=None if left.counts is None else moved(left.counts, 0),
        )

    def __getstate__(self) -> dict[str, Any]:
        """Fields, without what was computed from them; mappings that only read cannot be pickled."""
        state = {given.name: getattr(self, given.name) for given in fields(self)}
        return {name: dict(v) if isinstance(v, MappingProxyType) else v for name, v in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            kept = frozen(value) if isinstance(value, np.ndarray) else value  # arrays come back writable
            object.__setattr__(self, name, MappingProxyType(kept) if isinstance(kept, dict) else kept)
        masks = () if isinstance(self.labels, Labels) else self.labels.values()
        for part in (self.transitions.data, self.transitions.indices, self.transitions.indptr, *masks):
            frozen(part)

    @classmethod
    @checked
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
        return cls.from_triplets(**triplets_of(choices, initial, labels or {}))

    @classmethod
    @checked
    def from_triplets(
        cls,
        choice: ArrayLike | None,
        successor: ArrayLike,
        probability: ArrayLike,
        *,
        first_choice: ArrayLike,
        pointer: ArrayLike | None = None,
        states: Sequence[str] | None = None,
        actions: Sequence[str],
        initial: int,
        labels: Mapping[str, ArrayLike] | None = None,
        exact: Sequence[Fraction] | None = None,
        counts: ArrayLike | None = None,
        valuations: Variables | None = None,
        definitions: Mapping[str, str] | None = None,
    ) -> MDP:
        """Check and build: entry `k` says that `choice[k]` leads to `successor[k]` with `probability[k]`.

        In place of `choice`, a `pointer` says where the entries of each choice begin, as in a sparse matrix.
        Duplicate successors are added up, zero probabilities dropped, distributions within 1e-9 of 1 normalised,
        states without a choice made final. Without `states`, the names are made of the `valuations`, or are numbers.
        This is the one door through which every model comes in.
        """
        first = column("first_choice", first_choice, np.int64)
        if states is None:
            states = named_by(valuations or {}) or tuple(str(s) for s in range(len(first) - 1))
        if not isinstance(states, LazyNames):
            states = tuple(states)
        table = actions if isinstance(actions, CodedActions) else coded(list(actions))
        check_sizes(first, len(states), len(table.codes), initial)
        rest: dict[str, Any] = {
            "states": states,
            "initial": int(initial),
            "labels": labelling(labels or {}, len(states)),
            "valuations": None if valuations is None else checked_valuations(valuations, len(states)),
            "definitions": MappingProxyType(dict(definitions or {})),
        }
        check_states(states)
        rows = None if pointer is None else column("pointer", pointer, np.int64)
        if rows is not None and exact is None and counts is None:
            made = as_given(first, rows, np.asarray(successor), column("probability", probability, float), len(states))
            if made is not None:
                check_actions(first, states, table)
                for part in (first, made.data, made.indices, made.indptr):
                    frozen(part)
                named = actions if isinstance(actions, LazyNames) else tuple(actions)
                return cls(transitions=made, first_choice=first, actions=named, **rest)
        if rows is not None:
            choice = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
        entries = Entries(
            column("choice", choice, np.int64),
            column("successor", successor, np.int64),
            column("probability", probability, float),
            None if exact is None else np.array(list(exact), dtype=object),
            None if counts is None else column("counts", counts, np.int64),
        )
        return cls(**checked_choices(first, states, table, entries)._asdict(), **rest)


def describe_target(target: Target) -> str:
    """Target as a person would write it.

    >>> describe_target("Granted"), describe_target(["won", "drawn"])
    ("'Granted'", "'won' or 'drawn'")
    """
    names = [target] if isinstance(target, str) else list(target)
    return " or ".join(repr(str(name)) for name in names) or "an empty target"
