"""Solving a program within limits that hold: in a child process that can be stopped.

Solvers count their own time and memory, some of it late and some not at all. So each runs in a child of ours, whose
address space is limited by the operating system and which is killed when it does not come back. The child is kept for
the next program, so that a solve costs little more than itself.
"""

from __future__ import annotations

import contextlib
import importlib.util
import pickle
import selectors
import struct
import subprocess
import sys
import tempfile
import time
from types import TracebackType
from typing import IO, Self

from waypost.errors import WaypostError
from waypost.paper.encodings.program import Program
from waypost.paper.encodings.solution import Limits, Solution, SolverName

FREE = 200  # variables of a program with products that Gurobi takes without a licence of one's own
GRACE = 1.0  # seconds a solver may take to notice that its time is up, besides a tenth of the limit
PASSING_ON = 2e-6  # seconds per byte for handing a program to the solver, which is not the solver's time
STARTING = 120.0  # seconds the child may take to import the solver
READY = b"!"
HEADER = struct.Struct("!Q")


class Solver:
    """A solver in a child process; close it, or use it in a ``with`` statement.

    >>> from waypost.paper.encodings.program import Draft
    >>> draft = Draft()
    >>> x = draft.variable(upper=2.5, integer=True)
    >>> draft.objective("max", [(x, 1.0)])
    >>> with Solver("highs") as solver:
    ...     found = solver.solve(draft.program(), Limits(seconds=10))
    >>> found.status, found.objective
    ('optimal', 2.0)
    """

    def __init__(self, name: SolverName) -> None:
        self.name = name
        self._child: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None  # what the child wrote to standard error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout, self._said):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def solve(self, program: Program, limits: Limits) -> Solution:
        """Solve a program, objective by objective, within limits for all of them together."""
        try:
            child = self._running()
        except (EOFError, TimeoutError):
            return self._died(0.0)
        if child.stdin is None or child.stdout is None:  # pragma: no cover - we asked for pipes
            raise WaypostError("the solver's process has no pipes")
        message = pickle.dumps((program, limits))
        started = time.perf_counter()
        try:
            child.stdin.write(HEADER.pack(len(message)) + message)
            child.stdin.flush()
            answer = _read(child.stdout, started + 1.1 * limits.seconds + GRACE + PASSING_ON * len(message))
        except TimeoutError:
            self.close()
            return Solution("timeout", seconds=time.perf_counter() - started, message="stopped from outside")
        except (EOFError, BrokenPipeError):
            return self._died(time.perf_counter() - started)
        if isinstance(answer, WaypostError):
            raise answer
        if not isinstance(answer, Solution):  # pragma: no cover - the child sends nothing else
            raise TypeError(type(answer))
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            command = [sys.executable, "-m", "waypost.paper.encodings.worker", self.name]
            self._said = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said)
            if self._child.stdout is not None:  # what starting takes on a busy machine is not the solver's time
                _exactly(self._child.stdout, len(READY), time.perf_counter() + STARTING)
        return self._child

    def _died(self, seconds: float) -> Solution:
        """Say why the child ended: memory it could not have, or a crash."""
        child = self._child
        if child is not None:
            child.kill()
        code = child.wait() if child else None
        said = ""
        if self._said is not None:
            self._said.seek(0)
            said = self._said.read().decode(errors="replace")
        self.close()
        starved = any(
            word in said for word in ("bad_alloc", "MemoryError", "out of memory", "Out of memory", "No memory")
        )
        last = said.strip().splitlines()[-1:] or [f"exit code {code}"]
        return Solution("memory" if starved else "trouble", seconds=seconds, message=last[0])


class Solvers:
    """The solvers of one experiment, each started when it is first needed; use it in a ``with`` statement."""

    def __init__(self) -> None:
        self._running: dict[SolverName, Solver] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for solver in self._running.values():
            solver.close()
        self._running.clear()

    def __getitem__(self, name: SolverName) -> Solver:
        if name not in self._running:
            self._running[name] = Solver(name)
        return self._running[name]


def solver_for(program: Program) -> SolverName:
    """Choose the solver to take unless told otherwise.

    HiGHS for what is linear; with products Gurobi where it is installed and its free licence suffices, else SCIP.
    """
    if not any(row.products for row in program.quadratic):
        return "scip" if program.indicators else "highs"
    small = len(program.lower) <= FREE and importlib.util.find_spec("gurobipy") is not None
    return "gurobi" if small else "scip"


def _read(pipe: IO[bytes], deadline: float) -> object:
    """Read one message, or raise when the deadline passes or the pipe ends."""
    size = HEADER.unpack(_exactly(pipe, HEADER.size, deadline))[0]
    return pickle.loads(_exactly(pipe, size, deadline))  # noqa: S301 - our own child, which we started, wrote it


def _exactly(pipe: IO[bytes], count: int, deadline: float) -> bytes:
    received = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while len(received) < count:
            if not selector.select(max(0.0, deadline - time.perf_counter())):
                raise TimeoutError
            part = pipe.read1(count - len(received))  # type: ignore[attr-defined]
            if not part:
                raise EOFError
            received += part
    return bytes(received)
