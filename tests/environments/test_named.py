"""Environments and agents at the command line: by name, with options, in time, as a map."""

from __future__ import annotations

import json

import numpy as np
import pytest

from waypost import explain, read_mdp, read_strategy
from waypost.cli import main
from waypost.environments.named import named_environment
from waypost.errors import WaypostError

gymnasium = pytest.importorskip("gymnasium")


@pytest.fixture
def run(capsys):
    """Call the command line and give what it printed; of one that fails, what it said."""

    def call(*arguments: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as done:
            main(list(arguments))
        printed = capsys.readouterr()
        assert (done.value.code or 0) == code, printed.err
        return printed.err if code else printed.out

    return call


def test_an_environment_by_its_name_is_the_environment():
    """Law: the name gives the model of the environment made by hand, options included, and says what it leaves out."""
    with pytest.warns(UserWarning, match="--within 100"):
        named = read_mdp("gym:FrozenLake-v1", constants={"is_slippery": "false", "map_name": "4x4"})
    made = read_mdp(gymnasium.make("FrozenLake-v1", is_slippery=False))
    assert named.states == made.states
    assert (named.transitions != made.transitions).nnz == 0
    for wrong, said in (("gym:Nowhere-v0", "cannot make"), ("gym:CartPole-v1", "key=")):
        with pytest.raises(WaypostError, match=said):
            read_mdp(wrong)
    with pytest.raises(WaypostError, match="has a table"):
        read_mdp("gym:FrozenLake-v1", constants={"starts": "3"})


def test_the_goal_of_an_environment_needs_no_name(run):
    printed = run("explain", "gym:FrozenLake-v1", "--const", "is_slippery=false", "--top", "3")
    assert "Reaching 'goal' from row=0, col=0: probability 0 to 1" in printed


def test_blackjack_is_played_at_the_command_line(run):
    """Law: sticking ends the game, winning is the goal, and no bust hand is one."""
    found = json.loads(run("explain", "gym:Blackjack-v1", "--const", "samples=60", "--json", "-"))
    goals = [state["name"] for state in found["states"] if "goal" in state["labels"]]
    assert goals
    assert all(name.endswith("reward=1") for name in goals)
    told = json.loads(run("decisions", "gym:Blackjack-v1", "--const", "samples=60", "--json"))
    assert all(set(one["actions"]) == {"stick", "hit"} for one in told["decisions"])
    _, notes = named_environment("gym:Blackjack-v1", {"samples": "20"})
    assert any("no part of their names: ace=false, dealer=10, hidden=9" in note for note in notes)


def test_steps_are_counted_by_within_too(run):
    """Law: --within N on a model is --steps N, and what value iteration says after N rounds."""
    table = gymnasium.make("FrozenLake-v1").unwrapped.P
    values = np.zeros(16)
    for _ in range(20):
        values = np.array([
            max(sum(p * (r + (0 if end else values[to])) for p, to, r, end in table[s][a]) for a in range(4))
            for s in range(16)
        ])  # fmt: skip
    for option in ("--within", "--steps"):
        found = json.loads(run("explain", "gym:FrozenLake-v1", option, "20", "--scope", "optimal", "--json", "-"))
        assert found["reachability"]["max"] == pytest.approx(values[0], abs=1e-12)
    assert "the shortest way there takes 6" in run("explain", "gym:FrozenLake-v1", "--within", "5", code=2)
    never = run("explain", "gym:CliffWalking-v1", "--target", "cliff", "--within", "5", code=2)
    assert "no strategy reaches 'cliff' within 5 steps, or ever" in never


def test_a_reset_takes_no_time(run):
    """Law: from several starts, N steps are N steps of the environment."""
    taxi = run("decisions", "gym:Taxi-v4", "--within", "1", "--top", "1", code=2)
    table = gymnasium.make("Taxi-v4").unwrapped
    values, fewest = np.zeros(500), 0
    for n in range(12):
        values = np.array([
            max(sum(p * (1.0 if end else values[to]) for p, to, _, end in table.P[s][a]) for a in range(6))
            for s in range(500)
        ])  # fmt: skip
        fewest = fewest or (n + 1) * bool(table.initial_state_distrib @ values > 0)
    assert f"the shortest way there takes {fewest}" in taxi
    found = json.loads(run("decisions", "gym:Taxi-v4", "--within", "12", "--json"))
    assert found["reachability"]["max"] == pytest.approx(float(table.initial_state_distrib @ values))


@pytest.mark.parametrize("ending", ["npy", "csv", "json"])
@pytest.mark.parametrize("kind", ["actions", "values", "probabilities"])
def test_tables_are_agents(tmp_path, ending, kind):
    """Law: a table in a file is the table in memory."""
    draw = np.random.default_rng(0)
    table = {
        "actions": draw.integers(0, 4, 16),
        "values": draw.random((16, 4)),
        "probabilities": draw.dirichlet([1] * 4, 16),
    }[kind]
    path = tmp_path / f"agent.{ending}"
    if ending == "npy":
        np.save(path, table)
    elif ending == "csv":
        np.savetxt(path, table, delimiter=",", fmt="%.18g")
    else:
        path.write_text(json.dumps(table.tolist()))
    mdp = read_mdp(gymnasium.make("FrozenLake-v1"))
    assert read_strategy(mdp, path).modes[0] == pytest.approx(read_strategy(mdp, table).modes[0])


def test_what_is_no_table_says_so(tmp_path):
    mdp = read_mdp(gymnasium.make("FrozenLake-v1"))
    for name, content in (("a.csv", "left,right"), ("a.npy", "x"), ("a.json", "[[1, 2], [3]]"), ("b.csv", "1,2\n3")):
        (tmp_path / name).write_text(content)
        with pytest.raises(WaypostError, match=r"table|rows"):
            read_strategy(mdp, tmp_path / name)
    with pytest.raises(WaypostError, match="cannot be read"):
        read_strategy(mdp, tmp_path / "nowhere.npy")


def test_a_table_that_may_be_either_is_told_apart_behind_its_name(run, tmp_path):
    """Law: what an error says to say can be said at the command line, of each agent alone."""
    table = np.full((16, 4), 0.25)
    table[0] = 0.3, 0.2, 0.1, 0.2
    np.save(tmp_path / "either.npy", table)
    path = str(tmp_path / "either.npy")
    assert "FILE:values" in run("agent", "gym:FrozenLake-v1", path, code=2)
    told = json.loads(run("agent", "gym:FrozenLake-v1", f"{path}:values", "--against", "uniform", "--json"))
    assert (told["success"], told["against"]["success"]) == (0.0, pytest.approx(0.0139398))
    assert "sum to 0.8, not 1" in run("agent", "gym:FrozenLake-v1", f"{path}:probabilities", code=2)


def test_an_agent_is_explained_at_the_command_line(run, tmp_path):
    pytest.importorskip("matplotlib")
    np.save(tmp_path / "right.npy", np.full(16, 2))
    words = run("agent", "gym:FrozenLake-v1", str(tmp_path / "right.npy"), "--top", "2")
    assert "The agent reaches 'goal' with probability 0.032; 0.824 is possible." in words
    assert "row=0, col=1   up     right" in words
    picture = tmp_path / "map.png"
    beside = run(
        "agent", "gym:FrozenLake-v1", "uniform", "--against", "best", "--within", "100", "--plot", str(picture)
    )
    assert "The other agent is better: it reaches it with probability 0.74, 0.726 more." in " ".join(beside.split())
    assert picture.stat().st_size > 5000
    told = json.loads(run("agent", "gym:FrozenLake-v1", "best", "--against", "uniform", "--json"))
    assert told["success"] == pytest.approx(told["best"])
    assert not told["departures"]
    assert told["against"]["success"] < told["success"]


def test_an_agent_has_a_page_at_the_command_line(run, tmp_path):
    """With --html what is printed is printed as well; -o and a page to standard output stand in its place."""
    pytest.importorskip("matplotlib")
    np.save(tmp_path / "right.npy", np.full(16, 2))
    asked = ("agent", "gym:FrozenLake-v1", str(tmp_path / "right.npy"), "--against", "best")
    printed = run(*asked, "--html", str(tmp_path / "lake.html"))
    page = (tmp_path / "lake.html").read_text(encoding="utf-8")
    assert "The agent reaches 'goal' with probability 0.032" in printed
    assert "The agent is right.npy, the other is best." in page
    assert "Episodes of the environment end after 100 steps" in page
    assert run(*asked, "-o", str(tmp_path / "same.html")) == ""
    assert (tmp_path / "same.html").read_text(encoding="utf-8") == page
    assert run(*asked, "--html", "-").strip() == page.strip()


def test_what_is_written_is_what_its_ending_says(run, tmp_path):
    """Law: -o draws where the file is a picture, and refuses what it cannot write before any work is done."""
    pytest.importorskip("matplotlib")
    assert run("agent", "gym:FrozenLake-v1", "uniform", "-o", str(tmp_path / "lake.png")) == ""
    assert (tmp_path / "lake.png").read_bytes()[:4] == b"\x89PNG"
    assert "the ending must be one of" in run("agent", "gym:Nowhere-v1", "uniform", "-o", "lake.csv", code=2)
    assert not (tmp_path / "lake.csv").exists()
    run("agent", "gym:FrozenLake-v1", "uniform", "-o", str(tmp_path / "lake.txt"))
    assert "The agent reaches 'goal'" in (tmp_path / "lake.txt").read_text(encoding="utf-8")


def test_a_strategy_may_be_asked_in_time(run, tmp_path):
    """Law: the importance of an agent within N steps is that of its chain with a clock."""
    np.save(tmp_path / "down.npy", np.full(16, 1))
    found = json.loads(
        run("explain", "gym:FrozenLake-v1", "--within", "15", "--strategy", str(tmp_path / "down.npy"), "--json", "-")
    )
    mdp = read_mdp(gymnasium.make("FrozenLake-v1"))
    from waypost.model.steps import in_time

    timed = in_time(read_strategy(mdp, np.full(16, 1)), 15)
    expected = explain(timed.mdp, target="goal", scope=timed)
    for state in found["states"]:
        assert state["strategy"]["lower"] == pytest.approx(expected[state["name"]]["strategy"].lower)
