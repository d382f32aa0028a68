"""What Storm does for us, in a process of its own: parse PRISM or JANI, build the states, write them as UMB.

Storm does not listen to signals, may abort on an odd file, and can be asked for 10^12 states by a file of three lines.
A process of its own (`waypost.processes`) can be given limits, and dies alone. It knows stormpy and the standard
library, nothing else, so that it starts at once.
"""

from __future__ import annotations

import json
import re
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
        program, properties = _parse_jani(path)
    else:
        program = _parse_prism(path)
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


def _parse_jani(path: str) -> tuple[Any, Any]:
    """Read a JANI file; where Storm does not understand one of its properties, without them."""
    import stormpy

    try:
        program, properties = stormpy.parse_jani_model(path)[:2]
    except RuntimeError:
        document = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        if not document.pop("properties", None):
            raise
        program, properties = stormpy.parse_jani_model_from_string(json.dumps(document))[:2]
    return program, properties


def _parse_prism(path: str) -> Any:
    import stormpy

    try:
        return stormpy.parse_prism_program(path)
    except RuntimeError as error:
        if "-pc" not in str(error):
            raise
        return stormpy.parse_prism_program(path, prism_compatibility=True)  # rates without <>, as PRISM writes them


def stopping(program: Any, target: Sequence[Sequence[str]], avoid: Sequence[Sequence[str]]) -> list[Any]:
    """Give the property that tells Storm to build no further than the target, nor than what is to be avoided.

    Their parts are as they were given and, those that are expressions, with every bracket, too. Storm understands a
    label or an expression here. Where a target is anything else, everything is built.
    """
    import stormpy

    labels = (
        {}
        if hasattr(program, "automata")
        else {x.name: str(program.get_label_expression(x.name)) for x in program.labels}
    )

    known = {*labels, *(variable.name for variable in getattr(program, "global_variables", ()))}
    quoted = {name for part in (*target, *avoid) for name in re.findall(r'"(\w+)"', part[0])}
    if unknown := sorted(quoted - known - {"init", "deadlock"}):
        if hasattr(program, "automata"):  # it may be the name of a location
            return []
        listed = ", ".join(sorted(labels)) or "none"
        raise Refusal(f"no label {unknown[0]!r} in this model; known labels: {listed}")

    def spelled(part: str) -> str:
        if part in labels:
            return labels[part]
        if all(re.fullmatch(r"[A-Za-z_]\w*=[\w.+-]+", word) for word in part.split(", ")):
            return part.replace(", ", " & ")
        return re.sub(r'"([^"]*)"', lambda match: labels.get(match[1], match[0]), part)

    def either(parts: Sequence[Sequence[str]], form: int) -> str:
        return " | ".join(f"({spelled(part[0] if part[0] in labels else part[form])})" for part in parts)

    texts = []
    for form in (-1, 0):  # with every bracket first: Storm has other precedences
        before = f"!({either(avoid, form)}) U" if avoid else "F"
        texts.append(f"Pmax=? [ {before} ({either(target, form)}) ]")
    if len(target) == 1 and not avoid and target[0][0] in known:
        texts.append(f'Pmax=? [ F "{target[0][0]}" ]')
    for text in texts:
        try:
            return list(stormpy.parse_properties(text, program))[:1]
        except (RuntimeError, ValueError):
            continue
    return []


def build(program: Any, *, exact: bool, properties: Sequence[Any] = ()) -> Any:
    """Build the states, with valuations, labels, action names, and labels for the expressions in `properties`.

    With one property only, Storm builds no further than its target.
    """
    import stormpy

    options = stormpy.BuilderOptions(list(properties)) if properties else stormpy.BuilderOptions()
    options.set_build_state_valuations(True)
    options.set_build_choice_labels(True)
    options.set_build_all_labels(True)
    options.set_apply_maximal_progress_assumption(True)
    return stormpy.build_model[stormpy.Rational if exact else float](program, options=options)


def fraction_texts(model: Any) -> list[str]:
    """Give the probabilities of a rational model as text, row by row; stormpy 2.0 cannot write them as UMB."""
    matrix = model.transition_matrix
    return [str(entry.value) for row in range(matrix.nr_rows) for entry in matrix.get_row(row)]


def work(job: Mapping[str, Any]) -> dict[str, Any]:
    """Do one job: leave ``model.umb``, and ``fractions.txt`` if asked for, in the folder we are in.

    The answer names the labels of the program, the variables that are computed from others (JANI calls them
    transient), the locations of the automata, by the variables that count them, and the constants of a PRISM
    program: Storm makes one of every variable that never changes.
    """
    from stormpy.io import CompressionMode, UmbExportOptions, export_to_umb

    program, _ = parse(job["path"], job["constants"])
    known = stopping(program, job["target"], job["avoid"]) if job["target"] else []
    model = build(program, exact=False, properties=known)
    options = UmbExportOptions()
    options.compression = CompressionMode.NO_COMPRESSION
    export_to_umb(model, "model.umb", options=options)
    if job["exact"]:
        texts = fraction_texts(build(program, exact=True, properties=known))
        Path("fractions.txt").write_text("\n".join(texts))
    automata = getattr(program, "automata", ())
    variables = program.global_variables if automata else ()
    transient = [variable.name for variable in variables if getattr(variable, "is_transient", False)]
    return {
        "transient": transient,
        "labels": [*transient, "deadlock"] if automata else [*(label.name for label in program.labels), "deadlock"],
        "constants": {} if automata else {x.name: str(x.definition) for x in program.constants if x.defined},
        "locations": {a.location_variable.name: [a.name, [place.name for place in a.locations]] for a in automata},
    }
