"""One registry: what is said of a format there is what it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from formats.models import assert_same
from waypost.cases import loan
from waypost.errors import FormatError
from waypost.formats import FORMATS, drn, jsonfile, prism, read_mdp, write_mdp
from waypost.formats.registry import table
from waypost.learn import learn_mdp, observed_strategy
from waypost.logs import EventLog
from waypost.model import MDP, StateNames, Variable

WRITABLE = [f for f in FORMATS if f.write is not None and (f.read or f.loads)]
DOCS = Path(__file__).parents[2] / "docs" / "formats.md"


TINY = '{"format": "waypost-mdp", "initial": "a", "states": {"a": {"go": {"a": 1, "b": 1e-400}}, "b": {}}}'


def full() -> MDP:
    """A model with everything a format may keep; its names do not show what never changes."""
    return MDP.from_triplets(
        [0, 0, 1],
        [1, 2, 2],
        [0.25, 0.75, 1.0],
        first_choice=[0, 1, 2, 2],
        actions=["go", "on"],
        initial=0,
        labels={"end": [False, False, True]},
        counts=[1, 3, 5],
        valuations={"x": Variable.of([0, 1, 2]), "n": Variable.of([4, 4, 4])},
    )


@pytest.mark.parametrize("known", WRITABLE, ids=lambda f: f.name)
def test_a_format_keeps_what_it_says_it_keeps(known, tmp_path):
    mdp = full()
    write_mdp(mdp, tmp_path / f"model{known.endings[0]}")
    again = read_mdp(tmp_path / f"model{known.endings[0]}")
    assert_same(mdp.with_labels(again.labels), again, counts="counts" in known.keeps)
    assert (again.counts is not None) == ("counts" in known.keeps)
    assert ("end" in again.labels) == ("labels" in known.keeps)
    kept = again.valuations is not None and "n" in again.valuations
    assert kept == ("valuations" in known.keeps)
    write_mdp(loan(), tmp_path / f"loan{known.endings[0]}")
    exact = read_mdp(tmp_path / f"loan{known.endings[0]}", exact=True).exact
    assert (exact is not None and exact.tolist() == loan().exact.tolist()) == ("exact" in known.keeps)


def test_the_table_in_the_docs_is_made_of_the_registry():
    assert table(FORMATS) in DOCS.read_text(encoding="utf-8")


def test_every_ending_belongs_to_one_format():
    endings = [ending for f in FORMATS for ending in f.endings]
    assert len(set(endings)) == len(endings)


@pytest.mark.parametrize("ending", [".drn", ".json", ".umb"])
def test_who_made_the_log_can_be_asked_after_writing_and_reading(ending, tmp_path):
    """Law: a learned model keeps its counts, so the observed strategy survives the file."""
    mdp = learn_mdp(EventLog.from_sequences([["ask", "pay"]] * 30 + [["ask", "leave"]] * 10))
    write_mdp(mdp, tmp_path / f"learned{ending}")
    again = read_mdp(tmp_path / f"learned{ending}")
    assert observed_strategy(again).to_dict() == observed_strategy(mdp).to_dict()


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ('{"a": {"go": {"c": 1}}}', "no state 'c'"),
        ('{"a": {"go": {"a": 1}}}', "has no probability"),
        ('{"a": {"go": {"b": -1}}}', "how often"),
        ('{"a": 1}', "how often"),
        ("[]", "how often"),
    ],
)
def test_counts_that_fit_no_step_are_refused(counts, said):
    with pytest.raises(Exception, match=said) as error:
        jsonfile.loads(
            TINY.replace('"a": 1, "b": 1e-400', '"b": 1').replace('{"format"', f'{{"counts": {counts}, "format"')
        )
    assert type(error.value).__module__ == "waypost.errors"


def test_counts_that_do_not_fit_a_drn_are_refused():
    text = drn.dumps(full()).replace("//counts 1 3", "//counts 1")
    with pytest.raises(FormatError, match="counts 3 transitions and has 4"):
        drn.loads(text)


@pytest.mark.parametrize(
    ("loads", "text"),
    [
        (jsonfile.loads, TINY),
        (
            drn.loads,
            "@type: MDP\n@model\nstate 0 init\naction go\n\t\t0 : 1\n\t\t1 : 1e-400\nstate 1\naction go\n\t\t1 : 1\n",
        ),
        (prism.loads, "mdp module m x : [0..1] init 0; [go] x=0 -> 1 : (x'=0) + 1e-400 : (x'=1); endmodule"),
    ],
)
def test_what_is_possible_stays_possible(loads, text):
    """A probability below the least float is not zero."""
    assert loads(text).transitions.toarray()[0].tolist() == [1.0, 5e-324]


def test_names_that_show_some_variables_come_back_from_an_archive(tmp_path):
    mdp = full()
    write_mdp(mdp, tmp_path / "m.umb")
    again = read_mdp(tmp_path / "m.umb")
    assert isinstance(again.states, StateNames)
    assert again.where("n=4 & x>1").tolist() == [False, False, True]


def test_storm_reads_counts_as_a_comment(tmp_path):
    stormpy = pytest.importorskip("stormpy")
    drn.write(full(), tmp_path / "m.drn")
    assert stormpy.build_model_from_drn(str(tmp_path / "m.drn")).nr_states == 3
