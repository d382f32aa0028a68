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
    energy = tracks["energy"].to_numpy()
    heard = np.arange(1, songs + 1) ** -1.0
    heard /= heard.sum()
    random = np.random.default_rng(seed)
    rows = []
    for number in range(sessions):
        length = int(random.choice(LENGTHS, p=_often()))
        context = str(random.choice(CONTEXTS))
        track = random.choice(songs, size=length, p=heard)
        chance = random.random((length, 3))
        for k in range(length):
            switch = k > 0 and chance[k, 0] < 0.15
            context = str(random.choice(CONTEXTS)) if switch else context
            skipped = bool(chance[k, 1] < 0.8 - 0.5 * energy[track[k]])
            paused = k > 0 and chance[k, 2] < 0.2
            rows.append((
                f"session {number + 1}", k + 1, length, f"t{track[k]}", skipped and chance[k, 1] < 0.3,
                skipped, skipped, not skipped, int(switch), int(not paused), 0, int(paused), context,
            ))  # fmt: skip
    columns = [
        "session_id", "session_position", "session_length", "track_id_clean", "skip_1", "skip_2", "skip_3",
        "not_skipped", "context_switch", "no_pause_before_play", "short_pause_before_play", "long_pause_before_play",
        "context_type",
    ]  # fmt: skip
    return pandas.DataFrame(rows, columns=columns), tracks


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
