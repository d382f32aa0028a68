"""Declare templates on a real log, beside plain counting."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import waypost
from pattern_oracles import holds, tree_of
from waypost.patterns import parse
from waypost.patterns.declare import PAIRED
from waypost.patterns.language import automaton_of
from waypost.patterns.runs import Runs

STOP = "T10 Determine necessity to stop indication"  # cases with it count as positive
OUTCOMES = ("positive", "negative")


@pytest.fixture(scope="module")
def cases(shared_data) -> list[list[str]]:
    """The activities of every case of the receipt log, in order of time, without any reader of ours."""
    found: dict[str, list[tuple[str, int, str]]] = {}
    with (shared_data / "logs/pm4py_demo/receipt.csv").open(encoding="utf-8", newline="") as file:
        for k, row in enumerate(csv.DictReader(file)):
            found.setdefault(row["case:concept:name"], []).append((row["time:timestamp"], k, row["concept:name"]))
    return [[name for _, _, name in sorted(events)] for events in found.values()]


def test_every_template_holds_in_as_many_cases_as_counting_says(cases):
    """Among the positive cases and among the others, for pairs of the most frequent activities."""
    log = [[*case, "positive" if STOP in case else "negative"] for case in cases]
    mdp = tree_of(log)
    runs = Runs.of(mdp, waypost.Strategy.uniform(mdp), mdp.where("positive"), "activity")
    frequent = sorted({name for case in cases for name in case}, key=lambda a: -sum(a in case for case in cases))[:4]
    number = {name: k for k, name in enumerate(runs.names)}
    letter = np.arange(len(runs.names))
    assert len(cases) > 1000
    for template in PAIRED:
        for a in frequent:
            for b in frequent:
                if a == b:
                    continue
                pattern = parse(f'{template}("{a}", "{b}")')
                automaton = automaton_of(pattern, lambda test: frozenset([number[test.name]]), len(number))
                fulfilled = [[holds(template, a, b, case) for case in log if case[-1] == end] for end in OUTCOMES]
                counted = [sum(found) for found in fulfilled]
                assert (runs.shares(automaton, letter) * len(log)).round(6).tolist() == counted
