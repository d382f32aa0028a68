"""Worlds and agents: Gymnasium environments as MDPs, from their table or explored, and episodes that were played."""

from waypost.environments.exploring import explore
from waypost.environments.gymnasium import from_gymnasium
from waypost.environments.playing import Episode, Recording, count_mdp, record, rollout_frame, rollouts

__all__ = [
    "Episode",
    "Recording",
    "count_mdp",
    "explore",
    "from_gymnasium",
    "record",
    "rollout_frame",
    "rollouts",
]
