"""Which fields matter to *this* agent? A small DQN learns FrozenLake, and its strategy is explained.

Run: python examples/frozen_lake_agent.py   (needs: pip install 'waypost[gym,agents,plot]')
"""

from __future__ import annotations

import gymnasium
import torch
from stable_baselines3 import DQN

import waypost
from waypost.formats.strategies import read_strategy


def trained(env: gymnasium.Env, *, steps: int = 4000, seed: int = 1) -> DQN:
    """DQN after some seconds of training."""
    torch.set_num_threads(1)  # the network is too small for more
    agent = DQN(
        "MlpPolicy",
        env,
        learning_rate=2e-3,
        learning_starts=300,
        buffer_size=10_000,
        exploration_fraction=0.7,
        target_update_interval=200,
        policy_kwargs={"net_arch": [32]},
        seed=seed,
        device="cpu",
    )
    return agent.learn(steps)


def main() -> None:
    """Train, read the strategy off the agent, explain it."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=True)
    mdp = waypost.read_mdp(env)
    strategy = read_strategy(mdp, trained(gymnasium.make("FrozenLake-v1", is_slippery=False)))
    result = waypost.state_importance(mdp, target="goal", scope=strategy)
    for state in sorted(result, key=lambda name: -result[name].lower)[:8]:
        print(f"{result[state].lower:.3f}  {state}")


if __name__ == "__main__":
    main()
