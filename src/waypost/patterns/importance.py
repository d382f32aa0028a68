"""Importance of a pattern: among the runs that reach the target, those that match it.

A pattern is a regular language of runs up to the moment the target is entered; let ``D`` be its automaton. Then

    imp(D) = Pr(F (t, accepting)) / Pr(F t)

in the product of the model with ``D``: a conditional probability of entering the target in one part of it, which is
what passing a set of states is. So the bounds, the scopes and the witnesses are those of states.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from waypost.arguments import checked
from waypost.errors import ArgumentError, PatternError, UndefinedImportanceError
from waypost.importance.answer import report
from waypost.importance.between import attaining
from waypost.importance.passing import Side, bounds, witness
from waypost.importance.question import Question, Scope, plain
from waypost.importance.results import Bounds, Number
from waypost.importance.single import SingleImportance
from waypost.model import MDP, TARGET, Automaton, Product, Strategy, Target
from waypost.patterns.letters import By, meaning, spelled
from waypost.patterns.text import parse
from waypost.patterns.tree import Pattern, Step

Matches = Literal["always", "never", "sometimes"]


@dataclass(frozen=True, eq=False)
class Inquiry:
    """A question and a pattern: the same question in the product of the model with the pattern's automaton."""

    question: Question
    pattern: Pattern
    by: By
    committed: bool

    @cached_property
    def model(self) -> MDP:
        """The model; a committed pattern fixes the actions it names."""
        return _committed(self.question, self.pattern) if self.committed else self.question.mdp

    @cached_property
    def product(self) -> Product:
        """The model read by the automaton."""
        automaton, letters = spelled(self.model, self.pattern, self.question.target_states, self.by)
        product = Product.of(self.model, automaton, letters, self.question.target_states)
        if not product.mdp.labels[TARGET].any():
            raise UndefinedImportanceError(
                f"no strategy that follows {str(self.pattern)!r} reaches {self.question.name}, so importance is "
                f"undefined"
            )
        return product

    @cached_property
    def inner(self) -> Question:
        """What is asked of the product."""
        scope = self.question.scope
        played: Scope = self.product.lifted(scope) if isinstance(scope, Strategy) else scope
        return Question.of(self.product.mdp, target=TARGET, scope=played, exact=self.question.exact)

    @property
    def automaton(self) -> Automaton:
        """Minimal automaton of the pattern."""
        return self.product.reading.automaton

    @property
    def matches(self) -> Matches:
        """Whether runs that reach the target match the pattern."""
        accepted = self.product.accepted
        if (accepted | ~self.product.mdp.labels[TARGET]).all():
            return "always"
        return "sometimes" if accepted.any() else "never"

    def bounds(self) -> Bounds:
        """Least and greatest importance of the pattern."""
        return Bounds(*(plain(bound) for bound in bounds(self.inner, self.product.decided)))

    def witness(self, side: Side) -> Strategy:
        """Strategy in scope that attains a bound."""
        question = self.question
        if isinstance(question.scope, Strategy):
            return question.scope
        found = self.product.projected(witness(self.inner, self.product.decided, side))
        return found if self.model is question.mdp else _played_in(question.mdp, found)


@dataclass(frozen=True, eq=False, repr=False)
class PatternImportance(SingleImportance):
    """Importance of a pattern for reaching a target; ``lower, upper = result`` unpacks it.

    Attributes
    ----------
    pattern
        As it was read; `str` writes it again.
    matches
        Whether runs that reach the target match "always", "never", or "sometimes".
    automaton_states
        Size of the pattern's minimal automaton.
    inquiry
        What was asked; it finds the witnesses.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> pattern_importance(loan(), pattern="... Error ... Granted", target="Granted", scope="optimal").matches
    'sometimes'
    """

    pattern: Pattern
    matches: Matches
    automaton_states: int
    inquiry: Inquiry | None = field(default=None, repr=False)  # what was asked; it finds the witnesses

    @property
    def subject(self) -> str:
        """The pattern."""
        return str(self.pattern)

    def witness(self, side: Side | None = None, *, value: Number | None = None) -> Strategy:
        """Strategy in scope under which the importance of the pattern *is* a bound, or a value between the two.

        As `StateImportance.witness`; its memory is the state of the pattern's automaton, and whether all is decided.
        """
        if self.inquiry is None:
            raise ArgumentError("this result was made without its model: it has no witnesses")
        return attaining(self.inquiry.question, self.bounds, self.inquiry.witness, side, value)

    def summary(self) -> str:
        """The answer in words."""
        return str(report("pattern_summary")([self]))


@checked
def pattern_importance(
    mdp: MDP,
    *,
    pattern: str | Pattern,
    target: Target,
    scope: Scope,
    exact: bool = False,
    by: By = "state",
    committed: bool = False,
) -> PatternImportance:
    """Importance of a pattern for reaching `target`: the share of successful runs that match it.

    Parameters
    ----------
    mdp
        The model.
    pattern
        Text such as ``"... Submit ... Call{2,} ..."`` (`waypost.patterns.parse`), or a `Pattern`.
    target, scope, exact
        As for `state_importance`.
    by
        Whether every "state" is a step of a run, or, in models of logs, only those that stand for an "activity".
    committed
        Whether strategies take the actions that the pattern names (``state/action``) at every visit of those states:
        the strategies that follow a path, in the paper's P4.

    Returns
    -------
    PatternImportance
        Both bounds, and whether runs match always, never or sometimes.

    Raises
    ------
    PatternError
        If the pattern cannot be read, or its automaton is too large.
    WaypostError
        Otherwise as `state_importance`.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> lower, upper = pattern_importance(loan(), pattern="... Application ...", target="Granted", scope="optimal")
    >>> lower, upper
    (0.0, 0.95)
    >>> pattern_importance(loan(), pattern="s0 Error ...", target="Granted", scope="all", exact=True).upper
    Fraction(98, 953)
    >>> pattern_importance(loan(), pattern="precedence(Rework, Resubmit)", target="Granted", scope="all").matches
    'always'
    """
    wanted = parse(pattern) if isinstance(pattern, str) else pattern
    question = Question.of(mdp, target=target, scope=scope, exact=exact)
    inquiry = Inquiry(question, wanted, by, committed)
    lower, upper = inquiry.bounds()
    return PatternImportance(
        mdp=mdp,
        target=question.name,
        pattern=wanted,
        scope=question.scope_name,
        lower=lower,
        upper=upper,
        matches=inquiry.matches,
        automaton_states=inquiry.automaton.n_states,
        inquiry=inquiry,
    )


def _committed(question: Question, pattern: Pattern) -> MDP:
    """Model in which the actions that the pattern names are taken at every visit."""
    mdp = question.mdp
    if isinstance(question.scope, Strategy):
        raise PatternError("a strategy in scope does what it does; committed=True is for scopes 'all' and 'optimal'")
    named = np.zeros(mdp.n_choices, bool)
    for test in dict.fromkeys(pattern.tests()):
        if isinstance(test, Step) and test.name is not None and test.action is not None:
            named |= meaning(mdp, test).choices
    forced = np.bincount(mdp.choice_state, weights=named, minlength=mdp.n_states)
    if (forced > 1).any():
        state = mdp.states[int(np.argmax(forced > 1))]
        raise PatternError(f"the pattern names several actions in state {state!r}; who follows it can take only one")
    return mdp.restricted(named | (forced[mdp.choice_state] == 0))


def _played_in(mdp: MDP, strategy: Strategy) -> Strategy:
    """Strategy of a model with fewer choices, in the model with all of them."""
    index: dict[tuple[int, str], int] = {
        (int(s), a): c for c, (s, a) in enumerate(zip(mdp.choice_state, mdp.actions, strict=True))
    }
    inner = strategy.mdp
    place = np.array([index[int(s), a] for s, a in zip(inner.choice_state, inner.actions, strict=True)])
    modes: list[Any] = []
    for mode in strategy.modes:
        spread = np.zeros(mdp.n_choices)
        spread[place] = mode
        modes.append(spread)
    return Strategy(mdp, tuple(modes), strategy.update, strategy.start)
