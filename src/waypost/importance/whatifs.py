"""What if? Success after a step, success without it, and the model in which it is forbidden.

* *after* ``s``: the least and greatest probability of the target from there, ``vmin(s) .. vmax(s)``;
* *without* ``s``: ``Prmax(not s U t)``, what the best strategy could still have if ``s`` were forbidden. What it loses,
  ``p* - Prmax(not s U t)``, is what ``s`` is worth to it. For a choice: the choice is forbidden, not its state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.arguments import checked
from waypost.errors import ModelError, NameUnknownError, UndefinedImportanceError, WaypostError, require
from waypost.graph import Graph, Mask, dominators, reachable
from waypost.graph.compiled import cores
from waypost.importance.fixed import InducedChain
from waypost.importance.passing import bounds
from waypost.importance.question import Question, plain
from waypost.importance.results import Bounds, Number
from waypost.model import MDP, SEEN, TARGET, Letters, Product, Strategy, Target, describe_target
from waypost.solve.elimination import eliminate
from waypost.solve.reachability import Reach
from waypost.solve.remaining import MOST_AROUND
from waypost.solve.sweep import sweep

ONE_BY_ONE = 6  # so few states are not worth the preparation of a sweep


@dataclass(frozen=True, eq=False)
class SuccessAfter(Mapping[str, Bounds]):
    """Probability of the target from each state: a mapping from state names to the least and the greatest."""

    mdp: MDP
    target: str
    lower: NDArray[Any]  # (S,)
    upper: NDArray[Any]  # (S,)
    under: Mapping[str, Number] | None = None  # by state, under the strategy; with memory, on the first visit, if any

    def __repr__(self) -> str:
        return f"SuccessAfter({self.target}, states={len(self)})"

    def __len__(self) -> int:
        return self.mdp.n_states

    def __iter__(self) -> Iterator[str]:
        return iter(self.mdp.states)

    def __getitem__(self, name: str) -> Bounds:
        s = self.mdp.state(name)
        return Bounds(plain(self.lower[s]), plain(self.upper[s]))

    def to_frame(self) -> Any:
        """One row per state."""
        pandas = require("pandas", "table", "to_frame()")
        columns = {"lower": list(self.lower), "upper": list(self.upper)}
        if self.under is not None:
            columns["strategy"] = [self.under.get(name) for name in self.mdp.states]
        return pandas.DataFrame(columns, index=pandas.Index(self.mdp.states, name="state"))


@dataclass(frozen=True, eq=False)
class SuccessWithout(Mapping[str, Number]):
    """Greatest probability of the target with something forbidden: a mapping from the names of what is forbidden.

    ``reachability`` is what can be had with nothing forbidden; ``under`` is the probability with which one strategy
    reaches the target and does without, as it is.
    """

    mdp: MDP
    target: str
    names: Sequence[str]
    best: NDArray[Any]  # (n,)
    reachability: Number
    under: Mapping[str, Number] | None = None  # by name

    def __repr__(self) -> str:
        return f"SuccessWithout({self.target}, forbidden={len(self)})"

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> Number:
        if name not in self.names:
            raise NameUnknownError(f"{name!r} was not asked about")
        found: Number = plain(self.best[self.names.index(name)])
        return found

    @property
    def worth(self) -> NDArray[Any]:
        """(n,) what the best strategy loses by each."""
        return np.asarray(self.reachability - self.best)

    def to_frame(self) -> Any:
        """One row per state or group."""
        pandas = require("pandas", "table", "to_frame()")
        columns = {"without": list(self.best), "worth": list(self.worth)}
        if self.under is not None:
            columns["strategy"] = [self.under[name] for name in self.names]
        return pandas.DataFrame(columns, index=pandas.Index(self.names, name="without"))


@dataclass(frozen=True, eq=False)
class WhatIfs:
    """Success after and without each state of an explanation, in the order of its `names`.

    >>> from waypost import explain
    >>> from waypost.cases import loan
    >>> found = explain(loan(), target="Granted", states=["Rework", "Consultation"], whatifs=True).whatifs
    >>> found.after_upper, found.without.round(4)
    (array([0.8 , 0.98]), array([0.9   , 0.4655]))
    """

    after_lower: NDArray[Any]  # (n,) least probability of the target from there
    after_upper: NDArray[Any]  # (n,) greatest
    without: NDArray[Any]  # (n,) greatest probability of the target if the state is forbidden

    @classmethod
    def of(cls, question: Question, asked: NDArray[np.int64]) -> WhatIfs:
        """Ask about some states, all at once."""
        reach, exact = question.model, question.exact
        known = (reach.min.values, reach.max.values, _every_state(question.mdp, reach))
        return cls(*(_plain_array(values[asked], exact) for values in known))


@checked
def success_after(mdp: MDP, *, target: Target, strategy: Strategy | None = None, exact: bool = False) -> SuccessAfter:
    """Probability of reaching `target` once a state is reached: least, greatest, and under a strategy.

    Parameters
    ----------
    mdp, target, exact
        As in `state_importance`.
    strategy
        Also tell the probability under this strategy.

    Returns
    -------
    SuccessAfter
        A mapping from state names to `Bounds`; ``under`` has the strategy's values, by the names of the states that
        it visits where it has memory, and of all states where it has none.

    Raises
    ------
    NameUnknownError, StrategyError
        If the target is not in the model, or the strategy is one of another model.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> success_after(loan(), target="Granted", exact=True)["Rework"]
    Bounds(lower=Fraction(0, 1), upper=Fraction(4, 5))
    """
    names = target if isinstance(target, str) else list(target)
    reach = Reach.of(mdp, mdp.where(names), exact=exact)
    lower, upper = (_plain_array(values, exact) for values in (reach.min.values, reach.max.values))
    under = None
    if strategy is not None:
        under = _value_under(mdp, strategy, names, exact=exact)
    return SuccessAfter(mdp, describe_target(names), lower, upper, under)


def _value_under(mdp: MDP, strategy: Strategy, target: Target, *, exact: bool) -> dict[str, Number]:
    """Probability of the target by state; with memory, after the first visit: via it and to the target."""
    wanted = mdp.where(target)
    if strategy.memory == 1:
        values = _plain_array(InducedChain.of(mdp, strategy, wanted, exact=exact).reach.max.values, exact)
        return dict(zip(mdp.states, values.tolist(), strict=True))
    found: dict[str, Number] = {}
    reached = Question.of(mdp, target=target, scope=strategy, exact=exact)
    for s in range(mdp.n_states):
        only = np.arange(mdp.n_states) == s
        try:
            met = Question.of(mdp, target=_names(mdp, only | wanted), scope=strategy, exact=exact)
        except UndefinedImportanceError:
            continue
        passed = bounds(met, only, absolute=True)[1]
        if passed > 0:
            found[mdp.states[s]] = plain(bounds(reached, only, absolute=True)[1] / passed)
    return found


def _names(mdp: MDP, states: Mask) -> list[str]:
    return [mdp.states[s] for s in np.flatnonzero(states)]


@checked
def success_without(
    mdp: MDP,
    *,
    target: Target,
    groups: Mapping[str, str | Iterable[str]] | None = None,
    strategy: Strategy | None = None,
    exact: bool = False,
) -> SuccessWithout:
    """Greatest probability of reaching `target` with a state, a choice or a group of them forbidden.

    A run that enters a forbidden state has failed, be it a target state.

    Parameters
    ----------
    mdp, target, exact
        As in `state_importance`.
    groups
        What to forbid, by names of your own: states, labels, or choices written ``state/action``. Every state by
        default, each on its own.
    strategy
        Also tell how often this strategy reaches the target and does without.

    Returns
    -------
    SuccessWithout
        A mapping from the names of what is forbidden to the greatest probability left.

    Raises
    ------
    NameUnknownError
        If the target, or a state, a label or a choice of a group is not in the model.
    StrategyError
        If the strategy belongs to another model.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> found = success_without(loan(), target="Granted")
    >>> found["Application+"], round(found["Consultation"], 4)
    (0.0, 0.4655)
    >>> asked = {"consulting": "s0/Consult", "both": ["Error", "Consultation"]}
    >>> success_without(loan(), target="Granted", groups=asked, exact=True).best
    array([Fraction(49, 50), Fraction(931, 2000)], dtype=object)
    """
    names = target if isinstance(target, str) else list(target)
    wanted = mdp.where(names)
    reach = Reach.of(mdp, wanted, exact=exact)
    under = None
    if groups is None:
        best = _every_state(mdp, reach)
        labels: Sequence[str] = mdp.states
        if strategy is not None:
            question = Question.of(mdp, target=names, scope=strategy, exact=exact)
            reached, passed = plain(question.best), question.states().lower.tolist()
            under = {name: reached * (1 - share) for name, share in zip(labels, passed, strict=True)}
    else:
        labels = tuple(groups)
        masks = [forbidden(mdp, members) for members in groups.values()]
        best = np.array([_forbidding(mdp, reach, *mask) for mask in masks], reach.arena.data.dtype)
        if strategy is not None:
            reached = plain(Question.of(mdp, target=names, scope=strategy.of(mdp), exact=exact).best)
            avoided = (_avoided(mdp, wanted, *mask, strategy, exact=exact) for mask in masks)
            under = {name: reached * share for name, share in zip(labels, avoided, strict=True)}
    highest = plain(reach.max.values[mdp.initial])
    return SuccessWithout(mdp, describe_target(names), labels, _plain_array(best, exact), highest, under)


def forbidden(mdp: MDP, names: str | Iterable[str]) -> tuple[Mask, Mask]:
    """(S,) states and (C,) choices meant by states, labels, expressions, or choices written ``state/action``."""
    states, choices = np.zeros(mdp.n_states, bool), np.zeros(mdp.n_choices, bool)
    for name in [names] if isinstance(names, str) else names:
        try:
            states |= mdp.where(name)
        except (NameUnknownError, ModelError):
            found = _choices_called(mdp, name)
            if found is None:
                raise
            choices |= found
    return states, choices


def _choices_called(mdp: MDP, name: str) -> Mask | None:
    """(C,) the choices written ``state/action``, where the state may also be a label or an expression; None if none."""
    for at in (i for i in reversed(range(len(name))) if name[i] == "/"):
        try:
            states = mdp.where(name[:at].strip())
        except WaypostError:
            continue
        action = name[at + 1 :].strip()
        taken = np.array([known == action for known in mdp.actions], bool) & states[mdp.choice_state]
        if not taken.any():  # told with the actions that there are
            mdp.choice(int(np.argmax(states)), action)
        return taken
    return None


@checked
def without(mdp: MDP, names: str | Iterable[str]) -> MDP:
    """Model in which states, or choices written ``state/action``, are forbidden.

    A forbidden state becomes a dead end and loses its labels; a state that loses its last choice becomes a dead end.

    Parameters
    ----------
    mdp
        The model.
    names
        States, labels, expressions, or choices written ``state/action``.

    Returns
    -------
    MDP
        The same model with these forbidden.

    Raises
    ------
    NameUnknownError
        If a name is not in the model.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> from waypost import reachability
    >>> reachability(without(loan(), "Consultation"), target="Granted", optimum="max", exact=True)[0]
    Fraction(931, 2000)
    """
    states, choices = forbidden(mdp, names)
    if states[mdp.initial]:
        raise ModelError(f"{mdp.states[mdp.initial]!r} is where every run starts, so it cannot be forbidden")
    gone = choices | states[mdp.choice_state]
    ends = np.bincount(mdp.choice_state, weights=~gone, minlength=mdp.n_states) == 0
    gone[mdp.first_choice[:-1][ends]] = False  # one choice of a dead end stays, to be its loop
    left = mdp.restricted(~gone).absorbing(ends)
    return left.with_labels({name: holds & ~states for name, holds in mdp.labels.items()})


def _forbidding(mdp: MDP, reach: Reach, states: Mask, choices: Mask) -> Any:
    """Prmax of the target where some states are not entered and some choices not taken."""
    if states[mdp.initial]:
        return reach.arena.zero
    enabled = ~(choices | states[mdp.choice_state])
    if (states & reach.target).any():
        return Reach(reach.arena, reach.target & ~states, enabled).max.values[mdp.initial]
    return reach.forced(enabled).max.values[mdp.initial]


def _every_state(mdp: MDP, reach: Reach) -> NDArray[Any]:
    """(S,) Prmax without each state; most are settled by the best strategy or by the graph."""
    start, graph = np.arange(mdp.n_states) == mdp.initial, Graph.of(mdp)
    best = np.full(mdp.n_states, reach.max.values[mdp.initial], reach.arena.data.dtype)
    usable = ~reach.target[mdp.choice_state]
    taken = np.zeros(mdp.n_choices, bool)
    taken[reach.max.choice[reach.max.choice >= 0]] = True
    met = reachable(graph, start, enabled=usable & taken)  # the best strategy does without all others
    needed = start | dominators(graph, mdp.initial, reach.target)
    best[needed] = reach.arena.zero
    asked = np.flatnonzero(met & reach.possible & ~needed)
    ends = reach.target[asked]
    if len(asked) >= ONE_BY_ONE and not reach.arena.exact:
        visited = reachable(graph, start, enabled=usable)
        parts = eliminate(reach, mdp.initial, enabled=usable, visited=visited)
        if parts is not None:
            inner = asked[~ends]
            found, good = sweep(reach, parts, inner, reach.max.values, MOST_AROUND, workers=cores())
            best[inner[good]] = np.minimum(found[good, 1], best[inner[good]])
            asked = np.concatenate([inner[~good], asked[ends]])
    nothing = np.zeros(mdp.n_choices, bool)
    for s in asked.tolist():
        best[s] = _forbidding(mdp, reach, np.arange(mdp.n_states) == s, nothing)
    return best


def _avoided(mdp: MDP, target: Mask, states: Mask, choices: Mask, strategy: Strategy, *, exact: bool) -> Any:
    """Share of a strategy's successful runs that do without."""
    ends = states.astype(np.int64)
    letters = Letters(ends, (choices | states[mdp.choice_state]).astype(np.int64))
    product = Product.of(mdp, SEEN, letters, target)
    question = Question.of(product.mdp, target=TARGET, scope=product.lifted(strategy), exact=exact)
    return plain(1 - bounds(question, product.decided)[1])


def _plain_array(values: NDArray[Any], exact: bool) -> NDArray[Any]:
    if not exact:
        return np.asarray(values, float)
    found = np.empty(len(values), object)
    found[:] = [plain(value) for value in values]
    return found
