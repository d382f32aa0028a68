"""Segments of runs: a language for them, what they matter, and finding the telling ones."""

from waypost.patterns.text import parse
from waypost.patterns.tree import ANY_STEP, ANYTHING, Other, Pattern, step

__all__ = ["ANYTHING", "ANY_STEP", "Other", "Pattern", "parse", "step"]
