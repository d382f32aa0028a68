"""From a log to scores, with no special code: the case studies' logs, made-up ones, and other people's."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from waypost import explain, group_importance
from waypost.cases import case, listening_sessions, loan_log, prepare_case, recipe, session_log
from waypost.cases.mssd import read_sessions, share_of
from waypost.errors import LogError
from waypost.learn import observed_strategy, prepare
from waypost.logs import Recipe, RecipeStep, read_log, write_log
from waypost.logs.log import OUTCOME

pytestmark = pytest.mark.filterwarnings("ignore::waypost.learn.ThinDataWarning")


@pytest.mark.parametrize(
    ("file", "positive", "needed"),
    [
        ("pm4py_demo/running-example.xes", "pay compensation", "decide"),
        ("pm4py_demo/receipt.xes.gz", "T10 Determine necessity to stop indication", "Confirmation of receipt"),
        ("pm4py_demo/reviewing.xes.gz", "accept", "invite reviewers"),
        ("synthetic/lending_log_high.xes.gz", "Sign Loan Agreement", "Request Appointment"),
    ],
)
def test_other_peoples_logs_go_from_log_to_scores(shared_data, file, positive, needed):
    """Every case with the event is positive; what must happen before it is indispensable under every strategy."""
    log = read_log(shared_data / f"logs/{file}")
    assert positive in log.activities()
    outcome = Recipe(steps=(RecipeStep("set_outcome", {"positive": positive}),))
    mdp = prepare(log, outcome).learn()
    found = explain(mdp, target="positive", scope=("all", "optimal", observed_strategy(mdp)))
    assert (found.scopes["all"].lower <= found.scopes["all"].upper).all()
    observed = found.scopes["strategy"]
    assert (found.scopes["all"].lower <= observed.lower + 1e-9).all()
    assert (observed.upper <= found.scopes["all"].upper + 1e-9).all()
    shares = group_importance(mdp, target="positive", scope="all", groups={needed: needed, positive: positive})
    assert shares[needed].lower == 1
    assert shares[positive].upper == 1


def test_the_bpic17_recipe_runs_on_the_sample(shared_data):
    """Columns mapped by the recipe; acceptance is needed for a pending application, cancelling never leads to one."""
    prepared = prepare_case("bpic17", shared_data / "logs/bpic2017/bpic17_sample_outcome.csv")
    mdp = prepared.learn()
    assert prepared.log is not None
    assert prepared.log.n_cases > 1000
    assert {"A_Pending", "TIMEOUT", "A_CancelledCUSTOMER", "O_CreateOffer0", "positive", "negative"} <= set(mdp.labels)
    asked = ("A_Pending", "O_CreateOffer0", "O_CreateOffer1", "TIMEOUT", "A_CancelledCUSTOMER")
    groups = {name: name for name in asked}
    found = group_importance(mdp, target="positive", scope="all", groups=groups)
    assert found["A_Pending"].lower == found["O_CreateOffer0"].lower == 1
    assert found["TIMEOUT"].upper == found["A_CancelledCUSTOMER"].upper == 0
    assert found["O_CreateOffer1"].upper > 0


def test_made_up_loan_applications_go_from_log_to_scores():
    mdp = case("loan-log")
    found = group_importance(
        mdp,
        target="positive",
        scope="optimal",
        groups={name: name for name in ("Accept offer", "Make offer1", "Make offer3", "Withdraw", "Send papers")},
    )
    assert found["Accept offer"].lower == found["Make offer1"].lower == 1
    assert found["Withdraw"].upper == 0
    assert 0 < found["Send papers"].lower < 0.5  # some applications lack papers, and need them
    assert 0 <= found["Make offer3"].upper < 1


def test_made_up_logs_are_the_same_for_the_same_seed(tmp_path):
    one, two, other = loan_log(50, seed=3), loan_log(50, seed=3), loan_log(50, seed=4)
    assert one.events.equals(two.events)
    assert one.sequences() != other.sequences()
    write_log(one, tmp_path / "log.csv")
    again = prepare(read_log(tmp_path / "log.csv"), recipe("loan-log"))
    assert again.traces == prepare(one, recipe("loan-log")).traces
    with pytest.raises(LogError, match="at least one case"):
        loan_log(0)


def test_made_up_sessions_have_the_shape_of_the_dataset(tmp_path):
    """The published models have 4 states with a choice, one per context; names with decades; both ends after both."""
    sessions, tracks = listening_sessions(60, seed=2, songs=300)
    log = session_log(sessions, tracks)
    mdp = prepare(log, recipe("mssd")).learn()
    choosing = np.flatnonzero(np.diff(mdp.first_choice) > 1)
    contexts = ("charts", "editorial_playlist", "personalized_playlist", "radio")
    assert sorted(mdp.states[s].split(": ")[1] for s in choosing) == [f"customerselect_context_{c}" for c in contexts]
    assert np.diff(mdp.first_choice).max() > 10
    songs = {name for name in log.activities() if name.startswith(("song_", "played_"))}
    assert {name.split("_")[1] for name in songs} <= {"0", "10", "50", "60", "70", "80", "90"}
    assert all(re.fullmatch(r"(song|played)_\d+_(major|minor)_\d+_\d+_\d+", name) for name in songs)
    outcomes = log.column(OUTCOME, "a test")[log.first_event[:-1]]
    ends = {(case[-1], out) for case, out in zip(log.sequences(), outcomes, strict=True)}
    assert ends == {(a, b) for a in ("skipped", "not_skipped") for b in ("positive", "negative")}
    for end in ("positive", "negative"):  # the company's doing, as in the published models, and not a third party's
        last = np.flatnonzero(mdp.transitions[:, np.flatnonzero(mdp.labels[end])].sum(axis=1))
        before = {(mdp.states[mdp.choice_state[c]].split(": ")[1], mdp.actions[c]) for c in last}
        assert before == {("companyskipped", "company"), ("companynot_skipped", "company"), (end, "(final)")}
    (tmp_path / "sessions").mkdir()
    sessions.to_csv(tmp_path / "sessions/log_mini.csv", index=False)
    tracks.to_csv(tmp_path / "tf_mini.csv", index=False)
    assert read_sessions(tmp_path).sequences() == log.sequences()
    assert prepare_case("mssd", tmp_path / "sessions/log_mini.csv").log.sequences() == log.sequences()


@pytest.mark.slow
def test_a_thousand_made_up_sessions_give_a_model_as_large_as_the_published_one():
    """MSSD10 of the authors has 5,910 states, of which 4 have a choice."""
    mdp = prepare(session_log(*listening_sessions(1000)), recipe("mssd")).learn()
    assert mdp.n_states == 5952
    assert (np.diff(mdp.first_choice) > 1).sum() == 4


def test_sessions_without_tracks_or_columns_are_refused(tmp_path):
    sessions, tracks = listening_sessions(3, seed=2)
    with pytest.raises(LogError, match="table of sessions has no column 'skip_2'"):
        session_log(sessions.drop(columns="skip_2"), tracks)
    with pytest.raises(LogError, match="is not in the table of tracks"):
        session_log(sessions, tracks.iloc[:1])
    sessions.to_csv(tmp_path / "log.csv")
    with pytest.raises(LogError, match=r"mssd needs .*there is no tf\*\.csv near it"):
        read_sessions(tmp_path / "log.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LogError, match=r"has no log\*\.csv"):
        read_sessions(tmp_path / "empty")


def test_a_session_is_told_as_the_authors_tell_it():
    """Profile of the first five tracks, pause, context always, decade and tenths, and their swapped word for a skip."""
    columns = ["session_id", "session_position", "track_id_clean", "skip_2", "no_pause_before_play",
               "long_pause_before_play", "context_type"]  # fmt: skip
    rows = [("a", k, "t1" if k <= 5 else "t2", k == 2, int(k != 3), 0, "radio") for k in range(1, 17)]
    rows += [("b", 1, "t2", True, 0, 1, "catalog"), ("b", 2, "t2", False, 0, 1, "catalog")]
    tracks = pd.DataFrame(
        [("t1", 1987, "major", 0.29, 0.55, 0.999), ("t2", 2005, "minor", 1.0, 0.0, 0.05)],
        columns=["track_id", "release_year", "mode", "acousticness", "danceability", "energy"],
    )
    sessions = pd.DataFrame(rows[::-1], columns=columns)
    long, short = session_log(sessions, tracks).sequences()
    assert long[:8] == (
        "startprofile_2_5_9", "select_context_radio", "song_80_major_2_5_9", "skipped", "select_context_radio",
        "song_80_major_2_5_9", "not_skipped", "short_pause",
    )  # fmt: skip
    assert short == (
        "startprofile_10_0_0", "select_context_catalog", "played_0_minor_10_0_0", "not_skipped", "long_pause",
        "select_context_catalog", "played_0_minor_10_0_0", "skipped",
    )  # fmt: skip
    assert session_log(sessions, tracks, naming="plain").sequences()[1][3] == "skipped"
    ends = session_log(sessions, tracks).column(OUTCOME, "a test")
    assert list(dict.fromkeys(ends)) == ["positive", "negative"]


def test_a_share_of_the_sessions_is_drawn_by_its_seed():
    log = session_log(*listening_sessions(40, songs=100))
    some = share_of(log, 25, seed=3)
    assert some.n_cases == 10
    assert set(some.sequences()) <= set(log.sequences())
    assert some.sequences() == share_of(log, 25, seed=3).sequences() != share_of(log, 25, seed=4).sequences()
    assert share_of(log, 100).sequences() == log.sequences()
    with pytest.raises(LogError, match="1 to 100 percent"):
        share_of(log, 101)
