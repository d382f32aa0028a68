"""Every command and example of docs/patterns.md runs, and every template is on the page."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from test_readme import check_command, console_blocks
from waypost.patterns.declare import TEMPLATES

PAGE = Path(__file__).parents[2] / "docs" / "patterns.md"


def test_the_examples_run():
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 20
    assert result.failed == 0


@pytest.mark.parametrize(("command", "output"), console_blocks(PAGE), ids=lambda text: text[:60])
def test_a_command_prints_what_the_page_says(command, output, tmp_path):
    check_command(command, output, tmp_path)


def test_every_template_is_explained():
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in TEMPLATES if f"`{name}(" not in text] == []
