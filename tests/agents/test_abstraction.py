"""Deep agents by abstraction: cells, the check of the fit, and refinement where it fails."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

import worlds
from waypost import explain, reachability, state_importance
from waypost.agents import CellVisits, MemoryFit, abstract_agent, hidden_layer
from waypost.agents.telling import remembered
from waypost.environments import record
from waypost.environments.playing import Recording
from waypost.errors import WaypostError

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("sklearn")


class Corridor(gymnasium.Env):
    """Three fields to walk; a hidden coin, tossed at the start and seen all along, decides how the last one ends."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(-10, 10, (2,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.at, self.coin = 0, int(self.np_random.random() < 0.5)
        return self._seen(), {}

    def _seen(self):
        return np.array([self.at + 0.01 * self.np_random.random(), 3.0 * self.coin])

    def step(self, action):  # noqa: ARG002
        self.at += 1
        over = self.at == 3 or (self.at == 1 and self.coin == 0 and self.np_random.random() < 0.4)
        won = self.at == 3 and self.np_random.random() < (0.9 if self.coin else 0.2)
        return self._seen(), float(won), over, False, {}


def played(episodes=800, **options):
    return record(Corridor(), lambda seen: int(seen[1] > 1), episodes=episodes, seed=1, **options)


def test_cells_that_are_the_states_fit():
    """Law: where cells are what the future depends on, the chain predicts held-out episodes up to chance."""
    found = abstract_agent(played(), cells=6)
    assert found.fit.fits
    assert found.tried[0][1] <= found.fit.error + found.fit.chance
    true = 0.5 * 0.9 + 0.5 * 0.6 * 0.2
    assert reachability(found.mdp, target="positive", optimum="max")[found.mdp.initial] == pytest.approx(true, abs=0.07)
    assert found.support["start"] == 0
    assert sum(len(seen) for seen in found.members.values()) == sum(
        n for name, n in found.support.items() if name.startswith("cell")
    )


def test_the_error_is_the_greatest_distance_of_prediction_and_share():
    """Law: the curves are those of a chain worked out by hand."""
    found = abstract_agent(played(), features=lambda seen: f"at={int(seen[0])}", most=1)
    strategy, mdp = found.strategy, found.mdp
    chain = np.zeros((mdp.n_states, mdp.n_states))
    for c in range(mdp.n_choices):
        chain[mdp.choice_state[c]] += strategy.modes[0][c] * mdp.transitions.toarray()[c]
    now = np.eye(mdp.n_states)[mdp.initial] @ chain
    for t in range(4):
        assert found.fit.predicted["positive"][t] == pytest.approx(now[mdp.state("positive")])
        now = now @ chain
    worst = max(np.abs(found.fit.predicted[o] - found.fit.observed[o]).max() for o in found.fit.observed)
    assert found.fit.error == pytest.approx(worst)
    assert sum(curve[-1] for curve in found.fit.observed.values()) == pytest.approx(1)


def test_a_cell_that_hides_what_matters_is_cut():
    """Law: a name that hides the coin is cut until success is predicted where it is decided."""
    blind = abstract_agent(played(), features=lambda seen: "corridor", most=1)  # noqa: ARG005
    assert not blind.fit.fits
    cut = abstract_agent(played(), features=lambda seen: "corridor", most=16)  # noqa: ARG005
    assert len(cut.tried) > 1
    assert cut.fit.error < blind.fit.error
    assert all(name.startswith("corridor") for name in cut.members)
    assert "height" in next(iter(cut.describe(["place", "height"]).values()))


def test_a_limit_is_a_clock_and_no_step_of_the_world():
    """Law: who is still there at the limit has the outcome of the limit, with the chance of getting there."""
    cut_off = played(max_steps=2)
    found = abstract_agent(cut_off, outcome=lambda end: "there" if not end.terminated else "gone", cells=6)
    assert reachability(found.mdp, target="there", optimum="max")[found.mdp.initial] == pytest.approx(0.8, abs=0.07)
    assert found.fit.fits
    assert "step" in found.mdp.variables
    told = state_importance(found.mdp, target="there", scope=found.strategy)
    assert told["start, step=0"].lower == 1
    assert explain(found.mdp, target="there", scope=found.strategy).reachability.upper <= 1


def test_too_few_episodes_and_ambiguous_limits_say_so():
    with pytest.raises(WaypostError, match="play more"):
        abstract_agent(played(5))
    turns = cycle("ab")
    with pytest.raises(WaypostError, match="call them the same"):
        abstract_agent(played(40, max_steps=1), outcome=lambda _: next(turns))


def test_the_chain_is_told_with_its_error():
    """Law: shares of good and bad runs through a cell are those of the corridor; the error stands beside them."""
    found = abstract_agent(played(), features=lambda seen: f"at={int(seen[0])}, coin={int(seen[1] > 1)}", most=1)
    good = 0.5 * 0.9 + 0.5 * 0.6 * 0.2
    lucky = next(one for one in found.contrasts() if one.cell == "at=0, coin=1")
    assert lucky.good == pytest.approx(0.45 / good, abs=0.08)
    assert lucky.bad == pytest.approx(0.05 / (1 - good), abs=0.08)
    assert lucky.visits == found.support["at=0, coin=1"]
    words = found.summary(names=["place", "height"])
    verdict = f"At no step is the chain further off than {found.fit.error:.3f}"
    assert 0 < words.find("Passed by the") < words.find(verdict)  # what was counted comes first
    assert "may stand for the agent in how many runs end how" in words
    assert "its importances may be the agent's" in words
    held_out = np.random.default_rng(0).permutation(800)[:200]  # as seed=0 draws them
    won = [one for k in held_out if (one := played()[k]).episode.total_reward > 0]
    assert lucky.good == pytest.approx(np.mean([one.observations[0][1] > 1 for one in won]))
    assert f"{lucky.good:.0%} against {lucky.bad:.0%} (the chain: {lucky.said_good:.0%}" in words
    blind = abstract_agent(played(), features=lambda seen: "corridor", most=1)  # noqa: ARG005
    assert "the chain's odds are not the agent's" in blind.summary()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["PPO", "DQN"])
def test_the_hidden_layer_of_a_network_is_a_space(kind):
    sb3 = pytest.importorskip(
        "stable_baselines3", reason="stable-baselines3 and torch are not installed: waypost[agents]"
    )
    agent = getattr(sb3, kind)(
        "MlpPolicy", gymnasium.make("CartPole-v1"), policy_kwargs={"net_arch": [7]}, device="cpu"
    )
    rows = hidden_layer(agent)(np.zeros((5, 4), np.float32))
    assert rows.shape == (5, 7)
    many = getattr(sb3, kind)("MultiInputPolicy", Ship(), policy_kwargs={"net_arch": [7]}, device="cpu")
    seen = {"at": np.zeros((5, 2), np.float32), "fuel": np.zeros(5, np.int64)}
    assert hidden_layer(many)(seen).shape == (5, 7)
    with pytest.raises(WaypostError, match="no hidden layer"):
        hidden_layer(object())


class Fuse(gymnasium.Env):
    """Nothing to be seen: it burns for ten steps, may go off in the five after that, and never later."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(-10, 10, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.at, self.off = 0, int(self.np_random.integers(10, 20))  # from 15 on it does not
        return np.zeros(1), {}

    def step(self, action):  # noqa: ARG002
        self.at += 1
        return np.zeros(1), 0.0, self.at == self.off and self.off < 15, False, {}


def test_time_is_cut_where_a_chain_that_remembers_nothing_fails():
    """Law: what happens at a time and not before is told by stages, where cells tell nothing."""
    episodes = record(Fuse(), lambda _: 0, episodes=600, seed=3, max_steps=30)

    def outcome(end):
        return "negative" if end.terminated else "positive"

    found = abstract_agent(episodes, outcome=outcome, cells=1)
    assert found.tried[0][1] < 0.03
    assert found.fit.fits
    assert found.begins[0] in (9, 10)
    assert found.fit.predicted["negative"][8] < 0.02
    least = reachability(found.mdp, target="negative", optimum="max")[found.mdp.initial]
    assert least == pytest.approx(found.fit.predicted["negative"][-1])
    assert reachability(found.mdp, target="positive", optimum="max")[found.mdp.initial] == pytest.approx(1 - least)
    told = state_importance(found.mdp, target="negative", scope=found.strategy)
    assert told["start, step=0"].lower == 1
    assert "apart before and after steps" in found.summary()


class Ship(gymnasium.Env):
    """Dict observations, three starts, and fuel for five steps."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Dict(
        {"at": gymnasium.spaces.Box(-9, 9, (2,)), "fuel": gymnasium.spaces.Discrete(6)}
    )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.at, self.fuel = int(self.np_random.integers(3)), 5
        return self._seen(), {}

    def _seen(self):
        return {"at": np.array([self.at, 0.0]), "fuel": self.fuel, "task": "land"}

    def step(self, action):
        if self.np_random.random() < 0.8:
            self.at += 1 if action else -1
        self.fuel -= 1
        won = self.at >= 5
        return self._seen(), float(won), won or self.fuel == 0, False, {}


def test_observations_may_be_dicts_and_cells_tell_when_an_episode_ends():
    """Law: cells of dict observations are cut by success and by the time left, until both are predicted."""
    found = abstract_agent(record(Ship(), None, episodes=600, seed=2))
    assert found.columns == ("at 0", "at 1", "fuel")
    assert found.tried[0][1] > 0.3
    assert found.fit.fits
    assert found.fit.error < 0.1
    assert "fuel" in next(iter(found.describe().values()))
    with pytest.raises(WaypostError, match="2 names for the 3 numbers"):
        found.describe(["x", "y"])
    named = abstract_agent(record(Ship(), None, episodes=60), features=lambda seen: f"fuel={seen['fuel']}")
    assert {name.split(".")[0] for name in named.members} <= {f"fuel={k}" for k in range(1, 6)}


def test_cells_are_not_cut_by_noise():
    """Law: where success is a coin that nothing seen tells, hardly a cell is cut, however long one looks."""

    class Coin(Fuse):
        def _noise(self):
            return self.np_random.normal(size=3)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed, options=options)
            return self._noise(), {}

        def step(self, action):  # noqa: ARG002
            self.at += 1
            return self._noise(), float(self.np_random.random() < 0.5), self.at == 4, False, {}

    sizes = [
        len(abstract_agent(record(Coin(), None, episodes=200, seed=s), outcome=_last, features=lambda _: "any").members)
        for s in range(10)
    ]
    assert sizes.count(1) >= 8


def _last(end):
    return "positive" if end.last_reward > 0 else "negative"


def test_an_agent_that_always_or_never_succeeds_is_told_so():
    """Law: no contrast is made up where there is nothing to tell apart, and no error hides that."""
    never = abstract_agent(record(Ship(), lambda _: 0, episodes=60))
    assert "No episode ends positive" in never.summary()
    assert never.contrasts() == ()
    always = abstract_agent(record(Ship(), lambda _: 0, episodes=60), outcome=lambda _: "positive")
    assert "nothing to tell apart" in always.summary()
    assert not always.stands()  # nothing was checked
    assert "against" not in always.summary()
    other = abstract_agent(record(Ship(), None, episodes=60), outcome=lambda end: "won" if end.total_reward else "lost")
    assert "summary('lost')" in other.summary()


def test_mistakes_are_answered_in_words():
    """Law: what cannot be named or played says what to pass."""
    with pytest.raises(WaypostError, match="gives the end of an episode a name"):
        abstract_agent(played(40), outcome=lambda end: end.total_reward > 0)
    with pytest.raises(WaypostError, match="1 names of actions"):
        abstract_agent(played(40), actions=["left"])
    with pytest.raises(WaypostError, match="gives 1 rows for"):
        abstract_agent(played(40), space=lambda rows: rows[:1])
    pendulum = record(gymnasium.make("Pendulum-v1"), None, episodes=12, max_steps=5)
    with pytest.raises(WaypostError, match="no whole numbers"):
        abstract_agent(pendulum, outcome=lambda _: "over")
    pushed = abstract_agent(pendulum, outcome=lambda _: "over", actions=lambda a: "push" if a[0] > 0 else "pull")
    assert {"push", "pull"} <= set(pushed.mdp.actions)
    with pytest.raises(WaypostError, match="pass one environment"):
        record("CartPole-v1", None, episodes=1)


def test_agents_with_a_bare_predict_are_played():
    """Law: `predict` may answer with a number, and need not know `deterministic`."""

    class Bare:
        def predict(self, seen):
            return int(seen["fuel"] > 0)

    assert all(set(one.actions) == {1} for one in record(Ship(), Bare(), episodes=3))


def test_the_held_out_episodes_have_no_say():
    """Law: changing how held-out episodes end changes nothing but the fit."""
    episodes = played(200)
    before = abstract_agent(episodes)
    held_out = np.random.default_rng(0).permutation(200)[:50]
    changed = [
        Recording(one.observations, one.actions, replace(one.episode, total_reward=1 - one.episode.total_reward))
        if k in held_out
        else one
        for k, one in enumerate(episodes)
    ]
    after = abstract_agent(changed)
    assert after.tried == before.tried
    assert after.support == before.support
    assert after.fit.error != before.fit.error


class Rope(gymnasium.Env):
    """Ten steps, each of which fails with the same chance; nothing is to be seen."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(-10, 10, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        return np.zeros(1), {}

    def step(self, action):  # noqa: ARG002
        return np.zeros(1), 0.0, bool(self.np_random.random() < 0.1), False, {}


def _stood(end):
    return "positive" if end.truncated else "negative"


def test_the_last_step_before_a_limit_is_counted_for_those_who_survive_it():
    """Law: a step that fails once in ten times does so in the chain, at the last step as at the others."""
    episodes = record(Rope(), lambda _: 0, episodes=2000, seed=5, max_steps=4)
    found = abstract_agent(episodes, outcome=_stood, features=lambda _: "rope")
    for step in range(1, 4):
        assert found.fit.predicted["negative"][step] == pytest.approx(1 - 0.9**step, abs=0.02)
    assert found.fit.predicted["positive"][4] == pytest.approx(0.9**4, abs=0.02)
    assert not found.begins


def test_who_falls_at_the_very_limit_has_fallen():
    """Law: an episode that ends by the rules at the last step is not one that the limit cut off."""
    episodes = record(Rope(), lambda _: 0, episodes=300, seed=5, max_steps=1)
    assert {(one.episode.terminated, one.episode.truncated) for one in episodes} == {(True, False), (False, True)}


class Aside(Corridor):
    """A coin sends the agent left or right at once, everybody meets in the middle, and the coin decides in the end."""

    def _seen(self):
        return np.array([float(self.at), (2.0 * self.coin - 1) * (self.at == 1)])

    def step(self, action):  # noqa: ARG002
        self.at += 1
        return self._seen(), float(self.at == 4 and self.coin), self.at == 4, False, {}


def test_a_chain_that_predicts_success_and_not_the_way_there_is_refused_for_that():
    """Law: importances of a chain that forgets what the agent remembers are told to be wrong, beside those counted."""
    episodes = record(Aside(), None, episodes=400, seed=2)
    found = abstract_agent(episodes, features=lambda seen: f"at={int(seen[0])}, side={int(seen[1])}")
    assert found.fit.fits
    passing = found.passing()
    assert not passing.fits
    assert passing.error == pytest.approx(0.5, abs=0.1)
    right = next(one for one in found.contrasts() if one.cell == "at=1, side=1")
    assert (right.good, right.bad) == (1.0, 0.0)
    assert right.said_good == pytest.approx(0.5, abs=0.1)
    assert "its importances are not the agent's" in found.summary()


def test_what_the_agent_remembers_is_told_by_the_cell_and_the_way_there():
    """Law: the cell in which the coin decides is named, what tells the coin, and what both ways are worth."""
    episodes = record(Aside(), None, episodes=400, seed=2)
    found = abstract_agent(episodes, features=lambda seen: f"at={int(seen[0])}, side={int(seen[1])}")
    memory = found.memory()
    assert not memory.fits
    assert memory.cell == "at=3, side=0"
    assert {memory.after, memory.otherwise} == {0.0, 1.0}
    assert memory.past == f"came by at=1, side={1 if memory.after else -1}"
    assert not found.stands()
    assert (
        f"Runs that {memory.past} go on from at=3, side=0 to where {memory.after:.1%} end positive" in found.summary()
    )
    assert f"at=3, side=0 of runs that {memory.past}" in repr(memory)


def test_a_memory_that_changes_little_at_a_step_is_not_told_by_equal_numbers():
    """Law: odds that would be printed alike are told to be nearly so; odds that nobody held out shows are not told."""
    small = remembered(MemoryFit("here", "came by there", 9.0, 0.771, 0.773), "positive", fits=True)[1]
    assert "less than a point" in small
    assert "%" not in small
    unseen = remembered(MemoryFit("here", "came by there", 9.0, np.nan, np.nan), "positive", fits=True)[1]
    assert unseen.startswith("Runs that came by there go on from here elsewhere than the others. The chain")


def test_what_is_asked_about_the_past_is_what_happened():
    """Law: pasts of visits are those that one finds by walking along each episode."""
    draw = np.random.default_rng(3)
    lengths = draw.integers(1, 9, size=40)
    episode, time = np.repeat(np.arange(40), lengths), np.concatenate([np.arange(n) for n in lengths])
    here = draw.integers(-1, 3, size=len(time))  # -1: a cell that was not counted
    visits = CellVisits(("a", "b", "c"), episode, time, 0 * time, here, 0 * here, episode < 30)
    before = [here[v - time[v] : v].tolist() for v in range(len(here))]
    stay = [next((k for k, one in enumerate(before[v][::-1]) if one != here[v]), time[v]) for v in range(len(here))]
    for cell in range(3):
        counted, at = visits.members(cell, counted=True), visits.members(cell, counted=False)
        late, long = np.median(time[counted]), np.median([stay[v] for v in counted])
        for v, row in zip(at.tolist(), visits.past(cell, at), strict=True):
            came_from = next((one for one in before[v][::-1] if one != cell), None)
            assert row[:3].tolist() == [one in before[v] for one in range(3)]
            assert row[3:6].tolist() == [one == came_from for one in range(3)]
            assert row[6:].tolist() == [time[v] > late, stay[v] > long]


def test_the_right_chain_is_hardly_ever_refused():
    """Law: where cells are all that matters, each check is passed but once in sixty times, by any split."""
    named = {"features": lambda seen: f"at={int(seen[0])}, coin={int(seen[1] > 1)}", "most": 1}
    found = [abstract_agent(played(200), seed=s, **named) for s in range(20)]
    assert [one.passing().fits for one in found].count(True) >= 18
    assert [one.stands() for one in found].count(True) >= 17
    assert found[0].memory() is None  # there is one way to each cell
    met = abstract_agent(worlds.forks(np.random.default_rng(1), 400), features=str, outcome=worlds.ended)
    assert "Nothing that it forgets was found to matter" in met.summary()


def test_no_cell_is_cut_where_there_are_as_many_as_there_may_be():
    """Law: `most` is a limit on what is cut, also where names alone are more."""
    found = abstract_agent(
        record(Ship(), None, episodes=600, seed=2), features=lambda seen: f"fuel={seen['fuel']}", most=2
    )
    assert sorted(found.members) == [f"fuel={k}" for k in range(1, 6)]


def test_episodes_that_stop_early_for_another_reason_are_not_cut_off():
    """Law: what the environment truncates before the limit is an end like others, at its own step."""

    class Left(Rope):
        def step(self, action):
            seen, reward, over, _, info = super().step(action)
            return seen, reward, over, bool(self.np_random.random() < 0.2), info

    episodes = record(Left(), lambda _: 0, episodes=600, seed=5, max_steps=8)
    found = abstract_agent(
        episodes, outcome=lambda end: "fell" if end.terminated else "stopped", features=lambda _: "rope"
    )
    assert found.fit.fits
    assert found.fit.predicted["stopped"][1] == pytest.approx(0.9 * 0.2, abs=0.05)
