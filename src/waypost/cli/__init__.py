"""The command line: the only room that prints or exits.

Each command is a module of its own, imported when it is called, so that ``waypost --help`` answers at once.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from waypost.cli.progress import InterruptedWorkError
from waypost.errors import WaypostError

COMMANDS = {  # name: (module, what `waypost --help` says)
    "explain": ("waypost.cli.explain", "What matters for reaching a target: every state, or a log's activities."),
    "log": ("waypost.cli.log", "What is in an event log: the first thing to look at."),
    "compare": ("waypost.cli.compare", "Two logs, two periods or two segments side by side."),
    "path": ("waypost.cli.path", "Importance of one path for reaching a target."),
    "pattern": ("waypost.cli.pattern", "Importance of a pattern of steps for reaching a target."),
    "patterns": ("waypost.cli.patterns", "The segments of runs that tell most about success."),
    "paths": ("waypost.cli.paths", "The usual ways to a target."),
    "decisions": ("waypost.cli.decisions", "What each decision is worth, and what the wrong one costs."),
    "check": ("waypost.cli.check", "What is in a model: sizes, labels, reachability, problems."),
    "convert": ("waypost.cli.convert", "A model in another format."),
    "learn": ("waypost.cli.learn", "A model from an event log."),
    "case": ("waypost.cli.case", "The case studies: build one, or list them."),
    "bench": ("waypost.cli.bench", "Waypost beside Storm on this machine: times, ratios, growth."),
    "reproduce": ("waypost.cli.reproduce", "The paper's tables and figure, beside the exact values."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of the commands, in the order people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="waypost")
def cli() -> None:
    """Which steps mattered on the way to the goal?

    Waypost computes how important each state of a Markov decision process is for reaching a target: the probability
    of passing it among the runs that reach the target, as exact bounds over all strategies.
    """


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; a mistake of the user's is one sentence and exit code 2, anything else is our bug."""
    try:
        result = cli.main(args=arguments, prog_name="waypost", standalone_mode=False)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        _tell(error.format_message())
        if isinstance(error, click.UsageError) and error.ctx is not None:
            click.echo(f"see {error.ctx.command_path} --help", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt, InterruptedWorkError) as stop:
        click.echo(f"waypost: interrupted{f': {stop}' if str(stop) else ''}", err=True)
        sys.exit(130)
    except WaypostError as error:
        _tell(str(error))
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
        sys.exit(0)
    sys.exit(result if isinstance(result, int) else 0)


def _tell(message: str) -> None:
    """Say in one line what is wrong.

    Names come from other people's files: what would break the line or drive the terminal is spelt out.
    """
    said = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    click.echo(f"waypost: {said}", err=True)
