"""The most telling segments of the runs of a strategy, without being told what to look for.

A segment is telling if knowing whether a run has it tells much about its success: the mutual information of the two, in
bits. What all good *and* all bad runs have tells nothing; so does what nobody has. Where every run succeeds, the share
of the runs that have it takes its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from waypost.arguments import Positive, checked
from waypost.importance.answer import report
from waypost.importance.deciding import best_strategy
from waypost.importance.question import Scope
from waypost.model import MDP, Strategy, Target, describe_target
from waypost.patterns.importance import PatternImportance, pattern_importance
from waypost.patterns.letters import By
from waypost.patterns.ranked import Ranked
from waypost.patterns.runs import Runs
from waypost.patterns.search import Candidate, Search, SearchProgress
from waypost.patterns.tree import Pattern


@dataclass(frozen=True)
class Telling:
    """A pattern, the share of the successful runs that match it, of the others, and of all."""

    pattern: Pattern
    kind: str  # "directly follows", "eventually follows", "segment", or the name of a Declare template
    importance: float  # share among the runs that reach the target
    contrast: float | None  # share among the runs that do not; None where every run does
    support: float  # share among all runs
    information: float  # bits that matching tells about success
    mdp: MDP = field(repr=False, compare=False)
    target: Target = field(repr=False, compare=False)
    by: By = field(repr=False, compare=False)

    def bounds(self, scope: Scope, *, exact: bool = False) -> PatternImportance:
        """Importance of the pattern over the strategies in scope."""
        return pattern_importance(
            self.mdp, pattern=self.pattern, target=self.target, scope=scope, exact=exact, by=self.by
        )


@dataclass(frozen=True, eq=False, repr=False)
class FoundPatterns(Ranked[Telling]):
    """The most telling patterns, most telling first: a sequence of `Telling`."""

    tried: int  # segments that were looked at
    mdp: MDP

    def row(self, one: Telling) -> dict[str, Any]:
        """One pattern by the names of its columns."""
        told = {name: getattr(one, name) for name in ("kind", "importance", "contrast", "support", "information")}
        return {"pattern": str(one.pattern), **told}

    def summary(self, top: int = 5) -> str:
        """The `top` most telling patterns in words, one line each."""
        return str(report("patterns_summary")(self, top))


@checked
def find_patterns(
    mdp: MDP,
    *,
    target: Target,
    strategy: Strategy | None = None,
    top: Positive = 20,
    by: By = "state",
    effort: Positive = 20_000,
    progress: SearchProgress | None = None,
    telling: Callable[[Telling], None] | None = None,
) -> FoundPatterns:
    """The `top` most telling segments of the runs of a strategy, or of a best one.

    Parameters
    ----------
    mdp, target
        The model and the target.
    strategy
        Whose runs are looked at; the observed strategy for a model of a log. A best one by default.
    top
        How many to give.
    by
        As in `pattern_importance`.
    effort
        How many segments are tried at most.
    progress, telling
        Called with the number of segments tried and to be tried; and with every segment that is among the most telling
        so far.

    Returns
    -------
    FoundPatterns
        A sequence of `Telling`, most telling first.

    Raises
    ------
    UndefinedImportanceError
        If the strategy never reaches the target, so that nothing tells its good runs from its bad ones.
    StrategyError
        If the strategy belongs to another model.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> first, *_ = find_patterns(loan(), target="Granted", strategy=Strategy.uniform(loan()), top=3)
    >>> str(first.pattern), round(first.importance, 3), round(first.contrast, 3)
    ('... Consultation Application+ ...', 0.612, 0.053)
    """
    names = target if isinstance(target, str) else list(target)
    played = strategy.of(mdp) if strategy is not None else best_strategy(mdp, target=names)
    runs = Runs.of(mdp, played, mdp.where(names), by)
    search = Search(runs, effort, progress)

    def told(candidate: Candidate) -> Telling:
        won, lost = runs.totals
        both, other = candidate.match
        return Telling(
            search.pattern(candidate),
            candidate.kind,
            importance=float(min(1.0, both / won)),
            contrast=float(min(1.0, other / lost)) if search.contrasted else None,
            support=float(both + other),
            information=candidate.information,
            mdp=mdp,
            target=names,
            by=by,
        )

    search.told = None if telling is None else lambda candidate: telling(told(candidate))
    chosen = search.run(top)
    return FoundPatterns(describe_target(names), float(runs.totals[0]), tuple(map(told, chosen)), search.tried, mdp)
