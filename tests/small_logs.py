"""Small logs, and everything that is said about one as plain data: for comparing ways in."""

from __future__ import annotations

import pandas as pd
import pytest

from waypost.logs.variants import Variants

MINUTE = 60


def table(rows, *, times=True) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["case", "activity", "timestamp", "lifecycle", "channel"])
    frame["case"] = frame["case"].map("case {}".format)
    frame["timestamp"] = pd.to_datetime(frame["timestamp"] * MINUTE, unit="s", utc=True)
    return frame if times else frame.drop(columns="timestamp")


def told(seen: Variants):
    """Everything that variants say, in plain data."""
    plain = {key: list(vars(waiting).values()) for key, waiting in seen.clock.waiting.items()}
    clock = {key: [v and pytest.approx(v, rel=1e-12) for v in values] for key, values in plain.items()}
    return (
        seen.sequences(),
        seen.count.tolist(),
        seen.outcomes,
        seen.examples,
        list(seen.activities.items()),
        seen.example_cases(),
        dict(seen.decided) if seen.outcomes else {},
        {key: pytest.approx(gap, rel=1e-12) for key, gap in seen.clock.gaps.items()},
    ), (clock, plain)


def attributed() -> pd.DataFrame:
    """Everyday's log with attributes of every type, some of them missing here and there."""
    frame = everyday()
    number, case = range(len(frame)), frame["case"].str.removeprefix("case ").astype(int)
    return frame.assign(
        **{"case:size": case.map(lambda k: ["big", "small"][k % 2])},
        resource=["Ann" if k % 3 else None if k % 2 else "Bob" for k in number],
        amount=[None if k % 7 == 0 else float(k % 20) for k in number],
        price=[k / 4 for k in number],
        sure=[k % 4 == 1 for k in number],
        due=frame["timestamp"] + pd.Timedelta(days=3),
        day=frame["timestamp"].dt.strftime("%Y-%m-%d"),
        code=[f" {k % 30}e2" for k in number],
        nothing=pd.Series([None] * len(frame), dtype="str"),
    )


def everyday() -> pd.DataFrame:
    rows = []
    for case in range(60):
        good, minute = case % 3 == 0, 100 * case
        names = ["ask", "call", *(["call"] if case % 2 else []), *(["help", "pay"] if good else ["go"])]
        for n, name in enumerate(names):
            rows.append((case, name, minute + 7 * n + case % 5, "complete", ["web", "shop"][case % 2]))
    return table(rows)
