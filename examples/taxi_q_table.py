"""A Q-table that has not learned enough: where does it lose passengers, and what does that cost?

Run: python examples/taxi_q_table.py   (needs: pip install 'waypost[gym]'; takes some seconds)
"""

from __future__ import annotations

import gymnasium
import numpy as np

import waypost


def learned(env: gymnasium.Env, *, episodes: int, seed: int = 0) -> np.ndarray:
    """Q-table after some episodes."""
    draw = np.random.default_rng(seed)
    values = np.zeros((env.observation_space.n, env.action_space.n))
    for episode in range(episodes):
        state, _ = env.reset(seed=seed if episode == 0 else None)
        over = False
        while not over:
            action = int(draw.integers(6)) if draw.random() < 0.1 else int(values[state].argmax())
            after, reward, ended, cut, _ = env.step(action)
            hoped = 0.0 if ended else 0.95 * values[after].max()
            values[state, action] += 0.3 * (reward + hoped - values[state, action])
            state, over = after, ended or cut
    return values


def main() -> None:
    """Learn for a while and for a while longer, and put both beside the best within 30 steps."""
    env = gymnasium.make("Taxi-v4")
    mdp = waypost.read_mdp(env)
    early, late = (learned(env, episodes=episodes) for episodes in (800, 1500))
    found = waypost.explain_agent(mdp, early, target="goal", against=late, within=30)
    print(found.summary(top=3))
    print("What every delivery passes, by the variables of the states:")
    told = waypost.by_variable(mdp, target="goal", scope="all", variables=["passenger", "destination"], length=1)
    print(told.summary(top=4))


if __name__ == "__main__":
    main()
