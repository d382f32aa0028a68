"""``waypost compare``: two logs, periods or segments side by side; or two strategies in one model."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from waypost.cli.options import log_options
from waypost.cli.prepared import cleaned_log
from waypost.cli.source import load, load_strategy, tell
from waypost.cli.terminal import give
from waypost.errors import LogError, WaypostError
from waypost.formats.writing import write_text
from waypost.logs import Log
from waypost.logs.segments import segment_values
from waypost.logs.stored.engines import shown
from waypost.report.files import ending_of
from waypost.report.planning import PAGES

if TYPE_CHECKING:
    from waypost.uncertainty import Comparison

Pair = tuple[Log, Log]


@click.command("compare")
@click.argument("before")
@click.argument("after", required=False)
@log_options
@click.option("--at", metavar="DATE", help="Instead of AFTER: cases of one log that begin before, and from, this day.")
@click.option("--segment", metavar="ATTRIBUTE", help="Instead of AFTER: two segments of one log, by an attribute.")
@click.option("--value", "values", multiple=True, help="Which two values of the attribute [the largest two].")
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="How many activities to show.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the intervals.")
@click.option("--strategy", "strategies", multiple=True, metavar="FILE", help="Given twice, with a model as BEFORE.")
@click.option("--target", "-t", multiple=True, help="Of a model: what the strategies are to reach.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--output", "-o", metavar="FILE", help="Write one page of both, differences first, to a .html file.")
@click.option("--quiet", "-q", is_flag=True, help="Do not print notes on what was done to the logs.")
def command(before: str, after: str | None, **options: Any) -> None:
    """Compare two logs: did the outcome change, which steps changed with it, and is it more than noise?

    BEFORE and AFTER are two logs; one log is divided by a day (--at) or by an attribute of its cases (--segment). With
    --strategy twice, BEFORE is a model, and two strategies are compared in it.

    Example: waypost compare loan-log:300 --at 2024-01-10
    """
    if options["output"] is not None:
        ending_of(options["output"], PAGES)
    if options["strategies"]:
        _compare_strategies(before, options)
        return
    from waypost.report.segments import print_comparison
    from waypost.uncertainty import compare_logs

    given = {name: value for name, value in options.items() if value}
    ways = [way for way in (after, options["at"], options["segment"]) if way is not None]
    if len(ways) != 1:
        raise WaypostError("say what to compare with: a second log, or one of --at DATE and --segment ATTRIBUTE")
    logs = [cleaned_log(source, given) for source in (before, after) if source is not None]
    for log in logs:
        tell(log.notes, quiet=options["quiet"])
    names = (shown(before), shown(str(after)))
    if options["at"] is not None:
        names, pair = _by_day(logs[0], options["at"])
    elif options["segment"] is not None:
        names, pair = _by_segment(logs[0], options["segment"], options["values"])
    else:
        pair = (logs[0], logs[1])
    found = compare_logs(*pair, seed=options["seed"])
    if options["as_json"]:
        give(json.dumps({"format": 1, "before": names[0], "after": names[1], **found.as_dict()}, indent=1) + "\n")
    else:
        print_comparison(found, names, top=options["top"])
    if options["output"] is not None:
        _write_page(found, names, pair, options["output"])


def _write_page(found: Comparison, names: tuple[str, str], pair: Pair, path: str) -> None:
    """Write both logs into one page."""
    from waypost.report.comparing import render_comparison
    from waypost.story import explain_log

    told = (explain_log(pair[0]), explain_log(pair[1]))
    short = [name.removeprefix("cases that begin ") if " " in name else Path(name).name for name in names]
    cases = [log.seen.example_cases() for log in pair]
    write_text(path, render_comparison(found, (short[0], short[1]), told, cases=cases))


def _compare_strategies(model: str, options: dict[str, Any]) -> None:
    """Tell how two strategies differ in one model, and write the page of both."""
    from waypost.agents import explain_agent
    from waypost.importance import explain
    from waypost.report.html import render_html
    from waypost.report.planning import needs
    from waypost.report.strategies import strategy_findings
    from waypost.story import with_insight

    if len(options["strategies"]) != 2:
        raise WaypostError("--strategy is given twice: which two strategies to compare")
    loaded = load(model)
    target = options["target"] or (() if loaded.target is None else (loaded.target,))
    if not target:
        raise WaypostError("say what to reach: --target LABEL (`waypost check MODEL` lists the labels)")
    names = [Path(file).stem for file in options["strategies"]]
    wanted = needs(loaded.mdp, ".html") if options["output"] is not None else {}
    strategies = [load_strategy(file, loaded.mdp) for file in options["strategies"]]
    told = [
        with_insight(explain(loaded.mdp, target=target, scope=["all", "optimal", strategy], **wanted))
        for strategy in strategies
    ]
    findings = strategy_findings(told, names)
    for finding in findings:
        give(f"{finding.figure} {finding}\n")
    if not findings:  # too many decisions for findings of a page
        one, other = strategies
        give(explain_agent(loaded.mdp, one, target=target, against=other).summary() + "\n")
    if options["output"] is not None:
        write_text(options["output"], render_html(told, names=names))


def _by_day(log: Log, day: str) -> tuple[tuple[str, str], Pair]:
    try:
        moment = datetime.fromisoformat(day)
    except ValueError:
        raise WaypostError(f"--at is a day such as 2024-07-01, not {day!r}") from None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    before, after = log.divided_at(np.datetime64(moment, "us"))
    if before is None or after is None:
        raise LogError(
            f"all cases begin {'before' if after is None else 'after'} {day}, so there is nothing to compare"
        )
    return (f"cases that begin before {day}", f"from {day} on"), (before, after)


def _by_segment(log: Log, attribute: str, values: tuple[str, ...]) -> tuple[tuple[str, str], Pair]:
    cases = log.case_values(attribute)
    members = segment_values(cases)
    known = sorted(members)
    if not values:
        values = tuple(sorted(known, key=lambda name: -sum(cases[value] for value in members[name]))[:2])
    if len(values) != 2 or len(known) < 2:
        raise WaypostError(f"--value is given twice: which two segments of {attribute!r}; there are {', '.join(known)}")
    for value in values:
        if value not in known:
            raise WaypostError(f"no case has {value!r} in {attribute!r}; there are {', '.join(known)}")
    one, other = (log.where_value(attribute, members[value]) for value in values)
    return (f"{attribute} {values[0]}", f"{attribute} {values[1]}"), (one, other)
