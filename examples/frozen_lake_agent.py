"""Where does *this* agent lose the goal? A small DQN learns FrozenLake and is explained in the lake it learned.

Run: python examples/frozen_lake_agent.py   (needs: pip install 'waypost[gym,agents]')
"""

from __future__ import annotations

import gymnasium
import torch
from stable_baselines3 import DQN

import waypost


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
    """Train in a lake, read the strategy off the agent, and explain it in the same lake."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=True)
    mdp = waypost.read_mdp(env)
    found = waypost.explain_agent(mdp, trained(env), target="goal")
    print(found.summary())
    if found.importance is not None:
        print("Fields by their importance to the agent:")
        for state in sorted(found.importance, key=lambda name: -found.importance[name].lower)[:8]:
            print(f"{found.importance[state].lower:.3f}  {state}")


if __name__ == "__main__":
    main()
