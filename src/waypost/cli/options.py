"""Options that several commands share: one wording, one meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from waypost.cli.stopping import limited

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
OUTCOME = ("positive", "negative", "attribute", "within", "others")  # how a case ended, as `set_outcome` takes it
LEARNING = ("recipe", "actors", "choosing", "eps", *OUTCOME, "columns", "quiet")  # what `learning_options` gives


class Merging(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click only
    """How much learning merges: a number, or a word."""

    name = "auto|none|number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | float:
        """Number above 0 and up to 2, "auto" or "none"; 0 is none."""
        if value in ("auto", "none"):
            return str(value)
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 <= number <= 2:
            self.fail(f"{value!r} is neither 'auto', 'none' nor a number above 0 and up to 2", param, ctx)
        return number or "none"


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order in which ``--help`` shows them."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def target_option(**how: Any) -> Decorator:
    """Give a command ``--target``."""
    return click.option(
        "--target",
        "-t",
        multiple=True,
        help="A label, a state's name, or an expression; several mean any of them.",
        **how,
    )


def scope_option(text: str) -> Decorator:
    """Give a command ``--scope``."""
    return one_of("--scope", words="all optimal both", default="both", text=text)


asking_options = together(
    click.option(
        "--state",
        "-s",
        "states",
        multiple=True,
        metavar="STATE|LABEL|EXPR",
        help="Only this state or activity; of a label or an expression, passing any of its states. May be repeated.",
    ),
    click.option(
        "--group",
        "groups",
        multiple=True,
        metavar="NAME=EXPR",
        help="Also ask about passing any state of a group that you define.",
    ),
)


def one_of(*names: str, words: str, default: str, text: str) -> Decorator:
    """Option that is one of some words."""
    return click.option(*names, type=click.Choice(words.split()), default=default, show_default=True, help=text)


constants_option = click.option(
    "--const",
    "constants",
    multiple=True,
    metavar="N=3",
    help="Value of an open PRISM or JANI constant, or an option of an environment.",
)


def _start_clock(context: click.Context, _option: click.Parameter, seconds: float | None) -> None:
    if seconds is not None:
        context.with_resource(limited(seconds))


time_limit_option = click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    expose_value=False,
    callback=_start_clock,
    help="Give up after so long [none; 300 for building a PRISM or JANI model].",
)


def reading_options(exact: str = "Compute in exact rational arithmetic; print fractions.") -> Decorator:
    """Give a command the options of reading a model."""
    return together(constants_option, time_limit_option, click.option("--exact", is_flag=True, help=exact))


property_options = together(
    click.option(
        "--prop",
        metavar="NAME|FILE[:NAME]",
        help="Take a PRISM or JANI property in place of --target: one of the model's by its name, one of another file, "
        'or one as text, \'Pmax=? [ !"a" U "b" ]\'.',
    ),
    click.option("--initial", metavar="STATE", help="Start in this state rather than the model's own initial state."),
)

outcome_options = together(
    click.option("--positive", multiple=True, metavar="EVENT", help="Cases with this event are good."),
    click.option(
        "--negative",
        multiple=True,
        metavar="EVENT",
        help="Cases with this event are bad; if a case has both, the later one counts.",
    ),
    click.option("--attribute", metavar="COLUMN", help="--positive is a value of this column, not an event."),
    click.option(
        "--within", metavar="TIME", help="--positive counts only within this time: '60 days'; of a model: steps, 20."
    ),
    click.option(
        "--others",
        type=click.Choice(["drop", "positive", "negative"]),
        help="What cases with neither a --positive nor a --negative event are.",
    ),
)

log_options = together(
    click.option("--recipe", metavar="TOML", help="How to clean a log: a file, or the name of a case study."),
    outcome_options,
    click.option("--column", "columns", multiple=True, metavar="ROLE=NAME", help="Column of a CSV: case=ID, ..."),
)

learning_options = together(
    log_options,
    click.option(
        "--actors", metavar="JSON", help="Who performs which event: a file, a column of the log, 'choice' or 'chance'."
    ),
    click.option("--choosing", multiple=True, metavar="WHO", help="Whose events are choices: an actor, or an event."),
    click.option(
        "--eps",
        type=Merging(),
        help="How readily learning keeps states apart; auto chooses by how well the model fits.",
    ),
    click.option("--quiet", "-q", is_flag=True, help="Do not print notes on what was done to the log."),
)

what_if_options = together(
    click.option(
        "--what-if", is_flag=True, help="Also show the probability of the target after and without each state."
    ),
    click.option(
        "--without",
        multiple=True,
        metavar="NAME",
        help="Forbid a state, a label, an expression, or a choice STATE/ACTION.",
    ),
)

story_options = together(
    one_of(
        "--by",
        words="auto activity state variable",
        default="auto",
        text="Explain a log by its activities, or by the states of the model learned from it; a model whose states "
        "have variables by their values and short combinations of them.",
    ),
    click.option(
        "--min-seen",
        type=click.IntRange(1),
        metavar="N",
        help="Let strategies use only choices seen at least N times [5, or one case in 1000; 1 for case studies].",
    ),
    click.option("--segment", metavar="ATTRIBUTE", help="Also break the result down by an attribute of the case."),
)

bootstrap_options = together(
    click.option(
        "--bootstrap",
        type=click.IntRange(2),
        metavar="B",
        help="Give confidence intervals: draw the cases of a log again B times.",
    ),
    click.option(
        "--match",
        type=click.Choice(["history", "label"]),
        help="How --bootstrap finds states again: by the history that leads there, as --by state does, or all of a "
        "label as one, as activities are.",
    ),
    click.option("--seed", type=int, default=1, show_default=True, help="Seed of --bootstrap."),
    click.option("--intervals", metavar="CSV", help="Write the intervals of --bootstrap to this file."),
)

place_options = together(
    click.option("--cluster", metavar="ADDRESS", help="Compute on the Dask cluster at tcp://HOST:8786."),
    click.option(
        "--resume",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Keep intermediate results in this file, and resume from it.",
    ),
)

output_options = together(
    one_of("--format", "shape", words="table text markdown csv json", default="table", text="What to print."),
    click.option(
        "--top",
        type=click.IntRange(1),
        metavar="N",
        help="How many states to show in a table [20], or lines in a section [5]. In a model of more than 10,000 "
        "states only the N most important ones are computed, and proved to be that.",
    ),
    click.option("--json", "json_file", metavar="FILE|-", help="Write JSON to a file, or - for standard output."),
    click.option("--csv", "csv_file", metavar="FILE|-", help="Write CSV to a file, or - for standard output."),
    click.option("--html", "html_file", metavar="FILE", help="Write one page to explore offline."),
    click.option("--compare", multiple=True, metavar="TARGET", help="Add another target to the page, for comparison."),
    click.option(
        "--output",
        "-o",
        "files",
        multiple=True,
        metavar="FILE",
        help="Write a file in the format of its ending: .json .csv .xlsx .parquet .md .txt .html .svg .png .pdf",
    ),
    click.option("--plot", "plot_file", metavar="FILE", help="Draw a picture: .svg, .png or .pdf"),
    one_of(
        "--picture",
        words="auto graph bars grid",
        default="auto",
        text="What to draw: the process, the intervals of the top states, or a grid (for states with coordinates).",
    ),
    one_of("--theme", words="light dark", default="light", text="Colours of pictures."),
)
