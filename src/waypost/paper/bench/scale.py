"""From ten million events to an explanation, measured: ``python -m waypost.paper.bench.scale``.

A made-up process (a million cases, ten events each, from a seed) is written as CSV and Parquet; every row of the table
is a process of its own, whose time, processor time and greatest memory are what the system says. Where pm4py is
installed it reads and filters the same files, in a process of its own, too. With ``--states 1000000`` it is generated
models of that many states, few or many of them with a choice, whose most important hundred are proved.
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


WAYS = {"waypost": explained, "pm4py": read_by_pm4py}
TOPS = {"few choices": top_of_few, "many choices": top_of_many}


def measured(way: str, path: Path) -> dict[str, Any]:
    """Time, processor time and greatest memory of a process that does this and nothing else."""
    begun = time.perf_counter()
    command = [sys.executable, "-W", "ignore", "-m", __spec__.name, "--child", way, str(path)]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    return {"way": way, "file": path.suffix, "seconds": time.perf_counter() - begun, **said}


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
    parser.add_argument("--child", nargs=2, metavar=("WAY", "FILE"))
    given = parser.parse_args()
    if given.child:
        found = (WAYS | TOPS)[given.child[0]](given.child[1])
        used = resource.getrusage(resource.RUSAGE_SELF)
        said = {"processor": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss / 1e6, "found": found}
        sys.stdout.write(json.dumps(said) + "\n")
        return
    if given.states:
        rows = [measured(way, Path(str(given.states))) for way in TOPS]
        sys.stdout.write(table(rows, f"{given.states:,} states"))
        return
    ways = given.way or [way for way in WAYS if way == "waypost" or importlib.util.find_spec(way)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events"
        events = write_process(given.cases, path)
        rows = [measured(way, path.with_suffix(ending)) for way in ways for ending in (".parquet", ".csv")]
    sys.stdout.write(table(rows, f"{events:,} events in {given.cases:,} cases"))


if __name__ == "__main__":
    main()
