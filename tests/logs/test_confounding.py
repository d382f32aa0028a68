"""Whether a step only seems to matter because of an attribute: against plain counts, and on made-up logs."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from waypost import explain_log
from waypost.logs import EventLog, Recipe, RecipeStep, contrast, describe_log, open_log, read_log
from waypost.logs.confounding import confounding
from waypost.logs.steps.outcome import set_outcome
from waypost.report import render_report
from waypost.report.findings import findings
from waypost.report.story import story_findings

SHARES = ("success_with", "success_without")
LEFT = (0.7, 0.3)  # success in the two kinds of cases of `mixed`, whatever is done


def frame(cases: list[tuple[str, dict[str, object]]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"case": k, "activity": name, **attributes}
            for k, (path, attributes) in enumerate(cases)
            for name in path.split()
        ]
    )


def logged(cases: list[tuple[str, dict[str, object]]], positive: str = "pay") -> EventLog:
    return set_outcome(read_log(frame(cases)), positive=positive)


def mixed(
    share: tuple[int, int] = (80, 20), times: int = 1, name: str = "kind", values: tuple = ("rich", "poor")
) -> list:
    """Two kinds of cases, of which some are called, in percent; the rich pay in 7 of 10 cases, the poor in 3."""
    found = []
    for value, called, pays in zip(values, share, LEFT, strict=True):
        for path, n in (("ask call", called), ("ask", 100 - called)):
            well = round(n * pays)
            found += [(f"{path} pay", {name: value})] * well * times + [(f"{path} go", {name: value})] * (
                n - well
            ) * times
    return found


def doubts(cases: list) -> dict:
    log = logged(cases)
    return confounding(log, [c for c in contrast(log).ranked if c.certain > 0])


def test_cases_without_a_step_are_divided_like_those_with_it():
    """Counted case by case: of the called, as many are rich; in each kind, a call changes nothing."""
    cases = mixed()
    groups = Counter((attributes["kind"], "call" in path, path.endswith("pay")) for path, attributes in cases)
    called = Counter(attributes["kind"] for path, attributes in cases if "call" in path)
    alike = sum(
        n * groups[kind, False, True] / (groups[kind, False, True] + groups[kind, False, False])
        for kind, n in called.items()
    ) / sum(called.values())
    found = doubts(cases)["call"]
    assert found.attribute == "kind"
    assert found.success_with == pytest.approx(62 / 100)
    assert found.success_without == pytest.approx(alike) == pytest.approx(62 / 100)


def test_where_it_turns_round_that_is_told():
    """In each kind a call costs 20 points, and yet the called fare better: they are the rich."""
    cases = [("call pay", {"kind": "rich"})] * 140 + [("call go", {"kind": "rich"})] * 60
    cases += [("pay", {"kind": "rich"})] * 18 + [("go", {"kind": "rich"})] * 2
    cases += [("call pay", {"kind": "poor"})] * 2 + [("call go", {"kind": "poor"})] * 18
    cases += [("pay", {"kind": "poor"})] * 60 + [("go", {"kind": "poor"})] * 140
    found = doubts(cases)["call"]
    assert contrast(logged(cases))["call"].helps
    assert found.success_with == pytest.approx(142 / 220)
    assert found.success_without == pytest.approx((200 * 0.9 + 20 * 0.3) / 220)


@pytest.mark.parametrize(
    ("cases", "why"),
    [
        (mixed((50, 50)), "as many of both kinds are called: there is no difference"),
        (mixed((100, 0)), "no kind has cases with a call and cases without"),
        (mixed((80, 20), name="activity_of"), "the values change within a case"),
        ([(path, {}) for path, _ in mixed()], "there are no attributes"),
        ([(path, {"kind": f"k{n}"}) for n, (path, _) in enumerate(mixed())], "each case has a value of its own"),
        ([(path, {"number": n}) for n, (path, _) in enumerate(mixed())], "each case has a number of its own"),
        ([(path, {"paid": "pay" in path}) for path, _ in mixed()], "it is the outcome under another name"),
        ([(path, {"kind": "one"}) for path, _ in mixed()], "all cases have the same value"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_other_attributes_are_not_told(cases, why):
    if "change" in why:
        rows = frame(cases)
        log = set_outcome(
            read_log(rows.assign(activity_of=[f"{v}{k % 2}" for k, v in enumerate(rows.activity_of)])), positive="pay"
        )
        assert confounding(log, [contrast(log)["call"]]) == {}
    else:
        assert confounding(logged(cases), [contrast(logged(cases))["call"]]) == {}


def test_numbers_are_put_into_quarters_and_missing_values_are_a_group():
    random = np.random.default_rng(1)
    amounts = {"rich": lambda: float(random.integers(500, 600)), "poor": lambda: float(random.integers(0, 100))}
    cases = [(path, {"amount": amounts[a["kind"]]()}) for path, a in mixed(times=4)]
    assert doubts(cases)["call"].attribute == "amount"
    cases = [(path, {"kind": "rich" if a["kind"] == "rich" else None}) for path, a in mixed()]
    assert doubts(cases)["call"].success_without == pytest.approx(0.62)


def made_up(seed: int, *, step: bool, outcome: bool, effect: float, cases: int = 400) -> EventLog:
    """A log with three attributes; one of them decides about the step, about the outcome, or about both."""
    random = np.random.default_rng(seed)
    kind = random.integers(0, 3, cases)
    leaning = np.array([-0.3, 0.0, 0.3])[kind]
    called = random.random(cases) < 0.5 + leaning * step
    good = random.random(cases) < 0.5 + leaning * outcome + effect * called - effect / 2
    paths = [f"ask {'call ' * c}{'pay' if g else 'go'}" for c, g in zip(called.tolist(), good.tolist(), strict=True)]
    more = zip(random.integers(0, 5, cases).tolist(), random.integers(0, 500, cases).tolist(), strict=True)
    told = zip(paths, kind.tolist(), more, strict=True)
    return logged([(path, {"kind": f"k{k}", "region": f"r{r}", "amount": a // 2}) for path, k, (r, a) in told])


@pytest.mark.parametrize(
    ("step", "outcome", "effect", "least", "most"),
    [(False, False, 0.2, 0, 0), (True, False, 0.2, 0, 0), (False, True, 0.2, 0, 0), (True, True, 0.0, 38, 40)],
)
def test_alarms_are_raised_where_an_attribute_confounds_and_hardly_ever_elsewhere(step, outcome, effect, least, most):
    alarms = 0
    for seed in range(40):
        log = made_up(seed, step=step, outcome=outcome, effect=effect)
        found = confounding(log, [c for c in contrast(log).ranked if c.certain > 0])
        alarms += "call" in found
    assert least <= alarms <= most


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_what_is_written_down_later_is_no_beginning(engine):
    """The same attribute confounds where it is told with the first event, and not where it is told with a later one,
    for then the step may have made it what it is."""
    found = []
    for place in (0, 1):
        rows = frame(mixed(times=3))
        there = rows.groupby("case").cumcount() == place
        log = open_log(rows.assign(kind=rows.kind.where(there)), engine=engine)
        log = Recipe(steps=(RecipeStep("set_outcome", {"positive": "pay"}),))(log)
        told = next(a for a in describe_log(log).attributes if a.name == "kind")
        assert (told.of, told.later) == ("case", place == 1)
        found.append(confounding(log, [contrast(log)["call"]]))
    assert found[0]["call"].attribute == "kind"
    assert found[1] == {}


def test_a_stored_log_says_the_same():
    """Also with values that are missing, numbers, truths, and a stage."""
    pytest.importorskip("ibis")
    rows = frame([(f"{path} x" if k % 3 else f"come {path}", a) for k, (path, a) in enumerate(mixed(times=2))])
    rows = rows.assign(
        number=[None if c % 7 == 0 else float(c % 40) for c in rows["case"]],
        sure=[c % 2 == 0 for c in rows["case"]],
        kind=[None if kind == "poor" else kind for kind in rows["kind"]],
        who=[f"p{k % 3}" for k in range(len(rows))],
        time=pd.date_range("2024-01-01", periods=len(rows), freq="h", tz="UTC"),
    )
    steps = Recipe(steps=(RecipeStep("set_outcome", {"positive": "pay"}),))
    found = []
    for engine in ("memory", "duckdb"):
        log = steps(open_log(rows, engine=engine))
        found.append(confounding(log, contrast(log).ranked))
    assert found[0] == found[1]
    assert found[0]["call"].attribute == "kind"


def test_the_finding_says_it_in_words_on_the_page_and_in_json():
    found = explain_log(read_log(frame(mixed(name="case:AMOUNT_REQ", times=2))), positive="pay")
    differ = "But cases with it differ in AMOUNT_REQ to begin with: of cases alike in that"
    said = f"{differ}, 62 % end well with it, 62 % without."
    assert any(sentence.endswith(said) for sentence in story_findings(found.log))
    assert any(str(finding).endswith(said) for finding in findings(found))
    assert said in " ".join(render_report(found, ".html").split())
    call = next(a for a in json.loads(render_report(found, ".json"))["activities"] if a["name"] == "call")
    assert call["confounded"] == {"attribute": "case:AMOUNT_REQ", **dict.fromkeys(SHARES, pytest.approx(0.62))}
    plain = explain_log(read_log(frame([(path, {}) for path, _ in mixed()])), positive="pay")
    assert not any("But" in sentence for sentence in story_findings(plain.log))
