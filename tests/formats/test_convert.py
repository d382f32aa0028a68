"""``waypost convert``: from any format to any other, and nothing half-written."""

from __future__ import annotations

import pytest

from formats.models import assert_same
from waypost import cli
from waypost.cases import loan
from waypost.formats import read_mdp, write_mdp


@pytest.mark.parametrize("ending", ["prism", "drn", "umb", "json", "tra"])
def test_a_model_is_converted(ending, tmp_path, capsys):
    write_mdp(loan(), tmp_path / "loan.json")
    with pytest.raises(SystemExit) as done:
        cli.main(["convert", str(tmp_path / "loan.json"), str(tmp_path / f"out.{ending}"), "--exact"])
    assert done.value.code == 0
    assert "10 states" in capsys.readouterr().out
    assert_same(loan(), read_mdp(tmp_path / f"out.{ending}", exact=True))


@pytest.mark.parametrize("output", ["out.xyz", "nowhere/out.drn"])
def test_what_cannot_be_written_is_one_sentence(output, tmp_path, capsys):
    write_mdp(loan(), tmp_path / "loan.json")
    with pytest.raises(SystemExit) as done:
        cli.main(["convert", str(tmp_path / "loan.json"), str(tmp_path / output)])
    assert done.value.code == 2
    assert capsys.readouterr().err.startswith("waypost: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loan.json"]
