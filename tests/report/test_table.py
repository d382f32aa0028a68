"""Tables in the terminal: every column and every number is there at every width; what is long wraps."""

from __future__ import annotations

import io
import re
from itertools import pairwise

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from waypost.cases import loan
from waypost.importance import explain
from waypost.model import MDP, Strategy
from waypost.patterns import find_patterns, usual_ways
from waypost.report import print_table
from waypost.report.intervals import print_intervals
from waypost.report.patterns import found_document, print_found
from waypost.report.table import fitted_table, table
from waypost.report.text import as_text, summarise
from waypost.report.ways import print_ways
from waypost.report.whatifs import whatif_words
from waypost.report.wording import SCOPE_TITLES, cell, printable, span
from waypost.uncertainty.resampling import Resampled

WIDTHS = (60, 80, 120)
LONG = "Offer that was sent back once more " + "x" * 90


def printed(print_it, width: int) -> list[str]:
    out = io.StringIO()
    print_it(Console(width=width, file=out))
    lines = out.getvalue().splitlines()
    assert lines
    assert all(cell_len(line) <= width for line in lines)
    return lines


def columns(lines: list[str]) -> list[str]:
    """Text of each column of a table, without blanks; two blank columns part two columns."""
    lines = ["".join(c + "\0" * (cell_len(c) - 1) for c in line) for line in lines]  # one character per cell
    body = [line.ljust(200) for line in lines if set(line.strip()) != {"─"}]
    blank = [all(line[k] == " " for line in body) for k in range(200)]
    starts = [k for k in range(200) if not blank[k] and all(blank[max(0, k - 2) : k])]
    return [
        "".join("".join(line[a:b].replace("\0", "").split()) for line in body)
        for a, b in zip(starts, [*starts[1:], 200], strict=True)
    ]


def _wide_model() -> MDP:
    return MDP.from_dict(
        {
            "s": {"a": {LONG: "1/3", "q": "2/3"}, "b": "q"},
            LONG: {"c": {"t": 0.9999, "u": 0.0001}},
            "q": {"d": {"t": 0.5, "u": 0.5}},
            "t": {},
            "u": {},
        },
        initial="s",
        labels={"a label that is long enough to be cut": [LONG], "\x1b[31mred\u202e": ["q"]},
    )


@pytest.fixture(scope="module")
def wide():
    mdp = _wide_model()
    return explain(mdp, target="t", scope=["all", "optimal", Strategy.uniform(mdp)])


@pytest.mark.parametrize("width", WIDTHS)
def test_no_column_vanishes_and_no_name_is_cut(wide, width):
    """Headings, names, labels, kinds and numbers are all there, whole once their line breaks are taken out."""
    lines = printed(lambda console: console.print(table(wide, top=20, console=console)), width)
    assert not any("…" in line for line in lines)
    text = columns(lines)
    heads = ["state", "labels", "kind", *(SCOPE_TITLES[part].replace(" ", "") for part in wide.parts)]
    assert [column[: len(head)] for column, head in zip(text, heads, strict=True)] == heads
    assert LONG.replace(" ", "") in text[0]
    assert "alabelthatislongenoughtobecut" in text[1]
    assert r"\x1b[31mred\u202e" in text[1]
    assert "important" in text[2]
    for part, column in zip(wide.parts, text[3:], strict=True):
        numbers = [span(wide.parts[part].at(k), cell).replace(" ", "") for k in wide.ranking.tolist()]
        assert column.endswith("".join(numbers))


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_names_keep_the_table_in_shape(hostile, width):
    """No control code reaches the terminal, no markup is obeyed, no line is too long."""
    whole = printed(lambda console: print_table(hostile, top=20, console=console), width)
    assert not any(c in line for line in whole for c in "\x1b\u202e\u2028")
    lines = printed(lambda console: console.print(table(hostile, top=20, console=console)), width)
    text = columns(lines)
    assert len(text) == 6
    assert all("".join(name.split()) in text[0] for name in map(printable, hostile.mdp.states))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_of_intervals_keeps_its_columns(width):
    """All six columns of a bootstrap, with a name of any length."""
    found = Resampled(
        names=(LONG, "short"),
        scope="all",
        match="history",
        level=0.95,
        resamples=20,
        bounds=np.array([[0.123, 0.987], [0.0, 1.0]]),
        lower=np.array([[0.101, 0.222], [0.0, 0.0]]),
        upper=np.array([[0.9, 0.9999], [1.0, 1.0]]),
        present=np.array([0.9, 1.0]),
    )
    squeezed = re.sub(r"\s", "", "".join(printed(lambda console: print_intervals(found, console=console), width)))
    for text in ("90%", "0.123", "0.987", "1havethesamebounds"):
        assert text in squeezed
    for half in ("0.101to", "0.222", "0.9to", ">0.999"):
        assert half in squeezed


@pytest.mark.parametrize("width", [20, 40])
def test_where_numbers_leave_no_room_names_stand_above_them(width):
    """On a terminal as narrow as a phone's, names of activities were broken after every letter, or gone."""
    head = ["activity", "good cases", "bad cases", "success after", "success without", "cases"]
    lines = [["Call customer", "61.9 %", "30.5 %", "63.6 %", "32 %", "450"]]
    shown = printed(lambda console: console.print(fitted_table(console, head, lines)), width)
    assert shown[0].strip() == "Call customer"
    told = " ".join(" ".join(shown[1:]).split())
    assert told == "good cases 61.9 %; bad cases 30.5 %; success after 63.6 %; success without 32 %; cases 450"


def test_what_fits_is_left_whole():
    """Where there is room nothing is broken: one line per row."""
    made = fitted_table(Console(width=80), ["name", "value"], [["a name", "0.25 to 0.5"]], title="Title")
    lines = printed(lambda console: console.print(made), 80)
    assert any("a name" in line and "0.25 to 0.5" in line for line in lines)


def test_words_stay_whole_where_names_can_wrap():
    """Law: what is too long for the width is a name; a word such as the kind is not broken."""
    for width in (60, 70, 80, 100):
        shown = io.StringIO()
        console = Console(file=shown, width=width)
        print_table(explain(loan(), target="Granted", whatifs=True), top=10, console=console)
        assert "indispensable" in shown.getvalue(), width


def test_a_column_takes_no_more_room_than_it_needs_so_that_words_beside_it_stay_whole():
    """Short names of states leave the room to their labels."""
    label = "A_CreateApplication"
    lines = [["loc=2", label, "indispensable", "1", "1", "0 to >0.999"]]
    head = ["state", "labels", "kind", "any strategy", "best strategies", "of all runs"]
    for width in (80, 100):
        console = Console(width=width)
        made = fitted_table(console, head, lines, names=2, words=1)
        assert any(label in line for line in printed(lambda console, made=made: console.print(made), width))


def test_columns_move_together_before_a_word_of_a_name_is_broken():
    """At a width where only single blanks between columns leave the room, names stay whole."""
    names = ["A_ACCEPTED", "O_CANCELLED"]
    lines = [[name, "W_Nabellen offertes", *["0.123 to 0.456"] * 5] for name in names]
    head = ["state", "labels", "any strategy", "best strategies", "of all runs", "agent", "observed"]
    made = fitted_table(Console(width=70), head, lines, names=2)
    shown = printed(lambda console: console.print(made), 70)
    assert all(any(line.startswith(name) for line in shown) for name in names)
    assert any("offertes" in line for line in shown)


def test_a_state_of_many_variables_goes_by_those_that_differ_from_the_start():
    """Law: a name that nobody can read is shortened to what tells its state apart, and the table says so."""
    names = [", ".join(f"v{k}={int(k < n)}" for k in range(9)) for n in range(4)]
    moves = {a: {"go": {b: 0.5, names[0]: 0.5}} for a, b in pairwise(names)}
    mdp = MDP.from_dict({**moves, names[-1]: {}}, initial=names[0], labels={"done": names[3:]})
    said = "\n".join(printed(lambda console: print_table(explain(mdp, target="done"), top=9, console=console), 240))
    lead, _, rest = said.partition("\n")
    assert names[0] in lead
    assert not any(name in rest for name in names)
    assert "pass v0=1 and v0=1, v1=1, whatever is done." in rest
    assert "v0=1, v1=1, v2=1 " in rest
    assert "differs from the start" in rest


def test_states_of_many_variables_go_by_the_same_names_in_every_command():
    """In sentences, in what-ifs and in patterns as in tables; files and JSON have the names in full."""
    names = [", ".join(f"v{k}={int(k < n)}" for k in range(9)) for n in range(4)]
    moves = {a: {"go": {b: 0.5, names[0]: 0.4, "lost": 0.1}} for a, b in pairwise(names)}
    mdp = MDP.from_dict({**moves, names[-1]: {}, "lost": {}}, initial=names[0], labels={"done": names[3:]})
    found = explain(mdp, target="done", whatifs=True)
    patterns = find_patterns(mdp, target="done", top=5)
    told = "\n".join(printed(lambda console: print_found(patterns, "a best strategy", console), 240))
    for said in (
        told,
        patterns.summary(),
        "".join(whatif_words(found)),
        as_text(summarise(found)).partition("\n\n")[2],
    ):
        assert not any(name in said for name in names[1:])
        assert "v0=1, v1=1" in said
    assert "--json prints full names" in told
    assert any(names[1] in one["pattern"] for one in found_document(patterns, "a best strategy")["patterns"])


def test_a_probability_that_stands_alone_is_told_however_small():
    """Law: where it is next to 0 or 1, it is said how near."""
    mdp = MDP.from_dict({"a": {"go": {"b": 2**-20, "c": 1 - 2**-20}}, "b": {}, "c": {}}, initial="a")
    for target, told in (("b", "probability 9.54e-07."), ("c", "probability 1 - 9.54e-07.")):
        found = explain(mdp, target=target)
        assert told in "".join(printed(lambda console, found=found: print_table(found, top=9, console=console), 100))


def test_a_step_between_states_of_many_variables_is_told_by_what_it_changes():
    """Law: a way through such states names the first, and then changes; nobody would find them in full names."""
    names = [", ".join(f"v{k}={int(k < n)}" for k in range(9)) for n in range(4)]
    mdp = MDP.from_dict({**{a: {"go": b} for a, b in pairwise(names)}, names[-1]: {}}, initial=names[0])
    found = usual_ways(mdp, target=names[-1], top=1)
    told = "\n".join(printed(lambda console: print_ways(found, [None], "the only strategy", console), 240))
    assert f"{names[0]} → v0=1 → v1=1 → v2=1 " in told
    assert "steps by what they change" in told
    whole = "\n".join(printed(lambda console: print_ways(found, [None], "it", console, whole=True), 400))
    assert " → ".join(names) in whole


def test_where_all_strategies_are_best_the_steps_that_can_be_avoided_least_are_told():
    """Law: an explanation with numbers between 0 and 1 has something to say."""
    ways = {"go": {"b": 0.25, "c": 0.35, "d": 0.4}, "run": {"b": 0.4, "c": 0.25, "d": 0.35}}
    mdp = MDP.from_dict({"a": ways, **{name: {"go": "end"} for name in "bcd"}, "end": {}}, initial="a")
    found = explain(mdp, target="end")
    said = printed(lambda console: print_table(found, top=1, console=console), 100)
    assert any("35 to 40 % of the runs that reach 'end' pass d." in line for line in said)
