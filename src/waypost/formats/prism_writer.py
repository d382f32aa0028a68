"""Writing the PRISM language, so that PRISM and Storm can read it and every name survives.

What is written is *flat*: one module whose every command names one state (`waypost.formats.prism_flat` reads it).
Names that PRISM cannot spell are kept in comments that start with ``//@``, together with the order of the states.
States named by variables, such as ``x=1, y=2``, are written with those variables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from waypost.errors import FormatError
from waypost.formats.lexical import distinct_actions, shortest_of
from waypost.formats.valuations import are_numbers, names_as_columns
from waypost.model import FINAL, MDP, StateNames
from waypost.model.valuations import Variables

KEYWORDS = frozenset(
    """
    A bool ceil clock const csg ctmc C double dtmc E endinit endinvariant endmodule endobservables endplayer endrewards
    endsystem false filter floor formula func F global G init int invariant I label log max mdp min mod module
    nondeterministic observable observables of player Pmax Pmin pomdp popta pow prob probabilistic pta P rate rewards
    Rmax Rmin round R S smg stochastic system true U W X
    """.split()  # noqa: SIM905
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}\Z")
_KEPT = re.compile(r'^//@ (state|action|label) (\S+) ("(?:[^"\\]|\\.)*")\s*$', re.MULTILINE)


def dumps(mdp: MDP) -> str:
    """Write a model in the PRISM language, as text.

    >>> print(dumps(MDP.from_dict({"s 0": {"go!": {"won": 0.9, "s 0": 0.1}}, "won": {}}, initial="s 0")))
    //@ state 0 "s 0"
    //@ state 1 "won"
    //@ action go_ "go!"
    dtmc
    module model
      state : [0..1] init 0;
      [go_] state=0 -> 0.1 : (state'=0) + 0.9 : (state'=1);
    endmodule
    <BLANKLINE>
    """
    variables = _spellable(mdp)
    keys = [str(s) for s in range(mdp.n_states)]
    if variables is None:
        declared = [f"  state : [0..{max(mdp.n_states - 1, 1)}] init {mdp.initial};"]
        guards = [f"state={s}" for s in range(mdp.n_states)]
        updates = [f"(state'={s})" for s in range(mdp.n_states)]
    else:
        declared, columns = [], []
        for name, variable in variables.items():
            low, high = int(variable.values.min()), int(variable.values.max())
            kind = "bool" if variable.values.dtype == bool else f"[{low}..{max(high, low + 1)}]"
            texts = variable.texts(slice(None))
            declared.append(f"  {name} : {kind} init {texts[mdp.initial]};")
            columns.append(texts)
        rows = list(zip(*columns, strict=True))
        guards = [" & ".join(f"{x}={v}" for x, v in zip(variables, row, strict=True)) for row in rows]
        updates = ["&".join(f"({x}'={v})" for x, v in zip(variables, row, strict=True)) for row in rows]
        keys = [",".join(row) for row in rows]
    commands = list(_commands(mdp, guards, updates))
    spelled = _spelled([mdp.actions[choice] for choice, _ in commands])
    labels = _spelled(list(mdp.labels), {"init", "deadlock"})
    kept = [f"//@ state {key} {json.dumps(name)}" for key, name in zip(keys, mdp.states, strict=True)]
    kept += [f"//@ action {new} {json.dumps(old)}" for old, new in spelled.items() if new != old]
    kept += [f"//@ label {new} {json.dumps(old)}" for old, new in labels.items() if new != old]
    written = [f"  [{spelled[mdp.actions[choice]]}] {text}" for choice, text in commands]
    named = []
    for name, mask in mdp.labels.items():
        held = " | ".join(f"({guards[s]})" for s in np.flatnonzero(mask).tolist())
        named.append(f'label "{labels[name]}" = {held or "false"};')
    kind = "dtmc" if mdp.n_choices == mdp.n_states else "mdp"
    return "\n".join([*kept, kind, "module model", *declared, *written, "endmodule", *named]) + "\n"


def _commands(mdp: MDP, guards: Sequence[str], updates: Sequence[str]) -> Iterator[tuple[int, str]]:
    texts = shortest_of(mdp)
    pointer, successors = mdp.transitions.indptr.tolist(), mdp.transitions.indices.tolist()
    for choice, state in enumerate(mdp.choice_state.tolist()):
        branches = range(pointer[choice], pointer[choice + 1])
        if mdp.is_final[state] and mdp.actions[choice] == FINAL:
            continue  # a state without commands is final
        text = " + ".join(f"{_literal(texts[k])} : {updates[successors[k]]}" for k in branches)
        yield choice, f"{guards[state]} -> {text};"


def _spellable(mdp: MDP) -> Variables | None:
    """Give the variables that tell the states apart, if PRISM can have all of them."""
    names = names_as_columns(mdp)
    variables = mdp.valuations if names is None else names.variables
    if not variables or not are_numbers(variables) or not all(_is_identifier(name) for name in variables):
        return None
    return variables if StateNames(variables).distinct else None


def _literal(text: str) -> str:
    """Write a probability; whole numbers beyond 64 bits need a decimal point for Storm."""
    over, slash, under = text.partition("/")
    return f"{over}.0/{under}.0" if slash and max(len(over), len(under)) > 18 else f"{over}{slash}{under}"


def _is_identifier(name: str) -> bool:
    return _IDENTIFIER.match(name) is not None and name not in KEYWORDS


def _spelled(names: Sequence[str], reserved: set[str] | None = None) -> dict[str, str]:
    """Give every name a spelling that PRISM accepts, its own where possible."""
    spelled: dict[str, str] = {}
    taken = {name for name in names if _is_identifier(name)} | (reserved or set())
    for name in names:
        if name in spelled:
            continue
        if _is_identifier(name) and name not in (reserved or set()):
            spelled[name] = name
            continue
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:60] or "_"
        plain = f"_{plain}" if plain[0].isdigit() or plain in KEYWORDS else plain
        number, new = 1, plain
        while new in taken:
            number += 1
            new = f"{plain}_{number}"
        taken.add(new)
        spelled[name] = new
    return spelled


def kept_names(text: str) -> dict[str, dict[str, str]]:
    """Read the names that `dumps` kept in comments: kind, spelling, name.

    >>> kept_names('//@ state 0 "Application+"')
    {'state': {'0': 'Application+'}, 'action': {}, 'label': {}}
    """
    kept: dict[str, dict[str, str]] = {"state": {}, "action": {}, "label": {}}
    for kind, spelling, name in _KEPT.findall(text):
        try:
            kept[kind][spelling] = json.loads(name)
        except ValueError:
            raise FormatError(f"the comment for {kind} {spelling[:40]!r} does not hold a quoted name") from None
    return kept


def with_kept_names(mdp: MDP, text: str) -> MDP:
    """Give a model that another tool read from our PRISM text its names back."""
    kept = kept_names(text)
    if not any(kept.values()):
        return mdp
    states: tuple[str, ...] = ()
    if kept["state"] and mdp.variables:
        keys = zip(*(variable.texts(slice(None)) for variable in mdp.variables.values()), strict=True)
        states = tuple(kept["state"].get(",".join(key), "") for key in keys)
    if not all(states) or len(set(states)) != mdp.n_states:
        return mdp
    actions = distinct_actions(mdp.first_choice, [kept["action"].get(name, name) for name in mdp.actions])
    labels = {kept["label"].get(name, name): mask for name, mask in mdp.labels.items()}
    plain = list(mdp.variables) == ["state"]  # numbers that we gave the states
    valuations = None if plain else mdp.valuations
    return replace(mdp, states=states, actions=tuple(actions), valuations=valuations).with_labels(labels)
