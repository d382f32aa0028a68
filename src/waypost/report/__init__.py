"""Explanations that people read: words, tables, pictures, files and one offline page.

Everything here is made from one frozen `Explanation`; nothing here computes an importance. Modules are imported when
they are used, so that a command that needs only a table does not load what draws.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "as_markdown": "text",
    "as_text": "text",
    "choices_summary": "decisions",
    "counted_summary": "counted",
    "decisions_summary": "decisions",
    "fields_of": "coordinates",
    "needs": "planning",
    "notebook_table": "notebook",
    "path_summary": "text",
    "pattern_summary": "patterns",
    "patterns_summary": "patterns",
    "plot_agent": "agentmap",
    "plot_bars": "plot",
    "plot_graph": "plot",
    "plot_grid": "grid",
    "print_table": "table",
    "render_agent": "agentpage",
    "render_comparison": "comparing",
    "render_html": "html",
    "render_report": "files",
    "rows": "records",
    "summarise": "text",
    "to_bytes": "plot",
    "to_csv": "files",
    "to_excel": "files",
    "to_frame": "records",
    "to_json": "jsonfile",
    "to_markdown": "files",
    "to_parquet": "files",
    "unknown_fields": "coordinates",
    "ways_summary": "ways",
    "write_report": "files",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - a list, made from the one above


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
