"""Make the pictures of the documentation: ``make pictures``, or ``python docs/pictures.py loan gridworld``.

Needs Chromium. BPIC12 and spotify10000 need data that is not part of the project; they are left out where it is absent.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from PIL import Image

from waypost.cases import case, find_case, loan, prepare_case
from waypost.formats import read_mdp
from waypost.importance import explain
from waypost.learn import example_cases
from waypost.report import needs, plot_bars, plot_graph, render_html, to_bytes, write_report

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


def shoot(name: str, page: str, *, does: str = "", looks: str = "light phone", height: int = 1500) -> None:
    """Take pictures of a page: "light" and "dark" at desktop width, "phone" at phone width."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page, encoding="utf-8")
        driver = browser(f"{folder}/chromium")
        try:
            for look in looks.split():
                theme, width = "dark" if look == "dark" else "light", 390 if look == "phone" else 1280
                suffix = "" if look == "light" else f"-{look}"
                media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
                driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
                metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
                driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
                driver.get(path.as_uri())
                driver.execute_script(does)
                time.sleep(1)
                picture = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
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
    found, other = (explain(mdp, target=target, **needs(mdp, ".html")) for target in ("Granted", "Rejected"))
    both = render_html([found, other])
    shoot("loan", render_html(found), does=click("Consultation"), looks="light dark", height=1560)
    shoot("loan", render_html(found), does=click("Consultation"), looks="phone", height=2400)
    shoot("loan-compare", both, does=scroll("#compare"), looks="light", height=900)
    path = (
        "document.querySelector('#path-mode').click();waypost.press(waypost.data.states.indexOf('Application'));"
    ) + scroll(".explorer")
    shoot("loan-path", render_html(found), does=path, looks="light", height=900)
    shoot("loan-path", render_html(found), does=path, looks="phone", height=1700)
    graph = plot_graph(found, scope="optimal", strategy=found.witnesses["optimal"]["Consultation"].lower)
    (HERE / "loan-graph.svg").write_bytes(to_bytes(graph, "svg"))
    (HERE / "loan-bars.svg").write_bytes(to_bytes(plot_bars(found), "svg"))


def make_gridworld() -> None:
    mdp = case("gridworld")
    found = explain(mdp, target="goal", **needs(mdp, ".html", ".svg"))
    write_report(found, HERE / "gridworld-heat.svg")
    shoot("gridworld", render_html(found), does=click("4,4 with the key"))


def make_bpic12() -> None:
    prepared = prepare_case("bpic12", DATA / "logs/bpic2012/BPI_Challenge_2012.xes.gz")
    mdp = prepared.learn()
    found = explain(mdp, target=find_case("bpic12")[0].target, **needs(mdp, ".html"))
    page = render_html(found, cases=example_cases(mdp, prepared))
    shoot("bpic12", page, does=click(next(s for s in mdp.states if s.endswith(": A_APPROVED"))), height=2000)


def make_spotify10000() -> None:
    mdp = read_mdp(DATA / "models/learned/spotify10000.drn")
    found = explain(mdp, target="positive", **needs(mdp, ".html"))
    shoot("spotify10000", render_html(found), does=click("q5172: skipped"), height=2200)


NEEDS = {"bpic12": "logs/bpic2012", "spotify10000": "models/learned"}
MAKERS = {"loan": make_loan, "gridworld": make_gridworld, "bpic12": make_bpic12, "spotify10000": make_spotify10000}

if __name__ == "__main__":
    for wanted in sys.argv[1:] or MAKERS:
        if wanted in NEEDS and not (DATA / NEEDS[wanted]).exists():
            sys.stdout.write(f"{wanted}: left out, {DATA / NEEDS[wanted]} is not there\n")
        else:
            MAKERS[wanted]()
            sys.stdout.write(f"{wanted}: made\n")
