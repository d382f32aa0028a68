"""Models of the QComp set as the benchmark takes them: in most of them nearly every state offers a choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from waypost.formats import read_mdp
from waypost.formats.properties import asked, find_property
from waypost.model import MDP
from waypost.paper.studies.qcomp import benchmarks

PROPERTIES = {"consensus": "c2", "csma": "some_before"}  # one of each protocol
LARGEST = 10_000  # states


def instances(folder: Path, *, largest: int, properties: Mapping[str, str] | None = None) -> Iterator[tuple[str, MDP]]:
    """Title and model, with its target labelled ``"goal"``, of every instance up to a number of states.

    Of each family the one property that is named, or all. Properties that differ in their optimum only are one
    instance. Models are built as far as the target, which is as far as importance is asked for.
    """
    if not (folder / "REFERENCE.csv").is_file():
        return
    seen = set()
    for published in benchmarks(folder, largest=largest):
        if properties is not None and properties.get(published.family) != published.name:
            continue
        given = published.constants
        source = published.folder / (published.properties or published.file)
        question = find_property(f"{source}:{published.name}", constants=given)
        about = (published.file, str(given), question.target, question.avoid)
        if about in seen:
            continue
        seen.add(about)
        file = published.folder / published.file
        mdp = read_mdp(file, constants=given, time_limit=None, target=question.target, avoid=question.avoid)
        mdp, target, _ = asked(mdp, question)
        yield published.title, mdp.with_labels({"goal": np.asarray(mdp.where(target))})
