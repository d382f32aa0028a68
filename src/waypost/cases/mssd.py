"""Listening sessions of the Music Streaming Sessions Dataset (MSSD) as the paper's authors prepared them.

A session becomes a case: first a profile, the means of acousticness, danceability and energy over the tracks up to
position 5; then for every track the pause before it, if there was one, the context, the track by its decade, mode and
features, and whether it was skipped. Features are tenths, cut to whole numbers. In radio, charts and playlists the
track is a choice, a ``song_``; in the listener's own collection and the catalogue it was ``played``, which is chance.
A session is positive when it has 16 tracks or more.

The authors' script (``journepy/src/preprocessing/spotify.py`` of github.com/smartjourneymining/mdp_ce) writes
``skipped`` where ``skip_2`` is *false*, and ``not_skipped`` where it is true. ``naming="paper"`` keeps their names, so
that models can be compared; ``naming="plain"`` says what happened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

from waypost.errors import LogError, require
from waypost.logs import EventLog, read_log
from waypost.logs.log import ACTIVITY, CASE, each_once
from waypost.logs.steps.outcome import set_outcome

SOURCE = "the Music Streaming Sessions Dataset of Spotify (the mini version will do: log_mini.csv and tf_mini.csv)"
SESSIONS = 10_000  # of the mini version
CHOSEN = ("radio", "editorial_playlist", "charts", "personalized_playlist")  # contexts in which the song is a choice
PROFILE = 5  # the profile is that of the tracks up to this position
LONG = 16  # tracks of a positive session
FEATURES = ["acousticness", "danceability", "energy"]
SESSION_COLUMNS = (
    "session_id",
    "session_position",
    "track_id_clean",
    "skip_2",
    "no_pause_before_play",
    "long_pause_before_play",
    "context_type",
)
TRACK_COLUMNS = ("track_id", "release_year", "mode", *FEATURES)


def session_log(sessions: Any, tracks: Any, *, naming: Literal["paper", "plain"] = "paper") -> EventLog:
    """Event log of sessions, as the dataset's tables have them: one row per track played, one row per track known."""
    return told_log(joined(sessions, tracks), naming=naming)


def joined(sessions: Any, tracks: Any) -> Any:
    """One table of the tracks played, session by session and in their order, each with its features."""
    _check(sessions, SESSION_COLUMNS, "the table of sessions")
    _check(tracks, TRACK_COLUMNS, "the table of tracks")
    pandas = require("pandas", "logs", "reading sessions")
    sessions, tracks = sessions[list(SESSION_COLUMNS)], tracks[list(TRACK_COLUMNS)]
    rows = sessions.merge(tracks, left_on="track_id_clean", right_on="track_id", how="left", validate="many_to_one")
    unknown = rows["track_id"].isna()
    if unknown.any():
        raise LogError(f"track {rows['track_id_clean'][unknown].iloc[0]!r} of a session is not in the table of tracks")
    rows = rows.drop(columns=["track_id", "track_id_clean"])
    rows["session_position"] = pandas.to_numeric(rows["session_position"])
    return rows.sort_values(["session_id", "session_position"], kind="stable", ignore_index=True)


def told_log(rows: Any, *, naming: Literal["paper", "plain"] = "paper") -> EventLog:
    """Event log of the tracks played, as `joined` gives them."""
    pandas = require("pandas", "logs", "reading sessions")
    session, names = pandas.factorize(rows["session_id"])
    told, events = _told(rows, session, naming)
    del rows  # of millions of events one table at a time is enough
    length = np.where(np.bincount(session) >= LONG, "long", "short").astype(object)
    case = np.repeat(session.astype(np.int32), events)
    table = pandas.DataFrame({CASE: names.astype(str).to_numpy(object)[case], ACTIVITY: told, "length": length[case]})
    del told, case
    return set_outcome(read_log(table), positive="long", negative="short", attribute="length")


def _told(rows: Any, session: Any, naming: str) -> tuple[Any, Any]:
    """Names of the events of all sessions, and how many of them each row tells."""
    first = np.concatenate(([True], session[1:] != session[:-1]))
    paused = ~first & ~_true(rows["no_pause_before_play"])
    events = (
        3 + first + paused
    )  # the first row tells the profile, every row its context, track and whether it was skipped
    last = np.cumsum(events) - 1
    told = np.empty(int(last[-1]) + 1, object)
    told[last[first] - 3] = _profiles(rows, session, first)
    pauses = np.array(["short_pause", "long_pause"], object)
    told[last[paused] - 3] = pauses[_true(rows["long_pause_before_play"])[paused].astype(int)]
    words = ("skipped", "not_skipped") if naming == "paper" else ("not_skipped", "skipped")
    told[last] = np.array(words, object)[_true(rows["skip_2"]).astype(int)]
    tenths = (10 * rows[FEATURES].astype(float).to_numpy()).astype(int)
    decade = rows["release_year"].astype(int).to_numpy() % 100 // 10 * 10
    contexts, modes = each_once(rows["context_type"]).tolist(), each_once(rows["mode"]).tolist()
    shared: dict[Any, tuple[str, str]] = {}  # names are made once, however many tracks have them
    for place, kind in zip(
        last.tolist(), zip(contexts, modes, decade.tolist(), *tenths.T.tolist(), strict=True), strict=True
    ):
        if kind not in shared:
            context, mode, *numbers = kind
            prefix = "song" if context in CHOSEN else "played"
            name = "_".join([prefix, str(numbers[0]), str(mode), *map(str, numbers[1:])])
            shared[kind] = f"select_context_{context}", name
        told[place - 2], told[place - 1] = shared[kind]
    return told, events


def _profiles(rows: Any, session: Any, first: Any) -> list[str]:
    """Mean features of every session, over its tracks up to the fifth place, or the first one where there is none."""
    early = (rows["session_position"].to_numpy() <= PROFILE) | first
    size = np.bincount(session[early])
    columns = [rows[name].astype(float).to_numpy()[early] for name in FEATURES]
    means = [(10 * (np.bincount(session[early], column) / size)).astype(int).tolist() for column in columns]
    return ["startprofile_" + "_".join(map(str, each)) for each in zip(*means, strict=True)]


def share_of(log: EventLog, percent: int, *, seed: int = 0) -> EventLog:
    """Random sample of so many percent of the sessions, the same for the same seed: MSSD10, ..., MSSD100."""
    if not 1 <= percent <= 100:
        raise LogError(f"a share of the sessions is 1 to 100 percent, not {percent}")
    size = max(1, round(log.n_cases * percent / 100))
    chosen = np.zeros(log.n_cases, bool)
    chosen[np.random.default_rng(seed).choice(log.n_cases, size=size, replace=False)] = True
    return log.where_cases(chosen, f"{percent} % of the sessions, drawn with seed {seed}")


def read_sessions(path: Path, tracks: Path | None = None) -> EventLog:
    """Event log of the dataset's files; the tracks are looked for beside the sessions (``tf*.csv``)."""
    pandas = require("pandas", "logs", "reading sessions")
    if path.is_dir():
        found = sorted(path.rglob("log*.csv"))
        if not found:
            raise LogError(f"{path} has no log*.csv; mssd needs {SOURCE}")
        path = found[0]
    folders = (path.parent, path.parent.parent, path.parent.parent / "track_features")  # as the dataset is unpacked
    near = [tracks] if tracks else [found for folder in folders for found in sorted(folder.glob("tf*.csv"))]
    if not path.is_file() or not near or not near[0].is_file():
        raise LogError(
            f"mssd needs {SOURCE}; of {str(path)!r} there is {'no tf*.csv near it' if path.is_file() else 'nothing'}"
        )
    return session_log(pandas.read_csv(path), pandas.read_csv(near[0]))


def _check(table: Any, columns: tuple[str, ...], where: str) -> None:
    missing = [column for column in columns if column not in table]
    if missing:
        raise LogError(f"{where} has no column {missing[0]!r}; its columns are: {', '.join(map(str, table.columns))}")


def _true(column: Any) -> Any:
    """Which values say yes, however the file writes it."""
    codes, kinds = column.factorize(use_na_sentinel=False)
    return np.array([str(kind).casefold() in ("true", "1", "1.0") for kind in kinds], bool)[codes]
