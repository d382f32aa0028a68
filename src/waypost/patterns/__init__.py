"""Segments of runs: a language for them, what they matter, the telling ones, and the usual ways to a target."""

from waypost.patterns.finding import FoundPatterns, Telling, find_patterns
from waypost.patterns.importance import PatternImportance, pattern_importance
from waypost.patterns.text import parse
from waypost.patterns.tree import ANY_STEP, ANYTHING, Other, Pattern, step
from waypost.patterns.ways import UsualWays, Way, usual_ways

__all__ = [
    "ANYTHING",
    "ANY_STEP",
    "FoundPatterns",
    "Other",
    "Pattern",
    "PatternImportance",
    "Telling",
    "UsualWays",
    "Way",
    "find_patterns",
    "parse",
    "pattern_importance",
    "step",
    "usual_ways",
]
