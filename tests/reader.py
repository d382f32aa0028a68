"""What a reader of the documentation has: files under the names that its pages use, small and of our own making."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from waypost.cases import case, loan_log
from waypost.formats import drn
from waypost.logs import write_log

Event = tuple[str, str, datetime]  # name, lifecycle transition, time

GOOD = {"README.md": "APPROVED", "scale.md": "Paid"}  # what a page calls a good end; the made-up log says "Pay out"
WALK = """mdp
module walk
  loc : [0..60] init 0;
  [on] loc<60 -> 0.9 : (loc'=loc+1) + 0.1 : (loc'=0);
  [skip] loc<58 -> 0.5 : (loc'=loc+3) + 0.5 : (loc'=0);
endmodule
label "positive" = loc=60;
"""
PUBLISHED = (
    ",name,states,transitions,encoding,time,lower_reachability_value,lower_importance_value,upper_reachability_value,"
    "upper_importance_value,start_state,via_state,target_state,timeout,status\n"
    "0,out/models/model_epidemic4_model-it_0.pickle,227,898,linear,0.02,1.0,0.0,1.0,1.0,q0: start,"
    '"(4, 1, 6)",positive,500,2\n'
)


def furnish(folder: Path, page: str) -> None:
    """Put everything into a folder that the commands of a page read and nothing on it makes."""
    good = GOOD.get(page, "Pay out")
    log = loan_log(240).spoken_as({"Pay out": good}, "as the page calls it")
    for name in ("before.csv", "after.csv", "trial.csv"):
        write_log(log, folder / name)
    sequences = [[(name, "complete", MIDNIGHT + k * timedelta(hours=1)) for k, name in enumerate(each)]
                 for each in log.sequences()]  # fmt: skip
    _write_xes(folder / "log.xes.gz", sequences)
    _write_xes(folder / "BPI_Challenge_2012.xes.gz", list(_applications()))
    (folder / "clean.toml").write_text('[[step]]\ndo = "merge_repeats"\n')
    drn.write(case("gridworld"), folder / "model.drn")
    for name in ("bpic12.prism", "model_bpic12_model-it_0.prism"):
        (folder / name).write_text(WALK)
    np.save(folder / "q-table.npy", np.random.default_rng(1).random((16, 4)))
    (folder / "mdp_attributive/out").mkdir(parents=True)
    (folder / "mdp_attributive/out/results_epidemic.csv").write_text(PUBLISHED)
    _store(folder, log.events)


MIDNIGHT = datetime(2024, 1, 1, tzinfo=UTC)


def _applications() -> Iterator[list[Event]]:
    """Applications as a bank logs them: some with calls, short or long, approved or cancelled."""
    random = np.random.default_rng(1)
    for k in range(120):
        now = MIDNIGHT + k * timedelta(hours=1)
        events = [("A_SUBMITTED", "COMPLETE", now), ("O_CREATED", "COMPLETE", now + timedelta(hours=1))]
        if k % 3:
            called = now + timedelta(days=1)
            lasted = timedelta(seconds=float((90, 600, 4000)[k % 9 // 3] * (1 + 0.1 * random.random())))
            events += [("W_Nabellen offertes", "START", called), ("W_Nabellen offertes", "COMPLETE", called + lasted)]
        end = "A_APPROVED" if k % 3 and random.random() < 0.8 else "A_CANCELLED"
        yield [*events, (end, "COMPLETE", now + timedelta(days=2))]


def _write_xes(path: Path, cases: Sequence[Sequence[Event]]) -> None:
    lines = ["<log>"]
    for k, events in enumerate(cases):
        lines.append(f'<trace><string key="concept:name" value="{k}"/>')
        for name, transition, time in events:
            told = f'<string key="concept:name" value={quoteattr(name)}/>'
            told += f'<string key="lifecycle:transition" value="{transition}"/>'
            lines.append(f'<event>{told}<date key="time:timestamp" value="{time.isoformat()}"/></event>')
        lines.append("</trace>")
    path.write_bytes(gzip.compress("\n".join([*lines, "</log>"]).encode()))


def _store(folder: Path, events) -> None:
    """The same log as a Parquet file, and as a table of a database."""
    import duckdb

    with duckdb.connect(str(folder / "events.db")) as database:
        database.register("given", events.iloc[:, :3])
        database.execute("CREATE TABLE applications AS SELECT * FROM given")
        database.execute("COPY applications TO ? (FORMAT parquet)", [str(folder / "events.parquet")])
