"""An explanation in words: what is indispensable, what helps, what to avoid, and what the numbers mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waypost.arguments import Positive, checked
from waypost.importance.reading import IMPORTANT, MARGINAL, kind_of
from waypost.importance.results import Bounds, Explanation, Kind
from waypost.importance.single import PathImportance
from waypost.model.effects import told_path
from waypost.report.names import SHORT_NAMES, addition, are_short, captions, group_by_label, short_names
from waypost.report.wording import SCOPE_TITLES, count, exactly, percent, printable, proof, share, span

_WHATEVER = {"all": "whatever is done", "optimal": "under every best strategy", "strategy": "under the given strategy"}


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
    headings: tuple[str, ...] | None = None  # of the items' values, where they are not the summary's scopes
    lines: tuple[str, ...] = ()  # further sentences, each a line of its own


@dataclass(frozen=True)
class Summary:
    """An explanation in words, ready to be set as text, Markdown or HTML."""

    title: str
    lead: str
    scopes: tuple[str, ...]  # headings of the items' values
    sections: tuple[Section, ...]
    reading: tuple[str, ...]  # how to read the numbers

    def __str__(self) -> str:
        return as_text(self)

    def _repr_markdown_(self) -> str:
        return as_markdown(self)


@checked
def summarise(explanation: Explanation, top: Positive = 5) -> Summary:
    """Explanation in words, with at most `top` lines per section.

    A label that several states share has the bounds of passing any of them where the explanation has it among its
    groups (`waypost.report.needs`); without them its line runs from the least to the greatest bound of its states.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> summary = summarise(explain(loan(), target="Granted"))
    >>> summary.lead
    "From 's0', 'Granted' is reached with probability 0.98 at best and 0 at worst, depending on the choices made."
    >>> [(section.title, [item.name for item in section.items]) for section in summary.sections][:2]
    [('Indispensable', ['Application+']), ('Optional', ['Consultation', 'Application', 'Rework', 'Resubmit', 'Error'])]
    """
    if explanation.log is not None:
        from waypost.report.story import story_summary

        return story_summary(explanation, top)
    mdp, target = explanation.mdp, printable(explanation.target)
    entries = _entries(explanation)
    sections = []
    for kind in (Kind.INDISPENSABLE, Kind.IMPORTANT, Kind.OPTIONAL, Kind.MARGINAL, Kind.DETRIMENTAL, Kind.UNREACHABLE):
        found = [entry for entry in entries if entry.kind is kind]
        if found:
            title, sentence = _words(kind, target, explanation.main_scope)
            items = tuple(
                Item(
                    printable(entry.name), entry.note, tuple(span(bounds, exactly) for bounds in entry.bounds.values())
                )
                for entry in found[:top]
            )
            sections.append(Section(kind.value, title, sentence, items, len(found) - len(items)))
    best = _best_strategies(explanation, entries, target, top)
    return Summary(
        title=f"Which steps matter for reaching {target}?",
        lead=" ".join([_lead(explanation, target), *proof(explanation)]),
        scopes=tuple(SCOPE_TITLES[scope] for scope in explanation.scopes),
        sections=(*sections, *([best] if best else [])),
        reading=_how_to_read(
            entries,
            target,
            grouped=bool(explanation.told_groups) or any(name in mdp.labels for name in explanation.groups),
        ),
    )


@dataclass(frozen=True)
class _Entry:
    """A state, or the states that share a label, with bounds by scope."""

    name: str
    note: str
    kind: Kind
    bounds: Mapping[str, Bounds]
    states: int

    @property
    def weight(self) -> float:
        """Mean of the bounds, as in `ranking`."""
        return round(sum(float(b.lower) + float(b.upper) for b in self.bounds.values()), 12)


def _entries(explanation: Explanation) -> list[_Entry]:
    """One entry per state or label, most important first; start and target are no news."""
    read, groups = explanation.kinds, explanation.groups
    inner = [k for k in explanation.ranking.tolist() if read[k] not in {Kind.START, Kind.TARGET}]
    shared, called = Counter(captions(explanation.mdp)), short_names(explanation.mdp)
    entries = []
    for name, size in explanation.told_groups.items():
        bounds = {scope: groups[name][scope] for scope in explanation.scopes}
        kind = kind_of(bounds[explanation.main_scope])
        entries.append(_Entry(name, f"any of {count(size, 'state')}", kind, bounds, size))
    for name, members in group_by_label(explanation, inner):
        if name in groups and shared[name] > 1 and len(members) == shared[name]:
            bounds = {scope: groups[name][scope] for scope in explanation.scopes}
            note = f"any of {len(members)} states"
            entries.append(_Entry(name, note, kind_of(bounds[explanation.main_scope]), bounds, len(members)))
            continue
        for kind in dict.fromkeys(read[k] for k in members):
            same = [k for k in members if read[k] is kind]
            note = _note(explanation, name, same, shared[name])
            state = int(explanation.asked[same[0]])
            shown = called(state) if name == explanation.mdp.states[state] else name
            entries.append(_Entry(shown, note, kind, _envelope(explanation, same), len(same)))
    return sorted(entries, key=lambda entry: -entry.weight)


def _envelope(explanation: Explanation, members: Sequence[int]) -> dict[str, Bounds]:
    envelope = {}
    for scope in explanation.scopes:
        found = [explanation.scopes[scope].at(position) for position in members]
        envelope[scope] = Bounds(min(b.lower for b in found), max(b.upper for b in found))
    return envelope


def _note(explanation: Explanation, name: str, members: Sequence[int], labelled: int) -> str:
    if len(members) == 1:
        state = int(explanation.asked[members[0]])
        whole = name == explanation.mdp.states[state]
        return "" if whole else printable(addition(name, short_names(explanation.mdp)(state)))
    return f"any of {len(members)} states" if labelled == len(members) else f"{len(members)} of its {labelled} states"


def _lead(explanation: Explanation, target: str) -> str:
    initial = repr(printable(explanation.mdp.states[explanation.mdp.initial]))
    low, high = explanation.reachability.lower, explanation.reachability.upper
    reached = f"From {initial}, {target} is reached with probability {exactly(high)}"
    short = f" {SHORT_NAMES}" if are_short(explanation.mdp) else ""
    if low == high:
        return f"{reached}, whatever choices are made.{short}"
    return f"{reached} at best and {exactly(low)} at worst, depending on the choices made.{short}"


def _words(kind: Kind, target: str, scope: str) -> tuple[str, str]:
    whatever, fixed = _WHATEVER[scope], scope == "strategy"
    runs = f"the runs that reach {target}"
    depends = f" {whatever}." if fixed else ", and how many depends on the choices made."
    return {
        Kind.INDISPENSABLE: (
            "Always passed" if fixed else "Indispensable",
            f"Every run that reaches {target} passes these, {whatever}.",
        ),
        Kind.IMPORTANT: ("Important", f"At least {percent(IMPORTANT)} of {runs} pass these, {whatever}."),
        Kind.OPTIONAL: ("Sometimes passed" if fixed else "Optional", f"Some of {runs} pass these{depends}"),
        Kind.MARGINAL: ("Marginal", f"At most {percent(MARGINAL)} of {runs} pass these, {whatever}."),
        Kind.DETRIMENTAL: (
            "Not passed" if fixed else "To avoid",
            f"No run that reaches {target} passes these, {whatever}.",
        ),
        Kind.UNREACHABLE: (
            "Never reached",
            f"{'The strategy never enters' if fixed else 'Nothing that can be done leads to'} these before {target}.",
        ),
    }[kind]


def _best_strategies(explanation: Explanation, entries: Sequence[_Entry], target: str, top: int) -> Section | None:
    """Say which states a best strategy treats differently: those whose interval shrinks most."""
    if not {"all", "optimal"} <= set(explanation.scopes) or explanation.reachability.lower == 1:
        return None

    def shrink(entry: _Entry) -> float:
        bounds = entry.bounds
        before, after = (float(upper) - float(lower) for lower, upper in (bounds["all"], bounds["optimal"]))
        return round(before - after, 12)

    title = "Following a best strategy"
    sentence = (
        f"A best strategy is one that reaches {target} with the greatest probability, "
        f"{exactly(explanation.reachability.upper)}."
    )
    changed = sorted((entry for entry in entries if shrink(entry) >= MARGINAL), key=shrink, reverse=True)
    if not changed:
        return Section("best", title, f"{sentence} It changes no state's importance by much.")
    items = []
    for entry in changed[: min(top, 3)]:
        before, after = (span(entry.bounds[scope], exactly) for scope in ("all", "optimal"))
        items.append(Item(printable(entry.name), entry.note, (f"{after} instead of {before}",)))
    return Section("best", title, f"{sentence} It narrows:", tuple(items), len(changed) - len(items))


def _how_to_read(entries: Sequence[_Entry], target: str, *, grouped: bool) -> tuple[str, ...]:
    sentences = ["A strategy says which action is taken in each state; a run is one way through the process."]
    inner = [entry for entry in entries if entry.kind in {Kind.OPTIONAL, Kind.IMPORTANT, Kind.MARGINAL}]
    telling = [(entry, scope) for scope in ("optimal", "strategy", "all") for entry in inner if scope in entry.bounds]
    clear = (pair for pair in telling if pair[0].bounds[pair[1]].lower not in {0, pair[0].bounds[pair[1]].upper})
    example = next(clear, telling[0] if telling else None)
    if example:
        entry, scope = example
        bounds = entry.bounds[scope]
        under = {"all": ", depending on the strategy", "optimal": " under a best strategy"}
        sentences.append(
            f"{span(bounds, exactly)} for {printable(entry.name)} means: of the runs that reach {target}, "
            f"{share(bounds)} pass it on the way{under.get(scope, ' under the given strategy')}."
        )
    if any(entry.states > 1 for entry in entries):
        sentences.append(
            "Where several states share a label, the numbers are for passing any of them."
            if grouped
            else "Where several states share a label, the numbers run from their least to their greatest bound."
        )
    return tuple(sentences)


@checked
def as_text(summary: Summary, width: Positive = 44) -> str:
    """Summary as plain text."""
    lines = [summary.title, "", summary.lead]
    for section in summary.sections:
        lines += ["", f"{section.title}. {section.sentence}".rstrip()]
        table = [(printable(_named(item), width), *item.values) for item in section.items]
        headings = _headings(summary, section)
        if headings and table:
            table.insert(0, ("", *headings))
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for cells in table:
            lines.append(("  " + "  ".join(map(str.ljust, cells, widths))).rstrip())
        if section.more:
            lines.append(f"  and {section.more:,} more")
        lines += [f"  - {sentence}" for sentence in section.lines]
    lines += ["", "How to read this: " + " ".join(summary.reading)]
    return "\n".join(lines) + "\n"


def _headings(summary: Summary, section: Section) -> tuple[str, ...]:
    """Headings of the values in a section; none where there is one value only."""
    if section.headings is not None:
        return section.headings
    return summary.scopes if len(summary.scopes) > 1 and section.kind != "best" else ()


def _named(item: Item) -> str:
    return f"{item.name} ({item.note})" if item.note else item.name


@checked
def as_markdown(summary: Summary) -> str:
    """Summary as Markdown, names kept as text."""
    lines = [f"# {escape_markdown(summary.title)}", "", escape_markdown(summary.lead)]
    for section in summary.sections:
        lines += ["", f"## {section.title}", "", escape_markdown(section.sentence), ""]
        titles = _headings(summary, section)
        for item in section.items:
            values = [f"{v} ({t})" for v, t in zip(item.values, titles, strict=True)] if titles else item.values
            lines.append(f"- **{escape_markdown(_named(item))}**: {', '.join(escape_markdown(v) for v in values)}")
        if section.more:
            lines.append(f"- and {section.more:,} more")
        lines += [f"- {escape_markdown(sentence)}" for sentence in section.lines]
    lines += ["", "## How to read this", "", *(f"{escape_markdown(sentence)}" for sentence in summary.reading)]
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> escape_markdown("<b>|_x_")
    '&lt;b&gt;\\|\\_x\\_'
    """
    text = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join("\\" + c if c in "\\`*_{}[]#|!~$@" else c for c in text)


@checked
def path_summary(result: PathImportance, as_run: str | None = None) -> str:
    """Say in words how important a path is; `as_run` says what the given strategy is.

    >>> from waypost import path_importance
    >>> from waypost.cases import loan
    >>> print(path_summary(path_importance(loan(), path=["s0", "Apply", "Application"], target="Granted", scope="all")))
    The path s0, Apply, Application has importance 0.897 to 1 for reaching 'Granted'.
    Of the runs that reach 'Granted' under a strategy that follows this path's actions, 89.7 % to 100 % follow the path.
    Taking these actions costs nothing: 'Granted' can still be reached with probability 0.98, the greatest there is.
    """
    target = printable(result.target)
    bounds = Bounds(result.lower, result.upper)
    steps = [printable(step) for step in told_path(result.mdp, result.path)]
    path = ("; " if any(", " in step for step in steps) else ", ").join(steps)
    under = {
        "all": "under a strategy that follows this path's actions",
        "optimal": "under a best strategy that follows this path's actions",
        "strategy": as_run or "under the given strategy",
    }[result.scope]
    lines = [
        f"The path {path} has importance {span(bounds, exactly)} for reaching {target}.",
        f"Of the runs that reach {target} {under}, {share(bounds)} follow the path.",
    ]
    if result.scope != "strategy":
        following, best = exactly(result.reachability_following), exactly(result.reachability)
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
    read = explanation.kinds
    found = [(kind, sum(k is kind for k in read)) for kind in Kind if kind not in {Kind.START, Kind.TARGET}]
    return f"{count(len(read), 'state')}: " + ", ".join(
        f"{n:,} {'to avoid' if kind is Kind.DETRIMENTAL else kind.value}" for kind, n in found if n
    )
