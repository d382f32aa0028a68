"""State names that are nothing but values of variables, so that other tools get variables and not text."""

from __future__ import annotations

import numpy as np

from waypost.model import MDP
from waypost.model.expressions import Variable, read_valuations


def complete_valuations(mdp: MDP) -> dict[str, Variable] | None:
    """Give the integer and boolean variables that the names of *all* states consist of, or None.

    >>> mdp = MDP.from_dict({"x=0, up=true": {"go": "x=1, up=false"}, "x=1, up=false": {}}, initial="x=0, up=true")
    >>> {name: variable.values.tolist() for name, variable in complete_valuations(mdp).items()}
    {'x': [0, 1], 'up': [True, False]}
    """
    variables = read_valuations(mdp.states)
    if not variables or not all(v.defined.all() and v.values.dtype != object for v in variables.values()):
        return None
    columns = [[f"{name}={value_text(value)}" for value in v.values] for name, v in variables.items()]
    written = (", ".join(row) for row in zip(*columns, strict=True))
    return variables if all(a == b for a, b in zip(written, mdp.states, strict=True)) else None


def value_text(value: np.bool_ | np.int64) -> str:
    """Write a value as PRISM does.

    >>> value_text(np.bool_(True)), value_text(np.int64(-3))
    ('true', '-3')
    """
    return str(bool(value)).lower() if isinstance(value, np.bool_) else str(int(value))
