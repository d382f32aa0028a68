"""Patterns, ways, decisions and what-ifs on the command line: the library's numbers, in words, tables and JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import waypost
from waypost.cases import loan
from waypost.formats import jsonfile
from waypost.logs import EventLog, write_log

ALTERNATE = {"s0": {"Apply": 0.5, "Consult": 0.5}, "Error": "Quit", "Consultation": "Apply", "Rework": "Submit"}


@pytest.fixture
def run(answered, tmp_path, monkeypatch):
    """Run a command that must succeed, in a folder with a model and a strategy, 80 characters wide; what it prints."""
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "loan.json").write_text(jsonfile.dumps(loan()))
    (tmp_path / "mine.json").write_text(json.dumps(ALTERNATE))
    return answered


def mine() -> waypost.Strategy:
    return waypost.Strategy.from_dict(loan(), ALTERNATE)


@pytest.mark.parametrize("exact", [False, True])
def test_a_pattern_is_asked_in_both_scopes(run, exact):
    """JSON has the library's numbers, fractions in exact mode."""
    text = "... Error ... Application+ ..."
    document = json.loads(run("pattern", "loan.json", "-t", "Granted", text, "--json", *["--exact"] * exact))
    assert (document["format"], document["target"], document["pattern"]) == (1, "Granted", text)
    assert document["matches"] == "sometimes"
    for scope in ("all", "optimal"):
        found = waypost.pattern_importance(loan(), pattern=text, target="Granted", scope=scope, exact=exact)
        shown = (str(x) if exact else x for x in found)
        assert document[scope] == dict(zip(("lower", "upper"), shown, strict=True))


def test_without_a_model_one_argument_is_the_pattern(run):
    assert run("pattern", "... Error ...") == run("pattern", "loan.json", "-t", "Granted", "... Error ...")


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_the_witness_of_a_pattern_goes_to_a_file_and_comes_back(run, side):
    asked = ("pattern", "... Consultation ... Rework ...", "-t", "Granted", "--json")
    bound = json.loads(run(*asked, "--scope", "all"))["all"][side]
    assert run(*asked[:-1], "--scope", "all", "--witness", side, "-o", "witness.json") == ""
    found = json.loads(run(*asked, "--strategy", "witness.json"))["strategy"]
    assert (found["lower"], found["upper"]) == pytest.approx((bound, bound), abs=1e-12)


def test_a_pattern_that_always_or_never_matches_is_said_to(run):
    assert "Every run that reaches 'Granted' matches it, whatever is done." in run(
        "pattern", "precedence(Rework, Resubmit)"
    )
    assert "No run that reaches 'Granted' matches it, whatever is done." in run("pattern", "... Rejected ...")
    assert "whatever is done" not in run("pattern", "... Error ...")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("... (Error | ", "in the pattern '... (Error | ' a step is missing at the end"),
        ("... Error{2", "in the pattern '... Error{2' "),
        ("... Eror ...", "no step 'Eror' in this model; did you mean 'Error'?"),
        ("... Error/Applies ...", "no action 'Applies' in this model"),
        ("response(Error)", "response is written response(A, B), but is not"),
        ("... Error .{20} Rework ...", "needs an automaton of more than 2000 states"),
        ("", "in the pattern '' a step is missing"),
    ],
)
def test_a_bad_pattern_is_one_sentence(refused, pattern, said):
    """With the place of the mistake, or the size of what it would take."""
    message = (
        refused("pattern", "-t", "Granted", pattern) if pattern else refused("pattern", "loan", "", "-t", "Granted")
    )
    assert message.startswith("waypost: ")
    assert said in message
    assert "\n" not in message


def test_a_witness_wants_one_scope_and_a_pattern_is_wanted(refused):
    assert "say --scope all or --scope optimal" in refused("pattern", "... Error ...", "--witness", "upper")
    assert "say which pattern" in refused("pattern", "-t", "Granted")


def test_the_telling_segments_are_those_of_the_library(run):
    document = json.loads(
        run("patterns", "loan.json", "-t", "Granted", "--strategy", "mine.json", "--json", "--top", "3")
    )
    found = waypost.find_patterns(loan(), target="Granted", strategy=mine(), top=3)
    assert len(found) > 0
    assert [one["pattern"] for one in document["patterns"]] == [str(one.pattern) for one in found]
    assert [one["information"] for one in document["patterns"]] == [one.information for one in found]
    assert (document["reachability"], document["tried"]) == (found.reached, found.tried)
    words = run("patterns", "loan.json", "-t", "Granted", "--strategy", "mine.json", "--top", "3")
    assert "Under the strategy in mine.json 'Granted' is reached with probability" in words


def test_where_no_segment_tells_anything_that_is_said(run, tmp_path):
    mdp = waypost.MDP.from_dict({"s": {"a": {"t": 0.5, "u": 0.5}}, "t": {}, "u": {}}, initial="s")
    (tmp_path / "m.json").write_text(jsonfile.dumps(mdp))
    assert "No segment tells anything about reaching 't'." in " ".join(run("patterns", "m.json", "-t", "t").split())


def test_a_log_is_read_by_activity_and_as_it_was_run(run):
    """The usual ways have the activities of the log, and every share is that of the way's own pattern."""
    document = json.loads(run("paths", "loan-log:300", "-q", "--json", "--top", "3"))
    assert document["strategy"] == "the observed strategy"
    first = document["ways"][0]
    assert first["way"].startswith("start, Submit application")
    asked = ("pattern", "loan-log:300", "-q", "--strategy", "observed", "--json", "--", first["pattern"])
    assert json.loads(run(*asked))["strategy"]["upper"] == pytest.approx(first["share"], abs=1e-9)
    by_state = json.loads(run("paths", "loan-log:300", "-q", "--json", "--top", "1", "--by", "state"))
    assert "q1: " in by_state["ways"][0]["way"] or ": " in by_state["ways"][0]["way"]


def test_decisions_add_up(run):
    """What the departures cost is what the strategy loses."""
    document = json.loads(run("decisions", "loan.json", "-t", "Granted", "--strategy", "mine.json", "--json"))
    lost = document["reachability"]["max"] - document["reachability"]["strategy"]
    assert lost == pytest.approx(document["cost"])
    assert sum(one["cost"] for one in document["decisions"]) + document["idle"] == pytest.approx(lost)
    worth = next(one for one in document["decisions"] if one["state"] == "Error")["actions"]
    assert worth == pytest.approx({"Consult": 0.98, "Quit": 0.0})
    words = run("decisions", "loan.json", "-t", "Granted", "--strategy", "mine.json")
    assert "Departing from the best costs the strategy in mine.json" in words
    assert "The decision with the most at stake is in Consultation" in run("decisions")


def test_fractions_are_printed_as_such(run):
    assert "is 0 to 98/953: 0 % to 10.3 %" in " ".join(run("pattern", "... Error ... Granted", "--exact").split())


def test_runs_are_read_by_labels_where_these_name_the_states(run):
    """Nobody knows what loc=1 is; the labels that tools add name nothing."""
    moves = {"loc=0": {"a": "loc=1"}, "loc=1": {"b": "loc=2"}, "loc=2": {}}
    labels = {"init": ["loc=0"], "ask": ["loc=0"], "check": ["loc=1"], "pay": ["loc=2"], "deadlock": ["loc=2"]}
    Path("named.json").write_text(jsonfile.dumps(waypost.MDP.from_dict(moves, initial="loc=0", labels=labels)))
    assert "ask, check, pay" in run("paths", "named.json", "-t", "pay")
    assert "loc=0, loc=1, loc=2" in run("paths", "named.json", "-t", "pay", "--by", "state")


def test_states_in_which_every_action_is_as_good_are_no_decisions_that_matter(run):
    """They are counted, and take no row; a state goes by its label, and by its name where two share one."""
    model = {
        "s0": {"a": "s1", "b": "s1"},
        "s1": {"left": "s2", "right": "s3"},
        "s2": {"up": "goal", "down": "lost"},
        "s3": {"up": "goal", "down": "lost"},
        "goal": {},
        "lost": {},
    }
    mdp = waypost.MDP.from_dict(model, initial="s0", labels={"call": ["s2", "s3"]})
    Path("calls.json").write_text(jsonfile.dumps(mdp))
    words = run("decisions", "calls.json", "-t", "goal")
    assert "In 2 further states with a choice all actions are worth the same." in words
    assert "call (s2)" in words
    assert "s0" not in words


def test_the_importance_of_choices_stands_beside_the_decisions(run):
    document = json.loads(run("decisions", "--importance", "all", "--json"))
    scores = waypost.choice_importance(loan(), target="Granted", scope="all")
    assert [one["state"] for one in document["decisions"]] == [
        one.state for one in waypost.decisions(loan(), target="Granted")
    ]
    for one in document["decisions"]:
        assert one["importance"] == {a: scores[one["state"], a]._asdict() for a in one["actions"]}
    lines = [line.split() for line in run("decisions", "--importance", "optimal").splitlines()]
    assert ["state", "action", "met", "worth", "costs", "taken", "importance"] in lines
    assert ["Consultation", "Apply", "0.525", "0.98", "0", "1", "0.525", "to", "1"] in lines


def test_many_actions_are_shown_by_the_best_and_the_worst(run, tmp_path):
    ways = {f"way {k}": {"t": k / 10, "u": 1 - k / 10} for k in range(1, 10)}
    (tmp_path / "m.json").write_text(jsonfile.dumps(waypost.MDP.from_dict({"s": ways, "t": {}, "u": {}}, initial="s")))
    out = run("decisions", "m.json", "-t", "t")
    assert [k for k in range(1, 10) if f"way {k} " in out] == [1, 6, 7, 8, 9]
    assert "(4 more)" in out


def test_long_ways_are_told_by_what_the_first_has_not(run, tmp_path, monkeypatch):
    """On request they are whole, and JSON always has them so."""
    monkeypatch.setenv("COLUMNS", "300")
    steps = {f"s{k}": {"go": f"s{k + 1}"} for k in range(20)} | {"s20": {}}
    steps["s9"] = {"go": {"s10": 0.75, "extra": 0.25}}
    (tmp_path / "long.json").write_text(
        jsonfile.dumps(waypost.MDP.from_dict(steps | {"extra": {"go": "s10"}}, initial="s0"))
    )
    short, whole = (" ".join(run("paths", "long.json", "-t", "s20", *more).split()) for more in ((), ("--whole",)))
    assert "s0, … 8 steps as in the first …, s9, extra, s10, … 9 steps as in the first …, s20" in short
    assert "--whole writes them out" in short
    assert "…" not in whole
    assert whole.count("s13,") == 2
    document = json.loads(run("paths", "long.json", "-t", "s20", "--json"))
    assert document["ways"][1]["way"].count("s13,") == 1


def test_the_usual_ways_come_with_their_importance_as_paths(run):
    document = json.loads(run("paths", "--json", "--exact"))
    ways = waypost.usual_ways(loan(), target="Granted")
    assert [one["share"] for one in document["ways"]] == [way.share for way in ways]
    for one, way in zip(document["ways"], ways, strict=True):
        bounds = way.importance("all", exact=True)
        assert one["path"] == {"lower": str(bounds.lower), "upper": str(bounds.upper)}
    assert "Together 100 % of the runs" in run("paths")


def test_a_way_is_drawn_in_its_model(run, tmp_path, refused):
    pytest.importorskip("matplotlib")
    run("paths", "--plot", "way.svg")
    drawn = (tmp_path / "way.svg").read_text()
    assert "<svg" in drawn
    assert "Application+" in drawn
    assert "cannot write 'way.doc'" in refused("paths", "--plot", "way.doc")


def test_an_answer_goes_to_a_file_by_its_ending(run, tmp_path):
    for command in (["pattern", "... Error ..."], ["patterns"], ["paths"], ["decisions"]):
        assert run(*command, "-o", "answer.json") == ""
        assert (tmp_path / "answer.json").read_text() == run(*command, "--json")
        run(*command, "-o", "answer.txt")
        assert "'Granted'" in (tmp_path / "answer.txt").read_text()


@pytest.mark.parametrize(
    ("command", "head"),
    [
        ("patterns --by state", "segment reach it do not all runs bits"),
        ("patterns", "pattern cases cases strategy strategies with without cases"),
        ("paths", "way share as a path"),
        ("decisions", "state action met worth costs taken"),
    ],
)
def test_tables_keep_their_columns_at_eighty_characters(run, command, head):
    lines = run(*command.split(), "loan-log:300", "-q").splitlines()
    assert max(map(len, lines)) <= 80
    assert head in [" ".join(line.split()) for line in lines]


def test_hostile_names_are_shown_and_do_nothing(run, tmp_path):
    evil = "[red]x[/red]\x1b[31m\n<b>"
    choices = {
        "s": {"a": {evil: 0.5, "w": 0.5}},
        evil: {evil: {"m": 0.9, "w": 0.1}, "b": "w"},
        "w": {"a": {"m": 0.5, "u": 0.5}},
        "m": {"a": {"t": 0.5, "u": 0.5}},
        "t": {},
        "u": {},
    }
    (tmp_path / "m.json").write_text(jsonfile.dumps(waypost.MDP.from_dict(choices, initial="s")))
    (tmp_path / "half.json").write_text(json.dumps({evil: {evil: 0.5, "b": 0.5}}))
    for command in ("patterns", "paths", "decisions"):
        out = run(command, "m.json", "-t", "t", "--strategy", "half.json")
        assert "\x1b[31m" not in out
        assert "[red]" in out


def test_forbidding_something_explains_what_is_left(run):
    """The same as the model in which it is forbidden."""
    document = json.loads(run("explain", "--without", "Consultation", "--without", "s0/Consult", "--json", "-"))
    left = waypost.without(loan(), ["Consultation", "s0/Consult"])
    assert document["reachability"]["max"] == waypost.reachability(left, target="Granted", optimum="max")[0]
    found = waypost.explain(left, target="Granted")
    for entry in document["states"]:
        assert entry["all"] == found[entry["name"]]["all"]._asdict()


def test_success_after_and_without_stand_beside_the_importance(run):
    """In JSON, in the table, and in sentences; exact where asked."""
    document = json.loads(run("explain", "--what-if", "--exact", "--json", "-"))
    after = waypost.success_after(loan(), target="Granted", exact=True)
    left = waypost.success_without(loan(), target="Granted", exact=True)
    for entry in document["states"]:
        name = entry["name"]
        assert entry["after"] == {"lower": str(after[name].lower), "upper": str(after[name].upper)}
        assert entry["without"] == str(left[name])
    out = re.sub(r"\s+", " ", run("explain", "--what-if"))
    assert "Without Application+, 'Granted' cannot be reached." in out
    assert "Without Consultation, 'Granted' is reached with probability 0.465 at best, instead of 0.98." in out


def test_a_log_without_an_activity_is_told_as_it_is_with_it(run, refused):
    first = [run("explain", "loan-log:300", "-q", *more).splitlines()[0] for more in ((), ("--without", "Send papers"))]
    assert first[0] == first[1]
    said = refused("explain", "loan-log:300", "-q", "--without", "Send papers", "--bootstrap", "3")
    assert "leave out --without" in said


def test_names_that_want_quotes_are_shown_with_them(refused):
    assert 'go in quotes: "Angry"|"Rejected"' in refused("explain", "--group", "x=Angry|Rejected")
    assert "quotes" not in refused("explain", "--state", "Angri|Rejected")


@pytest.mark.parametrize("command", ["paths", "patterns --by state", "decisions"])
def test_that_a_model_is_far_off_its_log_is_said_by_every_command_that_learns_one(invoke, tmp_path, command):
    """Merging forgets who was helped before the wait; whoever asks for it is told what that does to the numbers."""
    path = tmp_path / "log.csv"
    cases = [["ask", "help", "wait", "thank", "pay"]] * 6 + [["ask", "wait", "go"]] * 6
    write_log(EventLog.from_sequences(cases), path)
    said = {
        eps: invoke(*command.split(), path, "--positive", "pay", "--eps", eps)[2] for eps in ("0.01", "auto", "none")
    }
    assert re.search(r"note: the model is at most \d+\.\d points off the log \(at 'help'\); learn again", said["0.01"])
    assert "off the log" not in said["auto"] + said["none"]


def shopping(tmp_path) -> str:
    """A log of customers who are called before or after they get a mail, which makes all the difference."""
    path = tmp_path / "log.csv"
    cases = [["start", "call", "mail", "pay"]] * 50 + [["start", "mail", "call", "go"]] * 50
    write_log(EventLog.from_sequences(cases), path)
    return str(path)


def test_the_patterns_of_a_log_are_those_that_were_counted(run, tmp_path):
    """The command prints what the function finds, as a table and as JSON; --target EVENT is --positive EVENT."""
    path = shopping(tmp_path)
    document = json.loads(run("patterns", path, "--positive", "pay", "--json", "-q"))
    found = waypost.find_log_patterns(path, positive="pay")
    assert [one["pattern"] for one in document["patterns"]] == [one.name for one in found]
    assert document["patterns"][0]["words"] == "call, later mail"
    assert document["patterns"][0]["importance"] == found[0].good_share == 1
    assert json.loads(run("patterns", path, "--target", "pay", "--json", "-q")) == document
    words = re.sub(r"\s+", " ", run("patterns", path, "--positive", "pay", "-q"))
    assert "50 of 100 cases end well (50 %)." in words
    assert "call, later mail 100 % 0 % 100 % 0 % 50" in words


def test_what_a_log_of_patterns_cannot_do_with_an_option_is_said(refused, invoke, tmp_path):
    path = shopping(tmp_path)
    assert "say which cases are good: --positive EVENT" in refused("patterns", path)
    assert "leave out --resume" in refused("patterns", path, "--positive", "pay", "-q", "--resume", "kept.jsonl")
    assert "--eps changes nothing" in invoke("patterns", path, "--positive", "pay", "--eps", "0.5")[2]


def test_a_log_is_searched_as_a_model_where_states_or_strategies_are_asked_about(run, tmp_path):
    path = shopping(tmp_path)
    for more in (["--by", "state"], ["--strategy", "best"]):
        assert "is reached with probability" in run("patterns", path, "--positive", "pay", "-q", *more)


@pytest.mark.parametrize("command", ["patterns", "paths", "decisions", "pattern"])
def test_hostile_names_in_a_log_are_shown_and_do_nothing(run, tmp_path, command):
    """Quotes, escape sequences, markup, line ends, emoji; a pattern as JSON has it is one that can be asked about."""
    evil, worse = '[red]"x"[/red]\x1b[31m\n<b>', "🙂\u202e\\'&; ..."
    cases = [["start", evil, worse, "pay"]] * 50 + [["start", worse, evil, "go"]] * 50
    path = str(tmp_path / "log.csv")
    write_log(EventLog.from_sequences(cases), path)
    asked = [path, "--positive", "pay", "-q"]
    if command == "pattern":
        asked.insert(1, json.loads(run("patterns", *asked, "--json"))["patterns"][0]["pattern"])
        asked += ["--strategy", "observed"]
    out = run(command, *asked)
    assert "\x1b[31m" not in out
    assert "\u202e" not in out
    assert command == "decisions" or "[red]" in out
    assert command != "pattern" or "importance is 1: 100 %" in out
