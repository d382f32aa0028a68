"""The command line: the only room that prints or exits.

Each command is a module of its own, imported when it is called, so that ``waypost --help`` answers at once.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import importlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import click

from waypost.cli.ahead import import_arrays, storm_ahead
from waypost.cli.progress import InterruptedWorkError
from waypost.cli.repeated import refuse_repeated
from waypost.cli.stopping import ending, stopping
from waypost.cli.terminal import say
from waypost.errors import WaypostError

COMMANDS = {  # name: (module, what `waypost --help` says)
    "explain": ("waypost.cli.explain", "Explain what matters for reaching a target, in a model or a log."),
    "log": ("waypost.cli.log", "Describe an event log; start here with a log of your own."),
    "compare": ("waypost.cli.compare", "Compare two logs, two periods, or two segments of cases."),
    "path": ("waypost.cli.path", "Tell how important a path is for reaching a target."),
    "pattern": ("waypost.cli.pattern", "Tell how important a pattern of steps is for reaching a target."),
    "patterns": (
        "waypost.cli.patterns",
        "Find what good cases have that bad ones lack: steps, orders of steps, what is missing.",
    ),
    "paths": ("waypost.cli.paths", "List the most common ways to a target."),
    "decisions": ("waypost.cli.decisions", "Show what each decision is worth, and what a wrong one costs."),
    "agent": ("waypost.cli.agent", "Compare an agent with the best: where it loses the goal, and what that costs."),
    "check": ("waypost.cli.check", "Describe a model: its size, labels, properties and problems."),
    "convert": ("waypost.cli.convert", "Write a model in another format, or as a strategy leaves it."),
    "verify": ("waypost.cli.verify", "Have Storm check what a strategy attains."),
    "learn": ("waypost.cli.learn", "Learn a model from an event log."),
    "case": ("waypost.cli.case", "Build a case study, or list them."),
    "compile": ("waypost.cli.compile", "Make all machine code now, so that no command has to wait for it."),
    "bench": ("waypost.cli.bench", "Measure Waypost and Storm on this machine."),
    "encode": ("waypost.cli.encode", "Compute a bound with one of the paper's encodings, or export it for a solver."),
    "reproduce": ("waypost.cli.reproduce", "Reproduce the paper's tables and figure, beside exact values."),
}


SELDOM = 50_000  # objects more than before: then garbage is looked for
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)  # what writing to an open file may meet


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of the commands, in the order people need them."""
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; Storm starts before it is imported, where the arguments look as if it were needed."""
        ctx.with_resource(storm_ahead(args[1:]))
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None:
            refuse_repeated(command, name, rest, ctx)
        return name, command, rest

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        import_arrays()
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
    """Run the command line; a mistake of the user's is one sentence and exit code 2, anything else is our bug.

    Interrupted work ends with 130, also where it could not be asked to stop, and work over its time limit with 2; a
    reader of our pipe that has seen enough is no mistake at all.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us: then nobody listens
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    atexit.register(gc.freeze)  # what goes with the process need not be looked through again and again at its end
    with stopping() as interrupted, _seldom_collecting():
        try:
            code = _run(arguments)
            for stream in (sys.stdout, sys.stderr):
                if not stream.closed:
                    stream.flush()
        except BrokenPipeError:
            _drop_output()
            code = 0
        except OSError as error:
            if error.filename is not None or error.errno not in NO_ROOM:
                raise
            _drop_output()
            _complain(f"cannot write to standard output: {error.strerror or error}")
            code = 2
        if interrupted.is_set():  # at once: to take a large model apart may need seconds
            os._exit(ending()[1])
    sys.exit(code)


@contextlib.contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Look for garbage less often than Python does: modules leave none, and to import them took a tenth longer."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _run(arguments: list[str] | None) -> int:
    try:
        result = cli.main(args=arguments, prog_name="waypost", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        _complain(error.format_message(), *([] if context is None else [f"see {context.command_path} --help"]))
        return 2
    except (click.Abort, KeyboardInterrupt, InterruptedWorkError) as stop:
        why, code = ending()
        _complain(f"{why}{f': {stop}' if str(stop) else ''}")
        return code
    except WaypostError as error:
        _complain(str(error))
        return 2
    except MemoryError:
        _complain("there is not enough memory for this; try a smaller model, or fewer states (--state)")
        return 2
    except RecursionError:
        _complain("something in these files is nested too deeply to be read")
        return 2
    return result if isinstance(result, int) else 0


def _complain(sentence: str, *hints: str) -> None:
    """Say what is wrong in one line, if there is anybody to hear it."""
    with contextlib.suppress(OSError, ValueError):
        for line in (f"waypost: {sentence}", *hints):
            say(line.replace("\n", r"\n"), err=True)


def _drop_output() -> None:
    """Send what is still to be written nowhere, so that the end of Python does not stumble over it."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
