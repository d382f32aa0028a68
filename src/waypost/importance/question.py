"""What is asked, a model, a target and a scope, and everything known about it so far, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from waypost.errors import ArgumentError, PrecisionError, UndefinedImportanceError
from waypost.graph import Graph, Ints, Mask, corridors, dominators, reachable
from waypost.graph.quotient import quotient
from waypost.graph.symmetry import orbits
from waypost.importance.fixed import InducedChain
from waypost.model import MDP, Strategy, Target, describe_target
from waypost.model.checking import names_of
from waypost.model.once import once
from waypost.solve.elimination import Elimination, eliminate
from waypost.solve.flow import Flow, most_passed
from waypost.solve.lanes import Track, track_of
from waypost.solve.rational import to_fraction
from waypost.solve.reachability import Reach
from waypost.solve.rewards import STOP

if TYPE_CHECKING:
    from waypost.importance.contraction import Contraction
    from waypost.importance.groups import Groups
    from waypost.importance.results import Bounds, StateImportance
    from waypost.importance.single import PathImportance

SMALLEST = 1e-290  # a rarer target leaves floats no digits

OpenScope = Literal["all", "optimal"]  # in which strategies are still to be chosen
Scope = OpenScope | Strategy
ScopeName = Literal["all", "optimal", "strategy", "observed", "contrast"]  # the last two: counted in a log


@dataclass(frozen=True, eq=False)
class Question:
    """A model, a target and a scope; what is known about them is computed when it is first needed, and kept.

    Hold one to ask several things without computing anything twice. It pickles and copies as what was asked, without
    what is known.

    In scope "optimal" strategies keep to the conserving choices, and reach the target or lose all hope of it with
    probability 1. A `Strategy` leaves a chain, in which no choice remains; then what is known is known about the chain,
    and a state of the model is the set of its copies (`spread`).

    Attributes
    ----------
    mdp
        The model.
    target
        Labels or names of states; any of them is the target.
    scope
        "all" strategies that can reach the target, those that reach it with the greatest probability ("optimal"), or
        one `Strategy`.
    exact
        Whether numbers are rationals.
    sibling
        The same question in another scope, which lends what it knows of the model.
    known
        The target in the model, if somebody has looked at it before.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> question = Question.of(loan(), target="Granted", scope="all")
    >>> question
    Question('Granted', scope='all', states=10)
    >>> question.states("Application")["Application"], question.path(["s0", "Apply", "Application"]).upper
    (Bounds(lower=0.0, upper=1.0), 1.0)
    >>> [name for name, always in zip(question.mdp.states, question.always, strict=True) if always]
    ['s0', 'Application+', 'Granted']
    """

    mdp: MDP
    target: tuple[str, ...]
    scope: Scope
    exact: bool = False
    sibling: Question | None = field(default=None, compare=False)
    known: Reach | None = field(default=None, compare=False)

    @classmethod
    def of(cls, mdp: MDP, *, target: Target, scope: Scope, exact: bool = False) -> Question:
        """Check what is asked, and that importance is defined."""
        if not isinstance(mdp, MDP):
            raise ArgumentError(f"the model is an MDP, as `read_mdp` or `MDP.from_dict` give it, not {mdp!r}")
        if not isinstance(exact, bool):
            raise ArgumentError(f"exact is True or False, not {exact!r}")
        return cls(mdp, names_of("target", target), scope, exact).checked()

    def within(self, scope: Scope) -> Question:
        """The same model and target in another scope; reachability is computed once for both."""
        return replace(self, scope=scope, sibling=self).checked()

    def checked(self) -> Question:
        """The question itself, if importance is defined and floats can tell it."""
        if not isinstance(self.scope, Strategy) and self.scope not in ("all", "optimal"):
            raise ArgumentError(f"scope is 'all', 'optimal' or a Strategy, not {self.scope!r}")
        if not self.reach.possible[self.start]:
            who = "this strategy never" if isinstance(self.scope, Strategy) else "no strategy"
            initial = self.mdp.states[self.mdp.initial]
            raise UndefinedImportanceError(f"{who} reaches {self.name} from {initial!r}, so importance is undefined")
        if self.scope == "all":
            self.reach.optima  # noqa: B018 - both will be needed, and are found at the same time
        if not self.exact and self.best < SMALLEST:
            raise PrecisionError(f"{self.name} is too rare for floating point; ask for exact arithmetic (--exact)")
        return self

    def __repr__(self) -> str:
        return f"Question({self.name}, scope={self.scope!r}, states={self.mdp.n_states}{', exact=True' * self.exact})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Question, (self.mdp, self.target, self.scope, self.exact)

    @property
    def name(self) -> str:
        """Target as a person would write it."""
        return describe_target(self.target)

    @property
    def scope_name(self) -> ScopeName:
        """Scope in one word."""
        return "strategy" if isinstance(self.scope, Strategy) else self.scope

    @property
    def optimal(self) -> bool:
        """Whether only the strategies that reach the target with the greatest probability are in scope."""
        return self.scope == "optimal"

    def states(self, states: str | Iterable[str] | None = None, *, absolute: bool = False) -> StateImportance:
        """Importance of states, as `waypost.state_importance` or, without normalisation, `absolute_importance`."""
        from waypost.importance.numbers import ask_states, states_of

        return ask_states(self, states_of(self.mdp, states), absolute=absolute)

    def groups(self, groups: Groups) -> dict[str, Bounds]:
        """Importance of passing any state of a group, as `waypost.group_importance`."""
        from waypost.importance.groups import ask_groups

        return ask_groups(self, groups)

    def path(self, path: Sequence[str]) -> PathImportance:
        """Importance of a path, as `waypost.path_importance`."""
        from waypost.importance.numbers import ask_path

        return ask_path(self, path)

    # What is known of the model, whatever the scope.

    @once
    def target_states(self) -> Mask:
        """(S,) the target."""
        return self.mdp.where(self.target) if self.sibling is None else self.sibling.target_states

    @once
    def model(self) -> Reach:
        """The target in the model."""
        if self.known is not None:
            return self.known
        if self.sibling is not None:
            return self.sibling.model
        return Reach.of(self.mdp, self.target_states, exact=self.exact)

    # What is known of the scope: of the model, or of the chain that a strategy leaves.

    @once
    def chain(self) -> InducedChain | None:
        """Chain of the strategy in scope, if it is one."""
        if not isinstance(self.scope, Strategy):
            return None
        return InducedChain.of(self.mdp, self.scope, self.target_states, exact=self.exact)

    @property
    def reach(self) -> Reach:
        """The target where the scope is played: in the model, or in the chain."""
        return self.model if self.chain is None else self.chain.reach

    @property
    def start(self) -> int:
        """Where every run starts."""
        return self.mdp.initial if self.chain is None else self.chain.start

    @property
    def graph(self) -> Graph:
        """The graph of `reach`."""
        return self.reach.arena.graph

    @property
    def best(self) -> Any:
        """Greatest probability of reaching the target over the strategies in scope."""
        return self.reach.max.values[self.start]

    def spread(self, states: Mask) -> Mask:
        """States of the model where the scope is played: in a chain, all their copies."""
        return states if self.chain is None else self.chain.copies(states)

    @once
    def enabled(self) -> Mask:
        """(C,) choices that strategies in scope may take before the target."""
        usable = ~self.reach.target[self.graph.choice_state]
        return usable & self.reach.conserving if self.optimal else usable

    @once
    def visited(self) -> Mask:
        """(S,) states that some strategy visits before, or on entering, the target."""
        return self._from_start(self.enabled)

    @property
    def entered(self) -> Mask:
        """(S,) states of the model that a run enters before, or on entering, the target.

        It is a run of any strategy, be it a bad one: what the best ones never enter is to be avoided, not out of reach.
        Of a scope that is one strategy it is a run of that one.
        """
        if self.chain is None:
            return self._from_start(~self.reach.target[self.graph.choice_state])
        n = self.mdp.n_states
        return np.asarray(self.visited[: self.chain.modes * n].reshape(-1, n).any(axis=0))

    @once
    def visited_by_best(self) -> Mask:
        """(S,) states that one strategy in scope, the best one found, visits before, or on entering, the target.

        Floats may have found one that is not quite as good as the best: then all that any visits.
        """
        choice = self.reach.max.choice
        moving = choice != STOP
        taken = np.zeros(self.graph.n_choices, bool)
        taken[choice[moving]] = True
        found = self._from_start(self.enabled & taken)
        going = found & moving & ~self.reach.target
        return found if self.enabled[choice[going]].all() else self.visited

    @property
    def inevitable(self) -> bool:
        """Whether every strategy, of all, reaches the target with certainty: then absolute importance is importance."""
        return self.scope == "all" and bool(self.reach.min.values[self.start] == 1)

    @property
    def chooses(self) -> bool:
        """Whether any strategy in scope has a choice before the target is reached, or out of reach."""
        graph = self.graph
        free = self.enabled & (self.ever & ~self.reach.target)[graph.choice_state]
        return bool(np.bincount(graph.choice_state[free]).max(initial=0) > 1)

    @once
    def ever(self) -> Mask:
        """(S,) greatest importance above 0: visited, and the target may follow."""
        return self.visited & self.reach.possible

    @once
    def always(self) -> Mask:
        """(S,) least importance 1: on every path to the target."""
        return dominators(self.graph, self.start, self.reach.target, enabled=self.enabled)

    @once
    def swayed(self) -> Mask:
        """(S,) states that some strategies in scope "optimal" pass more often than others: a choice lies before them.

        End components are one place: a strategy may wander in them as it likes, and leaves them all the same.
        """
        inside = self.ever & ~self.reach.target
        enabled = self.enabled & inside[self.graph.choice_state]
        merged, place, wandering, _ = quotient(self.graph, inside=inside, enabled=enabled)
        several = np.diff(merged.first_choice) > 1
        behind = np.zeros(merged.n_states, bool)
        behind[merged.indices[np.repeat(several[merged.choice_state], np.diff(merged.indptr))]] = True
        return np.asarray(reachable(merged, behind)[place] | wandering)

    @once
    def corridors(self) -> tuple[Ints, Ints]:
        """(S,) the first and the last of the states that the same runs pass as each state, whatever the scope."""
        graph, target = self.graph, self.reach.target
        alive = self.reach.possible & self._from_start(~target[graph.choice_state])
        return corridors(graph, target | (np.arange(graph.n_states) == self.start), alive)

    @once
    def alike(self) -> Ints:
        """(S,) the first of the states that symmetries of the model exchange each state with: all are passed alike."""
        kinds = self.reach.target + 2 * (np.arange(self.graph.n_states) == self.start)
        return orbits(self.graph, self.reach.arena.data, kinds)

    @once
    def contracted(self) -> Contraction | None:
        """The same about a smaller model, if there is one (`contraction`): what a sweep over many states asks."""
        from waypost.importance.contraction import contracted

        return None if self.chain is not None else contracted(self)

    @once
    def flow(self) -> Flow:
        """How often states are passed at most, in scope "optimal" or under one strategy."""
        return most_passed(self.reach, self.start, enabled=self.enabled, visited=self.visited)

    @once
    def reduced(self) -> Elimination | None:
        """The model reduced to its choices, if they are few: what a sweep over many states starts from."""
        return eliminate(self.reach, self.start, enabled=self.enabled, visited=self.visited)

    @once
    def track(self) -> Track | None:
        """The model laid out for many states side by side: what a sweep starts from where many have a choice."""
        reach, enabled = self.reach, self.enabled
        return track_of(reach, self.start, enabled=enabled, visited=self.visited, best=self.optimal)

    def _from_start(self, enabled: Mask) -> Mask:
        return reachable(self.graph, np.arange(self.graph.n_states) == self.start, enabled=enabled)


def plain(value: Any) -> float | Fraction:
    """Python's own float or Fraction."""
    return float(value) if isinstance(value, float | np.floating) else to_fraction(value)
