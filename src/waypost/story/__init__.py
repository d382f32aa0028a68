"""A log's story: what good cases have that bad ones lack, activity by activity, from the log to an explanation."""

from waypost.story.explaining import explain_log
from waypost.story.graph import activity_graph
from waypost.story.insight import with_insight
from waypost.story.paths import activity_path
from waypost.story.patterns import find_log_patterns

__all__ = [
    "activity_graph",
    "activity_path",
    "explain_log",
    "find_log_patterns",
    "with_insight",
]
