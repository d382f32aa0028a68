"""When kernels are compiled: eagerly for a while, and else where that is worth the wait."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from waypost.graph.compiled import BYTES, WORTH_COMPILING, Kernel, eagerly, kernel, watching
from waypost.graph.keeping import on_disk


@kernel
def first(numbers):
    return numbers[0]


def test_haste_ends_when_the_last_has_left_in_whatever_order():
    one, other = eagerly(), eagerly()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)  # the first to come is the first to go
    assert first.sized(1) is not first.plain
    other.__exit__(None, None, None)
    first.spent = 0.0
    assert first.sized(1) is first.plain
    assert first(np.ones(1)) == 1.0


@pytest.fixture
def doubled(tmp_path, monkeypatch) -> Kernel:
    """A kernel in a file of its own."""
    if numba.config.CACHE_DIR:
        pytest.skip("numba keeps machine code elsewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "doubling.py"
    file.write_text("from waypost.graph.compiled import kernel\n\n@kernel\ndef doubled(x):\n    return 2 * x\n")
    spec = importlib.util.spec_from_file_location("doubling", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "doubling", module)
    spec.loader.exec_module(module)
    return module.doubled


def test_machine_code_is_on_disk_once_it_was_compiled_until_its_text_changes(doubled):
    source = doubled.plain.__code__.co_filename
    assert not on_disk(doubled.plain, {source})
    assert doubled.compiled(2) == 4
    assert on_disk(doubled.plain, {source})
    later = time.time() + 10
    os.utime(source, (later, later))
    assert not on_disk(doubled.plain, {source})
    Path(source).unlink()
    assert not on_disk(doubled.plain, {source})


def test_machine_code_of_another_numba_is_none(doubled, tmp_path):
    """Numba would compile it again, so a small piece of work must not count on it."""
    assert doubled.compiled(2) == 4
    assert doubled.is_on_disk()
    (index,) = tmp_path.rglob("*.nbi")
    version = numba.__version__.encode()
    assert version in index.read_bytes()[:64]
    index.write_bytes(index.read_bytes().replace(version, b"0" * len(version), 1))
    assert not doubled.is_on_disk()


def test_who_has_no_home_keeps_no_machine_code_and_no_folder_called_tilde(doubled, tmp_path, monkeypatch):
    """As in a container that runs under a number that nobody has; numba would keep it in ./~/.cache."""

    def nobody(_number):
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", nobody)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.access", lambda *_: False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert not doubled.is_on_disk()
    assert doubled.compiled(2) == 4
    assert not list((tmp_path / "here").iterdir())


def test_what_is_long_to_compile_waits_for_more_work_unless_it_is_on_disk(doubled):
    long = Kernel(doubled.plain)
    long.__dict__.update(_bytes=100 * BYTES, _kept=False)
    kept = Kernel(doubled.plain)
    kept.__dict__.update(_bytes=100 * BYTES, _kept=True)
    assert long.sized(50 * WORTH_COMPILING) is long.plain
    assert kept.sized(1.1 * WORTH_COMPILING) is kept.compiled
    told = []
    with watching(lambda: told.append("wait")):
        assert long.sized(60 * WORTH_COMPILING) is long.compiled  # many calls add up
        assert long.sized(1) is long.compiled
        assert kept.sized(1) is kept.compiled
    assert told == ["wait"]
