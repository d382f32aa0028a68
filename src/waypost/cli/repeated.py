"""What is said once is said once: to take the last of several values would drop those before it without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from waypost.errors import WaypostError

INSTEAD = {"--strategy": "waypost compare MODEL --strategy A --strategy B tells how two differ"}


def refuse_repeated(command: click.Command, name: str, arguments: Sequence[str], parent: click.Context) -> None:
    """Refuse arguments of a command that give an option twice which takes one value; a flag drops nothing."""
    with click.Context(command, info_name=name, parent=parent) as context:
        order = command.make_parser(context).parse_args(list(arguments))[2]
        for option, times in Counter(order).items():
            if isinstance(option, click.Option) and _takes_one(option) and times > 1:
                said = max(option.opts, key=len)
                instead = INSTEAD.get(said, "give it once")
                raise click.UsageError(f"{said} takes one value and was given {times} times; {instead}", context)


def _takes_one(option: click.Option) -> bool:
    """Whether giving an option again changes what was said; a flag that cannot be taken back says the same."""
    return not (option.multiple or option.count or (option.is_flag and not option.secondary_opts))


def told_once(known: dict[str, str], name: str, value: str, option: str) -> None:
    """Add what ``NAME=VALUE`` says to what is known; another value for the same name is refused.

    >>> told_once({"N": "3"}, "N", "4", "--const")
    Traceback (most recent call last):
    ...
    waypost.errors.WaypostError: --const gives N two values, 3 and 4; give it one
    """
    if known.setdefault(name, value) != value:
        raise WaypostError(f"{option} gives {name} two values, {known[name]} and {value}; give it one")
