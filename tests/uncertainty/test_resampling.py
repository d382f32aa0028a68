"""Resampling the cases: seeded, reproducible, honest about states that come and go."""

from __future__ import annotations

import numpy as np
import pytest

from waypost.errors import LogError, WaypostError
from waypost.learn import learn_mdp, prepare
from waypost.logs import EVERY_EVENT_A_CHOICE, EVERY_EVENT_CHANCE, EventLog, Recipe, RecipeStep
from waypost.uncertainty import Resampled, bootstrap
from waypost.uncertainty.resampling import access_histories, follow

pytestmark = pytest.mark.filterwarnings("ignore::waypost.learn.ThinDataWarning")


def traces(*cases: tuple[str, int]):
    log = EventLog.from_sequences([sequence.split() for sequence, n in cases for _ in range(n)])
    return prepare(
        log, Recipe(steps=(RecipeStep("set_outcome", {"positive": "pay"}),)), actors=EVERY_EVENT_A_CHOICE
    ).traces


MANY = traces(("ask help pay", 40), ("ask pay", 20), ("ask go", 40), ("ask help go", 1))


def test_a_seed_gives_the_same_intervals_with_any_number_of_workers():
    one, two = (
        bootstrap(MANY, target="positive", resamples=6, seed=7, workers=w, scope="all")["all"].to_frame()
        for w in (1, 2)
    )
    assert one.equals(two)


def test_another_seed_gives_other_intervals():
    log = EventLog.from_sequences([["help", "pay"]] * 60 + [["pay"]] * 40)
    chance = prepare(log, actors=EVERY_EVENT_CHANCE).traces
    tables = [
        bootstrap(chance, target="end", resamples=10, seed=seed, workers=1, match="label")["all"].to_frame()
        for seed in (1, 2)
    ]
    assert not tables[0].equals(tables[1])


def test_an_interval_surrounds_what_all_cases_say():
    """In a Markov chain the interval of a share is the one that the binomial distribution gives, roughly."""
    log = EventLog.from_sequences([["help", "pay"]] * 60 + [["pay"]] * 40)
    chance = prepare(log, actors=EVERY_EVENT_CHANCE).traces
    found = bootstrap(chance, target="end", resamples=100, seed=1, workers=1, match="label", scope="all")["all"]
    row = found.to_frame().loc["help"]
    assert row["lower"] == row["upper"] == pytest.approx(0.6)
    # the standard error of a share of 0.6 among 100 is 0.049: a 95% interval is about 0.6 +- 0.096
    assert 0.45 < row["lower from"] < 0.56
    assert 0.64 < row["lower to"] < 0.75


def test_progress_is_told():
    told = []
    bootstrap(MANY, target="positive", resamples=3, seed=1, workers=1, scope="all", progress=told.append)
    assert told == [1, 2, 3]


def test_a_state_that_rests_on_one_case_is_often_absent():
    once = traces(("ask help pay", 40), ("once", 1), ("ask go", 9))
    table = bootstrap(once, target="positive", resamples=60, seed=3, workers=1, scope="all")["all"].to_frame()
    name = next(name for name in table.index if name.endswith(": once"))
    assert table.loc["q0: start", "present"] == 1
    assert 0.4 < table.loc[name, "present"] < 0.9  # 1 - 1/e is 0.63


def test_histories_lead_back_to_their_states():
    mdp = learn_mdp(MANY)
    histories = access_histories(mdp)
    assert follow(mdp, histories) == list(range(mdp.n_states))
    assert follow(mdp, [(("env", "nowhere"), ("env", "further")), None]) == [None, None]


def test_what_cannot_be_resampled_is_said():
    with pytest.raises(WaypostError, match="at least 2 resamples"):
        bootstrap(MANY, target="positive", resamples=1, seed=1)
    with pytest.raises(WaypostError, match="match is 'history' or 'label'"):
        bootstrap(MANY, target="positive", resamples=2, seed=1, match="name")  # type: ignore[arg-type]
    with pytest.raises(WaypostError, match="no label or state 'gone'"):
        bootstrap(MANY, target="gone", resamples=2, seed=1, workers=1)
    with pytest.raises(LogError, match="no trace"):
        bootstrap([], target="gone", resamples=2, seed=1, workers=1)


def test_by_label_a_resample_without_it_counts_as_nobody_passing_it():
    """A branch of one case looks solid only where the resamples without it are left out: here it is 0 to 1."""
    once = traces(("ask help pay", 40), ("luck pay", 1), ("ask go", 9))
    found = bootstrap(once, target="positive", resamples=60, seed=3, workers=1, scope="all", match="label", eps=0)
    row = found["all"].to_frame().loc["luck"]
    assert 0.4 < row["present"] < 0.9
    assert row["upper from"] == 0


def test_an_interval_that_excludes_its_own_estimate_says_why():
    """Most resamples of 12 cases that share one rare step have it less often than all cases do, or not at all."""
    kept = Resampled(
        names=("rare", "usual"),
        scope="all",
        match="label",
        level=0.95,
        resamples=100,
        bounds=np.array([[0.0, 1.0], [0.2, 0.4]]),
        lower=np.array([[0.0, 0.0], [0.1, 0.3]]),
        upper=np.array([[0.0, 0.5], [0.3, 0.5]]),
        present=np.array([0.3, 1.0]),
    )
    assert kept.excluded() == {"rare": "only 30% of the resamples have it: it rests on a handful of cases"}
