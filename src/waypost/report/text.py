"""An explanation in words: what is indispensable, what helps, what to avoid, and what the numbers mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from waypost.importance.results import Bounds, Explanation, PathImportance
from waypost.report.reading import (
    IMPORTANT,
    MARGINAL,
    Kind,
    bounds_at,
    captions,
    group_by_label,
    kinds,
    main_scope,
    ranking,
)
from waypost.report.wording import count, number, percent, printable, span

SCOPE_TITLES = {"all": "any strategy", "optimal": "best strategies", "strategy": "given strategy"}
_WHATEVER = {
    "all": "whatever is done",
    "optimal": "under every best strategy",
    "strategy": "under the given strategy",
}


@dataclass(frozen=True)
class Item:
    """One line of a section: a state, or the states that share a label."""

    name: str
    note: str  # "any of 10 states", the state's own name, or nothing
    values: tuple[str, ...]  # one span per scope


@dataclass(frozen=True)
class Section:
    """The states of one kind, and a sentence on what they have in common."""

    kind: str
    title: str
    sentence: str
    items: tuple[Item, ...] = ()
    more: int = 0  # items left out


@dataclass(frozen=True)
class Summary:
    """An explanation in words, ready to be set as text, Markdown or HTML."""

    title: str
    lead: str
    scopes: tuple[str, ...]  # headings of the items' values
    sections: tuple[Section, ...]
    reading: tuple[str, ...]  # how to read the numbers


def summarise(explanation: Explanation, top: int = 5) -> Summary:
    """Explanation in words, with at most `top` lines per section.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> summary = summarise(explain(loan(), target="Granted"))
    >>> summary.lead
    "From 's0', 'Granted' is reached with probability 0.98 at best and 0 at worst, depending on the choices made."
    >>> [(section.title, [item.name for item in section.items]) for section in summary.sections][:2]
    [('Indispensable', ['Application+']), ('Optional', ['Consultation', 'Application', 'Rework', 'Resubmit', 'Error'])]
    """
    target = printable(explanation.target)
    read = kinds(explanation)
    ranked = ranking(explanation).tolist()
    sections = []
    for kind in (Kind.INDISPENSABLE, Kind.IMPORTANT, Kind.OPTIONAL, Kind.MARGINAL, Kind.DETRIMENTAL):
        positions = [position for position in ranked if read[position] is kind]
        if positions:
            title, sentence = _words(kind, target, main_scope(explanation))
            groups = group_by_label(explanation, positions)
            items = tuple(_item(explanation, name, members) for name, members in groups[:top])
            sections.append(Section(kind.value, title, sentence, items, len(groups) - len(items)))
    best = _best_strategies(explanation, target, top)
    return Summary(
        title=f"Which steps matter for reaching {target}?",
        lead=_lead(explanation, target),
        scopes=tuple(SCOPE_TITLES[scope] for scope in explanation.scopes),
        sections=(*sections, *([best] if best else [])),
        reading=_how_to_read(explanation, target, ranked),
    )


def _lead(explanation: Explanation, target: str) -> str:
    initial = repr(printable(explanation.mdp.states[explanation.mdp.initial]))
    low, high = explanation.reachability.lower, explanation.reachability.upper
    if low == high:
        return f"From {initial}, {target} is reached with probability {number(high)}, whatever choices are made."
    return (
        f"From {initial}, {target} is reached with probability {number(high)} at best and {number(low)} at worst, "
        "depending on the choices made."
    )


def _words(kind: Kind, target: str, scope: str) -> tuple[str, str]:
    whatever = _WHATEVER[scope]
    return {
        Kind.INDISPENSABLE: ("Indispensable", f"Every run that reaches {target} passes these, {whatever}."),
        Kind.IMPORTANT: (
            "Important",
            f"At least {percent(IMPORTANT)} of the runs that reach {target} pass these, {whatever}.",
        ),
        Kind.OPTIONAL: (
            "Optional",
            f"Some of the runs that reach {target} pass these"
            + (", and how many depends on the choices made." if scope != "strategy" else f" {whatever}."),
        ),
        Kind.MARGINAL: (
            "Marginal",
            f"At most {percent(MARGINAL)} of the runs that reach {target} pass these, {whatever}.",
        ),
        Kind.DETRIMENTAL: ("To avoid", f"No run that reaches {target} passes these, {whatever}."),
    }[kind]


def _item(explanation: Explanation, name: str, members: Sequence[int]) -> Item:
    values = []
    for scope in explanation.scopes:
        found = [bounds_at(explanation, scope, position) for position in members]
        values.append(span(min(b.lower for b in found), max(b.upper for b in found)))
    return Item(printable(name), _note(explanation, name, members), tuple(values))


def _note(explanation: Explanation, name: str, members: Sequence[int]) -> str:
    mdp = explanation.mdp
    if len(members) == 1:
        own = mdp.states[int(explanation.asked[members[0]])]
        return "" if own == name else printable(own)
    labelled = sum(called == name for called in captions(mdp))
    return f"any of {len(members)} states" if labelled == len(members) else f"{len(members)} of its {labelled} states"


def _best_strategies(explanation: Explanation, target: str, top: int) -> Section | None:
    """Which states a best strategy treats differently: those whose interval shrinks most."""
    if not {"all", "optimal"} <= set(explanation.scopes) or explanation.reachability.lower == 1:
        return None
    every, best = explanation.scopes["all"], explanation.scopes["optimal"]
    shrink = (every.upper - every.lower).astype(float) - (best.upper - best.lower).astype(float)
    order = np.argsort(-np.round(shrink, 12), kind="stable")
    changed = [int(k) for k in order if shrink[k] >= MARGINAL]
    sentence = (
        f"A best strategy is one that reaches {target} with the greatest probability, "
        f"{number(explanation.reachability.upper)}."
    )
    if not changed:
        return Section(
            "best", "Following a best strategy", f"{sentence} It changes the importance of no state by much."
        )
    groups = group_by_label(explanation, changed)
    items = tuple(
        Item(printable(name), _note(explanation, name, members), (_change(explanation, members),))
        for name, members in groups[: min(top, 3)]
    )
    return Section("best", "Following a best strategy", f"{sentence} It narrows:", items, len(groups) - len(items))


def _change(explanation: Explanation, members: Sequence[int]) -> str:
    before, after = (
        span(
            min(bounds_at(explanation, scope, k).lower for k in members),
            max(bounds_at(explanation, scope, k).upper for k in members),
        )
        for scope in ("all", "optimal")
    )
    return f"{after} instead of {before}" if before != after else after


def _how_to_read(explanation: Explanation, target: str, ranked: Sequence[int]) -> tuple[str, ...]:
    sentences = ["A strategy says which action is taken in each state; a run is one way through the process."]
    read = kinds(explanation)
    inner = [k for k in ranked if read[k] in {Kind.OPTIONAL, Kind.IMPORTANT, Kind.MARGINAL}]
    telling = [
        (k, scope, bounds_at(explanation, scope, k)) for scope in reversed(list(explanation.scopes)) for k in inner
    ]
    example = next(((k, s, b) for k, s, b in telling if b.lower not in {0, b.upper}), telling[0] if telling else None)
    if example:
        position, scope, bounds = example
        name = captions(explanation.mdp)[int(explanation.asked[position])]
        sentences.append(
            f"{span(bounds.lower, bounds.upper)} for {printable(name)} means: of the runs that reach {target}, "
            f"{_share(bounds)} pass it on the way"
            + {"all": ", depending on the strategy.", "optimal": " under a best strategy."}.get(
                scope, " under the given strategy."
            )
        )
    if any(len(members) > 1 for _, members in group_by_label(explanation, ranked)):
        sentences.append(
            "Where several states share a label, the numbers run from their least lower to their greatest upper bound."
        )
    return tuple(sentences)


def _share(bounds: Bounds) -> str:
    if bounds.lower == bounds.upper:
        return percent(bounds.upper)
    return f"{percent(bounds.lower)} to {percent(bounds.upper)}"


def as_text(summary: Summary, width: int = 44) -> str:
    """Summary as plain text."""
    lines = [summary.title, "", summary.lead]
    for section in summary.sections:
        lines += ["", f"{section.title}. {section.sentence}"]
        headed = len(summary.scopes) > 1 and section.kind != "best" and section.items
        names = [printable(_named(item), width) for item in section.items]
        longest = max((len(name) for name in names), default=0)
        if headed:
            widths = [
                max(len(title), *(len(i.values[k]) for i in section.items)) for k, title in enumerate(summary.scopes)
            ]
            lines.append(_row("", longest, summary.scopes, widths))
        else:
            widths = [0] * len(summary.scopes)
        lines += [_row(name, longest, item.values, widths) for name, item in zip(names, section.items, strict=True)]
        if section.more:
            lines.append(f"  and {section.more:,} more")
    lines += ["", "How to read this: " + " ".join(summary.reading)]
    return "\n".join(lines) + "\n"


def _row(name: str, longest: int, values: Sequence[str], widths: Sequence[int]) -> str:
    cells = [value.ljust(width) for value, width in zip(values, [*widths, 0], strict=False)]
    return ("  " + name.ljust(longest) + "  " + "  ".join(cells)).rstrip()


def _named(item: Item) -> str:
    return f"{item.name} ({item.note})" if item.note else item.name


def as_markdown(summary: Summary) -> str:
    """Summary as Markdown, names kept as text."""
    lines = [f"# {escape_markdown(summary.title)}", "", escape_markdown(summary.lead)]
    for section in summary.sections:
        lines += ["", f"## {section.title}", "", escape_markdown(section.sentence), ""]
        several = len(summary.scopes) > 1 and section.kind != "best"
        for item in section.items:
            values = [
                f"{value} ({title})" if several else value
                for value, title in zip(item.values, summary.scopes, strict=False)
            ]
            lines.append(f"- **{escape_markdown(_named(item))}**: {', '.join(escape_markdown(v) for v in values)}")
        if section.more:
            lines.append(f"- and {section.more:,} more")
    lines += ["", "## How to read this", "", *(f"{escape_markdown(sentence)}" for sentence in summary.reading)]
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> escape_markdown("<b>|_x_")
    '&lt;b&gt;\\|\\_x\\_'
    """
    text = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join("\\" + c if c in "\\`*_{}[]#|!~$@" else c for c in text)


def path_summary(result: PathImportance) -> str:
    """Say in words how important a path is.

    >>> from waypost import path_importance
    >>> from waypost.cases import loan
    >>> print(path_summary(path_importance(loan(), path=["s0", "Apply", "Application"], target="Granted", scope="all")))
    The path s0, Apply, Application has importance 0.897 to 1 for reaching 'Granted'.
    Of the runs that reach 'Granted' under a strategy that follows this path's actions, 89.7 % to 100 % follow the path.
    Taking these actions costs nothing: 'Granted' can still be reached with probability 0.98, the greatest there is.
    """
    target = printable(result.target)
    bounds = Bounds(result.lower, result.upper)
    path = ", ".join(printable(step) for step in result.path)
    under = {
        "all": "under a strategy that follows this path's actions",
        "optimal": "under a best strategy that follows this path's actions",
        "strategy": "under the given strategy",
    }[result.scope]
    lines = [
        f"The path {path} has importance {span(result.lower, result.upper)} for reaching {target}.",
        f"Of the runs that reach {target} {under}, {_share(bounds)} follow the path.",
    ]
    if result.scope != "strategy":
        following, best = number(result.reachability_following), number(result.reachability)
        lines.append(
            f"Taking these actions costs nothing: {target} can still be reached with probability {best}, "
            "the greatest there is."
            if result.reachability_following == result.reachability
            else f"Taking these actions costs something: {target} can then be reached with probability {following} "
            f"at best, instead of {best}."
        )
    return "\n".join(lines)


def kind_counts(explanation: Explanation) -> str:
    """How many states there are of each kind, in one line."""
    read = kinds(explanation)
    found = [(kind, sum(k is kind for k in read)) for kind in Kind if kind not in {Kind.START, Kind.TARGET}]
    return f"{count(len(read), 'state')}: " + ", ".join(
        f"{n:,} {'to avoid' if kind is Kind.DETRIMENTAL else kind.value}" for kind, n in found if n
    )
