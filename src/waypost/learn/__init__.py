"""Learning an MDP from a log with IOAlergia."""

from waypost.learn.examples import example_cases
from waypost.learn.mdp import EPS, ThinDataWarning, learn_mdp, observed_strategy
from waypost.learn.prepare import Prepared, prepare

__all__ = [
    "EPS",
    "Prepared",
    "ThinDataWarning",
    "example_cases",
    "learn_mdp",
    "observed_strategy",
    "prepare",
]
