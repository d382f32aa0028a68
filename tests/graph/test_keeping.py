"""Machine code on disk: another process runs it without the compiler, and with it wherever that is needed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

KERNELS = """
import sys
import numpy as np
from waypost.graph.compiled import kernel

@kernel
def one_more(x):
    return x + 1

@kernel
def sums(numbers):
    total = np.zeros(len(numbers) + 1, np.int64)
    total[1:] = np.cumsum(numbers)
    if total[-1] > 1000:
        raise ValueError("too many")
    return total, one_more(np.flatnonzero(numbers)), np.sort(numbers).mean()

@kernel
def lengths(text, other):
    return len({text, other}), hash(text) == hash(other)

def told(found):
    return [np.asarray(part).tolist() for part in found]

question = sys.argv[1]
if question == "lengths":
    print(told(lengths.compiled("a", "b")), lengths.compiled.stats.cache_hits.total())
if question in ("sums", "both"):
    print(told(sums.compiled(np.array([3, 0, 2]))))
    try:
        sums.compiled(np.array([1000, 1]))
    except ValueError as error:
        print(error)
if question == "both":  # one from the disk, then another that is compiled, which calls the same
    @kernel
    def two_more(x):
        return one_more(one_more(x))
    print(two_more.compiled(1), told(sums.compiled(np.array([3, 0, 2], np.int32))))
    print(sums.compiled.stats.cache_hits.total(), sums.compiled.stats.cache_misses.total())
print("compiler" if "numba.np.arraymath" in sys.modules else "no compiler")
"""


@pytest.fixture
def asked(tmp_path):
    """Ask a kernel in a process of its own, with a cache for this test."""
    (tmp_path / "counting.py").write_text(KERNELS)

    def ask(question: str) -> list[str]:
        command = [sys.executable, "counting.py", question]
        given = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    return ask


SUMS = ["[[0, 3, 3, 5], [1, 3], 1.6666666666666667]", "too many"]


def test_the_second_process_answers_the_same_without_the_compiler(asked):
    """Arrays, tuples and errors come out as before."""
    assert asked("sums") == [*SUMS, "compiler"]
    assert asked("sums") == [*SUMS, "no compiler"]


def test_what_refers_to_more_than_is_known_without_the_compiler_gets_it(asked):
    """A name that LLVM does not know would end the process; the secret of hashed texts comes with the compiler."""
    assert asked("lengths") == ["[2, False] 0", "compiler"]
    assert asked("lengths") == ["[2, False] 1", "compiler"]


def test_after_machine_code_from_the_disk_more_can_be_compiled(asked):
    """Also another version of the same kernel, which calls the same functions of numba's."""
    asked("sums")
    more = [*SUMS, "3 [[0, 3, 3, 5], [1, 3], 1.6666666666666667]"]
    assert asked("both") == [*more, "1 1", "compiler"]
    assert asked("both") == [*more, "2 0", "no compiler"]


def test_a_constant_of_another_file_is_not_kept_beyond_its_change(tmp_path):
    """It stands in the machine code of whoever uses it, whose own file is the same as before."""
    (tmp_path / "using.py").write_text(
        "from constants import STEP\nfrom waypost.graph.compiled import kernel\n\n"
        "@kernel\ndef stepped(x):\n    return x + STEP\n\n"
        "print(stepped.compiled(1), stepped.compiled.stats.cache_hits.total())\n"
    )
    given = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    told = []
    for step in (1, 1, 20):
        (tmp_path / "constants.py").write_text(f"STEP = {step}\n")
        command = [sys.executable, "using.py"]
        done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, check=True)
        told.append(done.stdout.split())
    assert told == [["2", "0"], ["2", "1"], ["21", "0"]]
