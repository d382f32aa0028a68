"""Full disks, kills at any moment, no home, a cache nobody may write: an old file or a new one, never half of one."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from waypost.cases import loan
from waypost.errors import FormatError
from waypost.formats import read_mdp, write_mdp
from waypost.formats.writing import write_bytes, write_files

AGAIN = """
import sys
from waypost.cases import loan
from waypost.formats import write_mdp
mdp = loan()
print("go", flush=True)
while True:
    write_mdp(mdp, sys.argv[1])
"""


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte."""
    where = tmp_path / "disk"
    where.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount") is not None
    if mounted:
        mounted = not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(where)], capture_output=True, check=False
        ).returncode
    if not mounted:
        pytest.skip("no file system may be mounted here")
    yield where
    subprocess.run(["umount", "-l", str(where)], check=True)


def test_a_full_disk_leaves_the_old_file(small_disk):
    write_bytes(small_disk / "old.bin", b"x" * 300_000)
    with pytest.raises(FormatError, match="No space left"):
        write_bytes(small_disk / "old.bin", b"y" * 900_000)
    assert (small_disk / "old.bin").read_bytes() == b"x" * 300_000
    assert [path.name for path in small_disk.iterdir()] == ["old.bin"]


def test_a_full_disk_leaves_all_files_of_a_model_or_none(small_disk):
    names = [small_disk / f"m{suffix}" for suffix in (".sta", ".lab", ".tra")]
    with pytest.raises(FormatError, match="No space left"):
        write_files(dict.fromkeys(names, b"x" * 400000))
    assert not list(small_disk.iterdir())
    write_files(dict.fromkeys(names, b"old"))
    with pytest.raises(FormatError, match="No space left"):
        write_files(dict.fromkeys(names, b"x" * 400000))
    assert {path.read_bytes() for path in small_disk.iterdir()} == {b"old"}
    assert len(list(small_disk.iterdir())) == 3


@pytest.mark.parametrize("ending", ["json", "umb", "tra"])
def test_a_kill_at_any_moment_leaves_a_whole_model_or_none(ending, tmp_path):
    """Ten kills while a model is written over and over: what is there can be read, and is that model."""
    rng = random.Random(ending)  # noqa: S311
    path = tmp_path / f"model.{ending}"
    for _ in range(10):
        child = subprocess.Popen([sys.executable, "-c", AGAIN, str(path)], stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"go\n"
        time.sleep(rng.random() / 20)
        child.kill()
        child.wait()
        child.stdout.close()
        if path.exists():
            assert read_mdp(path).states == loan().states


def test_two_processes_may_write_the_same_file(tmp_path):
    path = tmp_path / "model.json"
    command = [sys.executable, "-c", AGAIN, str(path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    for child in both:
        assert child.stdout.readline() == b"go\n"
    while not path.exists():
        assert all(child.poll() is None for child in both)
        time.sleep(0.01)
    for _ in range(100):
        assert read_mdp(path).states == loan().states
    for child in both:
        assert child.poll() is None
        child.send_signal(signal.SIGKILL)
        child.communicate()


SETTINGS = {
    "no home": {"HOME": "", "XDG_CACHE_HOME": ""},
    "a home that is not there": {"HOME": "/nowhere/at/all", "XDG_CACHE_HOME": "/nowhere/at/all"},
    "no temporary folder": {"TMPDIR": "/nowhere/at/all"},
    "ASCII only": {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
}
ANSWER = """
from waypost.cli import main
main(["explain", "-t", "Granted", "--json", "-"])
"""


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_odd_surroundings_change_no_answer(setting, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", ANSWER],
        cwd=tmp_path,
        env={**os.environ, **setting},
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert not done.stderr
    assert json.loads(done.stdout.decode())["reachability"]
    assert not list(tmp_path.iterdir())


REACHING = """
import numpy as np
from waypost.graph.compiled import eagerly
from waypost.graph import Graph, reachable
from waypost.cases import loan
mdp = loan()
with eagerly():
    print(int(reachable(Graph.of(mdp), np.arange(mdp.n_states) == mdp.initial).sum()))
"""


@pytest.mark.parametrize("place", ["/proc/self/nowhere", __file__], ids=["nobody may write it", "it is a file"])
def test_no_place_for_machine_code_changes_no_answer(place, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", REACHING],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_CACHE_DIR": place},
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) == loan().n_states


def test_a_model_of_a_read_only_folder_can_be_read(tmp_path):
    write_mdp(loan(), tmp_path / "m.tra")
    tmp_path.chmod(0o555)
    try:
        assert read_mdp(tmp_path / "m.tra").states == loan().states
    finally:
        tmp_path.chmod(0o755)
