"""An agent without a model: A2C learns CartPole, plays, and what it went through is explained.

Run: python examples/cartpole_agent.py   (needs: pip install 'waypost[gym,agents,learn,logs]')
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import A2C

import waypost
from waypost.environments.rollouts import Episode, Trace, count_mdp, rollouts
from waypost.learn import learn_mdp, observed_strategy


def trained(*, steps: int = 6000, seed: int = 1) -> A2C:
    """A2C after some seconds of training."""
    env = gymnasium.make("CartPole-v1")
    torch.set_num_threads(1)  # the network is too small for more
    small = {"net_arch": [32]}
    return A2C("MlpPolicy", env, learning_rate=4e-3, n_steps=25, policy_kwargs=small, seed=seed, device="cpu").learn(
        steps
    )


def region(observation: Any) -> str:
    """Call an observation by where the pole leans and how it turns."""
    _, _, angle, turn = np.asarray(observation, float)
    lean = ("left", "upright", "right")[int(np.digitize(angle, [-0.03, 0.03]))]
    move = ("falling left", "calm", "falling right")[int(np.digitize(turn, [-0.3, 0.3]))]
    return f"{lean}, {move}"


def survived(episode: Episode) -> str:
    """Call an episode positive if the pole still stood at the end."""
    return "positive" if episode.truncated else "negative"


def play(agent: Any, *, episodes: int = 100, seed: int = 7) -> list[Trace]:
    """Traces of the agent, 100 steps each at most, all beginning alike."""
    env = gymnasium.make("CartPole-v1")
    traces = rollouts(
        env,
        agent,
        episodes=episodes,
        abstraction=region,
        outcome=survived,
        actions=["left", "right"],
        seed=seed,
        max_steps=100,
    )
    return [["start", ("begin", str(trace[0])), *trace[1:]] for trace in traces]


def main() -> None:
    """Train, play, and explain the agent in two models of what it did."""
    traces = play(trained())
    for title, mdp in (("counted", count_mdp(traces)), ("learned", learn_mdp(traces))):
        result = waypost.state_importance(mdp, target="positive", scope=observed_strategy(mdp))
        print(f"{title}: {mdp}")
        for state in sorted(result, key=lambda name: -result[name].lower)[:8]:
            print(f"  {result[state].lower:.3f}  {state}")


if __name__ == "__main__":
    main()
