"""Made-up listening sessions in the columns of the Music Streaming Sessions Dataset.

Sessions have 10 to 20 tracks, most of them many, as in the dataset; a few tracks are heard by everybody and most by
hardly anyone; loud ones are skipped less. Contexts last for some tracks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from waypost.cases.mssd import CHOSEN
from waypost.errors import LogError, require

CONTEXTS = (*CHOSEN, "user_collection", "catalog")
DECADES = {1950: 1, 1960: 2, 1970: 4, 1980: 5, 1990: 8, 2000: 15, 2010: 65}  # weights
LENGTHS = tuple(range(10, 21))
TRACKS = 50000
SWITCH = 0.15  # of the tracks but the first: the context changes
PAUSE = 0.2  # of the tracks but the first: there was a pause before
FIXED = 2019  # the catalogue of tracks is the same for all sessions


def listening_sessions(sessions: int = 300, *, seed: int = 1, songs: int = TRACKS) -> tuple[Any, Any]:
    """Synthetic sessions and tracks in the dataset's columns, the same for the same seed.

    >>> table, tracks = listening_sessions(10, seed=1, songs=400)
    >>> table["session_id"].nunique(), len(tracks)
    (10, 400)
    """
    pandas = require("pandas", "logs", "making sessions")
    if sessions < 1 or songs < 1:
        raise LogError("there must be at least one session and one song")
    tracks = _catalogue(pandas, songs)
    random = np.random.default_rng(seed)
    lengths = np.zeros(sessions, np.int64)
    often = np.cumsum(_often())
    heard = np.cumsum(np.arange(1, songs + 1) ** -1.0)
    heard /= heard[-1]
    track, chance, context = [], [], []
    for number in range(sessions):
        length = lengths[number] = LENGTHS[int(often.searchsorted(random.random(), side="right"))]
        now = int(random.integers(len(CONTEXTS)))
        track.append(heard.searchsorted(random.random(length), side="right").astype(np.int32))
        draws = random.random((length, 3))
        chance.append(draws)
        for place, switch in enumerate((draws[:, 0] < SWITCH).tolist()):
            if switch and place:
                now = int(random.integers(len(CONTEXTS)))
            context.append(now)
    table = _table(pandas, tracks, lengths, np.concatenate(track), np.concatenate(chance), np.array(context, np.int8))
    return table, tracks


def _table(pandas: Any, tracks: Any, lengths: Any, track: Any, chance: Any, context: Any) -> Any:
    """Table of sessions from what was drawn for each of their tracks."""
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    position = np.arange(len(track)) - first
    skipped = chance[:, 1] < 0.8 - 0.5 * tracks["energy"].to_numpy()[track]
    paused = (position > 0) & (chance[:, 2] < PAUSE)
    names = np.array([f"session {number + 1}" for number in range(len(lengths))], object)
    return pandas.DataFrame({
        "session_id": np.repeat(names, lengths),
        "session_position": position + 1,
        "session_length": np.repeat(lengths, lengths),
        "track_id_clean": tracks["track_id"].to_numpy(dtype=object)[track],
        "skip_1": skipped & (chance[:, 1] < 0.3),
        "skip_2": skipped,
        "skip_3": skipped,
        "not_skipped": ~skipped,
        "context_switch": ((position > 0) & (chance[:, 0] < SWITCH)).astype(int),
        "no_pause_before_play": (~paused).astype(int),
        "short_pause_before_play": 0,
        "long_pause_before_play": paused.astype(int),
        "context_type": np.array(CONTEXTS, object)[context],
    })  # fmt: skip


def _catalogue(pandas: Any, songs: int) -> Any:
    random = np.random.default_rng(FIXED)
    weights = np.array(list(DECADES.values()), float)
    decade = random.choice(list(DECADES), songs, p=weights / weights.sum())
    return pandas.DataFrame({
        "track_id": [f"t{k}" for k in range(songs)],
        "duration": random.uniform(120, 300, songs),
        "release_year": decade + random.integers(0, 9, songs),
        "us_popularity_estimate": 90 + 10 * random.beta(5, 1, songs),
        "acousticness": random.beta(0.6, 1.6, songs),
        "danceability": random.beta(7, 5, songs),
        "energy": random.beta(5, 3, songs),
        "mode": random.choice(["major", "minor"], songs, p=[0.65, 0.35]),
    })  # fmt: skip


def _often() -> list[float]:
    """How often each length is: most sessions are cut at 20 tracks."""
    weights = np.array([1.0] * (len(LENGTHS) - 1) + [10.0])
    return list(weights / weights.sum())
