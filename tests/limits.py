"""Time and memory that reading any small file may take: ten seconds and a gigabyte."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class TooSlow(BaseException):
    """No code that is tested catches it."""


def _alarm(*_):
    raise TooSlow


@contextmanager
def bounded(seconds: float = 10, size: int = 2**30) -> Iterator[None]:
    """Within it, work that takes longer raises `TooSlow`, and memory beyond the size is refused (`MemoryError`)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGALRM, _alarm)
    resource.setrlimit(resource.RLIMIT_AS, (now + size, hard))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
