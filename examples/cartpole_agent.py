"""A network too large for a table: PPO begins to learn CartPole, and is explained by a chain of a few cells.

Four ways to put what it sees into cells are tried: features that a person names, clusters of the observations, clusters
of what the network computes from them in its last hidden layer, and levels of how likely success is, which are learned
from episodes of their own and looked at every ten steps. Which one may stand for the agent is not a
matter of taste: each is refined where the episodes it is counted from refute it, and checked on episodes that had no
say in anything: does it predict success, step by step, and where good and bad runs pass, and does it forget nothing
that matters? Of those that fit best, the one is told whose cells tell most of success from failure.

Run: python examples/cartpole_agent.py   (needs: pip install 'waypost[gym,agents]'; takes three minutes)
"""

from __future__ import annotations

from typing import Any

import gymnasium
import torch
from stable_baselines3 import PPO

from waypost.agents import Abstraction, abstract_agent, foreseen, hidden_layer, looks
from waypost.environments import Episode, record

SEEN = ("position", "speed", "angle", "turn")  # what CartPole's four numbers are
EVERY = 10  # steps from one look to the next
LIMIT = 60  # steps for which the pole is to stand
LONGER = 200  # steps, where the agent makes no random mistakes


def trained(*, steps: int = 1280, seed: int = 1) -> PPO:
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


def leaning(seen: Any) -> str:
    """Name what a person would look at: where the pole leans, and where it turns."""
    lean = "left" if seen[2] < -0.05 else "right" if seen[2] > 0.05 else "none"
    turn = "left" if seen[3] < -0.3 else "right" if seen[3] > 0.3 else "none"
    return f"lean={lean}, turn={turn}"


def worth(found: Abstraction) -> tuple[bool, bool, float]:
    """What speaks for a way to make cells: it predicts success, passes every check, and tells good runs from bad."""
    return found.fit.fits, found.stands(), found.telling


def told(agent: PPO, *, deterministic: bool, limit: int) -> None:
    """Play, find cells that predict held-out episodes, and say which of them tell success from failure."""
    world = gymnasium.make("CartPole-v1")
    asked = {"episodes": 800, "deterministic": deterministic, "max_steps": limit}
    practice, played = (record(world, agent, seed=seed, **asked) for seed in (5, 7))
    seldom = f"levels of foreseen success, a step being {EVERY}"
    ways: dict[str, dict[str, Any]] = {
        "features a person named": {"features": leaning},
        "clusters of what it sees": {},
        "clusters of its last hidden layer": {"space": hidden_layer(agent)},
        seldom: {"features": foreseen(looks(practice, every=1), outcome=stood)},
    }
    episodes = {way: looks(played, every=EVERY) if way == seldom else played for way in ways}
    tried = {
        way: abstract_agent(episodes[way], outcome=stood, actions=["left", "right"], **how) for way, how in ways.items()
    }
    for way, found in tried.items():
        rounds = ", ".join(f"{error:.3f} with {cells}" for cells, error in found.tried[::3])
        print(f"Cells from {way}: {found.fit}, {found.passing()}, {found.memory()}")
        print(f"  refining, the error was {rounds} cells")
    best = max(tried, key=lambda way: worth(tried[way]))
    odds, stands, _ = worth(tried[best])
    why = "pass every check" if stands else "predict success, though not the way there" if odds else "do not fit"
    print(f"\nTold by cells from {best}, which {why}.")
    print(tried[best].summary(names=(*SEEN, "step") if best == seldom else SEEN))


def main() -> None:
    """Train, and explain the agent as it learned, drawing its actions, and as it does what it thinks best."""
    agent = trained()
    print(f"As it learned, {LIMIT} steps:")
    told(agent, deterministic=False, limit=LIMIT)
    print(f"\nWithout chance, {LONGER} steps, in which it drifts off the track:")
    told(agent, deterministic=True, limit=LONGER)


if __name__ == "__main__":
    main()
