"""Gymnasium environments: the table, the terminal flags, small worlds explored, and what agents did in them."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from waypost import explain, reachability, state_importance
from waypost.environments import explore, from_gymnasium
from waypost.environments.playing import count_mdp, rollout_frame, rollouts
from waypost.errors import WaypostError
from waypost.formats import from_tensor, read_mdp
from waypost.formats.strategies import read_strategy
from waypost.learn import learn_mdp, observed_strategy
from waypost.logs import EventLog

gymnasium = pytest.importorskip("gymnasium")


class Table:
    """An environment that is nothing but its table."""

    def __init__(self, table, start=None):
        self.P = table
        self.initial_state_distrib = start

    @property
    def unwrapped(self):
        return self

    def step(self, action):
        raise NotImplementedError


def test_outcomes_that_lead_to_the_same_state_are_added_up():
    mdp = from_gymnasium(
        Table({0: {0: [(0.5, 1, 0, False), (0.25, 1, 0, False), (0.25, 0, 0, False)]}, 1: {0: [(1, 1, 0, False)]}})
    )
    assert mdp.transitions.toarray()[0].tolist() == [0.25, 0.75]


def test_a_step_that_terminates_ends_in_a_final_state():
    """State 1 is also met on the way, so ending there is a state of its own."""
    table = {0: {0: [(0.5, 1, 0, False), (0.5, 1, 1, True)]}, 1: {0: [(1.0, 0, 0, False)]}}
    mdp = from_gymnasium(Table(table))
    assert mdp.states == ("0", "1", "1 (end)")
    assert mdp.where("goal").tolist() == mdp.where("terminal").tolist() == [False, False, True]
    assert mdp.actions[-1] == "(final)"


def test_several_first_states_get_a_start_in_front_of_them():
    table = {s: {0: [(1.0, 2, 1, True)], 1: [(1.0, s, 0, False)]} for s in range(3)}
    mdp = from_gymnasium(Table(table, np.array([0.25, 0.75, 0])))
    assert mdp.states[mdp.initial] == "start"
    assert mdp.transitions.toarray()[-1].tolist() == [0.25, 0.75, 0, 0]
    assert from_gymnasium(Table(table, np.array([0.25, 0.75, 0])), initial=1).initial == 1


@pytest.mark.parametrize("slippery", [True, False])
def test_frozen_lake_reaches_its_goal_as_value_iteration_says(slippery):
    """Law: greatest reachability of the goal is the value of the environment's own rewards without discount."""
    env = gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=slippery)
    mdp = read_mdp(env)
    values = np.zeros(16)
    for _ in range(3000):
        values = np.array([
            max(sum(p * (r + (0 if end else values[to])) for p, to, r, end in env.unwrapped.P[s][a]) for a in range(4))
            for s in range(16)
        ])  # fmt: skip
    found = reachability(mdp, target="goal", optimum="max")
    playing = ~mdp.where("terminal")
    assert found[playing] == pytest.approx(values[playing], abs=1e-6)
    assert mdp.where("row=3 & col=3").tolist() == mdp.where("goal").tolist()
    assert mdp.labels["hole"].sum() == 4


def test_the_cliff_and_the_taxi_are_what_they_are():
    cliff = read_mdp(gymnasium.make("CliffWalking-v1"))
    assert [cliff.states[s] for s in np.flatnonzero(cliff.where("goal"))] == ["row=3, col=11"]
    result = state_importance(cliff, target="goal", scope="all", states=["row=2, col=0", "row=3, col=5"])
    assert (result["row=2, col=0"].lower, result["row=3, col=5"].upper) == (1.0, 0.0)
    taxi = read_mdp(gymnasium.make("Taxi-v4"))
    assert (taxi.n_states, taxi.states[taxi.initial], int(taxi.where("goal").sum())) == (501, "start", 4)
    assert taxi.where("passenger=in_taxi & destination=red").sum() == 25
    assert reachability(taxi, target="goal", optimum="max")[taxi.initial] == 1.0


def test_a_q_table_is_the_strategy_of_its_agent():
    env = gymnasium.make("CliffWalking-v1")
    mdp = read_mdp(env)
    safe = np.zeros((48, 4))
    safe[:, 1] = 1  # right,
    safe[36, 0] = 2  # but up from the start,
    safe[35, 2] = 2  # and down to the goal
    result = state_importance(mdp, target="goal", scope=read_strategy(mdp, safe))
    assert {name for name in result if result[name].lower == 1} == {f"row=2, col={c}" for c in range(12)} | {
        "row=3, col=0",
        "row=3, col=11",
    }


def test_an_environment_without_a_table_says_what_to_do():
    with pytest.raises(WaypostError, match="no table P"):
        read_mdp(gymnasium.make("CartPole-v1"))
    with pytest.raises(WaypostError, match="3 action names for 4"):
        from_gymnasium(gymnasium.make("FrozenLake-v1"), actions=["a", "b", "c"])


def test_a_minigrid_world_is_explored_with_its_door_and_key():
    pytest.importorskip("minigrid")
    actions = ["left", "right", "forward", "pickup", "drop", "toggle"]
    mdp = explore(gymnasium.make("MiniGrid-DoorKey-5x5-v0"), actions=actions)
    assert reachability(mdp, target="goal", optimum="max")[mdp.initial] == 1.0
    key = mdp.where("carrying=yellow_key")
    fields = {x: v.words or () for x, v in mdp.variables.items() if x.startswith("at_")}
    door = [x for x, seen in fields.items() if "yellow_open" in seen]
    assert key.any()
    assert len(door) == 1
    with_key = [mdp.states[s] for s in np.flatnonzero(key)]
    names = set(with_key)
    assert explain(mdp, target="goal", scope="all", states=with_key[:1]).reachability.upper == 1.0
    from waypost import group_importance

    groups = group_importance(mdp, target="goal", groups={"key": list(names)}, scope="all")
    assert groups["key"].lower == 1.0  # nobody gets through the door without it


def test_a_random_step_is_counted_and_a_sure_one_is_not():
    class Coin(gymnasium.Env):
        action_space = gymnasium.spaces.Discrete(2)
        observation_space = gymnasium.spaces.Discrete(3)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed, options=options)
            self.at = 0
            return 0, {}

        def step(self, action):
            self.at = 1 + int(self.np_random.random() < 0.3) if action == 0 else 2
            return self.at, float(self.at == 2), self.at == 2, False, {}

    mdp = explore(Coin(), key=lambda env: env.unwrapped.at, samples=500)
    toss = mdp.transitions.toarray()[0]
    assert toss[2] == pytest.approx(0.3, abs=0.07)
    assert mdp.transitions.toarray()[1].tolist() == [0, 0, 1]
    with pytest.raises(WaypostError, match="more than 2 states"):
        explore(Coin(), key=lambda env: env.unwrapped.at, limit=2)


def test_tensors_are_models_and_wrong_ones_are_refused():
    from scipy.sparse import csr_array

    tensor = np.array([[[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]], [[0, 0, 0], [0, 0, 1], [0, 0, 0]]])
    dense = read_mdp(tensor)
    sparse = from_tensor([csr_array(tensor[0]), csr_array(tensor[1])], labels={"end": [2]})
    assert dense.transitions.toarray().tolist() == sparse.transitions.toarray().tolist()
    assert dense.actions == ("0", "0", "1", "0")
    assert sparse.labels["end"].tolist() == [False, False, True]
    for wrong in (tensor[0], [], [np.zeros((2, 3))], [np.ones((2, 2))], csr_array(tensor[0]), [["a"]]):
        with pytest.raises(WaypostError):
            from_tensor(wrong)


def test_rollouts_are_the_same_for_the_same_seed_and_become_a_log_and_a_model():
    env = gymnasium.make("FrozenLake-v1", map_name="4x4")
    seen: list[tuple[int, int]] = []
    traces = rollouts(env, None, episodes=300, seed=3, progress=lambda done, total: seen.append((done, total)))
    assert traces == rollouts(env, None, episodes=300, seed=3)
    assert traces != rollouts(env, None, episodes=300, seed=4)
    assert seen[-1] == (300, 300)
    frame = rollout_frame(traces)
    assert len(frame) == sum(len(trace) - 1 for trace in traces)
    assert EventLog(frame).n_cases == 300
    counted = count_mdp(traces)
    successes = sum(trace[-1][1] == "positive" for trace in traces)
    played = observed_strategy(counted)
    assert successes > 0
    chain = explain(counted, target="positive", scope=played)
    assert chain.scopes["strategy"]["positive"].lower == 1.0
    learned = learn_mdp(traces, eps=0.5)
    assert learned.labels["positive"].any()


def test_frequencies_are_fractions_and_counts_are_kept():
    mdp = count_mdp([["s", ("a", "s"), ("a", "end")], ["s", ("b", "end")], ["s", ("a", "end")]])
    assert mdp.states == ("s", "end")
    assert list(mdp.exact[:2]) == [Fraction(1, 3), Fraction(2, 3)]
    assert mdp.counts.tolist() == [1, 2, 1, 0]
    with pytest.raises(WaypostError, match="begin in 2 different states"):
        count_mdp([["s", ("a", "t")], ["t", ("a", "s")]])


def test_an_agent_that_is_no_agent_is_refused():
    with pytest.raises(WaypostError, match="int is no agent; give a function"):
        rollouts(gymnasium.make("FrozenLake-v1"), 3, episodes=1)
    agent = SimpleNamespace(predict=lambda states, deterministic: (np.full(len(states), 9), None))  # noqa: ARG005
    with pytest.raises(WaypostError, match="action number 9"):
        read_strategy(read_mdp(gymnasium.make("FrozenLake-v1")), agent)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "said"),
    [
        ("frozen_lake_agent.py", "it reaches it with probability"),
        ("cartpole_agent.py", "so the chain may stand for the agent"),
        ("taxi_q_table.py", "is possible"),
    ],
)
def test_a_trained_agent_is_explained(example, said, tmp_path):
    if example != "taxi_q_table.py":
        pytest.importorskip(
            "stable_baselines3", reason="stable-baselines3 and torch are not installed: waypost[agents]"
        )
    script = Path(__file__).parents[2] / "examples" / example
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=600, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


NOTEBOOK = Path(__file__).parents[2] / "docs" / "tutorials" / "networks.ipynb"


def cells_of(notebook):
    """Text and outputs of the cells of code."""
    return [
        ("".join(cell["source"]), cell["outputs"]) for cell in json.loads(notebook.read_text())["cells"]
        if cell["cell_type"] == "code"
    ]  # fmt: skip


def test_the_tutorial_on_trained_networks_shows_what_it_printed():
    """It is not run with the site, so each cell must keep the output of its last run, in order and without an error."""
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    counts = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))
    kinds = {output["output_type"] for _, outputs in cells_of(NOTEBOOK) for output in outputs}
    assert kinds == {"stream", "execute_result"}
    for text, outputs in cells_of(NOTEBOOK):
        assert outputs or "print" not in text


@pytest.mark.slow
def test_the_tutorial_on_trained_networks_runs(tmp_path, monkeypatch):
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 and torch are not installed: waypost[agents]")
    monkeypatch.chdir(tmp_path)
    names = {}
    for text, _ in cells_of(NOTEBOOK):
        exec(text, names)  # noqa: S102 - our own notebook
    assert 0 < names["found"].success < names["found"].best
    assert all("cells stand for the agent" in abstraction.summary() for abstraction in names["cells"].values())


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": True}),
        ("CliffWalking-v1", {}),
        pytest.param("Taxi-v4", {}, marks=pytest.mark.slow),
    ],
)
def test_four_lines_lead_from_an_environment_to_a_heat_map(name, options, tmp_path):
    pytest.importorskip("matplotlib")
    mdp = read_mdp(gymnasium.make(name, **options))
    explanation = explain(mdp, target="goal")
    explanation.plot("grid").savefig(tmp_path / "heat.png")
    assert explanation.reachability.upper == 1.0
    assert (tmp_path / "heat.png").stat().st_size > 5000


def test_a_step_that_ends_where_it_stands_is_an_end():
    """Law: no terminating step is dropped; sticking ends the episode in the hand one holds."""
    table = {0: {0: [(1.0, 0, 1, True)], 1: [(0.5, 1, -1, True), (0.5, 0, 0, False)]}, 1: {0: [(1.0, 1, 0, True)]}}
    mdp = from_gymnasium(Table(table))
    assert mdp.states == ("0", "1", "0 (end, reward 1)")
    assert [mdp.states[s] for s in np.flatnonzero(mdp.where("goal"))] == ["0 (end, reward 1)"]
    assert mdp.where("terminal").tolist() == [False, True, True]
    assert mdp.is_final.tolist() == [False, True, True]


def test_ends_with_different_rewards_are_different():
    """Law: a final state entered with both +1 and -1 is two, and only one of them is the goal."""
    table = {0: {0: [(0.7, 1, 1, True), (0.3, 1, -1, True)]}, 1: {0: [(1.0, 1, 0, True)]}}
    mdp = from_gymnasium(Table(table), states=lambda s: f"x={s}")
    assert mdp.states == ("x=0", "x=1, reward=1", "x=1, reward=-1")
    assert reachability(mdp, target="goal", optimum="max")[0] == pytest.approx(0.7)
    assert from_gymnasium(Table(table)).states == ("0", "1 (end, reward 1)", "1 (end, reward -1)")


def best_hand(dealer, player, *, memory):
    """Greatest probability of winning at Blackjack with an endless deck, by recursion over hands."""
    deck = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]

    def total(hand):
        return sum(hand) + 10 * (1 in hand and sum(hand) <= 11)

    def wins(dealt):
        if total(dealt) < 17:
            return sum(wins((*dealt, card)) for card in deck) / len(deck)
        return float(total(dealt) > 21 or total(dealt) < total(player))

    name = (sum(player), 1 in player)
    if name not in memory:
        hit = sum(best_hand(dealer, (*player, card), memory=memory) for card in deck if sum(player) + card <= 21)
        memory[name] = max(wins(dealer), hit / len(deck))
    return memory[name]


def test_blackjack_is_won_by_sticking_and_lost_by_going_bust():
    """Law: the goal of Blackjack is a reward of 1, and its probability is that of the game."""
    env = gymnasium.make("Blackjack-v1")

    def hand(world):
        game = world.unwrapped
        return f"sum={game._get_obs()[0]}, ace={int(game._get_obs()[2])}"

    mdp = explore(env, key=hand, seed=4, samples=400)
    env.reset(seed=4)
    dealer, player = tuple(env.unwrapped.dealer), tuple(env.unwrapped.player)
    assert {"reward=-1", "reward=0", "reward=1"} <= set(mdp.labels)
    goal = [mdp.states[s] for s in np.flatnonzero(mdp.where("goal"))]
    assert goal
    assert all(name.endswith("reward=1") for name in goal)
    bust = mdp.where("sum>21")
    assert not (bust & mdp.where("goal")).any()
    assert (mdp.labels["terminal"] >= bust).all()
    stick = mdp.choice(mdp.initial, "stick")
    assert mdp.labels["terminal"][mdp.successors(choice=stick)].all()
    best = reachability(mdp, target="goal", optimum="max")[mdp.initial]
    assert best == pytest.approx(best_hand(dealer, player, memory={}), abs=0.08)


def test_a_world_may_begin_in_several_ways():
    mdp = explore(gymnasium.make("Blackjack-v1"), key=lambda env: tuple(env.unwrapped._get_obs()), starts=3, samples=5)
    assert mdp.states[mdp.initial] == "start"
    assert mdp.transitions.toarray()[mdp.choices(mdp.initial)[0]].sum() == pytest.approx(1)
    with pytest.raises(WaypostError, match="number of resets"):
        explore(gymnasium.make("Blackjack-v1"), starts=0)


def test_putting_a_minigrid_world_back_is_copying_it():
    """Law: explored from its attributes or from copies, a world with a door and a key is the same model."""
    pytest.importorskip("minigrid")
    from waypost.environments.minigrid import minigrid_state

    env = gymnasium.make("MiniGrid-DoorKey-5x5-v0")
    quick, copied = explore(env), explore(env, key=minigrid_state)
    assert quick.states == copied.states
    assert quick.actions == copied.actions
    assert (quick.transitions != copied.transitions).nnz == 0
    observation, _ = env.reset(seed=0)
    assert "image" in observation  # it sees again
    door, key = (quick.labels[name] for name in ("door", "key"))
    assert len({(quick.variables["x"].at(s), quick.variables["y"].at(s)) for s in np.flatnonzero(door)}) == 1
    assert not (door & key).any()


def test_what_no_run_enters_is_not_reachable():
    """Law: a state no run enters is unreachable, not to be avoided; of a strategy, what it never enters."""
    cliff = read_mdp(gymnasium.make("CliffWalking-v1"))
    found = explain(cliff, target="goal", scope="all")
    kinds = dict(zip(found, found.kinds, strict=True))
    assert kinds["row=3, col=5"].value == "unreachable"
    along = {36: "up", 35: "down"} | dict.fromkeys(range(24, 35), "right")
    played = explain(
        cliff,
        target="goal",
        scope=read_strategy(cliff, along),
    )
    kinds = dict(zip(played, played.kinds, strict=True))
    assert kinds["row=0, col=0"].value == "unreachable"
    assert kinds["row=2, col=4"].value == "indispensable"


MASKED = {
    0: {1: [(1.0, 1, 0, False)], 3: [(1.0, 2, 1, True)]},
    1: {0: [(1.0, 0, 0, False)], 1: [(1.0, 1, 0, False)], 2: [(1, 2, 1, True)], 3: [(1, 0, 0, False)]},
    2: {0: [(1, 2, 0, True)]},
}


def test_numbers_of_actions_are_those_of_the_environment_where_some_are_not_possible():
    """Law: action 1 is the one called 1, though it comes first in a state that has no action 0."""
    mdp = from_gymnasium(Table(MASKED))
    values = np.array([[9.0, 2, 9, 1], [0, 1, 2, 3], [0, 0, 0, 0]])  # the values of impossible actions mean nothing
    odds = np.array([[0, 0.25, 0, 0.75], [0.25, 0.25, 0.25, 0.25], [1, 0, 0, 0]])
    for agent in (np.array([1, 2, 0]), {0: 1, 1: 2}, lambda s: [1, 2][s]):
        taken = read_strategy(mdp, agent, observe=lambda s: s).to_dict()
        assert (taken["0"], taken["1"]) == ({"1": 1.0}, {"2": 1.0})
    assert read_strategy(mdp, values).to_dict()["0"] == {"1": 1.0}
    assert read_strategy(mdp, odds).to_dict()["0"] == {"1": 0.25, "3": 0.75}
    with pytest.raises(WaypostError, match="number 0 does not exist in state '0', only 1, 3"):
        read_strategy(mdp, np.array([0, 2, 0]))


def test_a_number_that_could_mean_two_actions_is_refused():
    """Law: where actions have names, their numbers are not guessed; columns of a table tell by how many they are."""
    mdp = from_gymnasium(Table(MASKED), actions=["north", "east", "south", "west"])
    for agent in (np.array([1, 2, 0]), {0: 1, 1: 2}):
        with pytest.raises(WaypostError, match="give actions by name"):
            read_strategy(mdp, agent)
    assert read_strategy(mdp, {0: "east", 1: 2}).to_dict()["0"] == {"east": 1.0}
    assert read_strategy(mdp, np.array([[0.0, 1, 0, 2], [4, 3, 2, 1], [0, 0, 0, 0]])).to_dict()["0"] == {"west": 1.0}


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ([(float("nan"), 1, 0, False)], "probability nan"),
        ([(-0.1, 1, 0, False), (0.5, 1, 0, False), (0.5, 0, 0, False)], "probability -0.1"),
        ([(0.9, 1, 0, False)], "summing to 0.9"),
        ([(1.0, 1, 0)], "expected .probability, next state, reward, terminated."),
        ([(1.0, 7, 0, False)], "state number 7"),
    ],
)
def test_a_table_that_is_none_says_where(outcomes, said):
    """Law: nothing of a table is dropped in silence but what has probability 0."""
    with pytest.raises(WaypostError, match=said):
        from_gymnasium(Table({0: {0: outcomes}, 1: {0: [(1.0, 1, 1, True)]}}))


def test_tables_may_be_lists_and_count_in_single_precision():
    """Law: a third three times is 1, in few digits as well; an array is a tensor."""
    third = np.float32(1 / 3) + np.float32(1e-7)
    mdp = from_gymnasium(
        Table([[[(third, 0, 0, False), (third, 1, 1, True), (third, 1, 0, False)]], [[(1, 0, 0, False)]]])
    )
    assert mdp.transitions.toarray()[0] == pytest.approx([1 / 3] * 3, abs=1e-12)
    with pytest.raises(WaypostError, match="pass the array itself"):
        from_gymnasium(Table(np.zeros((1, 2, 2))))


def test_several_starts_in_different_worlds_are_different_worlds():
    """Law: resets that put walls and lava elsewhere are models side by side, none of which stands for another."""
    pytest.importorskip("minigrid")
    env = gymnasium.make("MiniGrid-LavaCrossingS9N2-v0")
    alone = [explore(env, seed=seed) for seed in range(3)]
    together = explore(env, seed=0, starts=3)
    assert together.n_states == 1 + sum(mdp.n_states for mdp in alone)
    assert together.labels["lava"].sum() == sum(mdp.labels["lava"].sum() for mdp in alone)
    best = reachability(together, target="goal", optimum="max")
    for k, mdp in enumerate(alone, 1):
        inside = together.states.index(f"world={k}, {mdp.states[mdp.initial]}")
        assert best[inside] == reachability(mdp, target="goal", optimum="max")[mdp.initial]
    same = explore(gymnasium.make("MiniGrid-Empty-5x5-v0"), starts=3)  # of which every reset is alike
    assert same.states[same.initial] == "x=1, y=1, facing=right"


def test_agents_that_see_dicts_are_asked_one_by_one():
    """Law: what observe= makes of a state may be a dict, as Gymnasium has them."""

    class Reader:
        def predict(self, seen):
            return int(seen["at"][0] < 1)

    mdp = from_gymnasium(Table({s: {0: [(1, 0, 0, False)], 1: [(1, 1, 1, True)]} for s in range(2)}))
    strategy = read_strategy(mdp, Reader(), observe=lambda s: {"at": np.array([s])})
    assert strategy.to_dict()["0"] == {"1": 1.0}
