"""Floats beside rationals: how many bounds are off, wrong by a zero or a one, or refused.

Run as ``python tests/stress/comparison.py [seeds per kind] [kind]``: prints the table and where each failure is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from waypost.errors import UndefinedImportanceError, WaypostError
from waypost.importance.question import Question
from waypost.model import MDP

SCOPES = ("all", "optimal")
NEAR = 1e-9  # relative: what a bound may be off


@dataclass
class Tally:
    """Bounds compared, and those that failed by kind of failure."""

    bounds: int = 0
    off: int = 0
    extreme: int = 0  # a zero or one that is none, or the reverse
    refused: int = 0
    worst: float = 0.0
    where: list[str] = field(default_factory=list)

    def add(self, label: str, found: Any, truth: Fraction) -> None:
        """Compare one bound."""
        self.bounds += 1
        error = abs(Fraction(float(found)) - truth)
        if (found == 0) != (truth == 0) or (found == 1) != (truth == 1):
            self.extreme += 1
            self.where.append(f"{label}: {found!r} is not {float(truth)!r}, by a zero or one")
        if error > NEAR * truth:
            self.off += 1
            self.worst = max(self.worst, float(error))
            self.where.append(f"{label}: {found!r}, truth {float(truth)!r}")

    def refuse(self, label: str, bounds: int, why: Exception) -> None:
        """Count what was not answered."""
        self.bounds += bounds
        self.refused += bounds
        self.where.append(f"{label}: {type(why).__name__}: {why}")

    @property
    def failures(self) -> int:
        """How many bounds failed in any way."""
        return self.off + self.extreme + self.refused


def compare(mdp: MDP, rng: np.random.Generator, tally: Tally, label: str = "") -> None:
    """Ask everything in every way: all states, one, a group, a path; both scopes, absolutely, in floats and exactly."""
    for scope in SCOPES:
        try:
            exact = Question.of(mdp, target="goal", scope=scope, exact=True)
        except UndefinedImportanceError:
            return
        names = [str(name) for name in rng.choice(mdp.states, min(3, mdp.n_states), replace=False)]
        group = {"group": [str(name) for name in rng.choice(mdp.states, min(3, mdp.n_states), replace=False)]}
        ways = [("states", {}), *(("one", {"states": name}) for name in names)]
        ways += [("absolute", {"absolute": True}), *(("one", {"states": name, "absolute": True}) for name in names)]
        truth: dict[bool, Any] = {}
        for absolute in (False, True):
            truth[absolute] = exact.states(absolute=absolute)
        for way, options in ways:
            told = f"{label} {scope} {way} {options}"
            for name, side, value in _answers(mdp, scope, options, told, tally):
                tally.add(f"{told} {name} {side}", value, getattr(truth[options.get("absolute", False)][name], side))
        _compare_group(mdp, scope, exact, group, tally, f"{label} {scope}")
        _compare_path(mdp, scope, exact, _path(mdp, rng), tally, f"{label} {scope}")


def _answers(mdp: MDP, scope: Any, options: Any, label: str, tally: Tally) -> Iterator[tuple[str, str, Any]]:
    asked = [options["states"]] if "states" in options else list(mdp.states)
    try:
        found = Question.of(mdp, target="goal", scope=scope).states(**options)
    except (WaypostError, RuntimeError, ArithmeticError) as why:
        tally.refuse(label, 2 * len(asked), why)
        return
    for name in asked:
        for side in ("lower", "upper"):
            yield name, side, getattr(found[name], side)


def _compare_group(mdp: MDP, scope: Any, exact: Question, group: Any, tally: Tally, label: str) -> None:
    truth = exact.groups(group)["group"]
    try:
        found = Question.of(mdp, target="goal", scope=scope).groups(group)["group"]
    except (WaypostError, RuntimeError, ArithmeticError) as why:
        tally.refuse(f"{label} {group}", 2, why)
        return
    tally.add(f"{label} {group} lower", found.lower, truth.lower)
    tally.add(f"{label} {group} upper", found.upper, truth.upper)


def _path(mdp: MDP, rng: np.random.Generator) -> list[str]:
    """A random simple path of a few steps that avoids the target."""
    at, path, seen = mdp.initial, [mdp.states[mdp.initial]], {mdp.initial, mdp.index["goal"]}
    for _ in range(4):
        choice = int(rng.integers(mdp.first_choice[at], mdp.first_choice[at + 1]))
        row = mdp.transitions.indices[mdp.transitions.indptr[choice] : mdp.transitions.indptr[choice + 1]]
        ends = [int(y) for y in row if int(y) not in seen]
        if not ends:
            break
        at = ends[int(rng.integers(len(ends)))]
        seen.add(at)
        path += [mdp.actions[choice], mdp.states[at]]
    return path


def _compare_path(mdp: MDP, scope: Any, exact: Question, path: list[str], tally: Tally, label: str) -> None:
    try:
        truth = exact.path(path)
    except UndefinedImportanceError:
        return
    try:
        found = Question.of(mdp, target="goal", scope=scope).path(path)
    except (WaypostError, RuntimeError, ArithmeticError) as why:
        tally.refuse(f"{label} {path}", 3, why)
        return
    for part in ("lower", "upper", "reachability_following"):
        tally.add(f"{label} {path} {part}", getattr(found, part), getattr(truth, part))
    free, told = (x.reachability_following == x.reachability for x in (truth, found))
    if free != told:
        tally.extreme += 1
        tally.where.append(f"{label} {path} costs {'nothing' if told else 'something'}")


def run(kind: str, seeds: range) -> Tally:
    """Compare models of a kind, one per seed."""
    from stress.models import KINDS

    tally = Tally()
    for seed in seeds:
        rng = np.random.default_rng([seed, *kind.encode()])
        compare(KINDS[kind](rng), rng, tally, f"{kind} seed {seed}")
    return tally


def main(seeds: int, only: str | None) -> None:
    """Print the table."""
    from stress.models import KINDS

    lines = [f"{'kind':12}{'bounds':>9}{'off':>7}{'0 or 1':>8}{'refused':>9}  worst"]
    for kind in KINDS if only is None else [only]:
        tally = run(kind, range(seeds))
        counts = f"{tally.bounds:9}{tally.off:7}{tally.extreme:8}{tally.refused:9}"
        lines += [f"{kind:12}{counts}  {tally.worst:.2g}", *(f"    {line}" for line in tally.where[:12])]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
        lines = []


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, sys.argv[2] if len(sys.argv) > 2 else None)
