"""``--bootstrap``: how far the bounds move when the cases are drawn again."""

from __future__ import annotations

from typing import Any

from waypost.cli.progress import status
from waypost.cli.source import Loaded, scopes_of
from waypost.cli.terminal import console
from waypost.errors import WaypostError
from waypost.uncertainty import bootstrap
from waypost.uncertainty.resampling import Resampled


def resample(loaded: Loaded, target: tuple[str, ...], options: dict[str, Any]) -> dict[str, Resampled]:
    """Draw the cases again, and write the intervals of all states if a file was named."""
    from waypost.report.intervals import write_intervals

    if loaded.prepared is None:
        raise WaypostError("--bootstrap draws the cases of a log again, and this model was not learned from one")
    with status("resampling", quiet=options["quiet"]) as show:
        resampled = bootstrap(
            loaded.prepared.traces,
            target=target[0] if len(target) == 1 else target,
            resamples=options["bootstrap"],
            seed=options["seed"],
            eps=loaded.prepared.eps,
            scope=scopes_of(options["scope"]),
            match=options["match"] or "history",
            progress=lambda done: show(f"{done} of {options['bootstrap']}"),
        )
    if options["intervals"]:
        write_intervals(resampled, options["intervals"])
    return resampled


def show_intervals(resampled: dict[str, Resampled], options: dict[str, Any]) -> None:
    """Print the intervals of the most important states."""
    from waypost.report.intervals import print_intervals

    for one in resampled.values():
        print_intervals(one, top=options["top"] or 20, states=options["states"], console=console())
