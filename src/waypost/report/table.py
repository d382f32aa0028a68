"""Tables for people, in the terminal: every number is there at every width; what is too long wraps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from waypost.arguments import Positive, checked
from waypost.importance.activities import Story
from waypost.importance.results import Explanation, Kind
from waypost.report import story as told
from waypost.report.findings import findings
from waypost.report.names import SHORT_NAMES, are_short, labels_of, short_names
from waypost.report.records import group_kind
from waypost.report.whatifs import WHAT_IF, whatif_cells, whatif_words
from waypost.report.wording import SCOPE_TITLES, cell, chance, count, printable, proof, span

NAME = 28  # characters of the longest word that a column of names keeps whole before the numbers beside it are broken
NAMED = 6  # characters of a name that a column keeps together, or numbers go below it
WORD = 14  # characters up to which a word stays whole
_STYLES = {Kind.INDISPENSABLE: "bold blue", Kind.IMPORTANT: "blue", Kind.DETRIMENTAL: "yellow", Kind.MARGINAL: "dim"}


@checked
def print_table(explanation: Explanation, *, top: Positive, console: Console | None = None) -> None:
    """Print the most important states with their bounds."""
    console = Console() if console is None else console
    if explanation.log is not None:
        _print_story(explanation, explanation.log, top, console)
        return
    mdp, reached = explanation.mdp, explanation.reachability
    depends = ", depending on the strategy" if reached.lower != reached.upper else ""
    console.print(
        Text(
            f"Reaching {printable(explanation.target)} from {printable(mdp.states[mdp.initial])}: "
            f"probability {span(reached, chance)}{depends}."
        )
    )
    console.print(table(explanation, top=top, console=console))
    left = len(explanation.asked) - top
    if left > 0:
        console.print(Text(f"and {count(left, 'more state')}; --top {len(explanation.asked)} shows all"))
    if len(explanation.asked) == mdp.n_states:  # of some states alone there is nothing to pick from
        _list(console, (f"{finding.figure} {finding}" for finding in findings(explanation)))
        if are_short(mdp):
            more = "--csv - prints full names, and --by variable tells of the values of variables."
            console.print(Text(f"{SHORT_NAMES} {more}"))
    for sentence in (*proof(explanation), *refusals(explanation), *whatif_words(explanation)):
        console.print(Text(sentence))


def refusals(explanation: Explanation) -> list[str]:
    """Sentences about the states of which a bound could not be certified."""
    return [
        f"{printable(name)}: not every bound could be certified, so it is the widest there is ({why})"
        for name, why in explanation.refused.items()
    ]


def _print_story(explanation: Explanation, story: Story, top: int, console: Console) -> None:
    """Print what separates good cases from bad ones, what defines the outcome, and how far to trust it."""
    console.print(Text(told.lead(story)))
    lines = []
    for score in story.ranked[:top]:
        style = "" if score.certain > 0 else "dim"  # few cases may have made the difference
        lines.append([Text(printable(score.name), style=style), *(Text(c, style) for c in told.cells(story, score))])
    head = ["activity", *told.headings(story)]
    made = fitted_table(console, head, lines, spared=told.spared(story), box=box.SIMPLE_HEAD, header_style="dim")
    print_fitted(console, made, head, "--format csv")
    left = len(story.ranked) - top
    if left > 0:
        many = "1 more activity" if left == 1 else f"{left:,} more activities"
        console.print(Text(f"and {many}; --top {len(story.ranked)} shows all"))
    drawn = [a for a in story.ranked[:top] if a.intervals]
    if drawn:
        console.print(Text("95 % intervals when cases are drawn again, shares in per cent:"))
        head = ["activity", *told.interval_headings(story)]
        intervals = [[printable(a.name), *told.interval_cells(story, a)] for a in drawn]
        console.print(fitted_table(console, head, intervals, box=box.SIMPLE_HEAD, header_style="dim"))
    if story.defining:
        console.print(Text("These are the outcome or come after it, and explain nothing:"))
        _list(console, told.defining(story))
    console.print()
    _list(console, told.story_findings(story))
    console.print()
    for sentence in (*told.control(story, told.reached(explanation)), *told.trust(story)):
        console.print(Text(sentence))


def print_fitted(console: Console, made: Table, head: Sequence[str], otherwise: str) -> None:
    """Print a fitted table, and which of its columns had no room; what to say `otherwise` has them all."""
    console.print(made)
    shown = {str(column.header) for column in made.columns}
    if made.show_header and (missing := [repr(heading) for heading in head if heading not in shown]):
        console.print(Text(f"No room for {', '.join(missing)}: a wider terminal or {otherwise} has all."))


def _list(console: Console, sentences: Iterable[str]) -> None:
    for sentence in sentences:
        console.print(Padding(Text(f"- {sentence}"), (0, 0, 0, 2)))


def table(explanation: Explanation, *, top: int, console: Console | None = None) -> Table:
    """Build a rich table: state, labels that its name does not tell, kind, and the bounds of every scope.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> made = table(explain(loan(), target="Granted"), top=5)
    >>> made.row_count, [column.header for column in made.columns]
    (5, ['state', 'kind', 'any strategy', 'best strategies'])
    """
    mdp, order = explanation.mdp, explanation.ranking[:top].tolist()
    called = short_names(mdp)
    labels = {s: [name for name in labels_of(mdp, s) if name not in mdp.states[s]] for s in explanation.asked[order]}
    labelled = any(labels.values())
    head = ["state", *(["labels"] if labelled else []), "kind"]
    lines: list[list[str | Text]] = []
    for group, size in explanation.told_groups.items():
        members = f"{group} ({count(size, 'state')})"
        style = _STYLES.get(kind := group_kind(explanation, group), "")
        spans = (span(explanation.groups[group][part], cell) for part in explanation.parts)
        lines.append([Text(printable(members), style=style), *[Text()] * labelled, Text(_word(kind), style), *spans])
        if explanation.whatifs is not None:
            lines[-1] += [""] * len(WHAT_IF)
    for k in order:
        state, kind = int(explanation.asked[k]), explanation.kinds[k]
        style = _STYLES.get(kind, "")
        names = [Text(printable(called(state)), style=style)]
        if labelled:
            names.append(Text(printable(", ".join(labels[state])), style="dim"))
        lines.append([*names, Text(_word(kind), style), *(span(bounds, cell) for bounds in explanation.at(k).values())])
        if explanation.whatifs is not None:
            lines[-1] += whatif_cells(explanation.whatifs, k)
    return fitted_table(
        console or Console(width=1000),
        [*head, *(SCOPE_TITLES[part] for part in explanation.parts), *([] if explanation.whatifs is None else WHAT_IF)],
        lines,
        names=len(head) - 1,
        words=1,
        box=box.SIMPLE_HEAD,
        header_style="dim",
    )


def _word(kind: Kind) -> str:
    return "to avoid" if kind is Kind.DETRIMENTAL else kind.value


def fitted_table(
    console: Console,
    head: Sequence[str],
    lines: Iterable[Sequence[str | Text]],
    *,
    names: int = 1,
    words: int = 0,
    spared: Sequence[str] = (),
    whole: bool = False,
    **look: Any,
) -> Table:
    """Table of columns of `names`, which wrap, then of `words` and of numbers, which stay whole.

    Names have room for their longest word; where they are to be `whole`, and there is room, for all of a name that is
    not too long.

    Where that leaves the names too little room, words wrap as well, intervals take two lines, and the frame goes; a
    blank between columns goes too where that is what keeps the words of names whole. Columns that can be `spared` go
    next, the first one first. Where not even the start of a name has room beside the numbers, they stand below it, each
    with its heading.
    """
    cells = [[Text(printable(one)) if isinstance(one, str) else one for one in line] for line in lines]
    bare: Any = {"title_justify": "left", "show_edge": False, "pad_edge": False, **look}
    wide, narrow = Table(title_justify="left", **look), Table(padding=(0, 1, 0, 0), **bare)
    narrowest = Table(padding=0, **bare)
    least = []  # room for the longest word of each column of names
    for k, heading in enumerate(head):
        how: Any = {"justify": "left" if k < names + words else "right", "overflow": "fold"}
        texts = [heading, *(line[k].plain for line in cells)]
        if k < names:
            longest = max(map(len, texts)) if whole else max(len(word) for text in texts for word in _words(text))
            least.append(min(NAME, longest))
        wide.add_column(heading, no_wrap=k >= names, min_width=least[k] if k < names else None, **how)
        parts = [*heading.split(), *(part for text in texts[1:] for part in text.replace(" to ", " to\n").split("\n"))]
        short = k >= names and max(map(len, texts[1:]), default=0) <= WORD
        width = None if k < names + words else max(map(len, parts))
        for small in (narrow, narrowest):
            small.add_column(heading, width=width, no_wrap=short and k < names + words, **how)
    for made in (wide, narrow, narrowest):
        for line in cells:
            made.add_row(*line)
    fitting = (made for made in (wide, narrow, narrowest) if _least_width(made, console, least) <= console.width)
    chosen = next(fitting, narrow)
    room = console.width - _least_width(chosen, console, least) + sum(least)
    if room < sum(least) and whole:
        return fitted_table(console, head, cells, names=names, words=words, spared=spared, **look)
    gone = next((head.index(heading) for heading in spared if heading in head), None)
    if room < sum(least) and gone is not None:
        fewer = [[*line[:gone], *line[gone + 1 :]] for line in cells]
        rest = [*head[:gone], *head[gone + 1 :]]
        made = fitted_table(console, rest, fewer, names=names, words=words, spared=spared, **look)
        return made if made.show_header else _stacked(head, cells, names, bare)
    if room < min(sum(least), NAMED * names):
        return _stacked(head, cells, names, bare)
    if names > 1:
        _share_out(chosen, console, least, [max(len(line[k].plain) for line in cells) for k in range(names) if cells])
    return chosen


def _stacked(head: Sequence[str], cells: Sequence[Sequence[Text]], names: int, look: dict[str, Any]) -> Table:
    """Names on lines of their own, what is known of them below."""
    made = Table(**(look | {"show_header": False, "box": None}))
    made.add_column(overflow="fold")
    for line in cells:
        made.add_row(Text(", ").join(name for name in line[:names] if name.plain))
        pairs = zip(head[names:], line[names:], strict=False)
        below = "; ".join(f"{heading} {value.plain}" for heading, value in pairs if value.plain)
        made.add_row(Padding(Text(below, line[-1].style), (0, 0, 0, 2)))
    return made


def _words(text: str) -> list[str]:
    return text.split() or [""]


def _share_out(made: Table, console: Console, least: Sequence[int], longest: Sequence[int]) -> None:
    """Give several columns of names the room that is left, each by what it lacks: rich would give them all the same."""
    spare = console.width - _least_width(made, console, least)
    lacking = [max(0, most - room) for room, most in zip(least, longest, strict=False)]
    if spare < 0 or sum(lacking) <= spare:
        return
    for column, room, more in zip(made.columns, least, lacking, strict=False):
        column.width = room + spare * more // sum(lacking)


def _least_width(made: Table, console: Console, least: Sequence[int]) -> int:
    """Width at which no number is broken and columns of names still have room for their words."""
    named = made.columns[: len(least)]
    for column, room in zip(named, least, strict=True):
        column.width = room
    width = console.measure(made, options=console.options.update(max_width=1000)).maximum
    for column in named:
        column.width = None
    return width
