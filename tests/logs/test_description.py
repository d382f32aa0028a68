"""What is in a log: against counts made with pandas alone."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from rich.console import Console

from waypost.logs import EventLog, describe_log, read_log
from waypost.report.description import print_description

XES = """<?xml version="1.0"?>
<log xmlns="http://www.xes-standard.org/">
  <classifier name="Activity" keys="concept:name lifecycle:transition"/>
  <classifier name="By whom" keys="'concept:name' 'org:resource'"/>
  <trace><string key="concept:name" value="1"/>
    <event><string key="concept:name" value="ask"/><string key="lifecycle:transition" value="start"/>
           <string key="org:resource" value="Ann"/></event>
    <event><string key="concept:name" value="ask"/><string key="lifecycle:transition" value="complete"/>
           <string key="org:resource" value="Bob"/></event>
  </trace>
</log>
"""


def test_classifiers_are_told_and_can_be_the_activity(tmp_path):
    path = tmp_path / "log.xes"
    path.write_text(XES)
    assert describe_log(read_log(path)).classifiers == (
        ("Activity", ("concept:name", "lifecycle:transition")),
        ("By whom", ("concept:name", "org:resource")),
    )
    assert read_log(path, activity="Activity").sequences() == [("ask+start", "ask+complete")]
    assert read_log(path, activity="concept:name+org:resource").sequences() == [("ask+Ann", "ask+Bob")]


@pytest.mark.parametrize("file", ["pm4py_demo/receipt.csv", "pm4py_demo/reviewing.xes.gz"])
def test_every_number_is_what_pandas_counts(shared_data, file):
    log = read_log(shared_data / "logs" / file)
    frame, found = log.events, describe_log(log)
    by_case = frame.groupby("case:concept:name", sort=False)["concept:name"]
    assert (found.cases, found.events) == (frame["case:concept:name"].nunique(), len(frame))
    assert pd.Timestamp(found.first) == frame["time:timestamp"].min()
    first, last = by_case.first().value_counts(), by_case.last().value_counts()
    for activity in found.activities:
        rows = frame[frame["concept:name"] == activity.name]
        assert activity.events == len(rows)
        assert activity.cases == rows["case:concept:name"].nunique()
        assert activity.share == pytest.approx(activity.cases / found.cases)
        assert activity.first == first.get(activity.name, 0)
        assert activity.last == last.get(activity.name, 0)
        assert activity.resources == rows["org:resource"].nunique()
    variants = by_case.agg(tuple).value_counts()
    assert found.n_variants == len(variants)
    assert [v.cases for v in found.variants] == variants.head(10).tolist()
    assert found.variants[-1].coverage == pytest.approx(variants.head(10).sum() / found.cases)
    assert dict(found.resources) == frame["org:resource"].value_counts().to_dict()
    assert sum(count for _, count in found.lifecycles) == len(frame)


def test_candidates_for_an_outcome_split_the_cases():
    log = EventLog.from_sequences([["ask", "check", "pay"]] * 3 + [["ask", "go"]] * 5)
    options = [(c.option, c.cases) for c in describe_log(log).outcomes]
    assert options == [("--positive 'go'", 5), ("--positive 'pay'", 3)]


def test_columns_that_say_who_acts_are_found_and_attributes_have_their_kind(shared_data):
    found = describe_log(read_log(shared_data / "logs/pm4py_demo/receipt.csv"))
    assert found.actors == ("org:group", "org:resource")
    kinds = {a.name: (a.of, a.kind) for a in found.attributes}
    assert kinds["case:channel"] == ("case", "text")
    assert kinds["org:group"] == ("event", "text")
    assert kinds["case:deadline"] == ("case", "time")
    channel = next(a for a in found.attributes if a.name == "case:channel")
    assert channel.counts[0] == ("Internet", 1250)


def test_attributes_that_part_the_cases_are_named_but_not_the_outcome_itself():
    """Who reads a log is told that cases may differ to begin with, and how to ask; a copy of the outcome is no part."""
    rows = [
        (k, "paid" if k % 3 else "declined", ("web", "shop")[k % 2], str(k % 3 > 0), f"name {k}") for k in range(60)
    ]
    log = read_log(pd.DataFrame(rows, columns=["case", "activity", "case:channel", "case:won", "case:name"]))
    out = io.StringIO()
    print_description(describe_log(log), "log.csv", top=5, console=Console(file=out, width=200))
    said = out.getvalue().splitlines()
    assert said[-2] == "Next: waypost explain log.csv --positive 'paid'"
    assert said[-1].startswith("Cases may differ to begin with: --segment 'case:channel' tells")
