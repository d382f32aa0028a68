"""Listening sessions of the Music Streaming Sessions Dataset (MSSD), and made-up ones of the same shape.

The second half of a session is the log, its first half the listener's profile. In radio, charts and playlists the
service picks the song, which is its choice; in the listener's own collection and the catalogue the listener does, which
is chance, and so is what becomes of the song. A session is positive when its last song was not skipped.

Departs from the paper: the authors' preparation of the data is not published; this one has the same shape.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from waypost.errors import LogError, require
from waypost.logs import Actors, EventLog, read_log
from waypost.logs.log import ACTIVITY, CASE
from waypost.logs.steps.outcome import set_outcome

SOURCE = "the Music Streaming Sessions Dataset of Spotify (the mini version will do: log_mini.csv and tf_mini.csv)"
PICKED = ("radio", "charts", "personalized_playlist", "editorial_playlist")  # contexts in which the service picks
CONTEXTS = (*PICKED, "user_collection", "catalog")
SESSION_COLUMNS = (
    "session_id",
    "session_position",
    "track_id_clean",
    "skip_2",
    "long_pause_before_play",
    "context_type",
)
TRACK_COLUMNS = ("track_id", "us_popularity_estimate", "mode", "acousticness", "danceability", "energy")
ACTORS = Actors({"song_*": "service", "*": "listener"}, frozenset({"service"}))


def session_log(sessions: Any, tracks: Any) -> EventLog:
    """Event log of sessions, as the dataset's tables have them: one row per track played, one row per track known."""
    _check(sessions, SESSION_COLUMNS, "the table of sessions")
    _check(tracks, TRACK_COLUMNS, "the table of tracks")
    pandas = require("pandas", "logs", "reading sessions")
    rows = sessions.merge(tracks, left_on="track_id_clean", right_on="track_id", how="left", validate="many_to_one")
    unknown = rows["track_id"].isna()
    if unknown.any():
        raise LogError(f"track {rows['track_id_clean'][unknown].iloc[0]!r} of a session is not in the table of tracks")
    rows["session_position"] = pandas.to_numeric(rows["session_position"])
    rows = rows.sort_values(["session_id", "session_position"], kind="stable")
    features = rows[["acousticness", "danceability", "energy"]].astype(float).to_numpy()
    deciles = np.clip((features * 10).astype(int), 0, 9)
    popular = pandas.to_numeric(rows["us_popularity_estimate"]).to_numpy(float)
    songs = [
        f"{'90' if p >= 99 else '10'}_{mode}_{a}_{d}_{e}"
        for p, mode, (a, d, e) in zip(popular, rows["mode"], deciles.tolist(), strict=True)
    ]
    told: list[tuple[str, str]] = []
    position = rows.reset_index(drop=True).groupby("session_id", sort=False).indices
    context, skipped, paused = (
        rows["context_type"].to_list(),
        _true(rows["skip_2"]),
        _true(rows["long_pause_before_play"]),
    )
    for session, where in position.items():
        half = max(1, len(where) // 2)
        profile = np.clip((features[where[:half]].mean(axis=0) * 10).astype(int), 0, 9)
        events = ["startprofile_" + "_".join(map(str, profile.tolist()))]
        before = None
        for k in where[half:].tolist() or where[-1:].tolist():
            if paused[k]:
                events.append("long_pause")
            if context[k] != before:
                before = context[k]
                events.append(f"select_context_{before}")
            events.append(f"{'song' if before in PICKED else 'played'}_{songs[k]}")
            events.append("skipped" if skipped[k] else "not_skipped")
        told += [(str(session), event) for event in events]
    log = read_log(pandas.DataFrame(told, columns=[CASE, ACTIVITY]))
    return set_outcome(log, positive="not_skipped", last=True)


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


def listening_sessions(sessions: int = 300, *, seed: int = 1, songs: int = 400) -> tuple[Any, Any]:
    """Synthetic sessions and tracks in the dataset's columns, the same for the same seed.

    >>> table, tracks = listening_sessions(10, seed=1)
    >>> table["session_id"].nunique(), len(tracks)
    (10, 400)
    """
    pandas = require("pandas", "logs", "making sessions")
    if sessions < 1 or songs < 1:
        raise LogError("there must be at least one session and one song")
    random = np.random.default_rng(seed)
    feature = random.beta(2, 2, size=(songs, 3))
    tracks = pandas.DataFrame(
        {
            "track_id": [f"t{k}" for k in range(songs)],
            "us_popularity_estimate": 90 + 10 * random.beta(5, 1, songs),
            "mode": random.choice(["major", "minor"], songs),
            "acousticness": feature[:, 0],
            "danceability": feature[:, 1],
            "energy": feature[:, 2],
        }
    )
    rows = []
    for number in range(sessions):
        taste, context = random.beta(2, 2, 3), str(random.choice(CONTEXTS))
        for place in range(1, int(random.integers(10, 21)) + 1):
            if random.random() < 0.15:
                context = str(random.choice(CONTEXTS))
            near = random.choice(songs, 5)  # the service and the listener both pick the nearest of a few songs
            track = int(near[np.abs(feature[near] - taste).sum(axis=1).argmin()])
            away = float(np.abs(feature[track] - taste).sum())
            skipped = bool(random.random() < min(0.9, 0.15 + 0.6 * away))
            pause = int(random.random() < 0.05)
            rows.append((f"session {number + 1}", place, f"t{track}", skipped, pause, context))
    return pandas.DataFrame(rows, columns=list(SESSION_COLUMNS)), tracks


def _check(table: Any, columns: tuple[str, ...], where: str) -> None:
    missing = [column for column in columns if column not in table]
    if missing:
        raise LogError(f"{where} has no column {missing[0]!r}; its columns are: {', '.join(map(str, table.columns))}")


def _true(column: Any) -> list[bool]:
    return [str(value).casefold() in ("true", "1", "1.0") for value in column]
