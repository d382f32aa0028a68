"""Gymnasium's Blackjack: what a state is called."""

from __future__ import annotations

from typing import Any

BLACKJACK = ("stick", "hit")  # its actions


def is_blackjack(world: Any) -> bool:
    """Whether a world is Gymnasium's Blackjack."""
    return type(world).__name__ == "BlackjackEnv"


def blackjack_state(env: Any) -> str:
    """Name the state by what the game depends on: the player's hand, and both cards of the dealer.

    The player sees one of them. One who may choose by the hidden card as well is better than any player can be, so ask
    about deals one by one, or about a strategy that does not look.
    """
    game = env.unwrapped
    hand, shown, ace = game._get_obs()  # noqa: SLF001
    return f"hand={int(hand)}, ace={str(bool(ace)).lower()}, dealer={int(shown)}, hidden={int(game.dealer[1])}"
