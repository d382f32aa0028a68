"""``waypost explain``: what matters for reaching a target, by state; or in a log, activity by activity."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from waypost.cli import options as given
from waypost.cli.progress import bounds_progress
from waypost.cli.source import (
    Loaded,
    asked_for,
    find_prepared,
    is_model_file,
    learned,
    load,
    model_constants,
    parse_constants,
    scopes_of,
    taken_options,
    taken_steps,
    tell,
)
from waypost.cli.terminal import console, give
from waypost.cli.witness import witness_options, write_witness
from waypost.environments.named import names_environment
from waypost.errors import PrecisionError, UndefinedImportanceError, WaypostError
from waypost.model import MDP
from waypost.model.steps import STEP
from waypost.processes.places import working

if TYPE_CHECKING:
    from waypost.formats.properties import Posed, Property
    from waypost.importance import Explanation
    from waypost.learn import Prepared

BEHIND = ("compare", "strategy", "without")  # options that may speak of what comes behind the target
FIRST = 8  # values of variables that come before the states
ROWS = 20  # of the table that is printed
MANY = 10_000  # states: of more, `--top` stops once it has those it is to show
DATA = {".csv", ".json", ".parquet", ".xlsx"}  # files that programs read
DATA_SHAPES = {"csv", "json"}
PRINTED = {"text": ".txt", "markdown": ".md", "csv": ".csv", "json": ".json"}  # --format: as a file of this ending


@click.command("explain")
@click.argument("model", required=False)
@given.target_option()
@given.scope_option("Bounds over all strategies that can reach the target, over the best ones, or both.")
@given.asking_options
@click.option(
    "--strategy",
    type=click.Path(),
    help="Also explain this strategy: JSON, state -> action -> probability, or a table.",
)
@click.option("--absolute", is_flag=True, help="Also show how many of all runs pass a state and reach the target.")
@witness_options
@given.what_if_options
@click.option(
    "--steps",
    type=click.IntRange(min=0),
    metavar="N",
    help="Reach the target in at most N steps; of a model, --within N is the same.",
)
@given.reading_options()
@given.property_options
@click.option("--data", metavar="FILE", help="Your copy of the data, for a case study that needs one.")
@given.learning_options
@given.story_options
@given.bootstrap_options
@given.place_options
@given.output_options
def command(**options: Any) -> None:
    """Explain what matters in MODEL for reaching a target.

    MODEL is a model file, an event log, the name of a case study, or a Gymnasium environment such as gym:Taxi-v4;
    without it the loan example is explained. The importance of a state is the probability of passing it among the runs
    that reach the target; over all strategies it is an interval. A log is explained activity by activity: what good
    cases have that bad ones lack.

    Example: waypost explain gridworld --target goal --html world.html
    """
    with working(cluster=options.pop("cluster"), resume=options.pop("resume")):
        _explain(options)


def _explain(options: dict[str, Any]) -> None:
    files = [] if options["witness"] else _files(options)
    endings = {ending for _, ending in files}
    options["files_drawn"] = bool(endings)
    options["read"] = bool(endings - DATA) or (options["shape"] not in DATA_SHAPES and ("-" not in dict(files)))
    options["first"] = set()  # values that come before the states where people read
    if options["compare"] and not _has_page(endings):
        raise WaypostError("--compare puts a further target into the page; say where to write it with --html FILE")
    if options["bootstrap"] and options["without"]:
        raise WaypostError("--bootstrap learns models anew, in which nothing is forbidden; leave out --without")
    learning = taken_options(options)
    options["quiet"] = learning["quiet"]
    steps = taken_steps(options["model"], learning) if options["steps"] is None else options["steps"]
    log = None
    if options["target"] and options["model"] and not is_model_file(options["model"]):
        from waypost.cli.stories import take_for_good

        log = take_for_good(options, learning)
    prepared = find_prepared(options["model"], data=options["data"], learning=learning, log=log)
    if prepared is not None and _told_by_activity(prepared, files, learning, options):
        return
    reading = {name: options[name] for name in ("constants", "exact")}
    loaded = learned(prepared) if prepared else _loaded(options, reading)
    tell(loaded.notes_for(steps), quiet=learning["quiet"])
    if options["without"]:
        from waypost.importance import without

        loaded = replace(loaded, mdp=without(loaded.mdp, options["without"]))
    if steps is not None:
        goals = [*(options["target"] or ([loaded.target] if loaded.target else [])), *options["compare"]]
        loaded = loaded.within(goals, steps)
    if options["witness"]:
        write_witness(loaded, options)
        return
    several = _several(loaded, endings, options)
    if options["bootstrap"]:
        from waypost.cli.resampling import resample, show_intervals
        from waypost.uncertainty import with_resampled

        resampled = resample(loaded, several[0].targets, options)
        several[0] = with_resampled(several[0], resampled)
    _write(several, files, _examples(loaded, endings), options)
    if options["segment"]:
        from waypost.cli.stories import show_segments

        show_segments(prepared, options["segment"])
    if options["bootstrap"]:
        show_intervals(resampled, options)


def _told_by_activity(
    prepared: Prepared, files: list[tuple[str, str]], learning: dict[str, Any], options: dict[str, Any]
) -> bool:
    """Tell a log by its activities, if it is to be told that way."""
    from waypost.cli.stories import show_segments, tells_story, told_story

    if not tells_story(prepared, options):
        return False
    wanted = {*(ending for _, ending in files), PRINTED.get(options["shape"], "")}
    story, how = told_story(prepared, options, learning, wanted)
    printed = _write([story], files, how, options)
    if options["segment"] and printed:
        show_segments(prepared, options["segment"])
    return True


def _several(loaded: Loaded, endings: set[str], options: dict[str, Any]) -> list[Explanation]:
    """Explanation of the target, and of those to compare it with."""
    from waypost.report.planning import needs

    options["needs"] = needs(loaded.mdp, *endings, PRINTED.get(options["shape"], ""), picture=options["picture"])
    several = [_explained(loaded, goal, options) for goal in (options["target"], *((c,) for c in options["compare"]))]
    if not _has_page(endings) and ".xlsx" not in endings:
        return several
    from waypost.story import with_insight

    return [with_insight(one) for one in several]


def _has_page(endings: set[str]) -> bool:
    from waypost.report.planning import PAGES

    return bool(endings & PAGES)


def _loaded(options: dict[str, Any], reading: dict[str, Any]) -> Loaded:
    """Model of a file or a case study, and the target that a property names, if one was given."""
    if options["initial"] is not None:
        reading["initial"] = options["initial"]
    if not options["prop"]:
        if not any(options[name] for name in BEHIND):
            reading["target"] = options["target"] or None
        return load(options["model"], data=options["data"], **reading)
    from waypost.formats.properties import counts_later, find_property

    if options["target"] or options["compare"]:
        raise WaypostError("--prop says what to reach; leave --target and --compare out")
    constants = parse_constants(reading["constants"])
    wanted = find_property(options["prop"], constants=constants, model=options["model"])
    reading["constants"] = model_constants(options["model"], constants, [options["prop"]])
    loaded = load(options["model"], data=options["data"], **(reading | wanted.reading()))
    if loaded.jumps and wanted.within is not None:
        raise WaypostError(f"{wanted.text!r} bounds the time, and a continuous-time model is read by its jumps alone")
    question = _posed(loaded.mdp, wanted)
    if wanted.given is not None and counts_later(loaded.mdp, wanted):
        raise WaypostError(
            f"{wanted.text!r} also counts what comes after its condition, and importance only what comes before; "
            "`waypost check --prop` tells its value"
        )
    if wanted.given is not None:  # a conditional property is the importance of a set
        options["states"] = (*options["states"], wanted.target)
    return replace(
        loaded, mdp=question.mdp, target=wanted.given or wanted.target, notes=_notes(loaded, wanted, options)
    )


def _notes(loaded: Loaded, wanted: Property, options: dict[str, Any]) -> tuple[str, ...]:
    """What to say of the model, and of a property that would rather not reach what it speaks of: best is who does."""
    choices = loaded.mdp.n_choices > loaded.mdp.n_states
    if not choices or wanted.optimum == "max" or wanted.either or wanted.threshold or options["scope"] == "all":
        return loaded.notes
    least = f"{wanted.name!r} asks for the least probability"
    best = f"the best strategies here are those most likely to reach {wanted.given or wanted.target!r}"
    return (*loaded.notes, f"{least}; {best}")


def _posed(mdp: MDP, wanted: Property) -> Posed:
    """Question of a property; a target that holds nowhere in what was built, or in time, cannot be reached."""
    from waypost.formats.properties import asked, holds_nowhere

    posed = None if holds_nowhere(mdp, wanted) else asked(mdp, wanted)
    if posed is None or (wanted.within is not None and holds_nowhere(posed.mdp, wanted)):
        around = "" if wanted.avoid is None and wanted.within is None else f" as {wanted.text!r} asks"
        goal, start = wanted.given or wanted.target, mdp.states[mdp.initial]
        raise UndefinedImportanceError(
            f"no strategy reaches {goal!r} from {start!r}{around}, so importance is undefined"
        )
    return posed


def _files(options: dict[str, Any]) -> list[tuple[str, str]]:
    """Every file asked for and the ending that says its format, refused here before any work is done."""
    files = []
    if options["files"] or options["plot_file"]:
        from waypost.report.files import ending_of
        from waypost.report.planning import PICTURES

        files = [(path, ending_of(path)) for path in options["files"]]
        if options["plot_file"]:
            files.append((options["plot_file"], ending_of(options["plot_file"], PICTURES)))
    shortcuts = {"json_file": ".json", "csv_file": ".csv", "html_file": ".html"}
    return files + [(options[name], ending) for name, ending in shortcuts.items() if options[name]]


def _explained(loaded: Loaded, target: tuple[str, ...], options: dict[str, Any]) -> Explanation:
    from waypost.importance import explain, with_groups

    if not target and loaded.target is not None:
        target = (loaded.target,)
    if not target:
        raise WaypostError("say what to reach: --target LABEL, or --prop NAME (`waypost check MODEL` lists both)")
    scopes = [*scopes_of(options["scope"])]
    if options["strategy"] is not None:
        scopes.append(loaded.strategy(options["strategy"]))
    states, groups = asked_for(loaded, options["states"], options["groups"])
    if options["by"] == "variable" and states is None and not options["files_drawn"]:
        states = ()
    asked = loaded.mdp.n_states if states is None else len(states)
    parts = len(scopes) + options["absolute"]
    with bounds_progress(2 * asked * parts, quiet=options["quiet"]) as progress:
        found = explain(
            loaded.mdp,
            target=target,
            scope=scopes,
            states=states,
            exact=options["exact"],
            whatifs=options["what_if"],
            absolute=options["absolute"],
            top=options["top"] if asked > MANY else None,
            progress=progress,
            **options["needs"],
        )
        try:
            return with_groups(found, {**_values(loaded.mdp, target, options), **groups})
        except PrecisionError as why:
            if options["by"] == "variable":
                raise
            tell([f"values of variables could not be certified and are left out ({why})"], quiet=options["quiet"])
            options["first"].clear()
            return with_groups(found, groups)


def _values(mdp: MDP, target: tuple[str, ...], options: dict[str, Any]) -> dict[str, str]:
    """Values of variables, and conjunctions, that come before the states: the first ones, or as many as asked for."""
    by = options["by"]
    variables = [name for name, variable in mdp.variables.items() if name != STEP and not variable.constant]
    first = by == "auto" and options["read"] and not (options["states"] or options["exact"]) and len(variables) > 1
    if by != "variable" and not first:
        return {}
    from waypost.importance.variables import by_variable, quick_length
    from waypost.report.variables import inevitable

    length = 2 if by == "variable" or names_environment(options["model"]) else quick_length(mdp, variables)
    if length == 0:
        tell(["--by variable tells of the values of variables, which takes a while here"], quiet=options["quiet"])
        return {}
    scope: Any = "optimal" if options["scope"] == "optimal" else "all"
    told = by_variable(mdp, target=target, scope=scope, variables=variables, length=length, exact=options["exact"])
    if said := inevitable(told):
        tell([said], quiet=options["quiet"])
    if by == "variable":
        telling = [predicate.text for predicate in told.predicates if not predicate.inevitable]
        return {text: text for text in telling[: options["top"] or ROWS]}
    leading = {p.text: p.text for p in told.leading(FIRST) if p.states > 1}  # one state has a row
    options["first"] |= {*leading}
    return leading


def _for_programs(explanation: Explanation, options: dict[str, Any]) -> Explanation:
    """The same without the values that nobody asked for."""
    first = options["first"]
    groups = {name: found for name, found in explanation.groups.items() if name not in first}
    told = {name: size for name, size in explanation.told_groups.items() if name not in first}
    return replace(explanation, groups=groups, told_groups=told) if first else explanation


def _examples(loaded: Loaded, endings: set[str]) -> dict[str, Any]:
    """Cases that pass each state, for a page."""
    if loaded.prepared is None or not _has_page(endings):
        return {}
    from waypost.learn import example_cases

    return {"cases": example_cases(loaded.mdp, loaded.prepared)}


def _write(
    several: list[Explanation], files: list[tuple[str, str]], how: dict[str, Any], options: dict[str, Any]
) -> bool:
    """Write every file asked for; print the explanation, unless one of them was standard output; say whether."""
    from waypost.report.files import render_report, write_report

    how |= {name: options[name] for name in ("top", "picture", "theme")}
    for path, ending in files:
        told = several if _has_page({ending}) else _for_programs(several[0], options) if ending in DATA else several[0]
        if path == "-":
            give(render_report(told, ending, **how))
        else:
            write_report(told, path, ending=ending, **how)
    if any(path == "-" for path, _ in files):
        return False
    if options["shape"] in PRINTED:
        told = _for_programs(several[0], options) if options["shape"] in DATA_SHAPES else several[0]
        give(render_report(told, PRINTED[options["shape"]], **how))
        return options["shape"] in ("text", "markdown")
    from waypost.report.table import print_table

    rows = max(ROWS - len(several[0].told_groups), ROWS // 2)
    print_table(several[0], top=options["top"] or rows, console=console())
    return True
