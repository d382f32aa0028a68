"""The paper's explanation in words, and what its constants do to the answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner

from waypost.cases import loan
from waypost.cli.reproduce import command
from waypost.formats import read_mdp
from waypost.paper.encodings import Limits
from waypost.paper.studies.excerpt import excerpt
from waypost.paper.studies.reports import write_reports
from waypost.paper.studies.running import Settings
from waypost.paper.studies.sensitivity import grid, run_grid
from waypost.paper.studies.studies import STUDIES, TOLERANCES
from waypost.solve.overview import overview


def test_the_papers_excerpt_comes_out_of_bpic17(shared_data):
    """Its three indispensable states and its detrimental calls, over the best strategies; turns are no states."""
    done = CliRunner().invoke(command, ["excerpt", "--data", str(shared_data / "models/paper")])
    assert done.exit_code == 0, done.output
    _, _, firm, _, bad, *_ = done.output.splitlines()
    assert {"A_CreateApplication", "O_Accepted", "A_Pending"} <= set(firm.strip(" .").split(", "))
    assert "W_CallincompletefilesSUPERLONG (0.0011)" in bad
    assert "company" not in firm + bad


def test_paths_are_told_with_their_bounds_and_none_begins_another():
    lines = excerpt(loan(), target="Granted", scope="all").splitlines()
    high = lines[5].strip(" .").split("; ")
    assert "s0, Application (0.897 to 1)" in high
    names = [way.partition(" (")[0] for way in high]
    assert not any(a != b and b.startswith(a + ",") for a in names for b in names)


@pytest.mark.parametrize(
    ("file", "leaving", "touching"),
    [("paper/bpic12.prism", 9, 28), ("learned/spotify10000.drn", 3228, 5622)],
)
def test_the_papers_outgoing_transitions_count_those_that_enter_as_well(shared_data, file, leaving, touching):
    found = overview(read_mdp(shared_data / "models" / file))
    assert (found.leaving, found.touching) == (leaving, touching)


def test_a_grid_counts_right_wrong_and_unsolved_per_constant_and_tolerance(tmp_path):
    """Each row is one constant and one tolerance; its bounds are right, wrong or unsolved. M = 10,000 is harmless."""
    study = replace(
        STUDIES["sensitivity"],
        models=("loan",),
        configurations=("LP* letter, M = 10000", "QP letter, eps = 0.01"),
        sample=2,
    )
    settings = Settings(Limits(seconds=10), target="Granted")
    found = run_grid(study, settings, tmp_path, lambda _done, _all: None)
    table = grid(found.records)
    assert len(table.rows) == 2 * len(TOLERANCES)
    assert {sum(map(int, row[4:7])) for row in table.rows} == {4}  # both bounds of two states
    assert {row[4] for row in table.rows if row[1].startswith("LP*")} == {"4"}
    names = {path.name for path in write_reports(found, tmp_path)}
    assert {"sensitivity.md", "sensitivity.svg"} <= names
