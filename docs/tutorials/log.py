# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # An event log
#
# For people who have a log and a question: what do good cases have that bad ones lack? We take a made-up log of loan applications,
# look at what is in it, ask, check how far to trust the answer, and end with something to try.
#
# `waypost.read_log("applications.xes.gz")` reads your own: XES, XES.gz, CSV, or a pandas DataFrame.

# %%
import waypost
from waypost.cases import loan_log
from waypost.logs import Actors, Recipe, RecipeStep, describe_log

log = loan_log(1000)
log

# %% [markdown]
# ## What is in it
#
# Before anything is learned: activities, variants, and events that could tell good cases from bad ones.

# %%
found = describe_log(log)
[(activity.name, activity.cases, activity.last) for activity in found.activities]

# %%
[(candidate.option, candidate.cases, candidate.why) for candidate in found.outcomes]

# %% [markdown]
# ## What good cases have that bad ones lack
#
# `Call customer` is written twice per call, when it starts and when it is over; a recipe makes one event of the two. Then one line
# asks. The summary is the whole story in words; what defines the outcome is set apart.

# %%
clean = Recipe(steps=(RecipeStep("pair_lifecycle", {"names": "Call customer"}),))(log)
answer = waypost.explain_log(clean, positive="Pay out")
answer.summary()

# %% [markdown]
# The answer is a mapping: of the good cases (`observed`) and of the bad ones (`contrast`), how many pass an activity.

# %%
answer["Call customer"]

# %%
answer.plot("bars")

# %% [markdown]
# ## How far to trust it
#
# The model under the answer was compared with the log, activity by activity, and with cases that it had not learned from.

# %%
answer.log.fit

# %% [markdown]
# Cases drawn again give every share an interval.

# %%
drawn = waypost.explain_log(clean, positive="Pay out", activities=["Call customer", "Ask for papers"], resamples=500)
{activity.name: activity.intervals for activity in drawn.log.activities}

# %% [markdown]
# ## What could be
#
# So far nobody chose. Say who does, and every activity has its bounds over any strategy and over the best ones. Choices that were seen
# too rarely are not advised; the notes tell which, and what they would change.

# %%
customers = Actors(
    {
        "Submit application": "customer",
        "Send papers": "customer",
        "Accept offer": "customer",
        "Ask for another offer": "customer",
        "Withdraw": "customer",
        "*": "bank",
    }
)
could = waypost.explain_log(clean, positive="Pay out", actors=customers)
could.reachability, could["Ask for another offer"]

# %%
could.log.notes

# %% [markdown]
# ## What to do
#
# Most cases are lost between the offer and its acceptance, and there calls go with success. That is association: who is called may be
# different from who is not. Calls are the bank's to make, so try it: call a random half, and let `waypost compare` tell, with
# an interval, whether more cases end well.
