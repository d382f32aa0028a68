"""State names that are nothing but values of variables, so that other tools get variables and not text."""

from __future__ import annotations

from waypost.model import MDP, StateNames
from waypost.model.valuations import Variables


def names_as_columns(mdp: MDP) -> StateNames | None:
    """Give the columns that the names of *all* states consist of, or None.

    >>> mdp = MDP.from_dict({"x=0, up=true": {"go": "x=1, up=false"}, "x=1, up=false": {}}, initial="x=0, up=true")
    >>> {name: variable.values.tolist() for name, variable in names_as_columns(mdp).shown.items()}
    {'x': [0, 1], 'up': [True, False]}
    """
    if isinstance(mdp.states, StateNames):
        return mdp.states if not mdp.states.unnamed else None
    if mdp.valuations is not None or not mdp.variables:
        return None
    made = StateNames(mdp.variables)
    return made if all(v.defined.all() for v in mdp.variables.values()) and made == mdp.states else None


def are_numbers(variables: Variables) -> bool:
    """Whether every state has every variable, and all are integers or booleans, as in PRISM's own files."""
    return all(v.defined.all() and v.words is None and v.values.dtype.kind in "bi" for v in variables.values())
