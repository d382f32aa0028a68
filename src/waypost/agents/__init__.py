"""Agents explained: beside the best and beside each other, and networks too large for a table by abstraction."""

from waypost.agents.abstraction import Abstraction, abstract_agent
from waypost.agents.calibration import CellOdds
from waypost.agents.cells import Cells
from waypost.agents.explaining import AgentExplanation, Departure, Difference, Margin, explain_agent
from waypost.agents.fates import Fate
from waypost.agents.fitting import ChainFit
from waypost.agents.foreseeing import Foreseen, foreseen, looks
from waypost.agents.groups import LossGroup
from waypost.agents.memory import CellVisits, MemoryFit
from waypost.agents.mending import Mended
from waypost.agents.networks import hidden_layer
from waypost.agents.passing import Passages, PassingFit
from waypost.agents.telling import CellContrast

__all__ = [
    "Abstraction",
    "AgentExplanation",
    "CellContrast",
    "CellOdds",
    "CellVisits",
    "Cells",
    "ChainFit",
    "Departure",
    "Difference",
    "Fate",
    "Foreseen",
    "LossGroup",
    "Margin",
    "MemoryFit",
    "Mended",
    "Passages",
    "PassingFit",
    "abstract_agent",
    "explain_agent",
    "foreseen",
    "hidden_layer",
    "looks",
]
