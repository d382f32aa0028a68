"""What a small chain says about the agent it stands for: which cells good runs pass and bad ones do not.

Under one strategy the importance of a cell for success, beside its importance for failure, is a contrast: what all good
*and* all bad runs pass explains nothing. Cells are ranked by the episodes that were counted; the shares that are told
are those of the episodes held out, and the chain's importances stand beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from waypost.agents.calibration import CellOdds
from waypost.agents.fitting import ChainFit
from waypost.agents.memory import MemoryFit
from waypost.agents.passing import Passages, PassingFit, Shares
from waypost.importance import group_importance
from waypost.model.steps import STEP

if TYPE_CHECKING:
    from waypost.agents.abstraction import Abstraction


MANY = 6  # cuts of time that are told one by one
HARDLY = 0.01  # difference of odds that is not told by its numbers
TELLING = 0.1  # difference of shares below which a cell tells nothing


class CellContrast(NamedTuple):
    """A cell, and the shares of the good and of the bad runs that pass it."""

    cell: str
    good: float  # of the episodes held out
    bad: float
    said_good: float  # by the chain
    said_bad: float
    visits: int  # in the episodes that were counted

    @property
    def difference(self) -> float:
        """How much more of the good runs pass it."""
        return self.good - self.bad


def contrasts(found: Abstraction, wanted: str) -> tuple[CellContrast, ...]:
    """Every cell with its shares, first what tells most in the episodes that were counted; none where all end alike."""
    passed, sides = found.passages, _sides(found, wanted)
    if not _differ(passed, sides):
        return ()
    ranked = [passed.shares(side, held_out=False) for side in sides]
    told = [passed.shares(side, held_out=True) for side in sides]
    visits = found.support
    rows = zip(passed.cells, *told, *_said(found, sides), strict=True)
    every = [
        CellContrast(cell, float(good), float(bad), float(said_good), float(said_bad), visits.get(cell, 0))
        for cell, good, bad, said_good, said_bad in rows
    ]
    order = np.argsort(-np.abs(ranked[0] - ranked[1]), kind="stable")
    return tuple(every[k] for k in order.tolist())


def passing_fit(found: Abstraction, wanted: str) -> PassingFit | None:
    """Check of the chain's shares where the episodes it was counted from speak most against them, or None."""
    passed, sides = found.passages, _sides(found, wanted)
    if not _differ(passed, sides):
        return None
    checks = [passed.checked(side, said) for side, said in zip(sides, _said(found, sides), strict=True)]
    return max(checks, key=lambda check: check[0])[1]


def _differ(passed: Passages, sides: Sequence[list[str]]) -> bool:
    """Whether episodes end well, and others do not, among those that were counted and those held out."""
    return all(passed.among(side, held_out=held_out).any() for side in sides for held_out in (False, True))


def _sides(found: Abstraction, wanted: str) -> tuple[list[str], list[str]]:
    """Outcomes that are good, and the others."""
    return [wanted], [name for name in found.fit.observed if name != wanted]


def _said(found: Abstraction, sides: Sequence[list[str]]) -> list[Shares]:
    """(k,) for good runs and for bad ones: the importance of each cell in the chain."""
    mdp, cells = found.mdp, found.passages.cells
    places = np.array([state.rpartition(f", {STEP}=")[0] or state for state in mdp.states])
    groups = {cell: [mdp.states[s] for s in np.flatnonzero(places == cell).tolist()] for cell in cells}
    groups = {cell: states for cell, states in groups.items() if states}
    said = []
    for side in sides:
        labels = [name for name in side if name in mdp.labels and mdp.labels[name].any()]
        asked = group_importance(mdp, target=labels, groups=groups, scope=found.strategy)
        said.append(np.array([float(asked[cell].lower) if cell in groups else 0.0 for cell in cells]))
    return said


def _apart(begins: Sequence[int]) -> str:
    """Say which stages were counted apart."""
    if not begins:
        return ""
    if len(begins) > MANY:
        return f", apart in {len(begins) + 1} stages from step {begins[0]} to step {begins[-1]}"
    steps = " and ".join(filter(None, [", ".join(map(str, begins[:-1])), str(begins[-1])]))
    return f", apart before and after step{'s' * (len(begins) > 1)} {steps}"


def _verdict(fit: ChainFit) -> list[str]:
    """Say whether the chain predicts how many runs succeed, how far off it may be, and what to do if it does not."""
    most = f"{fit.error:.3f} (step {fit.worst}); chance may do {fit.chance:.3f}"
    lines = [f"At no step is the chain further off than {most}."]
    if fit.fits:
        so = "so the chain may stand for the agent in how many runs end how, and when"
        lines.append(f"That is no more than chance may do, {so}.")
        lines.append(
            f"{fit.episodes} episodes cannot say how far off it really is: {fit.at_most:.3f} at most, 95 times in 100."
        )
        return lines
    return [
        *lines,
        "That is more than chance may do: the chain's odds are not the agent's.",
        "What may help: more episodes, features that name what decides, or clusters of the hidden layer.",
        "Another seed= holds out other episodes; if only some of them refuse the chain, it was chance.",
    ]


def _where(passing: PassingFit, *, trusted: bool) -> list[str]:
    """Say whether the chain is right about where runs pass, and, where all else fits, what follows from that."""
    said = (
        f"Shares of runs through a cell it has wrong by {passing.error:.2f}, where chance may do {passing.chance:.2f}"
    )
    if passing.fits:
        return [f"{said}: its importances may be the agent's."] if trusted else []
    return [
        f"{said} (runs that end {passing.outcome}, {passing.cell}).",
        "So its importances are not the agent's, which remembers what cells forget; read the shares that were counted.",
    ]


def remembered(memory: MemoryFit, wanted: str, *, fits: bool) -> list[str]:
    """Say whether the agent remembers what a chain forgets, and where; it may be by chance if it does not fit."""
    chance = f"{memory.surely:.1f} standard errors, where chance may do {memory.chance:.1f}"
    if memory.fits:
        return [f"Nothing that it forgets was found to matter: {chance}."] if fits else []
    so = f"Runs that {memory.past} go on from {memory.cell}"
    told = "elsewhere than the others"
    if abs(memory.after - memory.otherwise) < HARDLY:
        told += ", which changes success by less than a point at a step and may add up over many"
    elif not np.isnan(memory.after):
        told = f"to where {memory.after:.1%} end {wanted}, the others to where {memory.otherwise:.1%} do"
    return [
        f"What comes after a cell depends on the way there, which a chain forgets: {chance}.",
        f"{so} {told}. The chain takes them for the same: do not rely on what it says of {memory.cell}.",
    ]


def _effect(odds: CellOdds, wanted: str) -> str:
    """Say how far the chain's odds are off where they are furthest off."""
    return (
        f"At {odds.cell}, where the other episodes find its odds of success furthest off, the chain says that "
        f"{odds.said:.1%} end {wanted}; of the {odds.episodes} held out that pass it {odds.counted:.1%} do. "
        f"So it is off by {100 * odds.at_most:.0f} points there at most, 95 times in 100."
    )


def _nothing(found: Abstraction, wanted: str) -> str:
    """Say why there is nothing to tell apart."""
    ends = found.passages.outcomes
    if wanted not in ends:
        return f"So there is nothing to tell from the rest; name an outcome of these: summary({str(min(ends))!r})."
    if (ends == wanted).all():
        return f"All episodes end {wanted}, so that there is nothing to tell apart."
    return "Too few episodes end differently to tell anything by them; play more."


def summary(found: Abstraction, wanted: str, names: Sequence[str] | None, top: int) -> str:
    """The chain in words: which cells tell success from failure, and whether it may stand for the agent."""
    fit = found.fit
    stand = "1 cell stands" if len(found.members) == 1 else f"{len(found.members)} cells stand"
    lines = [f"{stand} for the agent, counted from its episodes{_apart(found.begins)}."]
    if wanted in fit.observed:
        observed, predicted = (float(curves[wanted][-1]) for curves in (fit.observed, fit.predicted))
        lines.append(
            f"Of {fit.episodes} episodes held out, {observed:.1%} end {wanted}; the chain says {predicted:.1%}."
        )
    else:
        ends = ", ".join(f"{name} ({curve[-1]:.1%})" for name, curve in fit.observed.items())
        lines.append(f"No episode ends {wanted}; of {fit.episodes} held out, they end {ends}.")
    lines += _contrasted(found, wanted, names, top)
    lines += _verdict(fit)
    passing, memory = found.passing(wanted), found.memory(wanted)
    trusted = fit.fits and (memory is None or memory.fits)
    lines += [_nothing(found, wanted)] if passing is None else _where(passing, trusted=trusted)
    lines += [] if memory is None else remembered(memory, wanted, fits=fit.fits)
    odds = found.odds(wanted)
    lines += [] if passing is None or odds is None else [_effect(odds, wanted)]
    return "\n".join(lines)


def _shares(one: CellContrast) -> str:
    """Shares of a cell, first those of the runs that pass it rather than the others, and what the chain says."""
    said = [(one.good, one.said_good), (one.bad, one.said_bad)]
    first, second = said if one.difference > 0 else said[::-1]
    return f"{first[0]:.0%} against {second[0]:.0%} (the chain: {first[1]:.0%} against {second[1]:.0%})"


def _contrasted(found: Abstraction, wanted: str, names: Sequence[str] | None, top: int) -> list[str]:
    """Say which cells good runs pass and bad ones do not, in the episodes held out and as the chain has it."""
    every = contrasts(found, wanted)
    told = [one for one in every if abs(one.difference) >= TELLING]
    if every and not told:
        return [f"No cell tells runs that end {wanted} from others: what decides is not in these cells."]
    lines = []
    seen = found.describe(names) if names is not None else {}
    good, bad = (int(found.passages.among(side, held_out=True).sum()) for side in _sides(found, wanted))
    ends, others = f"the {good} held out that end {wanted}", f"the {bad} that do not"
    for lead, some_cells in (
        (f"Passed by {ends} rather than by {others}:", [c for c in told if c.difference > 0]),
        (f"Passed by {others} rather than by {ends}:", [c for c in told if c.difference < 0]),
    ):
        if some_cells:
            lines.append(lead)
            lines += [
                f"  {_shares(one)}  {one.cell}" + (f": {seen[one.cell]}" if seen else "") for one in some_cells[:top]
            ]
    return lines
