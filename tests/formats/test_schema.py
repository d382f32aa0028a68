"""The JSON schema says what the reader accepts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

import waypost
from waypost.cases import loan
from waypost.formats import SCHEMA, jsonfile

DOCS = Path(__file__).parents[2] / "docs"


def test_the_schema_in_the_docs_is_the_schema():
    assert json.loads((DOCS / "waypost-mdp.schema.json").read_text(encoding="utf-8")) == SCHEMA


def test_what_is_written_fits_the_schema():
    jsonschema.validate(json.loads(jsonfile.dumps(loan())), SCHEMA)


def test_the_example_in_the_docs_fits_and_can_be_read():
    text = re.search(r"```json\n(.*?)```", (DOCS / "formats.md").read_text(encoding="utf-8"), re.DOTALL)
    assert text is not None
    jsonschema.validate(json.loads(text[1]), SCHEMA)
    assert jsonfile.loads(text[1], exact=True).states == ("s0", "granted", "rejected")


@pytest.mark.parametrize(
    "broken",
    [
        {"format": "waypost-mdp", "states": {"a": {}}},
        {"format": "waypost-mdp", "initial": "a", "states": {"a": {"go": 3}}},
        {"format": "waypost-mdp", "initial": "a", "states": {"a": {}}, "extra": 1},
        {"format": "waypost-mdp", "initial": "a", "states": {"a": {"go": {"a": -1}}}},
    ],
)
def test_what_the_schema_refuses_the_reader_refuses(broken):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA)
    with pytest.raises(waypost.WaypostError):
        jsonfile.loads(json.dumps(broken))
