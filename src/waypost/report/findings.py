"""The few things that matter most, as sentences: what a page says first.

A sentence is text with names in it; a name knows the states, or the activity, that it stands for. Start and target say
nothing, nor does a state that only tells whose turn it is, nor an activity that defines the outcome.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waypost.importance.results import Bounds, Explanation, Kind
from waypost.report.mapdata import label_of
from waypost.report.names import captions
from waypost.report.view import turn_states
from waypost.report.wording import count, number, percent, printable, span

MOST = 5  # findings
NAMED = 3  # names in one of them
FEW = 0.05  # a difference of shares below this is not worth a sentence
USUAL = 0.2  # of the cases have it: worth saying that it could be done without


@dataclass(frozen=True)
class Name:
    """A name in a sentence, and where it leads: to a state of the model, or to an activity of the log."""

    text: str
    state: int | None = None
    activity: str | None = None


@dataclass(frozen=True)
class Finding:
    """One thing that matters: a figure and a sentence."""

    kind: str  # for the colour: "for", "against", or a kind of step
    figure: str
    parts: tuple[str | Name, ...]

    def __str__(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)


def findings(explanation: Explanation, scores: Sequence[Any] = ()) -> list[Finding]:
    """Three to five findings, the most telling first; `scores` are the contrasts of a log's activities.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> for finding in findings(explain(loan(), target="Granted")):
    ...     print(finding.figure, "|", finding)
    1 | Every run that reaches 'Granted' passes Application+, whatever is done.
    0.525 to 1 | Consultation is a matter of choice: with a best strategy 0.525 to 1 of the runs that reach 'Granted' pass it.
    0 | No run that reaches 'Granted' passes Angry or Rejected: what leads there is to be avoided.
    """
    told = _from_log(explanation, scores) if scores else []
    return (told + _from_model(explanation, dict.fromkeys(_names(told))))[:MOST]


def _names(told: Sequence[Finding]) -> list[str]:
    return [part.text for finding in told for part in finding.parts if isinstance(part, Name)]


def _from_log(explanation: Explanation, scores: Sequence[Any]) -> list[Finding]:
    telling = [score for score in scores if score.defines_outcome is None]
    apart = [s for s in telling if s.certain > 0 and abs(s.good_share - s.bad_share) >= FEW]
    found = []
    for score in apart[:NAMED]:
        name, better = Name(printable(score.name), activity=score.name), score.good_share > score.bad_share
        without = "" if score.success_without is None else f", and {percent(score.success_without)} of those without it"
        sentence = (
            f"{percent(score.success_after or 0)} of the {count(score.cases, 'case')} with ",
            name,
            f" end well{without}: {percent(score.good_share)} of the good and {percent(score.bad_share)} of the bad cases "
            "have it.",
        )
        points = round(100 * (score.good_share - score.bad_share))
        found.append(Finding("for" if better else "against", f"{points:+d} points", sentence))
    bounds = {s.name: _bounds_of(explanation, s.name) for s in telling}
    needed = [s for s in telling if (b := bounds[s.name]) and b.lower == 1 and s.bad_share < 1 - FEW]
    if needed:
        names = [Name(printable(s.name), activity=s.name) for s in needed]
        least = min(s.bad_share for s in needed[:NAMED])
        sentence = (
            "No case succeeds without ",
            *_listed(names, "or"),
            f"; of the bad cases {percent(least)} or more have it.",
        )
        found.append(Finding("indispensable", "1", sentence))
    return found


def _bounds_of(explanation: Explanation, activity: str) -> Bounds | None:
    label = label_of(activity, explanation.mdp.labels)
    groups: Mapping[str, Bounds] = explanation.groups.get(label, {}) if label else {}
    return groups.get(explanation.main_scope)


def _from_model(explanation: Explanation, known: Mapping[str, Any]) -> list[Finding]:
    """Findings by kind of step; what was said already, by name, is not said again."""
    called, turns = captions(explanation.mdp), turn_states(explanation.mdp)
    by_kind: dict[Kind, list[tuple[Name, int]]] = {}
    seen = set(known)
    for position in explanation.ranking.tolist():
        state = int(explanation.asked[position])
        if turns[state] or called[state] in seen:
            continue
        seen.add(called[state])
        by_kind.setdefault(explanation.kinds[position], []).append(
            (Name(printable(called[state]), state=state), position)
        )
    return [
        finding for tell in (_indispensable, _important, _open, _avoided) if (finding := tell(explanation, by_kind))
    ]


_ByKind = Mapping[Kind, Sequence[tuple[Name, int]]]


def _indispensable(explanation: Explanation, by_kind: _ByKind) -> Finding | None:
    names = [name for name, _ in by_kind.get(Kind.INDISPENSABLE, ())]
    if not names:
        return None
    target = printable(explanation.target)
    under = "under the given strategy" if explanation.main_scope == "strategy" else "whatever is done"
    return Finding(
        "indispensable", "1", (f"Every run that reaches {target} passes ", *_listed(names, "and"), f", {under}.")
    )


def _important(explanation: Explanation, by_kind: _ByKind) -> Finding | None:
    found = by_kind.get(Kind.IMPORTANT, ())
    if not found:
        return None
    least = min(explanation.scopes[explanation.main_scope].at(p).lower for _, p in found[:NAMED])
    text = f" {'is' if len(found) == 1 else 'are'} on the way of at least {percent(least)} of the runs that reach "
    names = _listed([name for name, _ in found], "and")
    return Finding("important", number(least), (*names, f"{text}{printable(explanation.target)}."))


def _open(explanation: Explanation, by_kind: _ByKind) -> Finding | None:
    """Tell of the step whose importance says most about the best strategies, or is widest open."""
    found = by_kind.get(Kind.OPTIONAL, ())
    if not found or explanation.main_scope == "strategy":
        return None
    target, scope = printable(explanation.target), "optimal" if "optimal" in explanation.scopes else "all"
    result = explanation.scopes[scope]
    name, position = max(found, key=lambda entry: (float(result.at(entry[1]).lower), float(result.at(entry[1]).upper)))
    bounds = result.at(position)
    how = "with a best strategy" if scope == "optimal" else "depending on what is done,"
    sentence = f" is a matter of choice: {how} {span(bounds)} of the runs that reach {target} pass it."
    return Finding("optional", span(bounds), (name, sentence))


def _avoided(explanation: Explanation, by_kind: _ByKind) -> Finding | None:
    names = [name for name, _ in by_kind.get(Kind.DETRIMENTAL, ()) if not _says_no_more(name.text)]
    if not names:
        return None
    target = printable(explanation.target)
    return Finding(
        "detrimental",
        "0",
        (f"No run that reaches {target} passes ", *_listed(names, "or"), ": what leads there is to be avoided."),
    )


def _says_no_more(name: str) -> bool:
    """Whether a name only says that a run did not succeed."""
    return name.lower() in {"negative", "failure", "fail", "lost", "end"}


def _listed(names: Sequence[Name], word: str) -> list[str | Name]:
    """List names as in a sentence, the first few of them.

    >>> "".join(getattr(part, "text", part) for part in _listed([Name("a"), Name("b"), Name("c"), Name("d")], "and"))
    'a, b, c and 1 more'
    """
    shown: list[str | Name] = [*names[:NAMED]]
    if len(names) > NAMED:
        shown.append(f"{len(names) - NAMED} more")
    parts: list[str | Name] = []
    for k, each in enumerate(shown):
        parts += [] if k == 0 else [f" {'and' if len(names) > NAMED else word} " if k == len(shown) - 1 else ", "]
        parts.append(each)
    return parts
