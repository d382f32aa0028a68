"""``waypost log``: what is in a log, before anything is learned from it."""

from __future__ import annotations

import json
from typing import Any

import click

from waypost.cli.prepared import cleaned_log
from waypost.cli.terminal import give
from waypost.logs.stored.engines import shown


@click.command("log")
@click.argument("file")
@click.option("--recipe", metavar="TOML", help="Clean the log first: a file, or the name of a case study.")
@click.option("--column", "columns", multiple=True, metavar="ROLE=NAME", help="Column of a CSV: case=ID, ...")
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="How many activities to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(file: str, *, as_json: bool, top: int, **options: Any) -> None:
    """Say what is in a log: cases, activities, variants, attributes, and what could be an outcome.

    The first command to run on a log of your own.

    Example: waypost log loan-log:300
    """
    from waypost.logs import describe_log
    from waypost.report.description import print_description

    given = {name: value for name, value in options.items() if value}
    found = describe_log(cleaned_log(file, given))
    if as_json:
        give(json.dumps({"format": 1, **found.as_dict()}, ensure_ascii=False, indent=1) + "\n")
    else:
        print_description(found, shown(file), top=top)
