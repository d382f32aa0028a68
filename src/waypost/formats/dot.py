"""DOT, the language of Graphviz: a state is a box, a choice with several outcomes is a dot."""

from __future__ import annotations

from pathlib import Path

from waypost.formats.lexical import shortest
from waypost.formats.registry import Format
from waypost.formats.writing import write_text
from waypost.model import FINAL, MDP


def write(mdp: MDP, path: Path | str) -> None:
    """Write a model for Graphviz."""
    write_text(path, dumps(mdp))


def dumps(mdp: MDP) -> str:
    """Write a model for Graphviz, as text; probabilities in full.

    >>> print(dumps(MDP.from_dict({"s0": {"try": {"won": 0.9, "s0": 0.1}}, "won": {}}, initial="s0")))
    digraph "MDP" {
      node [shape=box, style=rounded];
      s0 [label="s0", peripheries=2];
      s1 [label="won"];
      c0 [shape=point];
      s0 -> c0 [label="try", arrowhead=none];
      c0 -> s0 [label="0.1"];
      c0 -> s1 [label="0.9"];
    }
    <BLANKLINE>
    """
    lines = ['digraph "MDP" {', "  node [shape=box, style=rounded];"]
    for s, name in enumerate(mdp.states):
        labels = "".join(f"\n{{{label}}}" for label in mdp.labels_of(s))
        lines.append(f"  s{s} [label={_quoted(name + labels)}{', peripheries=2' if s == mdp.initial else ''}];")
    numbers = mdp.transitions.data if mdp.exact is None else mdp.exact
    pointer, successors = mdp.transitions.indptr.tolist(), mdp.transitions.indices.tolist()
    for c, state in enumerate(mdp.choice_state.tolist()):
        first, last = pointer[c], pointer[c + 1]
        if mdp.is_final[state] and mdp.actions[c] == FINAL:
            continue
        if last - first == 1:
            lines.append(f"  s{state} -> s{successors[first]} [label={_quoted(mdp.actions[c])}];")
            continue
        lines.append(f"  c{c} [shape=point];")
        lines.append(f"  s{state} -> c{c} [label={_quoted(mdp.actions[c])}, arrowhead=none];")
        lines += [f"  c{c} -> s{successors[k]} [label={_quoted(shortest(numbers[k]))}];" for k in range(first, last)]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n").replace("\0", "")
    return f'"{escaped}"'


FORMAT = Format(name="DOT (Graphviz)", endings=(".dot", ".gv"), names="as written", keeps=("labels",), write=write)
