"""Work shared out over processes and a real Dask cluster on loopback: the same bits, and nothing done twice."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from servers import Cluster, dask
from waypost import state_importance
from waypost.cases import case
from waypost.errors import PlaceError
from waypost.learn import prepare
from waypost.logs import EVERY_EVENT_A_CHOICE, EventLog
from waypost.paper.bench.synthetic import synthetic
from waypost.paper.encodings import Limits
from waypost.paper.studies.running import Settings, run
from waypost.paper.studies.studies import Study
from waypost.processes.places import fingerprint, spread_out, working
from waypost.uncertainty import bootstrap

HERE = "slow_jobs"  # a module beside these tests


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A cluster to break."""
    with dask() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def lasting() -> Iterator[Cluster]:
    """A cluster that nobody breaks."""
    with dask() as cluster:
        yield cluster


def test_answers_come_in_order_and_from_a_file_the_second_time(tmp_path):
    """A file to resume from: each job is done once, whatever was torn off in between."""
    given = {"add": 1, "slow": 0, "count": str(tmp_path / "count")}
    kept = tmp_path / "kept"
    with working(workers=1, resume=kept):
        first = spread_out(HERE, "squares", given, range(5))
    assert first == [(n + 1) ** 2 / 3 for n in range(5)]
    lines = kept.read_text().splitlines()
    kept.write_text("\n".join([*lines[:3], lines[3][:-7]]))
    with working(workers=1, resume=kept):
        assert spread_out(HERE, "squares", given, range(5)) == first
    assert (tmp_path / "count").read_text().split() == ["0", "1", "2", "3", "4", "3", "4"]
    assert {json.loads(line)["job"] for line in kept.read_text().splitlines() if line.endswith("}")} == set(range(5))


def test_other_work_has_another_fingerprint():
    """What is computed is told by its content, not by where it lies in memory."""
    model = case("gridworld")
    again = case("gridworld")
    assert fingerprint(model) == fingerprint(again)
    assert fingerprint(np.zeros(2)) != fingerprint(np.zeros(3))
    assert fingerprint({"a": frozenset("xyz")}) == fingerprint({"a": frozenset("zyx")})


@pytest.mark.filterwarnings("ignore")
def test_a_sweep_and_a_bootstrap_on_a_cluster_are_those_of_one_machine_bit_by_bit(lasting):
    """A real scheduler and two workers on loopback."""
    model = case("gridworld")
    here = {scope: state_importance(model, target="goal", scope=scope) for scope in ("all", "optimal")}
    log = EventLog.from_sequences([["ask", "help", "pay"]] * 20 + [["ask", "pay"]] * 20 + [["ask", "go"]] * 9)
    traces = prepare(log, actors=EVERY_EVENT_A_CHOICE).traces
    how = {"target": "pay", "resamples": 6, "seed": 1, "match": "label"}
    drawn = bootstrap(traces, **how, workers=1)
    with working(cluster=lasting.address):
        for scope, wanted in here.items():
            found = state_importance(model, target="goal", scope=scope)
            assert found.lower.tobytes() == wanted.lower.tobytes()
            assert found.upper.tobytes() == wanted.upper.tobytes()
        again = bootstrap(traces, **how)
    assert all(again[scope].lower.tobytes() == drawn[scope].lower.tobytes() for scope in drawn)


@pytest.mark.filterwarnings("ignore")
def test_measurements_on_a_cluster_are_those_of_one_machine(lasting, tmp_path):
    """`reproduce`: what solvers claim, what is exact and the verdicts; only times are each machine's own."""
    pytest.importorskip("highspy")
    study = Study("table1", "A loan", ("loan",), ("LP-optimal", "LP-all"))
    settings = Settings(Limits(seconds=10, tolerance=1e-9), target="Granted", sample=2)

    def told(folder: Path) -> list[tuple[object, ...]]:
        records = run(study, settings, folder).records
        return sorted((r.configuration, r.state, r.sense, r.status, r.claimed, r.exact, r.verdict) for r in records)

    here = told(tmp_path / "here")
    with working(cluster=lasting.address):
        assert told(tmp_path / "there") == here
    assert here


@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_dies_costs_what_it_was_doing(cluster, tmp_path):
    """kill -9 in the middle: all answers, equal ones."""
    count = tmp_path / "count"
    given = {"add": 0, "slow": 0.2, "count": str(count)}
    told: list[int] = []

    def kill(done: int) -> None:
        told.append(done)
        if done == 3:
            cluster.workers[0].send_signal(signal.SIGKILL)

    with working(cluster=cluster.address):
        found = spread_out(HERE, "squares", given, range(20), told=kill)
    assert found == [n**2 / 3 for n in range(20)]
    assert told == sorted(told)
    assert len(count.read_text().split()) <= 20 + 12  # not everything again


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_dies_loses_nothing_that_was_known(cluster, tmp_path):
    """kill -9 in the middle, then resumed here: only what was not known is computed."""
    kept, count = tmp_path / "kept", tmp_path / "count"
    given = {"add": 0, "slow": 0.2, "count": str(count)}

    def kill(done: int) -> None:
        if done == 5:
            cluster.scheduler.send_signal(signal.SIGKILL)

    with working(cluster=cluster.address, resume=kept), pytest.raises(PlaceError, match="is gone with"):
        spread_out(HERE, "squares", given, range(20), told=kill)
    cluster.close()  # its workers go on for a while
    known = len(kept.read_text().splitlines())
    assert known >= 5
    count.write_text("")
    with working(workers=1, resume=kept):
        assert spread_out(HERE, "squares", given, range(20)) == [n**2 / 3 for n in range(20)]
    assert len(count.read_text().split()) == 20 - known


def a_sweep(_folder: Path, told: Callable[[int], None]) -> list[float]:
    """Every state of a model with many choices, in chunks."""
    found = state_importance(synthetic(1_500, "many"), target="goal", scope="optimal", progress=told)
    return [*found.lower.tolist(), *found.upper.tolist()]


def a_bootstrap(_folder: Path, told: Callable[[int], None]) -> list[float]:
    """Sixteen resamples of a small log."""
    log = EventLog.from_sequences([["ask", "help", "pay"]] * 20 + [["ask", "pay"]] * 20 + [["ask", "go"]] * 9)
    traces = prepare(log, actors=EVERY_EVENT_A_CHOICE).traces
    drawn = bootstrap(traces, target="pay", resamples=16, seed=1, match="label", progress=told)
    return [
        value for scope in drawn.values() for value in [*scope.lower.ravel().tolist(), *scope.upper.ravel().tolist()]
    ]


def a_reproduction(folder: Path, told: Callable[[int], None]) -> list[tuple[object, ...]]:
    """What solvers claim of a loan, what is exact and the verdicts."""
    pytest.importorskip("highspy")
    study = Study("table1", "A loan", ("loan",), ("LP-optimal", "LP-all"))
    settings = Settings(Limits(seconds=10, tolerance=1e-9), target="Granted", sample=4)
    records = run(study, settings, folder, lambda done, _all: told(done)).records
    return sorted((r.configuration, r.state, r.sense, r.status, r.claimed, r.exact, r.verdict) for r in records)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("work", [a_sweep, a_bootstrap, a_reproduction])
@pytest.mark.parametrize("victim", ["worker", "scheduler"])
def test_whatever_dies_in_the_middle_the_answers_are_those_of_one_machine(cluster, tmp_path, work, victim):
    """kill -9 after the second answer; where the scheduler died, resumed here from what was known."""
    right = work(tmp_path / "here", lambda _done: None)
    kept, told = tmp_path / "kept", 0

    def kill(_done: int) -> None:
        nonlocal told
        told += 1
        if told == 2:
            (cluster.scheduler if victim == "scheduler" else cluster.workers[0]).send_signal(signal.SIGKILL)

    if victim == "worker":
        with working(cluster=cluster.address):
            assert work(tmp_path / "there", kill) == right
        assert told > 2
        return
    with working(cluster=cluster.address, resume=kept), pytest.raises(PlaceError, match="is gone with"):
        work(tmp_path / "there", kill)
    cluster.close()
    known = kept.read_text().splitlines()
    assert known
    with working(workers=1, resume=kept):
        assert work(tmp_path / "resumed", lambda _done: None) == right
    lines = kept.read_text().splitlines()
    assert lines[: len(known)] == known  # what was known is not computed again
    jobs = [(entry["work"], entry["job"]) for entry in map(json.loads, lines)]
    assert len(jobs) == len(set(jobs)) > len(known)


def test_a_cluster_that_is_not_there_is_told(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("waypost.processes.places.KNOCKS", 1)
    with working(cluster="tcp://127.0.0.1:9"), pytest.raises(PlaceError, match="no Dask scheduler answers at"):
        spread_out(HERE, "squares", {"add": 0, "slow": 0}, range(2))


def test_a_scheduler_takes_no_password_and_tells_none():
    with working(cluster="tcp://me:secret@127.0.0.1:9"), pytest.raises(PlaceError) as told:
        spread_out(HERE, "squares", {"add": 0, "slow": 0}, range(2))
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    "address", ["nonsense", "http://127.0.0.1:8786", "tcp://127.0.0.1", "tcp://:8786", "tcp://a:b"]
)
def test_an_address_that_is_none_is_told_at_once(address):
    pytest.importorskip("distributed")
    with working(cluster=address), pytest.raises(PlaceError, match="the address of a scheduler is tcp://HOST:PORT"):
        spread_out(HERE, "squares", {"add": 0, "slow": 0}, range(2))


@pytest.mark.parametrize("content", [b"case,activity\n1,ask\n", b"\xff\xfe\x00", b'{"states": []}'])
def test_a_file_that_holds_no_answers_is_left_as_it_is(tmp_path, content):
    """Law: nothing is ever written into a file that is not ours to resume from."""
    path = tmp_path / "log.csv"
    path.write_bytes(content)
    with working(workers=1, resume=path), pytest.raises(PlaceError, match="holds something else than answers"):
        spread_out(HERE, "squares", {"add": 0, "slow": 0}, range(2))
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b'{"wo', b'{"work": "b6'])
def test_a_file_torn_off_in_its_first_line_is_ours(tmp_path, content):
    path = tmp_path / "kept"
    path.write_bytes(content)
    with working(workers=1, resume=path):
        assert spread_out(HERE, "squares", {"add": 1, "slow": 0}, range(2)) == [1 / 3, 4 / 3]
    assert [json.loads(line)["job"] for line in path.read_text().splitlines() if line.endswith("}")] == [0, 1]


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "kept"):
        with working(workers=1, resume=path), pytest.raises(PlaceError, match=r"cannot (resume from|write)"):
            spread_out(HERE, "squares", {"add": 0, "slow": 0}, range(2))
