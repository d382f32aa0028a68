"""A second opinion on a strategy: what Storm says that it reaches, and how important states are under it.

The strategy goes out as Storm's own scheduler, on the product of the model with the strategy's memory, and Storm
computes on what it reads (`waypost.formats.storm_verifier`); nothing of Waypost's engine is involved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from waypost.errors import FormatError, StrategyError, require_elsewhere
from waypost.formats import drn, storm_verifier
from waypost.formats.storm import TIME_LIMIT
from waypost.formats.strategies import storm_scheduler
from waypost.model import MDP, Strategy, Target, on_product
from waypost.processes import Child, ChildError, spare_memory


@dataclass(frozen=True)
class SecondOpinion:
    """What Storm computes under a strategy: the probability of the target, and by name the importance of sets."""

    reachability: float | Fraction
    importance: Mapping[str, float | Fraction]


def second_opinion(
    strategy: Strategy,
    *,
    target: Target,
    groups: Mapping[str, Target],
    exact: bool = False,
    time_limit: float | None = TIME_LIMIT,
) -> SecondOpinion:
    """Ask Storm for the importance of sets of states for reaching `target` under a strategy.

        imp(S) = Pr(F S | F target)        in the chain that the strategy leaves, the target absorbing

    >>> from waypost.cases import loan
    >>> from waypost import state_importance
    >>> result = state_importance(loan(), target="Granted", scope="all", exact=True)
    >>> witness = result.witness("Error", "upper")
    >>> second_opinion(witness, target="Granted", groups={"Error": "Error"}, exact=True).importance["Error"]
    Fraction(98, 953)
    """
    require_elsewhere("stormpy", "storm", "verifying a strategy")
    known = strategy.mdp
    marks = {"target": known.where(target), **{f"set{k}": known.where(g) for k, g in enumerate(groups.values())}}
    marked = MDP.with_labels(known, marks)
    plain = on_product(Strategy(marked, strategy.modes, strategy.update, strategy.start, strategy.toss))
    members = [np.flatnonzero(mask).tolist() for mask in plain.mdp.labels.values()]
    job = {"exact": exact, "target": members[0], "asked": members[1:]}
    try:
        with Child(storm_verifier.__file__, "work", memory=spare_memory(), folder=True) as child:
            folder = Path(child.folder or "")
            (folder / "model.drn").write_text(drn.dumps(_rational(plain.mdp) if exact else plain.mdp), encoding="utf-8")
            (folder / "scheduler.json").write_text(storm_scheduler(plain), encoding="utf-8")
            answer = child.ask(job, seconds=time_limit)
    except ChildError as error:
        raise FormatError(f"Storm could not check the strategy ({error.trouble}): {error.said.strip()[:200]}") from None
    read = Fraction if exact else float
    if not answer["importance"] and groups:
        raise StrategyError("under this strategy the target is not reached, so importance is undefined")
    return SecondOpinion(read(answer["reached"]), dict(zip(groups, map(read, answer["importance"]), strict=True)))


def _rational(mdp: MDP) -> MDP:
    """Model whose floats are the decimals that they print as, so that Storm and we compute with the same numbers."""
    return mdp if mdp.exact is not None else replace(mdp, exact=mdp.rationals())
