"""What pictures are drawn on: a figure that notebooks show by itself, without pyplot and its list of open figures."""

from __future__ import annotations

from functools import cache
from typing import Any

from waypost.report.palette import matplotlib


def empty_figure(**options: Any) -> Any:
    """Matplotlib figure with nothing on it; `options` are matplotlib's.

    >>> empty_figure(figsize=(1, 1))._repr_png_()[1:4]
    b'PNG'
    """
    return _figure_class()(**options)


@cache
def _figure_class() -> Any:
    class Figure(matplotlib("figure").Figure):  # type: ignore[misc]
        def savefig(self, fname: Any, **options: Any) -> None:
            """As matplotlib's, but nothing at the edges is cut off, such as a legend wider than the picture."""
            super().savefig(fname, **{"bbox_inches": "tight", **options})

        def _repr_png_(self) -> bytes:
            from waypost.report.plot import to_bytes

            return to_bytes(self, "png")

    return Figure
