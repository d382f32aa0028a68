"""Pictures: figures that show what the explanation says, whatever the names are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from waypost.cases import loan
from waypost.errors import ArgumentError, ModelError, NameUnknownError
from waypost.importance import explain, with_groups
from waypost.report import fields_of, plot_bars, plot_graph, plot_grid, render_report, to_bytes, unknown_fields
from waypost.report.grid import RED, WHITE
from waypost.report.palette import palette

matplotlib = pytest.importorskip("matplotlib")


def _texts(figure) -> set[str]:
    return {text.get_text() for axis in figure.axes for text in axis.texts}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("draw", [plot_graph, plot_bars])
def test_hostile_names_are_drawn_as_they_are(hostile, draw, theme):
    """A dollar is a dollar, not mathematics; a missing glyph is a box, not a failure."""
    assert b"<svg" in to_bytes(draw(hostile, theme=theme), "svg")


def test_every_state_of_a_small_model_is_drawn(granted):
    assert set(granted.mdp.states) <= _texts(plot_graph(granted, engine="layers"))


def test_arrows_are_as_wide_as_they_are_likely_under_the_witness(granted):
    """Under the witness of Consultation's upper bound 1, Consult is taken and Apply is not."""
    figure = plot_graph(granted, strategy=granted.witnesses["all"]["Consultation"].upper, engine="layers")
    arrows = [p for p in figure.axes[0].patches if isinstance(p, matplotlib.patches.FancyArrowPatch)]
    assert {round(arrow.get_linewidth(), 2) for arrow in arrows if arrow.get_alpha() == 1} >= {4.0}
    faint = [arrow for arrow in arrows if arrow.get_alpha() != 1]
    assert 0 < len(faint) < len(arrows)


def test_an_unknown_scope_or_theme_is_refused(granted):
    with pytest.raises(NameUnknownError, match="not explained"):
        plot_graph(granted, scope="strategy")
    with pytest.raises(ArgumentError, match="theme is 'light' or 'dark'"):
        plot_graph(granted, theme="pink")


def test_the_ramp_gets_darker_or_lighter_throughout():
    """Lightness alone tells the values apart, so that no colour vision is needed."""
    for theme in ("light", "dark"):
        ramp = palette(theme).colours()
        light = [sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), ramp(k / 20)[:3], strict=True)) for k in range(21)]
        steps = [b - a for a, b in itertools.pairwise(light)]
        assert all(step < 0 for step in steps) or all(step > 0 for step in steps)


def _fields(figure) -> dict[tuple[int, int], str]:
    found = {}
    for patch in figure.axes[1].patches:
        colour = matplotlib.colors.to_hex(patch.get_facecolor())
        found[round(patch.get_x() + 0.5), round(patch.get_y() + 0.5)] = colour
    return found


def test_the_heat_map_is_that_of_the_paper(world):
    """Start, key, goal and the three transfer fields are white, the six lava fields red, every other field teal."""
    whole = explain(world.mdp, target="goal", groups=fields_of(world.mdp))
    for figure in (world.plot("grid"), plot_grid(whole)):
        found = _fields(figure)
        white = {field for field, colour in found.items() if colour == WHITE}
        red = {field for field, colour in found.items() if colour == RED}
        assert white == {(1, 1), (1, 7), (7, 1), (3, 4), (4, 4), (5, 4)}
        assert red == {(4, y) for y in range(1, 8) if y != 4}
        assert len(set(found.values())) == 3
        assert len(found) == 49


def test_a_model_without_coordinates_says_what_to_do(granted):
    with pytest.raises(ModelError, match="coordinates="):
        plot_grid(granted)
    placed = {name: (k, 0) for k, name in enumerate(loan().states)}
    assert len(plot_grid(granted, coordinates=placed, numbers=True).axes) == 2


def test_a_grid_draws_what_was_asked_for_and_computes_nothing(world):
    """Law: fields of several states are asked for before; without them there is one sentence, or another picture."""
    with pytest.raises(
        ArgumentError, match=r"how important it is to pass column 1, row 1.*groups=waypost\.report\.fields_of"
    ):
        plot_grid(world)
    assert set(unknown_fields(world)) < set(fields_of(world.mdp))
    by_itself = render_report(world, ".svg").decode()
    assert "the world" not in by_itself
    assert "the world" in render_report(with_groups(world, unknown_fields(world)), ".svg").decode()


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_other_formats_are_written(granted, kind):
    assert len(to_bytes(plot_bars(granted), kind)) > 1000


def test_walls_are_walls_and_the_door_is_what_it_is():
    """Law: a field is the set of its states: DoorKey's door is indispensable, its walls are no fields."""
    gymnasium = pytest.importorskip("gymnasium")
    pytest.importorskip("minigrid")
    from waypost import explore
    from waypost.report.tiles import FILLS

    mdp = explore(gymnasium.make("MiniGrid-DoorKey-6x6-v0"))
    figure = explain(mdp, target="goal", states=()).plot("grid")
    found = _fields(figure)
    x, y = mdp.variables["x"], mdp.variables["y"]
    door = int(np.flatnonzero(mdp.labels["door"])[0])
    column = int(x.values[door])
    assert found[column, int(y.values[door])] == WHITE
    walls = {field for field, colour in found.items() if colour == FILLS["wall"]}
    assert walls == {(column, row) for row in range(1, 5)} - {(column, int(y.values[door]))}
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "wall or out of reach" in told
    assert "hole" not in told


def test_both_bounds_are_seen_in_the_scope_that_varies():
    """Law: the scope that tells most fields apart is drawn; white squares are as large as lower bounds."""
    gymnasium = pytest.importorskip("gymnasium")
    from waypost import read_mdp

    mdp = read_mdp(gymnasium.make("FrozenLake-v1"))
    found = explain(mdp, target="goal")
    figure = plot_grid(found)
    assert "best strategies" in figure.axes[1].get_title()
    inner = [patch for patch in figure.axes[1].patches if 0 < patch.get_width() < 1]
    lower = sorted(b["optimal"].lower for b in found.values() if 0 < b["optimal"].lower < 1)
    assert sorted(patch.get_width() ** 2 for patch in inner) == pytest.approx(lower)
    cliff = plot_grid(explain(read_mdp(gymnasium.make("CliffWalking-v1")), target="goal"))
    told = [text.get_text() for text in cliff.legends[0].get_texts()]
    assert "never reached" in told
    assert "to avoid (0)" not in told


def _words(figure):
    return [text.get_text() for text in (*figure.axes[0].texts, *figure.legends[0].get_texts())]


def test_the_map_of_an_agent_in_time_shows_the_world_it_is_in():
    """Law: fields that no run enters are what they are, a cliff is no wall, whether or not steps are counted."""
    gymnasium = pytest.importorskip("gymnasium")
    from waypost import Strategy, explain_agent, read_mdp

    mdp = read_mdp(gymnasium.make("CliffWalking-v1"))
    figure = explain_agent(mdp, Strategy.uniform(mdp), target="goal", within=20).plot()
    assert "cliff" in _words(figure)
    assert not any("wall" in word or "never met" in word for word in _words(figure))


def test_the_map_of_an_agent_says_what_is_best_where_that_is_a_turn():
    """Law: where most is lost by going on, the map says to turn; lava and fields out of reach are not called walls."""
    gymnasium = pytest.importorskip("gymnasium")
    pytest.importorskip("minigrid")
    from waypost import Strategy, explain_agent, explore

    mdp = explore(gymnasium.make("MiniGrid-LavaCrossingS9N2-v0"))
    words = _words(explain_agent(mdp, Strategy.uniform(mdp), target="goal").plot())
    assert "turn" in words
    assert "best, where most is lost" in words
    assert "wall or out of reach" in words
    assert "wall" not in words


def test_nothing_is_cut_off_where_a_picture_is_saved(tmp_path):
    """Law: a figure saved by its own savefig is as large as what is drawn on it."""
    from waypost.report.canvas import empty_figure

    figure = empty_figure(figsize=(1, 1), dpi=100)
    figure.text(0.5, 0.5, "wide " * 20, ha="center")
    figure.savefig(tmp_path / "wide.png")
    header = (tmp_path / "wide.png").read_bytes()[16:20]
    assert int.from_bytes(header, "big") > 300
