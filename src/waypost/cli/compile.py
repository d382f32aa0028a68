"""``waypost compile``: machine code, made before it is needed."""

from __future__ import annotations

import click

from waypost.cli.progress import status
from waypost.cli.terminal import say
from waypost.errors import WaypostError


@click.command("compile")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def command(*, quiet: bool) -> None:
    """Make all machine code now, so that no command has to wait for it: a minute or more, once per installation.

    Commands compile what they need when the work ahead is worth it, and do without where it is not. This is for
    containers, clusters, and those who ask the same kind of question again and again.

    Example: waypost compile
    """
    from waypost.cli import rehearsal
    from waypost.graph.compiled import kernels

    ours = [kernel for kernel in kernels() if kernel.plain.__module__.startswith("waypost.")]
    before = {kernel.name for kernel in ours if kernel.is_on_disk()}
    with status("making machine code for this computer", quiet=quiet) as tell:
        rehearsal.rehearse(tell)
    ready = [kernel for kernel in ours if kernel.was_compiled]
    missing = [kernel.name for kernel in ready if not kernel.is_on_disk()]
    if missing:
        raise WaypostError(
            f"no place to keep machine code of {missing[0]}{' and others' if missing[1:] else ''}: "
            "the folder is full or read-only; name another one in NUMBA_CACHE_DIR"
        )
    new = sum(kernel.name not in before for kernel in ready)
    say(f"machine code of {len(ready)} kernels is on the disk, {new} of them new")
