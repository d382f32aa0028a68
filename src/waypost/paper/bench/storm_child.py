"""Storm's side of a benchmark, in a process of its own, which its parent may end when a query does not come back.

It knows stormpy and the standard library, nothing else, so that its memory is Storm's. It answers when the model is
built, after each query, and at the end.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def peak_megabytes() -> float:
    """Greatest memory of this process so far; that of its parent, which `getrusage` may remember, does not count."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024
    except (OSError, IndexError, ValueError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def in_words(value: Any) -> str:
    """A fraction in lowest terms, in base 16: numbers of any length are read and written at once.

    >>> from fractions import Fraction
    >>> in_words(Fraction(10, 22))
    '0x5/0xb'
    """
    sys.set_int_max_str_digits(0)
    return "/".join(hex(int(str(part))) for part in (value.numerator, value.denominator))


def work(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Build the model, then answer one query after the other, as often as asked."""
    import stormpy

    stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)
    started = time.perf_counter()
    exact = job.get("exact", False)
    build = stormpy.build_model_from_drn[stormpy.Rational] if exact else stormpy.build_model_from_drn
    model = build(job["model"])
    yield {"reading": time.perf_counter() - started}
    start = model.initial_states[0]
    formulas = [stormpy.parse_properties(query)[0] for query in job["queries"]]
    stormpy.model_checking(model, stormpy.parse_properties(job["warm"])[0], only_initial_states=True)
    yield {"warm": True}
    for _ in range(job["rounds"]):
        for formula in formulas:
            started = time.perf_counter()
            result = stormpy.model_checking(model, formula, only_initial_states=True)
            seconds = time.perf_counter() - started
            value = result.get_value(start)
            yield {"seconds": seconds, "value": in_words(value) if exact else value}
    yield {"megabytes": peak_megabytes()}
