"""What ``waypost explain`` does with a log: its story by activity, its segments, how sure the shares are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from waypost.cli.prepared import learning_progress, load_log, names_case
from waypost.cli.source import load_strategy, scopes_of, tell
from waypost.errors import WaypostError
from waypost.importance import Explanation
from waypost.learn import Prepared
from waypost.logs import Log, Recipe, looks_like_log
from waypost.logs.description import event_candidates
from waypost.logs.log import OUTCOME
from waypost.logs.stored.engines import shown
from waypost.logs.traces import log_of_traces
from waypost.model.traces import NEGATIVE, POSITIVE
from waypost.report.wording import printable

LIKELY = 3  # events that may be what makes cases good; `waypost log` has all of them
BY_STATE = ("exact", "compare", "absolute", "what_if", "steps", "prop", "initial", "groups")  # they speak of states


def tells_story(prepared: Prepared, options: Mapping[str, Any]) -> bool:
    """Whether a log is told by its activities: where its outcome is known, and nothing speaks of states."""
    by, known = options["by"], has_outcome(prepared)
    wanted = options["target"] or (POSITIVE,)
    if by == "activity" and (not known or wanted != (POSITIVE,)):
        raise WaypostError("a log is told by activity for good and bad cases: say which are good, --positive EVENT")
    if not known and not options["target"]:
        raise say_which_are_good(prepared, options["model"] or "")
    if by == "state" or not known or wanted != (POSITIVE,):
        return False
    of_states = _of_states(options)
    if by == "activity" and of_states:
        raise WaypostError(f"--{of_states[0].replace('_', '-')} speaks of states; leave out --by activity")
    if of_states:
        return False
    names = set(log_of(prepared).activities())
    return by == "activity" or not options["states"] or any(name in names for name in options["states"])


def say_which_are_good(prepared: Prepared, source: str) -> WaypostError:
    """Error about a log of which nothing says which cases are good, with the events that may."""
    likely = [] if prepared.log is None else [one.option for one in event_candidates(prepared.log)[:LIKELY]]
    perhaps = f", here perhaps {' or '.join(map(printable, likely))}" if likely else ""
    return WaypostError(
        f"say which cases are good: --positive EVENT{perhaps} (`waypost log {shown(source)}` tells what is in the log, "
        "with all candidates)"
    )


def _of_states(options: Mapping[str, Any]) -> list[str]:
    """Options given that speak of the states of a model."""
    found = [name for name in BY_STATE if options.get(name)]
    if options["without"] and options["strategy"] not in (None, "observed"):
        found.append("strategy")  # one for what is left of the model
    return found


def take_for_good(options: dict[str, Any], learning: dict[str, Any]) -> Log | None:
    """Take a target that is an event of a log for what makes its cases good; the log, where it was read for that.

    Not where states are asked about, or something else says which cases are good.
    """
    source, target = options["model"], options["target"]
    told = any(learning.get(name) for name in ("positive", "attribute", "recipe"))
    if told or options["by"] == "state" or options["witness"] or _of_states(options):
        return None
    if names_case(source) or not looks_like_log(source):
        return None
    log = load_log(source, Recipe(), learning)
    if not log.has(OUTCOME) and {*target, *options["states"]} <= set(log.activities()):
        learning["positive"], options["target"] = target, ()
        names = " or ".join(map(repr, target))
        said = f"cases with {names} are good, as with --positive; --by state asks about the states of a learned model"
        tell([said], quiet=learning["quiet"])
    return log


def has_outcome(prepared: Prepared) -> bool:
    """Whether cases are good or bad."""
    if prepared.log is not None:
        return prepared.log.has(OUTCOME)
    return all(len(trace) > 1 and trace[-1][1] in (POSITIVE, NEGATIVE) for trace in prepared.traces)


def log_of(prepared: Prepared) -> Log:
    """Log that was made ready, or what traces say of it."""
    return prepared.log if prepared.log is not None else log_of_traces(prepared.traces)


def told_story(
    prepared: Prepared, options: dict[str, Any], learning: Mapping[str, Any], endings: Iterable[str]
) -> tuple[Explanation, dict[str, Any]]:
    """Explanation of a log by activity, as files with these endings want it, and what a page shows beside it."""
    from waypost.report.planning import needs
    from waypost.story import explain_log

    if options["bootstrap"] and options["match"] == "history":
        raise WaypostError("activities are found again by their names; --match history goes with --by state")
    tell(prepared.notes, quiet=options["quiet"])
    with learning_progress() as progress:
        learned = prepared.learn_fitting(progress)
    scopes = [*scopes_of(options["scope"])]
    if options["strategy"] not in (None, "observed"):  # what was observed is always told
        scopes.append(load_strategy(options["strategy"], learned.mdp))
    found = explain_log(
        prepared,
        positive=learning.get("positive") or None,
        scope=scopes,
        min_seen=options["min_seen"] or (1 if names_case(options["model"]) else None),
        activities=options["states"] or None,
        by_state=".json" in endings,
        without=options["without"],
        choices=needs(learned.mdp, *endings)["choices"],
        learned=learned,
        resamples=options["bootstrap"] or 0,
        seed=options["seed"],
    )
    if options["intervals"]:
        _write_intervals(found, options["intervals"])
    return found, {"cases": log_of(prepared).seen.example_cases()}


def _write_intervals(found: Explanation, path: str) -> None:
    """Write the intervals of every share and bound as CSV."""
    from waypost.formats.writing import write_text

    lines = ["activity,number,from,to"]
    for score in found.log.activities if found.log else ():
        name = score.name.replace('"', '""')
        lines += [f'"{name}",{part},{low},{high}' for part, (low, high) in score.intervals.items()]
    write_text(path, "\n".join(lines) + "\n")


def show_segments(prepared: Prepared | None, attribute: str) -> None:
    """Print outcome and contrast by an attribute of the case."""
    from waypost.logs import segments
    from waypost.report.segments import print_segments

    if prepared is None or prepared.log is None:
        raise WaypostError("--segment divides the cases of a log, and this is none")
    print_segments(segments(prepared.log, attribute))
