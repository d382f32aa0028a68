"""What a report wants to be told: the groups, witnesses, decisions and choices that `waypost.explain` should carry."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from waypost.arguments import checked
from waypost.importance.deciding import few_decisions
from waypost.model import MDP
from waypost.report.coordinates import coordinates_of, fields_of
from waypost.report.names import captions

WORDS = frozenset({".md", ".txt", ".html", ".htm"})
PAGES = frozenset({".html", ".htm"})
DECIDING = PAGES | {".json", ".xlsx"}  # they tell of decisions
PICTURES = frozenset({".svg", ".png", ".pdf"})
Picture = Literal["auto", "graph", "bars", "grid"]

WITNESSED = (8, 60)  # states whose witness strategies are in a page: of a large model, of a small one
TRANSITIONS = 200_000  # a larger model stays outside the page; its pictures and numbers are in
STATES = 60_000  # of a model with more states, the most important are in the page
CHOICES = 4_000  # of a model with more choices, their importance is asked for by `waypost decisions`
LABELS = 60  # more shared labels than this are too many to be told one by one
LABELLED_STATES = 2_000  # in a larger model labels are told by the bounds of their states


@checked
def needs(mdp: MDP, *endings: str, picture: Picture = "auto") -> dict[str, Any]:
    """Arguments that let `waypost.explain` give everything that files with these endings can say.

    Without them a page has no strategies to look at, and what several states share is told by their own bounds.

    >>> from waypost import explain, report
    >>> from waypost.cases import loan
    >>> page = report.render_html(explain(loan(), target="Granted", **needs(loan(), ".html")))
    >>> '"witnesses":{"0"' in page
    True
    """
    asked = {ending.lower() for ending in endings}
    groups: dict[str, list[str]] = {}
    if asked & WORDS:
        groups |= label_groups(mdp)
    if asked & PICTURES and shown_picture(mdp, picture) == "grid" and coordinates_of(mdp):
        groups |= fields_of(mdp)
    deciding = few_decisions(mdp)
    return {
        "groups": groups or None,
        "witnesses": _witnessed(mdp) if asked & PAGES else 0,
        "decisions": bool(asked & DECIDING) and deciding,
        "choices": bool(asked & PAGES) and deciding and mdp.n_choices <= CHOICES,
    }


def shown_picture(mdp: MDP, picture: Picture) -> Picture:
    """Kind of picture to draw: of those not chosen, the grid where states have coordinates, else the graph."""
    if picture != "auto":
        return picture
    return "grid" if coordinates_of(mdp) else "graph"


def label_groups(mdp: MDP) -> dict[str, list[str]]:
    """Names of the states that are called by the same label, for the labels that several states share."""
    called = captions(mdp)
    shared = {name for name, n in Counter(called).items() if n > 1 and name in mdp.labels}
    if len(shared) > LABELS or mdp.n_states > LABELLED_STATES:
        return {}
    return {
        name: [state for state, caption in zip(mdp.states, called, strict=True) if caption == name]
        for name in sorted(shared)
    }


def in_page(mdp: MDP) -> bool:
    """Whether the whole model goes into a page."""
    return mdp.n_states <= STATES and mdp.transitions.nnz <= TRANSITIONS


def _witnessed(mdp: MDP) -> int:
    few, many = WITNESSED
    return min(many, max(few, TRANSITIONS // mdp.transitions.nnz)) if in_page(mdp) else 0
