# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # A reinforcement-learning agent
#
# For people who train agents. We learn a Q-table for a frozen lake, ask how far it is from the best and where it loses the goal, put a
# second agent beside it, look at a world with a key and a door by its variables, and end with an agent too large for a table.

# %%
import gymnasium
import numpy as np

import waypost

env = gymnasium.make("FrozenLake-v1", is_slippery=True)
mdp = waypost.read_mdp(env)
mdp

# %% [markdown]
# Some thousand episodes of Q-learning, stopped early. The environment pays 1 for the goal; the agent discounts.

# %%
draw = np.random.default_rng(0)
values = np.zeros((16, 4))
for episode in range(1500):
    state, _ = env.reset(seed=0 if episode == 0 else None)
    over = False
    while not over:
        action = int(draw.integers(4)) if draw.random() < 0.3 else int(np.argmax(values[state] + draw.random(4) * 1e-6))
        after, reward, ended, cut, _ = env.step(action)
        values[state, action] += 0.1 * (reward + (0 if ended else 0.95 * values[after].max()) - values[state, action])
        state, over = after, ended or cut

# %% [markdown]
# ## Beside the best
#
# "Best" is the greatest probability of the goal, however long it takes and without discount. What the agent loses is the sum of what
# its decisions cost. Then comes what to change first: how often the agent succeeds if it does the best in one place after the other, and
# otherwise what it learned.

# %%
beside = waypost.explain_agent(mdp, values, target="goal")
print(beside.summary())

# %%
beside.to_frame()

# %% [markdown]
# The same as a page to explore offline, with a map: a click on a field tells what each action is worth there. It is text; write it to
# a file and open it in a browser, or use `waypost agent gym:FrozenLake-v1 q-table.npy --html agent.html`.

# %%
len(beside.to_html()) > 50_000

# %%
beside.plot()

# %% [markdown]
# Fields by their importance to this agent: the share of its successful runs that pass them.

# %%
beside.importance.to_frame().sort_values("lower", ascending=False).head(8)

# %% [markdown]
# ## Two agents
#
# A policy may be a vector of action numbers, a table of probabilities, a mapping, a function, or an object with `predict`.

# %%
print(waypost.explain_agent(mdp, values, target="goal", against=np.full(16, 1)).summary(top=3))

# %% [markdown]
# ## An agent that never succeeds
#
# Importance is undefined without success, but the goal is lost somewhere.

# %%
sure = waypost.read_mdp(gymnasium.make("FrozenLake-v1", is_slippery=False))
never = waypost.explain_agent(sure, np.full(16, 1), target="goal")
print(never.summary())

# %% [markdown]
# Many agents that have not learned enough do nothing wrong and yet never arrive: they go round for ever. Then the place is told in which
# they never do what leads on, and what would.

# %%
print(waypost.explain_agent(sure, np.zeros((16, 4)), target="goal").summary())

# %% [markdown]
# ## Values before states
#
# Minigrid's DoorKey has no table; a small one is explored. Its states have variables, and they say more than the states do.

# %%
import minigrid  # noqa: E402, F401

world = waypost.explore(gymnasium.make("MiniGrid-DoorKey-5x5-v0"))
print(waypost.by_variable(world, target="goal", scope="all", length=1).summary())

# %% [markdown]
# ## Too large for a table
#
# CartPole has infinitely many states. We record episodes, put observations that are alike into cells, and check whether the small
# chain predicts episodes it has not seen: how many succeed, which cells they pass, and whether it forgets what matters. With a
# network, cells are clusters of its hidden layer: `space=hidden_layer(agent)`, as in `examples/cartpole_agent.py`.

# %%
from waypost.agents import abstract_agent  # noqa: E402
from waypost.environments import record  # noqa: E402

played = record(gymnasium.make("CartPole-v1"), lambda seen: int(seen[2] > 0), episodes=400, max_steps=40)
small = abstract_agent(
    played, outcome=lambda end: "positive" if end.truncated else "negative", actions=["left", "right"], most=16
)
small

# %%
print(small.summary(names=["position", "speed", "angle", "turn"]))
