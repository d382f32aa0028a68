"""What a bootstrap found, as a table in the terminal and as a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.text import Text

from waypost.errors import require
from waypost.formats.writing import write_text
from waypost.report.table import fitted_table
from waypost.report.wording import SCOPE_TITLES, cell
from waypost.uncertainty.resampling import Resampled


def print_intervals(
    resampled: Resampled, *, top: int = 20, states: Collection[str] = (), console: Console | None = None
) -> None:
    """Print the intervals of the most important states that have moved, and how many have not."""
    console = Console() if console is None else console
    title = f"{SCOPE_TITLES[resampled.scope]}: {resampled.level:.0%} intervals of {resampled.resamples} resamples"
    names, bounds = resampled.names, resampled.bounds
    order = np.lexsort((-bounds[:, 1], -bounds[:, 0])).tolist()
    asked = [k for k in order if not states or names[k] in states]
    moved = [k for k in asked if not _settled(resampled, k)]
    lines = [
        [
            names[k],
            cell(float(bounds[k, 0])),
            _ends(resampled, k, resampled.lower),
            cell(float(bounds[k, 1])),
            _ends(resampled, k, resampled.upper),
            f"{resampled.present[k]:.0%}",
        ]
        for k in moved[:top]
    ]
    head = ["state" if resampled.match == "history" else "label"]
    head += ["lower bound", "interval", "upper bound", "interval", "in resamples"]
    if moved:
        console.print(fitted_table(console, head, lines, title=title, box=box.SIMPLE_HEAD, header_style="dim"))
    left, still = max(0, len(moved) - top), len(asked) - len(moved)
    more = f"{left} more have moved (--top {len(moved)} shows them); " if left else ""
    console.print(Text(f"{title}: {more}{still} have the same bounds in every resample"))


def write_intervals(resampled: Mapping[str, Resampled], path: str | Path) -> None:
    """Write the intervals of every state and scope as CSV."""
    pandas = require("pandas", "table", "writing intervals")
    parts = [one.to_frame().assign(scope=scope) for scope, one in resampled.items()]
    write_text(path, pandas.concat(parts).to_csv())


def _ends(resampled: Resampled, k: int, intervals: Any) -> str:
    """Write an interval, always with both ends; nothing where no resample has the state."""
    low, high = intervals[k].tolist()
    return f"{cell(low)} to {cell(high)}" if resampled.known[k] else ""


def _settled(resampled: Resampled, k: int) -> bool:
    """Whether a state was there in every resample, with the same bounds."""
    ends = np.stack([resampled.lower[k], resampled.upper[k]], axis=1)  # (2, 2) from and to, of both bounds
    return bool(resampled.present[k] == 1 and (ends == resampled.bounds[k]).all())
