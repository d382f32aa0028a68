"""Ctrl-C always ends a command, within a second, with a code that says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

PLAIN = "while True: time.sleep(0.01)"
SWALLOWED = """
while True:
    try:
        time.sleep(5)
    except BaseException:
        pass
"""
COMPILED = """
import numpy as np
from waypost.graph.compiled import kernel
@kernel
def spin(numbers):
    for k in range(10**12):
        numbers[k % 2] += 1.0
    return numbers
spin.compiled
tell()
spin.compiled(np.zeros(2))
"""
IN_CHILD = """
from waypost.processes import Child
with Child("time", "sleep") as child:
    tell()
    child.ask(600)
"""
PROGRAM = """
import sys, time
import click
from waypost import cli
from waypost.cli.progress import bounds_progress
def tell(): print("go", flush=True)
@click.command("work")
def work():
    with bounds_progress(60, quiet=True) as progress:
        progress(7)
{body}
cli.cli.add_command(work)
cli.LazyGroup.get_command = lambda self, ctx, name: work
cli.main(["work"])
"""


def body(text: str) -> str:
    told = text if "tell()" in text else "tell()\n" + text
    return "\n".join("        " + line for line in told.strip().split("\n"))


@pytest.mark.parametrize(
    "text", [PLAIN, SWALLOWED, COMPILED, IN_CHILD], ids=["plain", "swallowed", "compiled", "in a child"]
)
def test_an_interrupt_ends_it_within_a_second(text):
    """Also where the exception is swallowed, or a compiled loop runs for ever; and it says how far it got."""
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(body=body(text))], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert child.stdout.readline() == b"go\n"
        time.sleep(2.0 if text is COMPILED else 0.3)  # compiling may take so long
        started = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=30)
        took = time.monotonic() - started
    finally:
        child.kill()
        child.wait()
    assert child.returncode == 130
    assert said == b"waypost: interrupted: 7 of 60 bounds were settled; nothing was written\n"
    assert took < 3  # one second, and what a busy machine adds


@pytest.mark.slow
def test_an_interrupt_at_any_moment_is_heard(tmp_path):
    """From the first line of ours to the last: 130, or the signal itself, or it was done before."""
    output = tmp_path / "out.json"
    ends = set()
    for k in range(20):
        output.unlink(missing_ok=True)
        child = subprocess.Popen(
            [sys.executable, "-m", "waypost", "explain", "epidemic:12", "--json", str(output)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        time.sleep(0.15 + 0.2 * k)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
        ends.add(child.returncode)
        assert child.returncode in (130, -signal.SIGINT, 0), said
        if child.returncode == 130:
            assert said.lstrip().startswith(b"waypost: interrupted")  # click begins a new line
            assert b"Traceback" not in said
        assert [p.name for p in tmp_path.iterdir()] in ([], ["out.json"])
        assert os.path.exists(output) or child.returncode != 0  # noqa: PTH110
    assert 130 in ends
