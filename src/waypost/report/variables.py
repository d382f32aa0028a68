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
    >>> steps = {"x=0": {"on": "x=1"}, "x=1": {"a": "x=2", "b": "x=3"}, "x=2": {"on": "x=4"}, "x=3": {}, "x=4": {}}
    >>> print(variable_summary(by_variable(MDP.from_dict(steps, initial="x=0"), target="x=4", scope="all")))
    Indispensable, every run that reaches 'x=4' passes:
      x=2
    Detrimental, no run reaches 'x=4' after:
      x=3
    Every run passes x=1, whether or not it reaches 'x=4': that explains nothing.
    """
    lines = []
    for kind, said in _SAID.items():
        of_kind = [each for each in found.predicates if each.kind is kind and not each.inevitable]
        if not of_kind:
            continue
        lines.append(f"{kind.value.capitalize()}, {said.format(target=printable(found.target))}:")
        for predicate in of_kind[:top]:
            told = kind in {Kind.INDISPENSABLE, Kind.DETRIMENTAL}
            lines.append(f"  {printable(predicate.text)}" + ("" if told else f": {share(predicate.bounds)}"))
        if of_kind[top:]:
            lines.append(f"  and {count(len(of_kind) - top, 'more predicate')}")
    if said := inevitable(found, top):
        lines.append(said)
    return "\n".join(lines)


def inevitable(found: VariableImportance, top: int = 8) -> str:
    """Sentence about the values that every run passes, at most `top` of them; empty where there are none."""
    names = [printable(each.text) for each in found.predicates if each.inevitable and len(each.parts) == 1]
    if not names:
        return ""
    more = f" and {len(names) - top:,} more" if names[top:] else ""
    target = printable(found.target)
    return (
        f"Every run passes {', '.join(names[:top])}{more}, whether or not it reaches {target}: that explains nothing."
    )
