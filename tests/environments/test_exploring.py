"""Worlds as people write them: where they draw random numbers from, what they forbid, and what cannot be explored."""

from __future__ import annotations

import random
import threading
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from waypost import MDP, explain_agent, reachability
from waypost.environments import explore, record
from waypost.errors import FormatError, NameUnknownError, StrategyError

gymnasium = pytest.importorskip("gymnasium")
SAMPLES = 400
FOUR = 4 * 0.5 / SAMPLES**0.5  # four standard errors of a frequency, at most


class Walk(gymnasium.Env):
    """Five steps to the goal; 1 is a step with 0.8 and back with 0.2, and off the edge; 0 is a step with 0.5."""

    observation_space: ClassVar[Any] = gymnasium.spaces.Discrete(6)
    action_space: ClassVar[Any] = gymnasium.spaces.Discrete(2)

    def __init__(self) -> None:
        self.at = 0
        self.own = random.Random(3)  # noqa: S311

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict]:
        super().reset(seed=seed, options=options)
        self.at = 0
        return self.at, {}

    def draw(self) -> float:
        return float(self.np_random.random())

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        drawn = self.draw()
        self.at += (1 if drawn < 0.8 else -1) if action else int(drawn < 0.5)
        fell, won = self.at < 0, self.at == 5
        self.at = max(self.at, 0)
        return self.at, float(won) - fell, fell or won, False, {}


class SharedByNumpy(Walk):
    def draw(self) -> float:
        return float(np.random.random())  # noqa: NPY002


class SharedByPython(Walk):
    def draw(self) -> float:
        return random.random()  # noqa: S311


class OwnGenerator(Walk):
    def draw(self) -> float:
        return self.own.random()


def explored(world: Any, **options: Any) -> MDP:
    return explore(world, key=lambda env: env.unwrapped.at, **options)


@pytest.mark.parametrize("world", [Walk, SharedByNumpy, SharedByPython, OwnGenerator])
def test_chance_is_seen_wherever_it_is_drawn_from(world):
    """Law: the model has the probabilities of the world, and the generators that all share are left as they were."""
    shared = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    mdp = explored(world(), samples=SAMPLES)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == shared  # noqa: NPY002
    for action, on in (("0", 0.5), ("1", 0.8)):
        row = mdp.transitions[[mdp.choice(mdp.state("2"), action)]].toarray()[0]
        assert row[mdp.state("3")] == pytest.approx(on, abs=FOUR)
    careful = reachability(mdp, target="goal", optimum="max")[mdp.initial]
    assert careful == 1.0
    again = explored(world(), samples=SAMPLES)
    assert (again.transitions != mdp.transitions).nnz == 0


def test_success_is_that_of_ten_thousand_episodes():
    """Law: the agent's success in the explored model is that of the agent at play, within four standard errors."""
    world, played = Walk(), 0
    for episode in range(10_000):
        world.reset(seed=1 if episode == 0 else None)
        over = False
        while not over:
            _, reward, over, _, _ = world.step(1)
        played += reward > 0
    found = explain_agent(explored(world, samples=2_000), np.ones(6, int), target="goal")
    assert found.success == pytest.approx(played / 10_000, abs=4 * (0.25 / 10_000 + 5 * 0.25 / 2_000) ** 0.5)


def test_chance_that_nobody_can_see_is_refused():
    """Law: a step that leads elsewhere the second time is not taken for certain."""

    class Secret(Walk):
        calls: ClassVar[list[int]] = []

        def draw(self) -> float:
            self.calls.append(1)  # as a hardware generator: no copy brings it back
            return len(self.calls) % 2

    with pytest.raises(FormatError, match=r"action '0' in state '0' led to '0' and to '1'.*self\.np_random"):
        explored(Secret())


class MaskedByMethod(Walk):
    """The first state forbids action 1."""

    def action_masks(self) -> np.ndarray:
        return np.array([True, self.at > 0])

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        if self.at == 0 and action == 1:
            raise ValueError("no step off the edge")
        return super().step(action)


class MaskedByInfo(MaskedByMethod):
    action_masks = None  # type: ignore[assignment]

    def reset(self, **given: Any) -> tuple[Any, dict]:
        return super().reset(**given)[0], {"action_mask": np.array([1, 0], np.int8)}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        return *super().step(action)[:4], {"action_mask": np.array([1, self.at > 0], np.int8)}


class Forbidding(MaskedByMethod):
    action_masks = None  # type: ignore[assignment]


@pytest.mark.parametrize("world", [MaskedByMethod, MaskedByInfo])
def test_what_a_mask_forbids_is_no_choice(world):
    """Law: only what the environment allows is tried, and numbers of actions stay those of the environment."""
    mdp = explored(world())
    assert mdp.actions_of(mdp.state("0")) == ("0",)
    assert mdp.actions_of(mdp.state("1")) == ("0", "1")
    found = explain_agent(mdp, np.array([0, 1, 1, 1, 1]), target="goal")
    assert found.success == 1.0


def test_what_cannot_be_explored_says_what_to_do():
    """Law: no traceback of the environment's; what failed, where, and what to change."""
    with pytest.raises(FormatError, match=r"action '1' in state '0' fails \(ValueError: no step.*action_masks\(\)"):
        explored(Forbidding())
    windowed = Walk()
    windowed.window = threading.Lock()
    with pytest.raises(FormatError, match=r"Walk cannot be copied \(TypeError.*render_mode=None"):
        explored(windowed)
    for space in (gymnasium.spaces.MultiBinary(3), gymnasium.spaces.MultiDiscrete([2, 2]), gymnasium.spaces.Box(0, 1)):
        several = Walk()
        several.action_space = space
        with pytest.raises(FormatError, match=f"are {type(space).__name__}, not Discrete.*ActionWrapper"):
            explored(several)
    with pytest.raises(FormatError, match=r"key=lambda env: env\.unwrapped\.state"):
        explore(Walk())


def test_actions_may_be_numbered_from_one():
    """Law: the numbers of a Discrete space begin at its start."""

    class FromOne(Walk):
        action_space = gymnasium.spaces.Discrete(2, start=1)

        def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
            assert action in self.action_space
            return super().step(action - 1)

    mdp = explored(FromOne())
    assert mdp.actions_of(mdp.state("1")) == ("1", "2")
    assert explain_agent(mdp, np.ones(6, int), target="goal").success == 1.0


class Middle(gymnasium.Env):
    """A walk that begins in the middle: the first state found is not number 0, and 1 is no state at all."""

    observation_space: ClassVar[Any] = gymnasium.spaces.Discrete(9)
    action_space: ClassVar[Any] = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict]:
        super().reset(seed=seed, options=options)
        self.at = 4
        return self.at, {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        self.at += 2 if action else -2
        return self.at, float(self.at == 8), self.at in (0, 8), False, {}


def test_a_state_called_by_its_number_is_that_row_of_a_table():
    """Law: an agent is read by the environment's numbers of states, in whatever form it comes and order it is met."""
    mdp = explored(Middle())
    assert mdp.states == ("0", "2", "4", "6", "8")
    taken = np.array([0, 0, 1, 0, 1, 0, 0, 0, 0])  # right in 2 and 4, left in 6: it never arrives
    table = np.eye(2)[taken]

    class Agent:
        def predict(self, seen: Any, **_: Any) -> tuple[Any, None]:
            return taken[seen], None

    forms = [taken, table, 3 * table, Agent(), lambda name: int(taken[int(name)]), dict(enumerate(taken.tolist()))]
    forms[-1] = {s: forms[-1][s] for s in (2, 4, 6)}
    for agent in forms:
        assert explain_agent(mdp, agent, target="goal").success == 0.0
        assert explain_agent(mdp, agent, target="goal").fates[0].states == ("4", "6")
    seen = explain_agent(mdp, lambda s: int(taken[s]), target="goal", observe=lambda s: s)
    assert seen.strategy.to_dict() == explain_agent(mdp, taken, target="goal").strategy.to_dict()
    assert seen.strategy.to_dict()["6"] == {"0": 1.0}
    with pytest.raises(StrategyError, match=r"state '6' is number 6 and has none"):
        explain_agent(mdp, taken[:5], target="goal")


class Recurrent:
    """Goes right at first, then left: what it does hangs on what it did."""

    def predict(self, seen: Any, state: Any = None, episode_start: Any = None, **_: Any) -> Any:
        steps = 0 if state is None or (episode_start is not None and episode_start.all()) else state[0]
        return np.asarray(1 - min(steps, 1)) + 0 * np.asarray(seen), (steps + 1,)


def test_an_agent_that_remembers_or_draws_is_refused_and_may_play():
    """Law: what is no function of the state is not taken for one; at play an agent keeps its memory."""
    mdp = explored(Middle())
    with pytest.raises(StrategyError, match=r"the agent remembers what it saw.*record"):
        explain_agent(mdp, Recurrent(), target="goal")
    calls: list[int] = []
    with pytest.raises(StrategyError, match=r"asked several times in state '6', the function gives two answers"):
        explain_agent(mdp, lambda _: calls.append(1) or int(len(calls) > 3), target="goal")
    played = record(Middle(), Recurrent(), episodes=2, max_steps=4)
    assert [int(action) for action in played[1].actions] == [1, 0, 0, 0]


def test_a_task_that_never_ends_has_no_goal_but_may_be_given_one():
    """Law: where no episode ends there is no goal, and what there is to be reached is told."""

    class Round(Middle):
        def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
            self.at = (self.at + 1 + action) % 5
            return self.at, float(self.at == 0), False, False, {}

    mdp = explored(Round())
    with pytest.raises(NameUnknownError, match="no state 'goal' in this model; known states: 0, 1, 2, 3, 4"):
        explain_agent(mdp, np.zeros(5, int), target="goal")
    assert explain_agent(mdp, np.zeros(5, int), target="0", within=1).success == 1.0


@pytest.mark.parametrize(
    ("going", "end", "goal"), [(1, 1, False), (1, 0, False), (0, 0, True), (-1, -1, True), (1, 5, True)]
)
def test_an_end_that_only_costs_what_goes_on_is_no_goal(going, end, goal):
    """Law: where every step pays, an end that pays no more is where episodes fail; else the best ends are the goal."""

    class Paying(Middle):
        def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
            seen, _, ended, *rest = super().step(action)
            return seen, float(end if ended else going), ended, *rest

    mdp = explored(Paying())
    assert mdp.labels["terminal"].any()
    assert ("goal" in mdp.labels) == goal


class Deadline(gymnasium.Env):
    """Right thrice wins, in four steps; the clock has the name that it has in Minigrid."""

    observation_space, action_space = gymnasium.spaces.Discrete(4), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        self.at, self.step_count = 0, 0
        return 0, {}

    def step(self, action: int) -> Any:
        self.step_count += 1
        self.at += int(action)
        return self.at, float(self.at == 3), self.at == 3 or self.step_count == 4, False, {}


def test_a_clock_of_an_environments_own_is_not_put_back():
    """Law: a model whose key tells a clock has it run, whatever it is called; one that does not tell it is refused."""
    mdp = explore(Deadline(), key=lambda env: {"at": env.unwrapped.at, "clock": env.unwrapped.step_count})
    assert mdp.variables["clock"].values.max() == 4
    late = explain_agent(mdp, lambda name: int("clock=0" not in name and "clock=1" not in name), target="goal")
    assert (late.success, late.best) == (0.0, 1.0)
    with pytest.raises(FormatError, match="let key= tell it"):
        explore(Deadline(), key=lambda env: env.unwrapped.at)


@pytest.mark.parametrize(
    "space", [gymnasium.spaces.Box(-1, 1, (1,)), gymnasium.spaces.MultiDiscrete([3]), gymnasium.spaces.MultiBinary(1)]
)
def test_an_action_that_is_an_array_of_one_number_stays_one(space):
    """Law: at play an environment is given what its action space asks for, from a function or from `predict`."""

    class Sliding(Deadline):
        action_space = space

        def step(self, action: Any) -> Any:
            return super().step(action[0] > 0)

    for agent in (lambda _: np.ones(1, int), SimpleNamespace(predict=lambda _: (np.ones(1, int), None))):
        (played,) = record(Sliding(), agent, episodes=1)
        assert played.episode.total_reward == 1.0
    (played,) = record(Deadline(), lambda _: np.ones(1, int), episodes=1)
    assert played.actions == (1, 1, 1)
