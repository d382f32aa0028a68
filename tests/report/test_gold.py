"""Reports that are looked at once and must not change unnoticed.

After an intended change, look at the new files and keep them::

    WAYPOST_GOLD=write .venv/bin/python -m pytest -q tests/report/test_gold.py
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from waypost.cases import ex1, loan
from waypost.importance import Explanation, explain
from waypost.model import Strategy
from waypost.report import (
    as_text,
    plot_bars,
    plot_graph,
    summarise,
    to_bytes,
    to_csv,
    to_json,
    to_markdown,
)

GOLD = Path(__file__).parent / "gold"


def _svg(figure) -> str:
    """Drawing without what depends on the version of matplotlib: its name, its ids, and digits behind the point."""
    text = to_bytes(figure, "svg").decode()
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<!DOCTYPE.*?>", "", text, flags=re.DOTALL)
    text = re.sub(r"#[pmhC][0-9a-f_]{9,}|id=\"[^\"]*\"|xlink:href=\"[^\"]*\"", "", text)
    text = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.0f}", text)
    return re.sub(r"\n\s*\n+", "\n", text)


def _careful() -> Strategy:
    return Strategy.from_dict(loan(), {"s0": "Consult", "Consultation": "Apply", "Rework": "Submit", "Error": "Quit"})


def _granted() -> Explanation:
    return explain(loan(), target="Granted", absolute=True, witnesses=10)


REPORTS = {
    "loan.txt": lambda _: as_text(summarise(explain(loan(), target="Granted"))),
    "loan.md": lambda _: to_markdown(explain(loan(), target="Granted")),
    "loan.json": lambda _: to_json(explain(loan(), target="Granted", exact=True)),
    "loan.csv": lambda _: to_csv(explain(loan(), target="Granted", exact=True)),
    "loan_strategy.txt": lambda _: as_text(summarise(explain(loan(), target="Granted", scope=_careful()))),
    "ex1.txt": lambda _: as_text(summarise(explain(ex1(), target="t"), top=2)),
    "gridworld.txt": lambda world: as_text(summarise(world, top=4)),
    "loan_graph.svg": lambda _: _svg(
        plot_graph(
            _granted(), scope="optimal", strategy=_granted().witnesses["optimal"]["Consultation"].lower, engine="layers"
        )
    ),
    "loan_bars.svg": lambda _: _svg(plot_bars(explain(loan(), target="Granted"), theme="dark")),
    "gridworld.svg": lambda world: _svg(world.plot("grid")),
}


@pytest.mark.parametrize("name", REPORTS)
def test_the_report_reads_as_it_did(name, world):
    made = REPORTS[name](world)
    if os.environ.get("WAYPOST_GOLD") == "write":
        (GOLD / name).write_text(made, encoding="utf-8")
    assert made == (GOLD / name).read_text(encoding="utf-8"), "to keep the new report, see this module's docstring"


def test_drawing_twice_gives_the_same_bytes():
    made = [to_bytes(plot_graph(explain(loan(), target="Granted"), engine="layers"), "svg") for _ in range(2)]
    assert made[0] == made[1]
