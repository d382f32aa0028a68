"""A log tells its story: counted shares, union bounds, support, leakage, fit; by activity in every output."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from waypost import explain_log, group_importance, read_log
from waypost.errors import NameUnknownError
from waypost.learn import prepare
from waypost.logs import Actors, EventLog, write_log
from waypost.logs.steps.events import rename_events
from waypost.logs.steps.outcome import set_outcome
from waypost.report import render_report, summarise
from waypost.report.records import columns
from waypost.story import activity_path

COUNTED = ["cases", "events", "good_share", "bad_share", "observed", "success_after", "success_without"]
COUNTED += ["success_without_as_far"]
BY_STATE = "--by state asks about the states of a learned model"
KEYS = ["name", *COUNTED, "late_cases", "stage", "confounded", "defines_outcome"]
CHOOSING = Actors({"help": "us", "wait": "us", "luck": "us", "*": "they"}, frozenset({"us"}))


def logged(*parts: tuple[str, int]) -> EventLog:
    return EventLog.from_sequences([words.split() for words, number in parts for _ in range(number)])


def helped(lucky: int = 0) -> EventLog:
    """Cases that are helped or left to wait, and perhaps some that took a rare branch and always ended well."""
    parts = [("ask help pay", 600), ("ask help go", 400), ("ask wait pay", 200), ("ask wait go", 800)]
    return logged(*parts, ("ask luck pay", lucky))


@pytest.fixture
def run(invoke, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    return invoke


@pytest.fixture(scope="module")
def log_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "cases.csv"
    write_log(helped(), path)
    return path


def counted(sequences: list[tuple[str, ...]], positive: str) -> dict[str, tuple[float, float, int]]:
    """Share of the good and of the bad cases that have each activity, and how many have it: one plain loop."""
    good = [set(s) for s in sequences if positive in s]
    bad = [set(s) for s in sequences if positive not in s]
    names = {name for s in sequences for name in s}
    tally = Counter(name for s in good + bad for name in s)
    return {n: (sum(n in s for s in good) / len(good), sum(n in s for s in bad) / len(bad), tally[n]) for n in names}


def test_json_of_a_log_has_exactly_the_promised_keys(run, log_file):
    code, out, _ = run("explain", log_file, "--positive", "pay", "--json", "-")
    document = json.loads(out)
    assert code == 0
    assert [list(a) for a in document["activities"]] == [KEYS] * 5
    assert document["fit"] == {"worst": 0.0, "activity": document["fit"]["activity"]}
    by_name = {a["name"]: a for a in document["activities"]}
    assert by_name["help"]["good_share"] == by_name["help"]["observed"] == 0.75
    assert [by_name[n]["defines_outcome"] for n in ("ask", "help", "wait", "pay", "go")] == [False] * 3 + [True] * 2


def test_a_target_that_is_an_event_makes_cases_good(run, log_file):
    """Asked either way a log is told by its activities, unless the question is about states."""
    told = run("explain", log_file, "--positive", "pay", "-q")
    assert run("explain", log_file, "--target", "pay", "-q") == told
    about = ("--state", "help", "-q")
    assert run("explain", log_file, "--target", "pay", *about) == run("explain", log_file, "--positive", "pay", *about)
    _, out, err = run("explain", log_file, "-t", "pay")
    assert (out, err.splitlines()[0]) == (told[1], f"note: cases with 'pay' are good, as with --positive; {BY_STATE}")
    _, out, err = run("explain", log_file, "-t", "pay", "-t", "go", "--format", "csv")
    assert "'pay' or 'go' are good" in err
    for of_states in (["--by", "state"], ["--what-if"], ["--state", "q2: help"]):
        code, out, err = run("explain", log_file, "--target", "pay", *of_states)
        assert (code, "q2: help" in out, "--positive" in err) == (0, True, False)


def test_a_log_that_was_written_again_is_read_again(run, tmp_path):
    path = tmp_path / "cases.csv"
    told = []
    for number in (3, 5):
        write_log(logged(("ask pay", number), ("ask go", 4)), path)
        told.append(run("explain", path, "--target", "pay", "-q")[1].splitlines()[0])
    assert [line.split(" cases")[0] for line in told] == ["3 of 7", "5 of 9"]


def test_where_there_is_no_room_columns_that_say_least_go_first(invoke, monkeypatch):
    """And are named; where no table fits, all numbers stand below the names."""
    told = {}
    for width in (120, 80, 60, 40):
        monkeypatch.setenv("COLUMNS", str(width))
        _, told[width], _ = invoke("explain", "loan-log", "-q")
    assert "No room" not in told[120]
    assert "No room for 'in the model':" in told[80]
    assert "No room for 'in the model', 'any strategy', 'success without':" in " ".join(told[60].split())
    assert "in the model 100 %; any strategy 1;" in " ".join(told[40].split())
    assert max(map(len, told[40].splitlines())) <= 40


def test_bounds_are_there_where_somebody_chooses_and_are_those_of_the_union(run, log_file, tmp_path):
    """Over any and over the best strategies, `help` and `wait` have the bounds of passing any of their states."""
    actors = tmp_path / "actors.json"
    actors.write_text(json.dumps({"help": "us", "wait": "us", "*": "they"}))
    how = ("--positive", "pay", "--actors", actors, "--choosing", "us", "--eps", "none")
    code, out, _ = run("explain", log_file, *how, "--json", "-")
    assert code == 0
    activities = json.loads(out)["activities"]
    assert [list(a) for a in activities] == [[*KEYS, "all", "optimal"]] * 5
    log = set_outcome(helped(), positive="pay")
    mdp = prepare(log, actors=CHOOSING, eps="none").learn()
    for scope in ("all", "optimal"):
        groups = {a["name"]: a["name"] for a in activities}
        union = group_importance(mdp, target="positive", scope=scope, groups=groups)
        for activity in activities:
            assert tuple(activity[scope].values()) == union[activity["name"]]


def test_without_an_actor_map_no_strategy_is_looked_for(monkeypatch):
    """Observed first: a chain has one number per activity, and the engine is not asked."""
    monkeypatch.setattr("waypost.story.chosen.Question.of", lambda *_, **__: pytest.fail("a strategy was sought"))
    found = explain_log(helped(), positive="pay")
    assert found["help"] == {"observed": (0.75, 0.75), "contrast": (400 / 1200, 400 / 1200)}
    assert found.log.scopes == ()


def test_a_lucky_branch_is_not_advised_and_is_named(run, tmp_path):
    """A choice that one case took, and that ended well, does not make the best strategy perfect."""
    found = explain_log(helped(lucky=1), positive="pay", actors=CHOOSING)
    assert found.reachability.upper == pytest.approx(0.6)
    assert found["luck"]["optimal"] == (0, 0)
    told = " ".join(found.log.notes)
    assert "'luck'" in told
    assert "1.000 instead of 0.600" in told
    anyway = explain_log(helped(lucky=1), positive="pay", actors=CHOOSING, min_seen=1)
    assert anyway.reachability.upper == 1
    assert "optimal" in anyway.log.of("luck").on_few
    write_log(helped(lucky=1), tmp_path / "log.csv")
    choosing = [part for name in ("help", "wait", "luck") for part in ("--choosing", name)]
    _, out, _ = run("explain", tmp_path / "log.csv", "--positive", "pay", *choosing)
    assert "choices seen fewer than 5 times are not advised: 'luck'" in " ".join(out.split())
    _, out, _ = run("explain", tmp_path / "log.csv", "--positive", "pay", *choosing, "--min-seen", 1)
    assert "1*" in out
    assert "* hangs on choices that fewer than 30 cases took." in out


def test_a_renamed_deciding_event_gives_the_same_scores_and_is_named():
    plain = explain_log(helped(), positive="pay")
    renamed = explain_log(rename_events(helped(), names={"pay": "Zahlung"}), positive="Zahlung")
    same = [(a.name, a.good_share, a.bad_share, a.observed) for a in plain.log.ranked]
    assert same == [(a.name, a.good_share, a.bad_share, a.observed) for a in renamed.log.ranked]
    assert "Zahlung" in {a.name for a in renamed.log.defining}


@pytest.mark.parametrize(
    ("file", "positive"),
    [
        ("pm4py_demo/running-example.xes", "pay compensation"),
        ("pm4py_demo/receipt.xes.gz", "T10 Determine necessity to stop indication"),
        ("pm4py_demo/reviewing.xes.gz", "accept"),
        ("pm4py_demo/running-example.csv", "pay compensation"),
        ("synthetic/lending_log_high.xes.gz", "Sign Loan Agreement"),
        ("synthetic/a12f0n00.xes.gz", "f"),
    ],
)
def test_real_logs_are_told_as_they_are(run, shared_data, file, positive):
    """Counted and observed shares agree with a loop over the cases; the words name what separates most."""
    path = shared_data / f"logs/{file}"
    code, out, _ = run("explain", path, "--positive", positive, "--format", "json")
    assert code == 0
    shares = counted(read_log(path).sequences(), positive)
    found = json.loads(out)["activities"]
    assert {a["name"] for a in found} == set(shares)
    for activity in found:
        good, bad, cases = shares[activity["name"]]
        assert activity["cases"] + activity["late_cases"] == cases
        if activity["late_cases"]:
            continue
        assert (activity["good_share"], activity["bad_share"]) == (good, bad)
        assert abs(activity["observed"] - activity["good_share"]) <= 0.02
    _, out, _ = run("explain", path, "--positive", positive)
    said = " ".join(out.split())
    assert "association, not control" in said
    assert f"{positive}: decides that a case is positive" in said
    assert "of the cases that" in said or "by more than chance" in said or "All cases that succeed" in said


@pytest.mark.slow
def test_the_raw_loan_log_is_told_with_defaults(run, shared_data):
    """Good and bad shares equal counts made here, from the XML; the model says what the log says."""
    path = shared_data / "logs/bpic2012/BPI_Challenge_2012.xes.gz"
    code, out, _ = run("explain", path, "--positive", "A_APPROVED", "--json", "-")
    assert code == 0
    sequences = []
    with gzip.open(path) as stream:
        for _, element in ET.iterparse(stream):  # noqa: S314 - our own file
            if element.tag.endswith("trace"):
                events = (e for e in element if e.tag.endswith("event"))
                named = ([s.get("value") for s in e if s.get("key") == "concept:name"] for e in events)
                sequences.append(tuple(name for names in named for name in names))
                element.clear()
    shares = counted(sequences, "A_APPROVED")
    document = json.loads(out)
    assert len(document["activities"]) == len(shares) == 24
    for activity in document["activities"]:
        good, bad, cases = shares[activity["name"]]
        assert activity["cases"] + activity["late_cases"] == cases
        if activity["name"] != "O_CANCELLED":  # which mostly comes with the end
            assert (activity["good_share"], activity["bad_share"]) == (good, bad)
        if cases >= 0.01 * len(sequences):
            assert abs(activity["observed"] - good) <= 0.02
    assert document["fit"]["worst"] <= 0.02


def test_words_say_what_separates_and_what_all_pass():
    log = logged(("new call fix", 20), ("new fix", 980), ("new call drop", 950), ("new drop", 50))
    told = str(summarise(explain_log(log, positive="fix")))
    assert "95 % of the cases that fail pass call, 2 % of those that succeed (n = 970)" in told
    assert "Nearly all cases, good and bad, pass new: that explains nothing." in told


def test_every_file_speaks_of_activities():
    found = explain_log(helped(), positive="pay")
    assert columns(found)[:2] == ["activity", "defines_outcome"]
    table = pd.read_csv(io.StringIO(str(render_report(found, ".csv"))))
    assert list(table.activity) == list(found)
    assert table.good_share.tolist() == [a.good_share for a in found.log.activities]
    excel = pd.read_excel(io.BytesIO(render_report(found, ".xlsx")))
    parquet = pd.read_parquet(io.BytesIO(render_report(found, ".parquet")))
    assert list(excel.activity) == list(parquet.activity) == list(found)
    asked = "What do good cases have that bad ones lack?"
    for ending, title in ((".md", asked), (".txt", asked), (".html", "Good cases against bad")):
        text = str(render_report(found, ending))
        assert title in text
        assert "q1: " not in text
    assert b"<svg" in render_report(found, ".svg", picture="bars")
    assert b"help" in render_report(found, ".svg", picture="graph")


def test_a_state_is_an_activity_or_a_state(run, log_file):
    """``--state`` takes what the log calls things, or what the model does; ``--by state`` shows states."""
    _, out, _ = run("explain", log_file, "--positive", "pay", "--state", "help", "--csv", "-", "-q")
    assert [line.split(",")[0] for line in out.splitlines()] == ["activity", "help"]
    _, out, _ = run("explain", log_file, "--positive", "pay", "--state", "q0: start", "--csv", "-", "-q")
    assert [line.split(",")[0] for line in out.splitlines()] == ["state", "q0: start"]
    _, out, _ = run("explain", log_file, "--positive", "pay", "--by", "state", "-q")
    assert "q1: ask" in out
    assert "depending on the strategy" not in out
    with pytest.raises(NameUnknownError, match="did you mean 'help'"):
        explain_log(helped(), positive="pay", activities=["helb"])


def test_a_path_is_named_by_activities(run, log_file):
    """As run, the importance of a path is the share of the good cases that begin with it."""
    code, out, _ = run("path", log_file, "--positive", "pay", "--path", "ask,help", "-q", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["strategy"]["lower"] == pytest.approx(0.75)
    assert found["path"][-1].endswith(": help")
    code, _, err = run("path", log_file, "--positive", "pay", "--path", "ask,helb", "-q")
    assert code == 2
    assert "next come 'help', 'wait'" in err
    mdp = prepare(set_outcome(helped(), positive="pay"), actors=CHOOSING).learn()
    assert [name.partition(": ")[2] for name in activity_path(mdp, ["ask", "help"])[::4]] == ["start", "ask", "help"]


def test_without_an_outcome_the_way_to_one_is_told(run, log_file):
    code, _, err = run("explain", log_file)
    assert code == 2
    assert "--positive EVENT" in err
    assert "waypost log" in err
    code, _, err = run("explain", log_file, "--positive", "pai")
    assert code == 2
    assert "did you mean 'pay'" in err


def test_what_is_in_a_log_is_told_with_the_next_command(run, log_file):
    code, out, _ = run("log", log_file)
    assert code == 0
    assert "2,000 cases, 6,000 events" in out
    assert "--positive 'pay'" in out
    _, out, _ = run("log", log_file, "--json")
    found = json.loads(out)
    assert {a["name"]: a["cases"] for a in found["activities"]}["help"] == 1000


def test_two_logs_are_compared(run, tmp_path):
    write_log(logged(("ask help pay", 50), ("ask go", 50)), tmp_path / "before.csv")
    write_log(logged(("ask help pay", 80), ("ask go", 20)), tmp_path / "after.csv")
    files = (tmp_path / "before.csv", tmp_path / "after.csv")
    code, out, _ = run("compare", *files, "--positive", "pay", "-q")
    assert code == 0
    assert "The share of good cases rose from 50.0% to 80.0%" in out
    _, out, _ = run("compare", *files, "--positive", "pay", "-q", "--json")
    assert json.loads(out)["success"]["difference"] == pytest.approx(0.3)
    code, _, err = run("compare", files[0], "--positive", "pay")
    assert code == 2
    assert "--at DATE" in err


def test_one_log_is_compared_by_day_and_by_segment(run, tmp_path):
    rows = [
        (k, what, f"2024-01-{1 + k // 10:02} 1{n}:00", "web" if k % 2 else "shop")
        for k in range(200)
        for n, what in enumerate(["ask", "pay" if (k % 3 or k > 150) else "go"])
    ]
    frame = pd.DataFrame(rows, columns=["case", "activity", "time", "channel"])
    frame.to_csv(tmp_path / "log.csv", index=False)
    _, out, _ = run("compare", tmp_path / "log.csv", "--positive", "pay", "--at", "2024-01-16", "-q")
    assert "Before: cases that begin before 2024-01-16, 150 cases." in out
    _, out, _ = run("compare", tmp_path / "log.csv", "--positive", "pay", "--segment", "channel", "-q", "--json")
    assert {json.loads(out)["before"], json.loads(out)["after"]} == {"channel web", "channel shop"}
    _, out, _ = run("explain", tmp_path / "log.csv", "--positive", "pay", "--segment", "channel", "-q")
    assert "By channel:" in out


def test_eps_is_a_number_or_a_word(run, log_file):
    """Nothing is accepted and ignored: 0 merges nothing, as 'none' does."""
    for eps in ("0", "none"):
        _, out, _ = run("explain", log_file, "--positive", "pay", "--eps", eps, "-q")
        assert "without merging" in out
    _, out, _ = run("explain", log_file, "--positive", "pay", "--eps", "0.9", "-q")
    assert "merged with eps 0.9" in out
    code, _, err = run("explain", log_file, "--positive", "pay", "--eps", "much")
    assert code == 2
    assert "neither 'auto', 'none' nor a number" in err


def test_a_model_that_forgets_is_warned_of(run, tmp_path):
    """Merging states that differ is told as a warning, with what to do."""
    random = np.random.default_rng(1)
    cases = []
    for number in range(40):
        kind = number % 2 == 0
        cases.append(["ask", *(["work"] * int(random.integers(1, 6))), *(["seal", "pay"] if kind else ["go"])])
        if kind:
            cases[-1].insert(1, "badge")
    write_log(EventLog.from_sequences(cases), tmp_path / "log.csv")
    _, out, _ = run("explain", tmp_path / "log.csv", "--positive", "pay", "--eps", "0.00001", "-q")
    assert "Warning: Model" in out
    assert "--eps auto" in out
    _, out, _ = run("explain", tmp_path / "log.csv", "--positive", "pay", "-q")
    assert "Warning" not in out


def test_shares_get_intervals_when_cases_are_drawn_again(run, log_file, tmp_path):
    ends = tmp_path / "ends.csv"
    code, out, _ = run("explain", log_file, "--positive", "pay", "--bootstrap", 200, "--intervals", ends, "-q")
    assert code == 0
    assert "95 % intervals when cases are drawn again" in out
    assert "72." in out
    table = pd.read_csv(ends).set_index(["activity", "number"])
    low, high = table.loc[("help", "good_share")]
    assert 0.7 < low < 0.75 < high < 0.8


def test_hostile_names_are_told_and_do_nothing(run, tmp_path):
    names = ["=1+1", "<script>alert(1)</script>", "a\x1b[31m", "{{ x }}", "start", "a|b"]
    write_log(EventLog.from_sequences([[*names, "pay"]] * 40 + [[*names[:3], "go"]] * 40), tmp_path / "log.csv")
    page = tmp_path / "page.html"
    code, out, _ = run("explain", tmp_path / "log.csv", "--positive", "pay", "-q", "--html", page)
    assert code == 0
    assert "\x1b[31m" not in out
    assert "<script>alert(1)" not in page.read_text(encoding="utf-8")
    code, out, _ = run("log", tmp_path / "log.csv")
    assert code == 0
    assert "\x1b" not in out


def test_events_that_are_called_as_outcomes_are_told_apart(run, tmp_path):
    """What `waypost log` proposes works as printed, and the events that are the outcome explain nothing."""
    write_log(
        logged(("ask help positive", 30), ("ask negative", 20), ("ask help negative", 10)), tmp_path / "cases.csv"
    )
    code, out, err = run("explain", tmp_path / "cases.csv", "--positive", "positive")
    assert code == 0, err
    assert "events called 'negative' and 'positive', as outcomes are, have '(event)' after their name" in err
    assert "positive (event): decides that a case is positive." in out
    assert "negative (event): ends negative cases" in out
    assert "30 of 60 cases end well" in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--by", "activity", "--exact"], "--exact speaks of states; leave out --by activity"),
        (["--bootstrap", "3", "--match", "history"], "--match history goes with --by state"),
    ],
)
def test_options_that_speak_of_states_are_not_ignored(run, log_file, options, said):
    code, out, err = run("explain", log_file, "--positive", "pay", *options)
    assert (code, out) == (2, "")
    assert said in err


def test_a_slip_of_the_pen_is_told_without_a_recipe_that_nobody_gave(run, log_file):
    _, _, err = run("explain", log_file, "--positive", "pai")
    assert err.startswith("waypost: no event 'pai' in this log; did you mean 'pay'?")


def test_a_log_whose_good_cases_are_longer_is_told_so():
    """Steps that are drawn alike from moment to moment are in more of the long cases; that is said, and not of a log
    whose cases are of one length."""
    random = np.random.default_rng(1)
    for good, said in ((12, True), (4, False)):
        cases = [[*(f"song {k}" for k in random.integers(20, size=n)), *end] for n, end in [(good, ["like"])] * 60]
        cases += [[f"song {k}" for k in random.integers(20, size=4)] for _ in range(60)]
        told = explain_log(EventLog.from_sequences(cases), positive="like").log.notes
        assert any("long cases have more of everything" in note for note in told) == said


def test_waits_that_chance_alone_may_have_made_are_not_told():
    """The same waits, thirty cases or four hundred: one median twice the other says something only of the many."""
    for n, said in ((30, False), (400, True)):
        random = np.random.default_rng(2)
        rows = []
        for k in range(2 * n):
            hours = int(random.lognormal(3.0 if k % 2 else 3.7, 1.2)) + 1
            end = pd.Timestamp("2024-01-01", tz="UTC") + pd.Timedelta(hours=hours)
            ends = (k, "pay" if k % 2 else "go", end + pd.Timedelta(days=1))
            rows += [(k, "ask", pd.Timestamp("2024-01-01", tz="UTC")), (k, "call", end), ends]
        log = read_log(pd.DataFrame(rows, columns=["case", "activity", "time"]))
        found = explain_log(log, positive="pay").log.of("call").waiting
        assert (found is not None) == said
