"""Waypost beside Storm: the same models, the same machine, one run; ratios, not only times.

What is compared: both bounds of the importance of every state, scope "all", with Storm's conditional query
``Pmax=? [F "s" || F "t"]`` (and ``Pmin``) looped over the states, on the model with absorbing target, for the initial
state only. Models are loaded and kernels warm in both. Each tool runs in a process of its own, whose peak memory is
reported; Waypost uses all cores, Storm one. Where Storm cannot do all states it does a seeded sample, and its time is
scaled and called so. Every number that both computed is compared.
"""

from waypost.paper.bench.models import data_folder
from waypost.paper.bench.plan import Plan
from waypost.paper.bench.rows import TOLERANCE, Cost, Growth, Row, Tally, growth, tally
from waypost.paper.bench.suite import Result, names, run
from waypost.paper.bench.synthetic import synthetic

__all__ = [
    "TOLERANCE",
    "Cost",
    "Growth",
    "Plan",
    "Result",
    "Row",
    "Tally",
    "data_folder",
    "growth",
    "names",
    "run",
    "synthetic",
    "tally",
]
