"""What an MDP, a strategy and an induced Markov chain are: immutable arrays, checked once."""

from waypost.model.checking import FINAL
from waypost.model.mdp import MDP, Target, describe_target
from waypost.model.strategy import Strategy, induced_chain, one_hot
from waypost.model.valuations import StateNames, Variable

__all__ = [
    "FINAL",
    "MDP",
    "StateNames",
    "Strategy",
    "Target",
    "Variable",
    "describe_target",
    "induced_chain",
    "one_hot",
]
