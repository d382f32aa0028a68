"""`waypost compile`: every kernel is met, and what is made is on the disk."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import waypost
from waypost.cli.rehearsal import rehearse
from waypost.graph.compiled import Kernel, kernels

HOUSE = Path(waypost.__file__).parent


def asked_in_the_house() -> set[str]:
    """Names of the kernels that some module asks for by ``kernel.sized(...)`` or ``in_parts(kernel, ...)``."""
    found = set()
    for module in HOUSE.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sized":
                found.add(ast.unparse(node.func.value))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "in_parts":
                found.add(ast.unparse(node.args[0]))
    return found - {"loop"}  # the argument of `in_parts`


def test_no_kernel_is_forgotten(monkeypatch):
    """Law: every kernel that any module may want machine code of is met by the rehearsal."""
    met = set()

    def met_in_plain(kernel):
        met.add(kernel.plain.__name__)
        return kernel.plain

    monkeypatch.setattr(Kernel, "compiled", property(met_in_plain))
    before = {kernel: kernel.spent for kernel in kernels()}
    try:
        rehearse()
    finally:
        for kernel in kernels():
            kernel.spent = before.get(kernel, 0.0)
    assert asked_in_the_house() - met == set()


WITHOUT = """
import sys
for name in ("pandas", "sklearn", "gymnasium", "flint", "stormpy"):
    sys.modules[name] = None
from waypost.graph import compiled
compiled.Kernel.compiled = property(lambda kernel: kernel.plain)
from waypost.cli.rehearsal import rehearse
rehearse()
"""


def test_the_rehearsal_needs_no_extra():
    """Containers often have the core alone."""
    subprocess.run([sys.executable, "-c", WITHOUT], check=True, capture_output=True, timeout=300)


FEW = """
from waypost.cases import loan
from waypost.cli import cli, rehearsal
from waypost.graph.compiled import eagerly
from waypost.graph.reach import reachable
from waypost.graph import Graph
import numpy as np

def few(tell):
    with eagerly():
        reachable(Graph.of(loan()), np.arange(10) == 0)

rehearsal.rehearse = few
import sys
from waypost.cli import main
sys.argv = ["waypost", "compile", "--quiet"]
main()
"""


@pytest.fixture
def compile_few(tmp_path):
    """Run ``waypost compile`` in a process of its own, with a cache for this test, and one kernel in its rehearsal."""

    def compile_few(place: str = str(tmp_path / "cache")) -> tuple[int, str, str]:
        given = {**os.environ, "NUMBA_CACHE_DIR": place}
        done = subprocess.run(
            [sys.executable, "-c", FEW], cwd=tmp_path, env=given, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout, done.stderr

    return compile_few


def test_what_is_compiled_is_on_the_disk_and_not_compiled_again(compile_few, tmp_path):
    assert compile_few() == (0, "machine code of 1 kernels is on the disk, 1 of them new\n", "")
    assert [file.name.partition("-")[0] for file in tmp_path.rglob("*.nbi")] == ["reach._forward"]
    assert compile_few() == (0, "machine code of 1 kernels is on the disk, 0 of them new\n", "")


@pytest.mark.parametrize("place", ["/proc/self/nowhere", __file__], ids=["nobody may write it", "it is a file"])
def test_no_place_for_machine_code_is_said(compile_few, place):
    code, _, said = compile_few(place)
    assert code == 2
    assert said.startswith("waypost: no place to keep machine code of graph.reach._forward")
