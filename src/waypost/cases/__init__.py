"""The case studies, each one a readable recipe."""

from waypost.cases.ex1 import ex1
from waypost.cases.loan import loan

__all__ = ["ex1", "loan"]
