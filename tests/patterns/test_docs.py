"""Every example of docs/patterns.md runs, and every template is on the page."""

from __future__ import annotations

import doctest
from pathlib import Path

from waypost.patterns.declare import TEMPLATES

PAGE = Path(__file__).parents[2] / "docs" / "patterns.md"


def test_the_examples_run():
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 20
    assert result.failed == 0


def test_every_template_is_explained():
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in TEMPLATES if f"`{name}(" not in text] == []
