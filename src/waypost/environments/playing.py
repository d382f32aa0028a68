"""Agents without a model: what they do, recorded.

`rollouts` lets an agent play in any Gymnasium environment and writes down every episode as an input/output trace::

    ["start of the lake", ("down", "ice"), ("right", "ice"), ("down", "positive")]

An *abstraction* says what an observation is called; states with the same name count as the same. From traces there are
two ways to an MDP: `count_mdp`, one state per name, and `waypost.learn.learn_mdp` (IOAlergia), which tells states apart
by what happens next. `rollout_frame` is the event log that process mining tools read.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from waypost.arguments import checked
from waypost.environments.contract import begun, one_environment, stepped
from waypost.errors import ArgumentError, FormatError, require
from waypost.model import MDP
from waypost.model.traces import NEGATIVE, POSITIVE, Trace


@dataclass(frozen=True)
class Episode:
    """How an episode ended."""

    steps: int
    total_reward: float
    last_reward: float
    terminated: bool  # by the environment's rules
    truncated: bool  # by a limit on its length, and not at the same step by the rules


@dataclass(frozen=True)
class Recording:
    """An episode as it was played."""

    observations: tuple[Any, ...]  # before each action
    actions: tuple[Any, ...]
    episode: Episode
    last: Any = None  # what was seen after the last action


def rewarded(episode: Episode) -> str:
    """Call an episode positive if its rewards add up to more than nothing."""
    return POSITIVE if episode.total_reward > 0 else NEGATIVE


@checked
def rollouts(
    env: Any,
    agent: Any,
    *,
    episodes: int,
    abstraction: Callable[[Any], Any] = str,
    outcome: Callable[[Episode], str] = rewarded,
    actions: Sequence[str] | Callable[[Any], str] | None = None,
    deterministic: bool = True,
    seed: int = 0,
    max_steps: int = 10_000,
    progress: Callable[[int, int], None] | None = None,
) -> list[Trace]:
    """Record episodes of an agent as input/output traces; the last step of each leads to its outcome.

    Parameters
    ----------
    env
        A Gymnasium environment.
    agent
        A function from observations to actions, an agent with ``predict`` (stable-baselines3), or None for one that
        plays at random.
    episodes
        How many to play.
    abstraction
        What an observation is called.
    outcome
        What the end of an episode is called; by default ``positive`` if the rewards add up to more than 0.
    actions
        Names of the actions, by number, or a function from actions to names.
    deterministic
        Whether an agent with ``predict`` does what it thinks best, or draws its actions as it did in training.
    seed
        Of the environment and of random play.
    max_steps
        After which an episode is cut off.
    progress
        Called with the number of episodes done and their total.

    Returns
    -------
    list
        A trace for each episode: what it begins with, then pairs of an action and what it led to.

    Raises
    ------
    ArgumentError
        If an action has no name, or something is not what it should be.

    Examples
    --------
    >>> import gymnasium
    >>> env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    >>> rollouts(env, lambda state: 2, episodes=1, actions=["left", "down", "right", "up"], max_steps=3)
    [['0', ('right', '1'), ('right', '2'), ('right', 'negative')]]
    """
    played = record(
        env, agent, episodes=episodes, deterministic=deterministic, seed=seed, max_steps=max_steps, progress=progress
    )
    traces: list[Trace] = []
    for recording in played:
        names = [str(abstraction(seen)) for seen in recording.observations]
        ends = [*names[1:], outcome(recording.episode)]
        did = [action_name(action, actions) for action in recording.actions]
        traces.append([names[0], *zip(did, ends, strict=True)])
    return traces


def record(
    env: Any,
    agent: Any,
    *,
    episodes: int,
    deterministic: bool = True,
    seed: int = 0,
    max_steps: int = 10_000,
    progress: Callable[[int, int], None] | None = None,
) -> list[Recording]:
    """Record episodes as they are: what was seen before each action and at the end, the actions, and how it ended.

    The parameters are those of `rollouts`.

    >>> import gymnasium
    >>> played = record(gymnasium.make("FrozenLake-v1", is_slippery=False), lambda state: 2, episodes=1, max_steps=2)
    >>> played[0].observations, played[0].actions, played[0].last
    ((0, 1), (2, 2), 2)
    """
    one_environment(env, "played")
    act = _Player(env, agent, deterministic=deterministic)
    env.action_space.seed(seed)
    found = []
    for episode in range(episodes):
        observation, _ = begun(env, seed if episode == 0 else None)
        seen, actions, rewards = [observation], [], []
        act.begin()
        ended = cut = False
        while not (ended or cut):
            actions.append(act(observation))
            observation, reward, ended, cut, _ = stepped(env, actions[-1])
            seen.append(observation)
            rewards.append(reward)
            cut = cut or len(rewards) >= max_steps
        end = Episode(len(rewards), sum(rewards), rewards[-1], ended, cut and not ended)
        found.append(Recording(tuple(seen[:-1]), tuple(actions), end, seen[-1]))
        if progress is not None:
            progress(episode + 1, episodes)
    return found


@checked
def count_mdp(traces: Sequence[Trace]) -> MDP:
    """MDP with one state per name, whose probabilities are the frequencies in the traces; the counts are kept.

    Parameters
    ----------
    traces
        As `rollouts` gives them: what a trace begins with, then pairs of an action and what it led to.

    Returns
    -------
    MDP
        With ``counts`` of every transition.

    Raises
    ------
    FormatError
        If the traces do not begin in one and the same state.

    Examples
    --------
    >>> mdp = count_mdp([["s", ("try", "positive")], ["s", ("try", "s"), ("try", "negative")]])
    >>> mdp.states, mdp.counts.tolist(), [str(p) for p in mdp.exact]
    (('s', 'positive', 'negative'), [1, 1, 1, 0, 0], ['1/3', '1/3', '1/3', '1', '1'])
    """
    first = {str(trace[0]) for trace in traces if trace}
    if len(first) != 1:
        raise FormatError(
            f"the episodes begin in {len(first)} different states; let the abstraction call them the same"
        )
    position: dict[str, int] = {first.pop(): 0}
    seen: dict[tuple[int, str, int], int] = {}
    for trace in traces:
        here = 0
        for step in trace[1:]:
            action, name = step[0], step[1]
            there = position.setdefault(name, len(position))
            seen[here, action, there] = seen.get((here, action, there), 0) + 1
            here = there
    ranked = sorted(seen)
    rows = list(dict.fromkeys((state, action) for state, action, _ in ranked))
    row = {pair: k for k, pair in enumerate(rows)}
    totals = [0] * len(rows)
    for state, action, there in ranked:
        totals[row[state, action]] += seen[state, action, there]
    exact = [Fraction(seen[key], totals[row[key[:2]]]) for key in ranked]
    return MDP.from_triplets(
        [row[key[:2]] for key in ranked],
        [there for _, _, there in ranked],
        [float(p) for p in exact],
        first_choice=np.searchsorted([state for state, _ in rows], np.arange(len(position) + 1)),
        states=list(position),
        actions=[action for _, action in rows],
        initial=0,
        exact=exact,
        counts=[seen[key] for key in ranked],
    )


def rollout_frame(traces: Sequence[Trace]) -> Any:
    """Event log of the traces as a pandas DataFrame with the columns of the XES standard, one row per step.

    >>> rollout_frame([["s", ("try", "positive")]]).to_dict("records")
    [{'case:concept:name': 'episode 1', 'concept:name': 'try', 'state': 's', 'case:outcome': 'positive'}]
    """
    pandas = require("pandas", "table", "rollout_frame()")
    rows = []
    for number, trace in enumerate(traces, 1):
        here, outcome = str(trace[0]), trace[-1][1]
        for step in trace[1:]:
            rows.append((f"episode {number}", step[0], here, outcome))
            here = step[1]
    return pandas.DataFrame(rows, columns=["case:concept:name", "concept:name", "state", "case:outcome"])


class _Player:
    """An agent at play, which may remember what it saw since the episode began."""

    def __init__(self, env: Any, agent: Any, *, deterministic: bool) -> None:
        if agent is not None and not hasattr(agent, "predict") and not callable(agent):
            raise FormatError(f"a {type(agent).__name__} is no agent; give a function from observations to actions")
        self.env, self.agent, self.deterministic = env, agent, deterministic
        self.begin()

    def begin(self) -> None:
        """Forget what was seen: an episode begins."""
        self.memory, self.first = None, True

    def __call__(self, observation: Any) -> Any:
        if self.agent is None:
            return self.env.action_space.sample()
        said = self._said(observation)
        lone = getattr(self.env.action_space, "shape", None) == ()  # else one number in an array stays there
        return plain(said) if lone else detached(said)

    def _said(self, observation: Any) -> Any:
        """What the agent answers."""
        if not hasattr(self.agent, "predict"):
            return self.agent(observation)
        if not _has_memory(self.agent):
            return predicted(self.agent, observation, deterministic=self.deterministic)
        given = {"state": self.memory, "episode_start": np.array([self.first]), "deterministic": self.deterministic}
        action, self.memory = self.agent.predict(observation, **given)
        self.first = False
        return action


def _has_memory(agent: Any) -> bool:
    """Whether ``predict`` takes and gives a state, as stable-baselines3 has it."""
    try:
        return {"state", "episode_start"} <= set(inspect.signature(agent.predict).parameters)
    except (TypeError, ValueError):  # it has no signature
        return False


def remembers(agent: Any, seen: Any) -> bool:
    """Whether an agent has a state after it was asked: a recurrent network.

    >>> class Counting:
    ...     def predict(self, seen, state=None, episode_start=None, deterministic=True):
    ...         return 0, (state or 0) + 1
    >>> remembers(Counting(), 3)
    True
    """
    said = agent.predict(seen) if _has_memory(agent) else None
    return isinstance(said, tuple) and said[1] is not None


def predicted(agent: Any, seen: Any, *, deterministic: bool = True) -> Any:
    """What ``predict`` says: with or without `deterministic`, alone or before the state of a recurrent network."""
    try:
        said = agent.predict(seen, deterministic=deterministic)
    except TypeError:
        said = agent.predict(seen)
    return detached(said[0] if isinstance(said, tuple) else said)


def plain(said: Any) -> Any:
    """What an agent said as numpy and Python have it: a tensor is an array, a lone number is a number.

    >>> plain(np.array([3])), plain(np.float32(0.5)), plain(np.array([0.5, 1])).tolist(), plain("left")
    (3, 0.5, [0.5, 1.0], 'left')
    """
    said = detached(said)
    found = np.asarray(said) if hasattr(said, "__array__") else said
    return found.item() if isinstance(found, np.ndarray | np.generic) and found.size == 1 else found


def detached(said: Any) -> Any:
    """A tensor of torch as an array, without its gradient; all else as it is."""
    return said.detach().cpu().numpy() if hasattr(said, "detach") else said


def action_name(action: Any, names: Sequence[str] | Callable[[Any], str] | None) -> str:
    """What an action is called: by a function, by its number in a list of names, or by the number itself.

    >>> action_name(np.int64(1), ["left", "right"]), action_name(np.array([0.3]), lambda a: "up" if a[0] > 0 else "no")
    ('right', 'up')
    """
    if callable(names):
        return str(names(action))
    number = np.asarray(action).reshape(-1)
    if names is None:
        return str(number[0].item()) if number.size == 1 else str(number.tolist())
    if number.size != 1 or number.dtype.kind not in "biu":
        raise ArgumentError(
            f"the action {action!r} has no number; give names by a function: actions=lambda action: ..."
        )
    if not 0 <= int(number[0]) < len(names):
        raise ArgumentError(f"{len(names)} names of actions, and the agent takes action number {int(number[0])}")
    return str(names[int(number[0])])
