"""Broken logs, recipes, maps, traces and strategies: something to work with or a clear error, within bounds."""

from __future__ import annotations

import gzip
import json
import random

import pytest

from formats.test_fuzz import mutated, seeds
from limits import bounded
from waypost import cli
from waypost.cases import loan
from waypost.errors import WaypostError
from waypost.formats.strategies import prism_strategy, read_strategy, storm_scheduler
from waypost.logs import read_actors, read_log, read_recipe, read_traces
from waypost.model import Strategy

XES = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xmlns="http://www.xes-standard.org/">
 <string key="concept:name" value="a log"/>
 <trace><string key="concept:name" value="1"/>
  <event><string key="concept:name" value="ask"/>
   <date key="time:timestamp" value="2020-01-01T10:00:00.000+01:00"/></event>
  <event><string key="concept:name" value="pay"/><date key="time:timestamp" value="2020-01-02T10:00:00.000+01:00"/>
   <list key="more"><string key="x" value="1"/></list></event></trace>
 <trace><string key="concept:name" value="2"/><event><string key="concept:name" value="ask"/></event></trace>
</log>
"""
CSV = 'case,activity,time,note\n1,ask,2020-01-01 10:00,"a, b"\n1,pay,2020-01-02 11:30,\n2,ask,2020-01-03 09:15,"x\ny"\n'
RECIPE = """title = "Loans"
eps = 0.9
naming = "plain"
choosing = ["customer"]
[columns]
case = "Case ID"
delimiter = ";"
[actors]
"ask*" = "customer"
"*" = "company"
[[step]]
do = "drop_events"
names = ["W_*"]
[[step]]
do = "set_outcome"
positive = ["pay"]
"""
ACTORS = json.dumps({"ask": "customer", "call *": "customer", "*": "company"}, indent=1)
TRACES = json.dumps([["start", ["ask", "asked"], ["env", "paid"]]] * 3 + [["start", ["leave", "gone"]]], indent=1)
CAREFUL = Strategy.uniform(loan())


def strategy_of(path):
    return read_strategy(loan(), path)


KINDS = {  # name: content, reader
    "log.xes": (XES.encode(), read_log),
    "log.csv": (CSV.encode(), read_log),
    "log.xes.gz": (gzip.compress(XES.encode(), mtime=0), read_log),
    "log.csv.gz": (gzip.compress(CSV.encode(), mtime=0), read_log),
    "recipe.toml": (RECIPE.encode(), read_recipe),
    "actors.json": (ACTORS.encode(), read_actors),
    "traces.json": (TRACES.encode(), read_traces),
    "strategy.json": (json.dumps(CAREFUL.to_dict()).encode(), strategy_of),
    "scheduler.json": (storm_scheduler(CAREFUL).encode(), strategy_of),
    "strategy.txt": (prism_strategy(CAREFUL).encode(), strategy_of),
}


def run(name: str, folder, rounds: int) -> None:
    rng = random.Random(name)  # noqa: S311
    content, read = KINDS[name]
    path = folder / name
    path.write_bytes(content)
    read(path)
    good = 0
    for _ in range(rounds):
        path.write_bytes(mutated(content, rng))
        said = "read"
        try:
            with bounded():
                read(path)
            good += 1
        except WaypostError as error:
            said = str(error)
        assert 0 < len(said) < 3000
    assert good < rounds
    assert good or name.endswith(".gz")  # a byte changed in a packed file is always noticed


@pytest.mark.parametrize("name", KINDS)
def test_a_broken_file_is_read_or_refused(name, tmp_path):
    run(name, tmp_path, 200)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_thousands_of_broken_files(name, tmp_path):
    run(name, tmp_path, 10_000)


COMMANDS = {
    "model.json": ("check",),
    "model.drn": ("check",),
    "model.umb": ("explain", "-t", "Granted"),
    "log.csv": ("learn", "-q"),
    "log.xes": ("explain", "-q", "-t", "pay"),
    "traces.json": ("learn", "-q"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_line_says_one_sentence_or_an_answer(name, tmp_path, capsys):
    """Exit code 0 with an answer, or 2 with one line of explanation."""
    rng = random.Random(name)  # noqa: S311
    kind = name.rpartition(".")[2]
    contents = [KINDS[name][0]] if name in KINDS else seeds(kind, tmp_path)
    for _ in range(15):
        (tmp_path / name).write_bytes(mutated(rng.choice(contents), rng))
        with pytest.raises(SystemExit) as stop, bounded(30):
            cli.main([COMMANDS[name][0], str(tmp_path / name), *COMMANDS[name][1:]])
        out, err = capsys.readouterr()
        assert stop.value.code in (0, 2)
        if stop.value.code == 2:
            assert not out
            assert err.startswith("waypost: ")
            assert err.count("\n") == 1
        else:
            assert out
