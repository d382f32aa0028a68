"""A log's story in words: what good cases have that bad ones lack, what defines the outcome, how far to trust it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from waypost.importance.activities import ActivityScore, Story
from waypost.importance.results import Explanation
from waypost.model.traces import Stage
from waypost.report.text import Item, Section, Summary
from waypost.report.wording import SCOPE_TITLES, count, number, percent, printable, span

Group = list[ActivityScore]

FINDINGS = 5
CLEAR = 0.02  # a separation that is certain by less than this is not worth a sentence
RARE = 0.01  # of the cases; what fewer have decides no column
APART = 0.005  # model and log print differently from here on
MARK = "*"
WAITED = 3600.0  # seconds; shorter waits are not told
NOT_CONTROL = (
    "This is association, not control: it says what good and bad cases have in common, not what would happen if a step "
    "were forced or forbidden."
)
MARKED = f"{MARK} hangs on choices that fewer than 30 cases took"
AS_RUN = ("good cases", "bad cases", "success after", "success without", "cases")
AS_FAR = "without, as far"
CAME_AS_FAR = (
    f"'{AS_FAR}' counts only cases that pass the last step that nearly always comes before: the fair comparison."
)


def lead(story: Story) -> str:
    """How many cases end well."""
    how = f": {story.positive}" if story.positive else ""
    return f"{story.good:,} of {count(story.cases, 'case')} end well ({percent(story.success)}){how}."


def headings(story: Story) -> tuple[str, ...]:
    """Headings of the columns that `cells` fills, after the activity's name."""
    model = ("in the model",) if shows_model(story) else ()
    scopes = tuple(SCOPE_TITLES[scope] for scope in story.scopes)
    return (*AS_RUN[:2], *model, *scopes, *AS_RUN[2:4], *([AS_FAR] if shows_stages(story) else []), AS_RUN[4])


def spared(story: Story) -> tuple[str, ...]:
    """Columns that say least where there is no room for all, the first one first: the others say nearly the same."""
    model = ("in the model", SCOPE_TITLES["all"])
    return (*model, AS_RUN[3]) if shows_stages(story) else model


def cells(story: Story, score: ActivityScore) -> tuple[str, ...]:
    """What a table says of an activity."""
    model = (share_cell(score.observed),) if shows_model(story) else ()
    scopes = (span(score.bounds[scope]) + MARK * (scope in score.on_few) for scope in story.scopes)
    good, bad = share_cell(score.good_share), share_cell(score.bad_share)
    after, without = share_cell(score.success_after), share_cell(score.success_without)
    as_far = (share_cell(score.success_without_as_far),) if shows_stages(story) else ()
    return (good, bad, *model, *scopes, after, without, *as_far, f"{score.cases:,}")


def interval_headings(story: Story) -> tuple[str, ...]:
    """Headings of the columns that `interval_cells` fills."""
    as_far = [AS_FAR] if shows_stages(story) else []
    return (*AS_RUN[:2], *(SCOPE_TITLES[scope] for scope in story.scopes if scope != "strategy"), *AS_RUN[2:4], *as_far)


def interval_cells(story: Story, score: ActivityScore) -> tuple[str, ...]:
    """The interval of each share, and the one that both bounds lie in, when cases are drawn again."""
    known = score.intervals
    bounds = [(known[f"{s}_lower"][0], known[f"{s}_upper"][1]) for s in story.scopes if f"{s}_lower" in known]
    parts = ("good_share", "bad_share", "success_after", "success_without", "success_without_as_far")
    shares = [known.get(part) for part in (parts if shows_stages(story) else parts[:4])]
    written = [
        "-" if ends is None else " to ".join(share_cell(end).removesuffix(" %") for end in ends) for ends in shares
    ]
    return (*written[:2], *(f"{number(low)} to {number(high)}" for low, high in bounds), *written[2:])


def shows_model(story: Story) -> bool:
    """Whether the model says something else than the log, so that both must be shown."""
    whole = (a for a in story.activities if not a.late_cases)  # the model passes a step also when all is decided
    return any(a.observed is not None and abs(a.observed - a.good_share) >= APART for a in whole)


def shows_stages(story: Story) -> bool:
    """Whether a step that is not rare fares otherwise among the cases that came as far than among all."""
    often = (a for a in story.ranked if a.cases >= RARE * story.cases)
    return any(abs((a.success_without_as_far or 0) - (a.success_without or 0)) >= APART for a in often)


def share_cell(value: float | None) -> str:
    """Write a share for a table, or that there is none.

    >>> share_cell(0.25), share_cell(None), share_cell(0.0001)
    ('25 %', '-', '<0.1 %')
    """
    return "-" if value is None else percent(value).replace("less than ", "<").replace("more than ", ">")


def story_findings(story: Story, most: int = FINDINGS) -> tuple[str, ...]:
    """What separates good from bad, in sentences; what few cases may have made by chance is left out."""
    stages, others = separating(story)
    told = [_stages(stages)] if stages else []
    told += [_finding(group) for group in others][: most - len(told)]
    if not told:
        told.append("No activity separates good cases from bad ones by more than chance would do.")
    same = [a for a in story.ranked if a.good_share > 0.95 and a.bad_share > 0.95]
    if same and len(told) < most:
        told.append(f"Nearly all cases, good and bad, pass {_names(same)}: that explains nothing.")
    waited = _waiting(story)
    return (*told, *([waited] if waited else []))


def separating(story: Story) -> tuple[list[Group], list[Group]]:
    """What separates good from bad: the *stages*, steps that all good cases pass one after the other, and the rest.

    A group are activities that equally many good and bad cases have. One stage alone is a step like any other.
    """
    clear = [group for group in _alike(story.ranked) if group[0].certain >= CLEAR and group[0].sure]
    stages = sorted((g for g in clear if g[0].good_share == 1), key=lambda g: -g[0].bad_share)
    if len(stages) < 2:
        return [], clear
    return stages, [group for group in clear if group not in stages]


def most_lost(stages: Sequence[Group]) -> tuple[ActivityScore | None, ActivityScore, float]:
    """Between which stages most bad cases are lost (None is the start), and the share of them that is."""
    shares = [1.0, *(group[0].bad_share for group in stages)]
    lost = [before - after for before, after in pairwise(shares)]
    worst = max(range(len(lost)), key=lost.__getitem__)
    return stages[worst - 1][0] if worst else None, stages[worst][0], lost[worst]


def _alike(scores: Sequence[ActivityScore]) -> list[Group]:
    """Activities that equally many good and bad cases have, together, in the order given."""
    groups: dict[tuple[int, int, Stage | None], list[ActivityScore]] = {}
    for score in scores:
        groups.setdefault((score.good_cases, score.bad_cases, score.stage), []).append(score)
    return list(groups.values())


def _names(group: Sequence[ActivityScore], most: int = 3) -> str:
    """Names of some activities; of many, the first ones."""
    more = f" and {len(group) - most} more" if len(group) > most else ""
    return ", ".join(printable(score.name) for score in group[:most]) + more


def _stages(groups: Sequence[Group]) -> str:
    """Say which steps all good cases pass, and before which of them most of the others are lost."""
    passed = "; ".join(f"{_names(group)} ({percent(group[0].bad_share)})" for group in groups)
    before, after, lost = most_lost(groups)
    where = f"before {printable(after.name)}"
    if before is not None:
        where = f"between {printable(before.name)} and {printable(after.name)}"
    return (
        f"All cases that succeed pass these; in brackets, how many of those that fail get there: {passed}. "
        f"Most are lost {where}: {percent(lost)} of the cases that fail."
    )


def doubt(score: ActivityScore) -> str:
    """Say by which attribute cases with an activity differ to begin with, where most of the difference is due to it."""
    if (found := score.confounded) is None:
        return ""
    differ = f"But cases with it differ in {printable(found.attribute.removeprefix('case:'))} to begin with"
    shares = f"{percent(found.success_with)} end well with it, {percent(found.success_without)} without"
    return f" {differ}: of cases alike in that, {shares}."


def before_decided(score: ActivityScore) -> str:
    """Say that only what comes while the outcome is open counts, where an activity often comes later."""
    return " before the outcome is decided" if score.late_cases else ""


def _finding(group: Group) -> str:
    return _compared(group) + doubt(group[0])


def _compared(group: Group) -> str:
    score = group[0]
    also = f" (and, as many, {_names(group[1:])})" if len(group) > 1 else ""
    if (stage := score.stage) is not None and stage.success_with is not None and stage.success_without is not None:
        by_then = " before that, too" if score.late_cases else ""
        name = f"{printable(score.name)}{by_then}{also}"
        passed = f"{printable(stage.name)}{before_decided(score)}"
        compared = f"{percent(stage.success_with)} succeed with {name} (n = {stage.having:,})"
        others = f"{percent(stage.success_without)} without"
        return f"Of the {count(stage.cases, 'case')} that pass {passed}, {compared}, {others}."
    sides = ("that succeed", score.good_share), ("that fail", score.bad_share)
    (most, more), (least, less) = sides if score.separation > 0 else sides[::-1]
    passed = f"pass {printable(score.name)}{before_decided(score)}{also}"
    told = f"{percent(more)} of the cases {most} {passed}, {percent(less)} of those {least} (n = {score.cases:,})"
    if score.success_after is None or score.success_without is None:
        return f"{told}."
    return f"{told}: {percent(score.success_after)} succeed with it, {percent(score.success_without)} without."


def _waiting(story: Story) -> str | None:
    """Say where bad cases wait longest compared with good ones, or the other way round."""
    found = []
    for score in story.ranked:
        if score.waiting is None or min(score.good_cases, score.bad_cases) < 30:
            continue
        good, bad = score.waiting
        if good > 0 and bad > 0 and max(good, bad) >= WAITED and max(good, bad) >= 2 * min(good, bad):
            found.append((abs(good - bad), score))
    if not found:
        return None
    score = max(found, key=lambda pair: pair[0])[1]
    good, bad = score.waiting or (0.0, 0.0)
    name = printable(score.name)
    return f"Before {name}, cases that succeed wait {duration(good)}, those that fail {duration(bad)} (medians)."


def duration(seconds: float) -> str:
    """Time as people say it.

    >>> duration(90), duration(3600), duration(400_000)
    ('1.5 minutes', '1 hour', '4.6 days')
    """
    for unit, size in (("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0)):
        if seconds >= size:
            many = f"{seconds / size:.1f}".removesuffix(".0")
            return f"{many} {unit}{'' if many == '1' else 's'}"
    return f"{seconds:.0f} seconds"


def defining(story: Story) -> tuple[str, ...]:
    """Activities that are the outcome rather than a reason for it, a sentence for each reason."""
    reasons: dict[str, list[str]] = {}
    for score in story.defining:
        reasons.setdefault(str(score.defines_outcome), []).append(printable(score.name))
    late = (
        f"{printable(a.name)}, in {a.late_cases:,} of the {a.cases + a.late_cases:,} cases that have it: comes only "
        f"when the outcome is decided. These count as cases without it."
        for a in story.ranked
        if a.late_cases
    )
    return (*(f"{', '.join(names)}: {why}." for why, names in reasons.items()), *late)


def trust(story: Story) -> tuple[str, ...]:
    """How far to trust the numbers: fit, prediction, thin data, what was left out."""
    fit = story.fit
    said = fit.sentence.replace("the model", "it", 1)
    model = f"Model: {count(fit.states, 'state')}, {fit.merging}; {said}"
    sure = f"It gives each step probability {fit.learned:.2f} in cases it learned from, {fit.held_out:.2f} in others"
    warned = f"Warning: {model}" if fit.far else model
    return (f"{warned}.", f"{sure}.", *(f"Note: {note}." for note in story.notes))


def control(story: Story, reached: str) -> tuple[str, ...]:
    """Say what the numbers cannot say, and what the bounds can."""
    fair = (CAME_AS_FAR,) if shows_stages(story) else ()
    if not story.scopes:
        return (*fair, NOT_CONTROL)
    could = (
        f"The bounds over strategies say what the choices could change: by them {reached} of the cases would end well, "
        f"as far as the model goes."
    )
    marked = (f"{MARKED}.",) if any(a.on_few for a in story.activities) else ()
    return (*fair, NOT_CONTROL, could, *marked)


def story_summary(explanation: Explanation, top: int) -> Summary:
    """Explanation of a log in words, ready to be set as text, Markdown or HTML."""
    story = explanation.log
    if story is None:
        raise ValueError("this explanation is none of a log")
    shown = story.ranked[: max(top, 1) * 2]
    sections = [
        Section(
            "contrast",
            "What separates good cases from bad ones",
            "The share of the good and of the bad cases that pass each activity, what certainly separates first.",
            tuple(Item(printable(a.name), "", cells(story, a)) for a in shown),
            len(story.ranked) - len(shown),
            headings(story),
        ),
        Section("findings", "In words", "", lines=story_findings(story, top)),
    ]
    if any(a.intervals for a in shown):
        sentence = "What 95 % of the draws lie in, in per cent; for bounds, from the lower one to the upper one."
        items = tuple(Item(printable(a.name), "", interval_cells(story, a)) for a in shown)
        title = "When cases are drawn again"
        sections.append(Section("intervals", title, sentence, items, headings=interval_headings(story)))
    if story.defining:
        sentence = "These decide the outcome or come after it, so they explain nothing."
        sections.append(Section("defining", "What defines the outcome", sentence, lines=defining(story)))
    sections.append(Section("trust", "How far to trust this", "", lines=trust(story)))
    return Summary(
        title="What do good cases have that bad ones lack?",
        lead=lead(story),
        scopes=headings(story),
        sections=tuple(sections),
        reading=control(story, reached(explanation)),
    )


def reached(explanation: Explanation) -> str:
    """Share of the cases that could end well, from the worst to the best strategies."""
    low, high = map(percent, explanation.reachability)
    return low if low == high else f"{low} to {high}"
