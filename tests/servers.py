"""Real servers of our own, on loopback, as long as a test wants them: PostgreSQL, and a Dask cluster."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

SECRET = "not-for-anybody"  # noqa: S105  of a server that lives as long as a test


def programs() -> Path | None:
    """Where Debian keeps PostgreSQL's server."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@contextmanager
def postgresql() -> Iterator[str]:
    """Address of a PostgreSQL server of our own, on loopback, gone afterwards."""
    binaries = programs()
    if binaries is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="waypost-postgres-"))
    who = {"user": "nobody"} if os.getuid() == 0 else {}  # PostgreSQL refuses to be root
    if who:
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "password").write_text(SECRET)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **who}
    where = ["-D", str(folder / "data")]
    login = ["-U", "me", "--pwfile", str(folder / "password"), "--auth=scram-sha-256", "--no-sync", "-E", "UTF8"]
    subprocess.run([binaries / "initdb", *where, *login], check=True, **quiet)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    server = [binaries / "pg_ctl", *where, "-w", "-o", options]
    subprocess.run([*server, "-l", str(folder / "log"), "start"], check=True, **quiet)
    try:
        yield f"postgres://me:{SECRET}@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*server, "-m", "immediate", "stop"], check=True, **quiet)
        shutil.rmtree(folder, ignore_errors=True)


class Cluster:
    """A scheduler and two workers of our own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        start = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        self.scheduler = self._run("scheduler", *start)
        self.workers = [self.worker() for _ in range(2)]
        self._await_scheduler()

    def _await_scheduler(self) -> None:
        for _ in range(600):
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            time.sleep(0.1)

    def worker(self) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1"]
        return self._run("worker", self.address, *options, "--local-directory", str(self.folder))

    def _run(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + what, *options],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
        )

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@contextmanager
def dask() -> Iterator[Cluster]:
    """A Dask cluster."""
    pytest.importorskip("distributed")
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder))
        try:
            yield cluster
        finally:
            cluster.close()
