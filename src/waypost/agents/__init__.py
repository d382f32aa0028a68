"""Agents explained: beside the best and beside each other, and networks too large for a table by abstraction."""

from waypost.agents.abstraction import Abstraction, Fit, abstract_agent
from waypost.agents.cells import Cells
from waypost.agents.explaining import AgentExplanation, Departure, Difference, Fate, explain_agent
from waypost.agents.networks import hidden_layer
from waypost.agents.telling import Contrast

__all__ = [
    "Abstraction",
    "AgentExplanation",
    "Cells",
    "Contrast",
    "Departure",
    "Difference",
    "Fate",
    "Fit",
    "abstract_agent",
    "explain_agent",
    "hidden_layer",
]
