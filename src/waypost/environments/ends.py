"""Steps of an environment on their way to an MDP, and how episodes end.

An episode ends by a step, not by a state: sticking in Blackjack ends it in the very hand one holds. So every end is a
state of its own, told apart by where it happens and by the reward it brings:

* a state that episodes only ever end in, always with the same reward, is that end;
* a state that is also met on the way has the end ``s (end)`` beside it;
* ends with different rewards are different: ``s (end, reward 1)`` and ``s (end, reward -1)``; the reward is said
  wherever the environment has several.

Names that assign variables stay such names: ``x=1, end=true``, ``x=1, reward=-1``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Graph
from waypost.graph.reach import distances
from waypost.model import MDP, Target, describe_target
from waypost.model.valuations import read_valuations

GOAL = "goal"  # label of the ends with the greatest reward
RESET = "reset"
START = "start"  # an extra state in front of several possible first states
REWARDS = range(3, 9)  # this many different final rewards get a label each


class EnvironmentStep(NamedTuple):
    """What an action may lead to, and how likely it is."""

    state: int
    action: int
    to: int
    probability: float
    reward: float
    ended: bool


End = tuple[int, float]  # where an episode ended, and with which reward


@dataclass(frozen=True, eq=False)
class EpisodeModel:
    """All steps of an environment, the names of its states and actions, and where episodes begin."""

    steps: Sequence[EnvironmentStep]
    names: Sequence[str]
    actions: Sequence[str]
    start: Mapping[int, float]

    @cached_property
    def met(self) -> set[int]:
        """States in which an episode can be while it goes on."""
        after: dict[int, list[int]] = {}
        for step in self.steps:
            if step.probability > 0 and not step.ended:
                after.setdefault(step.state, []).append(step.to)
        met, queue = set(self.start), list(self.start)
        for state in queue:
            new = set(after.get(state, ())) - met
            met |= new
            queue += new
        return met

    @cached_property
    def over(self) -> set[int]:
        """States in which every episode is over; what a table says of steps from there means nothing."""
        ended = {step.to for step in self.steps if step.ended and step.probability > 0 and step.state != step.to}
        return ended - self.met

    @cached_property
    def live(self) -> list[EnvironmentStep]:
        """Steps that can be taken."""
        return [step for step in self.steps if step.state not in self.over and step.probability > 0]

    @cached_property
    def ends(self) -> dict[End, int]:
        """Position of the state of each end."""
        rewards: dict[int, list[float]] = {}
        for step in self.live:
            if step.ended and step.reward not in rewards.setdefault(step.to, []):
                rewards[step.to].append(step.reward)
        ends: dict[End, int] = {}
        new = len(self.names)
        for state, several in rewards.items():
            for k, reward in enumerate(sorted(several, reverse=True)):
                takes_place = state in self.over and k == 0
                ends[state, reward] = state if takes_place else new
                new += not takes_place
        return ends

    def mdp(self) -> MDP:
        """The model; state `i` is state `i` of the environment, further ends and a ``start`` come behind."""
        names = self._named()
        kept = [(s, a, self.ends[to, r] if ended else to, p) for s, a, to, p, r, ended in self.live]
        if len(self.start) > 1:
            names.append(START if START not in names else f"({START})")
            kept += [(len(names) - 1, -1, s, p) for s, p in self.start.items()]
        width = len(self.actions) + 1  # action -1 is the reset
        keys = np.array([s * width + a + 1 for s, a, _, _ in kept], np.int64)
        rows, choice = np.unique(keys, return_inverse=True)
        return MDP.from_triplets(
            choice,
            [to for _, _, to, _ in kept],
            [p for _, _, _, p in kept],
            first_choice=np.searchsorted(rows // width, np.arange(len(names) + 1)),
            states=names,
            actions=[RESET if r % width == 0 else self.actions[r % width - 1] for r in rows.tolist()],
            initial=len(names) - 1 if len(self.start) > 1 else next(iter(self.start)),
            labels=self._labels(len(names)),
        )

    def _named(self) -> list[str]:
        """Names of all states; those of ends say so where the place alone does not."""
        names = [*self.names, *[""] * (sum(at >= len(self.names) for at in self.ends.values()))]
        here = Counter(state for state, _ in self.ends)
        differ = len({reward for _, reward in self.ends}) > 1
        for (state, reward), at in self.ends.items():
            if at == state and here[state] == 1:
                continue
            assigns = bool(read_valuations([self.names[state]]))
            if differ:
                said = f"reward={reward:g}" if assigns else f"end, reward {reward:g}"
            else:
                said = "end=true" if assigns else "end"
            names[at] = f"{self.names[state]}, {said}" if assigns else f"{self.names[state]} ({said})"
        return names

    def _labels(self, n: int) -> dict[str, NDArray[np.bool_]]:
        """Ends are terminal; those with the greatest reward are the goal; of several rewards each has a label.

        Where every step pays and no end more than any of them, as for a pole that is to stand, ends are no goal.
        """
        positions = np.array(list(self.ends.values()), np.int64)
        rewards = np.array([reward for _, reward in self.ends])

        def mask(chosen: Any) -> NDArray[np.bool_]:
            holds = np.zeros(n, bool)
            holds[positions[chosen]] = True
            return holds

        if not self.ends:
            return {}  # a task that goes on for ever has no goal of its own
        labels = {"terminal": mask(slice(None)), GOAL: mask(rewards == rewards.max())}
        going = min((step.reward for step in self.live if not step.ended), default=0.0)
        if going > 0 and rewards.max() <= going:
            del labels[GOAL]
        different = np.unique(rewards).tolist()
        if len(different) in REWARDS:
            labels |= {f"reward={reward:g}": mask(rewards == reward) for reward in different}
        return labels


def model_steps(mdp: MDP, steps: int) -> int:
    """Steps of a model for so many of its environment: the reset in front of several first states is none of them.

    >>> mdp = MDP.from_dict({"start": {"reset": {"a": 0.5, "b": 0.5}}, "a": {}, "b": {}}, initial="start")
    >>> model_steps(mdp, 10)
    11
    """
    return steps + (mdp.actions_of(mdp.initial) == (RESET,))


def fewest_steps(mdp: MDP, target: Target) -> int | None:
    """Steps of the shortest run to the target, without the reset; None where there is none.

    >>> mdp = MDP.from_dict({"a": {"go": "b", "stay": "a"}, "b": {"go": "c"}, "c": {}}, initial="a")
    >>> fewest_steps(mdp, "c"), fewest_steps(MDP.from_dict({"a": {}, "b": {}}, initial="a"), "b")
    (2, None)
    """
    found = int(distances(Graph.of(mdp), mdp.where(target))[0][mdp.initial])
    return None if found < 0 else max(0, found - model_steps(mdp, 0))


def out_of_time(mdp: MDP, target: Target, steps: int) -> str:
    """Say that a target is not reached in so many steps, and how many it takes.

    >>> mdp = MDP.from_dict({"a": {"go": "b", "stay": "a"}, "b": {"go": "c"}, "c": {}}, initial="a")
    >>> out_of_time(mdp, "c", 1)
    "no strategy reaches 'c' within 1 step; the shortest way there takes 2"
    """
    fewest = fewest_steps(mdp, target)
    allowed = f"no strategy reaches {describe_target(target)} within {steps} step{'s' * (steps != 1)}"
    return f"{allowed}, or ever" if fewest is None else f"{allowed}; the shortest way there takes {fewest}"
