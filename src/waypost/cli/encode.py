"""``waypost encode``: one bound by one of the paper's encodings, to the letter or as a file for any solver."""

from __future__ import annotations

from typing import Any

import click

from waypost.cli.options import constants_option, one_of, target_option
from waypost.cli.path import split_steps
from waypost.cli.source import load
from waypost.cli.terminal import say
from waypost.errors import WaypostError
from waypost.importance import path_importance, state_importance
from waypost.importance.results import Number
from waypost.model import MDP
from waypost.paper.encodings import ENCODINGS, ORDERINGS, SCOPE, Claim, Limits, Options, claim, encoded, export_program
from waypost.paper.encodings.linear import BIG_M
from waypost.paper.encodings.quadratic import EPSILON

FORMS = {"letter": "to the letter", "ours": "as we would have it solved"}


@click.command("encode")
@click.argument("model", required=False)
@target_option()
@click.option("--state", help="State whose importance is asked.")
@click.option("--path", "steps", help='Path whose importance is asked: "s0,Apply,Application".')
@click.option("--encoding", type=click.Choice(ENCODINGS), default="LP*", show_default=True, help="Which program.")
@one_of("--sense", words="min max", default="max", text="Lower or upper bound.")
@one_of("--form", words="letter ours", default="letter", text="As printed, or in the form that solvers can hold.")
@click.option("--order", "ordering", type=click.Choice(["paper", "components", "tight", "indicator"]),
              help="What holds the state ordering: paper; components (QP); tight, indicator (LP*).")  # fmt: skip
@click.option("--M", "big_m", type=click.FloatRange(min=0, min_open=True), default=BIG_M, show_default=True,
              help="Big M of LP*.")  # fmt: skip
@click.option("--eps", "epsilon", type=click.FloatRange(0, 1), default=EPSILON, show_default=True,
              help="Least probability of the target in QP.")  # fmt: skip
@click.option("--solver", type=click.Choice(["highs", "scip", "gurobi"]), help="Solver [one that takes the program].")
@click.option("--tolerance", type=click.FloatRange(min=0), default=1e-9, show_default=True,
              help="Tolerance of the solver; 0 leaves it its own.")  # fmt: skip
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True,
              help="Seconds for the solver.")  # fmt: skip
@click.option("--presolve/--no-presolve", default=True, help="Let the solver simplify the program first.")
@click.option("--write", "file", metavar="FILE", help="Write the program, .lp or .mps, instead of solving it.")
@constants_option
@click.option("--exact", is_flag=True, help="Compute in exact rational arithmetic; print fractions.")
def command(model: str | None, target: tuple[str, ...], state: str | None, **options: Any) -> None:
    """One bound of the importance of a state or path of MODEL by one encoding of the paper, beside the exact value.

    What the solver claims, what the strategy behind the claim attains, and what is true. LP-all and LP-optimal are
    sound linear programs of ours. Without MODEL the loan example is used.

    Example: waypost encode --target Granted --state Error --encoding QP --sense max
    """
    found = load(model, constants=options["constants"], exact=options["exact"])
    if not target and found.target is None:
        raise WaypostError("say what to reach: --target LABEL")
    goal = target or (str(found.target),)
    path = None if options["steps"] is None else split_steps(options["steps"])
    if (state is None) == (path is None):
        raise WaypostError("say what is asked: --state NAME or --path NAMES, not both")
    chosen = Options(options["form"], options["epsilon"], options["big_m"], options["ordering"])
    asked: dict[str, Any] = {
        "target": goal, "state": state, "path": path, "sense": options["sense"], "options": chosen,
    }  # fmt: skip
    title = _title(options, chosen, state or ", ".join(path or ()), ", ".join(goal))
    if options["file"]:
        built = encoded(found.mdp, options["encoding"], **asked)
        export_program(built.single(), options["file"], title=title)
        say(f"{options['file']}: {built.size[0]} variables, {built.size[1]} rows")
        return
    limits = Limits(options["time_limit"], tolerance=options["tolerance"] or None, presolve=options["presolve"])
    exact = _exact(found.mdp, goal, state, path, options)
    solved = claim(found.mdp, options["encoding"], solver=options["solver"], limits=limits, **asked, exact=True)
    say("\n".join([title, *_lines(solved, exact)]))


def _title(options: dict[str, Any], chosen: Options, subject: str, goal: str) -> str:
    """What is asked, of which program, with which constants."""
    encoding = options["encoding"]
    order = chosen.ordering or ORDERINGS.get(encoding, {}).get(chosen.form)
    parts = [f"{encoding}, {FORMS[chosen.form]}" if encoding in ("QP", "QP*", "LP*") else f"{encoding}, sound"]
    if encoding == "LP*" and order == "paper":
        parts.append(f"M = {chosen.big_m:g}")
    if encoding == "QP":
        parts.append(f"eps = {chosen.epsilon:g}")
    if order is not None:
        parts.append(f"order {order}")
    side = "upper" if options["sense"] == "max" else "lower"
    return f"{', '.join(parts)}: {side} bound of {subject!r} for {goal!r}"


def _exact(
    mdp: MDP, goal: tuple[str, ...], state: str | None, path: list[str] | None, options: dict[str, Any]
) -> Number:
    scope = SCOPE[options["encoding"]]
    if state is not None:
        bounds = state_importance(mdp, target=goal, scope=scope, states=[state], exact=True)[state]
    else:
        bounds = path_importance(mdp, path=path or (), target=goal, scope=scope, exact=True).bounds
    return bounds.lower if options["sense"] == "min" else bounds.upper


def _lines(solved: Claim, exact: Number) -> list[str]:
    """Claimed, attained and exact, one below the other."""
    judged = solved.attained
    importance = None if judged is None else judged.importance
    reached = "" if judged is None else f", by a strategy that reaches the target with {float(judged.reachability):.9g}"
    rows = {
        "solver": f"{solved.solver}: {solved.size[0]} variables, {solved.size[1]} rows",
        "status": solved.status + (f" ({solved.message})" if solved.status == "trouble" else ""),
        "claimed": _number(solved.claimed),
        "attained": _number(importance) + reached,
        "exact": f"{_number(exact)}" + (f" = {exact}" if len(str(exact)) <= 40 and "/" in str(exact) else ""),
        "verdict": solved.verdict(exact),
    }
    return [f"  {name:<9} {text}" for name, text in rows.items()]


def _number(value: Number | None) -> str:
    return "–" if value is None else f"{float(value):.9g}"
