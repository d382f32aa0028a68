"""What a small chain says about the agent it stands for: which cells good runs pass and bad ones do not.

Under one strategy the importance of a cell for success, beside its importance for failure, is a contrast: what all good
*and* all bad runs pass explains nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from waypost.agents.fitting import ChainFit
from waypost.importance import group_importance
from waypost.model.steps import STEP

if TYPE_CHECKING:
    from waypost.agents.abstraction import Abstraction


MANY = 6  # cuts of time that are told one by one
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
    """Every cell with its shares, the most telling first; none where all episodes that were counted end alike."""
    mdp, others = found.mdp, [name for name in found.fit.observed if name != wanted]
    places = np.array([state.rpartition(f", {STEP}=")[0] or state for state in mdp.states])
    groups = {cell: [mdp.states[s] for s in np.flatnonzero(places == cell).tolist()] for cell in found.members}
    groups = {cell: states for cell, states in groups.items() if states}
    shares = []
    for target in ([wanted], others):
        labels = [name for name in target if name in mdp.labels and mdp.labels[name].any()]
        if not labels or not any(found.fit.predicted[name][-1] > 0 for name in labels):
            return ()
        asked = group_importance(mdp, target=labels, groups=groups, scope=found.strategy)
        shares.append({cell: float(asked[cell].lower) for cell in groups})
    visits = found.support
    told = [CellContrast(cell, shares[0][cell], shares[1][cell], visits.get(cell, 0)) for cell in groups]
    return tuple(sorted(told, key=lambda one: -abs(one.difference)))


def _apart(begins: Sequence[int]) -> str:
    """Say which stages were counted apart."""
    if not begins:
        return ""
    if len(begins) > MANY:
        return f", apart in {len(begins) + 1} stages from step {begins[0]} to step {begins[-1]}"
    steps = " and ".join(filter(None, [", ".join(map(str, begins[:-1])), str(begins[-1])]))
    return f", apart before and after step{'s' * (len(begins) > 1)} {steps}"


def _verdict(fit: ChainFit) -> list[str]:
    """Say whether the chain may stand for the agent, how far off it may be, and what to do if it may not."""
    lines = [f"At no step is it further off than {fit.error:.3f} (step {fit.worst}); chance may do {fit.chance:.3f}."]
    if fit.fits:
        lines.append("That is no more than chance may do, so the chain may stand for the agent.")
        lines.append(
            f"{fit.episodes} episodes cannot say how far off it really is: {fit.at_most:.3f} at most, 95 times in 100."
        )
        return lines
    return [
        *lines,
        "That is more than chance may do: read what follows as hints, not as the agent's odds.",
        "What may help: more episodes, features that name what decides, or clusters of the hidden layer.",
        "Another seed= holds out other episodes; if only some of them refuse the chain, it was chance.",
    ]


def summary(found: Abstraction, wanted: str, names: Sequence[str] | None, top: int) -> str:
    """The chain in words: whether it may stand for the agent, and which cells tell success from failure."""
    fit = found.fit
    lines = [f"{len(found.members)} cells stand for the agent, counted from its episodes{_apart(found.begins)}."]
    if wanted in fit.observed:
        observed, predicted = (float(curves[wanted][-1]) for curves in (fit.observed, fit.predicted))
        lines.append(
            f"Of {fit.episodes} episodes held out, {observed:.1%} end {wanted}; the chain says {predicted:.1%}."
        )
    else:
        ends = ", ".join(f"{name} ({curve[-1]:.1%})" for name, curve in fit.observed.items())
        lines.append(f"No episode ends {wanted}; of {fit.episodes} held out, they end {ends}.")
    lines += _verdict(fit)
    told = contrasts(found, wanted)
    if not told:
        some = next(iter(fit.observed))
        lines.append(
            f"All episodes end {wanted}, so that there is nothing to tell apart."
            if wanted in fit.observed and fit.predicted[wanted][-1] > 0
            else f"So there is nothing to tell from the rest; name an outcome of these: summary({some!r})."
        )
    elif max(abs(one.difference) for one in told) < TELLING:
        lines.append(f"No cell tells runs that end {wanted} from others: what decides is not in these cells.")
    seen = found.describe(names) if names is not None else {}
    for lead, some_cells in (
        (f"Passed by runs that end {wanted} rather than by others:", [c for c in told if c.difference > 0]),
        (f"Passed by others rather than by runs that end {wanted}:", [c for c in told if c.difference < 0]),
    ):
        if some_cells:
            lines.append(lead)
            lines += [
                f"  {one.good:.0%} against {one.bad:.0%}  {one.cell}" + (f": {seen[one.cell]}" if seen else "")
                for one in some_cells[:top]
            ]
    return "\n".join(lines)
