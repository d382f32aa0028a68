"""The one way in which Waypost runs a child process: it can be limited, it can be stopped, and it dies with us.

::

    Waypost ──jobs (pickle)──> guard ──fork──> worker
            <──────────answers (JSON)──────────┘

Storm and the solvers may take all memory, run for ever, or crash, and listen to no signal. So the limits are set inside
the worker, by the system: an address space, and an alarm whose default is to end the process. The guard does nothing
but wait, for the worker or for the end of its standard input, which comes when Waypost closes it, or dies of whatever
cause; then it kills the worker and removes its folder. No signal of ours is needed for that, so that ``kill -9`` leaves
nothing behind.

``multiprocessing``, ``concurrent.futures``, joblib and pebble keep the time limit in the parent, know no memory limit
and no folder, import the main program again in the child, and read pickles from it; ``prctl(PR_SET_PDEATHSIG)`` is for
Linux only, ends the child with the *thread* that started it, and gives it no chance to clean up.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import selectors
import struct
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self

from waypost.processes import guarded

STARTING = 120.0  # seconds a child may take to import what it needs, on a busy machine
GRACE = 1.0  # seconds after its time limit at which a child is ended from outside
HEADER = guarded.HEADER
Trouble = Literal["time", "memory", "raised", "broken"]


_ASIDE: ContextVar[Callable[[], None] | None] = ContextVar("_ASIDE", default=None)


@contextlib.contextmanager
def aside(start: Callable[[], None]) -> Iterator[None]:
    """Within, `start` is called whenever a child has been handed a job: what it starts is done while we wait."""
    before = _ASIDE.set(start)
    try:
        yield
    finally:
        _ASIDE.reset(before)


class ChildError(Exception):
    """A child did not answer: out of time, out of memory, an exception of its own, or broken down."""

    def __init__(self, trouble: Trouble, said: str, kind: str = "") -> None:
        super().__init__(said)
        self.trouble = trouble
        self.said = said
        self.kind = kind  # name of the exception it raised


class Closing(ABC):
    """Something to be closed, by itself at the end of a ``with`` statement."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Let go of what it holds."""


class Child(Closing):
    """A function in a process of its own; use it in a ``with`` statement.

    Parameters
    ----------
    module, function
        What the child calls with each job: by the name of its module, or the path of a file that needs no package.
        Jobs may be anything that can be pickled, answers what JSON can say. A generator answers several times.
    given
        Something to start with: then `function` is called with it once, and what it returns is called with each job.
    memory
        Bytes of address space the child may have.
    folder
        Whether the child works in a folder of its own, `folder`, which is gone when it is closed.
    wait
        Whether to wait until the child is ready; else somebody has to, with `await_ready`, before it is asked.

    >>> with Child("math", "factorial") as child:
    ...     child.ask(5)
    120
    """

    def __init__(
        self,
        module: str,
        function: str,
        given: Any = None,
        *,
        memory: int | None = None,
        folder: bool = False,
        wait: bool = True,
    ) -> None:
        if not hasattr(os, "fork"):
            raise ChildError("broken", "a child with limits of its own needs fork, which this system has not")
        self.folder: Path | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - standard error, as long as the child lives
        self._reading = threading.Lock()
        self._has_folder = folder
        command = [sys.executable, "-I", guarded.__file__, module, function, "folder" if folder else "-"]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for us; we end the child
            )
        except BaseException:
            self._said.close()
            raise
        try:
            path = [entry or str(Path.cwd()) for entry in sys.path]
            self._send({"path": path, "memory": memory, "given": pickle.dumps(given)})  # opened once the path is set
        except BaseException:
            self.close()
            raise
        if wait:
            self.await_ready()

    def await_ready(self) -> None:
        """Wait until the child has its folder and what it needs, once; a `ChildError` says why that cannot be."""
        try:
            if self._has_folder:
                self.folder = Path(self._next(STARTING)["folder"])
            self._next(STARTING)
        except BaseException:
            self.close()
            raise

    @property
    def closed(self) -> bool:
        """Whether the child is gone."""
        return self._process.poll() is not None

    def close(self) -> None:
        """End the child, whatever it does, and remove its folder."""
        process = self._process
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()  # the guard is waiting for this
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:  # pragma: no cover - a guard only waits
            process.kill()
            process.wait()
        reading = self._reading.acquire(timeout=10)  # closed under its hands, a selector would wait for ever
        if process.stdout is not None:
            process.stdout.close()
        if reading:
            self._reading.release()
        self._said.close()

    def ask(self, job: Any, *, seconds: float | None = None, grow: int | None = None) -> Any:
        """Answer to a job within `seconds`, or a `ChildError`; the child's memory may `grow` by so many bytes."""
        self.send(job, seconds=seconds, grow=grow)
        if (work := _ASIDE.get()) is not None:
            work()
        limit = None if seconds is None else seconds + GRACE
        answer = self.receive(limit)
        self._next(limit)  # the word that it is done
        return answer

    def send(self, job: Any, *, seconds: float | None = None, grow: int | None = None) -> None:
        """Hand over a job, to `receive` its answers one by one."""
        self._send({"job": job, "seconds": seconds, "grow": grow})

    def receive(self, seconds: float | None = None) -> Any:
        """Receive the next answer, if it comes within `seconds`."""
        return self._next(seconds).get("answer")

    def _send(self, message: Any) -> None:
        content = pickle.dumps(message)
        pipe = self._process.stdin
        try:
            if pipe is not None:
                for part in (HEADER.pack(len(content)), content):
                    _write_all(pipe, part)
        except (BrokenPipeError, ValueError):
            self._broken()

    def _next(self, seconds: float | None) -> dict[str, Any]:
        pipe = self._process.stdout
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            with self._reading:
                if pipe is None or pipe.closed:
                    raise EOFError  # noqa: TRY301 - the same as a child that is gone
                size = HEADER.unpack(_exactly(pipe, HEADER.size, deadline))[0]
                message: dict[str, Any] = json.loads(_exactly(pipe, size, deadline))
        except TimeoutError:
            self.close()
            raise ChildError("time", "stopped from outside") from None
        except (EOFError, ValueError, struct.error):
            self._broken()
        if "memory" in message:
            raise ChildError("memory", message["memory"], message.get("kind", "MemoryError"))
        if "raised" in message:
            raise ChildError("raised", message["raised"], message["kind"])
        return message

    def _broken(self) -> Any:
        """Say why the child ended: its time, memory it could not have, or a crash."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        code = self._process.poll()
        said = ""
        with contextlib.suppress(ValueError):  # closed already
            self._said.seek(0)
            said = self._said.read().decode(errors="replace").strip()
        self.close()
        last = (said.splitlines() or [f"exit code {code}"])[-1]
        if code == 128 + 14:
            raise ChildError("time", "its time was up")
        starved = any(word in said for word in ("bad_alloc", "MemoryError", "ut of memory", "No memory"))
        raise ChildError("memory" if starved or code == 128 + 9 else "broken", last)


def run(module: str, function: str, job: Any, *, seconds: float | None = None, memory: int | None = None) -> Any:
    """Answer of a child that is asked once.

    >>> run("math", "factorial", 5)
    120
    """
    with Child(module, function, memory=memory) as child:
        return child.ask(job, seconds=seconds)


def spread(module: str, function: str, given: Any, jobs: Sequence[Any], workers: int) -> Iterator[Any]:
    """Answers to jobs, in their order, by several children that each start with `given`."""
    idle: queue.SimpleQueue[Child] = queue.SimpleQueue()
    children: list[Child] = []

    def answer(job: Any) -> Any:
        child = idle.get()
        try:
            return child.ask(job)
        finally:
            idle.put(child)

    pool = ThreadPoolExecutor(workers)
    try:
        for _ in range(workers):
            children.append(Child(module, function, given))
            idle.put(children[-1])
        yield from pool.map(answer, jobs)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in children:
            child.close()  # whoever waits for it is told so
        pool.shutdown()


def spare_memory(share: float = 0.75) -> int | None:
    """Bytes of address space for a child: a share of the memory that is free now, here and in our container.

    A gigabyte comes on top, for what an interpreter and its libraries reserve and never touch.
    """
    free: list[float] = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        free.append(1024 * int(text.partition("MemAvailable:")[2].split()[0]))
    with contextlib.suppress(OSError, ValueError):
        allowed = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        free.append(allowed - int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii")))
    if not free:
        with contextlib.suppress(ValueError, OSError, AttributeError):
            free.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return int(share * max(min(free), 0)) + 2**30 if free else None


def _write_all(pipe: IO[bytes], content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[pipe.write(rest) :]


def _exactly(pipe: IO[bytes], count: int, deadline: float | None) -> bytes:
    received = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while len(received) < count:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not selector.select(left):
                raise TimeoutError
            part = pipe.read(count - len(received))  # unbuffered: what there is
            if not part:
                raise EOFError
            received += part
    return bytes(received)
