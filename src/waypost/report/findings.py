"""The few things that matter most, as sentences: what a page says first.

A sentence is text with names in it; a name knows the states, or the activity, that it stands for. Start and target say
nothing, nor does a state that only tells whose turn it is, nor an activity that defines the outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waypost.importance.activities import ActivityScore, Story
from waypost.importance.deciding import Decision, Decisions
from waypost.importance.reading import kind_of
from waypost.importance.results import Bounds, Explanation, Kind
from waypost.model import MDP
from waypost.model.traces import NEGATIVE, POSITIVE, written
from waypost.report.insight import places, points
from waypost.report.names import addition, captions, short_names, told
from waypost.report.records import group_kind
from waypost.report.story import CLEAR, Group, before_decided, doubt, most_lost, separating
from waypost.report.view import turn_states
from waypost.report.wording import count, percent, printable

MOST = 5  # findings
NAMED = 3  # names in one of them
ALL = 0.95  # of the good and of the bad cases: nearly all
OPEN = 2  # steps that are told of one by one
OUTCOMES = frozenset({POSITIVE, NEGATIVE})  # a choice between them decides nothing new
LITTLE = 0.1  # less than this between best and worst is little
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


def findings(explanation: Explanation) -> list[Finding]:
    """Up to five findings, the most telling first.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> for finding in findings(explain(loan(), target="Granted")):
    ...     print(finding.figure, "|", finding)  # doctest: +NORMALIZE_WHITESPACE
    100 % | of the runs that reach 'Granted' pass Application+, whatever is done.
    52.5 to 100 % | of the runs that reach 'Granted' pass Consultation when the best is done; otherwise 0 to 100 %.
    8.2 % | of the runs that reach 'Granted' pass Rework when the best is done; otherwise 0 to 8.2 %.
    0 % | of the runs that reach 'Granted' pass Angry or Rejected: what leads there is to be avoided.
    """
    found = _from_log(explanation, explanation.log) if explanation.log is not None else _from_model(explanation)
    return found[:MOST]


def _from_log(explanation: Explanation, story: Story) -> list[Finding]:
    stages, others = separating(story)
    told = [*([most_lost(stages)[1]] if stages else []), *(group[0] for group in others[:NAMED])]
    decided = _lost_by_choice(explanation)
    separate = others[: NAMED - (decided is not None)]
    found = [*([_lost(stages)] if stages else []), *(_separating(group) for group in separate)]
    if not found:
        none = "of the cases end well, and no step separates them from the others by more than chance would do."
        found.append(Finding("marginal", percent(story.success), (none,)))
    found += [] if decided is None else [decided]
    low, high = explanation.reachability
    if story.scopes and high - story.success >= CLEAR:
        could = (
            f"of the cases could end well instead of {percent(story.success)}, if every choice were made for the best: "
            f"what the learned model allows, from {percent(low)} at worst."
        )
        found.append(Finding("best", percent(high), (could,)))
    found += [finding for tell in (_needed, _dispensable, _everywhere) if (finding := tell(story, told))]
    return found


def _lost(stages: Sequence[Group]) -> Finding:
    """Tell before which of the steps that every good case passes most bad cases are lost."""
    before, after, share = most_lost(stages)
    where = ("before ", _name(after)) if before is None else ("between ", _name(before), " and ", _name(after))
    reached = f"{count(after.cases, 'case')} get there, {percent(after.success_after or 0)} of them end well"
    return Finding(
        "against", percent(share), ("of the bad cases are lost ", *where, f", which every good case passes: {reached}.")
    )


def _name(score: ActivityScore) -> Name:
    return Name(printable(score.name), activity=score.name)


def _separating(group: Group) -> Finding:
    """Tell of an activity, or of several that equally many good and bad cases have."""
    score, stage, without = group[0], group[0].stage, group[0].success_without_as_far
    names = _listed([_name(each) for each in group], "and")
    passing = () if stage is None else (" that pass ", Name(printable(stage.name), activity=stage.name))
    others = () if without is None else (f", {percent(without)} of those without it", *passing)
    bad = f"{percent(score.bad_share_as_far)} of the bad cases{'' if stage is None else ' that come as far'}"
    support = f". It is in {percent(score.good_share_as_far)} of the good and {bad} ({count(score.cases, 'case')})."
    parts = ("of the cases with ", *names, before_decided(score), " end well", *others, support, doubt(score))
    return Finding("for" if score.helps else "against", percent(score.success_with_as_far or 0), parts)


def _needed(story: Story, told: Sequence[ActivityScore]) -> Finding | None:
    """Tell what is indispensable, whatever is done, and tells good from bad."""
    found = [
        a
        for a in story.ranked
        if a not in told and "all" in a.bounds and a.bounds["all"].lower == 1 and a.bad_share < 0.95
    ]
    if not found:
        return None
    fewest = min(found, key=lambda a: a.bad_share)
    said = ("of the bad cases never come to ", _name(fewest), ", which no good case does without.")
    return Finding("indispensable", percent(1 - fewest.bad_share), said)


def _dispensable(story: Story, told: Sequence[ActivityScore]) -> Finding | None:
    """Tell what many cases do and the best strategies can do without."""
    found = [
        a
        for a in story.ranked
        if a not in told and "optimal" in a.bounds and a.bounds["optimal"].lower == 0 and a.cases >= USUAL * story.cases
    ]
    if not found:
        return None
    said = ("of the cases have ", _name(found[0]), ", and the best that can be done does not need it.")
    return Finding("optional", percent(found[0].cases / story.cases), said)


def _everywhere(story: Story, _: Sequence[ActivityScore]) -> Finding | None:
    """Tell what nearly all cases pass, so that nobody looks for the reason there."""
    found = [a for a in story.ranked if min(a.good_share, a.bad_share) > ALL]
    if not found:
        return None
    names = _listed([_name(a) for a in found], "and")
    least = min(a.cases for a in found)
    runs = "of the cases" if least == story.cases else "or more of the cases"
    return Finding(
        "marginal", percent(least / story.cases), (f"{runs}, good and bad, pass ", *names, ": that explains nothing.")
    )


def _lost_by_choice(explanation: Explanation) -> Finding | None:
    """Tell which choice costs a log most success, as it was made."""
    known = explanation.insight.decisions if explanation.insight else None
    if known is None or explanation.log is None:
        return None
    where_of = places(known.mdp)
    decided = {written(a.name, "paper") for a in explanation.log.defining}
    costly = [
        d
        for d in known.departures
        if d.cost >= CLEAR
        and written(where_of[known.mdp.index[d.state]][1], "paper") not in decided
        and not OUTCOMES.intersection(d.values)
    ]
    if not costly:
        return None
    worst = costly[0]
    where, activity = where_of[known.mdp.index[worst.state]]
    name = Name(printable(activity), activity=activity)
    said = (f"of success are lost {printable(where.removesuffix(activity))}", name, f": {_choices(known.mdp, worst)}.")
    return Finding("against", points(worst.cost), said)


def _choices(mdp: MDP, decision: Decision) -> str:
    """Say what the best choice leads to, and what is done instead."""
    wrong = {action: share for action, share in decision.taken.items() if action not in decision.best}
    taken = max(wrong, key=lambda action: wrong[action] * (max(decision.values.values()) - decision.values[action]))
    best = told(mdp, decision.state, *decision.best[:2])
    return (
        f"{best} leads to success in {percent(max(decision.values.values()))}, and {told(mdp, decision.state, taken)}, "
        f"{percent(wrong[taken])} of the time, in {percent(decision.values[taken])}"
    )


@dataclass(frozen=True)
class _Told:
    """A state, or the states that share a caption, with bounds by scope."""

    name: Name
    kind: Kind
    bounds: Mapping[str, Bounds]


def _from_model(explanation: Explanation) -> list[Finding]:
    """Tell of each kind of step."""
    told = _entries(explanation)
    facts = *_decided(explanation), _indispensable(explanation, told), _important(explanation, told)
    first, last = ([f for f in some if f] for some in (facts, [_avoided(explanation, told)]))
    found = [*first, *_open(explanation, told)[: max(MOST - len(first + last), 0)], *last]
    return found or _needed_most(explanation, told)


def _decided(explanation: Explanation) -> list[Finding]:
    """Tell where a given strategy loses most; without one, where most is at stake."""
    known = explanation.insight.decisions if explanation.insight else None
    if known is None:
        return []
    target = printable(explanation.target)
    where = places(known.mdp)
    if not known.given:
        matter = [d for d in known if _matters(known, d) and not OUTCOMES.issuperset(d.values)]
        return [_at_stake(known, matter, target)] if matter else _hardly(explanation, target)
    reached = Finding(
        "against" if known.cost >= CLEAR else "for",
        percent(known.reached),
        (f"of the runs reach {target} with the given strategy; {percent(known.reachability)} is possible.",),
    )
    lost = [d for d in known.departures[:OPEN] if d.cost >= CLEAR]
    return [
        reached,
        *(
            Finding(
                "against",
                points(d.cost),
                (
                    "of success are lost in ",
                    _place(where[known.mdp.index[d.state]][1], known.mdp.index[d.state]),
                    f", where {percent(d.met)} of the runs come: {_choices(known.mdp, d)}.",
                ),
            )
            for d in lost
        ),
    ]


def _hardly(explanation: Explanation, target: str) -> list[Finding]:
    """Tell that choices change little, where they do."""
    low, high = map(float, explanation.reachability)
    if high - low >= LITTLE:
        return []
    said = (
        f"is all that choices can change: {percent(high)} of the runs reach {target} at best, {percent(low)} at worst."
    )
    return [Finding("marginal", points(high - low), (said,))]


def _matters(known: Decisions, decision: Decision) -> bool:
    return decision.stakes * decision.met >= CLEAR * known.reachability


def _place(name: str, state: int) -> Name:
    return Name(printable(name), state=state)


def _at_stake(known: Decisions, matter: Sequence[Decision], target: str) -> Finding:
    """Tell of the decision in which the wrong choice costs most, and where else one matters."""
    first = matter[0]
    where = places(known.mdp)
    named = [_place(where[state][1], state) for state in (known.mdp.index[d.state] for d in matter)]
    worst = told(known.mdp, first.state, min(first.values, key=lambda action: first.values[action]))
    best = told(known.mdp, first.state, *first.best[:2])
    low, high = percent(min(first.values.values())), percent(max(first.values.values()))
    come = f" reach {target}: {high} by {best}, {low} by {worst}. {percent(first.met)} of the best runs come there."
    others = [*{each.text: each for each in named[1:] if each.text != named[0].text}.values()]
    also = [" It also matters what is done at ", *_listed(others, "and"), "."] if others else []
    figure = f"{high.removesuffix(' %')} or {low}"
    return Finding("best", figure, ("of the runs that come to ", named[0], come, *also))


def _entries(explanation: Explanation) -> list[_Told]:
    """What is worth a sentence: groups that were asked about, then states, most important first.

    What several states share has the bounds of passing any of them.
    """
    called, turns = captions(explanation.mdp), turn_states(explanation.mdp)
    shared, seen, short = Counter(called), set(explanation.told_groups), short_names(explanation.mdp)
    found = [
        _Told(Name(printable(group)), group_kind(explanation, group), explanation.groups[group])
        for group in explanation.told_groups
    ]
    for position in explanation.ranking.tolist():
        state = int(explanation.asked[position])
        caption, kind = called[state], explanation.kinds[position]
        if turns[state] or caption in seen or kind in {Kind.START, Kind.TARGET}:
            continue
        bounds: Mapping[str, Bounds] = {name: part.at(position) for name, part in explanation.scopes.items()}
        if caption in explanation.groups:
            seen.add(caption)
            bounds = explanation.groups[caption]
            kind = kind_of(bounds[explanation.main_scope])
        elif caption == explanation.mdp.states[state]:
            caption = short(state)
        elif shared[caption] > 1:
            caption = f"{caption} ({addition(caption, short(state))})"
        found.append(_Told(Name(printable(caption), state=state), kind, bounds))
    return found


def _names(told: Sequence[_Told], kind: Kind) -> list[Name]:
    return [each.name for each in told if each.kind is kind]


def _indispensable(explanation: Explanation, told: Sequence[_Told]) -> Finding | None:
    names = _names(told, Kind.INDISPENSABLE)
    if not names:
        return None
    target = printable(explanation.target)
    under = "under the given strategy" if explanation.main_scope == "strategy" else "whatever is done"
    return Finding(
        "indispensable", "100 %", (f"of the runs that reach {target} pass ", *_listed(names, "and"), f", {under}.")
    )


def _important(explanation: Explanation, told: Sequence[_Told]) -> Finding | None:
    found = [each for each in told if each.kind is Kind.IMPORTANT]
    if not found:
        return None
    least = min(each.bounds[explanation.main_scope].lower for each in found)  # true of those that are only counted, too
    runs = f"or more of the runs that reach {printable(explanation.target)} pass "
    names = _listed([each.name for each in found], "and")
    return Finding("important", percent(least), (runs, *names, ", whatever is done."))


def _open(explanation: Explanation, told: Sequence[_Told]) -> list[Finding]:
    """Tell of the steps that the best strategies need most, among those that could be done without.

    Where the best leaves as much open as anything else does, there is nothing to tell.
    """
    if "optimal" not in explanation.scopes or "all" not in explanation.scopes:
        return []
    optional = [each for each in told if each.kind is Kind.OPTIONAL]
    found = [each for each in optional if _shares(each.bounds["optimal"]) != _shares(each.bounds["all"])]
    found.sort(key=lambda each: [-float(bound) for bound in each.bounds["optimal"]])
    runs = f"of the runs that reach {printable(explanation.target)} pass "
    return [
        Finding(
            "optional",
            _shares(each.bounds["optimal"]),
            (runs, each.name, f" when the best is done; otherwise {_shares(each.bounds['all'])}."),
        )
        for each in found[:OPEN]
    ]


def _needed_most(explanation: Explanation, told: Sequence[_Told]) -> list[Finding]:
    """Tell of the steps that can be avoided least, where nothing else is to be told."""
    scope = explanation.main_scope
    found = sorted((each for each in told if each.bounds[scope].lower > 0), key=lambda each: -each.bounds[scope].lower)
    runs = f"of the runs that reach {printable(explanation.target)} pass "
    return [Finding("optional", _shares(each.bounds[scope]), (runs, each.name, ".")) for each in found[:OPEN]]


def _shares(bounds: Bounds) -> str:
    """Write bounds as shares of runs."""
    low, high = map(percent, bounds)
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _avoided(explanation: Explanation, told: Sequence[_Told]) -> Finding | None:
    names = [name for name in _names(told, Kind.DETRIMENTAL) if not _says_no_more(name.text)]
    names = [name for name in names if name.state is None] or names  # a set says it for all of its states
    if not names:
        return None
    target = printable(explanation.target)
    return Finding(
        "detrimental",
        "0 %",
        (f"of the runs that reach {target} pass ", *_listed(names, "or"), ": what leads there is to be avoided."),
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
    comma = "; " if any(", " in name.text for name in names[:NAMED]) else ", "  # names may have commas of their own
    for k, each in enumerate(shown):
        parts += [] if k == 0 else [f" {'and' if len(names) > NAMED else word} " if k == len(shown) - 1 else comma]
        parts.append(each)
    return parts
