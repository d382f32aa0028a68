"""What sampling does to the scores: confidence intervals by bootstrap."""

from waypost.uncertainty.bootstrap import Resampled, bootstrap

__all__ = ["Resampled", "bootstrap"]
