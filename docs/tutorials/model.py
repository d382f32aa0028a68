# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # A model-checking model
#
# For people who know PRISM, JANI or Storm. We take a small randomised protocol, ask which states matter, look at the strategies
# behind the bounds, and check the answers against the model itself.
#
# The model is written here so that the page runs anywhere; `waypost.read_mdp("model.prism", constants={"N": 3})` reads your own
# (PRISM and JANI go through Storm, everything else is read directly).

# %%
import waypost
from waypost import MDP

mdp = MDP.from_dict(
    {
        "idle": {"send": {"waiting": "9/10", "lost": "1/10"}, "check the line": {"ready": 1}},
        "ready": {"send": {"waiting": "99/100", "lost": "1/100"}},
        "waiting": {"listen": {"done": "3/4", "collision": "1/4"}},
        "collision": {"back off": {"ready": "1/2", "waiting": "1/2"}, "retry at once": {"waiting": "1/2", "lost": "1/2"}},
        "done": {},
        "lost": {},
    },
    initial="idle",
)
mdp

# %% [markdown]
# ## Which states matter for `done`?
#
# Over all strategies that can reach `done` each state has an interval, and both ends are attained by a strategy. Over the best
# strategies the interval is narrower, often a point.

# %%
explanation = waypost.explain(mdp, target="done")
explanation

# %% [markdown]
# `waiting` has the bounds 1 to 1: nobody gets through without it. For `collision` it depends on what is done.

# %%
result = explanation.scopes["all"]
low, high = result["collision"].lower, result["collision"].upper
low, high

# %% [markdown]
# ## A witness for every bound
#
# The strategy behind the upper bound, with its one bit of memory. Importance *under that strategy* is the bound again: this is how
# a claim can be checked without trusting the optimiser.

# %%
witness = result.witness("collision", "upper")
under = waypost.state_importance(mdp, target="done", scope=witness)["collision"]
assert abs(under.upper - high) < 1e-12
under

# %% [markdown]
# ## In fractions
#
# The model was written in fractions, and `exact=True` answers in fractions.

# %%
waypost.state_importance(mdp, target="done", scope="optimal", states="collision", exact=True)["collision"]

# %% [markdown]
# ## Paths
#
# A path is followed when its actions are taken wherever its states are visited.

# %%
waypost.path_importance(mdp, path=["idle", "check the line", "ready", "send", "waiting"], target="done", scope="all")

# %% [markdown]
# ## Out again
#
# Models are written in any format, so that another tool can look at the same thing: `.prism`, `.drn`, `.umb`, `.tra`, `.json`.

# %%
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "protocol.drn"
    waypost.write_mdp(mdp, file)
    again = waypost.read_mdp(file, exact=True)
assert again.states == mdp.states
print("the same model:", again)
