"""Agents explained: beside the best and beside each other, and networks too large for a table by abstraction."""

from waypost.agents.explaining import AgentExplanation, Difference, Fate, explain_agent

__all__ = ["AgentExplanation", "Difference", "Fate", "explain_agent"]
