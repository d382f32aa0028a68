"""Make the pictures of the documentation: ``make pictures``, or ``python docs/pictures.py loan gridworld``.

Needs Chromium, and Gymnasium for the frozen lake. BPIC12 and spotify10000 need data that is not part of the project;
they are left out where it is absent.
"""

from __future__ import annotations

import io
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from waypost.agents import explain_agent
from waypost.cases import case, loan, prepare_case
from waypost.formats import read_mdp
from waypost.importance import explain
from waypost.logs import EventLog
from waypost.model import MDP, Strategy
from waypost.report import needs, plot_bars, plot_graph, render_comparison, render_html, to_bytes, write_report
from waypost.story import explain_log, with_insight
from waypost.uncertainty import compare_logs

HERE = Path(__file__).parent / "pictures"
DATA = Path(os.environ.get("WAYPOST_DATA", Path(__file__).parents[2] / "shared" / "data"))
FLAGS = (
    "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update"
)


def browser(folder: str) -> Any:
    """Start Chromium without a window."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in [*FLAGS.split(), "disable-sync", "hide-scrollbars"]:
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={folder}")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


LOOKS = {"light": (1280, 800), "dark": (1280, 800), "phone": (390, 844), "print": (794, 1123)}


def shoot(name: str, page: str, *, does: str = "", looks: str = "light phone", height: int | None = None) -> None:
    """Take pictures of what a page opens on: on a desk ("light", "dark"), on a phone, on paper ("print")."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page, encoding="utf-8")
        driver = browser(f"{folder}/chromium")
        try:
            for look in looks.split():
                width, high = LOOKS[look]
                features = [{"name": "prefers-color-scheme", "value": "dark" if look == "dark" else "light"}]
                media = {"media": "print" if look == "print" else "", "features": features}
                driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
                metrics = {"width": width, "height": height or high, "deviceScaleFactor": 1, "mobile": look == "phone"}
                driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
                driver.get(path.as_uri())
                driver.execute_script(does)
                time.sleep(1)
                picture = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
                suffix = "" if look == "light" else f"-{look}"
                picture.quantize(200, dither=Image.Dither.NONE).save(HERE / f"{name}{suffix}.png", optimize=True)
        finally:
            driver.quit()


def click(state: str) -> str:
    """Script that selects a state by name."""
    return f"waypost.select(waypost.data.states.indexOf({state!r}), true)"


def scroll(selector: str) -> str:
    """Script that scrolls to a part of the page."""
    return f"document.querySelector({selector!r}).scrollIntoView({{behavior: 'instant'}})"


def make_loan() -> None:
    mdp = loan()
    found, other = (
        with_insight(explain(mdp, target=target, **needs(mdp, ".html"))) for target in ("Granted", "Rejected")
    )
    page = render_html(found)
    shoot("loan", page, looks="light dark phone print")
    shoot("loan-details", page, does=click("Consultation"))
    shoot("loan-compare", render_html([found, other]), does=scroll("#compare"), looks="light", height=700)
    path = "document.querySelector('#path-mode').click();waypost.press(waypost.data.states.indexOf('Application'));"
    shoot("loan-path", page, does=path, looks="light")
    shoot("loan-ways", page, does=scroll(".insight"), looks="light", height=620)
    shoot("loan-strategies", strategies_page(mdp), looks="light")
    graph = plot_graph(found, scope="optimal", strategy=found.witnesses["optimal"]["Consultation"].lower)
    (HERE / "loan-graph.svg").write_bytes(to_bytes(graph, "svg"))
    (HERE / "loan-bars.svg").write_bytes(to_bytes(plot_bars(found), "svg"))


def strategies_page(mdp: MDP) -> str:
    """Two strategies for the loan example in one page."""
    careful = {"s0": "Consult", "Consultation": "Apply", "Rework": "Submit", "Error": "Consult"}
    rules = {"hasty": careful | {"s0": "Apply", "Error": "Quit"}, "careful": careful}
    told = [
        with_insight(explain(mdp, target="Granted", scope=["all", "optimal", Strategy.from_dict(mdp, rule)]))
        for rule in rules.values()
    ]
    return render_html(told, names=list(rules))


def make_loan_log() -> None:
    page = render_html(explain_log(prepare_case("loan-log"), by_state=True, choices=True))
    shoot("loan-log", page, looks="light dark phone print")
    activity = (
        "waypost.selectStop(waypost.data.map.stops.findIndex((stop) => stop.name === 'Call customer short'), true)"
    )
    shoot("loan-log-details", page, does=activity)
    pattern = "document.querySelector('#path-mode').click(); waypost.builder.box.add('Ask for papers');"
    shoot("loan-log-pattern", page, does=pattern + "waypost.builder.box.add('Accept offer')", looks="light")
    route = "document.querySelector('[data-trail=\"routes 3\"]').click()"
    shoot("loan-log-way", page, does=route, looks="light")
    log = prepare_case("loan-log").log
    log = log.where_cases(np.arange(log.n_cases) < 600)
    early = log.times("two periods")[log.first_event[:-1]] < np.datetime64("2024-01-10")
    halves = [log.where_cases(early), log.where_cases(~early)]
    told = render_comparison(compare_logs(*halves), ("before 10 January", "since"), tuple(map(explain_log, halves)))
    shoot("loan-log-compare", told, looks="light")


def make_hospital() -> None:
    """Sixteen activities in any order, with repeats: what hospital logs look like."""
    rng = random.Random(16)
    middle = [
        "Triage",
        "Blood test",
        "X-ray",
        "Ultrasound of the upper abdomen",
        "Consultation",
        "Antibiotics",
        "Fluids",
    ]
    middle += ["Surgery", "Ward round", "Physiotherapy", "Second opinion", "Intensive care", "Letter to the doctor"]
    cases = []
    for _ in range(400):
        steps = rng.choices(middle, k=rng.randint(4, 13))
        well = rng.random() < (0.85 if "Physiotherapy" in steps else 0.45) * (0.4 if "Intensive care" in steps else 1)
        cases.append(["Registration", "Triage", *steps, "Discharge" if well else "Readmission"])
    found = explain_log(EventLog.from_sequences(cases), positive="Discharge", eps=0.9)
    shoot("hospital", render_html(found), looks="light dark phone print")


def make_gridworld() -> None:
    mdp = case("gridworld")
    found = with_insight(explain(mdp, target="goal", **needs(mdp, ".html", ".svg")))
    write_report(found, HERE / "gridworld-heat.svg")
    shoot("gridworld", render_html(found), looks="light dark phone print")


def make_frozen_lake() -> None:
    """What a strategy for firm ground does on ice, beside the best one."""
    import gymnasium

    mdp, firm = (read_mdp(gymnasium.make("FrozenLake-v1", is_slippery=slips)) for slips in (True, False))
    best = explain(firm, target="goal", scope="optimal", witnesses=1).witnesses["optimal"]
    strategy = next(iter(best.values())).upper.to_dict()
    agent = Strategy.from_dict(mdp, strategy.get("before", strategy))
    found = with_insight(explain(mdp, target="goal", scope=["all", "optimal", agent], **needs(mdp, ".html")))
    shoot("frozen-lake", render_html(found), looks="light dark phone print")


def make_agent() -> None:
    """The agent of the tutorial: what it takes on each field of the frozen lake, by number."""
    import gymnasium

    mdp = read_mdp(gymnasium.make("FrozenLake-v1", is_slippery=True))
    found = explain_agent(mdp, np.array([2, 3, 0, 3, 0, 0, 1, 0, 3, 1, 1, 0, 0, 2, 1, 0]), target="goal")
    shoot("agent", found.to_html(names=["q-table.npy"]), does="waypost.select(0)", looks="light", height=860)


def make_bpic12() -> None:
    prepared = prepare_case("bpic12", DATA / "logs/bpic2012/BPI_Challenge_2012.xes.gz")
    shoot("bpic12", render_html(explain_log(prepared)), looks="light dark phone print")


def make_bpic12_model() -> None:
    mdp = read_mdp(DATA / "models/paper/bpic12.prism")
    found = with_insight(explain(mdp, target="positive", **needs(mdp, ".html")))
    shoot("bpic12-model", render_html(found), looks="light")


def make_spotify10000() -> None:
    mdp = read_mdp(DATA / "models/learned/spotify10000.drn")
    found = with_insight(explain(mdp, target="positive", **needs(mdp, ".html")))
    shoot("spotify10000", render_html(found), looks="light dark phone print")


NEEDS = {"bpic12": "logs/bpic2012", "bpic12_model": "models/paper", "spotify10000": "models/learned"}
MAKERS = {name.removeprefix("make_"): make for name, make in list(globals().items()) if name.startswith("make_")}

if __name__ == "__main__":
    for wanted in sys.argv[1:] or MAKERS:
        if wanted in NEEDS and not (DATA / NEEDS[wanted]).exists():
            sys.stdout.write(f"{wanted}: left out, {DATA / NEEDS[wanted]} is not there\n")
        else:
            MAKERS[wanted]()
            sys.stdout.write(f"{wanted}: made\n")
