"""Learning an MDP from a log with IOAlergia, and what sampling does to the scores."""

from waypost.learn.bootstrap import Resampled, bootstrap
from waypost.learn.mdp import EPS, ThinDataWarning, learn_mdp, observed_strategy
from waypost.learn.prepare import Prepared, prepare

__all__ = [
    "EPS",
    "Prepared",
    "Resampled",
    "ThinDataWarning",
    "bootstrap",
    "learn_mdp",
    "observed_strategy",
    "prepare",
]
