"""Explanations to report on, and a real browser to look at them with."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from waypost.cases import gridworld, loan, prepare_case
from waypost.importance import Bounds, Explanation, StateImportance, Witnesses, explain
from waypost.importance.reading import kinds, ranking
from waypost.model import MDP, Strategy
from waypost.report import needs, render_html
from waypost.story import explain_log

HOSTILE = "</script><img src=x onerror=alert(1)>"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


@pytest.fixture(scope="session")
def granted() -> Explanation:
    return explain(loan(), target="Granted", **needs(loan(), ".html"))


@pytest.fixture(scope="session")
def world() -> Explanation:
    return explain(gridworld(), target="goal")


@pytest.fixture(scope="session")
def hostile() -> Explanation:
    """A process whose every name was chosen to do harm."""
    names = {
        "start": '"><svg onload=alert(2)>',
        "bad": HOSTILE,
        "formula": '=HYPERLINK("http://x","y")',
        "math": "$\\frac{1}{0}$ 💥",
        "ansi": "\x1b[31mred\u202e\u2028",
        "goal": "{{ 7*7 }} & <b>goal</b>",
    }
    n = names
    mdp = MDP.from_dict(
        {
            n["start"]: {"+cmd|' /C calc'!A0": {n["bad"]: "0.5", n["formula"]: "0.5"}, "<i>": n["ansi"]},
            n["bad"]: {"@SUM(1)": n["math"]},
            n["formula"]: {"go": n["math"]},
            n["math"]: {"go": n["goal"]},
            n["ansi"]: {"a\nb": n["goal"], "c": n["start"]},
            n["goal"]: {},
        },
        initial=n["start"],
        labels={"-2+3<script>alert(3)</script>": [n["bad"], n["formula"]], "__proto__": [n["math"]]},
    )
    return explain(mdp, target=n["goal"], **needs(mdp, ".html"), absolute=True)


class Browser:
    """Chromium without a window; what it logs and what it asks the network for are kept."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self.folder = folder

    def open(self, html: str, *, width: int = 1280, height: int = 900) -> None:
        path = self.folder / f"page{time.monotonic_ns()}.html"
        path.write_text(html, encoding="utf-8", errors="backslashreplace")
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.log()
        self.requests()
        self.driver.get(path.as_uri())

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def press(self, selector: str) -> None:
        element = self.driver.find_element("css selector", selector)
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        element.click()

    def choose(self, selector: str, value: str) -> None:
        """Choose an option of a list, or move a slider."""
        change = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event(arguments[2]))"
        element = self.driver.find_element("css selector", selector)
        self.run(change, element, value, "input" if element.tag_name == "input" else "change")

    def scheme(self, name: str) -> None:
        """Prefer "light" or "dark" from now on."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def node(self, name: str) -> str:
        """Selector of a state's box in the picture."""
        return f'.node[data-state="{self.run("return waypost.data.states.indexOf(arguments[0])", name)}"]'

    def until(self, script: str, seconds: float = 20) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.run(script)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"still not so after {seconds} s: {script}")

    def log(self) -> list[dict[str, Any]]:
        """What the console said since the last call."""
        return self.driver.get_log("browser")

    def requests(self) -> list[str]:
        """Addresses asked for since the last call, other than files and data."""
        import json

        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return [url for url in found if not url.startswith(("file:", "data:", "chrome:"))]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    chromium, driver_path = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver_path:
        pytest.skip("needs a real browser: apt-get install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver_path))
    driver.set_script_timeout(60)
    yield Browser(driver, tmp_path_factory.mktemp("pages"))
    with contextlib.suppress(Exception):
        driver.quit()


@pytest.fixture(scope="session")
def loan_log() -> Explanation:
    """A log told by its activities, with its model by state."""
    return explain_log(prepare_case("loan-log"), by_state=True)


@pytest.fixture(scope="session")
def log_page(loan_log: Explanation) -> str:
    return render_html(loan_log, cases={"Accept offer": ["application 1", "<b>"]})


@pytest.fixture(scope="session")
def loan_page(granted: Explanation) -> str:
    return render_html(granted)


def in_peace(browser: Browser, page: str) -> Iterator[Browser]:
    """Open a page; at the end it has complained of nothing and asked nobody."""
    browser.open(page)
    yield browser
    assert browser.log() == []
    assert browser.requests() == []


@pytest.fixture
def told(browser, log_page):
    yield from in_peace(browser, log_page)


def random_paths(seed: int, n_models: int) -> list[tuple[MDP, list[str]]]:
    """Random models with end components and dead ends, each with a simple path that avoids the goal."""
    rng = np.random.default_rng(seed)
    cases = []
    while len(cases) < n_models:
        n = int(rng.integers(4, 9))
        names = [f"q{i}" for i in range(n)]
        choices: dict[str, dict[str, dict[str, float]]] = {}
        for name in names[:-1]:
            choices[name] = {}
            for a in range(int(rng.integers(1, 4))):
                support = rng.choice(n, size=int(rng.integers(1, 4)), replace=False)
                weights = rng.integers(1, 5, len(support))
                choices[name][f"a{a}"] = {
                    names[y]: float(w / weights.sum()) for y, w in zip(support, weights, strict=True)
                }
        choices[names[-1]] = {}
        mdp = MDP.from_dict(choices, initial="q0", labels={"goal": [names[-1]]})
        path = ["q0"]
        for _ in range(int(rng.integers(1, 4))):
            action = str(rng.choice(list(choices[path[-1]])))
            onward = [y for y in choices[path[-1]][action] if y not in path[::2] and y != names[-1]]
            if not onward:
                break
            path += [action, str(rng.choice(onward))]
        if len(path) > 1:
            cases.append((mdp, path))
    return cases


@pytest.fixture(scope="session")
def world_page(world):
    return render_html(world)


def outside(browser) -> list[str]:
    """Boxes that are not inside the frame of the picture."""
    return browser.run(
        "const frame = document.querySelector('#graph').getBoundingClientRect();"
        "return [...document.querySelectorAll('.node .body, .number')].filter((n) => {"
        "  const r = n.getBoundingClientRect();"
        "  return r.left < frame.left - 1 || r.right > frame.right + 1 || r.top < frame.top - 1"
        "    || r.bottom > frame.bottom + 1; }).map((n) => n.parentNode.dataset.label || n.textContent)"
    )


def plain_numbers(mdp: MDP) -> Explanation:
    """Full-length numbers for every state, and cheap witnesses: what a page of this size has to carry."""
    n, rng = mdp.n_states, np.random.default_rng(1)
    target = mdp.where("positive")
    upper = np.where(target, 1.0, rng.random(n) ** 6)
    lower = np.where(target, 1.0, upper * rng.random(n) * (rng.random(n) < 0.5))
    first = Strategy.deterministic_of(mdp, np.array(mdp.first_choice[:-1]))

    witnesses = dict.fromkeys([mdp.states[s] for s in np.argsort(-upper)[:60]], Witnesses(first, first))

    def part(scope: str, problem: str = "importance") -> StateImportance:
        asked = np.arange(n)
        return StateImportance(mdp, "'positive'", problem, scope, asked, lower, upper)

    return Explanation(
        mdp=mdp,
        kinds=kinds(part("all"), target, np.ones(n, bool)),
        ranking=ranking([part("all"), part("optimal")]),
        witnesses={"all": witnesses, "optimal": witnesses},
        target="'positive'",
        targets=("positive",),
        target_states=target,
        reachability=Bounds(0.1, 0.9),
        scopes={"all": part("all"), "optimal": part("optimal")},
        absolute=part("all", "absolute"),
    )
