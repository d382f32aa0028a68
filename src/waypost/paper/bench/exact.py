"""Exact answers beside Storm's exact engine: one state of models of about 2,000, equal as fractions."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from waypost.cases import epidemic
from waypost.formats import read_mdp
from waypost.importance import Question
from waypost.model import MDP
from waypost.paper.bench import storm
from waypost.paper.bench.lakes import lake
from waypost.paper.bench.models import Shared, find_model, share
from waypost.paper.bench.plan import Plan
from waypost.paper.bench.protocols import instances
from waypost.paper.bench.rows import Cost, Row
from waypost.paper.bench.sides import ours
from waypost.paper.bench.synthetic import synthetic

LARGEST = 2_100  # states of a protocol: the largest instance of each below
PROTOCOLS = {"consensus": "c2", "csma": "some_before", "firewire_abst": "elected", "zeroconf": "correct_max"}
TRIED = 40  # states, until one is found that the graph alone does not settle
TITLES = ("Pmax, exact", "one state, both bounds, scope all, exact", "one state, both bounds, scope optimal, exact")


def exact(name: str, plan: Plan) -> Iterator[Row | str]:
    """Greatest probability and both bounds of one state, in fractions; Storm's conditional query does the same."""
    for title, given, target in _models(plan):
        mdp = replace(given, exact=given.rationals())  # in the file, too: both read the same fractions
        with tempfile.TemporaryDirectory(prefix="waypost-") as folder:
            shared = share(mdp, target, Path(folder, "model.drn"), [telling(mdp, target)])
            yield from _beside(title, shared, plan)
    if not (plan.data / "models/qcomp").is_dir() and not plan.quick:
        yield f"{name}: no protocols, models/qcomp is not under {plan.data} (say where with --data or WAYPOST_DATA)"


def _models(plan: Plan) -> Iterator[tuple[str, MDP, str]]:
    if plan.quick:
        yield "lake 12x12, slippery", lake(12, slippery=True), "goal"
        yield "200 states, many choices", synthetic(200, "many"), "goal"
        return
    learned = find_model("spotify1000", plan.data)
    if learned is not None:
        yield "spotify1000", read_mdp(learned), "positive"
    yield "E10", epidemic(10), "positive"
    for size in (12, 20, 45):
        yield f"lake {size}x{size}, slippery", lake(size, slippery=True), "goal"
    yield "2,000 states, few choices", synthetic(2_000, "few"), "goal"
    yield "2,000 states, many choices", synthetic(2_000, "many"), "goal"
    largest = {title.split(".")[0].split("(")[0]: (title, mdp) for title, mdp in _protocols(plan)}
    for title, mdp in largest.values():
        yield title, mdp, "goal"


def _protocols(plan: Plan) -> Iterator[tuple[str, MDP]]:
    return instances(plan.data / "models/qcomp", largest=LARGEST, properties=PROTOCOLS)


def telling(mdp: MDP, target: str) -> int:
    """A random state, the same every time, whose bounds are numbers: over all strategies, or else over the best."""
    order = np.random.default_rng(mdp.n_states).permutation(mdp.n_states)[:TRIED].tolist()
    questions = [Question.of(mdp, target=target, scope=scope) for scope in ("all", "optimal")]
    for most in (2, 1):  # both bounds, or one
        for question in questions:
            for s in order:
                found = question.states(mdp.states[s])
                if sum(0 < x < 1 for x in (*found.lower, *found.upper)) >= most:
                    return int(s)
    return int(order[0])


def _beside(title: str, shared: Shared, plan: Plan) -> Iterator[Row]:
    (asked,) = shared.asked
    plan.tell(f"exact: {title}: Waypost")
    works: list[dict[str, Any]] = [{"kind": "exact reachability", "target": "target"}]
    works += [{"kind": "exact", "target": "target", "scope": scope, "only": asked} for scope in ("all", "optimal")]
    rows, numbers = ours(plan, {"model": str(shared.path), "works": works}, title, TITLES)
    fractions: list[list[str]] = [[x for pair in found for x in pair] for found in numbers]  # type: ignore[misc]
    rows = [
        replace(row, asked=int(k > 0), note=_length(found))
        for k, (row, found) in enumerate(zip(rows, fractions, strict=True))
    ]
    if plan.use_storm:
        plan.tell(f"exact: {title}: Storm")
        queries = [storm.REACH, *(storm.conditional(f"q{asked}", bound) for bound in ("min", "max"))]
        plain = storm.ask(shared.path, queries[:1], limit=plan.limit, exact=True)
        rows[0] = _with(rows[0], plain, fractions[0][:1], "Pmax=? [F target], exact")
        both = storm.ask(shared.path, queries[1:], limit=plan.limit, exact=True)
        rows[1] = _with(rows[1], both, fractions[1], "both queries, exact")
    yield from rows


def _with(row: Row, answers: storm.Answers, mine: Sequence[str], did: str) -> Row:
    """A row with Storm's time, and whether the fractions are the same ones, digit by digit."""
    pairs = [(a, b) for a, b in zip(answers.fractions, mine, strict=True) if a]
    return replace(
        row,
        storm=Cost(answers.best_round, answers.reading, answers.megabytes),
        storm_did=did,
        unanswered=len(answers.unanswered),
        compared=len(pairs),
        difference=(0.0 if all(a == b for a, b in pairs) else inf) if pairs else None,
    )


def _length(fractions: Sequence[str]) -> str:
    """How long the longest denominator is, in decimal digits."""
    bits = max(int(fraction.partition("/")[2], 16).bit_length() for fraction in fractions)
    return f"denominators of up to {int(bits * 0.30103) + 1:,} digits"
