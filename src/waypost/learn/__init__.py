"""Learning an MDP from a log with IOAlergia."""

from waypost.learn.examples import example_cases
from waypost.learn.fit import Fit
from waypost.learn.mdp import EPS, ThinDataWarning, learn_mdp, observed_strategy
from waypost.learn.merging import AUTO, Learned, learn_fitting
from waypost.learn.observed import activity_states, observed_activities
from waypost.learn.prepare import Prepared, prepare

__all__ = [
    "AUTO",
    "EPS",
    "Fit",
    "Learned",
    "Prepared",
    "ThinDataWarning",
    "activity_states",
    "example_cases",
    "learn_fitting",
    "learn_mdp",
    "observed_activities",
    "observed_strategy",
    "prepare",
]
