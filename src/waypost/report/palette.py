"""Colours that colour-blind people can tell apart, on light and dark paper: blue for importance, orange to warn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from waypost.errors import ArgumentError, require

Theme = Literal["light", "dark"]


def matplotlib(part: str) -> Any:
    """Part of matplotlib, or an error that says how to get it."""
    return require(f"matplotlib.{part}", "plot", "drawing")


@dataclass(frozen=True)
class Palette:
    """The colours of one theme; `ramp` runs from importance 0 to 1 and changes in lightness throughout."""

    paper: str
    ink: str
    soft: str
    line: str
    ramp: tuple[str, ...]
    on_high: str  # text on the high end of the ramp
    warn: str
    good: str

    def colours(self) -> Any:
        """Return the ramp as a matplotlib colour map."""
        colors = matplotlib("colors")
        return colors.LinearSegmentedColormap.from_list("waypost", self.ramp)


_THEMES = {
    "light": Palette(
        "#ffffff", "#1d2329", "#5d6670", "#c3c9cf", ("#edf1f5", "#88aed2", "#0a4a8f"), "#ffffff", "#b4530a", "#0f6e66"
    ),
    "dark": Palette(
        "#1b2026", "#e6e9ec", "#a3acb5", "#505a65", ("#262e38", "#4f7ea6", "#86c8ff"), "#0b1a2a", "#f3a55a", "#62cfc3"
    ),
}


def palette(theme: Theme) -> Palette:
    """Palette of a theme.

    >>> palette("dark").paper
    '#1b2026'
    """
    if theme not in _THEMES:
        raise ArgumentError(f"a theme is 'light' or 'dark', not {theme!r}")
    return _THEMES[theme]
