"""Importance by variable in words: which values must, may, or must not be seen on the way."""

from __future__ import annotations

from waypost.importance.results import Kind
from waypost.importance.variables import VariableImportance
from waypost.report.wording import count, printable, share

_SAID = {
    Kind.INDISPENSABLE: "every run that reaches {target} passes",
    Kind.IMPORTANT: "most runs that reach {target} pass",
    Kind.OPTIONAL: "it depends on the choices whether runs to {target} pass",
    Kind.MARGINAL: "hardly any run that reaches {target} passes",
    Kind.DETRIMENTAL: "no run reaches {target} after",
}


def variable_summary(found: VariableImportance, top: int = 8) -> str:
    """Importance by variable in words, at most `top` predicates of each kind.

    >>> from waypost import MDP
    >>> from waypost.importance.variables import by_variable
    >>> mdp = MDP.from_dict({"x=0": {"a": "x=1", "b": "x=2"}, "x=1": {"a": "x=3"}, "x=2": {}, "x=3": {}}, initial="x=0")
    >>> print(variable_summary(by_variable(mdp, target="x=3", scope="all")))
    Indispensable, every run that reaches 'x=3' passes:
      x=1
    Detrimental, no run reaches 'x=3' after:
      x=2
    """
    lines = []
    for kind, said in _SAID.items():
        of_kind = [predicate for predicate in found.predicates if predicate.kind is kind]
        if not of_kind:
            continue
        lines.append(f"{kind.value.capitalize()}, {said.format(target=printable(found.target))}:")
        for predicate in of_kind[:top]:
            told = kind in {Kind.INDISPENSABLE, Kind.DETRIMENTAL}
            lines.append(f"  {printable(predicate.text)}" + ("" if told else f": {share(predicate.bounds)}"))
        if of_kind[top:]:
            lines.append(f"  and {count(len(of_kind) - top, 'more predicate')}")
    return "\n".join(lines)
