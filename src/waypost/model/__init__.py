"""What an MDP, a strategy, an induced chain and a product with an automaton are: immutable arrays, checked once."""

from waypost.model.automaton import SEEN, Automaton
from waypost.model.checking import FINAL
from waypost.model.labels import Labels
from waypost.model.mdp import MDP, Target, describe_target
from waypost.model.product import SILENT, TARGET, Letters, Product
from waypost.model.strategy import Strategy, induced_chain, one_hot, stopped_chain, unfolded_chain, unfolded_start
from waypost.model.unfolding import induced_mdp, on_product
from waypost.model.valuations import StateNames, Variable

__all__ = [
    "FINAL",
    "MDP",
    "SEEN",
    "SILENT",
    "TARGET",
    "Automaton",
    "Labels",
    "Letters",
    "Product",
    "StateNames",
    "Strategy",
    "Target",
    "Variable",
    "describe_target",
    "induced_chain",
    "induced_mdp",
    "on_product",
    "one_hot",
    "stopped_chain",
    "unfolded_chain",
    "unfolded_start",
]
