"""Reachability equals the published values of the QComp benchmark set."""

from __future__ import annotations

import pytest

from waypost.paper.studies.qcomp import benchmarks, compare, main


def test_small_published_values_are_met_exactly(shared_data):
    """Law: to 1e-6 in floats, and exactly where a fraction is published."""
    pytest.importorskip("stormpy")
    folder = shared_data / "models/qcomp"
    rows = [compare(benchmark) for benchmark in benchmarks(folder, largest=800)]
    assert len(rows) == 19
    for row in rows:
        assert row.agrees, row.benchmark.title
        assert row.exact == row.benchmark.value


def test_the_table_is_written_and_a_difference_is_a_failure(shared_data, tmp_path, capsys):
    pytest.importorskip("stormpy")
    folder = shared_data / "models/qcomp"
    assert main([str(folder), "--largest", "40", "--output", str(tmp_path / "t.md")]) == 0
    assert "2 of 2 published values" in (tmp_path / "t.md").read_text()
    reference = (folder / "REFERENCE.csv").read_text().replace("27560736/31878125", "27560737/31878125")
    (tmp_path / "REFERENCE.csv").write_text(reference)
    (tmp_path / "cdrive").symlink_to(folder / "cdrive")
    (tmp_path / "ij").symlink_to(folder / "ij")
    assert main([str(tmp_path), "--largest", "40"]) == 1
    assert "DIFFERS" in capsys.readouterr().err


@pytest.mark.slow
def test_all_published_values_are_met(shared_data):
    pytest.importorskip("stormpy")
    assert main([str(shared_data / "models/qcomp")]) == 0
