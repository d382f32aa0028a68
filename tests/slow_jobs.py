"""Jobs for tests of who does them: slow enough that somebody can be killed in the middle."""

from __future__ import annotations

import time
from pathlib import Path


def squares(offset):
    """Make what answers jobs, and writes down which."""

    def answer(number):
        time.sleep(offset["slow"])
        if offset.get("count"):
            with Path(offset["count"]).open("a") as stream:
                stream.write(f"{number}\n")
        return (number + offset["add"]) ** 2 / 3

    return answer
