"""What Storm does to check a claim, in a process of its own: read a model and a strategy, and compute importance.

The model is a DRN file, the strategy a memoryless scheduler as Storm writes it; on a product both say what a strategy
with memory does. The chain that the strategy leaves is made from the rows that Storm read. As `storm_worker`, this
knows stormpy and the standard library, nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any


def work(job: Mapping[str, Any]) -> dict[str, Any]:
    """Do one job: the probability of the target under the strategy, and the importance of every set asked for.

    The folder we are in has ``model.drn`` and ``scheduler.json``; `target` and `asked` are lists of states by number.
    Answers are texts, fractions in exact mode. Nothing is asked where the target is not reached.
    """
    import stormpy

    stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)
    kind = stormpy.Rational if job["exact"] else float
    model = stormpy.build_model_from_drn[kind]("model.drn")
    target = set(job["target"])
    rows = chain(model, json.loads(Path("scheduler.json").read_text(encoding="utf-8")), target)
    labels = {"target": target, **{f"asked{k}": set(states) for k, states in enumerate(job["asked"])}}
    Path("chain.drn").write_text("\n".join(written(rows, model.initial_states[0], labels, exact=job["exact"])))
    left = stormpy.build_model_from_drn[kind]("chain.drn")
    precise = None if job["exact"] else _precise()

    def asked(formula: str, *needed: str) -> str:
        if not all(labels[label] & rows.keys() for label in needed):
            return "0"  # Storm knows no label that holds nowhere
        how = {"only_initial_states": True} | ({} if precise is None else {"environment": precise})
        found = stormpy.model_checking(left, stormpy.parse_properties(formula)[0], **how)
        value = found.get_value(left.initial_states[0])
        return str(value) if job["exact"] else repr(float(value))

    reached = asked('P=? [ F "target" ]', "target")
    if float(_number(reached)) == 0:
        return {"reached": reached, "importance": []}
    return {
        "reached": reached,
        "importance": [asked(f'P=? [ F "asked{k}" || F "target" ]', f"asked{k}") for k in range(len(job["asked"]))],
    }


def _number(text: str) -> float:
    above, _, below = text.partition("/")
    return float(above) / float(below or 1)


def _precise() -> Any:
    """Give the settings under which Storm solves equations directly, not by iterating."""
    import stormpy

    environment = stormpy.Environment()
    environment.solver().set_linear_equation_solver_type(stormpy.developer.EquationSolverType.EIGEN)
    return environment


def chain(model: Any, scheduler: Iterable[Mapping[str, Any]], target: set[int]) -> dict[int, dict[int, Any]]:
    """Rows of the Markov chain that a scheduler leaves, from the initial state on; the target is not left."""
    matrix = model.transition_matrix
    taken = [entry["c"] for entry in scheduler]  # of every state, in the order of the model
    waiting = list(model.initial_states)
    rows: dict[int, dict[int, Any]] = {}
    while waiting:
        state = waiting.pop()
        if state in rows:
            continue
        row: dict[int, Any] = {}
        if state in target:
            row[state] = 1
        else:
            for part in taken[state]:
                for entry in matrix.get_row(part["index"]):
                    share = entry.value * type(entry.value)(repr(part["prob"]))
                    row[entry.column] = row[entry.column] + share if entry.column in row else share
        rows[state] = row
        waiting += row
    return rows


def written(
    rows: Mapping[int, Mapping[int, Any]], initial: int, labels: Mapping[str, set[int]], *, exact: bool
) -> Iterator[str]:
    """Lines of a DRN file with the chain."""
    order = sorted(rows)
    number = {state: k for k, state in enumerate(order)}
    yield f"@type: DTMC\n@value_type: {'rational' if exact else 'double'}\n@parameters\n\n@reward_models\n"
    yield f"@nr_states\n{len(order)}\n@nr_choices\n{len(order)}\n@model"
    for state in order:
        words = [label for label, members in labels.items() if state in members]
        yield " ".join([f"state {number[state]}", *(["init"] if state == initial else []), *words])
        yield "\taction 0"
        for goal, share in rows[state].items():
            yield f"\t\t{number[goal]} : {share if exact else repr(float(share))}"
