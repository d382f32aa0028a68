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

from waypost.errors import ModelError
from waypost.importance.results import Explanation
from waypost.logs.contrast import Contrasts
from waypost.logs.process_map import ProcessMap
from waypost.report.findings import Name, findings
from waypost.report.names import labels_by_state
from waypost.report.pagedata import page_data
from waypost.report.text import kind_counts, summarise
from waypost.report.wording import SCOPE_TITLES, number, percent, printable, span

LISTED = 200  # rows of the table that is there without JavaScript
_SCRIPTS = (
    *("vendor/dagre.js", "wording.js", "solver.js", "thinning.js", "layout.js", "pictures.js", "grid.js", "graph.js"),
    *("stops.js", "panels.js", "path.js", "table.js", "compare.js", "main.js"),
)


def render_html(
    explanations: Explanation | Sequence[Explanation],
    *,
    coordinates: Mapping[Any, tuple[int, int]] | None = None,
    cases: Mapping[str, Sequence[str]] | None = None,
    process_map: ProcessMap | None = None,
    contrasts: Contrasts | None = None,
    top: int = 5,
) -> str:
    """Self-contained page for one explanation, or for several targets of the same model.

    Parameters
    ----------
    explanations
        One explanation, or one per target, all of the same model and the same states; `waypost.report.needs` says what
        `waypost.explain` must be asked for so that the page can show all it is able to.
    coordinates
        Where each state stands on a grid; read off names such as ``x=3, y=1`` when not given.
    cases
        Names of example cases for states of a model that was learned from a log.
    process_map
        The map of the log that the model was learned from, `waypost.logs.process_map`.
    contrasts
        Its activities among good and bad cases, `waypost.logs.contrast`.
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
    template = _environment().get_template("page.html")
    summaries = [summarise(explanation, top) for explanation in several]
    data = page_data(several, coordinates, cases or {}, process_map, contrasts.activities if contrasts else ())
    positions = {name: k for k, name in enumerate(data["states"])}
    page: str = template.render(
        title=printable(summaries[0].title),
        version=version("waypost"),
        css=_asset("page.css"),
        script="(() => {\n" + "\n".join(_asset(name) for name in ("strict.js", *_SCRIPTS)) + "\n})();",
        parts=[_part(e, s, contrasts, process_map, positions) for e, s in zip(several, summaries, strict=True)],
        data=embed(data),
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


def _part(
    explanation: Explanation,
    summary: Any,
    contrasts: Contrasts | None,
    process_map: ProcessMap | None,
    positions: Mapping[str, int],
) -> dict[str, Any]:
    """Gather what the template needs for one target: the words and the first rows of the table."""
    mdp, labels = explanation.mdp, labels_by_state(explanation.mdp)
    told = findings(explanation, contrasts.activities if contrasts else ())
    named = [
        part.state for finding in told for part in finding.parts if isinstance(part, Name) and part.state is not None
    ]
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
        "summary": summary,
        "findings": told,
        "at": {state: positions[mdp.states[state]] for state in named if mdp.states[state] in positions},
        "stops": {stop.name: k for k, stop in enumerate(process_map.stops)} if process_map else {},
        "observed": None if contrasts is None else percent(contrasts.success),
        "counts": kind_counts(explanation),
        "target": printable(explanation.target),
        "best": number(explanation.reachability.upper),
        "worst": number(explanation.reachability.lower),
        "headings": [SCOPE_TITLES[part].capitalize() for part in explanation.parts],
        "rows": rows,
        "labelled": bool(mdp.labels),
        "left_out": len(explanation) - len(rows),
    }
