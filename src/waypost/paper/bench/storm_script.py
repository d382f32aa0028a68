"""Storm from the text of a PRISM or JANI model to both bounds of a conditional probability, and nothing else.

``python storm_script.py FILE CONSTANTS TARGET SET``; `CONSTANTS` as ``a=1,b=2``, or empty.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Print the least and the greatest probability of the set among runs that reach the target."""
    import stormpy

    stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)
    file, constants, target, among = sys.argv[1:]
    program = stormpy.parse_jani_model(file)[0] if file.endswith(".jani") else stormpy.parse_prism_program(file)
    if constants:
        program = stormpy.instantiate_constants(program, constants)[0]
    queries = ";".join(f"P{best}=? [ F ({among}) || F ({target}) ]" for best in ("min", "max"))
    formulas = list(stormpy.parse_properties(queries, program))
    model = stormpy.build_model(program, formulas)
    start = model.initial_states[0]
    for formula in formulas:
        sys.stdout.write(f"{stormpy.model_checking(model, formula, only_initial_states=True).get_value(start)!r}\n")


if __name__ == "__main__":
    main()
