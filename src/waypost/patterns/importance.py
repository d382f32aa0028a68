"""Importance of a pattern: among the runs that reach the target, those that match it.

A pattern is a regular language of runs up to the moment the target is entered; let ``D`` be its automaton. Then

    imp(D) = Pr(F (t, accepting)) / Pr(F t)

in the product of the model with ``D``: a conditional probability of entering the target in one part of it, which is
what passing a set of states is. So the bounds, the scopes and the witnesses are those of states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from waypost.errors import NameUnknownError, PatternError, UndefinedImportanceError
from waypost.importance.results import Number, Scope, Side
from waypost.importance.states import Question, plain
from waypost.model import MDP, TARGET, Product, Strategy, Target
from waypost.patterns.letters import By, meaning, spelled
from waypost.patterns.text import parse
from waypost.patterns.tree import Pattern, Step


@dataclass(frozen=True, eq=False)
class PatternImportance:
    """Importance of a pattern for reaching a target; ``lower, upper = result`` unpacks it.

    ``matches`` says whether runs that reach the target match "always", "never", or "sometimes".
    """

    mdp: MDP
    target: str  # as a person would write it
    pattern: Pattern
    scope: Literal["all", "optimal", "strategy"]
    lower: Number
    upper: Number
    matches: Literal["always", "never", "sometimes"]
    automaton_states: int
    ties: tuple[str, ...] = ()  # "state/action" choices that were optimal only up to rounding; exact mode decides them
    find_witness: Callable[[Side], Strategy] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return (
            f"PatternImportance({str(self.pattern)!r} for {self.target}, scope={self.scope!r}, lower={self.lower}, "
            f"upper={self.upper})"
        )

    def __iter__(self) -> Iterator[Number]:
        return iter((self.lower, self.upper))

    def witness(self, side: Side) -> Strategy:
        """Strategy in scope under which the importance of the pattern *is* that bound.

        Its memory is the state of the pattern's automaton, and whether the question is decided.
        """
        if side not in ("lower", "upper"):
            raise NameUnknownError(f"a bound is 'lower' or 'upper', not {side!r}")
        if self.find_witness is None:
            raise NameUnknownError("this result was made without its model and has no witnesses")
        return self.find_witness(side)


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
    base = Question.of(mdp, target=target, scope=scope, exact=exact)
    model = _committed(mdp, wanted, base) if committed else mdp
    automaton, letters = spelled(model, wanted, base.target, by)
    product = Product.of(model, automaton, letters, base.target)
    inner: Scope = product.lifted(scope) if isinstance(scope, Strategy) else scope
    ends = product.mdp.labels[TARGET]
    if not ends.any():
        raise UndefinedImportanceError(
            f"no strategy that follows {str(wanted)!r} reaches {base.name}, so importance is undefined"
        )
    question = Question.of(product.mdp, target=TARGET, scope=inner, exact=exact)
    matches: Literal["always", "never", "sometimes"] = "sometimes"
    if (product.accepted | ~ends).all():
        matches = "always"
    elif not product.accepted.any():
        matches = "never"

    def witness(side: Side) -> Strategy:
        if isinstance(scope, Strategy):
            return scope
        found = product.projected(question.witness(product.decided, side, "importance"))
        return found if model is mdp else _played_in(mdp, found)

    lower, upper = (plain(bound) for bound in question.bounds(product.decided))
    return PatternImportance(
        mdp=mdp,
        target=base.name,
        pattern=wanted,
        scope=base.scope_name,
        lower=lower,
        upper=upper,
        matches=matches,
        automaton_states=automaton.n_states,
        ties=base.ties,
        find_witness=witness,
    )


def _committed(mdp: MDP, pattern: Pattern, base: Question) -> MDP:
    """Model in which the actions that the pattern names are taken at every visit."""
    if isinstance(base.scope, Strategy):
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
