"""What Storm does for us, in a process of its own: parse PRISM or JANI, build the states, write them as UMB.

Storm does not listen to signals, may abort on an odd file, and can be asked for 10^12 states by a file of three lines.
A process of its own (`waypost.processes`) can be given limits, and dies alone. It knows stormpy and the standard
library, nothing else, so that it starts at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class Refusal(Exception):  # noqa: N818
    """The model is well-formed and not for us; the message says why."""


def parse(path: str, constants: Mapping[str, Any]) -> tuple[Any, Any]:
    """Read a PRISM or JANI file and give the open constants their values; also the properties of a JANI file."""
    import stormpy

    stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)
    name, properties = Path(path).name, None
    if Path(path).read_bytes()[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        program, properties = stormpy.parse_jani_model(path)[:2]
    else:
        program = stormpy.parse_prism_program(path)
    kind = str(program.model_type).rpartition(".")[2].upper()
    if kind not in ("MDP", "DTMC"):
        raise Refusal(f"{name} is a {kind}; only discrete-time models (MDP, DTMC) can be explained")
    unset = [constant.name for constant in program.constants if not constant.defined]
    for given in constants:
        if given not in unset:
            raise Refusal(f"{name} has no open constant {given!r}; open constants: {', '.join(unset) or 'none'}")
    missing = [constant for constant in unset if constant not in constants]
    if missing:
        example = " ".join(f"--const {constant}=..." for constant in missing)
        raise Refusal(f"{name} leaves {', '.join(missing)} open; give {example} or constants={{...}}")
    if constants:
        text = ",".join(f"{key}={str(v).lower() if isinstance(v, bool) else v}" for key, v in constants.items())
        program = stormpy.instantiate_constants(program, text)[0]
    return program, properties


def build(program: Any, *, exact: bool, properties: Sequence[Any] = ()) -> Any:
    """Build all states, with valuations, labels, action names, and labels for the expressions in `properties`."""
    import stormpy

    options = stormpy.BuilderOptions(list(properties)) if properties else stormpy.BuilderOptions()
    options.set_build_state_valuations(True)
    options.set_build_choice_labels(True)
    options.set_build_all_labels(True)
    return stormpy.build_model[stormpy.Rational if exact else float](program, options=options)


def fraction_texts(model: Any) -> list[str]:
    """Give the probabilities of a rational model as text, row by row; stormpy 2.0 cannot write them as UMB."""
    matrix = model.transition_matrix
    return [str(entry.value) for row in range(matrix.nr_rows) for entry in matrix.get_row(row)]


def work(job: Mapping[str, Any]) -> dict[str, Any]:
    """Do one job: leave ``model.umb``, and ``fractions.txt`` if asked for, in the folder we are in.

    The answer names the variables that are computed from others (JANI calls them transient).
    """
    from stormpy.io import export_to_umb

    program, _ = parse(job["path"], job["constants"])
    model = build(program, exact=False)
    if len(model.initial_states) != 1:
        raise Refusal(f"{Path(job['path']).name} has {len(model.initial_states)} initial states; it needs exactly one")
    export_to_umb(model, "model.umb")
    if job["exact"]:
        Path("fractions.txt").write_text("\n".join(fraction_texts(build(program, exact=True))))
    variables = program.global_variables if hasattr(program, "automata") else ()
    return {"transient": [variable.name for variable in variables if getattr(variable, "is_transient", False)]}
