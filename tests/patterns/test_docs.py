"""Every template is on the page that explains patterns."""

from __future__ import annotations

from pathlib import Path

from waypost.patterns.declare import TEMPLATES

PAGE = Path(__file__).parents[2] / "docs" / "patterns.md"


def test_every_template_is_explained():
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in TEMPLATES if f"`{name}(" not in text] == []
