"""What ``waypost explain`` prints and writes."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from waypost.cases import gridworld
from waypost.cli import cli
from waypost.formats import jsonfile


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str):
        result = CliRunner().invoke(cli, ["explain", *arguments], catch_exceptions=False, standalone_mode=False)
        return result.output

    return run


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ("table", "Consultation   optional"),
        ("text", "Every run that reaches 'Granted' passes these"),
        ("markdown", "## Indispensable"),
        ("csv", "state,labels,kind,all_lower"),
        ("json", '"format": 1'),
    ],
)
def test_the_format_says_what_is_printed(run, shape, says):
    assert says in run("--format", shape)


def test_top_limits_what_is_printed(run):
    assert "and 7 more states" in run("--top", "3")
    assert "and 4 more" in run("--format", "text", "--top", "1")


def test_a_dash_prints_json_and_nothing_else(run):
    assert json.loads(run("--json", "-"))["target"] == "Granted"


def test_every_file_asked_for_is_written(run, tmp_path):
    run("-o", "a.md", "-o", "a.svg", "--json", "a.json", "--csv", "a.csv", "--html", "a.html", "--plot", "b.png")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "a.html", "a.json", "a.md", "a.svg", "b.png"]
    assert len(json.loads((tmp_path / "a.json").read_text())["states"]) == 10


def test_a_picture_needs_a_picture_ending(run, tmp_path):
    from waypost.errors import FormatError

    with pytest.raises(FormatError, match=r"\.png"):
        run("--plot", "b.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_grid_is_drawn_where_states_have_coordinates(run, tmp_path):
    (tmp_path / "world.json").write_text(jsonfile.dumps(gridworld()))
    run("world.json", "--target", "goal", "--plot", "world.svg")
    drawn = (tmp_path / "world.svg").read_text()
    assert "the world" in drawn
    assert "to avoid (0)" in drawn


def test_two_targets_go_into_one_page(run, tmp_path):
    run("--html", "both.html", "--compare", "Rejected")
    page = (tmp_path / "both.html").read_text()
    assert page.count('<section class="summary"') == 2


def test_a_log_is_explained_with_example_cases(run, tmp_path):
    """The page of a log names cases that have each activity."""
    run("loan-log:300", "--html", "log.html", "-q", "--top", "2")
    page = (tmp_path / "log.html").read_text()
    assert '"examples":["application 1"' in page
