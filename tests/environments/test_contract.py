"""Environments as people write them, against what Gymnasium asks for: read rightly, or refused with what to do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from waypost import explain_agent, explore
from waypost.environments import from_gymnasium, record
from waypost.environments.named import named_environment
from waypost.errors import FormatError

gymnasium = pytest.importorskip("gymnasium")


class Walk(gymnasium.Env):
    """From 2 one step to the right or to the left; 5 is the goal, 0 the end of all hope."""

    observation_space: ClassVar[Any] = gymnasium.spaces.Discrete(6)
    action_space: ClassVar[Any] = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        self.at, self.clock = 2, 0
        return self.at, {}

    def step(self, action: int) -> Any:
        self.at += 1 if action else -1
        self.clock += 1
        return self.at, float(self.at == 5), self.at in (0, 5), False, {}


def at(env: Any) -> Any:
    return env.unwrapped.at


KEYS = {
    "number": lambda env: np.int64(at(env)),
    "array": lambda env: np.array([at(env), 7]),
    "list": lambda env: [at(env), [1, 2]],
    "dict": lambda env: {"at": np.int64(at(env)), "goal": np.array([5, 0]), "wet": np.False_},
}


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_may_be_what_an_observation_is(kind):
    """Law: arrays, dicts and numbers of numpy tell states apart, and are called as people would write them."""
    mdp = explore(Walk(), key=KEYS[kind])
    assert mdp.n_states == 6
    assert explain_agent(mdp, lambda _: "1", target="goal").success == 1.0
    first = {"number": "2", "array": "(2, 7)", "list": "(2, (1, 2))", "dict": "at=2"}[kind]
    assert mdp.states[mdp.initial] == first


class Late(Walk):
    def step(self, action: int) -> Any:
        seen, reward, ended, *rest = super().step(action)
        return seen, reward, ended or self.clock >= 9, *rest


class Faded(Walk):
    def step(self, action: int) -> Any:
        seen, reward, *rest = super().step(action)
        return seen, reward / self.clock, *rest


class Shared(Walk):
    """The lever is no part of the environment: copies do not bring it back."""

    lever: ClassVar[list[bool]] = [False]

    def reset(self, **options: Any) -> Any:
        self.lever[0] = False
        return super().reset(**options)

    def step(self, action: int) -> Any:
        self.lever[0] = self.lever[0] or self.at == 4
        if self.lever[0] and self.at == 1:
            action = 1
        return super().step(action)


@pytest.mark.parametrize("world", [Late, Faded, Shared])
def test_a_key_that_leaves_out_what_the_future_depends_on_is_found_out(world):
    """Law: a model that goes elsewhere than the world does at play is refused, though every try went well."""
    with pytest.raises(FormatError, match=r"when it was tried, but .* at play: .*let key= tell it"):
        explore(world(), key=at)


def test_a_key_that_tells_the_clock_is_enough():
    """Law: what the future depends on may be told, and then the model is the world: right thrice is in time."""
    mdp = explore(Late(), key=lambda env: {"at": at(env), "clock": env.unwrapped.clock})
    assert explain_agent(mdp, lambda _: "1", target="goal").success == 1.0
    found = explain_agent(mdp, lambda name: "0" if "clock=0" in name else "1", target="goal")
    assert (found.success, found.steps) == (1.0, 5.0)


def test_actions_keep_the_names_an_environment_gives_them():
    """Law: enumerations, lists and mappings of names are names; anything else called actions is passed over."""
    for given, names in (
        (["left", "right"], ("left", "right")),
        ({0: "left", 1: "right"}, ("left", "right")),
        (2, ("0", "1")),
        (["left"], ("0", "1")),
        ([3, 7], ("0", "1")),
        (["3", "7"], ("0", "1")),
    ):
        world = type("Named", (Walk,), {"actions": given})()
        mdp = explore(world, key=at)
        assert mdp.actions_of(mdp.initial) == names


def wrong(**methods: Any) -> Any:
    return type("Wrong", (Walk,), methods)()


WRONG = {
    "gives 4 things, not the five": wrong(step=lambda self, action: Walk.step(self, action)[:4]),
    "not .observation, info.": wrong(reset=lambda self, **_: Walk.reset(self)[0]),
    "cannot be reset with a seed": wrong(reset=lambda self: Walk.reset(self)),  # noqa: PLW0108  it takes no seed
    "gives the reward None, which is no number": wrong(step=lambda self, _: (self.at, None, True, False, {})),
    "Walk is a class": Walk,
    "a str cannot be": "FrozenLake-v1",
    "several environments at once": SimpleNamespace(num_envs=1),
    r"what it saw in training: lambda seen: agent.predict\(env.normalize_obs": SimpleNamespace(
        num_envs=1, normalize_obs=0
    ),
}


@pytest.mark.parametrize("said", WRONG)
def test_what_is_no_environment_of_gymnasium_says_what_is_missing(said):
    """Law: exploring and playing ask the same of an environment, and say what it gave instead."""
    with pytest.raises(FormatError, match=said):
        explore(WRONG[said], key=at)
    with pytest.raises(FormatError, match=said):
        record(WRONG[said], lambda _: 1, episodes=1)


def test_a_key_that_fails_says_what_it_is_given():
    with pytest.raises(FormatError, match=r"no attribute 'place'.*env\.unwrapped"):
        explore(Walk(), key=lambda env: env.place)


P = {s: {a: [(1.0, s + (1 if a else -1), float(s == 4 and a == 1), False)] for a in (0, 1)} for s in range(1, 5)}
LOOPS = {s: {a: [(1.0, s, 0.0, True)] for a in (0, 1)} for s in (0, 5)}


def test_a_table_begins_where_its_environment_does():
    """Law: without a distribution of first states, resets say where episodes begin; state 0 is not guessed."""
    mdp = from_gymnasium(wrong(P=P | LOOPS))
    assert mdp.states[mdp.initial] == "2"
    spread = from_gymnasium(wrong(P=P | LOOPS, isd=np.array([0, 0.25, 0.75, 0, 0, 0])))
    assert spread.transitions[[-1]].toarray()[0].tolist() == [0, 0.25, 0.75, 0, 0, 0, 0]

    def drawn(self: Any, **options: Any) -> Any:
        Walk.reset(self, **options)
        return int(self.np_random.integers(1, 3)), {}

    shares = from_gymnasium(wrong(P=P | LOOPS, reset=drawn)).transitions[[-1]].toarray()[0]
    assert shares[1] + shares[2] == pytest.approx(1.0)
    assert shares[1] == pytest.approx(0.5, abs=4 * 0.5 / 200**0.5)
    with pytest.raises(FormatError, match="no number of a state; say where episodes begin"):
        from_gymnasium(wrong(P=P | LOOPS, reset=lambda *_args, **_options: (np.zeros(3), {})))


def test_a_table_that_ends_episodes_in_the_end_pays_where_it_is_entered():
    """Law: the goal is the end with the greatest reward, whether entering it ends the episode or being there does."""
    entered = {s: {a: [(p, t, r, t in (0, 5)) for p, t, r, _ in out] for a, out in row.items()} for s, row in P.items()}
    for table in (P | LOOPS, entered | LOOPS):
        mdp = from_gymnasium(wrong(P=table))
        assert [mdp.states[s] for s in np.flatnonzero(mdp.labels["goal"])] == ["5"]
        assert [mdp.states[s] for s in np.flatnonzero(mdp.labels["terminal"])] == ["0", "5"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({0: {"left": []}}, r"P\[0\] has an action 'left'; actions are numbers"),
        ({(0, 0): {0: []}}, "states and actions are numbers from 0 on"),
        (0.7, "has no table P"),
    ],
)
def test_a_table_of_another_kind_says_what_tables_are(table, said):
    with pytest.raises(FormatError, match=said):
        from_gymnasium(wrong(P=table))


def test_ends_that_rewards_do_not_tell_apart_are_said(monkeypatch):
    """Law: where every end pays the same, it is said that the goal is any of them."""
    free = {s: {a: [(p, t, 0.0, t in (0, 5)) for p, t, _, _ in out] for a, out in row.items()} for s, row in P.items()}
    monkeypatch.setattr(gymnasium, "make", lambda *_args, **_options: wrong(P=free | LOOPS))
    _, notes = named_environment("gym:Walk-v0", {})
    assert any("all 2 ends bring the same reward" in note for note in notes)
    monkeypatch.setattr(gymnasium, "make", lambda *_args, **_options: wrong(P=P | LOOPS))
    assert not named_environment("gym:Walk-v0", {})[1]
