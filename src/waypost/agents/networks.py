"""What a network itself computes: its last hidden layer, in which it has already sorted what it sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import StrategyError, require

Vectors = NDArray[np.float64]  # (n, d)


def hidden_layer(agent: Any) -> Callable[[Any], Vectors]:
    """Function from observations to the last hidden layer of an agent of stable-baselines3, as rows.

    Actor-critic agents (PPO, A2C) have the layer before the distribution over actions, DQN the one before the values.
    """
    torch = require("torch", "agents", "hidden_layer()")
    policy = getattr(agent, "policy", None)
    if not (hasattr(policy, "mlp_extractor") or hasattr(policy, "q_net")):
        raise StrategyError(
            f"a {type(agent).__name__} has no hidden layer we know how to read; pass a function from observations to "
            "rows of numbers"
        )

    def compute(observations: Any) -> Vectors:
        with torch.no_grad():
            given = observations if isinstance(observations, Mapping) else np.asarray(observations)
            seen = policy.obs_to_tensor(given)[0]  # type: ignore[union-attr]
            return np.asarray(_hidden(policy, seen).cpu().numpy(), float)

    return compute


def _hidden(policy: Any, seen: Any) -> Any:
    if hasattr(policy, "mlp_extractor"):
        features = policy.extract_features(seen)
        shared = features[0] if isinstance(features, tuple) else features  # the actor's, where the critic has its own
        return policy.mlp_extractor.forward_actor(shared)
    network = policy.q_net
    return network.q_net[:-1](network.extract_features(seen, network.features_extractor))
