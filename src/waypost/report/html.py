"""One page that explains: self-contained, offline, made of the same numbers as every other report.

The page holds the text and the table as plain HTML, and the data as JSON for the script that lets people explore.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import numpy as np

from waypost.arguments import Positive, checked, shown
from waypost.errors import ArgumentError, ModelError
from waypost.importance.activities import Story
from waypost.importance.results import Explanation
from waypost.report import story as words
from waypost.report.findings import Name, findings
from waypost.report.insight import insight_data
from waypost.report.mapdata import stop_places
from waypost.report.names import labels_by_state, titles
from waypost.report.pagedata import page_data
from waypost.report.strategies import compared_strategies
from waypost.report.text import Summary, kind_counts, summarise
from waypost.report.wording import SCOPE_TITLES, chance, count, percent, printable, span

LISTED = 200  # rows of the table that is there without JavaScript
_SCRIPTS = (
    *("vendor/dagre.js", "wording.js", "solver.js", "thinning.js", "layout.js", "pictures.js", "grid.js", "graph.js"),
    *(
        "stops.js",
        "panels.js",
        "insight.js",
        "pattern.js",
        "matching.js",
        "path.js",
        "listing.js",
        "table.js",
        "compare.js",
        "reading.js",
        "main.js",
    ),
)


@checked
def render_html(
    explanations: Explanation | Sequence[Explanation],
    *,
    coordinates: Mapping[Any, tuple[int, int]] | None = None,
    cases: Mapping[str, Sequence[str]] | None = None,
    names: Sequence[str] | None = None,
    top: Positive = 5,
) -> str:
    """Self-contained page for one explanation, or for several targets, or several strategies, of the same model.

    Parameters
    ----------
    explanations
        One explanation, or one per target, all of the same model and the same states; `waypost.report.needs` says what
        `waypost.explain` must be asked for so that the page can show all it is able to.
    coordinates
        Where each state stands on a grid; read off names such as ``x=3, y=1`` when not given.
    cases
        Names of example cases for states of a model that was learned from a log.
    names
        What to call each explanation where they differ by their strategy, not by their target.
    top
        Lines per section of the summary.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> page = render_html(explain(loan(), target="Granted"))
    >>> page.startswith("<!doctype html>"), "http:" in page.replace("http://www.w3.org/", "")
    (True, False)
    """
    several = [explanations] if isinstance(explanations, Explanation) else list(explanations)
    if not several:
        raise ModelError("a page needs at least one explanation")
    mdp = several[0].mdp
    if any(e.mdp is not mdp or not np.array_equal(e.asked, several[0].asked) for e in several):
        raise ModelError("the targets of one page must be explained on the same model and the same states")
    summaries = [summarise(explanation, top) for explanation in several]
    story = several[0].log
    # of a log, the model's states are in the page where they were asked for; its activities always are
    told = [each.log.by_state or each if each.log else each for each in several]
    data = page_data(told, coordinates, cases or {}, story)
    positions = {name: k for k, name in enumerate(data["states"])}
    if names is not None and (isinstance(names, str) or len(names) != len(several)):
        raise ArgumentError(f"names has one name for each of the {len(several)} explanations, not {shown(names)}")
    labels: Sequence[str | None] = names or [None] * len(several)
    for target, explanation, label in zip(data["targets"], several, labels, strict=True):
        target["insight"] = insight_data(explanation, positions, None if story is None else stop_places(story))
        target["label"] = label
    parts = [
        part_of(e, s, positions) | {"insight": target["insight"]}
        for e, s, target in zip(several, summaries, data["targets"], strict=True)
    ]
    if names and len(several) > 1:
        parts = [part | compared_strategies(several, names) for part in parts]
    return filled(parts, data)


def filled(
    parts: Sequence[Mapping[str, Any]],
    data: Mapping[str, Any],
    *,
    template: str = "page.html",
    scripts: Sequence[str] = _SCRIPTS,
) -> str:
    """Page of these parts, with the data its script works with."""
    page: str = (
        _environment()
        .get_template(template)
        .render(
            title=parts[0]["title"],
            version=version("waypost"),
            css=_asset("page.css"),
            script="(() => {\n" + "\n".join(_asset(name) for name in ("strict.js", *scripts)) + "\n})();",
            parts=parts,
            share=percent,
            data=embed(data),
        )
    )
    return page


def embed(data: Any) -> str:
    r"""JSON that is safe inside a ``<script>`` element, whatever the names are.

    >>> embed({"</script>": "&\u2028"})
    '{"\\u003c/script\\u003e":"\\u0026\\u2028"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


@cache
def _environment() -> Any:
    import jinja2

    loader = jinja2.FunctionLoader(_asset)
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)


@cache
def _asset(name: str) -> str:
    return (files("waypost.report") / "templates" / name).read_text(encoding="utf-8")


def part_of(explanation: Explanation, summary: Summary, positions: Mapping[str, int]) -> dict[str, Any]:
    """Gather what the template needs for one target: the words and the first rows of the table."""
    story = explanation.log
    found = findings(explanation)
    states, start = explanation.mdp.states, explanation.mdp.initial
    begin = titles(explanation.mdp)[start]
    names = [part for finding in found for part in finding.parts if isinstance(part, Name)]
    named = {name.state for name in names if name.state is not None}
    part = {
        "summary": summary,
        "title": printable(summary.title),
        "lead": summary.lead.replace(repr(printable(states[start])), repr(printable(begin)), 1),
        "findings": found,
        "at": {state: positions[states[state]] for state in named if states[state] in positions},
        "stops": {},
        "figures": _figures(explanation),
    }
    return part | (_states_part(explanation) if story is None else _log_part(story))


def _figures(explanation: Explanation) -> list[tuple[str, str]]:
    """Success as observed, at best and at worst, as far as each is known and says more than the others."""
    low, high = explanation.reachability
    story, write = explanation.log, chance if explanation.log is None else percent
    seen = [] if story is None else [("observed", percent(story.success))]
    decided = explanation.insight.decisions if explanation.insight else None
    if story is None and decided is not None and decided.given:
        seen = [("given strategy", chance(decided.reached))]
    if story is not None and not story.scopes:
        return [*seen, ("cases", f"{story.cases:,}")]
    return (
        [*seen, ("at best", write(high)), ("at worst", write(low))] if low != high else [*seen, ("always", write(high))]
    )


def _states_part(explanation: Explanation) -> dict[str, Any]:
    mdp, labels = explanation.mdp, labels_by_state(explanation.mdp)
    rows = []
    for position in explanation.ranking[:LISTED].tolist():
        state = int(explanation.asked[position])
        rows.append(
            {
                "name": printable(mdp.states[state]),
                "labels": printable(", ".join(labels[state])),
                "kind": explanation.kinds[position].value,
                "values": [span(bounds) for bounds in explanation.at(position).values()],
            }
        )
    return {
        "counts": kind_counts(explanation),
        "thing": "state",
        "things": "states",
        "caption": f"Importance for reaching {printable(explanation.target)}, most important first",
        "headings": [SCOPE_TITLES[part].capitalize() for part in explanation.parts],
        "rows": rows,
        "labelled": bool(mdp.labels),
        "left_out": len(explanation) - len(rows),
    }


def _log_part(story: Story) -> dict[str, Any]:
    """Gather the same for a log: its activities, what separates first."""
    stops = {stop.name: k for k, stop in enumerate(story.process_map.stops)} if story.process_map else {}
    rows = [
        {
            "name": printable(a.name),
            "stop": stops.get(a.name),
            "kind": "defining" if a.defines_outcome else "",
            "values": words.cells(story, a),
        }
        for a in story.activities
    ]
    return {
        "title": f"Which steps matter for {printable(wanted_end(story))}?",
        "lead": f"{story.good:,} of {count(story.cases, 'case')} end well.",
        "stops": stops,
        "counts": "",
        "thing": "activity",
        "things": "activities",
        "caption": "Activities of good and bad cases, what separates first",
        "headings": [heading.capitalize() for heading in words.headings(story)],
        "rows": rows,
        "labelled": False,
        "left_out": 0,
    }


def wanted_end(story: Story) -> str:
    """What good cases reach, in the log's words: the events that decide that a case is good.

    >>> from waypost.logs import EventLog
    >>> from waypost.story import explain_log
    >>> log = EventLog.from_sequences([["ask", "pay"]] * 40 + [["ask", "go"]] * 40)
    >>> wanted_end(explain_log(log, positive="pay").log)
    "'pay'"
    """
    deciding = [a.name for a in story.defining if str(a.defines_outcome).startswith("decides that a case is positive")]
    return " or ".join(map(repr, deciding[:3])) or "a good end"
