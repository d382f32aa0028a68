"""What a child process does in the tests of `waypost.processes`."""

from __future__ import annotations

import ctypes
import os
import time
from pathlib import Path


def nap(seconds):
    time.sleep(seconds)
    return os.getpid()


def deaf(seconds):
    """Wait in a library call that holds the interpreter and listens to nobody."""
    Path("litter").write_text("left behind")
    ctypes.PyDLL(None).usleep(int(seconds * 1e6))
    return "done"


def hungry(size):
    return len(bytearray(size))


def crash(number):
    os.kill(os.getpid(), number)


def limits(_):
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)


def chatty(word):
    print("chatter", flush=True)  # noqa: T201
    os.write(1, b"more chatter")
    yield word
    yield word.upper()


def multiplying(factor):
    return lambda number: factor * number


def failing(_):
    raise ValueError("no such thing")
