"""What a benchmark ran on: a time means nothing without it."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("waypost", "numpy", "scipy", "numba", "stormpy")
BUSY = 0.5  # load per core beyond which other jobs must have been running


def machine() -> dict[str, str]:
    """Processor, cores, memory, load, versions, date."""
    facts = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": platform.python_version(),
    }
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    facts["load at the start"] = f"{load:.1f}" + (" (other jobs were running)" if load > BUSY * _cores() else "")
    return facts


def _cores() -> int:
    return os.cpu_count() or 1


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or "unknown"
    named = next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")), "")
    return named or platform.processor() or "unknown"


def _memory() -> str:
    if sys.platform == "win32":
        return "unknown"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
