"""Strategies in and out: what was written is what is read, and Storm's own export is understood."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.models import mdps
from waypost import state_importance
from waypost.cases import loan
from waypost.errors import StrategyError, WaypostError
from waypost.formats import read_mdp
from waypost.formats.strategies import prism_strategy, read_strategy, storm_scheduler, write_strategy
from waypost.model import MDP, Strategy


def random_strategy(mdp: MDP, seed: int) -> Strategy:
    weights = np.random.default_rng(seed).integers(0, 3, mdp.n_choices) + 1e-9
    return Strategy.memoryless(mdp, weights / np.bincount(mdp.choice_state, weights=weights)[mdp.choice_state])


@pytest.mark.parametrize("kind", ["json", "storm", "prism"])
@given(mdp=mdps(st.text("abcdef", min_size=1, max_size=4)), seed=st.integers(0, 99))
@settings(max_examples=20)
def test_a_written_strategy_is_read_back(kind, mdp, seed, tmp_path_factory):
    path = tmp_path_factory.mktemp("strategy") / "strategy.txt"
    strategy = random_strategy(mdp, seed)
    if kind == "json":
        write_strategy(strategy, path)
    else:
        path.write_text({"storm": storm_scheduler, "prism": prism_strategy}[kind](strategy))
    assert read_strategy(mdp, path).modes[0].tolist() == pytest.approx(strategy.modes[0].tolist(), rel=1e-12)


def test_storms_own_scheduler_is_read(shared_data, tmp_path):
    stormpy = pytest.importorskip("stormpy")
    for source in ("models/paper/bpic12.prism", "models/storm/two_dice.nm"):
        file = shared_data / source
        target = "positive" if "paper" in source else "seven"
        program = stormpy.parse_prism_program(str(file))
        options = stormpy.BuilderOptions(build_full=True)
        model = stormpy.build_model(program, options=options)
        query = stormpy.parse_properties(f'Pmax=? [F "{target}"]', program)[0]
        result = stormpy.model_checking(model, query, extract_scheduler=True)
        (tmp_path / "scheduler.json").write_text(result.get_scheduler().to_json_str(model))
        mdp = read_mdp(file)
        strategy = read_strategy(mdp, tmp_path / "scheduler.json")
        optimal = state_importance(mdp, target=target, scope=strategy)
        bounds = state_importance(mdp, target=target, scope="optimal")
        for name in mdp.states:
            assert bounds[name].lower - 1e-6 <= optimal[name].lower <= bounds[name].upper + 1e-6


def test_prisms_exports_are_read(tmp_path):
    mdp = MDP.from_dict(
        {"x=0, up=true": {"east": "x=1, up=false", "south": "x=0, up=true"}, "x=1, up=false": {"west": "x=0, up=true"}},
        initial="x=0, up=true",
    )
    for text in ("0:east\n1:west\n", "(0,true):east\n(1,false):west\n", "0:0\n1:0\n", "0=1.0:east\n", "0:east\n\n"):
        (tmp_path / "strategy.tra").write_text(text)
        assert read_strategy(mdp, tmp_path / "strategy.tra").to_dict()["x=0, up=true"] == {"east": 1.0}
    (tmp_path / "strategy.tra").write_text("0=0.25:east+0.75:south\n")
    assert read_strategy(mdp, tmp_path / "strategy.tra").to_dict()["x=0, up=true"] == {"east": 0.25, "south": 0.75}


def test_a_function_and_a_q_table_are_strategies():
    mdp = loan()
    chosen = {"s0": "Apply", "Error": "Quit", "Consultation": {"Apply": 0.5, "Angry": 0.5}, "Rework": "Submit"}
    assert read_strategy(mdp, chosen.__getitem__).to_dict() == read_strategy(mdp, chosen).to_dict()
    table = np.array([[0.0, 1.0]] * mdp.n_states)
    assert read_strategy(mdp, table).to_dict()["s0"] == {"Consult": 1.0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ('[{"s": 0}]', 'needs "s" and "c"'),
        ('[{"s": 99, "c": []}]', "state number 99"),
        ('[{"s": {"x": 1}, "c": []}]', "no state 'x=1'"),
        ('[{"s": 0, "c": [{"index": 7}]}]', "takes choice 7"),
        ('[{"s": 0, "c": [{"index": 0, "prob": "a"}]}]', "without a probability"),
        ('[{"s": 0, "m": 1, "c": []}]', "with memory"),
        ("0 east", "expected 'state:action'"),
        ("99:Apply", "state 99"),
        ("0=0.5:Apply\n2:Quit\n3:Apply\n6:Quit", "sum to 0.5"),
        ("0:Aply", "did you mean 'Apply'"),
        ('{"s0": {"Apply": 0.5}}', "says nothing about"),
    ],
)
def test_a_wrong_strategy_says_what_is_wrong(text, said, tmp_path):
    (tmp_path / "strategy.json").write_text(text)
    with pytest.raises(WaypostError, match=said):
        read_strategy(loan(), tmp_path / "strategy.json")


def test_a_q_table_of_another_size_is_refused():
    with pytest.raises(StrategyError, match="3 by 2"):
        read_strategy(loan(), np.zeros((3, 2)))


def test_a_strategy_with_memory_is_only_written_as_json(tmp_path):
    mdp = loan()
    uniform = Strategy.uniform(mdp).modes[0]
    strategy = Strategy.one_bit(mdp, uniform, uniform, np.array([name == "Error" for name in mdp.states]))
    with pytest.raises(StrategyError, match="memory"):
        storm_scheduler(strategy)
    write_strategy(strategy, tmp_path / "s.json")
    assert read_strategy(mdp, tmp_path / "s.json").to_dict() == json.loads((tmp_path / "s.json").read_text())
