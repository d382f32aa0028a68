"""What an MDP, a strategy and an induced Markov chain are: immutable arrays, checked once."""

from waypost.model.checking import FINAL
from waypost.model.mdp import MDP, Target, describe_target
from waypost.model.strategy import Strategy, induced_chain, one_hot

__all__ = ["FINAL", "MDP", "Strategy", "Target", "describe_target", "induced_chain", "one_hot"]
