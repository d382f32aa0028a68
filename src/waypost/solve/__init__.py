"""Quantities: optimal terminal rewards, reachability, conditional reachability; in floats and in rationals."""

from waypost.solve.reachability import Reach, reachability

__all__ = ["Reach", "reachability"]
