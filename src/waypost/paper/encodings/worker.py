"""The child process in which a solver runs: ``python -m waypost.paper.encodings.worker NAME``.

Programs come in on standard input and solutions go out on standard output, each pickled behind its length. The solvers'
own chatter is sent to standard error, so that it cannot break the conversation.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from waypost.errors import WaypostError
from waypost.paper.encodings.program import Program
from waypost.paper.encodings.solution import Limits, Solution
from waypost.paper.encodings.solving import HEADER, READY

Backend = Callable[[Program, Limits], Solution]
MODULES = {"highs": "highspy", "scip": "pyscipopt", "gurobi": "gurobipy"}
SLACK = 1e-7  # how much of an objective may be lost to a less important one


def in_order(backend: Backend, program: Program, limits: Limits) -> Solution:
    """Solve for one objective after the other, each held at its optimum while the next is optimised."""
    if not len(program.lower):  # nothing to decide; some solvers call that an error
        return Solution("optimal", program.lower, 0.0, message="empty")
    spent = 0.0
    reached: float | None = None
    current = program
    for stage in range(len(program.objectives)):
        current = replace(current, objectives=program.objectives).for_stage(stage, reached, SLACK)
        if spent >= limits.seconds:
            return Solution("timeout", seconds=spent, message="before the last objective")
        solution = backend(current, replace(limits, seconds=limits.seconds - spent))
        spent += solution.seconds
        if solution.status != "optimal":
            break
        reached = solution.objective
    return replace(solution, seconds=spent)


def main() -> None:
    """Answer until standard input ends."""
    name = sys.argv[1]
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    backend: Backend = importlib.import_module(f"waypost.paper.encodings.{name}").solve
    with contextlib.suppress(ImportError):  # the backend says what to install
        importlib.import_module(MODULES[name])  # so that its own size does not count as the solve's
    outgoing.write(READY)
    outgoing.flush()
    while header := incoming.read(HEADER.size):
        program, limits = pickle.loads(incoming.read(HEADER.unpack(header)[0]))  # noqa: S301 - our parent wrote it
        _limit_memory(limits.megabytes)
        try:
            answer: object = in_order(backend, program, limits)
        except MemoryError as error:
            answer = Solution("memory", message=str(error) or "no memory left")
        except WaypostError as error:
            answer = error
        except Exception as error:  # noqa: BLE001 - whatever a solver throws is its trouble, told to the parent
            starved = "memory" in str(error).lower() or "bad_alloc" in str(error)
            answer = Solution("memory" if starved else "trouble", message=f"{type(error).__name__}: {error}")
        _limit_memory(None)
        message = pickle.dumps(answer)
        outgoing.write(HEADER.pack(len(message)) + message)
        outgoing.flush()


def _limit_memory(megabytes: int | None) -> None:
    """Let this process grow by so much and no further, where the system can say no."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError):  # pragma: no cover - only the solver's own limit is left
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = hard if megabytes is None else pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


if __name__ == "__main__":
    main()
