"""Segments of a log, and two logs beside each other, as tables and words in the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.text import Text

from waypost.logs.segments import Segments
from waypost.report.story import share_cell
from waypost.report.table import fitted_table
from waypost.report.wording import percent, printable
from waypost.uncertainty.comparison import Change, Comparison

DIFFERING = 5


def print_segments(found: Segments, console: Console | None = None) -> None:
    """Print how each segment ends, what separates good from bad in it, and which steps matter differently."""
    console = Console() if console is None else console
    lines = []
    for segment in found.segments:
        best = next((c for c in segment.contrasts.ranked if c.certain > 0), None) if segment.contrasts else None
        said = (
            "-"
            if best is None
            else f"{best.name}: {percent(best.good_share_as_far)} good, {percent(best.bad_share_as_far)} bad"
        )
        lines.append([segment.name, said, f"{segment.cases:,}", percent(segment.success)])
    console.print(Text(f"\nBy {printable(found.attribute)}:"))
    head = ["segment", "what separates most", "cases", "end well"]
    console.print(fitted_table(console, head, lines, names=2, box=box.SIMPLE_HEAD, header_style="dim"))
    for one in found.differing[:DIFFERING]:
        console.print(
            Text(
                f"- {printable(one.activity)} separates by {100 * one.high_separation:+.0f} points in "
                f"{printable(one.high)}, by {100 * one.low_separation:+.0f} in {printable(one.low)}."
            )
        )
    if not found.differing:
        console.print(Text("No step separates differently between segments by more than chance would do."))


def print_comparison(
    found: Comparison, names: tuple[str, str], *, top: int = 20, console: Console | None = None
) -> None:
    """Print two logs side by side: the outcome, every activity's shares, and what changed in words."""
    console = Console() if console is None else console
    first, second = map(printable, names)
    console.print(Text(f"Before: {first}, {found.before_cases:,} cases. After: {second}, {found.after_cases:,} cases."))
    shown = [a for a in found.activities if a.defines_outcome is None]
    lines = [
        [a.name, _pair(a.share), _points(a.share), _pair(a.good_share), _pair(a.bad_share), _pair(a.success_after)]
        for a in shown[:top]
    ]
    head = ["activity", "cases with it", "change (95 % interval)", "good cases", "bad cases", "success after"]
    console.print(fitted_table(console, head, lines, box=box.SIMPLE_HEAD, header_style="dim"))
    if len(shown) > top:
        console.print(Text(f"and {len(shown) - top:,} more; --top {len(shown)} shows all"))
    if len(shown) > 1:
        said = (
            f"* more than chance would do in any of the {len(shown):,} activities; an interval is for one of them alone"
        )
        console.print(Text(said))
    for sentence in found.sentences():
        console.print(Text(f"- {sentence[0].upper()}{sentence[1:]}."))


def _pair(change: Change) -> str:
    return f"{share_cell(change.before)} to {share_cell(change.after)}"


def _points(change: Change) -> str:
    """Difference in points, with its interval; a star where it is more than noise."""
    if change.difference is None or change.low is None or change.high is None:
        return "-"
    star = "*" if change.real else ""
    return f"{100 * change.difference:+.1f}{star} ({100 * change.low:+.1f} to {100 * change.high:+.1f})"
