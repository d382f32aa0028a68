"""What the commands about runs share: a model, a target, whose runs are looked at, and where the answer goes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from waypost.cli import options as given
from waypost.cli import terminal
from waypost.cli.progress import interruptible
from waypost.cli.source import Loaded, load, taken_options, taken_steps, tell
from waypost.errors import WaypostError
from waypost.formats.writing import write_text
from waypost.importance.deciding import best_strategy
from waypost.model import MDP, Strategy
from waypost.patterns.letters import natural

if TYPE_CHECKING:
    from rich.console import Console

    from waypost.patterns import Telling
    from waypost.patterns.letters import By

WIDTH = 100  # characters of a table in a file
BEST = "a best strategy"  # what a strategy is called that nobody gave

exact_option = click.option("--exact", is_flag=True, help="Compute in exact rational arithmetic; print fractions.")
model_options = given.together(
    given.target_option(),
    given.constants_option,
    given.time_limit_option,
    click.option("--data", metavar="FILE", help="Your copy of the data, for a case study that needs one."),
    given.learning_options,
)
strategy_option = click.option(
    "--strategy",
    metavar="observed|best|FILE",
    help="Whose runs: what the log shows, a best strategy, or one in a file [observed for a log, else best].",
)
by_option = click.option(
    "--by",
    type=click.Choice(["activity", "state"]),
    help="What is a step of a run: an activity, or every state [activity for a log and where labels name the states].",
)
output_options = given.together(
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option(
        "--output", "-o", metavar="FILE", help="Write what would be printed to a file; as JSON if it ends in .json"
    ),
)


@dataclass(frozen=True)
class Subject:
    """A model, what is to be reached in it, and how its runs are read."""

    loaded: Loaded
    target: tuple[str, ...]
    by: By

    @property
    def mdp(self) -> MDP:
        """The model."""
        return self.loaded.mdp

    def strategy(self, name: str | None) -> tuple[Strategy, str]:
        """Strategy that ``--strategy`` names, and what to call it."""
        name = name or ("best" if self.loaded.prepared is None else "observed")
        if name == "best" and not Path(name).exists():
            return best_strategy(self.mdp, target=self.target), BEST
        called = "the observed strategy" if name == "observed" else f"the strategy in {name}"
        return self.loaded.strategy(name), called


def asked(model: str | None, options: dict[str, Any]) -> Subject:
    """Read the model that the options of `model_options` and `by_option` describe."""
    learning = taken_options(options)
    steps = taken_steps(model, learning)
    reading = {name: options[name] for name in ("constants", "data")}
    if options["target"] and options.get("strategy") in (None, "best"):  # one in a file may speak of what comes behind
        reading["target"] = options["target"]
    loaded = load(model, learning=learning, exact=options.get("exact", False), **reading)
    tell(loaded.notes_for(steps), quiet=learning["quiet"])
    target = options["target"] or (() if loaded.target is None else (loaded.target,))
    if not target:
        raise WaypostError("say what to reach: --target LABEL (`waypost check MODEL` lists the labels)")
    options["quiet"] = learning["quiet"]
    if steps is not None:
        loaded = loaded.within(target, steps)
    return Subject(loaded, target, options.get("by") or natural(loaded.mdp))


def deliver(show: Callable[[Console], None], document: Any, options: dict[str, Any]) -> None:
    """Print an answer, in words and tables or as JSON; or write the same to a file."""
    path = options["output"]
    if options["as_json"] or (path is not None and path.lower().endswith(".json")):
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    elif path is None:
        show(terminal.console())
        return
    else:
        from rich.console import Console

        console = Console(file=io.StringIO(), width=WIDTH)
        show(console)
        text = "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]
    if path is None:
        terminal.give(text)
    else:
        write_text(path, text)


@contextmanager
def search_progress(*, quiet: bool) -> Iterator[dict[str, Callable[..., None]]]:
    """Give the callbacks of a search: on a terminal a bar, and above it every telling segment as it is found."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from waypost.report.patterns import telling_line

    console, shown, tried = terminal.console(stderr=True), not quiet and sys.stderr.isatty(), 0
    columns = TextColumn("trying segments"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task("segments", total=None)

        def progress(done: int, most: int) -> None:
            nonlocal tried
            tried = done
            bar.update(task, completed=done, total=most)

        def show(telling: Telling) -> None:
            if shown:
                bar.console.print(telling_line(telling), style="dim", markup=False, highlight=False)

        with interruptible(lambda: f"{tried:,} segments were tried; nothing was written"):
            yield {"progress": progress, "telling": show}
