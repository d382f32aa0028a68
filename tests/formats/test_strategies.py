"""Strategies in and out: what was written is what is read, and Storm's own export is understood."""

from __future__ import annotations

import json
from types import SimpleNamespace

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


def two_doors() -> MDP:
    """State 0 may go left or right; one more state has a choice, and there is an end without one."""
    return MDP.from_dict(
        {"a": {"left": "b", "right": "c"}, "b": {"left": "c", "right": "b"}, "c": {}},
        initial="a",
    )


def choices_of(strategy: Strategy) -> list[dict[str, float]]:
    return [strategy.to_dict()[state] for state in ("a", "b")]


LEFT_RIGHT = [{"left": 1.0}, {"right": 1.0}]


class Tensor:
    """As torch has them: no array, but made into one without its gradient."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __array__(self, *_args, **_options):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    def detach(self):
        return SimpleNamespace(cpu=lambda: SimpleNamespace(numpy=lambda: np.asarray(self.numbers)))


@pytest.mark.parametrize(
    "policy",
    [
        np.array([0, 1, 0]),
        [0, 1, 0],
        (0, 1, 0),
        np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]),
        np.array([[-3.0, -4.0], [2.0, 7.0], [0.0, 0.0]]),
        {"a": "left", "b": "right"},
        {0: 0, 1: 1},
        {0: 0, 1: 1, 2: 7},
        {"0": 0, "1": 1},
        {0: [0.2, 0.1], 1: np.array([-2.0, 3.0]), 2: [0.0, 0.0, 0.0]},
        np.array(["left", "right", "left"]),
        np.array([0.0, 1.0, 0.0]),
        Tensor([[0.2, 0.1], [-2.0, 3.0], [0.0, 0.0]]),
        {"a": np.int64(0), "b": np.array(1)},
        {"a": [1.0, 0.0], "b": np.array([0.0, 1.0], np.float32)},
        {0: {0: 1.0}, 1: {"right": 1.0}},
        lambda state: {"a": 0, "b": "right"}[state],
        lambda state: state == "b",
        lambda state: Tensor([0.0, float(state == "b"), -1.0][:2]),
        lambda state: Tensor(float(state == "b")),
        SimpleNamespace(predict=lambda state: ["left", "right"][int(state)]),
        SimpleNamespace(predict=lambda states: np.eye(2)[states] * 3 - 1),
        SimpleNamespace(predict=lambda state: [[0.5, 0.25], [0.2, 0.8]][int(state)]),
        SimpleNamespace(predict=lambda state: int(state) % 2),
        SimpleNamespace(predict=lambda states, deterministic: (states % 2, deterministic)),
    ],
)
def test_a_policy_is_a_strategy_whatever_it_is_written_as(policy):
    """Law: numbers, names, rows, functions and agents that do the same are the same strategy."""
    assert choices_of(read_strategy(two_doors(), policy)) == LEFT_RIGHT


def test_rows_that_sum_to_one_are_probabilities_and_others_values():
    """Law: a row of probabilities is drawn from, a row of values only says which is the greatest."""
    mdp = two_doors()
    odds = np.array([[0.25, 0.75], [0.5, 0.5], [0.0, 0.0]])
    assert choices_of(read_strategy(mdp, odds)) == [{"left": 0.25, "right": 0.75}, {"left": 0.5, "right": 0.5}]
    assert choices_of(read_strategy(mdp, odds, table="values")) == [{"right": 1.0}, {"left": 1.0}]
    assert choices_of(read_strategy(mdp, odds * 2)) == [{"right": 1.0}, {"left": 1.0}]
    rounded = np.array([[0.3333333, 0.6666667], [0.1, 0.9], [0, 0]], np.float32)
    assert choices_of(read_strategy(mdp, rounded))[0]["left"] == pytest.approx(1 / 3, abs=1e-6)


def test_a_table_that_may_be_either_asks():
    several = MDP.from_dict({s: {"x": "t", "y": "s0"} for s in ("s0", "s1", "s2")} | {"t": {}}, initial="s0")
    either = np.array([[0.5, 0.5], [0.2, 0.8], [0.4, 0.3], [0, 0]])
    with pytest.raises(StrategyError, match=r"2 of the 3 rows .* table='values' or table='probabilities'"):
        read_strategy(several, either)
    assert read_strategy(several, either, table="values").to_dict()["s2"] == {"x": 1.0}
    with pytest.raises(StrategyError, match=r"sum to 0\.7"):
        read_strategy(several, either, table="probabilities")


def test_what_an_agent_sees_may_be_made_of_the_state():
    """Law: `observe` says what is seen in state s; one-hot vectors, for example."""
    mdp = two_doors()
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])

    def network(seen):
        if np.shape(seen)[-1:] != (3,):
            raise ValueError(f"Unexpected observation shape {np.shape(seen)}")
        return np.argmax(np.asarray(seen) @ weights, axis=-1), None

    agent = SimpleNamespace(predict=network)
    assert choices_of(read_strategy(mdp, agent, observe=lambda s: np.eye(3)[s])) == LEFT_RIGHT
    with pytest.raises(StrategyError, match="pass observe="):
        read_strategy(mdp, agent)
    assert choices_of(read_strategy(mdp, lambda s: [0, 1][s], observe=lambda s: s)) == LEFT_RIGHT
    with pytest.raises(StrategyError, match="observe=lambda s: s"):
        read_strategy(mdp, lambda s: [0, 1][s])


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (np.array([0, 5, 0]), "action number 5 does not exist in state 'b'"),
        (np.array([0]), "1 actions, one per state; state 'b' is number 1"),
        ({0: 7}, "action number 7"),
        ({9: 0}, "state number 9"),
        ({"a": [0.1, 0.2, 0.7]}, "3 numbers for state 'a', which has 2 actions: left, right"),
        ({0: {0: 0.9, 1: 0.7}, 1: 0}, "sum to 1.6, not 1.*table='values'"),
        ({(0, 0): 1}, "no state is called .0, 0., but 'a', for example"),
        (np.array([[[0.0]]]), "one row per state"),
        (np.array(["left", "write"]), "did you mean 'right'"),
        (np.array([0.5, 1.0]), "the answer 0.5 for state 'a' is no action"),
        (np.array([[0.0, 1], [0, np.nan], [0, 0]]), "action 'right' in state 'b' is NaN"),
        (np.zeros((2, 3)), "its rows are the actions: pass table.T"),
        (SimpleNamespace(predict=lambda states: 0.3 + 0 * states), "the answer 0.3 for state 'a' is no action"),
        (lambda _: None, "the answer None for state 'a' is no action"),
        (SimpleNamespace, "is a class; pass an agent of it"),
        (object(), "is no strategy we know.*agent.act"),
    ],
)
def test_a_policy_that_does_not_fit_says_what_to_pass(policy, said):
    with pytest.raises(WaypostError, match=said):
        read_strategy(two_doors(), policy)


def test_rows_that_a_network_gives_are_read_as_rows_of_a_table():
    """Law: what `predict` or a function gives for a state means what that row of a table would mean."""
    mdp = two_doors()
    odds = np.array([[0.25, 0.75], [0.5, 0.5], [0.0, 0.0]])
    for table in (odds, 2 * odds, odds - 1):
        meant = choices_of(read_strategy(mdp, table))
        several = SimpleNamespace(predict=lambda states, rows=table: rows[states])
        alone = SimpleNamespace(predict=lambda state, rows=table: rows[int(state)][None, :])
        for agent in (several, alone, dict(enumerate(table))):
            assert choices_of(read_strategy(mdp, agent)) == meant
        assert choices_of(read_strategy(mdp, lambda s, rows=table: rows[s], observe=lambda s: s)) == meant
    assert choices_of(read_strategy(mdp, dict(enumerate(odds)), table="values")) == [{"right": 1.0}, {"left": 1.0}]
    assert choices_of(read_strategy(mdp, {0: {0: 0.9, 1: 0.7}, 1: 0}, table="values")) == [{"left": 1.0}] * 2


def test_an_agent_that_rarely_draws_is_refused():
    """Law: an epsilon of a tenth is found out, whatever is drawn; two answers alike prove nothing."""
    for seed in range(20):
        draw = np.random.default_rng(seed)
        with pytest.raises(StrategyError, match="gives two answers"):
            read_strategy(two_doors(), lambda _, draw=draw: int(draw.random() < 0.05))


def test_mappings_by_name_may_say_more_than_is_asked(tmp_path):
    """Law: a mapping, in memory or in JSON, may hold rows, by name too, and answers for states without a choice."""
    mdp = two_doors()
    rows = {"a": [3.0, 0.5], "b": [0.5, 0.75], "c": [0.0, 0.0]}
    odds = {"a": {"left": 1.0}, "b": {"right": 1.0}, "c": {"left": 0.5, "right": 0.5}}
    for number, said in enumerate((rows, odds)):
        assert choices_of(read_strategy(mdp, said)) == LEFT_RIGHT
        (tmp_path / f"{number}.json").write_text(json.dumps(said))
        assert choices_of(read_strategy(mdp, tmp_path / f"{number}.json")) == LEFT_RIGHT
    (tmp_path / "values.json").write_text(json.dumps({"0": [1.0, 0.0], "1": [0.25, 0.75]}))
    assert choices_of(read_strategy(mdp, tmp_path / "values.json", table="values")) == LEFT_RIGHT


def test_tables_keyed_by_observations_are_told_how_to_be_passed():
    """Law: tuples of numpy numbers are tuples; where states are called otherwise, what the error says to pass works."""
    mdp = MDP.from_dict({"(0, 1)": {"left": "c", "right": "(0, 1)"}, "c": {}}, initial="(0, 1)")
    assert read_strategy(mdp, {(np.int64(0), np.int64(1)): "left"}).to_dict()["(0, 1)"] == {"left": 1.0}
    mdp = MDP.from_dict({"x=0, y=1": {"left": "x=1, y=1", "right": "x=0, y=1"}, "x=1, y=1": {}}, initial="x=0, y=1")
    table = {(0, 1): [0.0, 2.0]}
    with pytest.raises(StrategyError, match=r"lambda seen: table\[seen\], observe=lambda s: tuple\(") as said:
        read_strategy(mdp, table)
    function, _, observe = str(said.value).partition("tuples: ")[2].partition(", observe=")
    given = {"mdp": mdp, "table": table}
    found = read_strategy(mdp, eval(function, given), observe=eval(observe, given))  # noqa: S307
    assert found.to_dict()["x=0, y=1"] == {"right": 1.0}
