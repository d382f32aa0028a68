"""The models of the benchmark: where they come from, and how both tools get the same file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from waypost.formats import read_mdp, write_mdp
from waypost.model import MDP

FILES = {  # under the folder of the data
    "GrepS": "models/paper/greps.prism",
    "BPIC12": "models/paper/bpic12.prism",
    "BPIC17": "models/paper/bpic17.prism",
    "spotify1000": "models/learned/spotify1000.drn",
    "spotify10000": "models/learned/spotify10000.drn",
}

EVERY = 1_100  # states of a model, all of which Storm is asked about
FEW = 50  # states of a larger one


@dataclass(frozen=True)
class Shared:
    """A DRN file for both tools: absorbing label ``target``, and a label ``q7`` for each state 7 to be asked about."""

    path: Path
    asked: tuple[int, ...]
    n_states: int
    transitions: int


def data_folder(given: str | None = None) -> Path:
    """Where the models are that are not part of the project: as told, or WAYPOST_DATA, or here."""
    return Path(given or os.environ.get("WAYPOST_DATA") or ".")


def find_model(name: str, folder: Path) -> Path | None:
    """File of a model, if it is there: in its place, or anywhere in the folder under its name."""
    path = folder / FILES[name]
    if path.is_file():
        return path
    return next(iter(sorted(folder.glob(f"**/{path.name}"))), None) if folder.is_dir() else None


def share(mdp: MDP, target: str, path: Path, asked: Sequence[int]) -> Shared:
    """Write a model for both tools."""
    goal = mdp.where(target)
    labels = {"target": goal}
    for s in asked:
        labels[f"q{s}"] = np.arange(mdp.n_states) == s
    model = mdp.absorbing(goal).with_labels(labels)
    write_mdp(model, path)
    return Shared(path, tuple(int(s) for s in asked), mdp.n_states, int(model.transitions.nnz))


def share_file(source: Path, target: str, path: Path, *, sample: int | None, seed: int = 1) -> Shared:
    """Read a model file and write it for both tools, with a label for every state or for a sample."""
    mdp = read_mdp(source)
    asked = np.arange(mdp.n_states) if sample is None else sampled(mdp.n_states, sample, seed)
    return share(mdp, target, path, asked.tolist())


def sampled(n: int, size: int, seed: int = 1) -> NDArray[np.int64]:
    """Some of `n` states, each as likely as any other, the same for the same seed."""
    return np.sort(np.random.default_rng([seed, n]).choice(n, min(size, n), replace=False))


def in_random_order(n: int, most: int | None = None) -> list[int]:
    """States that Storm is asked about as long as there is time: all of a model of few, or `most` of them.

    Those that it gets to are as likely as any others.
    """
    some = sampled(n, most or (n if n <= EVERY else FEW))
    return np.random.default_rng(n).permutation(some).tolist()  # type: ignore[no-any-return]
