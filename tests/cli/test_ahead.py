"""What a command makes ready ahead: Storm's process, where the arguments name a model for it, and nothing otherwise."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import pytest

from waypost.cli import ahead
from waypost.formats import jani, prism

FLAT = "mdp module m x:[0..1] init 0; [go] x=0 -> (x'=1); endmodule"
WALK = "mdp module m x:[0..3]; [up] x<3 -> 0.5:(x'=x+1)+0.5:(x'=0); endmodule\nlabel \"top\" = x=3;\nconst int N = 3;\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Models of all kinds, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flat.prism").write_text(FLAT)
    (tmp_path / "walk.prism").write_text(WALK)
    (tmp_path / "two.nm").write_text(f"{FLAT}\n{FLAT[4:]}")
    (tmp_path / "walk.jani").write_text("{}")
    (tmp_path / "walk.txt").write_text(WALK)
    (tmp_path / "folder.prism").mkdir()
    return tmp_path


def test_the_endings_are_those_of_the_formats():
    assert set(ahead.SYMBOLIC) == {*prism.FORMAT.endings, *jani.FORMAT.endings}


@pytest.mark.parametrize(
    ("arguments", "starts"),
    [
        ("walk.prism --target top", True),
        ("--target top walk.prism", True),
        ("two.nm", True),
        ("walk.jani", True),
        ("flat.prism", False),
        ("walk.prism --help", False),
        ("walk.txt", False),
        ("missing.prism", False),
        ("folder.prism", False),
        ("", False),
    ],
)
@pytest.mark.usefixtures("files")
def test_storm_starts_where_a_model_is_named_that_only_storm_can_build(monkeypatch, arguments, starts):
    started = []

    @contextlib.contextmanager
    def early(*_given, **_how):
        started.append("Storm")
        yield

    monkeypatch.setattr("waypost.processes.early.started_early", early)
    monkeypatch.setattr(ahead, "_has_storm", lambda: True)
    with ahead.storm_ahead(arguments.split()):
        pass
    assert started == ["Storm"] * starts
    monkeypatch.setattr(ahead, "_has_storm", lambda: False)
    with ahead.storm_ahead(arguments.split()):
        pass
    assert started == ["Storm"] * starts


WATCHED = """
import subprocess, sys
from waypost.cli import main
begin = subprocess.Popen.__init__
def told(self, command, *given, **how):
    print("started", command[3].rpartition("/")[2], "numpy" in sys.modules, file=sys.stderr)
    begin(self, command, *given, **how)
subprocess.Popen.__init__ = told
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("arguments", "code", "starts"),
    [
        ("explain walk.prism --target top --csv -", 0, 1),
        ("check walk.prism", 0, 1),
        ("explain walk.prism --target nowhere", 2, 1),
        ("explain walk.prism --no-such-option", 2, 1),
        ("explain flat.prism --target x=1", 0, 0),
    ],
)
def test_storm_is_one_process_and_starts_before_numpy_is_imported(files, arguments, code, starts):
    """Whatever becomes of the command; nothing of it can be seen."""
    pytest.importorskip("stormpy")
    command = [sys.executable, "-c", WATCHED, *arguments.split()]
    done = subprocess.run(command, cwd=files, capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    assert done.returncode == code
    assert [line for line in lines if line.startswith("started")] == ["started storm_worker.py False"] * starts
    assert len(lines) == starts + (code != 0) + ("option" in arguments)


def test_numpy_has_all_its_names_after_scipy_was_imported_without_some():
    code = (
        "import sys\nfrom waypost.cli.ahead import import_arrays\nimport_arrays()\nimport_arrays()\nimport numpy\n"
        "assert not {'numpy.f2py', 'numpy.testing'} & set(sys.modules)\n"
        "print(numpy.f2py.__name__, numpy.testing.__name__)\n"
        "import scipy.sparse\nfrom numpy import testing\ntesting.assert_allclose(scipy.sparse.eye_array(2).sum(), 2)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "numpy.f2py numpy.testing\n"
