"""Models of the QComp set in which nearly every state offers a choice, as the benchmark takes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from waypost.formats import read_mdp
from waypost.formats.properties import asked, find_property
from waypost.model import MDP
from waypost.paper.studies.qcomp import Benchmark, benchmarks

PROPERTIES = {"consensus": "c2", "csma": "some_before"}
LARGEST = 10_000  # states


def protocols(folder: Path, *, largest: int = LARGEST) -> Iterator[tuple[str, MDP]]:
    """Title and model, with its target labelled ``"goal"``, of every instance up to a number of states."""
    if not (folder / "REFERENCE.csv").is_file():
        return
    for published in benchmarks(folder, largest=largest):
        if PROPERTIES.get(published.family) == published.name:
            yield published.title, _built(published)


def _built(published: Benchmark) -> MDP:
    """The model in which the property is reachability of ``"goal"``."""
    given = published.constants
    source = published.folder / (published.properties or published.file)
    question = find_property(f"{source}:{published.name}", constants=given)
    mdp, target, _ = asked(read_mdp(published.folder / published.file, constants=given, time_limit=None), question)
    return mdp.with_labels({"goal": np.asarray(mdp.where(target))})
