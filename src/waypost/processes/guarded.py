"""The other side of `waypost.processes.Child`: a guard, and the work it guards. Run as a program, by its path.

It knows the standard library only, so that it starts at once. Standard input brings jobs, pickled by our own parent;
its end means that the parent is gone. Answers go out as JSON: a child that a hostile file has taken over can say words,
and nothing else.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import json
import os
import pickle
import select
import shutil
import signal
import struct
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

HEADER = struct.Struct("!Q")


def guard(worker: int, alive: int, folder: str | None) -> int:
    """Wait until the work is done or the parent is gone, kill the work, remove its folder; give its exit code."""
    try:
        either = select.poll()
        for end in (0, alive):
            either.register(end, 0)  # only the hang-up, which is always told: jobs are read by the worker
        either.poll()
    finally:
        os.kill(worker, signal.SIGKILL)  # not waited for yet, so the number is still its own
        code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
    return code if code >= 0 else 128 - code


def work(make: str, name: str, outgoing: IO[bytes]) -> None:
    """Do jobs until none comes."""
    incoming = os.fdopen(os.dup(0), "rb")
    first = _job(incoming)
    sys.path[:] = first["path"]
    limit_memory(first["memory"])
    function: Callable[..., Any] = getattr(_module(make), name)
    given = pickle.loads(first["given"])  # noqa: S301 - our own parent wrote it
    if given is not None:
        function = function(given)
    say(outgoing, ready=True)
    while (job := _job(incoming)) is not None:
        before = limit_memory(job["grow"], beyond=True)
        _alarm(job["seconds"])
        try:
            answers = function(job["job"])
            for answer in answers if inspect.isgenerator(answers) else [answers]:
                say(outgoing, answer=answer)
            said: dict[str, Any] = {"done": True}
        except MemoryError as error:
            said = {"memory": str(error) or "no memory left"}
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent is told
            starved = "bad_alloc" in str(error) or "out of memory" in str(error).lower()
            said = {"memory" if starved else "raised": str(error), "kind": type(error).__name__}
        _alarm(None)
        if before is not None:
            limit_memory(before)
        say(outgoing, **said)


def limit_memory(size: int | None, *, beyond: bool = False) -> int | None:
    """Bound the address space of this process, or its growth from here; never beyond what the system allows anyway.

    Gives the limit there was, where one was set.
    """
    if size is None:
        return None
    try:
        import resource

        now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        if beyond:
            return None
        now = 0
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = now + size if beyond else size
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_lesser(wanted, hard, resource.RLIM_INFINITY), hard))
    return soft


def _lesser(wanted: int, hard: int, infinity: int) -> int:
    if wanted == infinity:
        return hard
    return wanted if hard == infinity else min(wanted, hard)


def _alarm(seconds: float | None) -> None:
    """Let the system end this process when its time is up, also inside a library that listens to nobody."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)


def _module(make: str) -> Any:
    if not make.endswith(".py"):
        return importlib.import_module(make)
    spec = importlib.util.spec_from_file_location(Path(make).stem, make)
    if spec is None or spec.loader is None:
        raise ImportError(make)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _job(incoming: IO[bytes]) -> Any:
    header = incoming.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    return pickle.loads(incoming.read(HEADER.unpack(header)[0]))  # noqa: S301 - our own parent wrote it


def say(outgoing: IO[bytes], **answer: Any) -> None:
    """Send one message to the parent."""
    message = json.dumps(answer).encode()
    outgoing.write(HEADER.pack(len(message)) + message)
    outgoing.flush()


def main(arguments: Iterable[str]) -> None:
    """Fork the work off and stay behind as its guard."""
    make, name, wants_folder = arguments
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves no gigabytes behind
    folder = tempfile.mkdtemp(prefix="waypost-") if wants_folder == "folder" else None
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # chatter of libraries cannot break the conversation
    if folder is not None:
        say(outgoing, folder=folder)
    alive, held = os.pipe()  # the worker holds the other end until it is no more
    worker = os.fork()
    if worker:
        outgoing.close()
        os.close(held)
        os._exit(guard(worker, alive, folder))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if folder is not None:
        os.chdir(folder)
    work(make, name, outgoing)


if __name__ == "__main__":
    main(sys.argv[1:])
