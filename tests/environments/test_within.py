"""Within n steps: bounds against every strategy there is, at the command line and in Python."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from waypost import MDP, write_mdp
from waypost.cli import main

STEPS = 3
PLACES = ("a", "b", "c", "t")


def random_model(seed: int) -> MDP:
    """Three places with two actions each, and a target that ends a run."""
    draw = np.random.default_rng(seed)
    odds = {
        place: {
            action: dict(zip(PLACES, np.round(draw.dirichlet([0.6] * 4) * 16).tolist(), strict=True)) for action in "xy"
        }
        for place in "abc"
    }
    table = {
        place: {action: {to: n / sum(row.values()) for to, n in row.items() if n} for action, row in actions.items()}
        for place, actions in odds.items()
    }
    return MDP.from_dict({**table, "t": {}}, initial="a", labels={"won": ["t"]})


def every_bound(mdp: MDP, place: str, step: int) -> tuple[float, float]:
    """Least and greatest share of the runs to t in time that are in `place` after `step` steps, trying all."""
    matrix = mdp.transitions.toarray()
    histories = [h for n in range(STEPS) for h in itertools.product("abc", repeat=n)]
    ways = []  # every way to t in time: the histories on it with their successors, and whether it passes the place
    for n in range(STEPS):
        for middle in itertools.product("abc", repeat=n):
            run = ("a", *middle, "t")
            passes = step < len(run) and run[step] == place
            ways.append(([(run[1 : k + 1], run[k], run[k + 1]) for k in range(len(run) - 1)], passes))
    shares = []
    position = {history: k for k, history in enumerate(histories)}
    for chosen in itertools.product((0, 1), repeat=len(histories)):
        reached = passed = 0.0
        for moves, passes in ways:
            p = 1.0
            for history, here, there in moves:
                choice = mdp.choices(mdp.index[here])[0] + chosen[position[history]]
                p *= matrix[choice][mdp.index[there]]
                if not p:
                    break
            reached += p
            passed += p * passes
        if reached > 0:
            shares.append(passed / reached)
    return min(shares), max(shares)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_in_time_bounds_are_those_of_every_strategy(seed, tmp_path, capsys):
    """Law: of a model file, --within N has the bounds of all strategies that may look at the whole history."""
    mdp = random_model(seed)
    write_mdp(mdp, tmp_path / "model.drn")
    with pytest.raises(SystemExit) as done:
        main(["explain", str(tmp_path / "model.drn"), "-t", "won", "--within", str(STEPS), "--json", "-"])
    assert not done.value.code
    found = {state["name"]: state["all"] for state in json.loads(capsys.readouterr().out)["states"]}
    asked = [("b", 1), ("c", 2), ("a", 1)]
    told = 0
    for place, step in asked:
        name = f"{mdp.index[place]}, step={step}"
        name = name if name in found else f"{place}, step={step}"
        if name in found:
            low, high = every_bound(mdp, place, step)
            assert (found[name]["lower"], found[name]["upper"]) == pytest.approx((low, high), abs=1e-9)
            told += 1
    assert told


def test_values_of_variables_come_first(capsys):
    """Law: nobody gets through the door without the key, and that is said before any state."""
    pytest.importorskip("minigrid")
    with pytest.raises(SystemExit) as done:
        main(["explain", "gym:MiniGrid-DoorKey-5x5-v0", "--by", "variable", "--top", "30", "--json", "-"])
    assert not done.value.code
    groups = {group["name"]: group["all"] for group in json.loads(capsys.readouterr().out)["groups"]}
    assert groups["carrying=yellow_key"] == {"lower": 1.0, "upper": 1.0}
    assert any(" & " in name for name in groups)
    with pytest.raises(SystemExit):
        main(["explain", "gym:MiniGrid-DoorKey-5x5-v0", "--top", "2", "-q"])
    printed = capsys.readouterr().out
    assert printed.index("carrying=yellow_key (") < printed.index("(start)")
