"""Agents beside the best: what they lose, where, and how two of them differ."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import mdps
from waypost import MDP, Strategy, reachability, read_mdp
from waypost.agents import explain_agent
from waypost.environments import from_gymnasium
from waypost.errors import WaypostError

gymnasium = pytest.importorskip("gymnasium")


def lake(*, slippery: bool) -> MDP:
    return read_mdp(gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=slippery))


@given(mdps(), st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_every_run_reaches_the_target_or_has_a_fate(mdp, seed):
    """Law: the probabilities of success and of all fates add up to 1; costs and idling to what is lost."""
    weights = np.random.default_rng(seed).integers(0, 3, mdp.n_choices) + 1e-3
    strategy = Strategy.memoryless(mdp, weights / np.bincount(mdp.choice_state, weights=weights)[mdp.choice_state])
    target = mdp.states[-1]
    try:
        found = explain_agent(mdp, strategy, target=target)
    except WaypostError as error:
        assert "no strategy reaches" in str(error)  # noqa: PT017
        return
    assert found.success + sum(fate.probability for fate in found.fates) == pytest.approx(1)
    assert found.best - found.success == pytest.approx(
        sum(d.cost for d in found.decisions) + found.decisions.idle, abs=1e-8
    )
    best = reachability(mdp, target=target, optimum="max")
    for fate in found.fates:
        assert fate.hope == pytest.approx(max(best[mdp.state(s)] for s in fate.states))


def test_an_agent_that_never_succeeds_is_explained():
    """Law: no error; what it never gets is lost in its decisions, or by going round."""
    falling = explain_agent(lake(slippery=False), np.ones(16, int), target="goal")  # down, into the hole
    assert (falling.success, falling.best, falling.importance) == (0.0, 1.0, None)
    assert [(d.state, d.cost) for d in falling.decisions.departures] == [("row=2, col=0", 1.0)]
    assert [(fate.states, fate.probability, fate.hope) for fate in falling.fates] == [(("row=3, col=0",), 1.0, 0.0)]
    assert "1 in row=2, col=0" in falling.summary()
    staying = explain_agent(lake(slippery=False), np.zeros(16, int), target="goal")  # against the wall
    assert staying.decisions.departures == ()
    assert staying.fates == ((("row=0, col=0",), 1.0, 1.0, False),)
    assert "going round, though 1 would still be possible" in staying.summary()


def test_two_agents_stand_side_by_side():
    mdp = lake(slippery=True)
    found = explain_agent(mdp, np.full(16, 2), target="goal", against=np.full(16, 1))
    assert found.success == pytest.approx(explain_agent(mdp, np.full(16, 2), target="goal").success)
    assert found.against.success == pytest.approx(explain_agent(mdp, np.full(16, 1), target="goal").success)
    assert {d.state for d in found.differences} <= {mdp.states[s] for s in range(16)}
    assert all(d.taken == {"right": 1.0} and d.taken_by_other == {"down": 1.0} for d in found.differences)
    assert list(found.to_frame().index) == [d.state for d in found.differences]
    assert "The other agent is better: it reaches it with probability 0.049, 0.018 more." in found.summary(top=1)
    same = explain_agent(mdp, np.full(16, 2), target="goal", against=np.full(16, 2))
    assert same.differences == ()
    assert "does the same wherever either comes" in same.summary()


def test_the_best_agent_departs_nowhere():
    mdp = lake(slippery=False)
    way = explain_agent(mdp, {0: 1, 4: 1, 8: 2, 9: 1, 13: 2, 14: 2}, target="goal")
    assert way.success == way.best == 1.0
    assert way.fates == ()
    assert len(way.to_frame()) == 0
    assert way.importance["row=2, col=1"].lower == 1.0
    assert "never departs from the best" in way.summary()


@given(mdps(), st.integers(0, 2**16), st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_in_time_both_are_asked_to_be_there_in_time(mdp, seed, steps):
    """Law: success and best within n steps are n rounds of iteration; what is lost is the sum of the places' costs."""
    weights = np.random.default_rng(seed).integers(0, 3, mdp.n_choices) + 1e-3
    shares = weights / np.bincount(mdp.choice_state, weights=weights)[mdp.choice_state]
    strategy, target = Strategy.memoryless(mdp, shares), mdp.states[-1]
    best = success = np.eye(mdp.n_states)[-1]
    for _ in range(steps):
        worth = mdp.transitions @ best
        best = np.array([worth[list(mdp.choices(s))].max() for s in range(mdp.n_states)])
        worth = mdp.transitions @ success
        success = np.array([(shares * worth)[list(mdp.choices(s))].sum() for s in range(mdp.n_states)])
        best[-1] = success[-1] = 1.0
    try:
        found = explain_agent(mdp, strategy, target=target, within=steps)
    except WaypostError as error:
        assert "no strategy reaches" in str(error)  # noqa: PT017
        assert best[mdp.initial] == 0
        return
    assert found.best == pytest.approx(best[mdp.initial])
    assert found.success == pytest.approx(success[mdp.initial])
    lost = sum(place.cost for place in found.departures)
    assert lost == pytest.approx(found.best - found.success, abs=1e-9)
    assert found.success + sum(fate.probability for fate in found.fates) == pytest.approx(1)


@given(mdps(), st.integers(0, 2**16), st.integers(0, 6), st.booleans())
@settings(max_examples=80, deadline=None)
def test_places_in_time_are_the_decisions_of_the_model_that_counts_steps(mdp, seed, steps, memory):
    """Law: success, and what is done and lost in a place, are sums over its steps in the unfolded model."""
    draw = np.random.default_rng(seed)

    def drawn() -> Strategy:
        weights = draw.integers(0, 3, mdp.n_choices) + 1e-3 * draw.integers(0, 2)
        weights = weights + (np.bincount(mdp.choice_state, weights=weights) == 0)[mdp.choice_state]
        return Strategy.memoryless(mdp, weights / np.bincount(mdp.choice_state, weights=weights)[mdp.choice_state])

    strategy = Strategy.mixed(drawn(), drawn(), 0.25) if memory else drawn()
    try:
        found = explain_agent(mdp, strategy, target=mdp.states[-1], within=steps)
    except WaypostError as error:
        assert "no strategy reaches" in str(error)  # noqa: PT017
        return
    unfolded = found.decisions  # every state at every step, one by one
    assert (found.success, found.best) == pytest.approx((unfolded.reached, unfolded.reachability))
    assert (found.best == 1) == (unfolded.reachability == 1)
    at: dict[str, list] = {}
    for decision in unfolded:
        at.setdefault(decision.state.rpartition(", step=")[0], []).append(decision)
    departing = {place for place, several in at.items() if any(decision.departs for decision in several)}
    assert {place.state for place in found.departures} == departing
    for place in found.places:
        several = at.get(place.state, [])
        assert place.cost == pytest.approx(sum(d.cost for d in several), abs=1e-12)
        assert place.visits == pytest.approx(sum(d.visits for d in several), abs=1e-12)
        assert sum(place.taken.values()) == pytest.approx(1)
        for action, worth in place.worth.items() if place.visits > 0 else ():
            assert worth * place.visits == pytest.approx(sum(d.values[action] * d.visits for d in several), abs=1e-12)
        if place.visits > 0:
            best = sum(max(d.values.values()) * d.visits for d in several)
            assert place.hoped * place.visits == pytest.approx(best, abs=1e-12)
        most = max(place.worth.values())
        assert {*place.best} == {action for action, worth in place.worth.items() if most - worth <= 1e-12 * most}


def test_what_an_action_is_worth_in_time_is_what_episodes_say():
    """Law: after an action in a place, with the steps left there, runs of the best succeed as often as it is worth."""
    mdp, steps = lake(slippery=True), 12
    found = explain_agent(mdp, np.full(16, 2), target="goal", within=steps)
    values = [mdp.where("goal").astype(float)]
    for _ in range(steps):
        values.append(np.maximum.reduceat(mdp.transitions @ values[-1], mdp.first_choice[:-1]))
    here, sums, visits = np.eye(16)[0], {}, np.zeros(16)
    for left in range(steps, 0, -1):
        visits += here
        for choice in range(mdp.n_choices):
            worth = float((mdp.transitions[[choice]] @ values[left - 1])[0])
            sums[choice] = sums.get(choice, 0.0) + here[mdp.choice_state[choice]] * worth
        rows = [mdp.choice(s, "right") if mdp.choices(s)[1:] else mdp.first_choice[s] for s in range(16)]
        here = here @ mdp.transitions[rows].toarray()
    for place in found.departures:
        s = mdp.state(place.state)
        for choice in mdp.choices(s):
            assert place.worth[mdp.actions[choice]] == pytest.approx(sums[choice] / visits[s])
        lost = place.visits * (place.hoped - sum(place.taken[a] * place.worth[a] for a in place.taken))
        assert place.cost == pytest.approx(lost)


def test_what_only_a_clock_would_save_is_told_apart():
    """Law: where the agent does the best on average, nothing is to be mended there, though a clock would help."""
    steps = {"safe": {"goal": 0.6, "lost": 0.4}, "bold": {"goal": 0.5, "s": 0.5}}
    mdp = MDP.from_dict({"s": steps, "goal": {}, "lost": {}}, initial="s")
    found = explain_agent(mdp, {"s": "bold"}, target="goal", within=2)  # with one step left safe is better: 0.6
    (place,) = found.departures
    assert (place.best, found.mending) == (("bold",), ())
    assert found.best - found.success == pytest.approx(0.5 * 0.1)
    assert place.worth == pytest.approx({"bold": (0.8 + 0.5 * 0.5) / 1.5, "safe": 0.6})
    assert "no other action is better on average, only to count the steps left" in found.summary()
    assert "0.05 of the 0.05 is lost because the agent does the same whatever time is left." in found.summary()
    rash = explain_agent(mdp, {"s": "safe"}, target="goal", within=2)
    assert [(m.action, m.success) for m in rash.mending] == [("bold", 0.75)]


def test_an_agent_that_counts_is_not_told_that_it_does_not():
    """Law: what the time left would change is told of agents that do the same whatever it is, and of no others."""
    mdp = MDP.from_dict(
        {"a": {"safe": {"t": 0.3, "a": 0.7}, "risky": {"t": 0.5, "x": 0.5}}, "t": {}, "x": {}}, initial="a"
    )
    does = [*({"a": "safe"} for _ in range(3)), {"a": {"safe": 0.5, "risky": 0.5}}]
    counting = {"start": 0, "modes": does, "update": [{"a": min(mode + 1, 3)} for mode in range(4)]}
    for agent, told in (({"a": "safe"}, True), (Strategy.from_dict(mdp, counting), False)):
        found = explain_agent(mdp, agent, target="t", within=4)
        assert found.departures
        assert ("whatever time is left" in found.summary()) == told


def test_what_is_certain_in_time_is_told_as_certain_and_nothing_else_is():
    """Law: 1 and 0 are decided on the graph; a probability that a float cannot tell from them is neither."""
    tiny = 2.0**-60
    mdp = MDP.from_dict(
        {
            "s": {"safe": "t", "risky": {"t": 1 - 2.0**-53, "lost": 2.0**-53}},
            "t": {"on": {"won": tiny, "lost": 1 - tiny}, "sure": "won"},
            "won": {},
            "lost": {},
        },
        initial="s",
    )
    sure = explain_agent(mdp, {"s": "safe", "t": "sure"}, target="won", within=2)
    assert (sure.success, sure.best, sure.departures) == (1.0, 1.0, ())
    assert 0 < explain_agent(mdp, {"s": "safe", "t": "on"}, target="won", within=2).success < 1e-17
    assert explain_agent(mdp, {"s": "risky", "t": "sure"}, target="won", within=2).success < 1
    assert explain_agent(mdp, {"s": "safe", "t": "on"}, target="lost", within=2).success < 1


def test_time_that_is_up_is_no_hole():
    """Law: runs end in a hole, or because the time is up; the limit changes what is best."""
    mdp = lake(slippery=True)
    with pytest.raises(WaypostError, match="within 3 steps; the shortest way there takes 6"):
        explain_agent(mdp, np.full(16, 2), target="goal", within=3)
    found = explain_agent(mdp, np.full(16, 2), target="goal", within=6)
    holes = {fate.states[0] for fate in found.fates if not fate.late}
    assert holes <= {mdp.states[s] for s in np.flatnonzero(mdp.labels["hole"])}
    assert 0 < found.late < 1
    lost = sum(fate.probability for fate in found.fates if not fate.late)
    assert found.success + found.late + lost == pytest.approx(1)
    found = explain_agent(mdp, np.full(16, 2), target="goal", within=30, against=np.full(16, 1))
    assert "within 30 steps" in found.summary()
    assert "when the time is up" in found.summary()
    assert all(", step" not in d.state for d in found.differences)


def test_one_hot_observations_and_scalar_predictions():
    """Law: an agent that sees vectors is read through observe=, one that answers with a number as it is."""

    class Network:
        def predict(self, seen):
            assert seen.shape == (16,)
            return 1 if seen.argmax() < 8 else 2

    mdp = lake(slippery=True)
    read = explain_agent(mdp, Network(), target="goal", observe=lambda s: np.eye(16)[s])
    told = explain_agent(mdp, [1] * 8 + [2] * 8, target="goal")
    assert read.success == told.success
    drawn = explain_agent(mdp, np.full((16, 4), 0.25), target="goal")
    assert drawn.success == explain_agent(mdp, Strategy.uniform(mdp), target="goal").success


def test_the_map_shows_what_is_taken_and_what_is_best():
    """Law: an arrow points where the action leads, what costs has a number, where runs end has a share."""
    pytest.importorskip("matplotlib")
    found = explain_agent(lake(slippery=True), np.full(16, 2), target="goal", against=np.full(16, 1))
    figure = found.plot()
    assert len(figure.axes) == 2
    texts = [text.get_text() for text in figure.axes[0].texts]
    for place in found.departures:
        assert f"-{round(place.cost, 3):g}" in texts
    assert "56.9 %\nend" in texts
    from waypost.report.agentmap import heading
    from waypost.report.coordinates import coordinates_of

    mdp = lake(slippery=True)
    places = coordinates_of(mdp)
    assert [heading(mdp, places, 0, name) for name in ("left", "down", "right", "up")] == [
        (-1, 0), (0, 1), (1, 0), (0, -1)
    ]  # fmt: skip


def fills(axis: object) -> dict[str, str]:
    """Colour of each field of a map."""
    from matplotlib.colors import to_hex

    return {tile.get_gid(): to_hex(tile.get_facecolor()) for tile in axis.patches if tile.get_gid()}


@pytest.mark.parametrize("within", [None, 3])
def test_what_is_met_is_never_drawn_as_never_met(within):
    """Law: fields are grey if and only if no run enters them, whether or not anything is chosen there."""
    pytest.importorskip("matplotlib")
    from waypost.report.agentmap import NEVER

    steps = {
        "x=0, y=0": {"right": "x=1, y=0"},
        "x=1, y=0": {"right": {"x=2, y=0": 0.5, "x=1, y=1": 0.5}, "down": "x=0, y=1"},
        "x=1, y=1": {"right": "x=2, y=1"},
        **{end: {} for end in ("x=2, y=0", "x=2, y=1", "x=0, y=1")},
    }
    mdp = MDP.from_dict(steps, initial="x=0, y=0")
    found = explain_agent(mdp, {"x=1, y=0": "right"}, target="x=2 & y=0", within=within)
    (axis,) = found.plot().axes
    grey = {at for at, colour in fills(axis).items() if colour == NEVER}
    assert grey == {"field-0-1"}
    assert fills(axis)["field-2-0"] != fills(axis)["field-2-1"]
    arrows = [patch for patch in axis.patches if type(patch).__name__ == "FancyArrow"]
    assert len(arrows) == 3


def test_lava_of_one_world_of_several_is_no_lava_of_all():
    """Law: a field is filled with what all its states stand on; of a run that ends there it is said that it ends."""
    pytest.importorskip("matplotlib")
    from waypost import explain
    from waypost.report.tiles import FILLS

    row = {f"world={w}, x={x}, y=0": {"on": f"world={w}, x={x + 1}, y=0"} for w in (1, 2) for x in range(3)}
    steps = {
        "start": {"reset": {"world=1, x=0, y=0": 0.5, "world=2, x=0, y=0": 0.5}},
        **row,
        "world=1, x=2, y=0": {},
        **{f"world={w}, x=3, y=0": {} for w in (1, 2)},
    }
    both = {"lava": ["world=1, x=2, y=0"], "goal": ["world=2, x=3, y=0"]}
    mdp = MDP.from_dict(steps, initial="start", labels=both)
    found = explain_agent(mdp, Strategy.uniform(mdp), target="goal")
    (axis,) = found.plot().axes
    assert fills(axis)["field-2-0"] not in (FILLS["lava"], FILLS["goal"])
    assert "50 % end" in [text.get_text() for text in axis.texts]
    world = explain(mdp, target="goal").plot("grid").axes[0]
    assert FILLS["lava"] not in {to_hex(patch) for patch in world.patches if patch.get_fill()}


def to_hex(patch: object) -> str:
    """Colour of a patch."""
    from matplotlib import colors

    return colors.to_hex(patch.get_facecolor())


def test_what_is_written_on_the_first_field_can_be_read():
    """Law: where it begins, what to do there and what is lost there do not stand on one another."""
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    steps = {"x=0, y=0": {"fall": "x=3, y=3", "jump": "x=12, y=12"}, "x=3, y=3": {}, "x=12, y=12": {}}
    mdp = MDP.from_dict(steps, initial="x=0, y=0")
    figure = explain_agent(mdp, {"x=0, y=0": {"fall": 0.875, "jump": 0.125}}, target="x=12, y=12").plot()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    texts = {text.get_text(): text.get_window_extent() for text in figure.axes[0].texts}
    assert {"start", "-0.875"} <= set(texts)
    for said, box in texts.items():
        assert said == "start" or not box.overlaps(texts["start"]), said


def test_a_target_of_several_names_is_on_the_map():
    """Law: every state of the target is the goal on the map, however it was named."""
    pytest.importorskip("matplotlib")
    from waypost.report.tiles import FILLS

    for target in (["row=3, col=3", "row=0, col=3"], "col=3 & (row=0 | row=3)"):
        (axis,) = explain_agent(lake(slippery=True), np.full(16, 1), target=target).plot().axes
        goals = {at for at, colour in fills(axis).items() if colour == FILLS["goal"]}
        assert goals == {"field-3-0", "field-3-3"}


def test_what_is_best_is_drawn_where_it_is_only_sometimes_done():
    """Law: where an agent tosses and loses by it, the map says which side is the better one."""
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_hex

    from waypost.report.agentmap import BEST

    steps = {"x=0, y=0": {"right": "x=1, y=0", "down": "x=0, y=1"}, "x=1, y=0": {}, "x=0, y=1": {}}
    mdp = MDP.from_dict(steps, initial="x=0, y=0")
    for often, drawn in ((0.75, 1), (1.0, 0)):
        agent = {"x=0, y=0": {"right": often, "down": 1 - often}}
        (axis,) = explain_agent(mdp, agent, target="x=1, y=0").plot().axes
        colours = [to_hex(p.get_facecolor()) for p in axis.patches if type(p).__name__ == "FancyArrow"]
        assert colours.count(BEST) == drawn


def test_left_is_a_turn_where_one_faces_something():
    """Law: in a world with a heading, arrows come from where actions lead, not from their names."""
    pytest.importorskip("minigrid")
    from waypost import explore
    from waypost.report.agentmap import heading
    from waypost.report.coordinates import coordinates_of

    mdp = explore(gymnasium.make("MiniGrid-Empty-5x5-v0"))
    places = coordinates_of(mdp)
    at = {mdp.states[s]: s for s in range(mdp.n_states)}
    assert heading(mdp, places, at["x=1, y=1, facing=right"], "left") is None
    assert heading(mdp, places, at["x=1, y=1, facing=right"], "forward") == (1, 0)
    assert heading(mdp, places, at["x=1, y=1, facing=down"], "forward") == (0, 1)


def test_an_agent_that_loses_nothing_but_time_is_told_how_long_it_takes():
    """Law: steps on average are the solution of the linear equations; the fewest are those of the shortest run."""
    world = gymnasium.make("CliffWalking-v1")
    found = explain_agent(from_gymnasium(world), Strategy.uniform(from_gymnasium(world)), target="goal")
    table, chain = world.unwrapped.P, np.zeros((48, 48))
    for s in range(47):
        for a in range(4):
            for p, to, _, ended in table[s][a]:
                chain[s, to] += 0 if ended else p / 4
    expected = np.linalg.solve(np.eye(48) - chain, np.ones(48))[36]
    assert found.steps == pytest.approx(expected)
    assert found.fewest == 13
    assert f"Its runs take {expected:,.0f} steps on average, the shortest way there 13" in found.summary()


def test_many_ends_are_told_by_what_they_are_called():
    """Law: of hundreds of ends the shares of each label add up to what is lost."""
    names = [f"end {k}" for k in range(40)]
    mdp = MDP.from_dict(
        {
            "s": {"go": {**dict.fromkeys(names, 0.02), "won": 0.2}, "no": "end 0"},
            **{name: {} for name in (*names, "won")},
        },
        initial="s",
        labels={"bust": names[:30], "tie": names[30:]},
    )
    words = explain_agent(mdp, {"s": "go"}, target="won").summary()
    assert "60 % in bust, beyond hope (30 places);\n20 % in tie, beyond hope (10 places)." in words


def test_an_end_without_a_label_of_its_own_keeps_its_name():
    """Law: that a state is terminal is no name; how it ends is."""
    end = [(0.5, 1, 1, True), (0.5, 1, -1, True)]
    world = SimpleNamespace(P={0: {0: end, 1: end}, 1: {0: [], 1: []}})
    words = explain_agent(from_gymnasium(world), np.array([0, 0]), target="goal").summary()
    assert "50 % in 1 (end, reward -1), beyond hope" in words
