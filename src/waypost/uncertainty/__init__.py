"""What sampling does to the scores: confidence intervals by bootstrap, support, and what two logs differ in."""

from waypost.uncertainty.comparison import Comparison, compare_logs
from waypost.uncertainty.resampling import Resampled, bootstrap, with_resampled
from waypost.uncertainty.shares import share_intervals
from waypost.uncertainty.support import Supported, supported, usual_min_seen

__all__ = [
    "Comparison",
    "Resampled",
    "Supported",
    "bootstrap",
    "compare_logs",
    "share_intervals",
    "supported",
    "usual_min_seen",
    "with_resampled",
]
