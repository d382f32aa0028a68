"""``waypost case``: the case studies."""

from __future__ import annotations

from typing import Any

import click

from waypost.cases import CASES, find_case, recipe_text
from waypost.cli.learn import sizes
from waypost.cli.source import Loaded, load, tell
from waypost.cli.terminal import give, say
from waypost.errors import LogError
from waypost.formats import write_mdp
from waypost.logs import EventLog


@click.command("case")
@click.argument("name", required=False)
@click.option("--data", metavar="FILE", help="Your own copy of the data, for the cases that need it.")
@click.option("--output", "-o", metavar="FILE", help="Write the model, in the format of the ending: .drn, .json, ...")
@click.option("--log", "log_file", metavar="CSV", help="Write the clean log that the model is learned from.")
@click.option("--recipe", "show_recipe", is_flag=True, help="Print the recipe, to be copied and changed.")
@click.option("--quiet", "-q", is_flag=True, help="Do not print notes on what was done to the log.")
def command(name: str | None, *, data: str | None, show_recipe: bool, **options: Any) -> None:
    """Build the model of a case study; without NAME, list them.

    A number goes after a colon: epidemic:9 has nine people, loan-log:500 makes 500 applications.

    Example: waypost case epidemic:4 --output epidemic.drn
    """
    if name is None:
        _list()
        return
    find_case(name)  # or an error with the names there are
    if show_recipe:
        give(recipe_text(name.partition(":")[0]))
        return
    found = load(name, data=data)
    tell(found.notes, quiet=options["quiet"])
    if options["log_file"]:
        _write_log(name, found, options["log_file"])
    if options["output"]:
        write_mdp(found.mdp, options["output"])
    where = f": {options['output']}" if options["output"] else ""
    say(f"{name}: {sizes(found.mdp)}, target {found.target!r}{where}")


def _list() -> None:
    width = max(len(name) for name in CASES) + 2
    for name, one in CASES.items():
        shown = f"{name}:N" if one.number else name
        say(f"{shown:{width}}  {one.title}" + ("  (needs --data)" if one.data else ""))


def _write_log(name: str, found: Loaded, path: str) -> None:
    from waypost.logs import write_log

    if found.prepared is None or not isinstance(found.prepared.log, EventLog):
        raise LogError(f"{name} was not learned from a log")
    write_log(found.prepared.log, path)
