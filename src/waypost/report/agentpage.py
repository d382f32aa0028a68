"""One page that explains an agent: where it loses, on the map and place by place, made of the numbers that are printed.

It is the page of `waypost.report.html` with other parts: the same style, the same cards, the same kind of table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from waypost.agents import AgentExplanation
from waypost.arguments import Positive, checked
from waypost.importance.results import Kind
from waypost.report.agents import (
    LITTLE,
    NOT_MENDED,
    beside,
    better,
    by_the_clock,
    lead,
    loss_sentence,
    mends,
    met,
    note,
    places_table,
    steps_taken,
    taken,
    taking_long,
    verdict,
)
from waypost.report.coordinates import Coordinates, coordinates_of
from waypost.report.fates import ends
from waypost.report.findings import MOST, Finding, Name
from waypost.report.html import LISTED, filled
from waypost.report.names import titles, told
from waypost.report.pagemap import PageMaps, page_maps
from waypost.report.text import Item, Section
from waypost.report.wording import chance, count, number, percent, printable, share

ROWS = 2_000  # places in the page, the most costly ones
GROUPS = 3  # told before places
_SCRIPTS = ("wording.js", "listing.js", "agent.js")


@checked
def render_agent(
    explanation: AgentExplanation,
    *,
    coordinates: Mapping[Any, tuple[int, int]] | None = None,
    names: Sequence[str] = (),
    notes: Sequence[str] = (),
    top: Positive = 5,
) -> str:
    """Self-contained page that explains an agent, and another one beside it.

    Parameters
    ----------
    explanation
        What `waypost.explain_agent` found.
    coordinates
        Where each state stands on a grid; read off names such as ``x=3, y=1`` when not given.
    names
        What the agent is called, and the other one, such as the names of their files.
    notes
        What else should be known of the model.
    top
        Lines of a card.

    Examples
    --------
    >>> from waypost import Strategy, explain_agent
    >>> from waypost.cases import loan
    >>> page = render_agent(explain_agent(loan(), Strategy.uniform(loan()), target="Granted"))
    >>> "<h1" in page, "0.367" in page
    (True, True)
    """
    places = coordinates_of(explanation.mdp, coordinates)
    maps = page_maps(explanation, places) if places and find_spec("matplotlib") else None
    undrawn = ["With `pip install 'waypost[plot]'` there is a map here"] if places and not maps else []
    rows = _rows(explanation, places or {})
    part = {
        "title": _title(explanation),
        "lead": _lead(explanation, names),
        "figures": _figures(explanation),
        "findings": _findings(explanation),
        "at": {explanation.mdp.state(row["name"]): k for k, row in enumerate(rows)},
        "change": _mending(explanation),
        "sections": _sections(explanation, top),
        "reading": [note(explanation), *_reading(explanation)],
        "notes": [f"{printable(each)[:1].upper()}{printable(each)[1:]}." for each in (*notes, *undrawn)],
        "maps": maps,
        "map_titles": _map_titles(maps),
        **_table(explanation, rows),
    }
    data = {"columns": part["columns"], "rows": rows, "noun": "place", "all": part["all"]}
    return filled([part], data, template="agent.html", scripts=_SCRIPTS)


def _title(explanation: AgentExplanation) -> str:
    target = printable(explanation.target)
    if explanation.against is not None:
        return f"How two agents differ in reaching {target}"
    if explanation.departures or explanation.fates:
        return f"Where the agent loses {target}"
    return f"The agent reaches {target}"


def _lead(explanation: AgentExplanation, names: Sequence[str]) -> str:
    called = [f"{who} is {printable(name, 60)}" for who, name in zip(("The agent", "the other"), names, strict=False)]
    first = [f"{', '.join(called)}."] if called else []
    return " ".join(filter(None, (*first, lead(explanation), verdict(explanation))))


def _figures(explanation: AgentExplanation) -> list[tuple[str, str]]:
    other = explanation.against
    within = "" if explanation.within is None else f" in {count(explanation.within, 'step')}"
    return [
        (f"the agent{within}", chance(explanation.success)),
        *([] if other is None else [("the other agent", chance(other.success))]),
        ("the best possible", chance(explanation.best)),
    ]


def _findings(explanation: AgentExplanation) -> list[Finding]:
    """What the places in which most is lost have in common, then the places."""
    found, mdp = explanation.departures, explanation.mdp
    lost = sum(place.cost for place in found)
    if lost < LITTLE:
        free = "The agent does the best wherever it comes." if not found else f"{count(len(found), 'departure')}."
        return [Finding("for", "0", (f"of success is lost. {' '.join([free, *taking_long(explanation)])}",))]
    groups = explanation.groups if 2 * sum(place.cost for place in found[:GROUPS]) < lost else ()
    said = []
    for group in groups[:GROUPS]:
        cost, _, sentence = loss_sentence(group).partition(" ")
        said.append(Finding("against", cost, (f"of success is lost {sentence}.",)))
    for place in [place for place in found if place.cost >= LITTLE][: MOST - len(said)]:
        name = Name(printable(place.state), state=mdp.state(place.state))
        done = taken(mdp, place.state, place.taken)
        so = f", {met(place.visits)}: it takes {done}, and {better(explanation, place)}."
        said.append(Finding("against", number(place.cost), ("of success is lost in ", name, so)))
    return said


def _sections(explanation: AgentExplanation, top: int) -> list[Section]:
    """Cards: where the other agent gains, where runs end and how long they take, and what successful runs pass."""
    cards = []
    for first, lines in beside(explanation, top) if explanation.against is not None else ():
        pairs = (line.partition(" ") for line in lines)
        kind = "detrimental" if first.startswith("The other gives up") else "best"
        cards.append(Section(kind, first, "", tuple(Item(where, "", (cost,)) for cost, _, where in pairs)))
    alone = explanation.against is None
    for agent, who in ((explanation, "the agent" if alone else "this agent"), (explanation.against, "the other agent")):
        if agent is not None:
            cards.append(_ended(agent, who, top))
    return [*cards, *_passed(explanation, top)]


def _mending(explanation: AgentExplanation) -> list[Section]:
    """What to change first, and how often the agent succeeds then."""
    mdp, found = explanation.mdp, explanation.mending
    if not found:
        return []
    said = (
        f"How often the agent succeeds, {chance(explanation.success)} now, if it does the best in one place after the "
        "other, each time where most is lost, and otherwise goes on as it does."
    )
    items = [Item(f"{told(mdp, m.state, m.action)} in {printable(m.state)}", "", (chance(m.success),)) for m in found]
    lines = () if mends(explanation) else (NOT_MENDED,)
    return [Section("best", "What to change first", said, tuple(items), lines=lines)]


def _ended(explanation: AgentExplanation, who: str, top: int) -> Section:
    """Where the runs of an agent end that fail, and how long all take."""
    over = "lost" if explanation.within is None else "lost, or the time is up"
    took = f"Until the target is reached or {over}, runs take {steps_taken(explanation.steps)} steps on average"
    fewest = f"; the shortest way there takes {explanation.fewest:,}." if explanation.fewest else "."
    ended = tuple(Item(where, "", (part,)) for part, where in ends(explanation, top))
    if not ended:
        return Section("best", f"Every run of {who} succeeds", took + fewest)
    return Section("detrimental", f"Where runs of {who} end that fail", took + fewest, ended)


def _passed(explanation: AgentExplanation, top: int) -> list[Section]:
    """What the successful runs of the agent pass: values of variables, and places."""
    cards = []
    runs = "Share of the agent's successful runs that pass it."
    values = explanation.variables
    if values is not None and len(explanation.mdp.variables) > 1:
        kept = [p for p in values.predicates if p.kind is not Kind.DETRIMENTAL and p.states > 1]
        items = tuple(Item(printable(p.text), "", (share(p.bounds),)) for p in kept[:top])
        if items:
            cards.append(Section("important", "What success passes", runs, items, more=len(kept) - len(items)))
    places = explanation.importance if explanation.within is None else None  # with a limit, of a state at every step
    if places is not None:
        mdp, called = explanation.mdp, titles(explanation.mdp)
        plain = ~mdp.where(explanation.names)
        plain[mdp.initial] = False
        order = sorted(
            (s for s in range(mdp.n_states) if plain[s] and places.lower[s] > 0), key=lambda s: -places.lower[s]
        )
        items = tuple(Item(printable(called[s]), "", (percent(places.lower[s]),)) for s in order[:top])
        if items:
            title = "Places that success passes"
            cards.append(Section("indispensable", title, runs, items, more=len(order) - len(items)))
    return cards


def _reading(explanation: AgentExplanation) -> list[str]:
    said = ["A cost is what the best would have made of the rest of the run: all costs add up to what is lost."]
    if explanation.within is not None:
        said.append(
            "A place is a decision at every step: what is lost there is added up over all of them, and what an action "
            "is worth is the average over them."
        )
        said += filter(None, [by_the_clock(explanation)])
        if explanation.success > 0 and explanation.variables is None and explanation.mdp.variables:
            said.append("In so many states and steps, what success passes is not told; leave out the limit for it.")
    return said


def _rows(explanation: AgentExplanation, places: Coordinates) -> list[dict[str, Any]]:
    """What the page's script takes of every place: cells, numbers, where it is, and what each action is worth."""
    mdp = explanation.mdp
    _, cells = places_table(explanation, ROWS)
    found: Sequence[Any] = explanation.departures if explanation.against is None else explanation.differences
    numbers = ("visits", "cost") if explanation.against is None else ("cost", "cost_to_other")
    return [
        {
            "name": place.state,
            "cells": [printable(cell) for cell in line],
            "numbers": [_finite(getattr(place, name)) for name in numbers],
            "at": places.get(mdp.state(place.state)),
            "hoped": None if explanation.within is None else place.hoped,
            "best": [mdp.actions_of(mdp.state(place.state)).index(action) for action in place.best],
            "actions": [
                [
                    printable(told(mdp, place.state, action)),
                    place.worth[action],
                    place.taken.get(action, 0),
                    *([] if explanation.against is None else [place.taken_by_other.get(action, 0)]),
                ]
                for action in mdp.actions_of(mdp.state(place.state))
            ],
        }
        for place, line in zip(found, cells, strict=False)
    ]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _table(explanation: AgentExplanation, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Headings and first rows of the table that is there without JavaScript."""
    headings = [heading.capitalize() for heading in places_table(explanation, 0)[0]]
    total = len(explanation.departures if explanation.against is None else explanation.differences)
    first = (
        "in which the two do different things" if explanation.against else "in which the agent departs from the best"
    )
    return {
        "things": "places",
        "thing": "place",
        "all": total,
        "columns": headings,
        "caption": f"{count(total, 'place')} {first}, the most costly first",
        "listed": [row["cells"] for row in rows[:LISTED]],
        "nowhere": f"There is no place {first}.",
    }


def _map_titles(maps: PageMaps | None) -> list[str]:
    """What stands above each map."""
    if maps is None:
        return []
    part = ""
    if maps.shown != maps.whole:
        whole, shown = maps.whole, maps.shown
        part = f" ({shown.wide} x {shown.high} of {whole.wide} x {whole.high} fields, where most is lost)"
    who = ["What the agent does", "What the other does"][: len(maps.drawings)]
    return [f"{each}{part}" for each in who]
