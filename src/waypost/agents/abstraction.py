"""Worlds too large for a table, by abstraction: episodes of an agent, observations in cells, and a check of the fit.

Observations with one name are one state, and the steps of the agent between them are counted: a chain of a few states
stands for the agent in its world. A limit on the length of episodes is no step of the world: where episodes ended by
one, the chain counts its steps, and being there in time is an outcome.

Whether the chain may stand for the agent is measured, not believed, on a quarter of the episodes that had no say in
anything. For every step ``t`` and outcome ``o`` the chain predicts ``P(o within t steps)``; the error is the greatest
distance from the share of held-out episodes

    error = max over o, t of | P(o within t steps) - share(o within t steps) |

and a chain fits as long as its error is what as many episodes would show by chance (the bound of Dvoretzky, Kiefer,
Wolfowitz and Massart). How it is made finer until it does is in `waypost.agents.refining`. Whether it is also right
about *where* good and bad runs pass is a second check, `waypost.agents.passing`, and whether it forgets what the agent
remembers a third, `waypost.agents.memory`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.agents.calibration import CellOdds, cell_odds
from waypost.agents.cells import Cells, Space
from waypost.agents.fitting import ChainFit
from waypost.agents.memory import CellVisits, MemoryFit, Worth, memory_fit
from waypost.agents.observations import as_rows, column_names
from waypost.agents.passing import Passages, PassingFit
from waypost.agents.refining import Actions, CellChain, Refinement
from waypost.agents.telling import CellContrast, contrasts, passing_fit, summary
from waypost.environments.playing import Episode, Recording, rewarded
from waypost.errors import ArgumentError
from waypost.model import MDP, Strategy
from waypost.model.traces import POSITIVE

LEAST_EPISODES = 12
ROUNDS = 10  # of refinement


@dataclass(frozen=True, eq=False)
class Abstraction:
    """An agent in its world as a small chain, with the check of its fit.

    Attributes
    ----------
    mdp
        States are the cells, ``cell=c3`` or ``cell=c3, step=17`` with a clock, the outcomes, which are also labels,
        and a ``start``.
    strategy
        What the agent does, as counted: the scope in which to ask.
    counted
        The model without the clock; its counts are the support.
    cells
        What observations are called.
    fit
        How well it predicts held-out episodes, which had no say in the chain, step by step.
    passages
        Which episodes pass which cells.
    visits
        Every step of theirs, in order.
    worth
        By outcome, how probable it is from each cell, and from each outcome.
    said
        By outcome, how probable the chain says it is at each of the visits.
    begins
        Steps with which a new stage begins, in which the chain has other probabilities.
    tried
        Number of cells, and error on the episodes that were counted, round by round.
    members
        (n, d) the numbers seen in each cell.
    columns
        Names of these numbers: the keys of observations that are dicts, or their places.
    """

    mdp: MDP
    strategy: Strategy
    counted: MDP
    cells: Cells
    fit: ChainFit
    passages: Passages
    visits: CellVisits
    worth: Mapping[str, Worth]
    said: Mapping[str, NDArray[np.float64]]
    begins: tuple[int, ...]
    tried: tuple[tuple[int, float], ...]
    members: Mapping[str, NDArray[np.float64]]
    columns: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Abstraction(cells={len(self.members)}, states={self.mdp.n_states}, {self.fit})"

    @property
    def support(self) -> dict[str, int]:
        """How often each state was entered in the episodes that were counted."""
        model = self.counted
        visits = np.bincount(model.transitions.indices, weights=np.asarray(model.counts), minlength=model.n_states)
        return {name: int(n) for name, n in zip(model.states, visits, strict=True)}

    @property
    def telling(self) -> float:
        """Difference between the shares of good and of bad runs, of those held out, that pass the most telling cell.

        Which cell that is, is decided by the episodes that were counted. A chain may fit by its stages alone; whether
        its cells say why is told by this.
        """
        return max((abs(one.difference) for one in self.contrasts()[:1]), default=0.0)

    def contrasts(self, wanted: str = POSITIVE) -> tuple[CellContrast, ...]:
        """Shares of the good and of the bad runs that pass each cell, the most telling cell first.

        They are counted in the episodes held out, and the chain's importances stand beside them. Empty where all
        episodes end alike, so that nothing can be told apart.
        """
        return contrasts(self, wanted)

    def passing(self, wanted: str = POSITIVE) -> PassingFit | None:
        """Whether the chain's importances are the agent's, asked of the episodes held out.

        They are asked where the episodes that were counted speak most against the chain. None where all end alike.
        """
        return passing_fit(self, wanted)

    def memory(self, wanted: str = POSITIVE) -> MemoryFit | None:
        """Whether success depends on more of the past than the cell: on cells passed before, or on the time.

        None where all episodes end alike, or no cell is come by in different ways.
        """
        return memory_fit(self.visits, self.worth[wanted]) if wanted in self.worth else None

    def odds(self, wanted: str = POSITIVE) -> CellOdds | None:
        """How far the chain's odds are off from the cell at which they are furthest off: an effect, and no verdict.

        A chain that forgets what matters in principle may still be nearly right. None where no cell is passed by
        twenty of the episodes held out.
        """
        return cell_odds(self.visits, self.passages, self.said[wanted], wanted) if wanted in self.said else None

    def stands(self, wanted: str = POSITIVE) -> bool:
        """Whether the chain may stand for the agent: none of the three checks refuses it.

        A right chain is refused once in twenty times. One of episodes that all end alike was not checked, and does not.
        """
        checks = (self.fit, passing := self.passing(wanted), self.memory(wanted))
        return passing is not None and all(check.fits for check in checks if check is not None)

    def summary(self, wanted: str = POSITIVE, *, names: Sequence[str] | None = None, top: int = 4) -> str:
        """The chain in words: its error, and the cells that tell success from failure; `names` as in `describe`."""
        return summary(self, wanted, names, top)

    def describe(self, names: Sequence[str] | None = None) -> dict[str, str]:
        """What is seen in each cell: the middle half of every number of an observation, by its name.

        An observation of ``(position, angle)`` might read ``{"cell=c1": "position -0.1 to 0.2, angle 0.01 to 0.03"}``.
        """
        called = self.columns if names is None else names
        if len(called) != len(self.columns):
            raise ArgumentError(f"{len(called)} names for the {len(self.columns)} numbers of an observation")
        found = {}
        for cell, seen in self.members.items():
            low, high = np.quantile(seen, [0.25, 0.75], axis=0)
            parts = [f"{name} {a:.2g} to {b:.2g}" for name, a, b in zip(called, low, high, strict=True)]
            found[cell] = ", ".join(parts)
        return found


def abstract_agent(
    played: Sequence[Recording],
    *,
    space: Space | None = None,
    features: Callable[[Any], Any] | None = None,
    outcome: Callable[[Episode], str] = rewarded,
    actions: Actions | None = None,
    cells: int = 4,
    most: int = 64,
    seed: int = 0,
) -> Abstraction:
    """Small chain that stands for an agent in its world, with a check on episodes that had no say in it.

    Parameters
    ----------
    played
        Episodes of the agent, as `waypost.environments.record` gives them; three quarters of them are counted.
    space
        Rows of numbers from all observations at once, in which cells are clusters: `hidden_layer` of a network. Without
        it, the numbers of the observations themselves.
    features
        First name of an observation, in place of clusters; ``lean=left, turn=calm`` becomes variables. `foreseen`
        learns such names.
    outcome
        What the end of an episode is called; by default ``positive`` if its rewards add up to more than nothing.
    actions
        Names of the actions, by number; or a function from actions to names, for actions that are no numbers.
    cells, most
        Clusters to begin with, and cells at most.
    seed
        Of the clusters, and of which episodes are held out.
    """
    if len(played) < LEAST_EPISODES:
        raise ArgumentError(f"{len(played)} episodes are too few to make a chain and to check it; play more")
    work = Refinement(played, space, features, outcome, actions, cells, seed)
    now: CellChain | None = work.chain(work.cells)
    rounds: list[CellChain] = []
    while now is not None and len(rounds) < ROUNDS:
        rounds.append(now)
        now = work.finer(now, most - now.size)
    found = rounds[-1]
    strategy = work.clocked(found)
    return Abstraction(
        mdp=strategy.mdp,
        strategy=strategy,
        counted=found.strategy.mdp,
        cells=found.cells,
        fit=work.fit(found.staged, work.held_out),
        passages=work.passages(found),
        visits=work.visits(found),
        worth=work.worth(found),
        said={outcome: work.odds(found, outcome) for outcome in found.staged.steps.outcomes},
        begins=found.staged.begins,
        tried=tuple((chain.size, chain.fit.error) for chain in rounds),
        members={cell: as_rows(seen) for cell, seen in work.members(found).items()},
        columns=tuple(column_names(played[0].observations[0])),
    )
