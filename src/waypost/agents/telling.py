"""What a small chain says about the agent it stands for: which cells good runs pass and bad ones do not.

Under one strategy the importance of a cell for success, beside its importance for failure, is a contrast: what all good
*and* all bad runs pass explains nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from waypost.importance import group_importance
from waypost.model.steps import STEP

if TYPE_CHECKING:
    from waypost.agents.abstraction import Abstraction


TELLING = 0.1  # difference of shares below which a cell tells nothing


class CellContrast(NamedTuple):
    """A cell, and the shares of the good and of the bad runs that pass it."""

    cell: str
    good: float
    bad: float
    visits: int  # in the episodes that were counted

    @property
    def difference(self) -> float:
        """How much more of the good runs pass it."""
        return self.good - self.bad


def contrasts(found: Abstraction, wanted: str) -> tuple[CellContrast, ...]:
    """Every cell with its shares, the most telling first."""
    mdp, others = found.mdp, [name for name in found.fit.observed if name != wanted]
    places = np.array([state.rpartition(f", {STEP}=")[0] or state for state in mdp.states])
    groups = {cell: [mdp.states[s] for s in np.flatnonzero(places == cell).tolist()] for cell in found.members}
    groups = {cell: states for cell, states in groups.items() if states}
    shares = []
    for target in ([wanted], others):
        labels = [name for name in target if name in mdp.labels and mdp.labels[name].any()]
        if not labels:
            shares.append(dict.fromkeys(groups, 0.0))
            continue
        asked = group_importance(mdp, target=labels, groups=groups, scope=found.strategy)
        shares.append({cell: float(asked[cell].lower) for cell in groups})
    visits = found.support
    told = [CellContrast(cell, shares[0][cell], shares[1][cell], visits.get(cell, 0)) for cell in groups]
    return tuple(sorted(told, key=lambda one: -abs(one.difference)))


def _apart(begins: Sequence[int]) -> str:
    """Say which stages were counted apart."""
    if not begins:
        return ""
    steps = " and ".join(filter(None, [", ".join(map(str, begins[:-1])), str(begins[-1])]))
    return f", apart before and after step{'s' * (len(begins) > 1)} {steps}"


def summary(found: Abstraction, wanted: str, names: Sequence[str] | None, top: int) -> str:
    """The chain in words: whether it may stand for the agent, and which cells tell success from failure."""
    fit, cells = found.fit, len(found.members)
    observed, predicted = (float(curves[wanted][-1]) for curves in (fit.observed, fit.predicted))
    verdict = (
        "no more than chance may do, so the chain may stand for the agent"
        if fit.fits
        else "more than chance may do: read what follows as hints, play more episodes or allow more cells"
    )
    lines = [
        f"{cells} cells stand for the agent, counted from its episodes{_apart(found.begins)}.",
        f"Of {fit.episodes} episodes held out, {observed:.1%} end {wanted}; the chain says {predicted:.1%}.",
        f"At no step is it further off than {fit.error:.3f} (step {fit.worst}); chance may do {fit.chance:.3f}.",
        f"That is {verdict}.",
    ]
    told = contrasts(found, wanted)
    if max((abs(one.difference) for one in told), default=0.0) < TELLING:
        lines.append(f"No cell tells runs that end {wanted} from others: what decides is not in these cells.")
    seen = found.describe(names) if names is not None else {}
    for lead, some in (
        (f"Passed by runs that end {wanted} rather than by others:", [c for c in told if c.difference > 0]),
        (f"Passed by others rather than by runs that end {wanted}:", [c for c in told if c.difference < 0]),
    ):
        if some:
            lines.append(lead)
            lines += [
                f"  {one.good:.0%} against {one.bad:.0%}  {one.cell}" + (f": {seen[one.cell]}" if seen else "")
                for one in some[:top]
            ]
    return "\n".join(lines)
