"""Worlds and agents: Gymnasium environments as MDPs, from their table or explored, and episodes that were played."""

from waypost.environments.exploring import explore
from waypost.environments.gymnasium import from_gymnasium
from waypost.environments.rollouts import Episode, count_mdp, rollout_frame, rollouts

__all__ = ["Episode", "count_mdp", "explore", "from_gymnasium", "rollout_frame", "rollouts"]
