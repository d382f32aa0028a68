"""Where do *these* agents lose the goal? PPO and DQN learn FrozenLake and are explained in the lake they learned.

Run: python examples/frozen_lake_agent.py   (needs: pip install 'waypost[gym,agents,plot]'; takes half a minute)
"""

from __future__ import annotations

from pathlib import Path

import gymnasium
import torch
from stable_baselines3 import DQN, PPO

import waypost

SMALL = {"policy_kwargs": {"net_arch": [32]}, "seed": 1, "device": "cpu"}


def trained_ppo(env: gymnasium.Env, *, steps: int = 8192) -> PPO:
    """PPO after some seconds of training."""
    agent = PPO("MlpPolicy", env, n_steps=512, batch_size=64, learning_rate=2e-3, ent_coef=0.01, **SMALL)
    return agent.learn(steps)


def trained_dqn(env: gymnasium.Env, *, steps: int = 4000) -> DQN:
    """DQN after some seconds of training."""
    agent = DQN(
        "MlpPolicy",
        env,
        learning_rate=2e-3,
        learning_starts=300,
        buffer_size=10_000,
        exploration_fraction=0.7,
        target_update_interval=200,
        **SMALL,
    )
    return agent.learn(steps)


def main() -> None:
    """Train both in one lake, read their strategies, and put them side by side, with and without the time limit."""
    torch.set_num_threads(1)  # the networks are too small for more
    env = gymnasium.make("FrozenLake-v1", is_slippery=True)
    mdp = waypost.read_mdp(env)
    ppo, dqn = trained_ppo(env), trained_dqn(env)
    print(waypost.explain_agent(mdp, ppo, target="goal", against=dqn).summary(top=3))
    print()
    found = waypost.explain_agent(mdp, ppo, target="goal", against=dqn, within=100)
    print(found.summary(top=3))
    Path("frozen-lake-agents.html").write_text(found.to_html(names=("PPO", "DQN")), encoding="utf-8")
    print("Both are on one page, with their maps and all places: frozen-lake-agents.html")


if __name__ == "__main__":
    main()
