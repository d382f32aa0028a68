"""From ten million events to an explanation, measured: ``python -m waypost.paper.bench.scale``.

A made-up process (a million cases, ten events each, from a seed) is written as CSV and Parquet; every row of the table
is a process of its own, whose time, processor time and greatest memory are what the system says. Where pm4py is
installed it reads and filters the same files, in a process of its own, too. With ``--states 1000000`` it is generated
models of that many states, few or many of them with a choice, whose most important hundred are proved; with
``--reading 1000000`` they are read as DRN and UMB, and one of 24 variables is built from PRISM, beside Storm.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

import numpy as np

NAMES = (*("submit", "check", "check again", "call", "offer", "remind", "sign", "pay", "refuse"), "archive", "letter")
RECIPE: dict[str, Any] = {
    "step": [
        {"do": "keep_lifecycle"},
        {"do": "drop_events", "names": "archive"},
        {"do": "merge_repeats"},
        {"do": "set_outcome", "positive": "pay"},
    ]
}
BLOCK = 100_000  # cases made at a time
TOP = 100  # states that are proved to be the most important


def write_process(cases: int, path: Path, seed: int = 1) -> int:
    """Write a made-up log as ``path.parquet`` and ``path.csv``, in order of blocks of cases; return its events."""
    import duckdb
    import pyarrow.parquet as pq

    random = np.random.default_rng(seed)
    writer = None
    events = 0
    for low in range(0, cases, BLOCK):
        block = _block(low, min(BLOCK, cases - low), random)
        writer = writer or pq.ParquetWriter(f"{path}.parquet", block.schema)
        writer.write_table(block)
        events += len(block)
    if writer is not None:
        writer.close()
    with duckdb.connect() as con:
        con.execute("SET enable_progress_bar = false")
        con.read_parquet(f"{path}.parquet").write_csv(f"{path}.csv", header=True)
    return events


def _block(low: int, cases: int, random: np.random.Generator) -> Any:
    import pyarrow as pa

    def some(share: float) -> Any:
        return random.random(cases) < share

    always, offered = np.ones(cases, bool), some(0.6)
    signed = offered & some(0.8)
    again = random.poisson(4.0, cases)
    checks = [(again > n, "check") for n in range(7)]
    calls = [(some(0.2), "call"), (some(0.3), "remind"), (some(0.2), "letter")]
    middle = [(some(0.3), "check again"), (offered, "offer"), *calls, (signed, "sign")]
    ends = [(signed, "pay"), (~signed, "refuse"), (always, "archive")]
    steps = [(always, "submit"), (always, "check"), *checks, *middle, *ends]
    there = np.stack([mask for mask, _ in steps], axis=1)
    code = np.broadcast_to([NAMES.index(name) for _, name in steps], there.shape)[there]
    length = there.sum(axis=1)
    case = np.repeat(np.arange(low, low + cases), length)
    wait = random.exponential(36_000, len(case)).astype(np.int64) * 1_000_000
    passed = np.cumsum(wait)
    begun = 1_577_836_800_000_000 + random.integers(0, 365 * 86_400, cases) * 1_000_000
    first = np.cumsum(length) - length
    moment = passed - np.repeat(passed[first], length) + np.repeat(begun, length)
    order = np.argsort(moment, kind="stable")
    scheduled = random.random(len(case)) < 0.05
    columns = {
        "case": case.astype(str),
        "activity": np.array(NAMES)[code],
        "timestamp": moment.astype("datetime64[us]"),
        "lifecycle": np.where(scheduled, "schedule", "complete"),
        "channel": np.repeat(np.array(["web", "shop", "phone"])[random.integers(0, 3, cases)], length),
    }
    return pa.table({name: pa.array(values[order]) for name, values in columns.items()})


def explained(path: str) -> str:
    """Explain a log from its file, outcome and three steps of cleaning; say what was found."""
    from waypost.learn import prepare
    from waypost.logs import open_log, parse_recipe
    from waypost.story import explain_log

    ready = prepare(open_log(path, engine="duckdb"), parse_recipe(RECIPE, "the benchmark"))
    explain_log(ready)
    assert ready.log is not None  # noqa: S101  a log gives a log
    seen = ready.log.seen
    return f"{seen.n_events:,} events, {len(seen):,} variants, {len(seen.activities)} activities"


def read_by_pm4py(path: str) -> str:
    """Read and filter the same file with pm4py, as its documentation does."""
    import pandas as pd
    import pm4py

    table = pd.read_parquet(path) if path.endswith(".parquet") else pd.read_csv(path, dtype=str)
    table["timestamp"] = pd.to_datetime(table["timestamp"])
    log = pm4py.format_dataframe(table, case_id="case", activity_key="activity", timestamp_key="timestamp")
    log = log[log["lifecycle"] == "complete"]
    log = pm4py.filter_event_attribute_values(log, "concept:name", ["archive"], level="event", retain=False)
    return f"{len(log):,} events, {len(pm4py.get_variants(log)):,} variants"


def described(path: str) -> str:
    """Say what is in a log, without cleaning, as ``waypost log`` does."""
    from waypost.logs import describe_log, open_log

    found = describe_log(open_log(path, engine="duckdb"))
    return f"{found.events:,} events, {found.n_variants:,} variants, {len(found.activities)} activities"


def top_of_few(states: str) -> str:
    """Prove the most important hundred of a model in which few states have a choice."""
    return _top(int(states), "few")


def top_of_many(states: str) -> str:
    """Prove them where many states have one."""
    return _top(int(states), "many")


def _top(states: int, shape: Literal["few", "many"]) -> str:
    from waypost import explain
    from waypost.paper.bench.synthetic import synthetic

    mdp = synthetic(states, shape)
    proved = explain(mdp, target="goal", scope="optimal", top=TOP).top
    assert proved is not None  # noqa: S101  it was asked for
    return f"{TOP} of {states:,} states, {mdp.transitions.nnz:,} transitions; {proved.computed} states computed"


def counters(states: int) -> str:
    """PRISM text of a model of about so many states and 24 variables: six counters, each with marks that follow it.

    >>> counters(64).count("module counter"), "x6 : [0..1]" in counters(64)
    (6, True)
    """
    last = round(states ** (1 / 6)) - 1
    modules = [
        f"module counter{i}\n"
        f"  x{i} : [0..{last}] init 0;\n  half{i} : bool init false;\n  late{i} : bool init false;\n"
        f"  kind{i} : [0..2] init 0;\n"
        f"  [go{i}] x{i}<{last} -> 0.9 : (x{i}'=x{i}+1) & (half{i}'=2*x{i}>={last}) & (late{i}'=4*x{i}>=3*{last})"
        f" & (kind{i}'=mod(x{i}+1, 3)) + 0.1 : true;\nendmodule\n"
        for i in range(1, 7)
    ]
    return "\n".join(["mdp\n", *modules, f'label "goal" = {" & ".join(f"x{i}={last}" for i in range(1, 7))};\n'])


def read_by_waypost(path: str) -> str:
    """Read or build a model as every command does."""
    from waypost import read_mdp

    mdp = read_mdp(path)
    return f"{mdp.n_states:,} states, {mdp.transitions.nnz:,} transitions"


def read_by_storm(path: str) -> str:
    """Read or build it with Storm alone: of PRISM, states and labels, without names of states or actions."""
    import stormpy

    if path.endswith(".prism"):
        model = stormpy.build_model(stormpy.parse_prism_program(path))
    else:
        model = (stormpy.build_model_from_drn if path.endswith(".drn") else stormpy.build_model_from_umb)(path)
    return f"{model.nr_states:,} states, {model.nr_transitions:,} transitions"


def build_by_storm(path: str) -> str:
    """Build it with Storm alone, with the valuations of states and the names of actions, as we need them."""
    from waypost.formats.storm_worker import build, parse

    model = build(parse(path, {})[0], exact=False)
    return f"{model.nr_states:,} states, {model.nr_transitions:,} transitions"


def write_models(states: int, path: Path) -> None:
    """Write a generated model as DRN and UMB, and one of many variables as PRISM."""
    from waypost import write_mdp
    from waypost.paper.bench.synthetic import synthetic

    mdp = synthetic(states, "many")
    for ending in (".drn", ".umb"):
        write_mdp(mdp, path.with_suffix(ending))
    path.with_suffix(".prism").write_text(counters(states))


WAYS = {"waypost": explained, "waypost log": described, "pm4py": read_by_pm4py}
READS = {"waypost, reading": read_by_waypost, "Storm": read_by_storm, "Storm, with names": build_by_storm}
TOPS = {"few choices": top_of_few, "many choices": top_of_many}


def measured(way: str, path: Path) -> dict[str, Any]:
    """Time, processor time and greatest memory of a process that does this and nothing else."""
    begun = time.perf_counter()
    command = [sys.executable, "-W", "ignore", "-m", __spec__.name, "--child", way, str(path)]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    return {"way": way, "file": path.suffix, "seconds": time.perf_counter() - begun, **said}


def _used() -> dict[str, float]:
    """Processor time and greatest memory of this process and its children, in seconds and gigabytes."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    most = [u.ru_maxrss for u in used]
    status = Path("/proc/self/status")
    if status.exists():  # elsewhere the memory of whoever started us may count as ours
        most[0] = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return {"processor": sum(u.ru_utime + u.ru_stime for u in used), "memory": max(most) / 1e6}


def table(rows: list[dict[str, Any]], head: str) -> str:
    """Measurements as Markdown."""
    lines = [
        f"{head}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the end",
        "",
        "| what | file | seconds | processor seconds | memory (GB) | found |",
        "|---|---|---|---|---|---|",
    ]
    for r in rows:
        numbers = f"{r['seconds']:.1f} | {r['processor']:.1f} | {r['memory']:.2f}"
        lines.append(f"| {r['way']} | {r['file']} | {numbers} | {r['found']} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--way", choices=list(WAYS), action="append")
    parser.add_argument("--states", type=int)
    parser.add_argument("--reading", type=int, metavar="STATES")
    parser.add_argument("--child", nargs=2, metavar=("WAY", "FILE"))
    given = parser.parse_args()
    if given.child:
        found = (WAYS | TOPS | READS)[given.child[0]](given.child[1])
        sys.stdout.write(json.dumps({**_used(), "found": found}) + "\n")
        return
    if given.states:
        rows = [measured(way, Path(str(given.states))) for way in TOPS]
        sys.stdout.write(table(rows, f"{given.states:,} states"))
        return
    if given.reading:
        with tempfile.TemporaryDirectory() as folder:
            write_models(given.reading, path := Path(folder) / "model")
            endings = (".drn", ".umb", ".prism")
            asked = [(way, e) for e in endings for way in READS if way != "Storm, with names" or e == ".prism"]
            rows = [measured(way, path.with_suffix(ending)) for way, ending in asked]
        sys.stdout.write(table(rows, f"{given.reading:,} states"))
        return
    ways = given.way or [way for way in WAYS if way != "pm4py" or importlib.util.find_spec(way)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events"
        events = write_process(given.cases, path)
        rows = [measured(way, path.with_suffix(ending)) for way in ways for ending in (".parquet", ".csv")]
    sys.stdout.write(table(rows, f"{events:,} events in {given.cases:,} cases"))


if __name__ == "__main__":
    main()
