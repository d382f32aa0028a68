"""What to change first in an agent: the best where most is lost, then where most is lost after that, and so on.

With a limit on the steps, the best is the action that is best on average over the visits to a place: it is done at
every step, as an agent that counts no steps does.

A cost is what the best would have made of the rest of the run, so that what a change gains is known only when the agent
so changed is judged itself: it may come to places in which it does worse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from waypost.agents.conduct import Conduct
from waypost.importance.deciding import CLOSE
from waypost.model import Strategy
from waypost.model.checking import frozen

MOST = 5  # changes


class Mended(NamedTuple):
    """A place in which an agent would do the best, after those before it; otherwise it goes on as it does."""

    state: str
    action: str
    success: float  # then


def mended(
    strategy: Strategy, conduct: Conduct, judged: Callable[[Strategy], tuple[Conduct, float]]
) -> tuple[Mended, ...]:
    """Changes of an agent, one after the other; `judged` tells the conduct and the success of an agent."""
    mdp = strategy.mdp
    found: dict[int, Mended] = {}
    while len(found) < MOST:
        lost = np.where(conduct.mendable(mdp), conduct.lost(mdp), 0.0)
        worst = int(lost.argmax())
        if lost[worst] <= CLOSE or worst in found:
            break
        here = np.arange(mdp.first_choice[worst], mdp.first_choice[worst + 1])
        best = int(here[conduct.merits[here].argmax()])
        only = np.arange(mdp.n_choices) == best
        modes = (frozen(np.where(mdp.choice_state == worst, only, mode)) for mode in strategy.modes)
        strategy = replace(strategy, modes=tuple(modes))
        conduct, success = judged(strategy)
        found[worst] = Mended(mdp.states[worst], mdp.actions[best], success)
    return tuple(found.values())
