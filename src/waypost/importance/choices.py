"""Importance of a choice: of the state in the middle of it.

Split every choice into a state of its own, ``s -a-> (s, a) -> y``: then the importance of taking `a` in `s` is that of
passing ``(s, a)``, and all choices are asked about together, like states. Where a state has only one choice, taking it
is passing the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from waypost.arguments import checked, fits, shown
from waypost.errors import NameUnknownError, require
from waypost.graph import Ints, Mask
from waypost.importance.answer import report
from waypost.importance.between import attaining
from waypost.importance.numbers import ask_states, states_of
from waypost.importance.passing import Side, witness
from waypost.importance.question import Question, Scope, ScopeName, plain
from waypost.importance.results import Bounds, Number, present
from waypost.importance.sweeps import Progress
from waypost.model import MDP, SEEN, TARGET, Letters, Product, Strategy, Target
from waypost.model.checking import frozen


@dataclass(frozen=True, eq=False)
class ChoiceImportance(Mapping[tuple[str, str], Bounds]):
    """Importance of choices for reaching a target: a mapping from (state, action) to `Bounds`.

    The choices of target states are not among them: no run takes one before it has reached the target.

    Attributes
    ----------
    mdp, target, scope
        What was asked about.
    choices
        ``(n,)`` positions of the choices; `names` are their states and actions.
    lower, upper
        The bounds as arrays, in the order of `names`; Fractions in exact mode.
    question
        What was asked; it finds the witnesses.

    Examples
    --------
    >>> from waypost import choice_importance
    >>> from waypost.cases import loan
    >>> found = choice_importance(loan(), target="Granted", scope="optimal")
    >>> round(found["Consultation", "Apply"].lower, 3), ("Consultation", "Fly") in found
    (0.525, False)
    """

    mdp: MDP
    target: str  # as a person would write it
    scope: ScopeName
    choices: NDArray[np.int64]  # (n,)
    lower: NDArray[Any]  # (n,) floats, or Fractions in exact mode
    upper: NDArray[Any]  # (n,)
    question: Question | None = field(default=None, repr=False)  # what was asked; it finds the witnesses

    def __repr__(self) -> str:
        return f"ChoiceImportance(for {self.target}, scope={self.scope!r}, choices={len(self.choices)})"

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """State and action of each choice."""
        owner = self.mdp.choice_state
        return tuple((self.mdp.states[owner[c]], self.mdp.actions[c]) for c in self.choices.tolist())

    def __len__(self) -> int:
        return len(self.choices)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.names)

    def __getitem__(self, name: tuple[str, str]) -> Bounds:
        k = self._position(name)
        return Bounds(plain(self.lower[k]), plain(self.upper[k]))

    def to_dict(self) -> Mapping[tuple[str, str], Bounds]:
        """Bounds by state and action."""
        return {
            name: Bounds(plain(low), plain(high))
            for name, low, high in zip(self.names, self.lower, self.upper, strict=True)
        }

    def summary(self, top: int = 5) -> str:
        """The `top` most important choices of states that have several, in words, one line each."""
        return str(report("choices_summary")(self, top))

    def to_frame(self) -> Any:
        """The bounds as a pandas DataFrame, one row per choice, indexed by state and action."""
        pandas = require("pandas", "table", "to_frame()")
        index = pandas.MultiIndex.from_tuples(self.names, names=["state", "action"])
        return pandas.DataFrame({"lower": list(self.lower), "upper": list(self.upper)}, index=index)

    def witness(self, name: tuple[str, str], side: Side | None = None, *, value: Number | None = None) -> Strategy:
        """Strategy in scope under which the importance of the choice *is* a bound, or a value between the two.

        As `StateImportance.witness`; its bit of memory is whether the choice was taken.
        """
        bounds, question = self[name], present(self.question)
        find = partial(_witness, question, int(self.choices[self._position(name)]))
        return attaining(question, bounds, find, side, value)

    def _position(self, name: tuple[str, str]) -> int:
        if not fits(name, tuple[str, str]):
            raise NameUnknownError(f"a choice is named by its state and its action, not by {shown(name)}")
        state, action = name
        found = np.flatnonzero(self.choices == self.mdp.choice(self.mdp.state(state), action))
        if not len(found):
            raise NameUnknownError(f"{state!r} belongs to the target {self.target}: no choice of it is taken before")
        return int(found[0])


@checked
def choice_importance(
    mdp: MDP, *, target: Target, scope: Scope, exact: bool = False, progress: Progress | None = None
) -> ChoiceImportance:
    """Importance of every choice ``(state, action)`` for reaching `target`, all at once.

        imp(s, a) = Pr(F t, and a is taken in s before) / Pr(F t)

    Parameters
    ----------
    mdp, target, scope, exact
        As in `state_importance`.
    progress
        Told how many bounds were settled since it was last called; in all there are two per choice.

    Returns
    -------
    ChoiceImportance
        A mapping from ``(state, action)`` to `Bounds`; choices of target states are not in it.

    Raises
    ------
    UndefinedImportanceError
        If the target cannot be reached, so that no choice leads to it.
    PrecisionError
        If a bound cannot be certified in floating point; exact arithmetic can.
    WaypostError
        Else as `state_importance`.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> found = choice_importance(loan(), target="Granted", scope="optimal", exact=True)
    >>> found["s0", "Apply"]
    Bounds(lower=Fraction(0, 1), upper=Fraction(1, 1))
    >>> found.witness(("s0", "Apply"), "upper").to_dict()["modes"][0]["s0"]
    {'Apply': 1.0}
    """
    return ask_choices(Question.of(mdp, target=target, scope=scope, exact=exact), progress=progress)


def ask_choices(question: Question, *, progress: Progress | None = None) -> ChoiceImportance:
    """Both bounds of every choice."""
    mdp, scope, exact = question.mdp, question.scope, question.exact
    choices = np.flatnonzero(~question.target_states[mdp.choice_state])
    halves = Split.of(mdp, question.target_states)
    inner: Scope = halves.lifted(scope) if isinstance(scope, Strategy) else scope
    names = [halves.mdp.states[s] for s in halves.middle[choices].tolist()]
    asked = Question.of(halves.mdp, target=TARGET, scope=inner, exact=exact)
    lower = upper = np.empty(0, object if exact else float)
    if names:  # unless every state belongs to the target
        found = ask_states(asked, states_of(asked.mdp, names), progress=progress)
        lower, upper = found.lower, found.upper
    return ChoiceImportance(
        mdp=mdp,
        target=question.name,
        scope=question.scope_name,
        choices=choices,
        lower=lower,
        upper=upper,
        question=question,
    )


def _witness(question: Question, choice: int, side: Side) -> Strategy:
    """Strategy in scope that attains a bound of a choice."""
    if isinstance(question.scope, Strategy):
        return question.scope
    mdp = question.mdp
    letters = Letters(np.zeros(mdp.n_states, np.int64), (np.arange(mdp.n_choices) == choice).astype(np.int64))
    product = Product.of(mdp, SEEN, letters, question.target_states)
    inner = Question.of(product.mdp, target=TARGET, scope=question.scope, exact=question.exact)
    return product.projected(witness(inner, product.decided, side))


@dataclass(frozen=True, eq=False)
class Split:
    """A model in which every choice that is one of several has a state of its own."""

    mdp: MDP  # with the label TARGET
    base: MDP
    middle: Ints  # (C,) the state of each choice: its own, or the one it is the only choice of
    split: Ints  # choices that were split, in order: their states follow those of the base

    @classmethod
    def of(cls, mdp: MDP, target: Mask) -> Split:
        """Split the choices of states that have several, target states excepted."""
        n = mdp.n_states
        several = (np.diff(mdp.first_choice) > 1) & ~target
        split = np.flatnonzero(several[mdp.choice_state])
        middle = mdp.choice_state.copy()
        middle[split] = n + np.arange(len(split))
        total = n + len(split)
        whole = np.ones(mdp.n_choices, bool)
        whole[split] = False
        sizes = np.where(whole, np.diff(mdp.transitions.indptr), 1)
        pointer = np.concatenate([[0], np.cumsum(sizes)])
        kept = np.repeat(whole, np.diff(mdp.transitions.indptr))  # entries of choices that stay as they are
        ones = np.repeat(~whole, sizes)  # entries that lead to the middle for certain
        data, indices = np.ones(len(ones)), np.empty(len(ones), np.int64)
        data[~ones], indices[~ones] = mdp.transitions.data[kept], mdp.transitions.indices[kept]
        indices[ones] = middle[split]
        upper = csr_array((data, indices, pointer), shape=(mdp.n_choices, total))
        rows = mdp.transitions[split]
        lower = csr_array((rows.data, rows.indices, rows.indptr), shape=(len(split), total))
        exact = None
        if mdp.exact is not None:
            first = np.empty(len(ones), object)
            first[~ones] = mdp.exact[kept]
            first[ones] = mdp.exact[0] * 0 + 1
            exact = np.concatenate([first, mdp.exact[~kept]])
        taken = " (taken)"
        while any(name.endswith(taken) for name in mdp.states):  # names must stay unique
            taken += "'"
        names = [f"{mdp.states[mdp.choice_state[c]]} / {c}{taken}" for c in split.tolist()]
        found = MDP(
            transitions=csr_array(vstack([upper, lower], format="csr")),
            first_choice=frozen(np.concatenate([mdp.first_choice, mdp.n_choices + 1 + np.arange(len(split))])),
            states=(*mdp.states, *names),
            actions=(*mdp.actions, *["on"] * len(split)),
            initial=mdp.initial,
            labels={TARGET: frozen(np.concatenate([target, np.zeros(len(split), bool)]))},
            exact=exact,
        )
        return cls(found, mdp, middle, split)

    def lifted(self, strategy: Strategy) -> Strategy:
        """Strategy of the base, played in the split model; on entering a middle the mode stays."""
        ones = np.ones(len(self.split))
        same = np.repeat(np.arange(strategy.memory)[:, None], len(self.split), axis=1)
        return Strategy(
            self.mdp,
            tuple(np.concatenate([mode, ones]) for mode in strategy.modes),
            np.concatenate([strategy.update, same], axis=1),
            strategy.start,
            strategy.toss,
        )
