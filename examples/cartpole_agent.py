"""A network too large for a table: PPO begins to learn CartPole, and is explained by cells of its own hidden layer.

Run: python examples/cartpole_agent.py   (needs: pip install 'waypost[gym,agents,learn]')
"""

from __future__ import annotations

import gymnasium
import torch
from stable_baselines3 import PPO

import waypost
from waypost.agents import abstract_agent, hidden_layer
from waypost.environments import Episode, record


def trained(*, steps: int = 768, seed: int = 1) -> PPO:
    """PPO after a few seconds of training: good enough to stand a while, not to stand for ever."""
    torch.set_num_threads(1)  # the network is too small for more
    small = {"net_arch": [32]}
    agent = PPO(
        "MlpPolicy",
        gymnasium.make("CartPole-v1"),
        n_steps=256,
        batch_size=64,
        learning_rate=1e-3,
        policy_kwargs=small,
        seed=seed,
        device="cpu",
    )
    return agent.learn(steps)


def stood(episode: Episode) -> str:
    """Call an episode positive if the pole still stood when the time was up."""
    return "positive" if episode.truncated else "negative"


def main() -> None:
    """Train, play, find cells that predict held-out episodes, and say which of them matter."""
    agent = trained()
    played = record(gymnasium.make("CartPole-v1"), agent, episodes=200, seed=7, max_steps=100)
    for title, space in (("what the network computes", hidden_layer(agent)), ("what it sees", None)):
        found = abstract_agent(played, space=space, outcome=stood, actions=["left", "right"])
        print(f"Cells of {title}: {found}")
        for cells, error in found.tried:
            print(f"  {cells} cells: error {error:.3f}")
        importance = waypost.by_variable(found.mdp, target="positive", scope=found.strategy, variables="cell", length=1)
        seen = found.describe(["position", "speed", "angle", "turn"])
        for predicate in importance.predicates[:6]:
            print(f"  {predicate.bounds.lower:.3f}  {predicate.text}: {seen[predicate.text]}")


if __name__ == "__main__":
    main()
