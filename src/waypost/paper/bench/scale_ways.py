"""What `waypost.paper.bench.scale` measures, each in a process of its own, and the made-up data it is given.

A log is a made-up process from a seed, a million cases of ten events each; models are generated (`synthetic`), or six
counters in PRISM with 24 variables.
"""

from __future__ import annotations

from collections.abc import Callable
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


def learned(sessions: str) -> str:
    """Make up so many listening sessions, all different, and learn from them."""
    from dataclasses import replace

    from waypost.cases import prepare_case
    from waypost.learn import learn_mdp
    from waypost.logs.log import give_back

    prepared = replace(prepare_case(f"sessions:{sessions}"), log=None)
    give_back()
    mdp = learn_mdp(prepared.traces, eps=prepared.eps)
    return f"{mdp.n_states:,} states, {len(mdp.labels):,} labels"


Ways = dict[str, Callable[[str], str]]
EVENTS: Ways = {"waypost": explained, "waypost log": described, "pm4py": read_by_pm4py}
STATES: Ways = {"few choices": top_of_few, "many choices": top_of_many}
READING: Ways = {"waypost": read_by_waypost, "Storm": read_by_storm, "Storm, with names": build_by_storm}
LEARNING: Ways = {"learning": learned}
WAYS = {"events": EVENTS, "states": STATES, "reading": READING, "learning": LEARNING}
NEEDED = {  # imported before reading
    "waypost": ("waypost.formats", "numba"),  # the compiler, which is fetched while Storm builds
    "Storm": ("stormpy",),
    "Storm, with names": ("stormpy",),
}
