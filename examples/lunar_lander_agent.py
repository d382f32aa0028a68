"""A lander too large for a table: PPO learns LunarLander for some minutes, and is explained by a chain of a few cells.

It mostly lands; sometimes it hovers until the time is up, or crashes. Cells are phases that a person names, clusters of
what it sees, or of what the network computes in its last hidden layer. Each is refined where the episodes it is counted
from refute it, and checked on episodes that had no say in anything: does it predict success, step by step, and where
good and bad runs pass, and does it forget nothing that matters? The one that fits best is told, with its errors,
whether it may stand for the agent or not.

Run: python examples/lunar_lander_agent.py   (needs: pip install 'waypost[gym,agents]' 'gymnasium[box2d]'; takes ten
minutes, most of them training)
"""

from __future__ import annotations

from typing import Any

import gymnasium
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from waypost.agents import Abstraction, abstract_agent, hidden_layer
from waypost.environments import Episode, record

SEEN = ("aside", "height", "speed aside", "speed up", "angle", "turn", "left leg", "right leg")  # its eight numbers
ACTIONS = ("none", "left engine", "main engine", "right engine")
WORLD = "LunarLander-v3"


def trained(*, steps: int = 400_000, seed: int = 0) -> PPO:
    """PPO that lands more often than not."""
    torch.set_num_threads(1)  # the network is too small for more
    learning = {"n_steps": 1024, "batch_size": 64, "gae_lambda": 0.98, "gamma": 0.999, "n_epochs": 4, "ent_coef": 0.01}
    worlds = make_vec_env(WORLD, n_envs=16, seed=seed)
    return PPO("MlpPolicy", worlds, seed=seed, device="cpu", **learning).learn(steps)


def landed(episode: Episode) -> str:
    """Call an episode positive if it landed, late if it was still in the air when the time was up."""
    if not episode.terminated:
        return "late"
    return "positive" if episode.last_reward > 0 else "negative"


def phase(seen: Any) -> str:
    """Name what a person would look at: how high it is, how fast it sinks, whether it stands."""
    height = "high" if seen[1] > 0.7 else "low" if seen[1] > 0.1 else "ground"
    sinking = "fast" if seen[3] < -0.4 else "slow"
    pad = "beside" if abs(seen[0]) > 0.25 else "above"
    return f"height={height}, sinking={sinking}, legs={int(seen[6] + seen[7])}, pad={pad}"


def worth(found: Abstraction) -> tuple[bool, bool, float]:
    """What speaks for a way to make cells: it predicts success, passes every check, and tells good runs from bad."""
    return found.fit.fits, found.stands(), found.telling


def main() -> None:
    """Train, play, find cells that predict held-out episodes, and say which of them tell landing from the rest."""
    agent = trained()
    played = record(gymnasium.make(WORLD), agent, episodes=600, seed=7, max_steps=1000)
    ways: dict[str, dict[str, Any]] = {
        "phases a person named": {"features": phase},
        "clusters of what it sees": {},
        "clusters of its last hidden layer": {"space": hidden_layer(agent)},
    }
    tried = {way: abstract_agent(played, outcome=landed, actions=ACTIONS, **how) for way, how in ways.items()}
    for way, found in tried.items():
        print(f"Cells from {way}: {found.fit}, {found.passing()}, {found.memory()}")
    best = max(tried, key=lambda way: worth(tried[way]))
    odds, stands, _ = worth(tried[best])
    why = "pass every check" if stands else "predict success, though not the way there" if odds else "do not fit"
    print(f"\nTold by cells from {best}, which {why}.")
    print(tried[best].summary(names=SEEN))


if __name__ == "__main__":
    main()
