"""Where work that repeats itself is done: here by default, on a Dask cluster where one is named; nothing is done twice.

Sweeps over states, resamples and measurements all go through `spread_out`. What they share, the model, travels once to
each worker; a job is a handful of states or one resample, its answer what JSON can say, so that floats come back bit by
bit. With a file to resume from, every answer is in it as soon as it is known.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pickle
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from waypost.errors import PlaceError, require
from waypost.processes import spread

TRIES = 10  # workers that may die over the same jobs before the cluster is given up
PATIENCE = 15.0  # seconds to wait for a scheduler
KNOCKS = 3  # seconds to knock at the door of one that refuses
BEGIN = b'{"work": '  # of every line of a file to resume from
Told = Callable[[int], None]  # told how many jobs are done


@dataclass(frozen=True)
class Place:
    """Where work is done: in so many processes here, or by a cluster; and the file that keeps answers."""

    workers: int | None = None
    cluster: str | None = None
    resume: Path | None = None

    @property
    def here(self) -> bool:
        """Whether nothing is asked for but this machine."""
        return self.cluster is None and self.resume is None


_PLACE: ContextVar[Place | None] = ContextVar("place", default=None)


def place() -> Place:
    """Where work is done now."""
    return _PLACE.get() or Place()


@contextmanager
def working(
    *, workers: int | None = None, cluster: str | None = None, resume: str | os.PathLike[str] | None = None
) -> Iterator[Place]:
    """Say where everything inside a ``with`` statement is computed; the answers are the same wherever that is.

    Parameters
    ----------
    workers
        Processes on this machine; one per processor by default.
    cluster
        Address of a Dask scheduler, ``tcp://host:8786`` or ``tls://host:8786``; its workers need Waypost installed.
    resume
        File that keeps every answer as soon as it is known; what is in it already is not computed again.

    Examples
    --------
    >>> with working(workers=2):
    ...     place().workers
    2
    """
    now = Place(workers, cluster, None if resume is None else Path(resume))
    token = _PLACE.set(now)
    try:
        yield now
    finally:
        _PLACE.reset(token)


def spread_out(module: str, function: str, given: Any, jobs: Sequence[Any], *, told: Told | None = None) -> list[Any]:
    """Answers to jobs, in their order: ``function(given)`` is made once where it is needed and called with each job."""
    where, tell = place(), told or (lambda _done: None)
    if where.here:
        return list(_counted(_locally(module, function, given, jobs, where.workers), tell))
    kept = _Kept(where.resume, fingerprint(module, function, given, list(jobs)))
    answers = kept.answers
    tell(len(answers))
    todo = [number for number in range(len(jobs)) if number not in answers]
    open_jobs = [jobs[number] for number in todo]
    if where.cluster is not None:
        found = _on_cluster(where.cluster, module, function, given, dict(zip(todo, open_jobs, strict=True)), kept)
    else:
        found = zip(todo, _locally(module, function, given, open_jobs, where.workers), strict=True)
    with kept:
        for number, answer in found:
            answers[number] = answer
            kept.keep(number, answer)
            tell(len(answers))
    return [answers[number] for number in range(len(jobs))]


def _counted(answers: Iterator[Any], tell: Told) -> Iterator[Any]:
    for number, answer in enumerate(answers, 1):
        tell(number)
        yield answer


def _locally(module: str, function: str, given: Any, jobs: Sequence[Any], workers: int | None) -> Iterator[Any]:
    wanted = min(len(jobs), workers if workers is not None else os.cpu_count() or 1)
    if wanted <= 1:
        work = getattr(importlib.import_module(module), function)(given) if jobs else None
        return (work(job) for job in jobs) if work is not None else iter(())
    return spread(module, function, given, jobs, wanted)


def _on_cluster(
    address: str, module: str, function: str, given: Any, jobs: Mapping[int, Any], kept: _Kept
) -> Iterator[tuple[int, Any]]:
    """Answers as they come, by the number of their job; a worker that dies costs what it was doing."""
    distributed = require("distributed", "cluster", "computing on a cluster")
    _knock(address)
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise PlaceError(f"no Dask scheduler answers at {address} ({error})") from None
    waiting, content = dict(jobs), pickle.dumps(given)
    name = hashlib.sha256(content).hexdigest()
    try:
        for _ in range(TRIES):
            client.wait_for_workers(1, timeout=PATIENCE)
            shared = client.scatter(content, broadcast=True, hash=False)
            futures = {
                client.submit(_answer, name, module, function, shared, job, pure=False, retries=TRIES): number
                for number, job in waiting.items()
            }
            for future in distributed.as_completed(list(futures), loop=client.loop):
                if future.status == "cancelled":
                    continue  # what was shared was lost with a worker: asked again below
                number = futures[future]
                answer = json.loads(future.result())
                del waiting[number]
                yield number, answer
            if not waiting or client.status != "running":
                break
        if waiting:
            raise PlaceError(_gone(address, len(waiting), kept))
    except (OSError, CancelledError, TimeoutError) as error:
        raise PlaceError(_gone(address, len(waiting), kept)) from error
    finally:
        client.close(timeout=2)


def _knock(address: str) -> None:
    """Refuse an address at which nobody listens; Dask would go on trying."""
    scheme, _, rest = address.partition("://")
    host, _, port = rest.rpartition(":")
    if "@" in address or scheme not in ("tcp", "tls") or not host or not port.isdecimal():
        raise PlaceError("the address of a scheduler is tcp://HOST:PORT or tls://HOST:PORT, without user or password")
    for left in range(KNOCKS, -1, -1):
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
        except (OSError, OverflowError) as error:
            if not left or not isinstance(error, ConnectionRefusedError):
                why = getattr(error, "strerror", None) or error
                raise PlaceError(f"no Dask scheduler answers at {address} ({why})") from None
            time.sleep(1)  # it may be about to start
        else:
            return


def _gone(address: str, left: int, kept: _Kept) -> str:
    known = f"; {len(kept.answers):,} answers are in {kept.path}, go on with --resume {kept.path}" if kept.path else ""
    return f"the cluster at {address} is gone with {left:,} jobs to do{known}"


_MADE: dict[str, Callable[[Any], Any]] = {}  # of a worker: what was made of what it was given


def _answer(name: str, module: str, function: str, content: bytes, job: Any) -> str:
    """Answer of a worker to a job."""
    if name not in _MADE:
        _MADE.clear()
        _MADE[name] = getattr(importlib.import_module(module), function)(pickle.loads(content))  # noqa: S301 - our own
    return json.dumps(_MADE[name](job))


class _Kept:
    """Answers in a file, a line each; the lines of other work stay where they are."""

    def __init__(self, path: Path | None, name: str) -> None:
        self.path, self._name = path, name
        self._stream: IO[str] | None = None
        self.answers: dict[int, Any] = {}
        if path is not None and path.exists():
            for line in self._read(path).splitlines():
                try:
                    entry = json.loads(line)
                    if entry["work"] == name:
                        self.answers[int(entry["job"])] = entry["answer"]
                except (ValueError, KeyError, TypeError):
                    continue  # the line at which somebody pulled the plug

    @staticmethod
    def _read(path: Path) -> bytes:
        """Content of a file of answers; one that is anything else is not written into."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise PlaceError(f"cannot resume from {str(path)!r}: {error.strerror}") from None
        if not (content.startswith(BEGIN) or BEGIN.startswith(content)):
            raise PlaceError(f"{str(path)!r} holds something else than answers; give --resume (resume=) another file")
        return content

    def __enter__(self) -> None:
        if self.path is None:
            return
        try:
            torn = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
            self._stream = self.path.open("a", encoding="utf-8")
        except OSError as error:
            raise PlaceError(f"cannot write answers into {str(self.path)!r}: {error.strerror}") from None
        if torn and self.path.stat().st_size:
            self._stream.write("\n")

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def keep(self, number: int, answer: Any) -> None:
        """Write an answer down."""
        if self._stream is not None:
            self._stream.write(json.dumps({"work": self._name, "job": number, "answer": answer}) + "\n")
            self._stream.flush()
            os.fsync(self._stream.fileno())


def fingerprint(*parts: Any) -> str:
    """Text that two pieces of work share if they are the same.

    >>> fingerprint(1, ["a"]) == fingerprint(1, ["a"]), fingerprint(1, ["a"]) == fingerprint(1, ["b"])
    (True, False)
    """
    digest = hashlib.sha256()
    for part in parts:
        _fed(digest, part)
    return digest.hexdigest()[:32]


def _fed(digest: Any, part: Any) -> None:
    if isinstance(part, np.ndarray) and part.dtype != object:
        digest.update(f"{part.dtype}{part.shape}".encode() + np.ascontiguousarray(part).tobytes())
    elif isinstance(part, np.ndarray) or (isinstance(part, Sequence) and not isinstance(part, str | bytes)):
        digest.update(f"[{len(part)}".encode())
        for each in part:
            _fed(digest, each)
    elif isinstance(part, set | frozenset):
        _fed(digest, sorted(part, key=repr))
    elif isinstance(part, Mapping):
        _fed(digest, [pair for item in part.items() for pair in item])
    elif hasattr(part, "indptr"):
        _fed(digest, [part.shape, part.indptr, part.indices, part.data])
    elif hasattr(part, "func"):  # a partial: a function and what it was given
        _fed(digest, [part.func.__qualname__, part.args, part.keywords])
    elif is_dataclass(part):
        _fed(digest, [type(part).__name__, *(getattr(part, f.name) for f in fields(part) if f.compare)])
    else:
        digest.update(f"{type(part).__name__}{part!r};".encode())
